// Matrices and rows of vectors: what every network here is made of. A vector or several of them,
// one behind the other, are one array of floats; sums are kept in double precision.

import { like } from "./verbs.js";
/** @import {Floats} from "./verbs.js" */

/** @template {Floats} [T=Float32Array]
 * @typedef {{rows: number, columns: number, data: T}} Matrix */

/** W x + b of each row x. @template {Floats} T @param {T} x @param {Matrix<Floats>} weight
 * @param {Floats | null} [bias] @returns {T} */
export function linear(x, weight, bias = null) {
  const { rows, columns, data: w } = weight;
  const count = x.length / columns;
  const y = like(x, count * rows);
  const whole = rows - (rows % 4);
  for (let r = 0; r < whole; r += 4) {
    const first = r * columns;
    const second = first + columns;
    const third = second + columns;
    const fourth = third + columns;
    for (let i = 0, at = 0; i < count; i++, at += columns) {
      let a = 0;
      let b = 0;
      let c = 0;
      let d = 0;
      for (let k = 0; k < columns; k++) {
        const value = x[at + k];
        a += w[first + k] * value;
        b += w[second + k] * value;
        c += w[third + k] * value;
        d += w[fourth + k] * value;
      }
      const to = i * rows + r;
      y[to] = a;
      y[to + 1] = b;
      y[to + 2] = c;
      y[to + 3] = d;
    }
  }
  for (let r = whole; r < rows; r++) {
    for (let i = 0; i < count; i++) {
      let sum = 0;
      for (let k = 0; k < columns; k++) sum += w[r * columns + k] * x[i * columns + k];
      y[i * rows + r] = sum;
    }
  }
  if (bias) for (let i = 0; i < y.length; i++) y[i] += bias[i % rows];
  return y;
}

/** x + y, in x. @template {Floats} T @param {T} x @param {Floats} y shorter ones are repeated */
export function add(x, y) {
  for (let i = 0; i < x.length; i++) x[i] += y[i % y.length];
  return x;
}

/** Each number replaced. @template {Floats} T @param {T} x
 * @param {(value: number) => number} act */
export function each(x, act) {
  for (let i = 0; i < x.length; i++) x[i] = act(x[i]);
  return x;
}

/** @param {number} x */
export function sigmoid(x) {
  return 1 / (1 + Math.exp(-x));
}

/** The rows of a matrix with these numbers. @param {Matrix} table @param {number[]} numbers */
export function rowsOf(table, numbers) {
  return pick(table.data, table.columns, numbers);
}

/** Some of the rows x, in this order. @param {Float32Array} x @param {number} width
 * @param {number[]} numbers @returns {Float32Array} */
export function pick(x, width, numbers) {
  const found = new Float32Array(numbers.length * width);
  numbers.forEach((n, i) => found.set(x.subarray(n * width, (n + 1) * width), i * width));
  return found;
}

/** One row. @param {Float32Array} x @param {number} width @param {number} i */
export function row(x, width, i) {
  return x.subarray(i * width, (i + 1) * width);
}

/** @template {Floats} [T=Float32Array] @param {T[]} parts @returns {T} */
export function joined(parts) {
  const count = parts.reduce((sum, part) => sum + part.length, 0);
  const whole = like(parts[0] ?? /** @type {any} */ (new Float32Array(0)), count);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** (x − mean) / sqrt(variance + ε) · weight + bias of each row. @param {Float32Array} x
 * @param {Float32Array} weight @param {Float32Array} bias @param {number} [epsilon] */
export function norm(x, weight, bias, epsilon = 1e-5) {
  const width = weight.length;
  const y = new Float32Array(x.length);
  for (let at = 0; at < x.length; at += width) {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += x[at + c];
    const mean = sum / width;
    let squares = 0;
    for (let c = 0; c < width; c++) squares += (x[at + c] - mean) ** 2;
    const by = 1 / Math.sqrt(squares / width + epsilon);
    for (let c = 0; c < width; c++) y[at + c] = (x[at + c] - mean) * by * weight[c] + bias[c];
  }
  return y;
}
