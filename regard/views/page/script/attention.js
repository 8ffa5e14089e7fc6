// The arithmetic: every weight that the page shows is computed here, from queries and keys. It is
// the twin of regard/attention/rule.py, and a test holds it to that.
//
//   score[i,j]  = q_i · k_j · scale     (soft-capped, plus bias; −∞ where masked)
//   weight[i,j] = exp(score[i,j] − lse[i])       lse[i] = log Σ_j exp(score[i,j])
//
// Where a mechanism gives weights and no vectors they are taken as they are; under a "what if"
// score = log weight, and the rest is the same.

import { Arrays } from "./data.js";
import { dot, logSumExp, mix, weigh } from "./network/verbs.js";
/** @import {LayerData, Numbers} from "./data.js" */

/** A score so low, from a bias, is a mask. */
const NOTHING = -1e30;

/**
 * What if: keys that may not be attended to, and a factor on the scale.
 * @typedef {{masked: Set<number>, factor: number}} Change
 * @typedef {{products: Float32Array | null, scores: Float32Array, weights: Float32Array,
 *   lse: number}} Row
 */

/** @type {Change} */
export const NO_CHANGE = { masked: new Set(), factor: 1 };

/** @param {Change} change */
export function isChange(change) {
  return change.masked.size > 0 || change.factor !== 1;
}

/** One layer's arrays, loaded when first needed. */
export class Layer {
  /** @param {LayerData} data @param {Arrays} arrays @param {number} index
   * @param {string} [address] where a server has the rest of it */
  constructor(data, arrays, index, address = "") {
    this.data = data;
    this.arrays = arrays;
    this.index = index;
    this.address = address;
    this.heads = data.heads.map((_, place) => new Head(this, place));
    /** @type {Promise<void> | null} */
    this.loading = null;
    /** @type {Object<string, Numbers | null>} */
    this.parts = {};
  }

  get isReady() {
    return "query" in this.parts;
  }

  /** @returns {Promise<void>} */
  ready() {
    this.loading ??= this.load();
    return this.loading;
  }

  /** What one head needs: the whole layer, here. @param {Head} head @returns {Promise<void>} */
  readyFor(head) {
    return this.ready();
  }

  /** What a server says about every head; here the page finds out itself.
   * @returns {Promise<{summary: {kind: string, share: number, entropy: number}, most: number,
   *   grid: {rows: number, columns: number, cells: Float32Array}}[] | null>} */
  async summaries() {
    return null;
  }

  /** Every head's weight of one link, as a server says it; here the page computes it.
   * @param {number} i @param {number} j @returns {Promise<number[] | null>} */
  async links(i, j) {
    return null;
  }

  /** What token i takes in every head, as a server says it; here the page computes it.
   * @param {number} i @returns {Promise<Float32Array[] | null>} */
  async contexts(i) {
    return null;
  }

  /** A tile of one head that is made elsewhere; here there is none.
   * @returns {((head: Head, level: number, down: number, across: number) =>
   *   Promise<Float32Array>) | null} */
  get tiles() {
    return null;
  }

  async load() {
    const data = this.data;
    const names = ["query", "key", "value", "weights", "allowed", "bias", "lse", "context"];
    const found = await Promise.all(
      names.map((name) => {
        const number = /** @type {any} */ (data)[name];
        return number === null ? null : this.arrays.get(number);
      }),
    );
    const parts = Object.fromEntries(names.map((name, i) => [name, found[i]]));
    await Promise.all(
      Object.entries(data.known).map(async ([name, known]) => {
        parts[`known ${name}`] = await this.arrays.get(known.value);
      }),
    );
    this.parts = parts;
  }

  /** A row of an array of the layer that has no heads, such as its input.
   * @param {string} name @param {number} i */
  known(name, i) {
    const found = this.parts[`known ${name}`];
    if (!found || i >= found.shape[0]) return null;
    const width = found.shape[1];
    return found.data.subarray(i * width, (i + 1) * width);
  }
}

