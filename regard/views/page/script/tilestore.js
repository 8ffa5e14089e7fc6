// Tiles of a map, coarse and fine: each made when it is first wanted, and kept.

import { slowly } from "./dom.js";
/** @import {Source} from "./pane.js" */
/** @import {Tile} from "./tiles.js" */

export const TILE = 128;
const COMING = { coming: true };

export class TileStore {
  constructor() {
    /** @type {Source | null} */
    this.source = null;
    /** @type {Map<string, Tile | typeof COMING>} */
    this.found = new Map();
    /** The level at which one tile has everything. */
    this.coarse = 0;
  }

  /** Forget all tiles, and make those of this source from now on. @param {Source} source
   * @returns {Promise<number | null>} its largest weight; null if another source is open then */
  async open(source) {
    this.source = source;
    this.found.clear();
    const size = Math.max(source.rows.length, source.columns.length);
    this.coarse = Math.max(0, Math.ceil(Math.log2(size / TILE)));
    const tile = await this.load(this.coarse, 0, 0);
    if (!tile || source !== this.source) return null;
    return tile.data.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  }

  /** A tile if it is there; else it is made, and `done` called then.
   * @param {number} level @param {number} down @param {number} across
   * @param {(error?: unknown) => void} [done] @returns {Tile | null} */
  get(level, down, across, done) {
    const key = `${level}/${down}/${across}`;
    const found = this.found.get(key);
    if (found && "data" in found) return found;
    if (found || !done) return null;
    this.found.set(key, COMING);
    this.load(level, down, across).then(
      () => done(),
      (error) => {
        this.found.delete(key);
        done(error);
      },
    );
    return null;
  }

  /** @param {number} level @param {number} down @param {number} across
   * @returns {Promise<Tile | null>} */
  async load(level, down, across) {
    const source = /** @type {Source} */ (this.source);
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
    const tile = { key: `${level}/${down}/${across}`, data, width, height };
    this.found.set(tile.key, tile);
    return tile;
  }
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
