// A look that was computed here, as the page's views take it.

import { HeldArrays } from "./data.js";
import { t } from "./language.js";
import { pictureOf } from "./pad.js";
/** @import {Arrays, LayerData, Numbers} from "./data.js" */
/** @import {Parcel} from "./model.js" */
/** @import {Given, Look, LookLayer} from "./network/runner.js" */

/** @typedef {string | {name: string, pixels: number[]}} Example a sentence, or an image */

/** What of an example a model is given. @param {Example} example @returns {Given} */
export function givenOf(example) {
  return typeof example === "string" ? example : example.pixels;
}

/** @param {Look} look @param {string} model @param {Object<string, any>} start what is chosen
 * @param {{regard: string, sha256: string, arrays: Arrays}} file that carries the model
 * @returns {Parcel} */
export function parcelOf(look, model, start, file) {
  /** @type {Numbers[]} */
  const numbers = [];
  const layers = look.layers.map((layer) => layerData(layer, numbers));
  const { text, pixels } = look;
  const texts = look.texts.map((one) =>
    one.backdrop && pixels
      ? { ...one, backdrop: { ...one.backdrop, picture: pictureOf(pixels) } }
      : one,
  );
  const notes = look.notes.map(([said, values]) => t(said, values));
  const subject = { title: text, model, mechanism: "", notes, start, texts, layers };
  const { regard, sha256 } = file;
  return {
    document: { format: 1, regard, half: false, sha256, arrays: [], subjects: [subject] },
    arrays: new HeldArrays(numbers, file.arrays),
  };
}

/** @param {LookLayer} layer @param {Numbers[]} numbers @returns {LayerData} */
function layerData(layer, numbers) {
  const { name, number, kind, part, recurrent, texts, shape, heads, vectors } = layer;
  const by = (/** @type {number} */ count, /** @type {Float32Array} */ { length }) => [
    ...[heads, count],
    length / heads / count,
  ];
  const held = (/** @type {Float32Array} */ data, /** @type {number[]} */ size) =>
    numbers.push({ shape: size, data }) - 1;
  return {
    ...{ name, number, kind, part, recurrent, texts, shape },
    heads: Array.from({ length: heads }, (_, h) => h),
    ...{ scale: vectors?.scale ?? 1, causal: false, before: null, after: null, softcap: null },
    query: vectors ? held(vectors.query, by(shape[0], vectors.query)) : null,
    key: vectors ? held(vectors.key, by(shape[1], vectors.key)) : null,
    value: vectors ? held(vectors.value, by(shape[1], vectors.value)) : null,
    weights: vectors ? null : held(layer.weights, [heads, ...shape]),
    ...{ allowed: null, bias: null, lse: null, context: null },
    ...{ checked: [], known: {} },
  };
}

/** The layers that a model is looked at for: of a translator, those from text to text.
 * @param {Look} look */
export function mainLayers({ layers }) {
  return layers.filter(({ kind }) => kind === layers[0].kind);
}

/** weights[layer][head][query][key] of these as plain lists. @param {Look} look */
export function nested(look) {
  return mainLayers(look).map(({ heads, shape: [queries, keys], weights }) =>
    Array.from({ length: heads }, (_, h) =>
      Array.from({ length: queries }, (_, i) => {
        const at = (h * queries + i) * keys;
        return Array.from(weights.subarray(at, at + keys));
      }),
    ),
  );
}
