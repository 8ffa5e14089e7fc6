// Compare: two heads, two texts or two models, side by side and as a difference.

import { NO_CHANGE } from "./attention.js";
import { css, isDark, lookup, placeBothWays } from "./colour.js";
import { exact, fillOptions, make, number, put, shown, tableHead, tokenText } from "./dom.js";
import { phrase, t } from "./language.js";
import { sourceOf } from "./map.js";
import { besideSvg, matrixSvg } from "./matrixsvg.js";
import {
  head,
  layerName,
  model,
  nameOf,
  picture,
  pictureOf,
  subject,
  subjectNames,
} from "./model.js";
import { pairsOf } from "./pairs.js";
import { Pane, rememberSight } from "./pane.js";
import { choose, state } from "./state.js";
/** @import {Head} from "./attention.js" */
/** @import {Subject} from "./model.js" */
/** @import {Picture, Unit} from "./picture.js" */

/** Two pictures, and which of their rows and columns belong together.
 * @typedef {{a: Picture, b: Picture, rows: [number, number][],
 *   columns: [number, number][]}} Both */

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
/** @type {Both | null} */
let lastBoth = null;

export const compareView = {
  name: "compare",
  title: () => t("Compare"),
  build: buildCompare,
  update: updateCompare,
  table: compareTable,
  svg: compareSvg,
};

function buildCompare() {
  panes = [t("First map"), t("Second map"), t("Map of the difference")].map(
    (label, i) =>
      new Pane({
        label,
        onpick: (r, c) => pick(i, r, c),
        onhover: (r, c) => tellCell(i, r, c),
        onsight: (sight) => moveAll(i, sight),
      }),
  );
  titles = panes.map(() => make("h2", { class: "pane-title" }));
  const select = (/** @type {(v: number) => void} */ act) =>
    make("select", { on: { change: (/** @type {any} */ e) => act(Number(e.target.value)) } });
  inputs = {
    subject: select((v) => setOther(v, other()[1], other()[2])),
    layer: select((v) => setOther(other()[0], v, other()[2])),
    head: select((v) => setOther(other()[0], other()[1], v)),
  };
  note = make("p", { class: "quiet", role: "status" });
  table = make("div", { class: "compare-rows" });
  return make(
    "div",
    { class: "view-compare" },
    make(
      "div",
      { class: "controls" },
      make("strong", {}, t("Compare with")),
      make("label", { class: "field" }, make("span", {}, t("Text")), inputs.subject),
      make("label", { class: "field" }, make("span", {}, t("Layer")), inputs.layer),
      make("label", { class: "field" }, make("span", {}, t("Head")), inputs.head),
      note,
    ),
    make(
      "div",
      { class: "panes" },
      panes.map((pane, i) => make("div", { class: "pane-box" }, titles[i], pane.element)),
    ),
    table,
  );
}

/** Zooming one map zooms all. @param {number} from @param {string} sight */
function moveAll(from, sight) {
  panes.forEach((pane, i) => {
    if (i === from || !pane.source) return;
    if (sight) pane.setSight({ ...panes[from].sight }, true);
    else pane.fit(true);
  });
  rememberSight(sight);
}

/** The units of a cell of a pane, in the first picture and in the second; null where one has none.
 * @param {number} pane @param {number} r @param {number} c */
function cellOf(pane, r, c) {
  const { a, b, rows, columns } = both();
  const find = (/** @type {[number, number][]} */ pairs, /** @type {number} */ at) =>
    (pane === 2 ? pairs[at] : pairs.find((pair) => pair[pane] === at)) ??
    (pane === 0 ? [at, -1] : [-1, at]);
  const [[ra, rb], [ca, cb]] = [find(rows, r), find(columns, c)];
  const cell = (
    /** @type {Picture} */ of,
    /** @type {number} */ row,
    /** @type {number} */ column,
  ) =>
    row < 0 || column < 0
      ? null
      : { row: of.rows[row], column: of.columns[column], weight: of.row(row)[column] };
  return { first: cell(a, ra, ca), second: cell(b, rb, cb) };
}

/** @param {number} pane @param {number} r @param {number} c */
function pick(pane, r, c) {
  const { first } = cellOf(pane, r, c);
  if (first) choose({ query: first.row.number, key: first.column.number });
}

