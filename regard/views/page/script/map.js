// Map: the whole attention matrix of the chosen head.

import { NO_CHANGE } from "./attention.js";
import { css, inkOn, isDark, LEAST, lookup, PALETTES, place, placeBothWays } from "./colour.js";
import { make, number, put, say, shown, small, svg } from "./dom.js";
import { t } from "./language.js";
import { head, nameOf, picture, readyHead } from "./model.js";
import { Pane, rememberSight } from "./pane.js";
import { choose, state } from "./state.js";
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
    label: "Attention map. Arrow keys move the chosen cell, plus and minus zoom.",
    onpick: pickCell,
    onhover: tellCell,
    onsight: rememberSight,
  });
  legend = make("div", { class: "legend" });
  note = make("p", { class: "quiet", role: "status" });
  inputs = {
    log: make("input", {
      type: "checkbox",
      on: { change: () => choose({ log: inputs.log.checked }) },
    }),
    palette: make(
      "select",
      { on: { change: () => choose({ palette: inputs.palette.value }) } },
      PALETTES.map((name) => make("option", { value: name }, name)),
    ),
  };
  const button = (
    /** @type {string} */ text,
    /** @type {string} */ label,
    /** @type {() => void} */ act,
  ) =>
    make("button", { type: "button", "aria-label": label, title: label, on: { click: act } }, text);
  return make(
    "div",
    { class: "view-map" },
    make(
      "div",
      { class: "controls" },
      make(
        "span",
        { class: "buttons" },
        button("−", "Zoom out (−)", () => pane.zoom(1 / 1.6)),
        button("+", "Zoom in (+)", () => pane.zoom(1.6)),
        button("Fit", "Show all (0)", () => pane.fit()),
      ),
      make("label", { class: "check" }, inputs.log, "Logarithmic"),
      make("label", { class: "field" }, make("span", {}, "Colours"), inputs.palette),
      legend,
      note,
    ),
    pane.element,
  );
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
  inputs.log.checked = state.log;
  inputs.palette.value = state.palette;
  await readyHead();
  const of = picture();
  const chosen = { r: of.rowOf(state.query), c: of.columnOf(state.key) };
  await pane.show(sourceOf(of), chosen);
  if (changed.has("sight") || changed.has("view")) pane.restore(state.sight);
  else if ((changed.has("query") || changed.has("key")) && pane.sight.cell)
    pane.reveal(chosen.r, chosen.c);
  drawLegend();
  const size = `${of.rows.length} × ${of.columns.length}`;
  const sink = of.dropped
    ? ` ${of.dropped} sink column${of.dropped > 1 ? "s" : ""} hidden, rows renormalised.`
    : "";
  note.textContent =
    `${size} weights, largest ${number(pane.most)}. ` +
    `Each pixel is the largest weight under it.${sink}`;
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
    make("span", {}, state.log ? small(LEAST) : "0"),
    bar,
    make("span", {}, number(pane.most, 3)),
  );
}

/** @param {number} r @param {number} c */
function pickCell(r, c) {
  const of = picture();
  const [row, column] = [of.rows[r], of.columns[c]];
  choose({ query: row.number, key: column.number });
  say(`${shown(row.label)} to ${shown(column.label)}: weight ${number(of.row(r)[c])}`);
}

/** @param {number} r @param {number} c */
function tellCell(r, c) {
  if (!head().isReady) return;
  const of = picture();
  const [row, column] = [of.rows[r], of.columns[c]];
  const lines = [
    make("strong", {}, `${shown(row.label, 24)} → ${shown(column.label, 24)}`),
    make("span", {}, `weight ${exact(of.row(r)[c])}`),
  ];
  if (row.tokens.length === 1 && column.tokens.length === 1 && head().hasVectors) {
    const found = head().row(row.tokens[0], state.change);
    const j = column.tokens[0];
    lines.push(
      make(
        "span",
        {},
        `score ${number(found.scores[j], 3)} = ${number(found.products?.[j] ?? NaN, 3)} × ` +
          number(head().layer.data.scale * state.change.factor, 4),
      ),
    );
  }
  lines.push(make("span", { class: "quiet" }, `row ${row.number}, column ${column.number}`));
  put(pane.tip, lines);
}

/** @param {number} weight */
export function exact(weight) {
  return weight !== 0 && weight < 1e-4
    ? weight.toExponential(3).replace("-", "−")
    : number(weight, 6);
}

