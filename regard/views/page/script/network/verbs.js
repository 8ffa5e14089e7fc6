// The four verbs, for one query at a time: score, mask, weigh, mix. The twin of
// regard/attention/attend.py, used wherever the page computes attention, its own or a network's.
//
//   e[j] = score(query, key_j)          score
//   e[j] = −∞ where the mask says no    mask
//   a    = softmax(e)                   weigh   (nothing may be attended to: all zeros)
//   c    = Σ_j a[j] value_j             mix
//
// Keys and values are rows, one behind the other.

/** e[j] = query · key_j. @param {Float32Array} query @param {Float32Array} keys
 * @param {number} [scale] @returns {Float32Array} */
export function dot(query, keys, scale = 1) {
  const width = query.length;
  const scores = new Float32Array(keys.length / width);
  for (let j = 0, at = 0; j < scores.length; j++, at += width) {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += query[c] * keys[at + c];
    scores[j] = sum * scale;
  }
  return scores;
}

/** e[j] = v · tanh(query + key_j), both projected already. @param {Float32Array} query
 * @param {Float32Array} keys @param {Float32Array} v @returns {Float32Array} */
export function additive(query, keys, v) {
  const width = v.length;
  const scores = new Float32Array(keys.length / width);
  for (let j = 0, at = 0; j < scores.length; j++, at += width) {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += v[c] * Math.tanh(query[c] + keys[at + c]);
    scores[j] = sum;
  }
  return scores;
}

/** −∞ where key j may not be attended to. @param {Float32Array} scores
 * @param {(j: number) => boolean} allows */
export function mask(scores, allows) {
  for (let j = 0; j < scores.length; j++) if (!allows(j)) scores[j] = -Infinity;
}

/** a = softmax(e). @param {Float32Array} scores @param {Float32Array} [into]
 * @returns {Float32Array} */
export function weigh(scores, into = new Float32Array(scores.length)) {
  let most = -Infinity;
  for (let j = 0; j < scores.length; j++) if (scores[j] > most) most = scores[j];
  if (most === -Infinity) return into.fill(0);
  let sum = 0;
  for (let j = 0; j < scores.length; j++) {
    into[j] = Math.exp(scores[j] - most);
    sum += into[j];
  }
  const share = 1 / sum;
  for (let j = 0; j < scores.length; j++) into[j] *= share;
  return into;
}

/** log Σ_j exp(e[j]). @param {Float32Array} scores */
export function logSumExp(scores) {
  let most = -Infinity;
  for (let j = 0; j < scores.length; j++) if (scores[j] > most) most = scores[j];
  if (most === -Infinity) return -Infinity;
  let sum = 0;
  for (let j = 0; j < scores.length; j++) sum += Math.exp(scores[j] - most);
  return most + Math.log(sum);
}

/** c = Σ_j a[j] value_j. @param {Float32Array} weights @param {Float32Array} values
 * @param {number} width @returns {Float32Array} */
export function mix(weights, values, width) {
  const sum = new Float64Array(width);
  for (let j = 0, at = 0; j < weights.length; j++, at += width) {
    if (weights[j] === 0) continue;
    for (let c = 0; c < width; c++) sum[c] += weights[j] * values[at + c];
  }
  return Float32Array.from(sum);
}
