// What if: changes to a network's attention that reach its output.

import { mask, weigh } from "./verbs.js";

/**
 * @typedef {{masked: number[], cut: [number, number][], factor: number,
 *   removed: [number, number][]}} Wish keys that nothing may attend to; links (query, key) that are
 *   cut; a factor on the scores; heads (layer, head) whose result is taken away
 */

/** @type {Wish} */
export const NOTHING = { masked: [], cut: [], factor: 1, removed: [] };

/** One wish, ready to be asked about at each step. */
export class WhatIf {
  /** @param {Wish} wish */
  constructor(wish = NOTHING) {
    this.factor = wish.factor;
    this.masked = new Set(wish.masked);
    this.cut = new Set(wish.cut.map(([i, j]) => `${i} ${j}`));
    this.removed = new Set(wish.removed.map(([layer, head]) => `${layer} ${head}`));
  }

  /** Weights of a query's scores, after the wish; links are cut only where queries are counted.
   * @param {Float32Array} scores @param {number} [query] @returns {Float32Array} */
  weigh(scores, query = -1) {
    if (this.factor !== 1) for (let j = 0; j < scores.length; j++) scores[j] *= this.factor;
    if (this.masked.size || this.cut.size) {
      mask(scores, (j) => !this.masked.has(j) && !this.cut.has(`${query} ${j}`));
    }
    return weigh(scores);
  }

  /** @param {number} layer @param {number} head */
  takes(layer, head) {
    return this.removed.has(`${layer} ${head}`);
  }
}
