// Positions: added to the vectors, or turning them (regard/vectors/positions.py).

import { rowsOf, stacked, width } from "./arrays.js";
/** @import {Values} from "./arrays.js" */

/** sin and cos of pos / 10000^(2i/d). @param {number} count @param {number} d
 * @param {number} first position @returns {Values} */
export function sinusoidal(count, d, first) {
  const data = Float64Array.from({ length: count * d }, (_, at) => {
    const i = at % d;
    const angle = (Math.floor(at / d) + first) / 10000 ** ((i - (i % 2)) / d);
    return i % 2 ? Math.cos(angle) : Math.sin(angle);
  });
  return { shape: [count, d], data };
}

/** Pairs of numbers turned by pos · base^(−2i/d). @param {Values} x @param {number} first
 * @param {number} base @param {boolean} neighbours else the halves are the pairs */
export function rotated(x, first, base, neighbours) {
  const d = width(x);
  const half = d / 2;
  const turn = (/** @type {Float64Array} */ row, /** @type {number} */ at) =>
    row.map((value, c) => {
      const isFirst = neighbours ? c % 2 === 0 : c < half;
      const pair = neighbours ? Math.floor(c / 2) : c % half;
      const step = neighbours ? 1 : half;
      const other = row[isFirst ? c + step : c - step];
      const angle = (at + first) * base ** ((-2 * pair) / d);
      return value * Math.cos(angle) + (isFirst ? -other : other) * Math.sin(angle);
    });
  return stacked(rowsOf(x).map(turn));
}

/** Rows of a table, from one on. @param {Values} table @param {number} first
 * @param {number} count @returns {Values} */
export function learned(table, first, count) {
  return stacked(rowsOf(table).slice(first, first + count));
}
