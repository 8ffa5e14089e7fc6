// From what a recurrent decoder knows to the features that score the vocabulary: the larger of each
// pair (regard/models/translators/maxout.py).

import { add, linear } from "./matrix.js";
import { Weights } from "./weights.js";

export class Maxout {
  /** @param {Weights} weights @param {number} inputs how many kinds of vectors it reads */
  constructor(weights, inputs) {
    this.parts = Array.from({ length: inputs }, (_, k) => weights.matrix(`parts.${k}.weight`));
    this.bias = weights.vector("parts.0.bias");
  }

  /** @param {Float32Array[]} inputs rows of each kind; one row stands for all
   * @returns {Float32Array} */
  features(...inputs) {
    const before = linear(inputs[0], this.parts[0], this.bias);
    for (let k = 1; k < inputs.length; k++) add(before, linear(inputs[k], this.parts[k]));
    const units = this.bias.length / 2;
    const found = new Float32Array(before.length / 2);
    for (let i = 0; i < found.length; i++) {
      const at = Math.floor(i / units) * 2 * units + (i % units);
      found[i] = Math.max(before[at], before[at + units]);
    }
    return found;
  }
}
