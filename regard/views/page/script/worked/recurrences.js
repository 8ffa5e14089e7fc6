// Networks that read word by word, every state noted (regard/worked/mechanisms/simplernn.py,
// selfattentive.py and lstmn.py).

import { sigmoid } from "../network/matrix.js";
import { additive, dot, mix, weigh } from "../network/verbs.js";
import { cut, mapped, plus, product, rowsOf, stacked, times, vector, width } from "./arrays.js";
import { weightedValues } from "./attending.js";
import { Working } from "./working.js";
/** @import {Values} from "./arrays.js" */

/** h_t = tanh(A [x_t; h_{t-1}] + b). @param {Working} w */
export function simpleRNN(w) {
  const a = w.array("a");
  let state = w.maybe("h_0") ?? zeros(width(a));
  const states = eachWord(w, (x, part) => {
    state = part.note("state", mapped(gate(w, "a", "b", x, state.data), Math.tanh));
    return state;
  });
  w.repeat("states", states);
}

/** The same with what h_{t-1} attends to in its place, or beside it. @param {Working} w */
export function selfAttentiveRNN(w) {
  const { form, align } = w.given.options;
  const hidden = width(w.array("a"));
  const isDot = align === "dot";
  const both = isDot ? null : w.array("w");
  const [key, query] = both
    ? [cut(both, 0, hidden), cut(both, hidden)]
    : [w.array("w_k"), w.array("w_q")];
  let context = zeros(hidden);
  let state = zeros(hidden);
  /** @type {Float64Array[]} */
  const tape = [];
  /** @type {Values[]} */
  const rows = [];
  const states = eachWord(w, (x, part) => {
    const before = form === "xch" ? [context.data, state.data] : [context.data];
    state = part.note("state", mapped(gate(w, "a", "b", x, ...before), Math.tanh));
    tape.push(state.data);
    const kept = stacked(tape);
    const asked = product(state, query).data;
    const keys = product(kept, key).data;
    const scores = isDot ? dot(asked, keys) : additive(asked, keys, w.array("v").data);
    const seen = recall(part, scores, kept);
    rows.push(seen.weights);
    context = seen.context;
    return state;
  });
  w.repeat("attention", below(rows));
  w.repeat("states", states);
}

/** The LSTM, and the LSTMN, which attends to all its states and cells. @param {Working} w */
export function lstm(w) {
  const hidden = width(w.array("w_i"));
  const attends = w.given.mechanism === "lstmn";
  let state = w.maybe("h_0") ?? zeros(hidden);
  let cell = w.maybe("c_0") ?? zeros(hidden);
  let summary = zeros(hidden);
  /** @type {{states: Float64Array[], cells: Float64Array[]}} */
  const tapes = { states: [], cells: [] };
  /** @type {Values[]} */
  const rows = [];
  const states = eachWord(w, (x, part) => {
    if (attends && tapes.states.length) {
      const query = plus(product(vector(x), w.array("w_x")), product(summary, w.array("w_tilde")));
      const keys = product(stacked(tapes.states), w.array("w_h"));
      const scores = additive(query.data, keys.data, w.array("v").data);
      const both = tapes.states.map((h, i) => vector(h, tapes.cells[i]).data);
      const { weights, context } = recall(part, scores, stacked(both));
      rows.push(weights);
      [state, cell] = [0, 1].map((i) => vector(context.data.slice(i * hidden, (i + 1) * hidden)));
    } else if (attends) {
      rows.push(zeros(0));
    }
    summary = part.note("recalled state", state);
    [state, cell] = updated(w, part, x, summary, part.note("recalled cell", cell));
    tapes.states.push(state.data);
    tapes.cells.push(cell.data);
    return state;
  });
  if (attends) w.repeat("attention", below(rows));
  w.repeat("states", states);
}

/** h_t and c_t from what is recalled. @param {Working} w @param {Working} part
 * @param {Float64Array} x @param {Values} state @param {Values} cell @returns {[Values, Values]} */
function updated(w, part, x, state, cell) {
  const open = (/** @type {string} */ name, /** @type {string} */ letter) => {
    const act = name === "candidate" ? Math.tanh : sigmoid;
    return part.note(name, mapped(gate(w, `w_${letter}`, `b_${letter}`, state.data, x), act));
  };
  const [i, f, o] = [open("input gate", "i"), open("forget gate", "f"), open("output gate", "o")];
  const fresh = times(i, open("candidate", "c"));
  const renewed = part.note("cell", plus(times(f, cell), fresh));
  return [part.note("state", times(o, mapped(renewed, Math.tanh))), renewed];
}

/** W [parts] + b. @param {Working} w @param {string} matrix @param {string} bias
 * @param {...Float64Array} parts @returns {Values} */
function gate(w, matrix, bias, ...parts) {
  return product(vector(...parts), w.array(matrix), w.maybe(bias));
}

/** What a word attends to on a tape. @param {Working} part @param {Float64Array} scored
 * @param {Values} tape */
function recall(part, scored, tape) {
  const scores = part.note("scores", vector(scored));
  const weights = part.note("weights", vector(weigh(Float64Array.from(scores.data))));
  const values = part.note("values", tape);
  part.repeat("weighted_values", weightedValues(weights, values));
  return {
    weights,
    context: part.note("context", vector(mix(weights.data, values.data, width(values)))),
  };
}

/** Read the words; their states below each other. @param {Working} w
 * @param {(x: Float64Array, part: Working) => Values} read @returns {Values} */
function eachWord(w, read) {
  const words = rowsOf(w.note("input", w.array("x")));
  return stacked(words.map((x, t) => read(x, w.within(`step ${t + 1}`)).data));
}

/** Rows of growing length as a square, zeros behind them. @param {Values[]} rows */
function below(rows) {
  const n = rows.length;
  return stacked(
    rows.map(({ data }) => {
      const row = new Float64Array(n);
      row.set(data);
      return row;
    }),
  );
}

/** @param {number} count @returns {Values} */
function zeros(count) {
  return { shape: [count], data: new Float64Array(count) };
}
