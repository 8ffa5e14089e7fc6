// Map: the whole attention matrix of the chosen head.

import { NO_CHANGE } from "./attention.js";
import { css, isDark, LEAST, lookup, palettes, scales } from "./colour.js";
import { exact, fillChoices, make, number, put, say, shown, small } from "./dom.js";
import { t } from "./language.js";
import { matrixSvg } from "./matrixsvg.js";
import { head, isDerived, nameOf, picture, readyHead } from "./model.js";
import { Pane, rememberSight } from "./pane.js";
import { choose, state } from "./state.js";
import { TOGETHER, together, togetherNames } from "./together.js";
/** @import {Picture, Unit} from "./picture.js" */

/** @type {Pane} */
let pane;
/** @type {any} */
let legend;
/** @type {any} */
let note;
/** @type {any} */
let inputs;
let serial = 0;
/** @type {WeakMap<Picture, string>} */
const names = new WeakMap();

export const mapView = {
  name: "map",
  title: () => t("Map"),
  build: buildMap,
  update: updateMap,
  table: mapTable,
  svg: mapSvg,
  canvas: mapCanvas,
};

function buildMap() {
  pane = new Pane({
    label: t("Attention map. Arrow keys move the chosen cell, plus and minus zoom."),
    onpick: pickCell,
    onhover: tellCell,
    onsight: rememberSight,
  });
  legend = make("div", { class: "legend" });
  note = make("p", { class: "quiet", role: "status" });
  inputs = { over: select("over"), scale: select("scale"), palette: select("palette") };
  const button = (
    /** @type {string} */ text,
    /** @type {string} */ label,
    /** @type {() => void} */ act,
  ) => {
    const named = { "aria-label": text.length === 1 && label, title: label };
    return make("button", { type: "button", ...named, on: { click: act } }, text);
  };
  return make(
    "div",
    { class: "view-map" },
    make(
      "div",
      { class: "controls" },
      make(
        "span",
        { class: "buttons" },
        button("−", t("Zoom out (−)"), () => pane.zoom(1 / 1.6)),
        button("+", t("Zoom in (+)"), () => pane.zoom(1.6)),
        button(t("Fit"), t("Show all (0)"), () => pane.fit()),
      ),
      field(t("Of"), inputs.over),
      field(t("Scale"), inputs.scale),
      field(t("Colours"), inputs.palette),
      legend,
      note,
    ),
    pane.element,
  );
}

/** @param {"over" | "scale" | "palette"} name */
function select(name) {
  return make("select", {
    on: { change: (/** @type {any} */ e) => choose({ [name]: e.target.value }) },
  });
}

/** @param {string} name @param {any} input */
function field(name, input) {
  return make("label", { class: "field" }, make("span", {}, name), input);
}

function fillInputs() {
  fillChoices(inputs.over, togetherNames(), state.over);
  fillChoices(inputs.scale, scales(), state.scale);
  fillChoices(inputs.palette, palettes(), state.palette);
  inputs.over.closest("label").hidden = togetherNames().length < 2;
}

/** What is shown: the chosen head, or heads taken together. */
function shownNow() {
  return together(state.over) ?? picture();
}

/** @param {Picture} of */
function nameFor(of) {
  let name = names.get(of);
  if (!name) names.set(of, (name = `picture ${++serial}`));
  return name;
}

/** A picture as what a pane shows. @param {Picture} of */
export function sourceOf(of) {
  const { tiles } = of.head.layer;
  const tile =
    tiles && !of.fits && of.isPlain && of.change === NO_CHANGE
      ? (/** @type {number} */ l, /** @type {number} */ d, /** @type {number} */ a) =>
          tiles(of.head, l, d, a)
      : undefined;
  return {
    name: nameFor(of),
    rows: of.rows,
    columns: of.columns,
    signed: false,
    tile,
    quick: of.fits,
    rowsOf: (
      /** @type {number} */ t,
      /** @type {number} */ b,
      /** @type {number} */ l,
      /** @type {number} */ r,
    ) => of.block(t, b, l, r),
  };
}

