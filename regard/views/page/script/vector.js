// A vector: its numbers as colours, the first of them as digits, all of them behind a click.

import { css, isDark, lookup, placeBothWays } from "./colour.js";
import { make, number, put } from "./dom.js";
import { t } from "./language.js";

/** @param {string} name @param {Float32Array | null} values @param {number} [few] */
export function vector(name, values, few = 6) {
  if (!values) return make("span", { class: "quiet" }, t("not carried"));
  const places = values.length && Math.max(...values.map(Math.abs)) >= 10 ? 2 : 4;
  const start = Array.from(values.subarray(0, few), (v) => number(v, places)).join("  ");
  const inside = make("div", { class: "numbers" });
  const details = make(
    "details",
    { class: "vector", "data-name": name, title: t("{n} numbers", { n: values.length }) },
    make(
      "summary",
      { "data-focus": name },
      strip(values),
      make("span", { class: "digits" }, `[${start}${values.length > few ? " …" : ""}]`),
    ),
    inside,
  );
  details.addEventListener("toggle", () => {
    if (!details.open || inside.childElementCount) return;
    put(
      inside,
      Array.from(values, (v, c) => make("span", {}, make("i", {}, String(c)), number(v, 6))),
    );
  });
  return details;
}

/** The numbers as colours. @param {Float32Array} values */
function strip(values) {
  const count = Math.min(values.length, 64);
  return make("span", {
    class: "strip",
    "aria-hidden": "true",
    style: {
      background: colours(values.subarray(0, count), most(values)),
      width: `${Math.max(24, 1.6 * count)}px`,
    },
  });
}

/** @param {Float32Array} values */
export function most(values) {
  return values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
}

/** A cell for each number, all of one width. @param {Float32Array} values
 * @param {number} largest */
export function cells(values, largest) {
  return make("span", {
    class: "cells",
    "aria-hidden": "true",
    style: { background: colours(values, largest) },
  });
}

/** @param {Float32Array} values @param {number} largest */
function colours(values, largest) {
  const table = lookup("both", isDark());
  const stops = Array.from(values, (value, c) => {
    const from = (100 * c) / values.length;
    const to = (100 * (c + 1)) / values.length;
    return `${css(table, placeBothWays(value, largest))} ${from}% ${to}%`;
  });
  return `linear-gradient(to right, ${stops.join(", ")})`;
}
