// Changes that were carried through the model when this file was written: it holds no model that
// could carry others.

import { t } from "./language.js";
/** @import {Outcome} from "./outcome.js" */
/** @import {Change} from "./trial.js" */

/** @typedef {{masked?: number[], removed?: [number, number][], after: Outcome}} Stored
 * @typedef {{before: Outcome, carried: Stored[]}} Trials */

/** A wish as one text. @param {Partial<Change>} wish */
function named({ masked = [], removed = [], cut = [], factor = 1, temperature = 1 }) {
  return JSON.stringify([masked, removed, cut, factor, temperature]);
}

export class StoredCarrier {
  /** @param {Trials} trials */
  constructor({ before, carried }) {
    this.before = before;
    this.known = new Map(carried.map((one) => [named(one), one.after]));
  }

  /** @param {Change} wish */
  can(wish) {
    return this.known.has(named(wish));
  }

  reason() {
    return t(
      "This file holds what came out of one change at a time. What is greyed was not computed " +
        "when it was written: 'regard serve' carries every change through the model.",
    );
  }

  /** @param {Change} wish */
  async carry(wish) {
    const after = this.known.get(named(wish));
    return { before: this.before, after };
  }
}
