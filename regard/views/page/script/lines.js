// Head: the tokens in two columns, and lines for the strongest weights between them.

import { isDark } from "./colour.js";
import { make, number, put, shown, svg, tokenText } from "./dom.js";
import { t } from "./language.js";
import { head, isRightToLeft, layer, nameOf, picture, readyHead, textsOf } from "./model.js";
import { rowTable } from "./picture.js";
import { choose, state } from "./state.js";
/** @import {Picture, Unit} from "./picture.js" */

const ROW = 24;
const MOST_LINES = 2500;
const STRENGTHS = 14;
/** @typedef {{from: number, to: number, weight: number}} Line */

/** @type {any} */
let board;
/** @type {any} */
let note;
/** @type {any} */
let drawing;
/** @type {{left: any, right: any}} */
let sides = { left: null, right: null };
/** @type {any} */
let chosenOnly;
/** @type {any} */
let share;

export const headView = {
  name: "head",
  title: () => t("Head"),
  build: buildLines,
  update: updateLines,
  table: () => rowTable(picture(), state.query),
  svg: linesSvg,
};

function buildLines() {
  note = make("p", { class: "quiet", role: "status" });
  drawing = make("canvas", { class: "links", "aria-hidden": "true" });
  sides = { left: list("from"), right: list("to") };
  board = make(
    "div",
    { class: "board scroll", tabindex: -1, on: { scroll: scrolled } },
    make(
      "div",
      { class: "board-inner" },
      sides.left,
      make("div", { class: "links-box" }, drawing),
      sides.right,
    ),
  );
  chosenOnly = make("input", {
    type: "checkbox",
    on: { change: () => choose({ all: !chosenOnly.checked }) },
  });
  share = make("input", {
    type: "range",
    min: 5,
    max: 100,
    step: 5,
    on: { input: () => choose({ share: share.value / 100 }) },
  });
  addEventListener("resize", () => state.view === "head" && drawLines());
  return make(
    "div",
    { class: "view-head" },
    make(
      "div",
      { class: "controls" },
      make(
        "label",
        { class: "field" },
        make("span", {}, "Draw the strongest, up to this share of each row"),
        share,
      ),
      make("label", { class: "check" }, chosenOnly, "Chosen token only"),
      note,
    ),
    board,
  );
}

/** @param {"from" | "to"} side */
function list(side) {
  return make("div", {
    class: `tokens ${side}`,
    role: "listbox",
    tabindex: 0,
    "aria-label": side === "from" ? "Tokens that attend" : "Tokens attended to",
    on: {
      keydown: (/** @type {KeyboardEvent} */ e) => moveInList(e, side),
      click: (/** @type {any} */ e) => {
        const option = e.target.closest("[data-number]");
        if (option) pick(side, Number(option.dataset.number));
      },
      pointerover: (/** @type {any} */ e) => {
        const option = e.target.closest("[data-number]");
        if (option && e.pointerType === "mouse") hover(side, Number(option.dataset.at));
      },
      pointerleave: () => hover(side, -1),
    },
  });
}

/** @param {"from" | "to"} side @param {number} token */
function pick(side, token) {
  choose(side === "from" ? { query: token } : { key: token });
}

/** @param {KeyboardEvent} event @param {"from" | "to"} side */
function moveInList(event, side) {
  const shownPicture = picture();
  const units = side === "from" ? shownPicture.rows : shownPicture.columns;
  const at = side === "from" ? shownPicture.rowOf(state.query) : shownPicture.columnOf(state.key);
  const to = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: units.length - 1,
    PageDown: at + 10,
    PageUp: at - 10,
  }[event.key];
  if (to === undefined) return;
  pick(side, units[Math.max(0, Math.min(units.length - 1, to))].number);
  event.preventDefault();
  event.stopPropagation();
}

/** @type {{side: "from" | "to", at: number} | null} */
let hovered = null;

/** @param {"from" | "to"} side @param {number} at */
function hover(side, at) {
  const next = at < 0 ? null : { side, at };
  if (next?.at === hovered?.at && next?.side === hovered?.side) return;
  hovered = next;
  drawLines();
  fillTokens();
}

/** @param {Set<string>} changed */
async function updateLines(changed) {
  chosenOnly.checked = !state.all;
  share.value = String(Math.round(state.share * 100));
  await readyHead();
  const [from] = textsOf(layer());
  board.classList.toggle("mirrored", isRightToLeft(from));
  drawLines();
  if (changed.has("query") || changed.has("view")) bringIntoSight();
  fillTokens();
}

