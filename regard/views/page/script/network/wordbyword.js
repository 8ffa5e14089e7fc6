// Word by word: an RNN that says a target token for each source token as it reads it
// (regard/models/translators/wordbyword.py).

import { GatedUnit } from "./gated.js";
import { Maxout } from "./maxout.js";
import { row } from "./matrix.js";
import { EOS } from "./tokenizer.js";
import { Vocabulary } from "./vocabulary.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";
/** @import {Step} from "./bahdanau.js" */

export class WordByWord {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    this.vocabulary = new Vocabulary(weights.under("vocabulary"), config.tied);
    this.reader = new GatedUnit(weights.under("reader"));
    this.readout = new Maxout(weights.under("readout"), 2);
    /** It looks at the word just read. @type {[number, number]} */
    this.looks = [1, 1];
    /** What these looks are called. */
    this.looksAt = "the word just read";
  }

  /** Read the source. @param {number[]} source @param {WhatIf} what */
  start(source, what) {
    const x = this.vocabulary.source(source);
    const said = this.vocabulary.logits(this.readout.features(this.reader.read(x), x));
    return { said, length: source.length, position: 0, what };
  }

  /** @param {ReturnType<WordByWord["start"]>} state @param {number[]} tokens @returns {Step} */
  step(state, tokens) {
    const { said, length, position } = state;
    const size = this.vocabulary.size;
    const logits = new Float32Array(tokens.length * size);
    const looked = new Float32Array(tokens.length * length);
    tokens.forEach((_, n) => {
      if (position < length) logits.set(row(said, size, position), n * size);
      else row(logits, size, n).fill(-Infinity)[EOS] = 0;
      looked[n * length + Math.min(position, length - 1)] = 1;
    });
    state.position += 1;
    return { logits, maps: [looked] };
  }

  /** Hypotheses have nothing of their own. */
  select() {}
}
