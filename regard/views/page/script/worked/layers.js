// The parts of a Transformer's layer, and a whole block of its encoder
// (regard/worked/mechanisms/layers.py and block.py).

import { mapped, plus, product, rowsOf, times, vector, width } from "./arrays.js";
import { attend } from "./attending.js";
import { Working } from "./working.js";
/** @import {Values} from "./arrays.js" */

/** (x − mean) / sqrt(variance + ε), times gamma, plus beta. @param {Working} w @param {Values} x
 * @param {string} [which] of the norms that a block has @returns {Values} */
export function norm(w, x, which = "") {
  const n = width(x);
  const average = (/** @type {Float64Array} */ row) => row.reduce((a, b) => a + b, 0) / n;
  const mean = w.note("mean", vector(Float64Array.from(rowsOf(x), average)));
  const centred = mapped(x, (value, i) => value - mean.data[Math.floor(i / n)]);
  const squares = rowsOf(mapped(centred, (value) => value * value));
  const variance = w.note("variance", vector(Float64Array.from(squares, average)));
  const epsilon = w.number("epsilon");
  const by = variance.data.map((value) => 1 / Math.sqrt(value + epsilon));
  const standard = mapped(centred, (value, i) => value * by[Math.floor(i / n)]);
  const scaled = times(w.note("standardised", standard), w.maybe(`gamma${which}`));
  return w.note("normalised", plus(scaled, w.maybe(`beta${which}`)));
}

/** W_2 max(0, W_1 x + b_1) + b_2. @param {Working} w @param {Values} x @returns {Values} */
export function feedForward(w, x) {
  const inner = w.note("inner", product(x, w.array("w_1"), w.maybe("b_1")));
  const activated = w.note(
    "activated",
    mapped(inner, (value) => Math.max(0, value)),
  );
  return w.note("output", product(activated, w.array("w_2"), w.maybe("b_2")));
}

/** @param {Working} w */
export function residual(w) {
  const x = w.note("input", w.array("x"));
  const added = w.note("residual", plus(x, w.note("sublayer", w.array("sublayer"))));
  if (w.given.options.norm === "post") norm(w, added);
}

/** Self-attention, then feed-forward, each added to its input and normalised. @param {Working} w */
export function encoderBlock(w) {
  const isBefore = w.given.options.norm === "pre";
  let stream = w.note("input", w.array("x"));
  const sublayers = /** @type {[string, (part: Working, x: Values) => Values, string][]} */ ([
    ["self-attention", selfAttention, "_1"],
    ["feed-forward", feedForward, "_2"],
  ]);
  for (const [scope, run, which] of sublayers) {
    const part = w.within(scope);
    const made = run(part, isBefore ? norm(part, stream, which) : stream);
    const added = part.note("residual", plus(stream, made));
    stream = isBefore ? added : norm(part, added, which);
  }
}

/** @param {Working} part @param {Values} x @returns {Values} */
function selfAttention(part, x) {
  const input = part.note("input", x);
  attend(part, input, input);
  return /** @type {Values} */ (part.steps.get(`${part.scope}output`));
}