/** @param {number} pane @param {number} r @param {number} c */
function tellCell(pane, r, c) {
  const { first, second } = cellOf(pane, r, c);
  const label = (/** @type {any} */ cell) =>
    `${shown(cell.row.label, 24)} → ${shown(cell.column.label, 24)}`;
  const names = new Set([first, second].filter(Boolean).map(label));
  const line = (/** @type {string} */ name, /** @type {any} */ cell) =>
    make("span", {}, `${name} ${cell ? exact(cell.weight) : t("has no such tokens")}`);
  put(
    panes[pane].tip,
    [...names].map((name) => make("strong", {}, name)),
    line(t("the first"), first),
    line(t("the second"), second),
    first && second
      ? make("span", {}, `${t("difference")} ${number(first.weight - second.weight, 6)}`)
      : null,
  );
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

/** @returns {{within: Subject, head: Head}} */
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

/** @returns {Both} */
function both() {
  const [a, b] = [picture(), otherPicture()];
  if (lastBoth?.a !== a || lastBoth.b !== b) {
    lastBoth = { a, b, rows: pairsOf(a.rows, b.rows), columns: pairsOf(a.columns, b.columns) };
  }
  return lastBoth;
}

function fillInputs() {
  const { within, head: of } = otherHead();
  fillOptions(inputs.subject, subjectNames(), model.subjects.indexOf(within));
  fillOptions(
    inputs.layer,
    within.layers.map((l) => layerName(l, within)),
    of.layer.index,
  );
  fillOptions(
    inputs.head,
    of.layer.heads.map((h) => String(h.number)),
    of.place,
  );
  inputs.subject.closest("label").hidden = model.subjects.length < 2;
}

function names() {
  const { within, head: second } = otherHead();
  const several = model.subjects.length > 1;
  const name = (/** @type {Head} */ h, /** @type {Subject} */ s) =>
    `${nameOf(h, s)}${several ? ` · ${subjectNames()[model.subjects.indexOf(s)]}` : ""}`;
  return [
    name(head(), subject()),
    name(second, within),
    t("First − second (blue: more, orange: less)"),
  ];
}

/** @param {Set<string>} changed */
async function updateCompare(changed) {
  fillInputs();
  await Promise.all([head().ready(), otherHead().head.ready()]);
  const now = both();
  const { a, b, rows, columns } = now;
  names().forEach((name, i) => {
    titles[i].textContent = titles[i].title = name;
  });
  const at = { r: a.rowOf(state.query), c: a.columnOf(state.key) };
  const pair = {
    r: rows.findIndex(([i]) => i === at.r),
    c: columns.findIndex(([i]) => i === at.c),
  };
  const differ = rows.length > 0 && columns.length > 0;
  panes[2].element.parentElement.hidden = !differ;
  await panes[0].show(sourceOf(a), at);
  await panes[1].show(sourceOf(b), { r: rows[pair.r]?.[1] ?? -1, c: columns[pair.c]?.[1] ?? -1 });
  const most = Math.max(panes[0].most, panes[1].most);
  panes[0].most = panes[1].most = most; // one scale, so that the same colour is the same weight
  panes[0].draw();
  panes[1].draw();
  note.textContent = told(now);
  drawRows(now);
  if (changed.has("sight") || changed.has("view"))
    panes.forEach((pane) => pane.source && pane.restore(state.sight));
  if (!differ) return;
  await panes[2].show(differenceOf(now), pair);
  panes[2].restore(state.sight);
}

/** How different they are, and what is left out. @param {Both} both */
function told({ a, b, rows, columns }) {
  if (!rows.length || !columns.length)
    return t("No difference is drawn: the two have no token in common.");
  const [down, across] = [
    Math.max(a.rows.length, b.rows.length),
    Math.max(a.columns.length, b.columns.length),
  ];
  if (rows.length < down || columns.length < across) {
    const size = `${rows.length} × ${columns.length}`;
    return t(
      "The difference is that of the {size} tokens that both have; the others are left out.",
      { size },
    );
  }
  if (!a.fits || !b.fits) return "";
  const moved = number(100 * meanDifference({ a, b, rows, columns }), 1);
  return t("On average {moved} % of a row's weight is elsewhere.", { moved });
}

/** A row of the difference. @param {Both} both @param {number} at @returns {Float32Array} */
function differenceRow({ a, b, rows, columns }, at) {
  const [one, two] = [a.row(rows[at][0]), b.row(rows[at][1])];
  return Float32Array.from(columns, ([c, d]) => one[c] - two[d]);
}

/** @param {Unit[]} a @param {Unit[]} b @param {[number, number][]} pairs @returns {Unit[]} */
function unitsOf(a, b, pairs) {
  return pairs.map(([i, j]) => ({
    ...a[i],
    label: a[i].label === b[j].label ? a[i].label : `${a[i].label} / ${b[j].label}`,
  }));
}

/** @param {Both} both */
function differenceOf(both) {
  const { a, b, rows, columns } = both;
  const [one, two] = [sourceOf(a), sourceOf(b)];
  return {
    name: `${one.name} − ${two.name}`,
    signed: true,
    quick: a.fits && b.fits,
    rows: unitsOf(a.rows, b.rows, rows),
    columns: unitsOf(a.columns, b.columns, columns),
    rowsOf: function* (
      /** @type {number} */ top,
      /** @type {number} */ end,
      /** @type {number} */ left,
      /** @type {number} */ right,
    ) {
      for (let r = top; r < end; r++) yield differenceRow(both, r).subarray(left, right);
    },
  };
}

/** Half the sum of |a − b|: the weight of a row that would have to move. @param {Both} both */
function meanDifference(both) {
  let sum = 0;
  both.rows.forEach((_, at) => {
    sum += differenceRow(both, at).reduce((total, w) => total + Math.abs(w), 0);
  });
  return sum / 2 / Math.max(1, both.rows.length);
}

/** @param {Both} both */
function drawRows({ a }) {
  const rows = compareTable().rows.slice(0, 12);
  const cell = (/** @type {any} */ value) =>
    make("td", {}, Number.isNaN(value) ? "–" : number(value));
  const bar = (/** @type {any} */ value) => {
    const colours = lookup("both", isDark());
    return make("span", {
      class: "bar",
      style: {
        width: `${Math.min(100, 100 * Math.abs(value || 0))}%`,
        background: css(colours, placeBothWays(Math.sign(value || 0) * 0.8, 1)),
      },
    });
  };
  const r = a.rowOf(state.query);
  put(
    table,
    make(
      "h2",
      {},
      phrase("What {word} attends to, where the two differ most", {
        word: tokenText(a.rows[r].label, 24),
      }),
    ),
    make(
      "table",
      { class: "keys" },
      tableHead([t("token"), t("the first"), t("the second"), t("difference"), t("as a bar")]),
      make(
        "tbody",
        {},
        rows.map(([token, one, two, change]) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, tokenText(String(token), 24)),
            cell(one),
            cell(two),
            cell(change),
            make("td", { class: "bar-cell" }, bar(change)),
          ),
        ),
      ),
    ),
  );
}

