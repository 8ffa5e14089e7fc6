// Arcs between words: their paths, and a short motion from the old ones to the new.

import { put, svg } from "./dom.js";

/**
 * @typedef {{left: number, right: number, top: number, bottom: number}} Box
 * @typedef {{shape: string, numbers: number[]}} Path commands, and the numbers that they take
 * @typedef {{to: string, path: Path, width: number, opacity: number, kind: string}} Arc
 */

const MOTION = 180; // milliseconds
const SPACE = 5; // between a word and the end of an arc

/** @param {Box} box */
const middle = (box) => (box.left + box.right) / 2;

/** Over the words of one line. @param {Box} from @param {Box} to @param {number} room above */
export function over(from, to, room) {
  const [x1, x2] = [middle(from), middle(to)];
  const height = Math.min(room, 16 + 0.2 * Math.abs(x2 - x1));
  const y = Math.min(from.top, to.top) - SPACE;
  return curve(x1, y, x1, y - (4 / 3) * height, x2, y - (4 / 3) * height, x2, y);
}

/** Between two lines that face each other. @param {Box} from @param {Box} to */
export function between(from, to) {
  const up = to.bottom <= from.top + 1;
  const [y1, y2] = up
    ? [from.top - SPACE, to.bottom + SPACE]
    : [from.bottom + SPACE, to.top - SPACE];
  const [x1, x2, bend] = [middle(from), middle(to), 0.55 * (y2 - y1)];
  return curve(x1, y1, x1, y1 + bend, x2, y2 - bend, x2, y2);
}

/** Between two columns that face each other. @param {Box} from @param {Box} to */
export function beside(from, to) {
  const left = to.right <= from.left + 1;
  const [x1, x2] = left
    ? [from.left - SPACE, to.right + SPACE]
    : [from.right + SPACE, to.left - SPACE];
  const [y1, y2] = [(from.top + from.bottom) / 2, (to.top + to.bottom) / 2];
  const bend = 0.5 * (x2 - x1);
  return curve(x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2);
}

/** Round the lines that lie between: along the space at the side.
 * @param {Box} from @param {Box} to @param {number} gap between two lines @param {number} side */
export function around(from, to, gap, side) {
  const up = to.top < from.top;
  const way = up ? -1 : 1;
  const [x1, x2] = [middle(from), middle(to)];
  const y1 = up ? from.top - SPACE : from.bottom + SPACE;
  const y2 = up ? to.bottom + SPACE : to.top - SPACE;
  const [out, back] = [y1 + (way * gap) / 2 - way * SPACE, y2 - (way * gap) / 2 + way * SPACE];
  const r = Math.min(12, gap / 2 - SPACE);
  const [a, b] = [Math.sign(side - x1), Math.sign(x2 - side)];
  return {
    shape: "MQLQLQLQ",
    numbers: [
      ...[x1, y1, x1, out, x1 + a * r, out],
      ...[side - a * r, out, side, out, side, out + way * r],
      ...[side, back - way * r, side, back, side + b * r, back],
      ...[x2 - b * r, back, x2, back, x2, y2],
    ],
  };
}

/** @param {...number} numbers @returns {Path} */
function curve(...numbers) {
  return { shape: "MC", numbers };
}

const TAKES = { M: 2, L: 2, Q: 4, C: 6 };

/** @param {Path} path */
export function toText({ shape, numbers }) {
  let at = 0;
  return [...shape]
    .map((command) => {
      const count = TAKES[/** @type {keyof TAKES} */ (command)];
      return (
        command +
        numbers
          .slice(at, (at += count))
          .map((n) => n.toFixed(1))
          .join(" ")
      );
    })
    .join("");
}

/** Arcs on a picture, each known by the word that it goes to. */
export class Arcs {
  constructor() {
    this.element = svg("svg", { class: "arcs-over", "aria-hidden": "true" });
    /** @type {Map<string, {now: Arc, from: Arc, element: any}>} */
    this.drawn = new Map();
    this.frame = 0;
  }

  /** @param {Arc[]} arcs @param {boolean} moving */
  show(arcs, moving) {
    cancelAnimationFrame(this.frame);
    const old = this.drawn;
    this.drawn = new Map();
    for (const arc of arcs) {
      const before = old.get(arc.to);
      const element = before?.element ?? svg("path", {});
      element.setAttribute("class", `arc ${arc.kind}`);
      const from = before ? before.now : { ...arc, width: 0, opacity: 0 };
      this.drawn.set(arc.to, { now: arc, from, element });
    }
    put(
      this.element,
      [...this.drawn.values()].map(({ element }) => element),
    );
    const still = !moving || matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still) return this.place(1);
    const start = performance.now();
    const go = (/** @type {number} */ at) => {
      const done = Math.max(0, Math.min(1, (at - start) / MOTION));
      this.place(1 - (1 - done) ** 3);
      if (done < 1) this.frame = requestAnimationFrame(go);
    };
    this.place(0);
    this.frame = requestAnimationFrame(go);
  }

  /** @param {number} part of the way, 0 to 1 */
  place(part) {
    const mix = (/** @type {number} */ a, /** @type {number} */ b) => a + (b - a) * part;
    for (const { now, from, element } of this.drawn.values()) {
      const same = from.path.shape === now.path.shape;
      const numbers = same
        ? now.path.numbers.map((n, i) => mix(from.path.numbers[i], n))
        : now.path.numbers;
      element.setAttribute("d", toText({ shape: now.path.shape, numbers }));
      element.setAttribute("stroke-width", mix(from.width, now.width).toFixed(2));
      element.setAttribute("stroke-opacity", mix(from.opacity, now.opacity).toFixed(3));
    }
  }
}
