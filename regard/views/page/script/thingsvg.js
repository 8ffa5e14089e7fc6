// The thing as one SVG picture, with the weights of the chosen piece on it.

import { svg } from "./dom.js";
/** @import {Pieces} from "./thingstage.js" */

/** @param {Pieces} pieces @param {string} told @returns {SVGElement} */
export function thingSvg(pieces, told) {
  const style = getComputedStyle(pieces.element);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const { width, height, left, top } = pieces.field.getBoundingClientRect();
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const boxes = pieces.all.filter((piece) => piece.classList.contains("box"));
  const [first] = pieces.behind.children;
  const area = { width: w, height: h };
  const behind =
    first instanceof HTMLImageElement
      ? svg("image", { ...area, href: first.src, preserveAspectRatio: "none" })
      : first.cloneNode(true);
  if (!(first instanceof HTMLImageElement)) {
    for (const [name, value] of Object.entries(area)) behind.setAttribute(name, value);
    [...behind.children].forEach((path, i) => {
      path.setAttribute("stroke", getComputedStyle(first.children[i]).stroke);
      path.setAttribute("vector-effect", "non-scaling-stroke");
    });
  }
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
  const said = { x: 0, y: h + 24, "font-family": "system-ui, sans-serif", "font-size": 15 };
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
