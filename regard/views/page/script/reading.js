// Reading: the text replayed token by token, each with what it looks back at.

import { keepingFocus, make, number, put, shown, small, svg, tokenText } from "./dom.js";
import { isDark } from "./colour.js";
import { t } from "./language.js";
import { head, isRightToLeft, layer, nameOf, picture, readyHead, textsOf } from "./model.js";
import { besideSvg, matrixSvg, onColour, sourceOf } from "./map.js";
import { Pane } from "./pane.js";
import { choose, state } from "./state.js";
/** @import {Unit} from "./picture.js" */

const MOST_SHOWN = 300;
/** @type {any} */
let slider;
/** @type {any} */
let play;
/** @type {any} */
let words;
/** @type {any} */
let told;
/** @type {Pane} */
let pane;
/** @type {any} */
let timer = 0;

export const readingView = {
  name: "reading",
  title: () => t("Reading"),
  build: buildReading,
  update: updateReading,
  table: readingTable,
  svg: readingSvg,
};

function buildReading() {
  slider = make("input", {
    type: "range",
    min: 0,
    value: 0,
    step: 1,
    "aria-label": "Word being read",
    on: { input: () => go(Number(slider.value)) },
  });
  play = make("button", { type: "button", on: { click: toggle } }, "▶ Play");
  told = make("p", { class: "quiet", role: "status" });
  words = make("div", { class: "reading-text" });
  pane = new Pane({
    label: "The rows read so far as a map",
    onpick: (r, c) => choose({ query: picture().rows[r].number, key: picture().columns[c].number }),
  });
  addEventListener("resize", () => state.view === "reading" && drawWords());
  return make(
    "div",
    { class: "view-reading" },
    make("div", { class: "controls" }, play, slider, told),
    make("div", { class: "reading-both" }, words, pane.element),
  );
}

/** @param {number} r */
function go(r) {
  const of = picture();
  const row = Math.max(0, Math.min(of.rows.length - 1, r));
  choose({ query: of.rows[row].number });
}

export function toggle() {
  if (timer) return stop();
  if (picture().rowOf(state.query) >= picture().rows.length - 1) go(0);
  play.textContent = "❚❚ Pause";
  timer = setInterval(
    () => {
      const at = picture().rowOf(state.query);
      if (at >= picture().rows.length - 1 || state.view !== "reading") return stop();
      go(at + 1);
    },
    matchMedia("(prefers-reduced-motion: reduce)").matches ? 1800 : 700,
  );
}

function stop() {
  clearInterval(timer);
  timer = 0;
  play.textContent = "▶ Play";
}

async function updateReading() {
  await readyHead();
  const of = picture();
  const at = of.rowOf(state.query);
  slider.max = String(of.rows.length - 1);
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", shown(of.rows[at].label));
  drawWords();
  pane.until = layer().data.recurrent || layer().data.kind === "cross" ? at : Infinity;
  await pane.show(sourceOf(of), { r: at, c: of.columnOf(state.key) });
}

function drawWords() {
  if (head().isReady) keepingFocus(words, drawNow);
}

function drawNow() {
  const of = picture();
  const at = of.rowOf(state.query);
  const row = of.row(at);
  const cross = layer().data.kind === "cross";
  const most = Math.max(...row, 1e-9);
  const best = row.indexOf(Math.max(...row));
  const [from, to] = textsOf(layer());
  const lines = svg("svg", { class: "arcs", "aria-hidden": "true" });
  const { recurrent, causal } = layer().data;
  const past = !cross && (recurrent || causal);
  const memory = chips(of.columns, row, most, cross ? -1 : at, past ? at : Infinity, "memory");
  const target = cross ? chips(of.rows, null, 1, at, at, "said") : null;
  const nothing = most < 1e-8;
  put(
    words,
    make(
      "h2",
      {},
      cross
        ? `Looks at the ${to.name || "source"}`
        : past
          ? "Looks back at what was read"
          : "Looks at all of the text",
    ),
    make("div", { class: "chip-box", dir: isRightToLeft(to) ? "rtl" : "ltr" }, memory),
    cross ? make("h2", {}, `Says, word by word`) : null,
    cross
      ? make("div", { class: "chip-box", dir: isRightToLeft(from) ? "rtl" : "ltr" }, target)
      : null,
    lines,
  );
  told.textContent = nothing
    ? `${at + 1} of ${of.rows.length}: ${shown(of.rows[at].label)} has nothing to look at yet.`
    : `${at + 1} of ${of.rows.length}: ${shown(of.rows[at].label)} looks most at ` +
      `${shown(of.columns[best].label)} (${number(row[best], 3)}).` +
      (layer().data.recurrent && !cross ? ` Memory: ${at + 1} ${at ? "states" : "state"}.` : "");
  drawArcs(lines, row, at, cross);
}

/** Words as chips: read ones shaded by weight, the one being read marked, those to come faint.
 * @param {Unit[]} units @param {Float32Array | null} weights @param {number} most
 * @param {number} now @param {number} until @param {string} kind */
