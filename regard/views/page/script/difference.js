// The difference of two pictures, cell by cell where both have the same tokens.

import { sourceOf } from "./map.js";
/** @import {Picture, Unit} from "./picture.js" */

/** Two pictures, and which of their rows and columns belong together.
 * @typedef {{a: Picture, b: Picture, rows: [number, number][],
 *   columns: [number, number][]}} Both */

/** A row of the difference. @param {Both} both @param {number} at @returns {Float32Array} */
export function differenceRow({ a, b, rows, columns }, at) {
  const [one, two] = [a.row(rows[at][0]), b.row(rows[at][1])];
  return Float32Array.from(columns, ([c, d]) => one[c] - two[d]);
}

/** @param {Unit[]} a @param {Unit[]} b @param {[number, number][]} pairs @returns {Unit[]} */
export function unitsOf(a, b, pairs) {
  return pairs.map(([i, j]) => ({
    ...a[i],
    label: a[i].label === b[j].label ? a[i].label : `${a[i].label} / ${b[j].label}`,
  }));
}

/** @param {Both} both */
export function differenceOf(both) {
  const { a, b, rows, columns } = both;
  const [one, two] = [sourceOf(a), sourceOf(b)];
  return {
    name: `${one.name} − ${two.name}`,
    signed: true,
    quick: a.fits && b.fits,
    rows: unitsOf(a.rows, b.rows, rows),
    columns: unitsOf(a.columns, b.columns, columns),
    rowsOf: function* (
      /** @type {number} */ top,
      /** @type {number} */ end,
      /** @type {number} */ left,
      /** @type {number} */ right,
    ) {
      for (let r = top; r < end; r++) yield differenceRow(both, r).subarray(left, right);
    },
  };
}

/** Half the sum of |a − b|: the weight of a row that would have to move. @param {Both} both */
export function meanDifference(both) {
  let sum = 0;
  both.rows.forEach((_, at) => {
    sum += differenceRow(both, at).reduce((total, w) => total + Math.abs(w), 0);
  });
  return sum / 2 / Math.max(1, both.rows.length);
}
