// From token ids to vectors, and from features to the score of every token.

import { linear, rowsOf } from "./matrix.js";
import { Weights } from "./weights.js";

export class Vocabulary {
  /** @param {Weights} weights @param {boolean} tied one matrix for all */
  constructor(weights, tied) {
    const table = (/** @type {string} */ name) => weights.matrix(tied ? "words" : `${name}_words`);
    this.sourceWords = table("source");
    this.targetWords = table("target");
    this.output = table("output");
    this.bias = weights.vector("bias");
    this.size = this.bias.length;
  }

  /** @param {number[]} ids */
  source(ids) {
    return rowsOf(this.sourceWords, ids);
  }

  /** @param {number[]} ids */
  target(ids) {
    return rowsOf(this.targetWords, ids);
  }

  /** @param {Float32Array} features */
  logits(features) {
    return linear(features, this.output, this.bias);
  }
}
