// What kind of head it is, by the definitions of `regard heads` (docs/heads.md):
//
//   score  = mean over queries i that have targets T_i of the pattern of Σ_{j in T_i} a[i,j]
//   chance = what attention spread evenly would give   excess = (score − chance) / (1 − chance)

import { Head } from "./attention.js";
import { t } from "./language.js";
/** @import {Text} from "./data.js" */

/** @typedef {{kind: string, share: number, entropy: number}} Summary */

/** Kinds by name: what they are called, and what they look at.
 * @type {Object<string, () => [string, string]>} */
export const KINDS = {
  previous: () => [t("previous"), t("to the token before")],
  next: () => [t("next"), t("to the token after")],
  same: () => [t("same"), t("to itself")],
  first: () => [t("first"), t("to the first token")],
  separator: () => [t("separator"), t("to special tokens and punctuation")],
  repeat: () => [t("repeat"), t("to the same token elsewhere")],
  induction: () => [t("induction"), t("to what followed the same token before")],
  local: () => [t("local"), t("near by")],
  broad: () => [t("broad"), t("spread over all")],
  mixed: () => [t("mixed"), t("no one pattern")],
};

/** @param {string} kind */
export function kindName(kind) {
  return KINDS[kind]?.()[0] ?? kind;
}

/** @param {string} kind */
export function kindMeaning(kind) {
  return KINDS[kind]?.()[1] ?? "";
}

const PATTERNS = ["previous", "next", "same", "first", "separator", "repeat", "induction", "local"];
const WINDOW = 3;
const CLEAR = 0.3;
const EVEN = 0.7;
const FEWEST = 3;

/**
 * @typedef {{tokens: string[], separators: number[], places: Map<string, number[]>,
 *   isSelf: boolean}} About
 */

/** The keys that the pattern of a query is about. @param {string} pattern @param {number} i
 * @param {number} centre the query's own place among the keys @param {About} about
 * @returns {number[]} */
function targetsOf(pattern, i, centre, { tokens, separators, places, isSelf }) {
  if (pattern === "first") return i > 0 || !isSelf ? [0] : [];
  if (pattern === "separator") return separators;
  if (!isSelf) return [];
  if (pattern === "previous") return [centre - 1];
  if (pattern === "same") return [centre];
  if (pattern === "next") return [centre + 1];
  if (pattern === "local")
    return Array.from({ length: 2 * WINDOW + 1 }, (_, c) => centre - WINDOW + c);
  const again = places.get(tokens[i]) ?? [];
  if (pattern === "repeat") return again.filter((j) => j !== centre);
  return again.map((j) => j + 1).filter((j) => j < centre);
}

/** @param {Text} text @param {boolean} isSelf @returns {About} */
function aboutOf(text, isSelf) {
  const special = new Set(text.special);
  const places = new Map();
  text.tokens.forEach((token, j) => {
    if (!special.has(j)) places.set(token, [...(places.get(token) ?? []), j]);
  });
  return { tokens: text.tokens, separators: text.separators, places, isSelf };
}

/** What is known of a head after its rows were added one by one. */
export class Tally {
  /** @param {Head} head @param {Text} to */
  constructor(head, to) {
    this.head = head;
    const isSelf = head.layer.data.kind === "self" && to.tokens.length === head.queries;
    this.about = aboutOf(to, isSelf);
    this.sums = PATTERNS.map(() => ({ score: 0, chance: 0, count: 0 }));
    this.even = { sum: 0, count: 0 };
    this.entropies = 0;
  }

  /** @param {number} i @param {Float32Array} weights of row i */
  add(i, weights) {
    const { head, even, about } = this;
    const { queries, keys } = head;
    const seen = head.hasMask ? Array.from({ length: keys }, (_, j) => head.allows(i, j)) : null;
    const total = seen ? seen.filter(Boolean).length : keys;
    let entropy = 0;
    for (let j = 0; j < keys; j++) if (weights[j] > 0) entropy -= weights[j] * Math.log(weights[j]);
    this.entropies += entropy;
    if (total > 1) {
      even.sum += entropy / Math.log(total);
      even.count += 1;
    }
    PATTERNS.forEach((pattern, p) =>
      addRow(pattern, this.sums[p], i, total, seen, weights, i + keys - queries, about),
    );
  }

  /** @returns {Summary} */
  summary() {
    const { sums, even } = this;
    const scores = sums.map((sum) => sum.score / Math.max(1, sum.count));
    const excess = sums.map((sum, p) => {
      const chance = sum.chance / Math.max(1, sum.count);
      return sum.count >= FEWEST ? (scores[p] - chance) / Math.max(1e-9, 1 - chance) : 0;
    });
    const kind = kindOf(scores, excess, even.sum / Math.max(1, even.count));
    const place = PATTERNS.indexOf(kind);
    return {
      kind,
      share: place < 0 ? NaN : scores[place],
      entropy: this.entropies / Math.max(1, this.head.queries),
    };
  }
}

/** @param {string} pattern @param {{score: number, chance: number, count: number}} sum
 * @param {number} i
 * @param {number} total @param {boolean[] | null} seen @param {Float32Array} weights
 * @param {number} centre @param {About} about */
function addRow(pattern, sum, i, total, seen, weights, centre, about) {
  let targets = 0;
  let score = 0;
  for (const j of targetsOf(pattern, i, centre, about)) {
    if (j < 0 || j >= weights.length || (seen && !seen[j])) continue;
    targets += 1;
    score += weights[j];
  }
  const always = pattern === "first" || pattern === "separator";
  if (!targets || (!always && total <= targets)) return;
  sum.score += score;
  sum.chance += targets / total;
  sum.count += 1;
}

/** @param {number[]} scores @param {number[]} excess @param {number} even */
function kindOf(scores, excess, even) {
  const local = PATTERNS.indexOf("local");
  let best = -1;
  for (let p = 0; p < local; p++) {
    const isNear = p < 3;
    if (isNear && scores[p] < scores[local] / 2) continue;
    if (best < 0 || excess[p] > excess[best]) best = p;
  }
  if (best >= 0 && excess[best] >= CLEAR) return PATTERNS[best];
  if (excess[local] >= CLEAR) return "local";
  return even >= EVEN ? "broad" : "mixed";
}

/** The largest weight of each cell of a coarse grid, so that a thin peak survives; row by row. */
export class Grid {
  /** @param {number} rows @param {number} columns @param {number} most on a side */
  constructor(rows, columns, most) {
    this.down = Math.max(1, Math.ceil(rows / most));
    this.across = Math.max(1, Math.ceil(columns / most));
    this.rows = Math.ceil(rows / this.down);
    this.columns = Math.ceil(columns / this.across);
    this.cells = new Float32Array(this.rows * this.columns);
  }

  /** @param {number} r @param {Float32Array} row */
  add(r, row) {
    const from = Math.floor(r / this.down) * this.columns;
    for (let c = 0; c < row.length; c++) {
      const cell = from + Math.floor(c / this.across);
      if (row[c] > this.cells[cell]) this.cells[cell] = row[c];
    }
  }
}
