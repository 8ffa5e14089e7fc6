// The stage of the sentence: its words in large type, or two sentences that face each other, and
// the ways of arcs between them.

import { around, beside, between, over } from "./arcs.js";
import { make, put, tokenText } from "./dom.js";
import { t } from "./language.js";
import { isRightToLeft } from "./model.js";
/** @import {Box, Path} from "./arcs.js" */
/** @import {Text} from "./data.js" */
/** @import {Picture, Unit} from "./picture.js" */

const MOST_WORDS = 400; // of a longer text, those around the chosen one
const SIDE = 22; // pixels at both sides of the words, for arcs that go round lines
const LINE = 2.7; // the height of a line with its arcs, in its type's size
const ONE_LINE = { alone: 25, facing: 19 }; // pixels of type below which a line is broken

export class Stage {
  /** @param {(side: "from" | "to") => any} listeners of the two lists */
  constructor(listeners) {
    const list = (/** @type {"from" | "to"} */ side) =>
      make("div", { class: `words ${side}`, role: "listbox", tabindex: 0, on: listeners(side) });
    this.from = list("from");
    this.to = list("to");
    this.element = make("div", { class: "stage" }, this.to, this.from);
    /** Where each word is. @type {Map<string, Box>} */
    this.boxes = new Map();
    this.isFacing = false;
    this.inColumns = false;
    this.size = 0;
    this.first = 0;
    this.over = 0;
    this.key = "";
  }

  /** Put the words in their places. @param {Picture} of @param {Text} from @param {Text} to
   * @param {number} at the chosen row @returns {boolean} whether anything changed */
  lay(of, from, to, at) {
    const first = this.firstShown(at, of.rows.length);
    const labels = [of.rows, of.columns].map((units) => units.map((u) => u.label).join("\u0000"));
    const key = [...labels, from === to, first, this.element.clientWidth, innerHeight].join();
    if (key === this.key) return false;
    Object.assign(this, { key, first, isFacing: from !== to });
    fill(this.from, "from", of.rows.slice(first, first + MOST_WORDS), from);
    fill(this.to, "to", this.isFacing ? of.columns.slice(0, MOST_WORDS) : [], to);
    this.to.hidden = !this.isFacing;
    const name = this.isFacing ? t("The words that were written") : t("The words");
    this.from.setAttribute("aria-label", name);
    this.to.setAttribute("aria-label", t("The words that were looked at"));
    this.fit();
    this.measure();
    return true;
  }

  /** Where the shown part of a long text begins. @param {number} at @param {number} count */
  firstShown(at, count) {
    if (count <= MOST_WORDS) return 0;
    const near = at - this.first;
    const stays = near > MOST_WORDS / 8 && near < (7 * MOST_WORDS) / 8;
    const first = stays ? this.first : at - MOST_WORDS / 2;
    return Math.max(0, Math.min(count - MOST_WORDS, first));
  }

  /** The largest type in which one line holds the words, or else that fills the room with lines. */
  fit() {
    const { element, from, to, isFacing } = this;
    const lists = isFacing ? [from, to] : [from];
    element.className = "stage";
    element.style.setProperty("--size", "20px");
    const width = element.clientWidth - 2 * SIDE;
    const long = Math.max(...lists.map(widthOf)) / 20;
    const one = Math.min(Math.max(26, Math.min(64, width / 18)), width / long);
    const isBroken = one < ONE_LINE[isFacing ? "facing" : "alone"];
    const room = 0.5 * innerHeight;
    this.inColumns = isFacing && isBroken;
    if (!isBroken) this.size = one;
    else if (isFacing) {
      const count = Math.max(...lists.map((list) => list.childElementCount));
      this.size = Math.max(15, Math.min(26, room / count / 1.6, width / 14));
    } else this.size = Math.max(16, Math.min(30, Math.sqrt((width * room) / (long * LINE))));
    this.over = isBroken ? 1.4 * this.size : Math.min(24 + 0.2 * long * one, 0.32 * innerHeight);
    element.classList.toggle("columns", this.inColumns);
    element.classList.toggle("facing", isFacing && !isBroken);
    element.classList.toggle("wrapped", !isFacing && isBroken);
    element.style.setProperty("--size", `${this.size.toFixed(2)}px`);
    element.style.setProperty("--over", `${this.over.toFixed(0)}px`);
  }

  measure() {
    const origin = this.element.getBoundingClientRect();
    this.boxes.clear();
    for (const word of this.words) {
      const { left, right, top, bottom } = word.getBoundingClientRect();
      this.boxes.set(word.id, {
        left: left - origin.left,
        right: right - origin.left,
        top: top - origin.top,
        bottom: bottom - origin.top,
      });
    }
  }

  /** @returns {HTMLElement[]} */
  get words() {
    return [...this.from.children, ...this.to.children];
  }

  /** Pixels of an arc that has all the weight. */
  get thickest() {
    return this.size * (this.element.classList.contains("wrapped") ? 0.3 : 0.42);
  }

  /** The element of a row, and of a column. @param {Unit} unit */
  rowId(unit) {
    return `from${unit.number}`;
  }

  /** @param {Unit} unit */
  columnId(unit) {
    return `${this.isFacing ? "to" : "from"}${unit.number}`;
  }

  /** Whether an arc comes to a column from below it. @param {Unit} row @param {Unit} column */
  isFromBelow(row, column) {
    const from = this.boxes.get(this.rowId(row));
    const to = this.boxes.get(this.columnId(column));
    return Boolean(from && to && to.bottom <= from.top);
  }

  /** The way of an arc: over words of the same line, between lines, or round those between.
   * @param {Unit} row @param {Unit} column @returns {Path | null} */
  path(row, column) {
    const from = this.boxes.get(this.rowId(row));
    const to = this.boxes.get(this.columnId(column));
    if (!from || !to || from === to) return null;
    if (this.inColumns) return beside(from, to);
    if (this.isFacing) return between(from, to);
    const pitch = LINE * this.size;
    const lines = Math.round((to.top - from.top) / pitch);
    const gap = pitch - (from.bottom - from.top);
    if (lines === 0) return over(from, to, from.top < this.over + pitch / 2 ? this.over : gap - 8);
    if (Math.abs(lines) === 1) return between(from, to);
    const width = this.element.clientWidth;
    const isLeft = from.left + to.left < 2 * width - from.right - to.right;
    return around(from, to, gap, isLeft ? SIDE / 2 : width - SIDE / 2);
  }
}

/** @param {any} list @param {"from" | "to"} side @param {Unit[]} units @param {Text} text */
function fill(list, side, units, text) {
  const marks = new Set(text.special);
  list.dir = isRightToLeft(text) ? "rtl" : "ltr";
  put(
    list,
    units.map((unit) =>
      make(
        "span",
        {
          class: marks.has(unit.number) ? "word mark" : "word",
          role: "option",
          id: `${side}${unit.number}`,
          "aria-selected": "false",
          "data-number": unit.number,
        },
        tokenText(unit.label, 60),
      ),
    ),
  );
}

/** The width of a list's words in one line. @param {any} list */
function widthOf(list) {
  const words = [...list.children];
  const gap = parseFloat(getComputedStyle(list).columnGap) || 0;
  return words.reduce((sum, word) => sum + word.offsetWidth + gap, 0);
}
