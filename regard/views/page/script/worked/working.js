// The working of a worked example: what is given, what the reader has changed, and every step that
// was made of it. A change of any number, given or computed, holds for all that is made after it.

import { fromLists, turned } from "./arrays.js";
/** @import {Values} from "./arrays.js" */

/**
 * What an example computes from (regard/worked/given.py).
 * @typedef {{mechanism: string, layout: string, heads: number, keyHeads: number, query: string,
 *   memory: string, projects: boolean, scaled: boolean, positions: boolean,
 *   mask: boolean[][] | null, arrays: Record<string, any>, turned: string[],
 *   numbers: Record<string, number>, options: Record<string, any>}} Given
 */
/** By step or array, then by place: what it is in place of what it would be.
 * @typedef {Map<string, Map<number, number>>} Changes */

export class Working {
  /** @param {Given} given @param {Changes} [changes] */
  constructor(given, changes = new Map()) {
    this.given = given;
    this.changes = changes;
    /** Every step by its path. @type {Map<string, Values>} */
    this.steps = new Map();
    /** Steps that are nothing but others again: a change belongs there. @type {Set<string>} */
    this.fixed = new Set();
    this.scope = "";
  }

  /** The same working, its steps inside a part of the whole. @param {string} scope
   * @returns {Working} */
  within(scope) {
    return Object.assign(Object.create(this), { scope: `${scope}/` });
  }

  /** @param {string} name @returns {boolean} */
  has(name) {
    return name in this.given.arrays;
  }

  /** A given array; a matrix as (inputs, outputs). @param {string} name @returns {Values} */
  array(name) {
    const written = this.changed(name, fromLists(this.given.arrays[name]));
    return this.given.turned.includes(name) ? turned(written) : written;
  }

  /** @param {string} name @returns {Values | null} */
  maybe(name) {
    return this.has(name) ? this.array(name) : null;
  }

  /** A given number. @param {string} name @returns {number} */
  number(name) {
    return this.changed(name, fromLists(this.given.numbers[name])).data[0];
  }

  /** @param {string} name @param {Values} value @returns {Values} */
  changed(name, value) {
    const own = this.changes.get(name);
    if (!own) return value;
    const data = Float64Array.from(value.data);
    for (const [i, to] of own) data[i] = to;
    return { shape: value.shape, data };
  }

  /** A step that was made. @param {string} name @param {Values} value @returns {Values} */
  note(name, value) {
    const path = this.scope + name;
    const kept = this.changed(path, value);
    this.steps.set(path, kept);
    return kept;
  }

  /** A step that repeats others. @param {string} name @param {Values} value */
  repeat(name, value) {
    this.steps.set(this.scope + name, value);
    this.fixed.add(this.scope + name);
  }

  /** A step that may be given; null where it is not and cannot be made. @param {string} name
   * @param {() => Values | null} make @returns {Values | null} */
  step(name, make) {
    const value = !this.scope && this.has(name) ? fromLists(this.given.arrays[name]) : make();
    return value && this.note(name, value);
  }
}
