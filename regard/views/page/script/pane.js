// A pane: one heat map of any size that can be zoomed and panned.

import { isDark, isLogarithmic, lookup } from "./colour.js";
import { make, say } from "./dom.js";
import { listenToGestures } from "./gestures.js";
import { t } from "./language.js";
import { drawOver, LABELS_FROM } from "./paneover.js";
import { choose, state } from "./state.js";
import { makeTiles } from "./tiles.js";
import { TILE, TileStore } from "./tilestore.js";
/** @import {Unit} from "./picture.js" */
/** @import {Tile} from "./tiles.js" */

const MOST_CELL = 64;
const WIDE = /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/g;
let resting = 0;

/** The address says what part is seen, once it stays. @param {string} sight */
export function rememberSight(sight) {
  clearTimeout(resting);
  resting = setTimeout(() => {
    resting = 0;
    choose({ sight });
  }, 150);
}

/**
 * What a pane shows. `rowsOf` gives weights row by row; `tile` gives tiles that are made elsewhere.
 * @typedef {{name: string, rows: Unit[], columns: Unit[], signed: boolean,
 *   rowsOf?: (top: number, bottom: number, left: number, right: number) => Iterable<Float32Array>,
 *   tile?: (level: number, down: number, across: number) => Promise<Float32Array>,
 *   quick: boolean}} Source
 * @typedef {{left: number, top: number, cell: number}} Sight in cells, and pixels a cell
 */

export class Pane {
  /** @param {{label: string, onpick: (r: number, c: number) => void,
   *   onhover?: (r: number, c: number) => void, onsight?: (sight: string) => void}} options
   *   onsight gets the sight as text, empty if all is seen */
  constructor(options) {
    this.options = options;
    this.canvas = make("canvas", { class: "pane-map", "aria-hidden": "true" });
    this.over = make("canvas", { class: "pane-over", "aria-hidden": "true" });
    this.tip = make("div", { class: "tip", hidden: true });
    this.element = make(
      "div",
      {
        class: "pane",
        tabindex: 0,
        role: "application",
        "aria-roledescription": t("heat map"),
        "aria-label": options.label,
      },
      this.canvas,
      this.over,
      this.tip,
    );
    const plain = new URLSearchParams(location.hash.slice(1)).get("gl") === "0";
    this.tiles = makeTiles(this.canvas, plain);
    this.element.dataset.by = this.tiles.name;
    /** @type {Source | null} */
    this.source = null;
    this.store = new TileStore();
    /** The weight that has the strongest colour. */
    this.most = 1;
    /** @type {Sight} */
    this.sight = { left: 0, top: 0, cell: 0 };
    /** The sight as text; empty if everything is to be seen. */
    this.said = "";
    this.chosen = { r: -1, c: -1 };
    this.room = { left: 110, top: 92 };
    /** Rows after this one are not read yet. */
    this.until = Infinity;
    listenToGestures(this);
    new ResizeObserver(() => {
      if (!this.said) this.sight.cell = 0;
      this.draw();
    }).observe(this.element);
  }

  /** @param {Source} source @param {{r: number, c: number}} chosen */
  async show(source, chosen) {
    const old = this.source;
    this.chosen = chosen;
    if (old?.name === source.name) return this.draw();
    const sameSize =
      old?.rows.length === source.rows.length && old.columns.length === source.columns.length;
    this.source = source;
    this.tiles.clear();
    this.room = { left: roomFor(source.rows), top: roomFor(source.columns) };
    if (!sameSize || !this.said) {
      this.sight.cell = 0;
      if (old && this.said) this.options.onsight?.("");
      this.said = old ? "" : this.said;
    }
    this.most = (await this.store.open(source)) ?? this.most;
    this.draw();
  }

  /** Whether its colours are on a logarithmic scale. */
  get isLog() {
    const { source } = this;
    return Boolean(source) && isLogarithmic(state.scale, source?.columns.length ?? 0, this.most);
  }

  /** Room for the labels of rows and columns, in pixels. */
  get margins() {
    const { cell } = this.sight;
    const room = this.element.clientWidth;
    const small = room < 500;
    const least = cell >= LABELS_FROM ? this.labelRoom(small) : { left: 12, top: 12 };
    const spare = room - least.left - 8 - (this.source?.columns.length ?? 0) * cell;
    return { ...least, left: least.left + Math.max(0, spare / 2) }; // in the middle
  }

