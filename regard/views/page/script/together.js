// Heads taken together: their mean, their maximum, and attention rolled out through all layers.
//
//   rollout = Π over layers of (½ mean over heads of the weights + ½ identity)     (Abnar 2020)

import { t } from "./language.js";
import { layer, nameOf, head, pictureOf, subject } from "./model.js";
import { state } from "./state.js";
/** @import {Head} from "./attention.js" */
/** @import {Picture} from "./picture.js" */

/** What it is called, the heads that it needs, and what is made of their pictures.
 * @typedef {{name: () => string, needs: () => Head[],
 *   make: (pictures: Picture[]) => Float32Array}} Together */

const MOST_CELLS = 1 << 20; // of each head
const MOST_ROLLED = 512;

/** @type {Map<string, Together>} */
export const TOGETHER = new Map([
  ["mean", { name: () => t("mean of the layer's heads"), needs: ofLayer, make: mean }],
  ["max", { name: () => t("largest of the layer's heads"), needs: ofLayer, make: largest }],
  ["rollout", { name: () => t("rollout through all layers"), needs: ofAll, make: rollout }],
]);

function ofLayer() {
  return layer().heads;
}

function ofAll() {
  return subject().layers.flatMap((one) => one.heads);
}

/** The choices there are, the chosen head first. @returns {[string, string][]} */
export function togetherNames() {
  const { queries, keys } = head();
  /** @type {[string, string][]} */
  const own = [["", nameOf(head())]];
  if (layer().tiles || queries * keys > MOST_CELLS) return own;
  const rolls =
    !state.measure &&
    state.sinks &&
    subject().layers.length > 1 &&
    queries <= MOST_ROLLED &&
    subject().layers.every((one) => one.data.kind === "self" && one.data.shape[0] === queries);
  return [
    ...own,
    ...[...TOGETHER]
      .filter(([key]) => (key === "rollout" ? rolls : layer().heads.length > 1))
      .map(([key, { name }]) => /** @type {[string, string]} */ ([key, name()])),
  ];
}

/** @type {{key: any[], made: Picture} | null} */
let last = null;

/** Heads together as one picture; null for the chosen head alone. @param {string} over
 * @returns {Picture | null} */
export function together(over) {
  const way = togetherNames().some(([key]) => key === over) ? TOGETHER.get(over) : undefined;
  if (!way) return null;
  const heads = way.needs();
  const key = [over, heads[0], state.words, state.sinks, state.change];
  if (last && key.every((part, i) => part === last?.key[i])) return last.made;
  const pictures = heads.map((one) => pictureOf(one, subject(), state.change));
  const whole = pictureOf(heads[0], subject(), state.change);
  whole.kept = way.make(pictures);
  for (const one of heads) one.forget();
  last = { key, made: whole };
  return whole;
}

/** @param {Picture[]} pictures */
function mean(pictures) {
  const sum = new Float32Array(pictures[0].matrix().length);
  for (const one of pictures) one.matrix().forEach((weight, i) => (sum[i] += weight));
  return sum.map((weight) => weight / pictures.length);
}

/** @param {Picture[]} pictures */
function largest(pictures) {
  const most = new Float32Array(pictures[0].matrix().length);
  for (const one of pictures)
    one.matrix().forEach((weight, i) => {
      if (weight > most[i]) most[i] = weight;
    });
  return most;
}

/** @param {Picture[]} pictures of all layers */
function rollout(pictures) {
  const size = pictures[0].rows.length;
  const width = pictures[0].columns.length;
  const layers = new Map();
  for (const one of pictures) {
    const of = one.head.layer;
    layers.set(of, [...(layers.get(of) ?? []), one]);
  }
  /** @type {Float32Array | null} */
  let rolled = null;
  for (const some of layers.values()) {
    const step = mean(some).map((weight) => weight / 2);
    for (let i = 0; i < Math.min(size, width); i++) step[i * width + i] += 0.5;
    rolled = rolled ? product(step, rolled, size) : step;
  }
  return rolled ?? new Float32Array(size * width);
}

/** @param {Float32Array} a @param {Float32Array} b @param {number} n both n × n */
function product(a, b, n) {
  const c = new Float32Array(n * n);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < n; k++) {
      const by = a[i * n + k];
      if (by) for (let j = 0; j < n; j++) c[i * n + j] += by * b[k * n + j];
    }
  return c;
}
