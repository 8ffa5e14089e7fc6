// Translation: a sentence in, a sentence out, with what each token looked at.

import { translate } from "./beam.js";
import { joined } from "./matrix.js";
import { before, textOf, unknown } from "./pieces.js";
import { nothingToRead, Refusal } from "./refusal.js";
import { BOS, EOS, Tokenizer } from "./tokenizer.js";
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
    if (count === 1) throw nothingToRead();
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
    const texts = [textOf(target, "target"), textOf(source, "source")];
    const layers = this.looks(found, target.labels.length, source.ids.length);
    if (found.read.length && found.ids.length) {
      texts.push(textOf(this.tokenizer.written([BOS, ...found.ids.slice(0, -1)])));
      layers.push(...this.reads(found, source.ids.length));
      layers.push(...this.writes(found, target.labels.length));
    }
    const output = this.tokenizer.decode(found.ids);
    return { text, tokens: source.labels, output, texts, layers, notes: unknown(source) };
  }

  /** Where each token of the translation looked in the source. @param {Hypothesis} found
   * @param {number} queries @param {number} keys @returns {LookLayer[]} */
  looks(found, queries, keys) {
    const [layers, heads] = this.model.looks;
    const size = queries * keys;
    return Array.from({ length: layers }, (_, number) => {
      const maps = found.maps.slice(number * heads, (number + 1) * heads);
      const name = layers > 1 ? `cross-attention layer ${number}` : this.model.looksAt;
      return {
        ...{ name, number, kind: "cross", part: "decoder", recurrent: false },
        ...{ texts: [0, 1], shape: [queries, keys], heads },
        weights: joined(maps.map((map) => map.subarray(0, size))),
      };
    });
  }

  /** How the source looked at itself as it was read. @param {Hypothesis} found @param {number} n
   * @returns {LookLayer[]} */
  reads({ read }, n) {
    const [, heads] = this.model.looks;
    return read.map(({ weights, queries, keys, values }, number) => ({
      ...{ name: `encoder layer ${number}`, number, kind: "self", part: "encoder" },
      ...{ recurrent: false, texts: [1, 1], shape: [n, n], heads, weights },
      vectors: { query: queries, key: keys, value: values, scale: scaleOf(queries, heads, n) },
    }));
  }

  /** How the translation looked back at what was written. @param {Hypothesis} found
   * @param {number} n @returns {LookLayer[]} */
  writes({ maps }, n) {
    const [layers, heads] = this.model.looks;
    return Array.from({ length: layers }, (_, number) => {
      const first = (layers + number) * heads;
      return {
        ...{ name: `decoder layer ${number}`, number, kind: "self", part: "decoder" },
        ...{ recurrent: false, texts: [2, 2], shape: [n, n], heads },
        weights: joined(maps.slice(first, first + heads).map((map) => squared(map, n))),
      };
    });
  }
}

/** 1/√d. @param {Float32Array} queries @param {number} heads @param {number} n */
function scaleOf(queries, heads, n) {
  return 1 / Math.sqrt(queries.length / heads / n);
}

/** Rows of 1, 2, … n numbers as a square: what is not written yet has no weight.
 * @param {Float32Array} rows @param {number} n */
function squared(rows, n) {
  const square = new Float32Array(n * n);
  for (let i = 0, at = 0; i < n; i++, at += i) square.set(rows.subarray(at, at + i + 1), i * n);
  return square;
}
