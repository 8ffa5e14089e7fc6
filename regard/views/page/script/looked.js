// A look that was computed here, as the page's views take it.

import { HeldArrays } from "./data.js";
import { t } from "./language.js";
/** @import {Arrays, LayerData, Numbers} from "./data.js" */
/** @import {Parcel} from "./model.js" */
/** @import {Look, LookLayer} from "./network/runner.js" */

/** @param {Look} look @param {string} model @param {Object<string, any>} start what is chosen
 * @param {{regard: string, sha256: string, arrays: Arrays}} file that carries the model
 * @returns {Parcel} */
export function parcelOf(look, model, start, file) {
  /** @type {Numbers[]} */
  const numbers = [];
  const layers = look.layers.map((layer) => layerData(layer, numbers));
  const { texts, text } = look;
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
  const { name, number, kind, part, recurrent, texts, shape, heads } = layer;
  const held = (/** @type {Float32Array} */ data, /** @type {number[]} */ size) =>
    numbers.push({ shape: size, data }) - 1;
  return {
    ...{ name, number, kind, part, recurrent, texts, shape },
    heads: Array.from({ length: heads }, (_, h) => h),
    ...{ scale: 1, causal: false, before: null, after: null, softcap: null },
    ...{ query: null, key: null, value: null, allowed: null, bias: null, lse: null, context: null },
    weights: held(layer.weights, [heads, ...shape]),
    ...{ checked: [], known: {} },
  };
}

/** weights[layer][head][query][key] as plain lists. @param {Look} look */
export function nested(look) {
  return look.layers.map(({ heads, shape: [queries, keys], weights }) =>
    Array.from({ length: heads }, (_, h) =>
      Array.from({ length: queries }, (_, i) => {
        const at = (h * queries + i) * keys;
        return Array.from(weights.subarray(at, at + keys));
      }),
    ),
  );
}
