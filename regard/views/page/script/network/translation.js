// Translation: a sentence in, a sentence out, with what each token looked at.

import { translate } from "./beam.js";
import { before, textOf, unknown } from "./pieces.js";
import { NOTHING_TO_READ, Refusal } from "./refusal.js";
import { EOS, Tokenizer } from "./tokenizer.js";
import { WhatIf } from "./wish.js";
/** @import {Hypothesis, Translator} from "./beam.js" */
/** @import {Pieces} from "./pieces.js" */
/** @import {Look, LookLayer} from "./runner.js" */
/** @import {Wish} from "./wish.js" */

const END = "</s>";
/** Tokens of one sentence, its end included; the same as in Python. */
const MOST_TOKENS = 512;

export class TranslatorTask {
  /** @param {Translator} model @param {Tokenizer} tokenizer */
  constructor(model, tokenizer) {
    this.model = model;
    this.tokenizer = tokenizer;
  }

  /** @param {string} text @param {Wish} wish @param {(part: any) => void} told
   * @returns {Look} */
  look(text, wish, told) {
    const source = before(this.tokenizer.read(text), END, EOS);
    const count = source.ids.length;
    if (count === 1) throw new Refusal(NOTHING_TO_READ);
    if (count > MOST_TOKENS) {
      throw new Refusal(
        "a sentence may have {most} tokens, this one has {count}: give one sentence at a time",
        { most: MOST_TOKENS, count },
      );
    }
    const found = translate(this.model, source.ids, new WhatIf(wish), (best) =>
      told(this.seen(text, source, best)),
    );
    return this.seen(text, source, found);
  }

  /** A hypothesis as it is shown. @param {string} text @param {Pieces} source
   * @param {Hypothesis} found @returns {Look} */
  seen(text, source, found) {
    const target = this.tokenizer.written(found.ids);
    return {
      text,
      tokens: source.labels,
      output: this.tokenizer.decode(found.ids),
      texts: [textOf(target, "target"), textOf(source, "source")],
      layers: this.layers(found, target.labels.length, source.ids.length),
      notes: unknown(source),
    };
  }

  /** @param {Hypothesis} found @param {number} queries @param {number} keys
   * @returns {LookLayer[]} */
  layers(found, queries, keys) {
    const [layers, heads] = this.model.looks;
    const size = queries * keys;
    return Array.from({ length: layers }, (_, number) => {
      const weights = new Float32Array(heads * size);
      for (let h = 0; h < heads; h++) {
        weights.set(found.maps[number * heads + h].subarray(0, size), h * size);
      }
      const name = layers > 1 ? `cross-attention layer ${number}` : this.model.looksAt;
      return {
        ...{ name, number, kind: "cross", part: "decoder", recurrent: false },
        ...{ texts: [0, 1], shape: [queries, keys], heads, weights },
      };
    });
  }
}