  /** @param {boolean} small */
  labelRoom(small) {
    const { left, top } = this.room;
    return { left: Math.min(left, small ? 84 : 140), top: Math.min(top, small ? 76 : 120) };
  }

  /** Show everything. @param {boolean} [quietly] */
  fit(quietly = false) {
    const { source, element } = this;
    if (!source) return;
    const room = (/** @type {number} */ left, /** @type {number} */ top) =>
      Math.min(
        (element.clientWidth - left - 8) / source.columns.length,
        (element.clientHeight - top - 8) / source.rows.length,
      );
    const small = element.clientWidth < 500;
    const labels = this.labelRoom(small);
    const written = room(labels.left, labels.top);
    const cell = Math.min(
      MOST_CELL,
      written >= LABELS_FROM ? written : Math.min(room(12, 12), LABELS_FROM - 0.01),
    );
    this.sight = { left: 0, top: 0, cell: Math.max(cell, 1e-3) };
    this.said = "";
    if (!quietly) this.options.onsight?.("");
    this.draw();
  }

  /** @param {Sight} sight @param {boolean} [quietly] */
  setSight(sight, quietly = false) {
    this.sight = sight;
    this.said = [sight.left, sight.top, sight.cell]
      .map((v) => String(Number(v.toFixed(3))))
      .join(",");
    if (!quietly) this.options.onsight?.(this.said);
    this.draw();
  }

  /** Back to a sight that a link has, or another pane. @param {string} text */
  restore(text) {
    if (text === this.said || resting) return;
    const [left, top, cell] = text.split(",").map(Number);
    if (![left, top, cell].every(Number.isFinite) || cell <= 0) return this.fit(true);
    this.setSight(this.held({ left, top, cell: Math.min(MOST_CELL, cell) }), true);
    this.said = text;
  }

  /** @param {number} factor @param {number} x @param {number} y pixels that stay where they are */
  zoom(factor, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2) {
    const { sight } = this;
    const least = 0.5 * Math.min(this.element.clientWidth / (this.source?.columns.length ?? 1), 1);
    const cell = Math.max(Math.min(least, sight.cell), Math.min(MOST_CELL, sight.cell * factor));
    const before = this.at(x, y);
    this.sight = { ...sight, cell };
    const after = this.at(x, y);
    this.setSight(
      this.held({
        left: sight.left + before.c - after.c,
        top: sight.top + before.r - after.r,
        cell,
      }),
    );
  }

  /** A sight that still has something in it. @param {Sight} sight @returns {Sight} */
  held(sight) {
    const { source, element } = this;
    if (!source) return sight;
    const inside = (
      /** @type {number} */ at,
      /** @type {number} */ count,
      /** @type {number} */ room,
    ) => {
      const seen = room / sight.cell;
      return seen >= count
        ? Math.max(count - seen, Math.min(0, at)) * 0
        : Math.max(0, Math.min(count - seen, at));
    };
    const { left, top } = this.margins;
    return {
      cell: sight.cell,
      left: inside(sight.left, source.columns.length, element.clientWidth - left - 8),
      top: inside(sight.top, source.rows.length, element.clientHeight - top - 8),
    };
  }

  /** The cell under a pixel, with fractions. @param {number} x @param {number} y */
  at(x, y) {
    const { sight, margins } = this;
    return {
      r: (y - margins.top) / sight.cell + sight.top,
      c: (x - margins.left) / sight.cell + sight.left,
    };
  }

  /** @param {number} r @param {number} c move only if the cell is out of sight */
  reveal(r, c) {
    const { sight, element, margins } = this;
    const across = (element.clientWidth - margins.left) / sight.cell;
    const down = (element.clientHeight - margins.top) / sight.cell;
    let { left, top } = sight;
    if (c < left || c + 1 > left + across) left = c - across / 2;
    if (r < top || r + 1 > top + down) top = r - down / 2;
    if (left !== sight.left || top !== sight.top) this.setSight(this.held({ ...sight, left, top }));
  }

