// BERT: a Transformer's encoder alone (regard/models/bert/encoder.py), and a sentence's vector.

import { add, each, linear, norm, pick, rowsOf } from "./matrix.js";
import { MultiHead } from "./multihead.js";
import { textOf, unknown } from "./pieces.js";
import { nothingToRead, Refusal } from "./refusal.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";
import { WordPiece } from "./wordpiece.js";
/** @import {Look, LookLayer} from "./runner.js" */
/** @import {Wish} from "./wish.js" */

export class Bert {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    this.config = config;
    this.weights = weights;
    this.layers = Array.from({ length: config.layers }, (_, k) => {
      const own = weights.under(`layers.${k}`);
      return { own, attention: new MultiHead(own.under("attention"), config.heads) };
    });
  }

  /** @param {Weights} of @param {string} name @param {Float32Array} x */
  norm(of, name, x) {
    const { epsilon } = this.config;
    return norm(x, of.vector(`${name}.weight`), of.vector(`${name}.bias`), epsilon);
  }

  /** Each token's vector after the last layer, and every layer's attention. @param {number[]} ids
   * @param {WhatIf} what */
  read(ids, what) {
    const embedding = this.weights.under("embedding");
    let x = rowsOf(embedding.matrix("words.weight"), ids);
    add(x, pick(embedding.vector("positions.weight"), this.config.width, [...ids.keys()]));
    add(x, pick(embedding.vector("types.weight"), this.config.width, [0]));
    x = this.norm(embedding, "norm", x);
    const seen = this.layers.map(({ own, attention }, k) => {
      const found = attention.attend(
        x,
        (scores, _, query) => what.weigh(scores, query),
        (h) => what.takes(k, h),
      );
      x = this.norm(own, "attention_norm", add(found.y, x));
      const inside = linear(x, own.matrix("inner.weight"), own.vector("inner.bias"));
      const outside = linear(
        each(inside, gelu),
        own.matrix("outer.weight"),
        own.vector("outer.bias"),
      );
      x = this.norm(own, "feedforward_norm", add(outside, x));
      return found;
    });
    return { last: x, seen };
  }
}

export class SentenceTask {
  /** @param {Bert} model @param {WordPiece} tokenizer */
  constructor(model, tokenizer) {
    this.model = model;
    this.tokenizer = tokenizer;
  }

  /** @param {string} text @param {Wish} wish @returns {Look} */
  look(text, wish) {
    const pieces = this.tokenizer.read(text);
    const n = pieces.ids.length;
    const { positions, heads, width } = this.model.config;
    if (n === 2) throw nothingToRead();
    if (n > positions) {
      throw new Refusal(
        "a text may have {most} tokens, this one has {count}: give one sentence at a time",
        { most: positions, count: n },
      );
    }
    const what = new WhatIf(wish);
    const { last, seen } = this.model.read(pieces.ids, what);
    const scale = 1 / Math.sqrt(width / heads);
    return {
      text,
      tokens: pieces.labels,
      output: sentenceVector(last, width),
      texts: [textOf(pieces)],
      layers: seen.map(({ weights, queries, keys, values }, number) => ({
        ...{ name: `layer ${number}`, number, kind: "self", part: "", recurrent: false },
        ...{ texts: [0, 0], shape: [n, n], heads, weights },
        // Under a wish the weights are no longer those of the vectors alone.
        vectors: what.isNothing ? { query: queries, key: keys, value: values, scale } : undefined,
      })),
      notes: unknown(pieces),
    };
  }
}

/** The mean of the tokens' vectors, of length 1. @param {Float32Array} x @param {number} width */
function sentenceVector(x, width) {
  const sum = new Array(width).fill(0);
  for (let i = 0; i < x.length; i++) sum[i % width] += x[i];
  const size = Math.hypot(...sum);
  return sum.map((value) => value / size);
}

/** x Φ(x), by the error function. @param {number} x */
export function gelu(x) {
  return 0.5 * x * (1 + erf(x / Math.SQRT2));
}

/** The error function to 1e-15: its series near 0, the continued fraction of its rest beyond.
 * @param {number} x */
export function erf(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 2.5) {
    let term = size;
    let sum = size;
    for (let n = 1; term > 1e-17 * sum; n++) {
      term *= (2 * size * size) / (2 * n + 1);
      sum += term;
    }
    return (Math.sign(x) * 2 * Math.exp(-size * size) * sum) / Math.sqrt(Math.PI);
  }
  let rest = size;
  for (let n = 40; n > 0; n--) rest = size + n / 2 / rest;
  return Math.sign(x) * (1 - Math.exp(-size * size) / (Math.sqrt(Math.PI) * rest));
}
