// Multi-head attention: the four verbs in each head, heads side by side, then W_O
// (regard/attention/multihead.py).

import { joined, linear, row } from "./matrix.js";
import { dot, mix } from "./verbs.js";
import { Weights } from "./weights.js";

/**
 * How a head weighs a query's scores.
 * @typedef {(scores: Float32Array, head: number, query: number) => Float32Array} Weigh
 * @typedef {{y: Float32Array, weights: Float32Array, queries: Float32Array, keys: Float32Array,
 *   values: Float32Array}} Attended weights: heads × n × n; the vectors: heads × n × width
 */

export class MultiHead {
  /** @param {Weights} weights @param {number} heads */
  constructor(weights, heads) {
    this.heads = heads;
    this.weight = (/** @type {string} */ name) => weights.matrix(`${name}.weight`);
    this.bias = (/** @type {string} */ name) => weights.vector(`${name}.bias`);
    this.width = this.weight("query").rows / heads;
  }

  /** Vectors as queries, keys or values, one array for each head. @param {Float32Array} x
   * @param {"query" | "key" | "value"} name @returns {Float32Array[]} */
  split(x, name) {
    const whole = linear(x, this.weight(name), this.bias(name));
    const { heads, width } = this;
    const count = whole.length / (heads * width);
    return Array.from({ length: heads }, (_, h) => {
      const own = new Float32Array(count * width);
      for (let i = 0; i < count; i++) {
        own.set(row(whole, width, i * heads + h), i * width);
      }
      return own;
    });
  }

  /** One query's heads, side by side, and their weights. @param {Float32Array[]} queries by head
   * @param {number} i @param {Float32Array[]} keys @param {Float32Array[]} values
   * @param {Weigh} weigh @param {(head: number) => boolean} [removed] */
  look(queries, i, keys, values, weigh, removed = () => false) {
    const { width } = this;
    const weights = keys.map((own, h) =>
      weigh(dot(row(queries[h], width, i), own, 1 / Math.sqrt(width)), h, i),
    );
    const mixed = weights.map((own, h) =>
      removed(h) ? new Float32Array(width) : mix(own, values[h], width),
    );
    return { context: joined(mixed), weights };
  }

  /** @param {Float32Array} contexts heads side by side */
  output(contexts) {
    return linear(contexts, this.weight("output"), this.bias("output"));
  }

  /** Every vector of x attends to all of them. @param {Float32Array} x @param {Weigh} weigh
   * @param {(head: number) => boolean} [removed]
   * @returns {Attended} */
  attend(x, weigh, removed) {
    const [queries, keys, values] = /** @type {const} */ (["query", "key", "value"]).map((name) =>
      this.split(x, name),
    );
    const count = queries[0].length / this.width;
    const seen = Array.from({ length: count }, (_, i) =>
      this.look(queries, i, keys, values, weigh, removed),
    );
    return {
      y: this.output(joined(seen.map(({ context }) => context))),
      weights: joined(queries.flatMap((_, h) => seen.map(({ weights }) => weights[h]))),
      ...{ queries: joined(queries), keys: joined(keys), values: joined(values) },
    };
  }
}
