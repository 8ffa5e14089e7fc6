// What the chosen head is compared with, and which of the rows and columns of the two belong
// together.

import { NO_CHANGE } from "./attention.js";
import { model, picture, pictureOf, subject } from "./model.js";
import { pairsOf } from "./pairs.js";
import { state } from "./state.js";
/** @import {Head} from "./attention.js" */
/** @import {Both} from "./difference.js" */
/** @import {Subject} from "./model.js" */
/** @import {Picture} from "./picture.js" */

/** @type {{key: any[], picture: Picture} | null} */
let lastOther = null;
/** @type {Both | null} */
let lastBoth = null;

/** The same head of the other text, or the next head.
 * @returns {[number, number, number]} */
export function other() {
  if (state.other) return state.other;
  if (model.subjects.length > 1) return [state.subject === 0 ? 1 : 0, state.layer, state.head];
  const heads = subject().layers[state.layer].heads.length;
  if (heads > 1) return [state.subject, state.layer, (state.head + 1) % heads];
  return [state.subject, (state.layer + 1) % subject().layers.length, 0];
}

/** @returns {{within: Subject, head: Head}} */
export function otherHead() {
  const [s, l, h] = other();
  const within = model.subjects[Math.min(s, model.subjects.length - 1)];
  const layer = within.layers[Math.min(l, within.layers.length - 1)];
  return { within, head: layer.heads[Math.min(h, layer.heads.length - 1)] };
}

function otherPicture() {
  const { within, head: of } = otherHead();
  const key = [of, state.words, state.sinks];
  if (!lastOther || key.some((part, i) => part !== lastOther?.key[i])) {
    lastOther = { key, picture: pictureOf(of, within, NO_CHANGE) };
  }
  return lastOther.picture;
}

/** @returns {Both} */
export function both() {
  const [a, b] = [picture(), otherPicture()];
  if (lastBoth?.a !== a || lastBoth.b !== b) {
    lastBoth = { a, b, rows: pairsOf(a.rows, b.rows), columns: pairsOf(a.columns, b.columns) };
  }
  return lastBoth;
}

/** Forget what belongs to another document. */
export function resetOther() {
  lastOther = null;
  lastBoth = null;
}