  draw() {
    if (!this.source || !this.element.clientWidth || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawNow();
    });
  }

  drawNow() {
    const { source, element } = this;
    if (!source || !element.clientWidth) return;
    if (!this.sight.cell) return this.fit(true);
    const ratio = devicePixelRatio || 1;
    for (const canvas of [this.canvas, this.over]) {
      const [w, h] = [
        Math.round(element.clientWidth * ratio),
        Math.round(element.clientHeight * ratio),
      ];
      if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    }
    const table = lookup(source.signed ? "both" : state.palette, isDark());
    const scale = { table, most: this.most, log: this.isLog, signed: source.signed };
    this.tiles.draw(this.placed(ratio), scale);
    drawOver(this, ratio);
  }

  /** Tiles in sight; where one is not there yet, a coarser one that is. @param {number} ratio */
  placed(ratio) {
    const source = /** @type {Source} */ (this.source);
    const { sight, margins } = this;
    const wanted = Math.max(0, Math.ceil(Math.log2(0.75 / (sight.cell * ratio))));
    const { store } = this;
    const level = Math.min(wanted, store.coarse);
    /** @type {{tile: Tile, x: number, y: number, w: number, h: number}[]} */
    const placed = [];
    const whole = store.get(store.coarse, 0, 0);
    const put = (/** @type {Tile} */ tile) => {
      const [l, down, across] = tile.key.split("/").map(Number);
      const span = TILE << l;
      placed.push({
        tile,
        x: (margins.left + (across * span - sight.left) * sight.cell) * ratio,
        y: (margins.top + (down * span - sight.top) * sight.cell) * ratio,
        w: tile.width * (1 << l) * sight.cell * ratio,
        h: tile.height * (1 << l) * sight.cell * ratio,
      });
    };
    if (whole) put(whole);
    const span = TILE << level;
    const from = this.at(margins.left, margins.top);
    const to = this.at(this.element.clientWidth, this.element.clientHeight);
    const last = (/** @type {number} */ end, /** @type {number} */ count) =>
      Math.min(end, count - 1e-9);
    for (
      let d = Math.max(0, Math.floor(from.r / span));
      d * span < last(to.r, source.rows.length);
      d++
    ) {
      for (
        let a = Math.max(0, Math.floor(from.c / span));
        a * span < last(to.c, source.columns.length);
        a++
      ) {
        const found = store.get(level, d, a, (error) => (error ? say(String(error)) : this.draw()));
        if (found) put(found);
      }
    }
    return placed;
  }

  /** @param {number} x @param {number} y */
  cellAt(x, y) {
    const { r, c } = this.at(x, y);
    const source = this.source;
    if (!source || r < 0 || c < 0 || r >= source.rows.length || c >= source.columns.length)
      return null;
    return { r: Math.floor(r), c: Math.floor(c) };
  }

  /** @param {number} x @param {number} y */
  pick(x, y) {
    const cell = this.cellAt(x, y);
    if (cell) this.options.onpick(cell.r, cell.c);
  }

  /** @param {number} x @param {number} y */
  hover(x, y) {
    const cell = this.cellAt(x, y);
    this.tip.hidden = !cell || !this.options.onhover;
    if (!cell) return;
    this.options.onhover?.(cell.r, cell.c);
    const right = x > this.element.clientWidth / 2;
    this.tip.style.left = right ? "" : `${x + 14}px`;
    this.tip.style.right = right ? `${this.element.clientWidth - x + 14}px` : "";
    this.tip.style.top = `${Math.min(y + 14, this.element.clientHeight - 84)}px`;
  }

  /** Map and labels as one canvas. @returns {HTMLCanvasElement} */
  toCanvas() {
    this.drawNow();
    const canvas = make("canvas", { width: this.canvas.width, height: this.canvas.height });
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(this.element).getPropertyValue("--back");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.canvas, 0, 0);
    context.drawImage(this.over, 0, 0);
    return canvas;
  }
}

/** The room that labels need, in pixels. @param {Unit[]} units */
function roomFor(units) {
  let longest = 3;
  for (const { label } of units.slice(0, 4000)) {
    longest = Math.max(longest, Math.min(20, label.length + (label.match(WIDE)?.length ?? 0)));
  }
  return 18 + 7.4 * longest;
}
