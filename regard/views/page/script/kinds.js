// What kind of head it is: where its attention goes on average, and how spread it is.

import { Head } from "./attention.js";
/** @import {Text} from "./data.js" */

/** @typedef {{kind: string, share: number, entropy: number, spread: number}} Summary */

export const KINDS = {
  previous: "to the token before",
  next: "to the token after",
  itself: "to itself",
  first: "to the first token",
  special: "to special tokens",
  repeat: "to the same token elsewhere",
  broad: "spread over all",
  mixed: "no one place",
};

/** Shares of weight by where it goes, averaged over rows; a kind needs 40 % of it.
 * @param {Head} head @param {Float32Array} weights @param {Text} from @param {Text} to
 * @returns {Summary} */
export function summarise(head, weights, from, to) {
  const { queries, keys } = head;
  const isSelf = head.layer.data.kind === "self" && queries === keys;
  const sinks = new Set(to.sinks);
  const sums = { previous: 0, next: 0, itself: 0, first: 0, special: 0, repeat: 0 };
  let entropy = 0;
  let rows = 0;
  for (let i = 0; i < queries; i++) {
    let seen = 0;
    for (let j = 0, at = i * keys; j < keys; j++, at++) {
      const weight = weights[at];
      if (!(weight > 0)) continue;
      seen += weight;
      entropy -= weight * Math.log(weight);
      if (j === 0) sums.first += weight;
      else if (sinks.has(j)) sums.special += weight;
      if (!isSelf) continue;
      if (j === i - 1) sums.previous += weight;
      else if (j === i + 1) sums.next += weight;
      else if (j === i) sums.itself += weight;
      if (j !== i && to.tokens[j] === from.tokens[i]) sums.repeat += weight;
    }
    if (seen > 0) rows += 1;
  }
  entropy /= Math.max(1, rows);
  const [kind, sum] = Object.entries(sums).reduce((a, b) => (b[1] > a[1] ? b : a));
  const share = sum / Math.max(1, rows);
  const spread = keys > 1 ? entropy / Math.log(keys) : 0;
  if (share >= 0.4) return { kind, share, entropy, spread };
  return { kind: spread >= 0.8 ? "broad" : "mixed", share, entropy, spread };
}

/** The largest weight of each cell of a coarse grid, so that a thin peak survives.
 * @param {Float32Array} weights @param {number} rows @param {number} columns @param {number} most
 * @returns {{rows: number, columns: number, cells: Float32Array}} */
export function pooled(weights, rows, columns, most) {
  const down = Math.max(1, Math.ceil(rows / most));
  const across = Math.max(1, Math.ceil(columns / most));
  const grid = { rows: Math.ceil(rows / down), columns: Math.ceil(columns / across) };
  const cells = new Float32Array(grid.rows * grid.columns);
  for (let r = 0; r < rows; r++) {
    const to = Math.floor(r / down) * grid.columns;
    for (let c = 0, at = r * columns; c < columns; c++, at++) {
      const cell = to + Math.floor(c / across);
      if (weights[at] > cells[cell]) cells[cell] = weights[at];
    }
  }
  return { ...grid, cells };
}
