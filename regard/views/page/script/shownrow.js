// The row that a first view shows: the one under the pointer, or else the chosen one; and what is
// told of it.

import { nextOf, whichOf } from "./choices.js";
import { make, put } from "./dom.js";
import { picture } from "./model.js";
import { choose, state } from "./state.js";
import { account, restOf, sentenceOf } from "./telling.js";
/** @import {Account} from "./telling.js" */
/** @import {Unit} from "./picture.js" */

/** @typedef {"from" | "to"} Side what looks, and what is only looked at */

export class ShownRow {
  /** @param {() => void} draw called when another row is pointed at
   * @param {{all: () => string, hint: () => string}} words for all rows, and how to choose one */
  constructor(draw, words) {
    this.draw = draw;
    this.words = words;
    /** The row under the pointer; −1 if none is. */
    this.hovered = -1;
    this.told = make("p", { class: "told", role: "status" });
    this.rest = make("p", { class: "rest quiet" });
    this.next = make("div", { class: "next" });
    this.which = make("div", { class: "which quiet" });
    const parts = [this.told, this.rest, this.next, this.which];
    this.element = make("div", { class: "telling" }, parts);
  }

  /** What a list of units listens to. @param {Side} side
   * @param {(event: KeyboardEvent) => void} walk */
  listeners(side, walk) {
    const numberOf = (/** @type {any} */ event) => {
      const unit = event.target.closest("[data-number]");
      return unit ? Number(unit.dataset.number) : -1;
    };
    return {
      keydown: walk,
      click: (/** @type {Event} */ event) => this.pick(side, numberOf(event)),
      pointerover: (/** @type {PointerEvent} */ event) =>
        event.pointerType === "mouse" && this.hover(side, numberOf(event)),
      pointerleave: () => this.hover(side, -1),
    };
  }

  /** A click chooses the row; among what is only looked at, the column.
   * @param {Side} side @param {number} number */
  pick(side, number) {
    if (number < 0) return;
    this.hovered = -1;
    choose(side === "to" ? { key: number } : { query: number });
  }

  /** @param {Side} side @param {number} number */
  hover(side, number) {
    const next = side === "to" || number < 0 ? -1 : picture().rowOf(number);
    if (next === this.hovered) return;
    this.hovered = next;
    this.draw();
  }

  /** Choose what a row that is newly chosen looks at most. @param {Set<string>} changed */
  follow(changed) {
    const of = picture();
    const best = account(of, of.rowOf(state.query)).words[0];
    const isNew = changed.has("query") || changed.has("change");
    if (best && isNew && !changed.has("key") && !changed.has("subject"))
      choose({ key: best.unit.number });
  }

  /** @returns {Account} */
  account() {
    const of = picture();
    if (this.hovered >= 0) return account(of, this.hovered);
    return account(of, of.rowOf(state.query), state.key);
  }

  /** @param {Account} found */
  tell(found) {
    put(this.told, sentenceOf(found));
    put(this.rest, restOf(found));
    if (this.hovered >= 0) return; // what can be done is about the chosen row
    put(this.next, nextOf(found, this.words.all()));
    put(this.which, whichOf(this.words.hint()));
  }
}

/** @param {Unit} unit */
export function isMasked({ tokens }) {
  return tokens.every((j) => state.change.masked.has(j));
}
