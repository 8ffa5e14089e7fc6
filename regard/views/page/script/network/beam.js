// Beam search: look for the translation that a model finds most likely. The twin of
// regard/models/translators/beam.py, for one sentence.

import { joined, row } from "./matrix.js";
import { BOS, EOS, PAD } from "./tokenizer.js";
import { logSumExp } from "./verbs.js";
/** @import {Step} from "./bahdanau.js" */
/** @import {Attended} from "./multihead.js" */

/**
 * @typedef {{start: (source: number[], what: any) => any,
 *   step: (state: any, tokens: number[]) => Step,
 *   select: (state: any, rows: number[]) => void, looks: [number, number], looksAt: string,
 *   vocabulary: {size: number}}} Translator
 * @typedef {{total: number, row: number, token: number}} Candidate
 * @typedef {{ids: number[], score: number, maps: Float32Array[], finished: boolean}} Line
 *   its tokens without BOS and EOS; of each map, a row for each token (and for EOS), which are as
 *   long as there was something to look at
 * @typedef {Line & {read: Attended[]}} Hypothesis with what each layer did as it read the source
 */

export const BEAM = 5;

/** Lines of hypotheses: row n after step t continues row parents[t][n] with tokens[t][n]. */
class Chains {
  constructor() {
    /** @type {number[][]} */
    this.parents = [];
    /** @type {number[][]} */
    this.tokens = [];
    /** @type {Float32Array[][]} */
    this.maps = [];
  }

  /** The hypothesis that ends with `token`, said from row `from` after `length` − 1 tokens.
   * @param {number} length @param {number} from @param {number} token @param {number} score
   * @returns {Line} */
  follow(length, from, token, score) {
    const ids = [token];
    /** @type {number[]} */
    const rows = [];
    for (let step = length - 1; step >= 0; step--) {
      rows.push(from);
      if (step) {
        ids.push(this.tokens[step - 1][from]);
        from = this.parents[step - 1][from];
      }
    }
    ids.reverse();
    rows.reverse();
    const maps = this.maps[0].map((_, m) =>
      joined(
        rows.map((n, step) => {
          const map = this.maps[step][m];
          const count = step ? this.tokens[step - 1].length : 1;
          return row(map, map.length / count, n);
        }),
      ),
    );
    const finished = token === EOS;
    return { ids: finished ? ids.slice(0, -1) : ids, score, maps, finished };
  }
}

/** The best hypothesis. @param {Translator} model @param {number[]} source @param {any} what
 * @param {(best: Hypothesis) => void} [told] of the best one after each step
 * @returns {Hypothesis} */
export function translate(model, source, what, told = () => {}) {
  const limit = 2 * source.length + 10;
  const chains = new Chains();
  const state = model.start(source, what);
  const { read = [] } = state;
  let scores = [0];
  let tokens = [BOS];
  let found = 0;
  let best = { score: -Infinity, length: 0, row: 0, token: EOS };
  for (let length = 1; ; length++) {
    const { logits, maps } = model.step(state, tokens);
    chains.maps.push(maps);
    const wide = bestTokens(logits, scores, model.vocabulary.size, 2 * BEAM);
    for (const { total, row: from, token } of wide.slice(0, BEAM)) {
      if (token !== EOS || total === -Infinity) continue;
      found += 1;
      if (total / length > best.score) best = { score: total / length, length, row: from, token };
    }
    const going = wide.filter((one) => one.token !== EOS).slice(0, BEAM);
    const top = going.length ? going[0].total : -Infinity;
    // log p can only fall, and dividing by the greatest length is the most that can help it.
    if (best.score >= top / limit || length >= limit || found >= BEAM) {
      if (best.score === -Infinity) {
        best = { score: top / length, length, row: going[0].row, token: going[0].token };
      }
      return { ...chains.follow(best.length, best.row, best.token, best.score), read };
    }
    told({ ...chains.follow(length, going[0].row, going[0].token, top / length), read });
    scores = going.map((one) => one.total);
    tokens = going.map((one) => one.token);
    const rows = going.map((one) => one.row);
    chains.parents.push(rows);
    chains.tokens.push(tokens);
    model.select(state, rows);
  }
}

/** The best of scores[b] + log softmax(logits[b])[v], best first; PAD and BOS are never said.
 * @param {Float32Array} logits @param {number[]} scores @param {number} size
 * @param {number} count @returns {Candidate[]} */
export function bestTokens(logits, scores, size, count) {
  /** @type {Candidate[]} */
  const found = [];
  scores.forEach((score, b) => {
    const own = row(logits, size, b);
    const offset = score - logSumExp(own);
    for (let token = 0; token < size; token++) {
      const total = own[token] + offset;
      if (found.length === count && total <= found[count - 1].total) continue;
      if (token === PAD || token === BOS) continue;
      let at = found.length;
      while (at > 0 && found[at - 1].total < total) at -= 1;
      found.splice(at, 0, { total, row: b, token });
      if (found.length > count) found.pop();
    }
  });
  return found;
}
