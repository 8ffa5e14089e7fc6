// The steps of attention from whatever is given: the twin of regard/worked/mechanisms/attention.py,
// by the four verbs.

import { joined } from "../network/matrix.js";
import { additive, dot, mask, mix, weigh } from "../network/verbs.js";
import { cut, headsOf, mapped, ofHeads, plus, product, rowsOf } from "./arrays.js";
import { split, stacked, width } from "./arrays.js";
import { sinusoidal } from "./positions.js";
import { Working } from "./working.js";
/** @import {Values} from "./arrays.js" */

/** All steps of a mechanism of attention. @param {Working} w @returns {Values | null} context */
export function attention(w) {
  const { query, memory } = w.given;
  const input = w.has(query) ? w.note("input", placed(w, w.array(query))) : null;
  const other = query === memory ? input : w.has(memory) && w.note("memory", w.array(memory));
  return attend(w, input, other || null);
}

/** The vectors with their positions, where those are added. @param {Working} w @param {Values} x */
function placed(w, x) {
  if (!w.given.positions) return x;
  const table = w.note("positions", sinusoidal(x.shape[0], width(x), 0));
  return plus(w.note("embedding", x), table);
}

/** From vectors, or from later steps that are given, to the context and the output.
 * @param {Working} w @param {Values | null} input @param {Values | null} memory */
export function attend(w, input, memory) {
  const queries = w.step("queries", () => projected(w, "q", input));
  const keys = w.step("keys", () => projected(w, "k", memory));
  const values = w.step("values", () => projected(w, "v", memory));
  const context = weighed(w, queries, keys, values);
  if (!context) return null;
  let whole = context;
  if (w.given.heads > 1 || w.scope) whole = w.note("concatenated", sideBySide(context));
  if (w.has("w_o")) w.note("output", product(whole, w.array("w_o"), w.maybe("b_o")));
  return context;
}

/** Score, mask, weigh, mix. @param {Working} w @param {Values | null} queries
 * @param {Values | null} keys @param {Values | null} values @returns {Values | null} */
export function weighed(w, queries, keys, values) {
  let fitting = w.step("scores", () => queries && keys && scored(w, queries, keys));
  if (w.given.scaled) {
    const scores = fitting;
    fitting = w.step("scaled", () => scores && scaledBy(scores, factor(w, keys ?? queries)));
  }
  if (!fitting) return null;
  const weights = w.note("weights", softmax(w, fitting));
  if (!values) return null;
  w.repeat("weighted_values", weightedValues(weights, values));
  return w.note("context", mixed(weights, values));
}

/** Queries, keys or values: one map of every vector, or the vectors themselves.
 * @param {Working} w @param {string} letter @param {Values | null} source */
function projected(w, letter, source) {
  if (!source || !w.given.projects) return source;
  if (!w.has(`w_${letter}`)) return null;
  const matrix = w.array(`w_${letter}`);
  const bias = w.maybe(`b_${letter}`);
  if (w.given.layout === "row-per-word") return plus(ownRows(source, matrix), bias);
  const heads = letter === "q" ? w.given.heads : w.given.keyHeads;
  return split(product(source, matrix, bias), heads);
}

/** x_i · row i of W. @param {Values} x @param {Values} matrix @returns {Values} */
function ownRows(x, matrix) {
  const rows = rowsOf(matrix);
  return stacked(rowsOf(x).map((row, i) => dot(row, rows[i])));
}

/** @param {Working} w @param {Values} queries @param {Values} keys @returns {Values} */
function scored(w, queries, keys) {
  if (w.has("v_a")) return additiveScores(w, queries, keys);
  const asking = w.has("w_a") ? product(queries, w.array("w_a")) : queries;
  const parts = headsOf(keys);
  const heads = headsOf(asking);
  return ofHeads(
    heads.map((own, h) => {
      const { data } = shared(parts, h, heads.length);
      return stacked(rowsOf(own).map((row) => dot(row, data)));
    }),
  );
}

/** The keys or values of a head, which several heads may share. @param {Values[]} parts
 * @param {number} h @param {number} heads */
function shared(parts, h, heads) {
  return parts[Math.floor((h * parts.length) / heads)];
}

/** v · tanh(W q + U k); Luong's W is both, one below the other. @param {Working} w
 * @param {Values} queries @param {Values} keys @returns {Values} */
function additiveScores(w, queries, keys) {
  const both = w.array("w_a");
  const n = width(queries);
  const [ours, theirs] = w.has("u_a") ? [both, w.array("u_a")] : [cut(both, 0, n), cut(both, n)];
  const asked = product(keys, theirs).data;
  const v = w.array("v_a").data;
  return stacked(rowsOf(product(queries, ours)).map((row) => additive(row, asked, v)));
}

/** What scores are multiplied by. @param {Working} w @param {Values | null} keys */
function factor(w, keys) {
  const { numbers } = w.given;
  if ("temperature" in numbers) return 1 / w.number("temperature");
  if ("scale" in numbers) return w.number("scale");
  return 1 / Math.sqrt("d_k" in numbers ? w.number("d_k") : keys ? width(keys) : NaN);
}

/** @param {Values} scores @param {number} by */
function scaledBy(scores, by) {
  return mapped(scores, (score) => score * by);
}

/** @param {Working} w @param {Values} scores @returns {Values} */
function softmax(w, scores) {
  const allowed = w.given.mask;
  if (allowed) {
    const data = Float64Array.from(allowed.flat(), Number);
    w.repeat("mask", { shape: [allowed.length, allowed[0].length], data });
  }
  const weigh1 = (/** @type {Float64Array} */ row, /** @type {number} */ i) => {
    const own = Float64Array.from(row);
    if (allowed) mask(own, (j) => allowed[i % allowed.length][j]);
    return weigh(own);
  };
  return { shape: scores.shape, data: joined(rowsOf(scores).map(weigh1)) };
}

/** a[i,j] v_j. @param {Values} weights @param {Values} values @returns {Values} */
export function weightedValues(weights, values) {
  const parts = headsOf(values);
  const heads = headsOf(weights);
  const made = heads.flatMap((own, h) =>
    rowsOf(own).flatMap((row) =>
      rowsOf(shared(parts, h, heads.length)).map((value, j) => value.map((x) => x * row[j])),
    ),
  );
  return { shape: [...weights.shape, width(values)], data: joined(made) };
}

/** Σ_j a[i,j] v_j. @param {Values} weights @param {Values} values @returns {Values} */
function mixed(weights, values) {
  const parts = headsOf(values);
  const heads = headsOf(weights);
  return ofHeads(
    heads.map((own, h) => {
      const { data } = shared(parts, h, heads.length);
      return stacked(rowsOf(own).map((row) => mix(row, data, width(values))));
    }),
  );
}

/** The heads of each position, one behind the other. @param {Values} context @returns {Values} */
function sideBySide(context) {
  const heads = headsOf(context).map(rowsOf);
  return stacked(heads[0].map((_, i) => joined(heads.map((rows) => rows[i]))));
}
