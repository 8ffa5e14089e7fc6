// The thing as one SVG picture, with the weights of the chosen piece on it.

import { svg } from "./dom.js";
/** @import {Pieces} from "./thingstage.js" */

const TEXT = { "font-family": "system-ui, sans-serif", "font-size": 15 };

/** @param {Pieces} pieces @param {string} told @returns {SVGElement} */
export function thingSvg(pieces, told) {
  const style = getComputedStyle(pieces.element);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const { width, height, left, top } = pieces.behind.getBoundingClientRect();
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const boxes = pieces.all.filter((piece) => piece.classList.contains("box"));
  const [first] = pieces.behind.children;
  const area = { width: w, height: h };
  const behind = behindOf(first, area, colour("--ink"));
  const rects = boxes.map((box) => {
    const at = box.getBoundingClientRect();
    return svg("rect", {
      ...{ x: at.left - left, y: at.top - top, width: at.width, height: at.height },
      fill: colour("--heat"),
      "fill-opacity": 0.72 * Number(box.style.getPropertyValue("--weight") || 0),
      ...(box.classList.contains("chosen")
        ? { stroke: colour("--chosen"), "stroke-width": 3 }
        : {}),
    });
  });
  const said = { x: 0, y: h + 24, ...TEXT };
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width: Math.max(w, 480), height: h + 36 },
    svg("title", {}, told),
    svg("rect", { width: "100%", height: "100%", fill: colour("--back") }),
    behind,
    rects,
    svg("text", { ...said, fill: colour("--ink") }, told),
  );
}

/** What is drawn behind the pieces.
 * @param {any} first @param {{width: number, height: number}} area @param {string} ink */
function behindOf(first, area, ink) {
  if (first instanceof HTMLImageElement)
    return svg("image", { ...area, href: first.src, preserveAspectRatio: "none" });
  if (first instanceof HTMLElement) return listOf(first, area.height, ink);
  const behind = first.cloneNode(true);
  for (const [name, value] of Object.entries(area)) behind.setAttribute(name, value);
  [...behind.children].forEach((path, i) => {
    const drawn = getComputedStyle(first.children[i]);
    path.setAttribute("stroke", drawn.stroke);
    path.setAttribute("stroke-dasharray", drawn.strokeDasharray);
    path.setAttribute("vector-effect", "non-scaling-stroke");
  });
  return behind;
}

/** The texts of a list, each where it stands. @param {HTMLElement} list @param {number} height
 * @param {string} ink */
function listOf(list, height, ink) {
  const rows = [...list.children];
  const from = list.getBoundingClientRect();
  const texts = rows.flatMap((row, i) =>
    [...row.children].map((cell) => {
      const x = cell.getBoundingClientRect().left - from.left;
      const y = ((i + 0.7) * height) / rows.length;
      return svg("text", { x, y, fill: ink, ...TEXT }, cell.textContent);
    }),
  );
  return svg("g", {}, texts);
}
