// Pairs: which rows (or columns) of two pictures belong together.

/** @import {Unit} from "./picture.js" */

const MOST = 4e6; // cells of the table that is filled

/** What of a token counts: not its case, nor the marks of tokenizers. @param {Unit} unit */
function sign({ label }) {
  return label.replace(/^(##|▁|Ġ|\s)+/, "").toLowerCase() || label;
}

/** Places in `a` and in `b` that belong together, in order: equal tokens (the longest common
 * sequence of them), and between those, runs of one length. @param {Unit[]} a @param {Unit[]} b
 * @returns {[number, number][]} */
export function pairsOf(a, b) {
  const [x, y] = [a.map(sign), b.map(sign)];
  let start = 0;
  while (start < x.length && start < y.length && x[start] === y[start]) start += 1;
  let end = 0;
  while (
    end < x.length - start &&
    end < y.length - start &&
    x[x.length - 1 - end] === y[y.length - 1 - end]
  )
    end += 1;
  const [n, m] = [x.length - start - end, y.length - start - end];
  const equal = n * m > MOST ? [] : commonOf(x.slice(start, start + n), y.slice(start, start + m));
  /** @type {[number, number][]} */
  const pairs = Array.from({ length: start }, (_, i) => [i, i]);
  let [i, j] = [0, 0];
  for (const [p, q] of [...equal, [n, m]]) {
    if (p - i === q - j) for (let k = 0; k < p - i; k++) pairs.push([start + i + k, start + j + k]);
    if (p < n) pairs.push([start + p, start + q]);
    [i, j] = [p + 1, q + 1];
  }
  for (let k = 0; k < end; k++) pairs.push([start + n + k, start + m + k]);
  return pairs;
}

/**
 * The longest common sequence.
 * @param {string[]} x
 * @param {string[]} y
 * @returns {[number, number][]}
 */
function commonOf(x, y) {
  const width = y.length + 1;
  const longest = new Uint16Array((x.length + 1) * width); // of what follows i and j
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      const at = i * width + j;
      longest[at] =
        x[i] === y[j]
          ? longest[at + width + 1] + 1
          : Math.max(longest[at + width], longest[at + 1]);
    }
  }
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0, j = 0; i < x.length && j < y.length; ) {
    const at = i * width + j;
    if (x[i] === y[j]) pairs.push([i++, j++]);
    else if (longest[at + width] >= longest[at + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}
