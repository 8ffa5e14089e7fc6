// The gated unit of Cho et al. (2014), as regard/recurrent/gated.py has it: the reset gate acts on
// the state before the product.

import { add, linear, row, sigmoid } from "./matrix.js";
import { Weights } from "./weights.js";

export class GatedUnit {
  /** @param {Weights} weights */
  constructor(weights) {
    this.weight = weights.matrix("inputs.weight");
    this.bias = weights.vector("inputs.bias");
    this.context = weights.has("context.weight") ? weights.matrix("context.weight") : null;
    this.gates = weights.matrix("gates");
    this.candidate = weights.matrix("candidate");
    this.hidden = this.candidate.rows;
  }

  /** What the inputs x add to the gates and the candidate. @param {Float32Array} x */
  inputs(x) {
    return linear(x, this.weight, this.bias);
  }

  /** The next states of several. @param {Float32Array} inputs of each, projected
   * @param {Float32Array} state @returns {Float32Array} */
  step(inputs, state) {
    const n = this.hidden;
    const gates = linear(state, this.gates);
    const kept = new Float32Array(state.length);
    for (let i = 0; i < state.length; i++) {
      const s = Math.floor(i / n);
      const c = i % n;
      kept[i] = state[i] * sigmoid(gates[s * 2 * n + n + c] + inputs[s * 3 * n + n + c]);
    }
    const fresh = linear(kept, this.candidate);
    const next = new Float32Array(state.length);
    for (let i = 0; i < state.length; i++) {
      const s = Math.floor(i / n);
      const c = i % n;
      const z = sigmoid(gates[s * 2 * n + c] + inputs[s * 3 * n + c]);
      const candidate = Math.tanh(fresh[i] + inputs[s * 3 * n + 2 * n + c]);
      next[i] = (1 - z) * state[i] + z * candidate;
    }
    return next;
  }

  /** The states after each of the vectors x. @param {Float32Array} x @param {boolean} [backward]
   * @returns {Float32Array} */
  read(x, backward = false) {
    const inputs = this.inputs(x);
    const count = inputs.length / (3 * this.hidden);
    const states = new Float32Array(count * this.hidden);
    /** @type {Float32Array} */
    let state = new Float32Array(this.hidden);
    for (let t = 0; t < count; t++) {
      const at = backward ? count - 1 - t : t;
      state = this.step(row(inputs, 3 * this.hidden, at), state);
      states.set(state, at * this.hidden);
    }
    return states;
  }

  /** The inputs with what contexts add to them. @param {Float32Array} inputs
   * @param {Float32Array} contexts one for each, or one for all */
  withContext(inputs, contexts) {
    if (!this.context) throw new Error("this unit has no context");
    return add(inputs, linear(contexts, this.context));
  }
}
