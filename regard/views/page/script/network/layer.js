// What the layers of every Transformer share (regard/models/layers.py).

import { add, each, linear, norm } from "./matrix.js";
import { MultiHead } from "./multihead.js";
import { Weights } from "./weights.js";

export class TransformerLayer {
  /** @param {Weights} weights @param {{heads: number, norm: string}} config */
  constructor(weights, config) {
    this.weights = weights;
    this.isPre = config.norm === "pre";
    this.attention = new MultiHead(weights.under("attention"), config.heads);
    this.inner = weights.matrix("feedforward.inner.weight");
    this.outer = weights.matrix("feedforward.outer.weight");
  }

  /** norm(x + sublayer(x)), or x + sublayer(norm(x)) if the norm comes before.
   * @param {Float32Array} x @param {string} name of the norm
   * @param {(x: Float32Array) => Float32Array} sublayer */
  join(x, name, sublayer) {
    const weight = this.weights.vector(`${name}.weight`);
    const bias = this.weights.vector(`${name}.bias`);
    if (this.isPre) return add(sublayer(norm(x, weight, bias)), x);
    return norm(add(sublayer(x), x), weight, bias);
  }

  /** W_2 relu(W_1 x + b_1) + b_2. @param {Float32Array} x */
  feedforward(x) {
    const { weights } = this;
    const inside = linear(x, this.inner, weights.vector("feedforward.inner.bias"));
    each(inside, (value) => Math.max(0, value));
    return linear(inside, this.outer, weights.vector("feedforward.outer.bias"));
  }
}
