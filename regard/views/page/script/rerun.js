// Proof: examples whose results Python stored in the file, run again here when it is opened.

import { Arrays } from "./data.js";
import { small } from "./dom.js";
import { Engine } from "./engine.js";
import { t } from "./language.js";
import { givenOf } from "./looked.js";
import { joined } from "./network/matrix.js";
import { NOTHING } from "./network/wish.js";
/** @import {Example} from "./looked.js" */

/** @typedef {{given: Example, output: any, weights: number[]}} Stored
 * @typedef {{same: number, most: number}} Agreement how many results are the same, and the largest
 *   difference of a number */

/** @param {Engine} engine @param {Arrays} arrays @param {number} model @param {Stored[]} stored
 * @returns {Promise<Agreement>} */
export async function rerun(engine, arrays, model, stored) {
  const found = { same: 0, most: 0 };
  for (const { given, output, weights } of stored) {
    const look = await engine.look(model, givenOf(given), NOTHING);
    const theirs = await Promise.all(weights.map(async (number) => arrays.get(number)));
    const apart = distance(
      joined(look.layers.map((layer) => layer.weights)),
      joined(theirs.map(({ data }) => data)),
    );
    const [isSame, beside] = compared(look.output, output);
    found.same += Number(isSame && Number.isFinite(apart));
    found.most = Math.max(found.most, apart, beside);
  }
  return found;
}

/** The largest difference; ∞ where there are not as many. @param {ArrayLike<number>} ours
 * @param {ArrayLike<number>} theirs */
function distance(ours, theirs) {
  if (ours.length !== theirs.length) return Infinity;
  let most = 0;
  for (let i = 0; i < ours.length; i++) most = Math.max(most, Math.abs(ours[i] - theirs[i]));
  return most;
}

/** Whether two outputs say the same, and how far their numbers are apart.
 * @param {any} ours @param {any} theirs @returns {[boolean, number]} */
function compared(ours, theirs) {
  if (!Array.isArray(ours)) return [ours === theirs, 0];
  if (typeof ours[0] === "number") return [true, distance(ours, theirs)];
  const numbers = (/** @type {any[]} */ list) => list.map(({ probability }) => probability);
  const isSame = ours.every(({ word }, i) => word === theirs[i]?.word);
  return [isSame, distance(numbers(ours), numbers(theirs))];
}

/** @param {string} name @param {Agreement} agreement @param {number} count */
export function saidOf(name, { same, most }, count) {
  return t(
    "{name}: {same} of {count} stored examples computed again with the same result, largest " +
      "difference of a number {most}.",
    { name, same, count, most: small(most) },
  );
}
