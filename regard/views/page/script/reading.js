// Reading: the text replayed token by token, each with what it looks back at.

import { keepingFocus, make, number, put, shown, small, svg, tokenText } from "./dom.js";
import { around, between, over, toText } from "./arcs.js";
import { css, inkOn, isDark, lookup, place } from "./colour.js";
import { t } from "./language.js";
import { head, isRightToLeft, layer, nameOf, picture, readyHead, textsOf } from "./model.js";
import { besideSvg, matrixSvg } from "./matrixsvg.js";
import { sourceOf } from "./map.js";
import { Pane } from "./pane.js";
import { choose, state } from "./state.js";
/** @import {Box} from "./arcs.js" */
/** @import {Unit} from "./picture.js" */

const MOST_SHOWN = 300;
const GAP = 26; // pixels between two lines of words
const SIDE = 16; // pixels at both sides of them
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
    "aria-label": t("Word being read"),
    on: { input: () => go(Number(slider.value)) },
  });
  play = make("button", { type: "button", on: { click: toggle } }, t("▶ Play"));
  told = make("p", { class: "quiet", role: "status" });
  words = make("div", { class: "reading-text" });
  pane = new Pane({
    label: t("The rows read so far as a map"),
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
  play.textContent = t("❚❚ Pause");
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
  play.textContent = t("▶ Play");
}

async function updateReading() {
  await readyHead();
  const of = picture();
  const at = of.rowOf(state.query);
  slider.max = String(of.rows.length - 1);
  slider.value = String(at);
  slider.setAttribute("aria-valuetext", shown(of.rows[at].label));
  pane.until = layer().data.recurrent || layer().data.kind === "cross" ? at : Infinity;
  await pane.show(sourceOf(of), { r: at, c: of.columnOf(state.key) });
  drawWords();
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
  const memory = chips(of.columns, row, cross ? -1 : at, past ? at : Infinity, "memory");
  const target = cross ? chips(of.rows, null, at, at, "said") : null;
  const nothing = most < 1e-8;
  put(
    words,
    make(
      "h2",
      {},
      cross
        ? t("Looks at the source")
        : past
          ? t("Looks back at what was read")
          : t("Looks at all of the text"),
    ),
    make("div", { class: "chip-box", dir: isRightToLeft(to) ? "rtl" : "ltr" }, memory),
    cross ? make("h2", {}, t("Says, word by word")) : null,
    cross
      ? make("div", { class: "chip-box", dir: isRightToLeft(from) ? "rtl" : "ltr" }, target)
      : null,
    lines,
  );
  const values = {
    at: at + 1,
    all: of.rows.length,
    word: shown(of.rows[at].label),
    most: shown(of.columns[best]?.label ?? ""),
    weight: number(row[best] ?? 0, 3),
  };
  told.textContent = nothing
    ? t("{at} of {all}: {word} has nothing to look at yet.", values)
    : t("{at} of {all}: {word} looks most at {most} ({weight}).", values);
  drawArcs(lines, row, at, cross);
}

/** Words as chips: read ones shaded by weight, the one being read marked, those to come faint.
 * @param {Unit[]} units @param {Float32Array | null} weights
 * @param {number} now @param {number} until @param {string} kind */
function chips(units, weights, now, until, kind) {
  const first = Math.max(
    0,
    Math.min(now < 0 ? 0 : now - MOST_SHOWN + 40, units.length - MOST_SHOWN),
  );
  return units.slice(first, first + MOST_SHOWN).map((unit, place) => {
    const i = first + place;
    const weight = weights ? weights[i] : 0;
    const to = i > until;
    const style = weights && weight > 0 && !to ? onColour(weight) : {};
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

/** Lines that run between the words, never through them: over words of the same line, between
 * lines next to each other, and round the others.
 * @param {any} lines @param {Float32Array} row @param {number} at @param {boolean} cross */
function drawArcs(lines, row, at, cross) {
  const { width, height } = words.getBoundingClientRect();
  const from = boxOf(cross ? "said" : "memory", at);
  if (!from || !width) return;
  lines.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const paths = [];
  for (let c = 0; c < row.length; c++) {
    const to = row[c] < 0.02 || (!cross && c === at) ? null : boxOf("memory", c);
    if (!to) continue;
    paths.push(
      svg("path", {
        d: toText(way(from, to, width)),
        class: "link bright",
        fill: "none",
        "stroke-width": 0.8 + 4 * row[c],
        "stroke-opacity": 0.25 + 0.7 * row[c],
      }),
    );
  }
  put(lines, paths);
}

/** Where a word is. @param {string} kind @param {number} i @returns {Box | null} */
function boxOf(kind, i) {
  const chip = words.querySelector(`.chip[data-kind="${kind}"][data-i="${i}"]`);
  if (!chip) return null;
  const [box, all] = [chip.getBoundingClientRect(), words.getBoundingClientRect()];
  const [x, y] = [box.left - all.left, box.top - all.top];
  return { left: x, right: x + box.width, top: y, bottom: y + box.height };
}

/** @param {Box} from @param {Box} to @param {number} width */
function way(from, to, width) {
  if (Math.abs(from.top - to.top) < 4) return over(from, to, GAP - 10);
  const apart = to.top < from.top ? from.top - to.bottom : to.top - from.bottom;
  if (apart <= 3 * GAP) return between(from, to);
  const isLeft = from.left + to.left < 2 * width - from.right - to.right;
  return around(from, to, GAP, isLeft ? -SIDE / 2 : width + SIDE / 2);
}

/** A chip in the colour that the map gives its weight. @param {number} weight */
function onColour(weight) {
  const table = lookup(state.palette, isDark());
  const at = place(weight, pane.most, pane.isLog);
  return { background: css(table, at), color: inkOn(table, at) };
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
