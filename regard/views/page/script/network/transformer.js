// The Transformer, encoder and decoder (regard/models/translators/transformer.py).

import { TransformerLayer } from "./layer.js";
import { joined, norm, row } from "./matrix.js";
import { MultiHead } from "./multihead.js";
import { weigh } from "./verbs.js";
import { Vocabulary } from "./vocabulary.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";
/** @import {Step} from "./bahdanau.js" */
/** @import {Attended} from "./multihead.js" */

/**
 * Keys and values of one layer by head, of what one hypothesis has written or of the source.
 * @typedef {{keys: Float32Array[], values: Float32Array[]}} Cache
 */

export class Transformer {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    const { layers, heads, width } = config;
    this.weights = weights;
    this.width = width;
    this.isPre = config.norm === "pre";
    this.vocabulary = new Vocabulary(weights.under("vocabulary"), config.tied);
    const stack = (/** @type {string} */ name) =>
      Array.from(
        { length: layers },
        (_, k) => new TransformerLayer(weights.under(`${name}.${k}`), config),
      );
    this.encoder = stack("encoder");
    this.decoder = stack("decoder");
    this.cross = this.decoder.map((layer) => new MultiHead(layer.weights.under("cross"), heads));
    /** Layers and heads that look at the source. @type {[number, number]} */
    this.looks = [layers, heads];
    /** What these looks are called. */
    this.looksAt = "cross-attention";
  }

  /** sqrt(d) E w + PE. @param {Float32Array} words @param {number} first position of the first
   * @param {number} step from one to the next */
  placed(words, first, step) {
    const { width } = this;
    for (let i = 0; i * width < words.length; i++) {
      for (let c = 0; c < width; c++) {
        const angle = (first + i * step) / 10000 ** ((c - (c % 2)) / width);
        const place = Math.fround(c % 2 ? Math.cos(angle) : Math.sin(angle));
        words[i * width + c] = place + Math.sqrt(width) * words[i * width + c];
      }
    }
    return words;
  }

  /** @param {string} name @param {Float32Array} x */
  last(name, x) {
    if (!this.isPre) return x;
    return norm(x, this.weights.vector(`${name}.weight`), this.weights.vector(`${name}.bias`));
  }

  /** Read the source. @param {number[]} source @param {WhatIf} what */
  start(source, what) {
    let x = this.placed(this.vocabulary.source(source), 0, 1);
    /** Of each layer of the encoder. @type {Attended[]} */
    const read = [];
    for (const layer of this.encoder) {
      x = layer.join(x, "attention_norm", (z) => {
        const found = layer.attention.attend(z, (scores) => weigh(scores));
        read.push(found);
        return found.y;
      });
      x = layer.join(x, "feedforward_norm", (z) => layer.feedforward(z));
    }
    const memory = this.last("encoder_norm", x);
    return {
      source: this.cross.map((cross) => ({
        keys: cross.split(memory, "key"),
        values: cross.split(memory, "value"),
      })),
      /** By hypothesis and layer. @type {Cache[][]} */
      written: [this.decoder.map(() => ({ keys: [], values: [] }))],
      read,
      position: 0,
      what,
    };
  }

  /** @param {ReturnType<Transformer["start"]>} state @param {number[]} tokens @returns {Step} */
  step(state, tokens) {
    let x = this.placed(this.vocabulary.target(tokens), state.position, 0);
    /** @type {[Float32Array[], Float32Array[]]} */
    const [maps, own] = [[], []];
    this.decoder.forEach((layer, k) => {
      x = layer.join(x, "attention_norm", (z) => this.itself(state, k, z, own));
      x = layer.join(x, "cross_norm", (z) => this.theSource(state, k, z, maps));
      x = layer.join(x, "feedforward_norm", (z) => layer.feedforward(z));
    });
    state.position += 1;
    const logits = this.vocabulary.logits(this.last("decoder_norm", x));
    return { logits, maps: [...maps, ...own] };
  }

  /** Each hypothesis looks at what it has written. @param {ReturnType<Transformer["start"]>} state
   * @param {number} k @param {Float32Array} x @param {Float32Array[]} maps */
  itself(state, k, x, maps) {
    const { attention } = this.decoder[k];
    const queries = attention.split(x, "query");
    const keys = attention.split(x, "key");
    const values = attention.split(x, "value");
    const seen = state.written.map((caches, n) => {
      const grown = (/** @type {Float32Array[]} */ old, /** @type {Float32Array[]} */ fresh) =>
        fresh.map((all, h) =>
          joined([old[h] ?? new Float32Array(0), row(all, attention.width, n)]),
        );
      const cache = caches[k];
      caches[k] = { keys: grown(cache.keys, keys), values: grown(cache.values, values) };
      return attention.look(queries, n, caches[k].keys, caches[k].values, (s) => weigh(s));
    });
    return resultOf(attention, seen, maps);
  }

  /** Each hypothesis looks at the source. @param {ReturnType<Transformer["start"]>} state
   * @param {number} k @param {Float32Array} x @param {Float32Array[]} maps */
  theSource(state, k, x, maps) {
    const cross = this.cross[k];
    const queries = cross.split(x, "query");
    const { keys, values } = state.source[k];
    const { what, position } = state;
    const seen = state.written.map((_, n) =>
      cross.look(
        ...[queries, n, keys, values],
        (scores) => what.weigh(scores, position),
        (h) => what.takes(k, h),
      ),
    );
    return resultOf(cross, seen, maps);
  }

  /** Go on with these hypotheses. @param {ReturnType<Transformer["start"]>} state
   * @param {number[]} rows */
  select(state, rows) {
    state.written = rows.map((n) => state.written[n].map((cache) => ({ ...cache })));
  }
}

/** What hypotheses made of what they looked at; where they looked joins the maps.
 * @param {MultiHead} attention @param {{context: Float32Array, weights: Float32Array[]}[]} seen
 * @param {Float32Array[]} maps */
function resultOf(attention, seen, maps) {
  for (let h = 0; h < attention.heads; h++) {
    maps.push(joined(seen.map(({ weights }) => weights[h])));
  }
  return attention.output(joined(seen.map(({ context }) => context)));
}
