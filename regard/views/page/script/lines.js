// Head: the tokens in two columns, and lines for the strongest weights between them.

import { isDark } from "./colour.js";
import { keepingFocus, make, number, put, shown, svg, tokenText } from "./dom.js";
import { t } from "./language.js";
import { head, isRightToLeft, layer, nameOf, numberName, picture } from "./model.js";
import { readyHead, textsOf } from "./model.js";
import { rowTable } from "./picture.js";
import { choose, state } from "./state.js";
import {
  between,
  COLOURS,
  drawnHeads,
  opacityOf,
  strandsOf,
  strokesOf,
  withHead,
} from "./strands.js";
/** @import {Strand} from "./strands.js" */
/** @import {Picture, Unit} from "./picture.js" */

const LEAST_ROW = 24; // pixels
const MOST_ROW = 60;
const MOST_MOVING = 1500; // lines that can move at once
const MOTION = 200; // milliseconds
/** Pixels of a row: as many as fill the height. */
let row = LEAST_ROW;

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
/** @type {any} */
let chips;

export const headView = {
  name: "head",
  title: () => t("Head"),
  build: buildLines,
  update: updateLines,
  table: () => rowTable(picture(), state.query, numberName()),
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
  chips = make("div", {
    class: "head-chips",
    role: "group",
    "aria-label": t("Heads over each other"),
  });
  share = make("input", {
    type: "range",
    min: 5,
    max: 100,
    step: 5,
    on: { input: () => choose({ share: share.value / 100 }) },
  });
  addEventListener("resize", () => state.view === "head" && drawLines(false));
  return make(
    "div",
    { class: "view-head" },
    make(
      "div",
      { class: "controls" },
      make(
        "label",
        { class: "field" },
        make("span", {}, t("Draw the strongest, up to this share of each row")),
        share,
      ),
      make("label", { class: "check" }, chosenOnly, t("Chosen token only")),
      chips,
      note,
    ),
    board,
  );
}

/** Heads to draw over each other, each in its colour. */
function fillHeads() {
  const shownHeads = drawnHeads();
  const chip = (/** @type {number} */ place) => {
    const isDrawn = shownHeads.includes(place);
    return make(
      "button",
      {
        type: "button",
        class: "head-chip",
        "aria-pressed": String(isDrawn),
        "data-focus": `head ${place}`,
        disabled: place === state.head,
        style: { "--colour": isDrawn ? colourOf(place, false) : "transparent" },
        on: { click: () => choose({ heads: withHead(place) }) },
      },
      String(layer().heads[place].number),
    );
  };
  chips.hidden = layer().heads.length < 2;
  keepingFocus(chips, () =>
    put(
      chips,
      make("span", {}, t("Heads over each other")),
      layer().heads.map((_, place) => chip(place)),
    ),
  );
}

/** @param {"from" | "to"} side */
function list(side) {
  return make("div", {
    class: `tokens ${side}`,
    role: "listbox",
    tabindex: 0,
    "aria-label": side === "from" ? t("Tokens that attend") : t("Tokens attended to"),
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
  strokeLines(drawn);
  fillTokens();
}

/** @param {Set<string>} changed */
async function updateLines(changed) {
  chosenOnly.checked = !state.all;
  share.value = String(Math.round(state.share * 100));
  await readyHead();
  await Promise.all(drawnHeads().map((place) => layer().heads[place].ready()));
  const [from] = textsOf(layer());
  board.classList.toggle("mirrored", isRightToLeft(from));
  fillHeads();
  drawLines(["head", "layer", "change", "heads", "share"].some((name) => changed.has(name)));
  if (changed.has("query") || changed.has("view")) bringIntoSight();
  fillTokens();
}

function bringIntoSight() {
  const at = picture().rowOf(state.query) * row;
  if (at < board.scrollTop || at > board.scrollTop + board.clientHeight - 2 * row) {
    board.scrollTop = at - board.clientHeight / 3;
  }
}

/** The rows that are drawn: all, or of a text too long for that, those in sight. */
function rows() {
  const of = picture();
  if (of.fits) return of.rows.map((_, r) => r);
  const first = Math.max(0, Math.floor(board.scrollTop / row));
  const count = Math.ceil(board.clientHeight / row) + 1;
  return Array.from({ length: Math.min(count, of.rows.length - first) }, (_, r) => first + r);
}

/** What is drawn, and from what it moves there. @type {Strand[]} */
let drawn = [];
let frame = 0;

function scrolled() {
  fillTokens();
  if (!picture().fits) drawLines(false);
  else strokeLines(drawn);
}

/** @param {boolean} moving */
function drawLines(moving) {
  if (!head().isReady) return;
  const of = picture();
  const count = Math.max(of.rows.length, of.columns.length);
  row = Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor((board.clientHeight - 2) / count)));
  board.style.setProperty("--row", `${row}px`);
  sides.left.style.height = sides.right.style.height = `${count * row}px`;
  const { strands, wanted, rows: some, covered } = strandsOf(rows());
  const old = drawn;
  drawn = strands;
  tellDrawn(wanted, some, covered);
  cancelAnimationFrame(frame);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (!moving || still || old.length + strands.length > MOST_MOVING) return strokeLines(strands);
  const start = performance.now();
  const go = (/** @type {number} */ at) => {
    const part = Math.max(0, Math.min(1, (at - start) / MOTION));
    strokeLines(part < 1 ? between(old, strands, 1 - (1 - part) ** 3) : strands);
    if (part < 1) frame = requestAnimationFrame(go);
  };
  frame = requestAnimationFrame(go);
}