/** One head: rows, blocks and pooled tiles of its attention. */
export class Head {
  /** @param {Layer} layer @param {number} place among the heads that are kept */
  constructor(layer, place) {
    this.layer = layer;
    this.place = place;
    this.number = layer.data.heads[place];
    this.queries = layer.data.shape[0];
    this.keys = layer.data.shape[1];
    /** @type {{change: Change, weights: Float32Array} | null} */
    this.whole = null;
    /** @type {Float32Array | null} */
    this.sums = null;
    /** @type {Object<string, Numbers | null> | null} */
    this.own = null;
  }

  /** @returns {Promise<void>} */
  ready() {
    return this.layer.readyFor(this);
  }

  get isReady() {
    return this.own !== null || this.layer.isReady;
  }

  /** The arrays of the layer, or of this head alone where they come one head at a time. */
  get parts() {
    return this.own ?? this.layer.parts;
  }

  get hasVectors() {
    return this.own ? this.own.query !== null : this.layer.data.query !== null;
  }

  get hasMask() {
    const { causal, before, after, allowed } = this.layer.data;
    return (
      causal || before !== null || after !== null || allowed !== null || Boolean(this.parts.allowed)
    );
  }

  get hasValues() {
    return Boolean(this.parts.value);
  }

  /** The part of an array that belongs to this head, grouped heads shared.
   * @param {string} name @returns {{data: Float32Array, width: number} | null} */
  part(name) {
    const found = this.parts[name];
    if (!found) return null;
    const [heads, rows, width] = found.shape;
    const of = Math.floor((this.place * heads) / this.layer.heads.length);
    return { data: found.data.subarray(of * rows * width, (of + 1) * rows * width), width };
  }

  /** @param {string} name @param {number} i @returns {Float32Array | null} */
  vector(name, i) {
    const found = this.part(name);
    return found && found.data.subarray(i * found.width, (i + 1) * found.width);
  }

  /** May query i attend to key j? @param {number} i @param {number} j */
  allows(i, j) {
    const { causal, before, after } = this.layer.data;
    const ahead = j - (i + this.keys - this.queries);
    if (causal && ahead > 0) return false;
    if (before !== null && -ahead > before) return false;
    if (after !== null && ahead > after) return false;
    const { allowed } = this.parts;
    return !allowed || this.broadcast(allowed, i, j) !== 0;
  }

  /** The element of an array whose axes are one long where they hold for all.
   * @param {Numbers} numbers @param {number} i @param {number} j */
  broadcast(numbers, i, j) {
    const [heads, rows, columns] = numbers.shape;
    const h = heads > 1 ? this.place : 0;
    const r = rows > 1 ? i : 0;
    return numbers.data[(h * rows + r) * columns + (columns > 1 ? j : 0)];
  }

  /** Scores of row i from key `from` to before `to`; what is masked is −∞.
   * @param {number} i @param {number} from @param {number} to @param {Change} change
   * @param {Float32Array | null} products where to put q · k
   * @returns {Float32Array} */
  scores(i, from, to, change, products = null) {
    /** @type {Float32Array} */
    let scores = new Float32Array(to - from);
    const { scale, softcap } = this.layer.data;
    const query = this.vector("query", i);
    const key = this.part("key");
    if (query && key) {
      const keys = key.data.subarray(from * key.width, to * key.width);
      scores = dot(query, keys, scale * change.factor);
      products?.set(dot(query, keys));
      if (softcap) {
        for (let j = 0; j < scores.length; j++)
          scores[j] = softcap * Math.tanh(scores[j] / softcap);
      }
      const { bias } = this.parts;
      for (let j = from; bias && j < to; j++) {
        const score = scores[j - from] + this.broadcast(bias, i, j);
        scores[j - from] = score <= NOTHING ? -Infinity : score;
      }
    } else {
      const stored = this.part("weights");
      if (!stored) throw new Error("a layer must have vectors or weights");
      for (let j = from; j < to; j++) {
        scores[j - from] = change.factor * Math.log(stored.data[i * this.keys + j]);
      }
    }
    this.mask(scores, i, from, change);
    return scores;
  }

  /** @param {Float32Array} scores @param {number} i @param {number} from @param {Change} change */
  mask(scores, i, from, change) {
    if (this.hasMask) {
      for (let j = 0; j < scores.length; j++) {
        if (!this.allows(i, from + j)) scores[j] = -Infinity;
      }
    }
    for (const j of change.masked) {
      if (j >= from && j - from < scores.length) scores[j - from] = -Infinity;
    }
  }

