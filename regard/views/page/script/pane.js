// A pane: one heat map of any size that can be zoomed and panned.

import { isDark, isLogarithmic, lookup } from "./colour.js";
import { make, say, shown, slowly } from "./dom.js";
import { t } from "./language.js";
import { choose, state } from "./state.js";
import { makeTiles } from "./tiles.js";
/** @import {Unit} from "./picture.js" */
/** @import {Tile} from "./tiles.js" */

export const TILE = 128;
const LABELS_FROM = 11; // pixels a cell needs for its token to be written
const MOST_CELL = 64;
const COMING = { coming: true };
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
    /** @type {Map<string, Tile | typeof COMING>} */
    this.found = new Map();
    /** @type {Sight} */
    this.sight = { left: 0, top: 0, cell: 0 };
    /** The sight as text; empty if everything is to be seen. */
    this.said = "";
    this.most = 1;
    this.chosen = { r: -1, c: -1 };
    this.room = { left: 110, top: 92 };
    /** Rows after this one are not read yet. */
    this.until = Infinity;
    this.listen();
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
    this.found.clear();
    this.tiles.clear();
    this.room = { left: roomFor(source.rows), top: roomFor(source.columns) };
    if (!sameSize || !this.said) {
      this.sight.cell = 0;
      if (old && this.said) this.options.onsight?.("");
      this.said = old ? "" : this.said;
    }
    await this.measure();
    this.draw();
  }

  /** Whether its colours are on a logarithmic scale. */
  get isLog() {
    const { source } = this;
    return Boolean(source) && isLogarithmic(state.scale, source?.columns.length ?? 0, this.most);
  }

  /** The largest weight, from one coarse tile of everything. */
  async measure() {
    const source = /** @type {Source} */ (this.source);
    const size = Math.max(source.rows.length, source.columns.length);
    const level = Math.max(0, Math.ceil(Math.log2(size / TILE)));
    this.coarse = level;
    const tile = await this.load(level, 0, 0);
    if (!tile || source !== this.source) return;
    this.most = tile.data.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  }

  /**
   * @param {number} level
   * @param {number} down
   * @param {number} across
   * @returns {Promise<Tile | null>}
   */
  async load(level, down, across) {
    const source = /** @type {Source} */ (this.source);
    const key = `${level}/${down}/${across}`;
    const span = TILE << level;
    const [top, left] = [down * span, across * span];
    const bottom = Math.min(source.rows.length, top + span);
    const right = Math.min(source.columns.length, left + span);
    const height = Math.ceil((bottom - top) / (1 << level));
    const width = Math.ceil((right - left) / (1 << level));
    if (height <= 0 || width <= 0) return null;
    let data;
    if (source.tile) {
      data = await source.tile(level, down, across);
    } else {
      const into = new Float32Array(width * height);
      let r = 0;
      const add = (/** @type {Float32Array} */ row) => pool(row, into, width, r++ >> level, level);
      const rows = /** @type {any} */ (source).rowsOf(top, bottom, left, right);
      if (source.quick) for (const row of rows) add(row);
      else await slowly(rows, add, () => source !== this.source);
      data = into;
    }
    if (source !== this.source) return null;
    const tile = { key, data, width, height };
    this.found.set(key, tile);
    return tile;
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
    this.drawOver(ratio);
  }

  /** Tiles in sight; where one is not there yet, a coarser one that is. @param {number} ratio */
  placed(ratio) {
    const source = /** @type {Source} */ (this.source);
    const { sight, margins } = this;
    const wanted = Math.max(0, Math.ceil(Math.log2(0.75 / (sight.cell * ratio))));
    const level = Math.min(wanted, this.coarse ?? wanted);
    /** @type {{tile: Tile, x: number, y: number, w: number, h: number}[]} */
    const placed = [];
    const whole = this.found.get(`${this.coarse}/0/0`);
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
    if (whole && "data" in whole) put(whole);
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
        const found = this.found.get(`${level}/${d}/${a}`);
        if (found && "data" in found) put(found);
        else if (!found) this.fetchTile(level, d, a);
      }
    }
    return placed;
  }

  /** @param {number} level @param {number} down @param {number} across */
  fetchTile(level, down, across) {
    const key = `${level}/${down}/${across}`;
    this.found.set(key, COMING);
    this.load(level, down, across).then(
      () => this.draw(),
      (error) => {
        this.found.delete(key);
        say(String(error));
      },
    );
  }

  /** Labels, grid and the chosen cell. @param {number} ratio */
  drawOver(ratio) {
    const source = /** @type {Source} */ (this.source);
    const context = /** @type {CanvasRenderingContext2D} */ (this.over.getContext("2d"));
    const { sight, margins, element, chosen } = this;
    const [width, height] = [element.clientWidth, element.clientHeight];
    const style = getComputedStyle(element);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const x = (/** @type {number} */ c) => margins.left + (c - sight.left) * sight.cell;
    const y = (/** @type {number} */ r) => margins.top + (r - sight.top) * sight.cell;
    // What is under the margins is not to be seen.
    context.fillStyle = style.getPropertyValue("--back");
    context.fillRect(0, 0, width, margins.top);
    context.fillRect(0, 0, margins.left, height);
    if (this.until < source.rows.length - 1) {
      context.globalAlpha = 0.8;
      context.fillRect(margins.left, Math.max(margins.top, y(this.until + 1)), width, height);
      context.globalAlpha = 1;
    }
    this.frame(context, style, x, y);
    if (sight.cell >= LABELS_FROM) this.labels(context, style, x, y);
    if (chosen.r < 0 || chosen.c < 0) return;
    context.save();
    context.beginPath();
    context.rect(margins.left, margins.top, width, height);
    context.clip();
    context.strokeStyle = style.getPropertyValue("--accent");
    context.globalAlpha = 0.35;
    context.strokeRect(
      x(0),
      y(chosen.r),
      source.columns.length * sight.cell,
      Math.max(1, sight.cell),
    );
    context.strokeRect(x(chosen.c), y(0), Math.max(1, sight.cell), source.rows.length * sight.cell);
    context.globalAlpha = 1;
    context.lineWidth = 2;
    const grow = Math.max(0, 5 - sight.cell) / 2;
    context.strokeRect(
      x(chosen.c) - grow,
      y(chosen.r) - grow,
      sight.cell + 2 * grow,
      sight.cell + 2 * grow,
    );
    context.restore();
  }

  /** @param {CanvasRenderingContext2D} context @param {CSSStyleDeclaration} style
   * @param {(c: number) => number} x @param {(r: number) => number} y */
  frame(context, style, x, y) {
    const source = /** @type {Source} */ (this.source);
    const { margins } = this;
    const [left, top] = [Math.max(margins.left, x(0)), Math.max(margins.top, y(0))];
    context.strokeStyle = style.getPropertyValue("--line");
    context.lineWidth = 1;
    context.strokeRect(
      left - 0.5,
      top - 0.5,
      x(source.columns.length) - left + 1,
      y(source.rows.length) - top + 1,
    );
  }

  /** @param {CanvasRenderingContext2D} context @param {CSSStyleDeclaration} style
   * @param {(c: number) => number} x @param {(r: number) => number} y */
  labels(context, style, x, y) {
    const source = /** @type {Source} */ (this.source);
    const { sight, margins, element, chosen } = this;
    const size = Math.min(13, sight.cell * 0.85);
    const room = this.labelRoom(element.clientWidth < 500);
    const ink = style.getPropertyValue("--ink");
    const accent = style.getPropertyValue("--accent");
    const font = (/** @type {boolean} */ bold) =>
      `${bold ? "600 " : ""}${size}px ${style.fontFamily}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const last = this.at(element.clientWidth, element.clientHeight);
    for (
      let r = Math.max(0, Math.floor(sight.top));
      r < Math.min(source.rows.length, last.r);
      r++
    ) {
      if (y(r + 0.5) < margins.top) continue;
      context.font = font(r === chosen.r);
      context.fillStyle = r === chosen.r ? accent : ink;
      context.fillText(
        cut(context, source.rows[r].label, room.left - 10),
        margins.left - 6,
        y(r + 0.5),
      );
    }
    context.textAlign = "left";
    for (
      let c = Math.max(0, Math.floor(sight.left));
      c < Math.min(source.columns.length, last.c);
      c++
    ) {
      if (x(c + 0.5) < margins.left) continue;
      context.save();
      context.translate(x(c + 0.5), margins.top - 6);
      context.rotate(-Math.PI / 2);
      context.font = font(c === chosen.c);
      context.fillStyle = c === chosen.c ? accent : ink;
      context.fillText(cut(context, source.columns[c].label, room.top - 10), 0, 0);
      context.restore();
    }
  }

  listen() {
    const { element } = this;
    /** @type {Map<number, {x: number, y: number}>} */
    const down = new Map();
    let moved = 0;
    const point = (/** @type {any} */ e) => {
      const box = element.getBoundingClientRect();
      return { x: e.clientX - box.left, y: e.clientY - box.top };
    };
    element.addEventListener(
      "wheel",
      (/** @type {WheelEvent} */ e) => {
        e.preventDefault();
        const { x, y } = point(e);
        this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0022)), x, y);
      },
      { passive: false },
    );
    element.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
      element.setPointerCapture(e.pointerId);
      down.set(e.pointerId, point(e));
      moved = 0;
    });
    element.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
      const here = point(e);
      const before = down.get(e.pointerId);
      if (!before) return this.hover(here.x, here.y);
      moved += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
      const others = [...down].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      if (others.length) {
        const [other] = others;
        const far = (/** @type {any} */ p) => Math.hypot(p.x - other.x, p.y - other.y);
        this.zoom(
          far(here) / Math.max(1, far(before)),
          (here.x + other.x) / 2,
          (here.y + other.y) / 2,
        );
      } else if (moved > 4) {
        const { sight } = this;
        this.setSight(
          this.held({
            ...sight,
            left: sight.left - (here.x - before.x) / sight.cell,
            top: sight.top - (here.y - before.y) / sight.cell,
          }),
        );
      }
      down.set(e.pointerId, here);
    });
    const up = (/** @type {PointerEvent} */ e) => {
      const here = point(e);
      if (down.delete(e.pointerId) && moved <= 4 && e.type === "pointerup")
        this.pick(here.x, here.y);
    };
    element.addEventListener("pointerup", up);
    element.addEventListener("pointercancel", up);
    element.addEventListener("pointerleave", () => {
      this.tip.hidden = true;
    });
    element.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => this.key(e));
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

  /** @param {KeyboardEvent} event */
  key(event) {
    const { source, chosen, sight } = this;
    if (!source || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[
      event.key
    ];
    if (way && event.shiftKey) {
      const step = 60 / sight.cell;
      this.setSight(
        this.held({ ...sight, left: sight.left + way[1] * step, top: sight.top + way[0] * step }),
      );
    } else if (way) {
      const r = Math.max(0, Math.min(source.rows.length - 1, chosen.r + way[0]));
      const c = Math.max(0, Math.min(source.columns.length - 1, chosen.c + way[1]));
      this.options.onpick(r, c);
      this.reveal(r, c);
    } else if (event.key === "+" || event.key === "=") this.zoom(1.5);
    else if (event.key === "-") this.zoom(1 / 1.5);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
    event.stopPropagation();
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

/** A label, cut to what there is room for. @param {CanvasRenderingContext2D} context
 * @param {string} label @param {number} width */
function cut(context, label, width) {
  const text = shown(label, 40);
  if (context.measureText(text).width <= width) return text;
  for (let most = Math.min(39, label.length - 1); most > 1; most--) {
    const shorter = shown(label, most);
    if (context.measureText(shorter).width <= width) return shorter;
  }
  return "…";
}

/** The largest of each run of cells goes into its cell of the tile; of differences, the farthest
 * from none. @param {Float32Array} row @param {Float32Array} into @param {number} width
 * @param {number} r @param {number} level */
function pool(row, into, width, r, level) {
  const from = r * width;
  for (let c = 0; c < row.length; c++) {
    const at = from + (c >> level);
    const value = row[c];
    if (value > 0 ? value > Math.abs(into[at]) : -value > Math.abs(into[at])) into[at] = value;
  }
}