/** @param {number} wanted @param {number} some rows @param {number} covered */
function tellDrawn(wanted, some, covered) {
  const of = picture();
  const values = { count: drawn.length, wanted, rows: some, percent: number(100 * covered, 0) };
  const said = [
    wanted > drawn.length
      ? t("the strongest {count} of {wanted} lines: {percent} % of the weight.", values)
      : t("{count} lines: {percent} % of the weight of {rows} rows.", values),
  ];
  if (of.dropped) {
    const sunk = number(100 * of.sunk(of.rowOf(state.query)), 1);
    said.push(t("Sinks hidden, rows renormalised (this row had {sunk} % there).", { sunk }));
  }
  note.textContent = said.join(" ");
}

/** @param {Strand} strand */
function isBright(strand) {
  const of = picture();
  const focus = hovered ?? { side: "from", at: of.rowOf(state.query) };
  return (focus.side === "from" ? strand.from : strand.to) === focus.at;
}

/** @param {number} place of a head @param {boolean} bright */
function colourOf(place, bright) {
  const heads = drawnHeads();
  const colours = COLOURS[isDark() ? "dark" : "light"];
  if (heads.length > 1) return colours[Math.max(0, heads.indexOf(place))];
  return colours[bright ? 1 : 0];
}

/** Draw the lines that cross what is in sight. @param {Strand[]} strands */
function strokeLines(strands) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [drawing.parentElement.clientWidth, board.clientHeight];
  [drawing.width, drawing.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  drawing.style.height = `${height}px`;
  const context = drawing.getContext("2d");
  const faint = getComputedStyle(board).getPropertyValue("--quiet");
  const top = board.scrollTop;
  const inSight = strands.filter((strand) => {
    const [y1, y2] = [(strand.from + 0.5) * row - top, (strand.to + 0.5) * row - top];
    return Math.max(y1, y2) >= 0 && Math.min(y1, y2) <= height;
  });
  context.setTransform(ratio, 0, 0, ratio, 0, -top * ratio);
  const mirrored = board.classList.contains("mirrored");
  for (const stroke of strokesOf(inSight, { width, row, mirrored }, isBright)) {
    context.strokeStyle = stroke.faded ? faint : colourOf(stroke.head, stroke.bright);
    context.globalAlpha = opacityOf(stroke, Boolean(hovered));
    context.lineWidth = 0.6 + (row / 9) * stroke.strength;
    context.stroke(new Path2D(stroke.d));
  }
}

function fillTokens() {
  if (!head().isReady) return;
  const of = picture();
  const weights = of.row(hovered?.side === "from" ? hovered.at : of.rowOf(state.query));
  fillSide(sides.left, of.rows, of.rowOf(state.query), null);
  fillSide(sides.right, of.columns, of.columnOf(state.key), weights);
}

/** Only the tokens in sight are elements. @param {any} side @param {Unit[]} units
 * @param {number} chosen @param {Float32Array | null} weights */
function fillSide(side, units, chosen, weights) {
  const first = Math.max(0, Math.floor(board.scrollTop / row) - 15);
  const last = Math.min(units.length, first + Math.ceil(board.clientHeight / row) + 30);
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
          style: { top: `${i * row}px`, "--weight": weight ?? 0 },
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
  const { strands } = strandsOf(rows());
  const [label, middle] = [150, 320];
  const height = Math.max(of.rows.length, of.columns.length) * row;
  const width = 2 * label + middle;
  const room = { width: middle - 16, row, mirrored: board.classList.contains("mirrored") };
  const paths = strokesOf(strands, room, isBright).map((stroke) =>
    svg("path", {
      d: stroke.d,
      stroke: stroke.faded ? "#808691" : colourOf(stroke.head, stroke.bright),
      "stroke-width": (0.6 + (row / 9) * stroke.strength).toFixed(2),
      "stroke-opacity": opacityOf(stroke, false).toFixed(3),
    }),
  );
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svg("title", {}, nameOf(head())),
    svg("rect", { width: "100%", height: "100%", fill: isDark() ? "#16181d" : "#ffffff" }),
    wordsSvg(of.rows, label, "end"),
    svg("g", { transform: `translate(${label + 8} 0)`, fill: "none" }, paths),
    wordsSvg(of.columns, label + middle, "start"),
  );
}

/** @param {Unit[]} units @param {number} x @param {string} anchor */
function wordsSvg(units, x, anchor) {
  const style = {
    "text-anchor": anchor,
    fill: isDark() ? "#e8e8ea" : "#1c1d21",
    "font-family": "system-ui, sans-serif",
    "font-size": 13,
  };
  return units.map((unit, i) =>
    svg("text", { x, y: (i + 0.5) * row + 4, ...style }, shown(unit.label, 24)),
  );
}