function bringIntoSight() {
  const at = picture().rowOf(state.query) * ROW;
  if (at < board.scrollTop || at > board.scrollTop + board.clientHeight - 2 * ROW) {
    board.scrollTop = at - board.clientHeight / 3;
  }
}

/** The strongest links of a row that together make the share of its weight.
 * @param {Picture} of @param {number} r @returns {Line[]} */
function strongestOf(of, r) {
  const row = of.row(r);
  const sorted = row.slice().sort();
  let least = Infinity;
  let sum = 0;
  for (let at = sorted.length - 1; at >= 0 && sorted[at] > 0 && sum < state.share - 1e-6; at--) {
    least = sorted[at];
    sum += least;
  }
  const lines = [];
  for (let c = 0; c < row.length; c++)
    if (row[c] >= least) lines.push({ from: r, to: c, weight: row[c] });
  return lines;
}

/** Of a text too long for all its lines, those of the rows in sight. @param {Picture} of */
function rowsInSight(of) {
  const first = Math.max(0, Math.floor(board.scrollTop / ROW));
  const count = Math.ceil(board.clientHeight / ROW) + 1;
  return Array.from({ length: Math.min(count, of.rows.length - first) }, (_, r) => first + r);
}

/** The lines to draw, and how much of all weight they are. @param {Picture} of */
export function chosenLines(of) {
  const only = !state.all;
  const rows = only
    ? [of.rowOf(state.query)]
    : of.fits
      ? of.rows.map((_, r) => r)
      : rowsInSight(of);
  let lines = rows.flatMap((r) => strongestOf(of, r));
  const wanted = lines.length;
  if (wanted > MOST_LINES) lines = lines.sort((a, b) => b.weight - a.weight).slice(0, MOST_LINES);
  const sum = lines.reduce((total, line) => total + line.weight, 0);
  return { lines, wanted, rows: rows.length, covered: sum / Math.max(1, rows.length) };
}

/** @type {{of: Picture, lines: Line[]} | null} */
let drawn = null;

function scrolled() {
  fillTokens();
  if (drawn && !drawn.of.fits) drawLines();
  else strokeLines();
}

function drawLines() {
  if (!head().isReady) return;
  const of = picture();
  const { lines, wanted, rows, covered } = chosenLines(of);
  drawn = { of, lines };
  const height = Math.max(of.rows.length, of.columns.length) * ROW;
  sides.left.style.height = sides.right.style.height = `${height}px`;
  strokeLines();
  const kept =
    wanted > lines.length
      ? `the strongest ${lines.length} of ${wanted} lines`
      : `${lines.length} lines`;
  const sink = of.dropped
    ? ` ${of.dropped} sink ${of.dropped > 1 ? "columns" : "column"} hidden, rows renormalised ` +
      `(this row had ${number(100 * of.sunk(of.rowOf(state.query)), 1)} % there).`
    : "";
  const whole = rows > 1 ? `${rows} rows` : "the row";
  note.textContent = `${kept}: ${number(100 * covered, 0)} % of the weight of ${whole}.${sink}`;
}