function chips(units, weights, most, now, until, kind) {
  const first = Math.max(
    0,
    Math.min(now < 0 ? 0 : now - MOST_SHOWN + 40, units.length - MOST_SHOWN),
  );
  return units.slice(first, first + MOST_SHOWN).map((unit, place) => {
    const i = first + place;
    const weight = weights ? weights[i] : 0;
    const to = i > until;
    const style = weights && weight > 0 && !to ? onColour(weight, most) : {};
    return make(
      "button",
      {
        type: "button",
        class: `chip ${i === now ? "now" : ""} ${to ? "to-come" : ""}`,
        "data-kind": kind,
        "data-i": i,
        "data-focus": `${kind} ${i}`,
        style,
        title: weights ? `${shown(unit.label, 100)}: ${small(weight)}` : shown(unit.label, 100),
        on: {
          click: () =>
            kind === "memory" && layer().data.kind === "cross"
              ? choose({ key: unit.number })
              : go(i),
        },
      },
      tokenText(unit.label, 30),
      weights && !to ? make("small", {}, weight >= 0.005 ? number(weight, 2) : "·") : null,
    );
  });
}

/** @param {any} lines @param {Float32Array} row @param {number} at @param {boolean} cross */
function drawArcs(lines, row, at, cross) {
  const box = words.getBoundingClientRect();
  const find = (/** @type {string} */ kind, /** @type {number} */ i) =>
    words.querySelector(`.chip[data-kind="${kind}"][data-i="${i}"]`)?.getBoundingClientRect();
  const from = find(cross ? "said" : "memory", at);
  if (!from || !box.width) return;
  lines.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const paths = [];
  const x1 = from.left + from.width / 2 - box.left;
  const y1 = from.top - box.top;
  for (let c = 0; c < row.length; c++) {
    if (row[c] < 0.02) continue;
    const to = find("memory", c);
    if (!to || (!cross && c === at)) continue;
    const x2 = to.left + to.width / 2 - box.left;
    const y2 = (cross ? to.bottom : to.top) - box.top;
    const lift = Math.min(28, 10 + Math.abs(x2 - x1) * 0.08);
    const d = cross
      ? `M${x1} ${y1}C${x1} ${y1 - 28} ${x2} ${y2 + 28} ${x2} ${y2}`
      : `M${x1} ${y1}C${x1} ${y1 - lift} ${x2} ${y2 - lift} ${x2} ${y2}`;
    paths.push(
      svg("path", {
        d,
        class: "link bright",
        fill: "none",
        "stroke-width": 0.8 + 4 * row[c],
        "stroke-opacity": 0.25 + 0.7 * row[c],
      }),
    );
  }
  put(lines, paths);
}

/** What every row looks at most, in the order of reading. */
function readingTable() {
  const of = picture();
  return {
    columns: ["position", "word", "looks most at", "weight"],
    rows: of.rows.slice(0, 2000).map((unit, r) => {
      const row = of.row(r);
      const best = row.indexOf(Math.max(...row));
      return [unit.number, unit.label, row[best] > 0 ? of.columns[best].label : "", row[best] ?? 0];
    }),
  };
}

/** The words with their lines, and the map beside them. @returns {SVGElement} */
function readingSvg() {
  const of = picture();
  const map = matrixSvg(nameOf(head()), of.rows, of.columns, (r) => of.row(r), pane);
  return besideSvg([
    [told.textContent, wordsSvg()],
    [nameOf(head()), map],
  ]);
}

/** The words where they are on the page. @returns {SVGElement} */
function wordsSvg() {
  drawWords(); // in the colours of now
  const box = words.getBoundingClientRect();
  const place = (/** @type {Element} */ e) => {
    const at = e.getBoundingClientRect();
    return { x: at.left - box.left, y: at.top - box.top, width: at.width, height: at.height };
  };
  const ink = isDark() ? "#e8e8ea" : "#1c1d21";
  const text = (/** @type {any} */ e, /** @type {string} */ fill, /** @type {number} */ size) => {
    const { x, y, width, height } = place(e);
    return svg(
      "text",
      {
        x: x + width / 2,
        y: y + height / 2 + size / 3,
        "text-anchor": "middle",
        fill,
        "font-family": "system-ui, sans-serif",
        "font-size": size,
      },
      e.textContent,
    );
  };
  const chipsOf = [...words.querySelectorAll(".chip")].map((chip) => {
    const style = getComputedStyle(chip);
    const now = chip.classList.contains("now");
    return [
      svg("rect", {
        ...place(chip),
        rx: 8,
        fill: chip.style.background || "none",
        stroke: now ? brightInk() : "#8889",
        "stroke-width": now ? 2 : 1,
      }),
      [...chip.children].map((part, i) => text(part, style.color, i ? 11 : 14)),
    ];
  });
  const lines = [...words.querySelectorAll(".arcs path")].map((path) =>
    svg("path", {
      d: path.getAttribute("d"),
      fill: "none",
      stroke: brightInk(),
      "stroke-width": path.getAttribute("stroke-width"),
      "stroke-opacity": path.getAttribute("stroke-opacity"),
    }),
  );
  const heads = [...words.querySelectorAll("h2")].map((title) =>
    svg(
      "text",
      {
        x: 0,
        y: place(title).y + 16,
        fill: ink,
        "font-family": "system-ui, sans-serif",
        "font-size": 14,
        "font-weight": 600,
      },
      title.textContent,
    ),
  );
  return svg(
    "svg",
    {
      width: Math.ceil(box.width),
      height: Math.ceil(box.height) + 8,
      viewBox: `-4 0 ${Math.ceil(box.width)} ${Math.ceil(box.height) + 8}`,
    },
    chipsOf,
    lines,
    heads,
  );
}

function brightInk() {
  return isDark() ? "#ffb066" : "#b3430b";
}
