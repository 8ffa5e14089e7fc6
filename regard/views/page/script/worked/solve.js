// Every mechanism that a worked example may be of, computed in the page: the twin of
// regard/worked/mechanisms, held to it by a test.

import { sigmoid } from "../network/matrix.js";
import { weigh } from "../network/verbs.js";
import { mapped, plus, product, rowsOf, stacked, times, vector, width } from "./arrays.js";
import { attention, weighed } from "./attending.js";
import { encoderBlock, feedForward, norm, residual } from "./layers.js";
import { learned, rotated, sinusoidal } from "./positions.js";
import { lstm, selfAttentiveRNN, simpleRNN } from "./recurrences.js";
import { Working } from "./working.js";
/** @import {Values} from "./arrays.js" */
/** @import {Changes, Given} from "./working.js" */

/** Those that are not attention alone. @type {Record<string, (w: Working) => unknown>} */
const OTHERS = {
  "simple-rnn": simpleRNN,
  "simple-rnn+attention": selfAttentiveRNN,
  lstm,
  lstmn: lstm,
  "layer-norm": (w) => norm(w, w.note("input", w.array("x"))),
  "feed-forward": (w) => feedForward(w, w.note("input", w.array("x"))),
  residual,
  "encoder-block": encoderBlock,
  "encoder-decoder": decoderStep,
  sinusoidal: positions,
  learned: positions,
  rotary,
  "softmax-gradient": gradient,
  average,
};

/** Every step from what is given, with what the reader changed. @param {Given} given
 * @param {Changes} [changes] @returns {Working} */
export function solve(given, changes) {
  const w = new Working(given, changes);
  (OTHERS[given.mechanism] ?? attention)(w);
  return w;
}

/** A step of Bahdanau's decoder: attention, then the gated unit. @param {Working} w */
function decoderStep(w) {
  const context = /** @type {Values} */ (attention(w));
  const state = /** @type {Values} */ (w.steps.get("input"));
  const word = w.note("word", w.array("y"));
  const sum = (/** @type {string} */ part, /** @type {Values} */ old) => {
    const inputs = plus(
      product(word, w.array(`w${part}`), w.maybe(`b${part}`)),
      product(context, w.array(`c${part}`)),
    );
    return plus(inputs, product(old, w.array(`u${part}`)));
  };
  const update = w.note("update gate", mapped(sum("_z", state), sigmoid));
  const reset = w.note("reset gate", mapped(sum("_r", state), sigmoid));
  const candidate = w.note("candidate", mapped(sum("", times(reset, state)), Math.tanh));
  const kept = times(
    state,
    mapped(update, (z) => 1 - z),
  );
  w.note("state", plus(kept, times(update, candidate)));
  if (w.given.options.readout === "maxout") w.note("readout", maxout(w, state, word, context));
}

/** The larger of each two neighbours. @param {Working} w @param {Values} state
 * @param {Values} word @param {Values} context @returns {Values} */
function maxout(w, state, word, context) {
  const read = plus(product(state, w.array("u_o")), product(word, w.array("v_o")));
  const before = plus(read, product(context, w.array("c_o")));
  const larger = (/** @type {Float64Array} */ row) =>
    Float64Array.from({ length: row.length / 2 }, (_, i) => Math.max(row[2 * i], row[2 * i + 1]));
  return stacked(rowsOf(before).map(larger));
}

/** @param {Working} w */
function positions(w) {
  const x = w.has("x") ? w.note("embedding", w.array("x")) : null;
  const { length, width: d } = w.given.options;
  const [count, columns] = x ? x.shape : [length, d];
  const first = w.given.options.first;
  const table =
    w.given.mechanism === "learned"
      ? learned(w.array("table"), first, count)
      : sinusoidal(count, columns, first);
  const placed = w.note("positions", table);
  if (x) w.note("input", plus(x, placed));
}

/** Queries and keys turned, then attention. @param {Working} w */
function rotary(w) {
  const neighbours = w.given.options.pairs === "neighbours";
  const turn = (/** @type {string} */ name) => {
    const x = w.note(name, w.array(name));
    return rotated(x, w.given.options.first, w.number("base"), neighbours);
  };
  const [queries, keys] = [turn("queries"), turn("keys")];
  const values = w.has("values") ? w.note("values", w.array("values")) : null;
  weighed(w, w.note("turned_queries", queries), w.note("turned_keys", keys), values);
}

/** How weights move with scores, and a loss with them. @param {Working} w */
function gradient(w) {
  const scores = w.note("scores", w.array("scores"));
  const weights = w.note(
    "weights",
    stacked(rowsOf(scores).map((row) => weigh(Float64Array.from(row)))),
  );
  const n = width(weights);
  const jacobian = rowsOf(weights).flatMap((a) =>
    Array.from(a, (own, j) => a.map((other, k) => (j === k ? own * (1 - own) : -own * other))),
  );
  w.note("jacobian", { shape: [...weights.shape, n], data: stacked(jacobian).data });
  if (!w.has("upstream")) return;
  const upstream = rowsOf(w.note("upstream", w.array("upstream")));
  const moved = rowsOf(weights).map((a, i) => {
    const mean = a.reduce((sum, own, j) => sum + own * upstream[i][j], 0);
    return a.map((own, k) => own * (upstream[i][k] - mean));
  });
  w.note("score_gradient", stacked(moved));
}

/** @param {Working} w */
function average(w) {
  const rows = rowsOf(w.note("input", w.array("x")));
  const mean = rows[0].map((_, c) => rows.reduce((sum, row) => sum + row[c], 0) / rows.length);
  w.note("average", vector(mean));
}