/** Draw the lines that cross what is in sight. */
function strokeLines() {
  if (!drawn) return;
  const ratio = devicePixelRatio || 1;
  const [width, height] = [drawing.parentElement.clientWidth, board.clientHeight];
  [drawing.width, drawing.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  drawing.style.height = `${height}px`;
  const context = drawing.getContext("2d");
  const style = getComputedStyle(board);
  const top = board.scrollTop;
  const inSight = drawn.lines.filter((line) => {
    const [y1, y2] = [(line.from + 0.5) * ROW - top, (line.to + 0.5) * ROW - top];
    return Math.max(y1, y2) >= 0 && Math.min(y1, y2) <= height;
  });
  context.setTransform(ratio, 0, 0, ratio, 0, -top * ratio);
  for (const { d, strength, bright } of pathsOf(drawn.of, inSight, width)) {
    context.strokeStyle = style.getPropertyValue(bright ? "--bright" : "--link");
    context.globalAlpha = opacity(strength, bright);
    context.lineWidth = 0.6 + 2.6 * strength;
    context.stroke(new Path2D(d));
  }
}

/** @param {number} strength @param {boolean} bright */
function opacity(strength, bright) {
  return (0.08 + 0.82 * strength) * (hovered && !bright ? 0.25 : 1);
}

/** Lines of like strength are one path each: thousands of them stay quick.
 * @param {Picture} of @param {Line[]} lines @param {number} width
 * @returns {{d: string, strength: number, bright: boolean}[]} */
function pathsOf(of, lines, width) {
  const mirrored = board?.classList.contains("mirrored");
  const focus = hovered ?? (state.all ? null : { side: "from", at: of.rowOf(state.query) });
  const chosen = of.rowOf(state.query);
  const [x1, x2] = mirrored ? [width, 0] : [0, width];
  const bend = (x2 - x1) * 0.4;
  /** @type {Map<number, string[]>[]} */
  const groups = [new Map(), new Map()];
  for (const line of lines) {
    const bright = focus
      ? (focus.side === "from" ? line.from : line.to) === focus.at
      : line.from === chosen;
    const group = groups[Number(bright)];
    const strength = Math.max(1, Math.ceil(Math.min(1, line.weight) * STRENGTHS));
    const [y1, y2] = [(line.from + 0.5) * ROW, (line.to + 0.5) * ROW];
    if (!group.has(strength)) group.set(strength, []);
    group.get(strength)?.push(`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`);
  }
  return groups.flatMap((group, bright) =>
    [...group].map(([strength, parts]) => ({
      d: parts.join(""),
      strength: strength / STRENGTHS,
      bright: bright === 1,
    })),
  );
}

function fillTokens() {
  if (!head().isReady) return;
  const of = picture();
  const row = of.row(hovered?.side === "from" ? hovered.at : of.rowOf(state.query));
  fillSide(sides.left, of.rows, of.rowOf(state.query), null);
  fillSide(sides.right, of.columns, of.columnOf(state.key), row);
}

/** Only the tokens in sight are elements. @param {any} side @param {Unit[]} units
 * @param {number} chosen @param {Float32Array | null} weights */
function fillSide(side, units, chosen, weights) {
  const first = Math.max(0, Math.floor(board.scrollTop / ROW) - 15);
  const last = Math.min(units.length, first + Math.ceil(board.clientHeight / ROW) + 30);
  const made = [];
  for (let i = first; i < last; i++) {
    const weight = weights ? weights[i] : null;
    made.push(
      make(
        "div",
        {
          class: "token",
          role: "option",
          id: `${side === sides.left ? "q" : "k"}${i}`,
          "aria-selected": String(i === chosen),
          "aria-setsize": units.length,
          "aria-posinset": i + 1,
          "data-number": units[i].number,
          "data-at": i,
          title: `${units[i].number}: ${shown(units[i].label, 200)}`,
          style: { top: `${i * ROW}px`, "--weight": weight ?? 0 },
        },
        tokenText(units[i].label),
        weight === null
          ? null
          : make("span", { class: "token-weight" }, weight >= 0.0005 ? number(weight, 3) : ""),
      ),
    );
  }
  put(side, made);
  if (chosen >= first && chosen < last) {
    side.setAttribute("aria-activedescendant", `${side === sides.left ? "q" : "k"}${chosen}`);
  } else {
    side.removeAttribute("aria-activedescendant");
  }
}

/** The view as one SVG picture with its text as text. @returns {SVGElement} */
function linesSvg() {
  const of = picture();
  const { lines } = chosenLines(of);
  const [label, middle] = [150, 320];
  const height = Math.max(of.rows.length, of.columns.length) * ROW;
  const ink = isDark() ? "#e8e8ea" : "#1c1d21";
  const back = isDark() ? "#16181d" : "#ffffff";
  const words = (
    /** @type {Unit[]} */ units,
    /** @type {number} */ x,
    /** @type {string} */ anchor,
  ) =>
    units.map((unit, i) =>
      svg(
        "text",
        {
          x,
          y: (i + 0.5) * ROW + 4,
          "text-anchor": anchor,
          fill: ink,
          "font-family": "system-ui, sans-serif",
          "font-size": 13,
        },
        shown(unit.label, 24),
      ),
    );
  const colours = isDark() ? ["#8fb4ff", "#ffb066"] : ["#2f5fd0", "#b3430b"];
  const group = svg(
    "g",
    { transform: `translate(${label + 8} 0)`, fill: "none" },
    pathsOf(of, lines, middle - 16).map(({ d, strength, bright }) =>
      svg("path", {
        d,
        stroke: colours[Number(bright)],
        "stroke-width": (0.6 + 2.6 * strength).toFixed(2),
        "stroke-opacity": opacity(strength, bright).toFixed(3),
      }),
    ),
  );
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: 2 * label + middle,
      height,
      viewBox: `0 0 ${2 * label + middle} ${height}`,
    },
    svg("title", {}, nameOf(head())),
    svg("rect", { width: "100%", height: "100%", fill: back }),
    words(of.rows, label, "end"),
    group,
    words(of.columns, label + middle, "start"),
  );
}
