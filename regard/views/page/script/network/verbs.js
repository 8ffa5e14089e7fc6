// The four verbs, for one query at a time: score, mask, weigh, mix. The twin of
// regard/attention/attend.py, used wherever the page computes attention, its own or a network's.
//
//   e[j] = score(query, key_j)          score
//   e[j] = −∞ where the mask says no    mask
//   a    = softmax(e)                   weigh   (nothing may be attended to: all zeros)
//   c    = Σ_j a[j] value_j             mix
//
// Keys and values are rows, one behind the other. Networks compute with single precision, worked
// examples with double: what is made is of the kind of what it is made from.

/** @typedef {Float32Array | Float64Array} Floats */

/** So many zeros, of the same kind. @template {Floats} T @param {T} x @param {number} count
 * @returns {T} */
export function like(x, count) {
  const made = x instanceof Float64Array ? new Float64Array(count) : new Float32Array(count);
  return /** @type {T} */ (made);
}

/** e[j] = query · key_j. @template {Floats} T @param {T} query @param {T} keys
 * @param {number} [scale] @returns {T} */
export function dot(query, keys, scale = 1) {
  const width = query.length;
  const scores = like(query, keys.length / width);
  for (let j = 0, at = 0; j < scores.length; j++, at += width) {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += query[c] * keys[at + c];
    scores[j] = sum * scale;
  }
  return scores;
}

/** e[j] = v · tanh(query + key_j), both projected already. @template {Floats} T @param {T} query
 * @param {T} keys @param {T} v @returns {T} */
export function additive(query, keys, v) {
  const width = v.length;
  const scores = like(query, keys.length / width);
  for (let j = 0, at = 0; j < scores.length; j++, at += width) {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += v[c] * Math.tanh(query[c] + keys[at + c]);
    scores[j] = sum;
  }
  return scores;
}

/** −∞ where key j may not be attended to. @param {Floats} scores
 * @param {(j: number) => boolean} allows */
export function mask(scores, allows) {
  for (let j = 0; j < scores.length; j++) if (!allows(j)) scores[j] = -Infinity;
}

/** a = softmax(e). @template {Floats} T @param {T} scores @param {T} [into] @returns {T} */
export function weigh(scores, into = like(scores, scores.length)) {
  let most = -Infinity;
  for (let j = 0; j < scores.length; j++) if (scores[j] > most) most = scores[j];
  if (most === -Infinity) return /** @type {T} */ (into.fill(0));
  let sum = 0;
  for (let j = 0; j < scores.length; j++) {
    into[j] = Math.exp(scores[j] - most);
    sum += into[j];
  }
  const share = 1 / sum;
  for (let j = 0; j < scores.length; j++) into[j] *= share;
  return into;
}

/** log Σ_j exp(e[j]). @param {Floats} scores */
export function logSumExp(scores) {
  let most = -Infinity;
  for (let j = 0; j < scores.length; j++) if (scores[j] > most) most = scores[j];
  if (most === -Infinity) return -Infinity;
  let sum = 0;
  for (let j = 0; j < scores.length; j++) sum += Math.exp(scores[j] - most);
  return most + Math.log(sum);
}

/** c = Σ_j a[j] value_j. @template {Floats} T @param {T} weights @param {T} values
 * @param {number} width @returns {T} */
export function mix(weights, values, width) {
  const sum = new Float64Array(width);
  for (let j = 0, at = 0; j < weights.length; j++, at += width) {
    if (weights[j] === 0) continue;
    for (let c = 0; c < width; c++) sum[c] += weights[j] * values[at + c];
  }
  const mixed = like(weights, width);
  mixed.set(sum);
  return mixed;
}
