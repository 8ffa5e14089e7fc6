// Recurrent networks that attend to a tape of their own states: the LSTMN and the simple RNN with
// self-attention (regard/recurrent/lstmn.py and selfattentive.py).

import { add, each, joined, linear, row, sigmoid } from "./matrix.js";
import { additive, dot, mix } from "./verbs.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";

/** @typedef {{states: Float32Array, weights: Float32Array}} Read the state after each word, and
 *   what it attended to: n × n */

/** What was read: values and keys, one behind the other, of which the last so many are seen. */
class Tape {
  /** @param {number} window @param {number} width of a value @param {WhatIf} what */
  constructor(window, width, what) {
    this.window = window;
    this.width = width;
    this.what = what;
    /** @type {Float32Array[]} */
    this.values = [];
    /** @type {Float32Array[]} */
    this.keys = [];
    /** @type {Float32Array[]} */
    this.rows = [];
  }

  /** The values mixed for word t. @param {(keys: Float32Array) => Float32Array} score
   * @returns {Float32Array} */
  attend(score) {
    const first = Math.max(0, this.values.length - this.window);
    const scores = new Float32Array(this.values.length).fill(-Infinity);
    if (this.values.length) scores.set(score(joined(this.keys.slice(first))), first);
    const weights = this.what.weigh(scores, this.rows.length);
    this.rows.push(weights);
    return mix(weights, joined(this.values), this.width);
  }

  /** All weights: n × n. */
  matrix() {
    const n = this.rows.length;
    const all = new Float32Array(n * n);
    this.rows.forEach((weights, t) => all.set(weights, t * n));
    return all;
  }
}

export class LSTMNLayer {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    this.weights = weights;
    this.window = config.window || Infinity;
    this.hidden = config.hidden;
    this.recency = Boolean(config.recency);
  }

  /** @param {Float32Array} x @param {WhatIf} what @returns {Read} */
  read(x, what) {
    const { weights, hidden } = this;
    const gates = linear(x, weights.matrix("inputs.weight"), weights.vector("inputs.bias"));
    const queries = linear(x, weights.matrix("w_input"));
    const tape = new Tape(this.window, 2 * hidden, what);
    /** @type {Float32Array} */
    let summary = new Float32Array(hidden);
    const v = weights.vector("v");
    const recency = this.recency ? weights.vector("recency")[0] : 0;
    for (let t = 0; t * hidden < queries.length; t++) {
      const query = linear(summary, weights.matrix("w_summary"), row(queries, hidden, t));
      const recalled = tape.attend((keys) => {
        const scores = additive(query, keys, v);
        scores[scores.length - 1] += recency;
        return scores;
      });
      summary = recalled.slice(0, hidden);
      const now = linear(summary, weights.matrix("recurrent"), row(gates, 4 * hidden, t));
      const state = this.update(now, recalled);
      tape.values.push(state);
      tape.keys.push(linear(state.subarray(0, hidden), weights.matrix("w_key")));
    }
    const states = tape.values.map((value) => value.subarray(0, hidden));
    return { states: joined(states), weights: tape.matrix() };
  }

  /** h_t and c_t. @param {Float32Array} gates i, f, c^ and o @param {Float32Array} recalled */
  update(gates, recalled) {
    const n = this.hidden;
    const state = new Float32Array(2 * n);
    for (let c = 0; c < n; c++) {
      const fresh = sigmoid(gates[c]) * Math.tanh(gates[2 * n + c]);
      const cell = sigmoid(gates[n + c]) * recalled[n + c] + fresh;
      state[n + c] = cell;
      state[c] = sigmoid(gates[3 * n + c]) * Math.tanh(cell);
    }
    return state;
  }
}

export class SelfAttentiveLayer {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    this.weights = weights;
    this.window = config.window || Infinity;
    this.hidden = config.hidden;
    this.v = weights.has("v") ? weights.vector("v") : null;
  }

  /** @param {Float32Array} x @param {WhatIf} what @returns {Read} */
  read(x, what) {
    const { weights, hidden, v } = this;
    const inputs = linear(x, weights.matrix("inputs.weight"), weights.vector("inputs.bias"));
    const tape = new Tape(this.window, hidden, what);
    /** @type {Float32Array} */
    let context = new Float32Array(hidden);
    /** @type {Float32Array} */
    let h = new Float32Array(hidden);
    for (let t = 0; t * hidden < inputs.length; t++) {
      const now = linear(context, weights.matrix("recurrent"), row(inputs, hidden, t));
      if (weights.has("previous")) add(now, linear(h, weights.matrix("previous")));
      h = each(now, Math.tanh);
      tape.values.push(h);
      tape.keys.push(linear(h, weights.matrix("w_key")));
      const query = linear(h, weights.matrix("w_query"));
      context = tape.attend((keys) => (v ? additive(query, keys, v) : dot(query, keys)));
    }
    return { states: joined(tape.values), weights: tape.matrix() };
  }
}
