// Language models: what each word attends to while a text is read, and what comes next
// (regard/models/language.py and reading.py).

import { linear, row, rowsOf } from "./matrix.js";
import { after, textOf, unknown, wordsOf } from "./pieces.js";
import { nothingToRead, Refusal } from "./refusal.js";
import { LSTMNLayer, SelfAttentiveLayer } from "./tape.js";
import { BOS, Tokenizer } from "./tokenizer.js";
import { weigh } from "./verbs.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";
/** @import {Read} from "./tape.js" */
/** @import {Look} from "./runner.js" */
/** @import {Wish} from "./wish.js" */

const BEGIN = "<s>";
/** Tokens of one text; the same as in Python where every step is kept. */
const MOST_TOKENS = 512;
/** A mark that stands apart, as in text that is cut into words already. */
const LOOSE = /\p{White_Space}+([.,!?;:])(?=\p{White_Space}|$)/gu;
const NEXT = 10;

export class LanguageModel {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    const Layer = config.model === "lstmn" ? LSTMNLayer : SelfAttentiveLayer;
    this.words = weights.matrix("words");
    this.output = weights.has("output") ? weights.matrix("output") : this.words;
    this.bias = weights.vector("bias");
    this.readout = weights.has("readout.weight") ? weights.matrix("readout.weight") : null;
    this.readoutBias = this.readout && weights.vector("readout.bias");
    this.layers = Array.from(
      { length: config.layers },
      (_, k) => new Layer(weights.under(`body.reader.layers.${k}`), config),
    );
  }

  /** The probability of every next token, and what each layer attended to. @param {number[]} ids
   * @param {WhatIf} what */
  read(ids, what) {
    let x = rowsOf(this.words, ids);
    const maps = this.layers.map((layer) => {
      const { states, weights } = layer.read(x, what);
      x = states;
      return weights;
    });
    const last = row(x, x.length / ids.length, ids.length - 1);
    const features = this.readout ? linear(last, this.readout, this.readoutBias) : last;
    return { next: weigh(linear(features, this.output, this.bias)), maps };
  }
}

export class LanguageTask {
  /** @param {LanguageModel} model @param {Tokenizer} tokenizer */
  constructor(model, tokenizer) {
    this.model = model;
    this.tokenizer = tokenizer;
  }

  /** @param {string} text @param {Wish} wish @returns {Look} */
  look(text, wish) {
    const read = this.tokenizer.read(this.prepared(text));
    const n = read.ids.length + 1;
    if (n === 1) throw nothingToRead();
    if (n > MOST_TOKENS) {
      throw new Refusal(
        "a text may have {most} tokens, this one has {count}: give one sentence at a time",
        { most: MOST_TOKENS, count: n },
      );
    }
    const pieces = after(read, BEGIN, BOS);
    const { next, maps } = this.model.read(pieces.ids, new WhatIf(wish));
    return {
      text,
      tokens: pieces.labels,
      output: this.likeliest(next),
      texts: [textOf(pieces)],
      layers: maps.map((weights, number) => ({
        ...{ name: `layer ${number}`, number, kind: "self", part: "", recurrent: true },
        ...{ texts: [0, 0], shape: [n, n], heads: 1, weights },
      })),
      notes: unknown(pieces),
    };
  }

  /** @param {Float32Array} next */
  likeliest(next) {
    const order = Array.from(next.keys()).sort((a, b) => next[b] - next[a]);
    return order
      .slice(0, NEXT)
      .map((id) => ({ word: this.tokenizer.vocabulary[id], probability: next[id] }));
  }

  /** The text with its punctuation, and its small letters, where the model's own text had them.
   * @param {string} text */
  prepared(text) {
    const { ids, level } = this.tokenizer;
    if (level !== "space") return text.replace(LOOSE, "$1");
    const known = (/** @type {string} */ word) =>
      [word, word.toLowerCase()].find((form) => ids.get(form));
    return text
      .split(/\p{White_Space}+/u)
      .filter(Boolean)
      .flatMap((chunk) => (known(chunk) ? [chunk] : wordsOf(chunk)))
      .map((word) => known(word) ?? word)
      .join(" ");
  }
}
