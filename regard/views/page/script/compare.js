// Compare: two heads, two texts or two models, side by side and as a difference.

import { css, isDark, lookup, placeBothWays } from "./colour.js";
import { differenceOf, differenceRow, meanDifference, unitsOf } from "./difference.js";
import { exact, fillOptions, make, number, put, shown, tableHead, tokenText } from "./dom.js";
import { phrase, t } from "./language.js";
import { sourceOf } from "./map.js";
import { besideSvg, matrixSvg } from "./matrixsvg.js";
import { head, layerName, model, nameOf, subject, subjectNames } from "./model.js";
import { both, other, otherHead } from "./other.js";
import { Pane, rememberSight } from "./pane.js";
import { choose, state } from "./state.js";
/** @import {Head} from "./attention.js" */
/** @import {Subject} from "./model.js" */
/** @import {Both} from "./difference.js" */
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

/** @param {number} s @param {number} l @param {number} h */
function setOther(s, l, h) {
  choose({ other: [s, l, h] });
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
