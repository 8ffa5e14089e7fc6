// A head's attention as it is looked at: by tokens or by words, with the sinks or without them.

import { Head, NO_CHANGE } from "./attention.js";
/** @import {Change} from "./attention.js" */
/** @import {Text} from "./data.js" */

/** @typedef {{label: string, tokens: number[], number: number}} Unit one row or column */

/** @param {Text} text @param {boolean} words @returns {Unit[]} */
export function unitsOf(text, words) {
  if (!words) return text.tokens.map((label, i) => ({ label, tokens: [i], number: i }));
  return text.words.map((start, w) => {
    const end = text.words[w + 1] ?? text.tokens.length;
    const tokens = Array.from({ length: end - start }, (_, i) => start + i);
    return { label: text.names[w], tokens, number: start };
  });
}

/** Rows and columns of one head under the chosen options. */
export class Picture {
  /** @param {Head} head @param {Text} from @param {Text} to
   * @param {{words: boolean, sinks: boolean, change: Change}} options */
  constructor(head, from, to, options) {
    this.head = head;
    this.change = options.change;
    this.rows = unitsOf(from, options.words);
    const every = unitsOf(to, options.words);
    const sinks = new Set(options.sinks ? [] : [0, ...to.special]);
    const kept = every.filter((unit) => !unit.tokens.every((t) => sinks.has(t)));
    this.columns = kept.length ? kept : every;
    this.dropped = every.length - this.columns.length;
    this.isPlain =
      !this.dropped && this.rows.length === head.queries && this.columns.length === head.keys;
    /** @type {Float32Array | null} */
    this.kept = null;
    /** @type {Map<number, Float32Array>} */
    this.cache = new Map();
  }

  /** Whether the whole picture is kept: then anything of it is at hand at once. */
  get fits() {
    return this.head.fits;
  }

  /** The row of a token. @param {number} token */
  rowOf(token) {
    return Math.max(
      0,
      this.rows.findLastIndex((unit) => unit.number <= token),
    );
  }

  /** The column of a token, −1 if it was dropped. @param {number} token */
  columnOf(token) {
    return this.columns.findIndex((unit) => unit.tokens.includes(token));
  }

  /** Weights of one row: its tokens' mean, over the sums of the columns' tokens.
   * @param {number} r @returns {Float32Array} */
  row(r) {
    if (this.fits) {
      const width = this.columns.length;
      return this.matrix().subarray(r * width, (r + 1) * width);
    }
    let found = this.cache.get(r);
    if (!found) {
      found = this.make(r, (i) => this.head.row(i, this.change).weights);
      if (this.cache.size > 256) this.cache.clear();
      this.cache.set(r, found);
    }
    return found;
  }

  /** All of it. @returns {Float32Array} */
  matrix() {
    if (this.kept) return this.kept;
    const whole = this.head.matrix(this.change);
    if (this.isPlain) {
      this.kept = whole;
      return whole;
    }
    const width = this.columns.length;
    const keys = this.head.keys;
    this.kept = new Float32Array(this.rows.length * width);
    for (let r = 0; r < this.rows.length; r++) {
      this.kept.set(
        this.make(r, (i) => whole.subarray(i * keys, (i + 1) * keys)),
        r * width,
      );
    }
    return this.kept;
  }

  /** @param {number} r @param {(i: number) => Float32Array} weightsOf */
  make(r, weightsOf) {
    const row = new Float32Array(this.columns.length);
    const { tokens } = this.rows[r];
    for (const i of tokens) {
      const weights = weightsOf(i);
      for (let c = 0; c < row.length; c++) {
        for (const j of this.columns[c].tokens) row[c] += weights[j] / tokens.length;
      }
    }
    if (this.dropped) {
      const total = row.reduce((a, b) => a + b, 0);
      if (total > 0) for (let c = 0; c < row.length; c++) row[c] /= total;
    }
    return row;
  }

  /** The share of a row's weight that the dropped columns had. @param {number} r */
  sunk(r) {
    if (!this.dropped) return 0;
    const { tokens } = this.rows[r];
    let left = 0;
    for (const i of tokens) {
      const weights = this.head.row(i, this.change).weights;
      for (const unit of this.columns) for (const j of unit.tokens) left += weights[j];
    }
    return 1 - left / tokens.length;
  }

  /** Weights of a part, for maps of any size: rows × columns, row by row.
   * @param {number} top @param {number} bottom @param {number} left @param {number} right
   * @returns {Iterable<Float32Array>} */
  *block(top, bottom, left, right) {
    for (let r = top; r < bottom; r++) {
      if (!this.fits && this.isPlain && this.change === NO_CHANGE) {
        yield this.head.stretch(r, left, right);
      } else {
        yield this.row(r).subarray(left, right);
      }
    }
  }
}

/** What a token attends to, strongest first. @param {Picture} of @param {number} token
 * @param {string} number what the numbers are called */
export function rowTable(of, token, number) {
  const r = of.rowOf(token);
  const row = of.row(r);
  const order = Array.from(row.keys()).sort((a, b) => row[b] - row[a]);
  return {
    columns: ["from", "to", "position", number],
    rows: order.map((c) => [of.rows[r].label, of.columns[c].label, of.columns[c].number, row[c]]),
  };
}
