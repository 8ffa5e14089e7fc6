// Images: cut into patches that attend to each other, and a learned query that attends to them to
// decide which label the image has (regard/models/images.py and classifier.py).

import { TransformerLayer } from "./layer.js";
import { add, each, linear, norm } from "./matrix.js";
import { nothingToSee, Refusal } from "./refusal.js";
import { dot, mix, weigh } from "./verbs.js";
import { Weights } from "./weights.js";
import { WhatIf } from "./wish.js";
/** @import {Text} from "../data.js" */
/** @import {Attended} from "./multihead.js" */
/** @import {Look} from "./runner.js" */
/** @import {Wish} from "./wish.js" */

/** What the learned query is called: it stands for no part of the image. */
const DECISION = "decision";

export class ImageClassifier {
  /** @param {Weights} weights @param {any} config */
  constructor(weights, config) {
    this.config = config;
    this.weights = weights;
    this.reader = weights.under("reader");
    this.layers = Array.from(
      { length: config.layers },
      (_, k) =>
        new TransformerLayer(this.reader.under(`body.layers.${k}`), { ...config, norm: "pre" }),
    );
  }

  /** Rows and columns of pixels of a patch. */
  get sides() {
    const { height, patch } = this.config;
    return [height || patch, patch];
  }

  /** Rows and columns of patches. */
  get grid() {
    const { rows, columns } = this.config;
    return [rows / this.sides[0], columns / this.sides[1]];
  }

  /** Patches row by row, each channel by channel, from 0 to 1. @param {number[]} pixels row by row,
   * from 0 to 255 */
  cut(pixels) {
    const { columns, channels } = this.config;
    const [high, wide] = this.sides;
    const [down, across] = this.grid;
    const cut = new Float32Array(pixels.length);
    let at = 0;
    for (let p = 0; p < down * across; p++) {
      const [top, left] = [Math.floor(p / across) * high, (p % across) * wide];
      for (let channel = 0; channel < channels; channel++) {
        for (let i = 0; i < high * wide; i++) {
          const [r, c] = [top + Math.floor(i / wide), left + (i % wide)];
          cut[at++] = pixels[(r * columns + c) * channels + channel] / 255;
        }
      }
    }
    return cut;
  }

  /** The probability of every label, and who looked at what. @param {number[]} pixels
   * @param {WhatIf} what */
  read(pixels, what) {
    const { weights, reader } = this;
    /** @type {Float32Array} */
    let x = linear(this.cut(pixels), weights.matrix("embed.weight"), weights.vector("embed.bias"));
    add(x, weights.vector("places"));
    /** @type {Attended[]} */
    const seen = [];
    this.layers.forEach((layer, k) => {
      x = layer.join(x, "attention_norm", (z) => {
        const found = layer.attention.attend(
          z,
          (scores, _, query) => what.weigh(scores, query),
          (h) => what.takes(k, h),
        );
        seen.push(found);
        return found.y;
      });
      x = layer.join(x, "feedforward_norm", (z) => layer.feedforward(z));
    });
    x = norm(x, reader.vector("body.norm.weight"), reader.vector("body.norm.bias"));
    const keys = linear(x, reader.matrix("key.weight"), reader.vector("key.bias"));
    const decided = what.weigh(dot(reader.vector("query"), each(keys, Math.tanh)));
    const mixed = mix(decided, x, this.config.width);
    const scores = linear(mixed, reader.matrix("output.weight"), reader.vector("output.bias"));
    return { shares: weigh(scores), decided, seen };
  }
}

export class ImageTask {
  /** @param {ImageClassifier} model */
  constructor(model) {
    this.model = model;
  }

  /** @param {number[]} pixels row by row, from 0 to 255 @param {Wish} wish @returns {Look} */
  look(pixels, wish) {
    const { rows, columns, channels, heads, width, labels } = this.model.config;
    this.check(pixels);
    const what = new WhatIf(wish);
    const { shares, decided, seen } = this.model.read(pixels, what);
    const order = Array.from(shares.keys()).sort((a, b) => shares[b] - shares[a]);
    const n = decided.length;
    const scale = 1 / Math.sqrt(width / heads);
    const patches = this.patches();
    return {
      text: `${columns} × ${rows}`,
      tokens: patches.tokens,
      output: order.map((i) => ({ word: labels[i], probability: shares[i] })),
      texts: [patches, textOf(DECISION)],
      pixels: { columns, rows, channels, values: pixels },
      layers: [
        ...seen.map(({ weights, queries, keys, values }, number) => ({
          ...{ name: `layer ${number}`, number, kind: "self", part: "", recurrent: false },
          ...{ texts: /** @type {[number, number]} */ ([0, 0]), heads, weights },
          shape: /** @type {[number, number]} */ ([n, n]),
          // Under a wish the weights are no longer those of the vectors alone.
          vectors: what.isNothing ? { query: queries, key: keys, value: values, scale } : undefined,
        })),
        {
          ...{ name: DECISION, number: 0, kind: "cross", part: "", recurrent: false },
          ...{ texts: [1, 0], shape: [1, n], heads: 1, weights: decided },
        },
      ],
      notes: [],
    };
  }

  /** @param {unknown} pixels */
  check(pixels) {
    const { rows, columns, channels } = this.model.config;
    const count = rows * columns * channels;
    const isImage =
      Array.isArray(pixels) &&
      pixels.length === count &&
      pixels.every((value) => typeof value === "number" && value >= 0 && value <= 255);
    if (!isImage) {
      throw new Refusal(
        "this model reads images: a list of {count} numbers from 0 to 255, row by row",
        { count },
      );
    }
    if (pixels.every((value) => value === pixels[0])) throw nothingToSee();
  }

  /** The pieces of the image, and where they are in it. @returns {Text} */
  patches() {
    const { rows, columns } = this.model.config;
    const [high, wide] = this.model.sides;
    const [down, across] = this.model.grid;
    const all = Array.from({ length: down * across }, (_, p) => [
      Math.floor(p / across),
      p % across,
    ]);
    const boxes = all.map(([r, c]) => [c * wide, r * high, (c + 1) * wide, (r + 1) * high]);
    return {
      ...textOf(...all.map(([r, c]) => `${r},${c}`)),
      backdrop: { kind: "image", width: columns, height: rows, boxes },
    };
  }
}

/** Each a word of its own. @param {...string} tokens @returns {Text} */
function textOf(...tokens) {
  const words = tokens.map((_, i) => i);
  return { name: "", tokens, words, names: tokens, special: [], separators: [], unknown: [] };
}