/** @param {Set<string>} changed */
async function updateMap(changed) {
  fillInputs();
  await readyHead();
  await Promise.all(
    TOGETHER.get(state.over)
      ?.needs()
      .map((one) => one.ready()) ?? [],
  );
  const of = shownNow();
  const chosen = { r: of.rowOf(state.query), c: of.columnOf(state.key) };
  await pane.show(sourceOf(of), chosen);
  if (changed.has("sight") || changed.has("view")) pane.restore(state.sight);
  else if ((changed.has("query") || changed.has("key")) && pane.sight.cell)
    pane.reveal(chosen.r, chosen.c);
  drawLegend();
  const size = { rows: of.rows.length, columns: of.columns.length, most: number(pane.most) };
  const said = [
    isDerived()
      ? t("{rows} × {columns} shares, largest {most}. Each pixel is the largest under it.", size)
      : t(
          "{rows} × {columns} weights, largest {most}. Each pixel is the largest weight under it.",
          size,
        ),
    of.dropped ? t("Sinks hidden, rows renormalised.") : "",
  ];
  note.textContent = said.join(" ");
}

function drawLegend() {
  const table = lookup(state.palette, isDark());
  const steps = Array.from({ length: 24 }, (_, i) => css(table, i / 23));
  const bar = make("span", {
    class: "legend-bar",
    style: { background: `linear-gradient(to right, ${steps.join(", ")})` },
  });
  put(
    legend,
    make("span", {}, pane.isLog ? small(LEAST) : "0"),
    bar,
    make("span", {}, number(pane.most, 3)),
  );
}

/** @param {number} r @param {number} c */
function pickCell(r, c) {
  const of = shownNow();
  const [row, column] = [of.rows[r], of.columns[c]];
  choose({ query: row.number, key: column.number });
  const values = { from: shown(row.label), to: shown(column.label), weight: number(of.row(r)[c]) };
  say(
    isDerived()
      ? t("{from} to {to}: share {weight}", values)
      : t("{from} to {to}: weight {weight}", values),
  );
}

/** @param {number} r @param {number} c */
function tellCell(r, c) {
  if (!head().isReady) return;
  const of = shownNow();
  const [row, column] = [of.rows[r], of.columns[c]];
  const lines = [
    make("strong", {}, `${shown(row.label, 24)} → ${shown(column.label, 24)}`),
    make("span", {}, toldNumber(exact(of.row(r)[c]))),
  ];
  const isOne = row.tokens.length === 1 && column.tokens.length === 1;
  if (isOne && head().hasVectors && of === picture()) {
    const found = head().row(row.tokens[0], state.change);
    const j = column.tokens[0];
    lines.push(
      make(
        "span",
        {},
        t("score {score} = {product} × {scale}", {
          score: number(found.scores[j], 3),
          product: number(found.products?.[j] ?? NaN, 3),
          scale: number(head().layer.data.scale * state.change.factor, 4),
        }),
      ),
    );
  }
  lines.push(
    make(
      "span",
      { class: "quiet" },
      t("row {row}, column {column}", { row: row.number, column: column.number }),
    ),
  );
  put(pane.tip, lines);
}

/** @param {string} weight */
function toldNumber(weight) {
  return isDerived() ? t("share {weight}", { weight }) : t("weight {weight}", { weight });
}

/** All weights; of a map too large for that, what is in sight. */
function mapTable() {
  const of = shownNow();
  const { rows, columns } = of;
  let [top, down, left, across] = [0, rows.length, 0, columns.length];
  if (!of.fits) {
    const { sight, element } = pane;
    const most = 500;
    const end = (
      /** @type {number} */ from,
      /** @type {number} */ room,
      /** @type {number} */ count,
    ) => Math.min(count, from + Math.min(most, Math.ceil(room / Math.max(sight.cell, 0.1))));
    [top, left] = [Math.max(0, Math.floor(sight.top)), Math.max(0, Math.floor(sight.left))];
    [down, across] = [
      end(top, element.clientHeight, rows.length),
      end(left, element.clientWidth, columns.length),
    ];
  }
  return {
    columns: ["", ...columns.slice(left, across).map((unit) => unit.label)],
    rows: rows
      .slice(top, down)
      .map((unit, i) => [unit.label, ...of.row(top + i).subarray(left, across)]),
    part: of.fits
      ? ""
      : t("rows {top} to {down} of {rows}, columns {left} to {across} of {columns}", {
          top,
          down: down - 1,
          rows: rows.length,
          left,
          across: across - 1,
          columns: columns.length,
        }),
  };
}

/** @returns {HTMLCanvasElement} */
function mapCanvas() {
  return pane.toCanvas();
}

/** @returns {SVGElement} */
function mapSvg() {
  const of = shownNow();
  return matrixSvg(nameOf(head()), of.rows, of.columns, (r) => of.row(r), pane);
}
