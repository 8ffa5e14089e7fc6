// Compare: two heads, two texts or two models, side by side and as a difference.

import { NO_CHANGE } from "./attention.js";
import { css, isDark, lookup, placeBothWays } from "./colour.js";
import { make, number, put, tokenText } from "./dom.js";
import { sourceOf } from "./map.js";
import { head, layerName, model, nameOf, picture, pictureOf, subject, subjectNames } from "./model.js";
import { Pane } from "./pane.js";
import { choose, state } from "./state.js";
/** @import {Picture} from "./picture.js" */

/** @type {Pane[]} */
let panes = [];
/** @type {any} */
let inputs;
/** @type {any} */
let titles;
/** @type {any} */
let note;
/** @type {any} */
let table;
/** @type {{key: any[], picture: Picture} | null} */
let lastOther = null;

export function buildCompare() {
  const pick = (/** @type {number} */ r, /** @type {number} */ c) => {
    const of = picture();
    choose({ query: of.rows[Math.min(r, of.rows.length - 1)].number, key: of.columns[Math.min(c, of.columns.length - 1)].number });
  };
  panes = ["First", "Second", "Difference"].map((label) => new Pane({ label: `${label} map`, onpick: pick,
    onsight: (sight) => panes.forEach((pane) => pane.sight !== sight && pane.source && pane.setSight({ ...sight }, true)) }));
  titles = panes.map(() => make("h2", { class: "pane-title" }));
  const select = (/** @type {(v: number) => void} */ act) => make("select", { on: { change: (/** @type {any} */ e) => act(Number(e.target.value)) } });
  inputs = {
    subject: select((v) => setOther(v, 0, 0)),
    layer: select((v) => setOther(other()[0], v, 0)),
    head: select((v) => setOther(other()[0], other()[1], v)),
  };
  note = make("p", { class: "quiet", role: "status" });
  table = make("div", { class: "compare-rows" });
  return make("div", { class: "view-compare" },
    make("div", { class: "controls" }, make("strong", {}, "Compare with"),
      make("label", { class: "field" }, make("span", {}, "Text"), inputs.subject),
      make("label", { class: "field" }, make("span", {}, "Layer"), inputs.layer),
      make("label", { class: "field" }, make("span", {}, "Head"), inputs.head), note),
    make("div", { class: "panes" }, panes.map((pane, i) => make("div", { class: "pane-box" }, titles[i], pane.element))),
    table);
}

/** What the chosen head is compared with: the same head of the other text, or the next head.
 * @returns {[number, number, number]} */
export function other() {
  if (state.other) return state.other;
  if (model.subjects.length > 1) return [state.subject === 0 ? 1 : 0, state.layer, state.head];
  const heads = subject().layers[state.layer].heads.length;
  if (heads > 1) return [state.subject, state.layer, (state.head + 1) % heads];
  return [state.subject, (state.layer + 1) % subject().layers.length, 0];
}

/** @param {number} s @param {number} l @param {number} h */
function setOther(s, l, h) {
  choose({ other: [s, l, h] });
}

function otherHead() {
  const [s, l, h] = other();
  const within = model.subjects[Math.min(s, model.subjects.length - 1)];
  const layer = within.layers[Math.min(l, within.layers.length - 1)];
  return { within, head: layer.heads[Math.min(h, layer.heads.length - 1)] };
}

function otherPicture() {
  const { within, head: of } = otherHead();
  const key = [of, state.words, state.sinks];
  if (!lastOther || key.some((part, i) => part !== lastOther?.key[i])) {
    lastOther = { key, picture: pictureOf(of, within, NO_CHANGE) };
  }
  return lastOther.picture;
}

function fillInputs() {
  const { within, head: of } = otherHead();
  const options = (/** @type {any} */ select, /** @type {string[]} */ names, /** @type {number} */ chosen) => {
    put(select, names.map((name, i) => make("option", { value: i }, name)));
    select.value = String(chosen);
  };
  options(inputs.subject, subjectNames(), model.subjects.indexOf(within));
  options(inputs.layer, within.layers.map((l) => layerName(l, within)), of.layer.index);
  options(inputs.head, of.layer.heads.map((h) => String(h.number)), of.place);
  inputs.subject.closest("label").hidden = model.subjects.length < 2;
}