  /**
   * Weights that exist already, if nobody changed anything.
   * @param {number} i
   * @param {Change} change
   */
  given(i, change) {
    if (this.hasVectors || isChange(change)) return null;
    return /** @type {Float32Array} */ (this.vector("weights", i));
  }

  /** Everything about one query. @param {number} i @param {Change} [change] @returns {Row} */
  row(i, change = NO_CHANGE) {
    const products = this.hasVectors ? new Float32Array(this.keys) : null;
    const scores = this.scores(i, 0, this.keys, change, products);
    const lse = logSumExp(scores);
    return { products, scores, weights: this.given(i, change) ?? toWeights(scores, lse), lse };
  }

  /** Whether the whole matrix is small enough to be kept. */
  get fits() {
    return this.queries * this.keys <= 1 << 22;
  }

  /** All weights. @param {Change} [change] @returns {Float32Array} */
  matrix(change = NO_CHANGE) {
    if (this.whole?.change === change) return this.whole.weights;
    const weights = new Float32Array(this.queries * this.keys);
    for (let i = 0; i < this.queries; i++) {
      const given = this.given(i, change);
      if (given) {
        weights.set(given, i * this.keys);
        continue;
      }
      weigh(
        this.scores(i, 0, this.keys, change),
        weights.subarray(i * this.keys, (i + 1) * this.keys),
      );
    }
    this.whole = { change, weights };
    return weights;
  }

  forget() {
    this.whole = null;
  }

  /** Weights of a part of one row of a map too large to be kept.
   * @param {number} i @param {number} from @param {number} to @returns {Float32Array} */
  stretch(i, from, to) {
    const given = this.given(i, NO_CHANGE);
    if (given) return given.subarray(from, to);
    this.sums ??= new Float32Array(this.queries).fill(NaN);
    if (Number.isNaN(this.sums[i])) {
      this.sums[i] = logSumExp(this.scores(i, 0, this.keys, NO_CHANGE));
    }
    return toWeights(this.scores(i, from, to, NO_CHANGE), this.sums[i]);
  }

  /** Σ_j weight_j v_j. @param {Float32Array} weights @returns {Float32Array | null} */
  mix(weights) {
    const value = this.part("value");
    return value && mix(weights, value.data, value.width);
  }
}

/** @param {Float32Array} scores @param {number} lse */
export function toWeights(scores, lse) {
  if (lse === -Infinity) return new Float32Array(scores.length); // nothing may be attended to
  return scores.map((score) => Math.exp(score - lse));
}

/**
 * Proof: what this page computed, against what the model itself had.
 * @typedef {{rows: number, sum: number, lse: number | null, context: number | null,
 *   size: number}} Proof
 */

/** The largest differences over the rows that can be checked, computed here and now.
 * @param {Head} head @returns {Proof} */
export function prove(head) {
  const { checked } = head.layer.data;
  const every = Math.max(1, Math.ceil(head.queries / 16));
  const rows = checked.length
    ? checked
    : Array.from({ length: Math.ceil(head.queries / every) }, (_, i) => i * every);
  const { lse } = head.parts;
  const context = head.part("context");
  /** @type {Proof} */
  const proof = { rows: rows.length, sum: 0, lse: lse ? 0 : null, context: null, size: 0 };
  if (context && head.hasValues) proof.context = 0;
  rows.forEach((i, place) => {
    const row = head.row(i);
    const total = row.weights.reduce((a, b) => a + b, 0);
    if (row.lse !== -Infinity) proof.sum = Math.max(proof.sum, Math.abs(total - 1));
    if (lse && row.lse !== -Infinity) {
      const theirs = lse.data[head.place * rows.length + place];
      proof.lse = Math.max(proof.lse ?? 0, Math.abs(theirs - row.lse));
    }
    if (context && proof.context !== null) {
      const ours = head.mix(row.weights);
      for (let c = 0; ours && c < context.width; c++) {
        const theirs = context.data[place * context.width + c];
        proof.context = Math.max(proof.context, Math.abs(ours[c] - theirs));
        proof.size = Math.max(proof.size, Math.abs(theirs));
      }
    }
  });
  return proof;
}
