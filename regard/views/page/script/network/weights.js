// Weights: a model's tensors by name, out of what the file carries.

import { Arrays } from "../data.js";
/** @import {Numbers} from "../data.js" */
/** @import {Matrix} from "./matrix.js" */

/** @typedef {Object<string, {array: number, scale?: number}>} Places by name, where in the file */

/** All tensors of a model. */
export class Weights {
  /** @param {Map<string, Numbers>} tensors @param {string} [under] */
  constructor(tensors, under = "") {
    this.tensors = tensors;
    this.path = under;
  }

  /** @param {Arrays} arrays @param {Places} places @returns {Promise<Weights>} */
  static async read(arrays, places) {
    /** @type {Map<string, Numbers>} */
    const found = new Map();
    for (const [name, { array, scale }] of Object.entries(places)) {
      const numbers = await arrays.unpack(arrays.entries[array]);
      if (scale !== undefined) scaled(numbers, await arrays.unpack(arrays.entries[scale]));
      found.set(name, numbers);
    }
    return new Weights(found);
  }

  /** Those of a part of the model. @param {string} name */
  under(name) {
    return new Weights(this.tensors, `${this.path}${name}.`);
  }

  /** @param {string} name */
  has(name) {
    return this.tensors.has(this.path + name);
  }

  /** @param {string} name @returns {Float32Array} */
  vector(name) {
    return this.tensor(name).data;
  }

  /** @param {string} name @returns {Matrix} */
  matrix(name) {
    const { shape, data } = this.tensor(name);
    return { rows: shape[0], columns: shape[1], data };
  }

  /** @param {string} name @returns {Numbers} */
  tensor(name) {
    const found = this.tensors.get(this.path + name);
    if (!found) throw new Error(`the weights lack ${this.path}${name}`);
    return found;
  }
}

/** w[r, c] = scale[r, g] · n[r, c]: a scale for each row, or for each group g of its numbers.
 * @param {Numbers} numbers @param {Numbers} scale */
function scaled(numbers, scale) {
  const size = numbers.data.length / scale.data.length;
  for (let i = 0; i < numbers.data.length; i++) {
    numbers.data[i] *= scale.data[Math.floor(i / size)];
  }
}
