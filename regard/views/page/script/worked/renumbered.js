// The document of a page with the numbers that the reader's changes gave it.

import { Arrays, HeldArrays } from "../data.js";
import { Working } from "./working.js";
/** @import {DocumentData, LayerData, Numbers} from "../data.js" */
/** @import {Parcel} from "../model.js" */
/** @import {Values} from "./arrays.js" */

/** What a layer carries, and the steps that it is. */
const STEPS = { query: "queries", key: "keys", value: "values", context: "context" };
/** After a change of these, weights no longer follow from queries and keys. */
const LATER = ["scores", "scaled", "weights", "d_k", "scale", "temperature"];

/** @param {DocumentData} document @param {Arrays} carried @param {Working} working
 * @returns {Promise<Parcel>} */
export async function renumbered(document, carried, working) {
  const numbers = await Promise.all(document.arrays.map((_, i) => carried.get(i)));
  const [subject] = document.subjects;
  const layers = subject.layers.map((layer) => changedLayer(layer, numbers, working));
  return {
    document: { ...document, subjects: [{ ...subject, layers }] },
    arrays: new HeldArrays(numbers, carried),
  };
}

/** @param {LayerData} layer @param {Numbers[]} numbers @param {Working} working
 * @returns {LayerData} */
function changedLayer(layer, numbers, working) {
  const held = (/** @type {string} */ name) => {
    const found = working.steps.get(name);
    return found ? numbers.push(ofHeads(found)) - 1 : null;
  };
  const made = { ...layer, known: { ...layer.known } };
  for (const [part, name] of Object.entries(STEPS)) {
    if (/** @type {any} */ (layer)[part] !== null) /** @type {any} */ (made)[part] = held(name);
  }
  for (const [name, known] of Object.entries(layer.known)) {
    const value = working.steps.get(name);
    if (value) made.known[name] = { ...known, value: numbers.push(plain(value)) - 1 };
  }
  if (LATER.some((name) => working.changes.has(name))) {
    Object.assign(made, { query: null, key: null, weights: held("weights"), lse: null });
  }
  return made;
}

/** @param {Values} value @returns {Numbers} */
function plain({ shape, data }) {
  return { shape, data: Float32Array.from(data) };
}

/** With an axis for heads. @param {Values} value @returns {Numbers} */
function ofHeads({ shape, data }) {
  return plain({ shape: shape.length < 3 ? [1, ...shape] : shape, data });
}
