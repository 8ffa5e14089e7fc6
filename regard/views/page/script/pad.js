// The pad: an image drawn with mouse, finger or pen, pixel by pixel as a model reads it; keys move
// it and clear it.

import { make } from "./dom.js";
import { t } from "./language.js";
/** @import {Pixels} from "./network/runner.js" */

/** How far from its middle a brush reaches, in pixels of an image of 28. */
const BRUSHES = { fine: 0.6, broad: 2.2 };

export class Pad {
  /** @param {{rows: number, columns: number, channels: number}} size @param {() => void} changed */
  constructor({ rows, columns, channels }, changed) {
    Object.assign(this, { rows, columns, channels });
    /** @type {Pixels} */
    this.pixels = { rows, columns, channels, values: new Array(rows * columns * channels).fill(0) };
    this.changed = changed;
    this.isErasing = false;
    this.brush = BRUSHES.broad;
    /** Where the stroke was last. @type {number[] | null} */
    this.last = null;
    this.canvas = make("canvas", {
      ...{ class: "pad", width: columns, height: rows, tabindex: 0, role: "application" },
      on: {
        pointerdown: (/** @type {PointerEvent} */ event) => this.begin(event),
        pointermove: (/** @type {PointerEvent} */ event) => this.move(event),
        pointerup: () => (this.last = null),
        pointercancel: () => (this.last = null),
        keydown: (/** @type {KeyboardEvent} */ event) => this.press(event),
      },
    });
    this.element = make("div", { class: "pad-side" });
    this.rebuild();
  }

  /** In the language that is spoken. */
  rebuild() {
    const hint = t("Draw here; the arrow keys move the image, Delete clears it");
    this.canvas.setAttribute("aria-label", hint);
    this.canvas.title = hint;
    this.element.replaceChildren(
      this.canvas,
      make(
        "div",
        { class: "pad-tools" },
        this.tool(t("Broad brush"), () => this.take(BRUSHES.broad, false), "broad"),
        this.tool(t("Fine brush"), () => this.take(BRUSHES.fine, false), "fine"),
        this.tool(t("Rubber"), () => this.take(BRUSHES.broad, true), "rubber"),
        this.tool(t("Clear"), () => this.clear(), ""),
      ),
    );
    this.mark();
  }

  /** @param {string} name @param {() => void} act @param {string} kind of what stays chosen */
  tool(name, act, kind) {
    return make("button", { type: "button", "data-kind": kind || false, on: { click: act } }, name);
  }

  /** @param {number} brush @param {boolean} isErasing */
  take(brush, isErasing) {
    Object.assign(this, { brush, isErasing });
    this.mark();
  }

  /** Show which brush is taken. */
  mark() {
    const taken = this.isErasing ? "rubber" : this.brush === BRUSHES.fine ? "fine" : "broad";
    for (const tool of this.element.querySelectorAll("[data-kind]")) {
      tool.setAttribute("aria-pressed", String(tool.dataset.kind === taken));
    }
  }

  /** @param {number[]} values of another image */
  set(values) {
    this.pixels = { ...this.pixels, values: [...values] };
    paint(this.canvas, this.pixels);
  }

  clear() {
    this.set(new Array(this.pixels.values.length).fill(0));
    this.changed();
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const way = ways[/** @type {keyof ways} */ (event.key)];
    if (way) this.shift(way[0], way[1]);
    else if (event.key === "Delete" || event.key === "Backspace") this.clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The whole image by so many pixels; what leaves it is lost. @param {number} down
   * @param {number} right */
  shift(down, right) {
    const { rows, columns, channels, values } = this.pixels;
    const moved = values.map((_, i) => {
      const place = Math.floor(i / channels);
      const [r, c] = [Math.floor(place / columns) - down, (place % columns) - right];
      const isInside = r >= 0 && r < rows && c >= 0 && c < columns;
      return isInside ? values[(r * columns + c) * channels + (i % channels)] : 0;
    });
    this.set(moved);
    this.changed();
  }

  /** @param {PointerEvent} event */
  begin(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.last = this.placeOf(event);
    this.stroke(this.last);
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.last) this.stroke(this.placeOf(event));
  }

  /** In pixels of the image. @param {PointerEvent} event */
  placeOf({ clientX, clientY }) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const { rows, columns } = this.pixels;
    return [((clientX - left) / width) * columns, ((clientY - top) / height) * rows];
  }

  /** A line from where the stroke was last, soft at its edge. @param {number[]} to */
  stroke(to) {
    const from = this.last ?? to;
    const { columns, channels, values } = this.pixels;
    const reach = (this.brush * columns) / 28;
    for (let i = 0; i < values.length; i++) {
      const place = Math.floor(i / channels);
      const at = [(place % columns) + 0.5, Math.floor(place / columns) + 0.5];
      const share = Math.max(0, Math.min(1, reach + 0.5 - distance(at, from, to)));
      const ink = Math.round(255 * share);
      values[i] = this.isErasing ? Math.min(values[i], 255 - ink) : Math.max(values[i], ink);
    }
    this.last = to;
    paint(this.canvas, this.pixels);
    this.changed();
  }
}

/** Of a point to the line between two others. @param {number[]} at @param {number[]} from
 * @param {number[]} to */
function distance(at, from, to) {
  const [x, y] = [to[0] - from[0], to[1] - from[1]];
  const along = (at[0] - from[0]) * x + (at[1] - from[1]) * y;
  const share = Math.max(0, Math.min(1, along / (x * x + y * y || 1)));
  return Math.hypot(at[0] - from[0] - share * x, at[1] - from[1] - share * y);
}

/** @param {HTMLCanvasElement} canvas @param {Pixels} pixels */
function paint(canvas, { rows, columns, channels, values }) {
  const image = new ImageData(columns, rows);
  for (let p = 0; p < rows * columns; p++) {
    for (let c = 0; c < 3; c++)
      image.data[4 * p + c] = values[p * channels + Math.min(c, channels - 1)];
    image.data[4 * p + 3] = 255;
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** As the address of a picture. @param {Pixels} pixels */
export function pictureOf(pixels) {
  const canvas = make("canvas", { width: pixels.columns, height: pixels.rows });
  paint(canvas, pixels);
  return canvas.toDataURL();
}
