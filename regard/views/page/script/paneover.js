// What stands over the map of a pane: labels, the frame, and the chosen cell.

import { shown } from "./dom.js";
/** @import {Pane, Source} from "./pane.js" */

export const LABELS_FROM = 11; // pixels a cell needs for its token to be written

/** @typedef {{context: CanvasRenderingContext2D, style: CSSStyleDeclaration,
 *   x: (c: number) => number, y: (r: number) => number}} Drawing where cells begin, in pixels */

/** @param {Pane} pane @param {number} ratio of pixels */
export function drawOver(pane, ratio) {
  const source = /** @type {Source} */ (pane.source);
  const context = /** @type {CanvasRenderingContext2D} */ (pane.over.getContext("2d"));
  const { sight, margins, element } = pane;
  const [width, height] = [element.clientWidth, element.clientHeight];
  const style = getComputedStyle(element);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const x = (/** @type {number} */ c) => margins.left + (c - sight.left) * sight.cell;
  const y = (/** @type {number} */ r) => margins.top + (r - sight.top) * sight.cell;
  // What is under the margins is not to be seen.
  context.fillStyle = style.getPropertyValue("--back");
  context.fillRect(0, 0, width, margins.top);
  context.fillRect(0, 0, margins.left, height);
  if (pane.until < source.rows.length - 1) {
    context.globalAlpha = 0.8;
    context.fillRect(margins.left, Math.max(margins.top, y(pane.until + 1)), width, height);
    context.globalAlpha = 1;
  }
  drawFrame(pane, { context, style, x, y });
  if (sight.cell >= LABELS_FROM) drawLabels(pane, { context, style, x, y });
  drawChosen(pane, { context, style, x, y });
}

/** The chosen cell, and its row and column. @param {Pane} pane @param {Drawing} drawing */
function drawChosen(pane, { context, style, x, y }) {
  const source = /** @type {Source} */ (pane.source);
  const { sight, margins, element, chosen } = pane;
  if (chosen.r < 0 || chosen.c < 0) return;
  context.save();
  context.beginPath();
  context.rect(margins.left, margins.top, element.clientWidth, element.clientHeight);
  context.clip();
  context.strokeStyle = style.getPropertyValue("--accent");
  context.globalAlpha = 0.35;
  context.strokeRect(
    x(0),
    y(chosen.r),
    source.columns.length * sight.cell,
    Math.max(1, sight.cell),
  );
  context.strokeRect(x(chosen.c), y(0), Math.max(1, sight.cell), source.rows.length * sight.cell);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  const grow = Math.max(0, 5 - sight.cell) / 2;
  context.strokeRect(
    x(chosen.c) - grow,
    y(chosen.r) - grow,
    sight.cell + 2 * grow,
    sight.cell + 2 * grow,
  );
  context.restore();
}

/** @param {Pane} pane @param {Drawing} drawing */
function drawFrame(pane, { context, style, x, y }) {
  const source = /** @type {Source} */ (pane.source);
  const { margins } = pane;
  const [left, top] = [Math.max(margins.left, x(0)), Math.max(margins.top, y(0))];
  context.strokeStyle = style.getPropertyValue("--line");
  context.lineWidth = 1;
  context.strokeRect(
    left - 0.5,
    top - 0.5,
    x(source.columns.length) - left + 1,
    y(source.rows.length) - top + 1,
  );
}

/** @param {Pane} pane @param {Drawing} drawing */
function drawLabels(pane, { context, style, x, y }) {
  const source = /** @type {Source} */ (pane.source);
  const { sight, margins, element, chosen } = pane;
  const size = Math.min(13, sight.cell * 0.85);
  const room = pane.labelRoom(element.clientWidth < 500);
  const ink = style.getPropertyValue("--ink");
  const accent = style.getPropertyValue("--accent");
  const font = (/** @type {boolean} */ bold) =>
    `${bold ? "600 " : ""}${size}px ${style.fontFamily}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  const last = pane.at(element.clientWidth, element.clientHeight);
  for (let r = Math.max(0, Math.floor(sight.top)); r < Math.min(source.rows.length, last.r); r++) {
    if (y(r + 0.5) < margins.top) continue;
    context.font = font(r === chosen.r);
    context.fillStyle = r === chosen.r ? accent : ink;
    context.fillText(
      cut(context, source.rows[r].label, room.left - 10),
      margins.left - 6,
      y(r + 0.5),
    );
  }
  context.textAlign = "left";
  for (
    let c = Math.max(0, Math.floor(sight.left));
    c < Math.min(source.columns.length, last.c);
    c++
  ) {
    if (x(c + 0.5) < margins.left) continue;
    context.save();
    context.translate(x(c + 0.5), margins.top - 6);
    context.rotate(-Math.PI / 2);
    context.font = font(c === chosen.c);
    context.fillStyle = c === chosen.c ? accent : ink;
    context.fillText(cut(context, source.columns[c].label, room.top - 10), 0, 0);
    context.restore();
  }
}

/** A label, cut to what there is room for. @param {CanvasRenderingContext2D} context
 * @param {string} label @param {number} width */
function cut(context, label, width) {
  const text = shown(label, 40);
  if (context.measureText(text).width <= width) return text;
  for (let most = Math.min(39, label.length - 1); most > 1; most--) {
    const shorter = shown(label, most);
    if (context.measureText(shorter).width <= width) return shorter;
  }
  return "…";
}
