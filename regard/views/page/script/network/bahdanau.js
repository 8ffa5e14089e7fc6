// Bahdanau's translator: the decoder looks back at the source before each word it writes
// (regard/models/translators/bahdanau.py).

import { GatedUnit } from "./gated.js";
import { each, joined, linear, pick, row } from "./matrix.js";
import { Maxout } from "./maxout.js";
import { additive, mix } from "./verbs.js";
import { Vocabulary } from "./vocabulary.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";

/**
 * What one more token of each hypothesis gives: scores of the next one, and for each map (of a
 * layer's head) where each hypothesis looked in the source, then those in what it has written.
 * @typedef {{logits: Float32Array, maps: Float32Array[]}} Step
 */

export class Bahdanau {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    this.hidden = config.hidden;
    this.vocabulary = new Vocabulary(weights.under("vocabulary"), config.tied);
    this.forwards = new GatedUnit(weights.under("encoder.forwards"));
    this.backwards = new GatedUnit(weights.under("encoder.backwards"));
    this.query = weights.matrix("alignment.w_query");
    this.key = weights.matrix("alignment.w_key");
    this.v = weights.vector("alignment.v");
    this.decoder = new GatedUnit(weights.under("decoder"));
    this.first = weights.matrix("first.weight");
    this.firstBias = weights.vector("first.bias");
    this.readout = new Maxout(weights.under("readout"), 3);
    /** Layers and heads that look at the source. @type {[number, number]} */
    this.looks = [1, 1];
    /** What these looks are called. */
    this.looksAt = "alignment";
  }

  /** Read the source. @param {number[]} source @param {WhatIf} what */
  start(source, what) {
    const x = this.vocabulary.source(source);
    const forwards = this.forwards.read(x);
    const backwards = this.backwards.read(x, true);
    const annotations = joined(
      source.flatMap((_, j) => [row(forwards, this.hidden, j), row(backwards, this.hidden, j)]),
    );
    const first = linear(row(backwards, this.hidden, 0), this.first, this.firstBias);
    return {
      annotations,
      keys: linear(annotations, this.key),
      hidden: each(first, Math.tanh),
      position: 0,
      what,
    };
  }

  /** @param {ReturnType<Bahdanau["start"]>} state @param {number[]} tokens @returns {Step} */
  step(state, tokens) {
    const y = this.vocabulary.target(tokens);
    const before = state.hidden;
    const queries = linear(before, this.query);
    const looked = tokens.map((_, n) => {
      const scores = additive(row(queries, this.query.rows, n), state.keys, this.v);
      return state.what.weigh(scores, state.position);
    });
    const contexts = joined(looked.map((w) => mix(w, state.annotations, 2 * this.hidden)));
    state.hidden = this.decoder.step(
      this.decoder.withContext(this.decoder.inputs(y), contexts),
      before,
    );
    state.position += 1;
    const features = this.readout.features(before, y, contexts);
    return { logits: this.vocabulary.logits(features), maps: [joined(looked)] };
  }

  /** Go on with these hypotheses. @param {ReturnType<Bahdanau["start"]>} state
   * @param {number[]} rows */
  select(state, rows) {
    state.hidden = pick(state.hidden, this.hidden, rows);
  }
}
