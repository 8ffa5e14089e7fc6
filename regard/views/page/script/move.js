// Steps from what is chosen to its neighbour: another token, head or layer.

import { head, layer, picture, subject } from "./model.js";
import { choose, state } from "./state.js";

/** @param {number} by rows */
export function moveQuery(by) {
  if (!head().isReady) return;
  const of = picture();
  const next = Math.max(0, Math.min(of.rows.length - 1, of.rowOf(state.query) + by));
  choose({ query: of.rows[next].number });
}

/** @param {number} by columns */
export function moveKey(by) {
  if (!head().isReady) return;
  const of = picture();
  const next = Math.max(0, Math.min(of.columns.length - 1, of.columnOf(state.key) + by));
  choose({ key: of.columns[next].number });
}

/** @param {number} by */
export function moveHead(by) {
  const count = layer().heads.length;
  choose({ head: (state.head + by + count) % count });
}

/** @param {number} by */
export function moveLayer(by) {
  const count = subject().layers.length;
  choose({ layer: (state.layer + by + count) % count });
}