/** All weights; of a map too large for that, what is in sight. */
function mapTable() {
  const of = picture();
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
      : `rows ${top} to ${down - 1} of ${rows.length}, ` +
        `columns ${left} to ${across - 1} of ${columns.length}`,
  };
}

/** @returns {HTMLCanvasElement} */
function mapCanvas() {
  return pane.toCanvas();
}

/** @returns {SVGElement} */
function mapSvg() {
  const of = picture();
  return matrixSvg(nameOf(head()), of.rows, of.columns, (r) => of.row(r), pane);
}

/** Cells as rectangles and tokens as text; a large map as a picture inside.
 * @param {string} name @param {Unit[]} rows @param {Unit[]} columns
 * @param {(r: number) => Float32Array} rowOf @param {Pane} shownBy @returns {SVGElement} */
export function matrixSvg(name, rows, columns, rowOf, shownBy) {
  if (rows.length * columns.length > 20000) return pictureSvg(name, shownBy);
  const signed = Boolean(shownBy.source?.signed);
  const table = lookup(signed ? "both" : state.palette, isDark());
  const cell = 18;
  const [left, top] = [120, 100];
  const ink = isDark() ? "#e8e8ea" : "#1c1d21";
  const text = { fill: ink, "font-family": "system-ui, sans-serif", "font-size": 12 };
  const cells = [];
  for (let r = 0; r < rows.length; r++) {
    const row = rowOf(r);
    for (let c = 0; c < columns.length; c++) {
      const at = signed
        ? placeBothWays(row[c], shownBy.most)
        : place(row[c], shownBy.most, state.log);
      cells.push(
        svg(
          "rect",
          {
            x: left + c * cell,
            y: top + r * cell,
            width: cell,
            height: cell,
            fill: css(table, at),
          },
          svg(
            "title",
            {},
            `${shown(rows[r].label)} → ${shown(columns[c].label)}: ${exact(row[c])}`,
          ),
        ),
      );
    }
  }
  const [width, height] = [left + columns.length * cell + 8, top + rows.length * cell + 8];
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svg("title", {}, name),
    svg("rect", { width: "100%", height: "100%", fill: isDark() ? "#16181d" : "#ffffff" }),
    cells,
    rows.map((unit, r) =>
      svg(
        "text",
        { ...text, x: left - 6, y: top + (r + 0.5) * cell + 4, "text-anchor": "end" },
        shown(unit.label, 18),
      ),
    ),
    columns.map((unit, c) =>
      svg(
        "text",
        { ...text, transform: `translate(${left + (c + 0.5) * cell + 4} ${top - 6}) rotate(-90)` },
        shown(unit.label, 14),
      ),
    ),
  );
}

/** @param {string} name @param {Pane} shownBy */
function pictureSvg(name, shownBy) {
  const canvas = shownBy.toCanvas();
  const [width, height] = [shownBy.element.clientWidth, shownBy.element.clientHeight];
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svg("title", {}, name),
    svg("image", { width, height, href: canvas.toDataURL() }),
  );
}

/** Pictures side by side, each with its title over it. @param {[string, SVGElement][]} pictures */
export function besideSvg(pictures) {
  const size = (/** @type {SVGElement} */ one, /** @type {string} */ name) =>
    Number(one.getAttribute(name));
  const height = 28 + Math.max(...pictures.map(([, one]) => size(one, "height")));
  let x = 0;
  const placed = pictures.map(([title, one]) => {
    one.setAttribute("x", String(x));
    one.setAttribute("y", "28");
    const made = [
      svg(
        "text",
        {
          x: x + 12,
          y: 20,
          fill: isDark() ? "#e8e8ea" : "#1c1d21",
          "font-family": "system-ui, sans-serif",
          "font-size": 13,
          "font-weight": 600,
        },
        title,
      ),
      one,
    ];
    x += size(one, "width") + 16;
    return made;
  });
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width: x, height, viewBox: `0 0 ${x} ${height}` },
    svg("rect", { width: "100%", height: "100%", fill: isDark() ? "#16181d" : "#ffffff" }),
    placed,
  );
}

/** Text on a cell, readable on its colour. @param {number} weight @param {number} most */
export function onColour(weight, most) {
  const table = lookup(state.palette, isDark());
  const at = place(weight, most, state.log);
  return { background: css(table, at), color: inkOn(table, at) };
}
