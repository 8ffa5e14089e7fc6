// A query and its keys as strips, cell under cell, and under each key what the cells make when they
// are multiplied: their sum is the score.

import { make, number, put, tableHead, tokenText } from "./dom.js";
import { phrase, t } from "./language.js";
import { tokenOf } from "./model.js";
import { choose, state } from "./state.js";
import { cells, most } from "./vector.js";
/** @import {Focus} from "./steps.js" */

/** @param {Focus} focus */
export function productTable(focus) {
  const { of, i, rows, to } = focus;
  const query = of.vector("query", i);
  if (!query) return null;
  const keys = rows.map((j) => /** @type {Float32Array} */ (of.vector("key", j)));
  const made = keys.map((key) => key.map((value, c) => value * query[c]));
  const largest = { key: Math.max(...keys.map(most)), product: Math.max(...made.map(most)) };
  const told = make("p", { class: "quiet cell-told", role: "status" }, t("Point at a cell."));
  const lines = rows.map((j, r) =>
    make(
      "tr",
      { class: j === state.key ? "chosen" : "", on: { click: () => choose({ key: j }) } },
      make("th", { scope: "row" }, tokenText(tokenOf(to, j), 24)),
      make(
        "td",
        { class: "strips", on: { pointermove: tellCell(told, query, keys[r]) } },
        strips("k", keys[r], largest.key),
        strips("q × k", made[r], largest.product),
        products(j, query, keys[r]),
      ),
      make("td", { class: "digits" }, `= ${number(focus.now.products?.[j] ?? NaN)}`),
    ),
  );
  const head = make("td", { class: "strips" }, strips("q", query, most(query)));
  const first = make(
    "tr",
    { class: "query-row" },
    make("th", { scope: "row" }, tokenText(tokenOf(focus.from, i), 24)),
    head,
    make("td", {}),
  );
  return make(
    "div",
    { class: "products" },
    told,
    make(
      "table",
      { class: "keys" },
      tableHead([t("token"), t("cell by cell"), "q · k"]),
      make("tbody", {}, first, lines),
    ),
  );
}

/** @param {string} name @param {Float32Array} values @param {number} largest */
function strips(name, values, largest) {
  return make("div", { class: "strip-row" }, make("i", {}, name), cells(values, largest));
}

/** @param {any} told @param {Float32Array} query @param {Float32Array} key */
function tellCell(told, query, key) {
  return (/** @type {PointerEvent} */ event) => {
    const box = /** @type {any} */ (event.currentTarget)
      .querySelector(".cells")
      .getBoundingClientRect();
    const c = Math.floor(((event.clientX - box.left) / box.width) * query.length);
    if (c < 0 || c >= query.length) return;
    put(
      told,
      phrase("Cell {c}: {product}", {
        c: String(c),
        product: make("b", { class: "digits" }, productText(query[c], key[c])),
      }),
    );
  };
}

/** @param {number} q @param {number} k */
function productText(q, k) {
  return `${number(q, 3)} × ${number(k, 3)} = ${number(q * k, 4)}`;
}

/** All products as numbers, made when opened. @param {number} j @param {Float32Array} query
 * @param {Float32Array} key */
function products(j, query, key) {
  const inside = make("div", { class: "numbers wide" });
  const name = t("{n} products", { n: query.length });
  const details = make(
    "details",
    { class: "vector", "data-name": `qk ${j}` },
    make("summary", { "data-focus": `qk ${j}` }, make("span", { class: "count" }, name)),
    inside,
  );
  details.addEventListener("toggle", () => {
    if (!details.open || inside.childElementCount) return;
    const one = (/** @type {number} */ value, /** @type {number} */ c) =>
      make("span", {}, make("i", {}, String(c)), productText(value, key[c]));
    put(inside, Array.from(query, one));
  });
  return details;
}