/** The chosen token's row in both, where they differ most first. */
function compareTable() {
  const { a, b, rows, columns } = both();
  const r = a.rowOf(state.query);
  const pair = rows.find(([i]) => i === r);
  const one = a.row(r);
  const two = pair ? b.row(pair[1]) : null;
  const units = unitsOf(a.columns, b.columns, columns);
  const found = columns.map(([c, d], at) => ({
    token: units[at].label,
    one: one[c],
    two: two ? two[d] : NaN,
  }));
  const [inFirst, inSecond] = [
    new Set(columns.map(([c]) => c)),
    new Set(columns.map(([, d]) => d)),
  ];
  a.columns.forEach(
    (unit, c) => inFirst.has(c) || found.push({ token: unit.label, one: one[c], two: NaN }),
  );
  b.columns.forEach(
    (unit, d) =>
      inSecond.has(d) || found.push({ token: unit.label, one: NaN, two: two ? two[d] : NaN }),
  );
  const far = (/** @type {{one: number, two: number}} */ x) =>
    Math.abs((x.one || 0) - (x.two || 0));
  found.sort((x, y) => far(y) - far(x));
  return {
    columns: ["token", "first", "second", "difference"],
    rows: found.map(({ token, one: x, two: y }) => [token, x, y, x - y]),
  };
}

/** The maps side by side. @returns {SVGElement} */
function compareSvg() {
  const now = both();
  const { a, b } = now;
  const title = names();
  /** @type {[string, SVGElement][]} */
  const pictures = [
    [title[0], matrixSvg(title[0], a.rows, a.columns, (r) => a.row(r), panes[0])],
    [title[1], matrixSvg(title[1], b.rows, b.columns, (r) => b.row(r), panes[1])],
  ];
  if (!panes[2].element.parentElement.hidden) {
    const { rows, columns } = differenceOf(now);
    pictures.push([
      t("First − second"),
      matrixSvg(title[2], rows, columns, (r) => differenceRow(now, r), panes[2]),
    ]);
  }
  return besideSvg(pictures);
}

export function resetCompare() {
  lastOther = lastBoth = null;
}
