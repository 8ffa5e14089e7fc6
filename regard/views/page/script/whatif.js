// What if: words that may not be looked at, and another scale.

import { NO_CHANGE } from "./attention.js";
import { choose, state } from "./state.js";

/** Mask keys, or no longer if all of them are masked. @param {number[]} keys */
export function mask(...keys) {
  const next = new Set(state.change.masked);
  const all = keys.every((j) => next.has(j));
  for (const j of keys) {
    if (all) next.delete(j);
    else next.add(j);
  }
  setChange(next, state.change.factor);
}

/** @param {Set<number>} masked @param {number} factor */
export function setChange(masked, factor) {
  choose({ change: masked.size || factor !== 1 ? { masked, factor } : NO_CHANGE });
}

/** Back to the model's own numbers. */
export function takeBack() {
  choose({ change: NO_CHANGE });
}
