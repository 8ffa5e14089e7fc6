// The encoder-decoder: the whole sentence in one vector, then a translation written from it
// (regard/models/translators/encoderdecoder.py).

import { GatedUnit } from "./gated.js";
import { each, linear, pick, row } from "./matrix.js";
import { Maxout } from "./maxout.js";
import { Vocabulary } from "./vocabulary.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";
/** @import {Step} from "./bahdanau.js" */

export class EncoderDecoder {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    this.hidden = config.hidden;
    this.vocabulary = new Vocabulary(weights.under("vocabulary"), config.tied);
    this.encoder = new GatedUnit(weights.under("encoder"));
    this.decoder = new GatedUnit(weights.under("decoder"));
    this.summary = weights.matrix("summary.weight");
    this.summaryBias = weights.vector("summary.bias");
    this.first = weights.matrix("first.weight");
    this.firstBias = weights.vector("first.bias");
    this.readout = new Maxout(weights.under("readout"), 3);
    /** It looks at nothing. @type {[number, number]} */
    this.looks = [0, 0];
    /** What these looks are called. */
    this.looksAt = "";
  }

  /** Read the source. @param {number[]} source @param {WhatIf} what */
  start(source, what) {
    const states = this.encoder.read(this.vocabulary.source(source));
    const last = row(states, this.hidden, source.length - 1);
    const context = each(linear(last, this.summary, this.summaryBias), Math.tanh);
    const hidden = each(linear(context, this.first, this.firstBias), Math.tanh);
    return { context, hidden, what };
  }

  /** @param {ReturnType<EncoderDecoder["start"]>} state @param {number[]} tokens
   * @returns {Step} */
  step(state, tokens) {
    const y = this.vocabulary.target(tokens);
    const inputs = this.decoder.withContext(this.decoder.inputs(y), state.context);
    state.hidden = this.decoder.step(inputs, state.hidden);
    const features = this.readout.features(state.hidden, y, state.context);
    return { logits: this.vocabulary.logits(features), maps: [] };
  }

  /** @param {ReturnType<EncoderDecoder["start"]>} state @param {number[]} rows */
  select(state, rows) {
    state.hidden = pick(state.hidden, this.hidden, rows);
  }
}