export async function updateCompare() {
  fillInputs();
  const { within, head: second } = otherHead();
  await Promise.all([head().ready(), second.ready()]);
  const [a, b] = [picture(), otherPicture()];
  const at = (/** @type {Picture} */ p) => ({ r: Math.min(a.rowOf(state.query), p.rows.length - 1), c: Math.min(a.columnOf(state.key), p.columns.length - 1) });
  const several = model.subjects.length > 1;
  const name = (/** @type {any} */ h, /** @type {any} */ s) => `${nameOf(h, s)}${several ? ` · ${subjectNames()[model.subjects.indexOf(s)]}` : ""}`;
  titles[0].textContent = name(head(), subject());
  titles[1].textContent = name(second, within);
  const same = a.rows.length === b.rows.length && a.columns.length === b.columns.length && a.fits && b.fits;
  titles[2].textContent = "First − second";
  panes[2].element.parentElement.hidden = !same;
  await panes[0].show(sourceOf(a), at(a));
  await panes[1].show(sourceOf(b), at(b));
  const most = Math.max(panes[0].most, panes[1].most);
  panes[0].most = panes[1].most = most; // one scale, so that the same colour is the same weight
  panes[0].draw();
  panes[1].draw();
  if (same) await panes[2].show(differenceOf(a, b), at(a));
  const change = same ? `mean |difference| of a row ${number(meanDifference(a, b), 3)}` : "no difference is drawn: the two have different sizes, or are too large for it";
  note.textContent = `${change}.`;
  drawRows(a, b, same);
}

/** @param {Picture} a @param {Picture} b */
function differenceOf(a, b) {
  const source = sourceOf(a);
  return { ...source, name: `${source.name} − ${sourceOf(b).name}`, signed: true, tile: undefined,
    rowsOf: function* (/** @type {number} */ t, /** @type {number} */ e, /** @type {number} */ l, /** @type {number} */ r) {
      const others = b.block(t, e, l, r)[Symbol.iterator]();
      for (const row of a.block(t, e, l, r)) {
        const second = others.next().value;
        yield row.map((w, i) => w - second[i]);
      }
    } };
}

/** Half the sum of |a − b|: the weight of a row that would have to move. @param {Picture} a @param {Picture} b */
function meanDifference(a, b) {
  if (!a.fits || !b.fits) return NaN;
  const [x, y] = [a.matrix(), b.matrix()];
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += Math.abs(x[i] - y[i]);
  return sum / Math.max(1, a.rows.length);
}

/** @param {Picture} a @param {Picture} b @param {boolean} same */
function drawRows(a, b, same) {
  const rows = compareTable().rows.slice(0, 12);
  const bar = (/** @type {string} */ text) => {
    const colours = lookup("both", isDark());
    const value = Number(text.replace("−", "-"));
    return make("span", { class: "bar", style: { width: `${Math.min(100, 100 * Math.abs(value))}%`, background: css(colours, placeBothWays(Math.sign(value) * 0.8, 1)) } });
  };
  const r = a.rowOf(state.query);
  put(table, make("h2", {}, "What ", tokenText(a.rows[r].label, 24), " attends to, where the two differ most"),
    make("table", { class: "keys" }, make("thead", {}, make("tr", {}, ["token", "first", "second", ...(same ? ["difference", ""] : [])].map((t) => make("th", { scope: "col" }, t)))),
      make("tbody", {}, rows.map(([token, one, two, change]) => make("tr", {}, make("th", { scope: "row" }, tokenText(token, 24)),
        make("td", {}, one), make("td", {}, two), same ? make("td", {}, change) : null, same ? make("td", { class: "bar-cell" }, bar(change)) : null)))));
}

/** The chosen token's row in both. */
export function compareTable() {
  const [a, b] = [picture(), otherPicture()];
  const r = a.rowOf(state.query);
  const [one, two] = [a.row(r), b.row(Math.min(r, b.rows.length - 1))];
  const count = Math.max(one.length, two.length);
  const rows = Array.from({ length: count }, (_, c) => {
    const [left, right] = [a.columns[c]?.label, b.columns[c]?.label];
    const token = left === right || right === undefined ? left : left === undefined ? right : `${left} / ${right}`;
    return { token, one: one[c] ?? NaN, two: two[c] ?? NaN };
  });
  rows.sort((x, y) => Math.abs(y.one - y.two || 0) - Math.abs(x.one - x.two || 0));
  return { columns: ["token", "first", "second", "difference"],
    rows: rows.map(({ token, one: x, two: y }) => [token, number(x), number(y), number(x - y)]) };
}

/** @returns {HTMLCanvasElement} */
export function compareCanvas() {
  const shownPanes = panes.filter((pane) => pane.source && !pane.element.parentElement.hidden).map((pane) => pane.toCanvas());
  const canvas = make("canvas", { width: shownPanes.reduce((sum, c) => sum + c.width, 0), height: Math.max(...shownPanes.map((c) => c.height)) });
  let x = 0;
  for (const part of shownPanes) {
    canvas.getContext("2d").drawImage(part, x, 0);
    x += part.width;
  }
  return canvas;
}

export function resetCompare() {
  lastOther = null;
}
