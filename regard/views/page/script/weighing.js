// The step of the weights: as bars, before and after a change side by side.

import { keyTable, step } from "./block.js";
import { css, isDark, lookup, place } from "./colour.js";
import { make, number, shown } from "./dom.js";
import { formula } from "./formula.js";
import { t } from "./language.js";
import { formulaOf, measure } from "./measures.js";
import { tokenOf } from "./model.js";
import { state } from "./state.js";
import { mask } from "./whatif.js";
/** @import {Focus} from "./steps.js" */

/** A row of a measure, which stands in place of the weights. @param {Focus} focus */
export function shares(focus) {
  const row = focus.now.weights;
  const most = Math.max(...row, 1e-9);
  const { title, formula: text, said } = measure(state.measure);
  return step(
    "=",
    t("Derived, not weights: {title} ", { title }),
    "derived",
    said,
    formulaOf(text),
    keyTable(focus, [t("share"), t("as a bar")], (j) => [digits(row[j], j), bar(row[j], most)]),
  );
}

/** @param {Focus} focus */
export function weights(focus) {
  const { now, before } = focus;
  const changed = now !== before;
  const most = Math.max(...now.weights, ...before.weights, 1e-9);
  return step(
    "4",
    t("Weights"),
    "weights",
    t("Softmax makes the row positive with sum 1: the share of attention each token gets."),
    changed ? changedTable(focus, most) : ownTable(focus, most),
    make(
      "p",
      { class: "quiet" },
      formula("lse"),
      t(" = {lse}; the weights sum to {sum}.", {
        lse: number(now.lse),
        sum: number(
          now.weights.reduce((a, b) => a + b, 0),
          6,
        ),
      }),
    ),
  );
}

/** The model's own weights. @param {Focus} focus @param {number} most */
function ownTable(focus, most) {
  return keyTable(focus, [t("weight"), t("as a bar"), t("hide")], (j) => [
    digits(focus.now.weights[j], j),
    bar(focus.now.weights[j], most),
    maskBox(j, focus),
  ]);
}

/** The weights before and after a change, side by side. @param {Focus} focus
 * @param {number} most */
function changedTable(focus, most) {
  const { now, before } = focus;
  return keyTable(focus, [t("before"), t("as a bar"), t("now"), t("as a bar"), t("hide")], (j) => [
    make("span", { class: "digits" }, number(before.weights[j])),
    bar(before.weights[j], most),
    digits(now.weights[j], j, "changed digits"),
    bar(now.weights[j], most, "bar now"),
    maskBox(j, focus),
  ]);
}

/** @param {number} weight @param {number} j @param {string} [kind] */
function digits(weight, j, kind = "digits") {
  return make("span", { class: kind, "data-weight": j }, number(weight));
}

/** @param {number} weight @param {number} most @param {string} [kind] */
function bar(weight, most, kind = "bar") {
  const background = kind === "bar" ? colourOf(0.35 * most + 0.65 * weight, most) : "";
  const style = { width: `${(100 * weight) / most}%`, ...(background ? { background } : {}) };
  return make("span", { class: "bar-box" }, make("span", { class: kind, style }));
}

/** @param {number} j @param {Focus} focus */
function maskBox(j, { to }) {
  const box = make("input", {
    type: "checkbox",
    "aria-label": t("Mask {word}", { word: shown(tokenOf(to, j)) }),
    "data-focus": `mask ${j}`,
    on: { click: (/** @type {Event} */ e) => e.stopPropagation(), change: () => mask(j) },
  });
  box.checked = state.change.masked.has(j);
  return box;
}

/** The colour of a weight on the page's scale.
 * @param {number} weight @param {number} most */
function colourOf(weight, most) {
  return css(lookup(state.palette, isDark()), place(weight, most, state.scale === "log"));
}
