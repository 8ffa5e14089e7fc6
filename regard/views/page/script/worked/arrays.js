// Arrays of a worked example: their numbers one behind the other, in double precision, and a shape.

import { joined, linear } from "../network/matrix.js";

/** @typedef {{shape: number[], data: Float64Array}} Values */

/** Nested lists as one array; a number is an array without axes. @param {any} nested
 * @returns {Values} */
export function fromLists(nested) {
  const shape = [];
  for (let part = nested; Array.isArray(part); part = part[0]) shape.push(part.length);
  return { shape, data: Float64Array.from([nested].flat(Infinity)) };
}

/** How many numbers a row has. @param {Values} x */
export function width(x) {
  return x.shape[x.shape.length - 1];
}

/** The rows, whatever axes are before the last. @param {Values} x @returns {Float64Array[]} */
export function rowsOf(x) {
  const n = width(x);
  return Array.from({ length: x.data.length / n }, (_, i) => x.data.subarray(i * n, (i + 1) * n));
}

/** Rows below each other. @param {Float64Array[]} rows @returns {Values} */
export function stacked(rows) {
  return { shape: [rows.length, rows[0].length], data: joined(rows) };
}

/** One vector. @param {...Float64Array} parts one behind the other @returns {Values} */
export function vector(...parts) {
  const data = joined(parts);
  return { shape: [data.length], data };
}

/** @param {Values} x @param {(value: number, i: number) => number} act @returns {Values} */
export function mapped(x, act) {
  return { shape: x.shape, data: x.data.map(act) };
}

/** x + y of one shape, or y for each row. @param {Values} x @param {Values | null} y */
export function plus(x, y) {
  return y ? mapped(x, (value, i) => value + y.data[i % y.data.length]) : x;
}

/** x * y of one shape, or y for each row. @param {Values} x @param {Values | null} y */
export function times(x, y) {
  return y ? mapped(x, (value, i) => value * y.data[i % y.data.length]) : x;
}

/** Rows and columns swapped. @param {Values} x @returns {Values} */
export function turned({ shape: [rows, columns], data }) {
  const swapped = data.map((_, i) => data[(i % rows) * columns + Math.floor(i / rows)]);
  return { shape: [columns, rows], data: swapped };
}

/** Rows from one to before another. @param {Values} x @param {number} from @param {number} [to] */
export function cut(x, from, to) {
  return stacked(rowsOf(x).slice(from, to));
}

/** x W + b of every row. @param {Values} x @param {Values} w as (inputs, outputs)
 * @param {Values | null} [bias] @returns {Values} */
export function product(x, w, bias = null) {
  const [inputs, outputs] = w.shape;
  const weight = { rows: outputs, columns: inputs, data: turned(w).data };
  const data = linear(x.data, weight, bias?.data ?? null);
  return { shape: [...x.shape.slice(0, -1), outputs], data };
}

/** Vectors of all heads side by side, as a matrix for each head; one head has no axis.
 * @param {Values} x @param {number} heads @returns {Values} */
export function split(x, heads) {
  if (heads === 1) return x;
  const own = width(x) / heads;
  const rows = rowsOf(x);
  const parts = Array.from({ length: heads }, (_, h) =>
    joined(rows.map((row) => row.subarray(h * own, (h + 1) * own))),
  );
  return { shape: [heads, rows.length, own], data: joined(parts) };
}

/** The matrices of the heads. @param {Values} x @returns {Values[]} */
export function headsOf(x) {
  if (x.shape.length < 3) return [x];
  const [heads, ...shape] = x.shape;
  const size = x.data.length / heads;
  return Array.from({ length: heads }, (_, h) => ({
    shape,
    data: x.data.subarray(h * size, (h + 1) * size),
  }));
}

/** The matrices of heads as one array; one head has no axis. @param {Values[]} parts */
export function ofHeads(parts) {
  if (parts.length === 1) return parts[0];
  return { shape: [parts.length, ...parts[0].shape], data: joined(parts.map(({ data }) => data)) };
}
