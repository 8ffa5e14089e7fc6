// The stage as one SVG picture with its text as text.

import { toText } from "./arcs.js";
import { svg } from "./dom.js";
/** @import {Arcs} from "./arcs.js" */
/** @import {Stage} from "./stage.js" */

/** @param {Stage} stage @param {Arcs[]} arcs @param {string} told @returns {SVGElement} */
export function stageSvg(stage, arcs, told) {
  const style = getComputedStyle(stage.element);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const { width, height } = stage.element.getBoundingClientRect();
  const words = stage.words.flatMap((word) => wordSvg(stage, word, colour));
  const lines = arcs
    .flatMap(({ drawn }) => [...drawn.values()])
    .map(({ now }) =>
      svg("path", {
        d: toText(now.path),
        fill: "none",
        stroke: colour({ faded: "--quiet", pale: "--line" }[now.kind] ?? "--accent"),
        "stroke-width": now.width.toFixed(2),
        "stroke-opacity": now.opacity.toFixed(3),
        "stroke-linecap": "round",
      }),
    );
  const [w, h] = [Math.ceil(width), Math.ceil(height) + 48];
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width: w, height: h, viewBox: `0 0 ${w} ${h}` },
    svg("title", {}, told),
    svg("rect", { width: "100%", height: "100%", fill: colour("--back") }),
    lines,
    words,
    text(told, w / 2, h - 16, 16, colour("--ink")),
  );
}

/** @param {Stage} stage @param {HTMLElement} word @param {(name: string) => string} colour */
function wordSvg(stage, word, colour) {
  const box = stage.boxes.get(word.id);
  if (!box) return [];
  const { chosen, best } = Object.fromEntries([...word.classList].map((name) => [name, true]));
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const size = parseFloat(getComputedStyle(word).fontSize);
  const ink = chosen ? "--on-accent" : best ? "--accent" : "--ink";
  const made = [text(word.textContent ?? "", x, y + 0.35 * size, size, colour(ink))];
  const { left, top, right, bottom } = box;
  const plate = { x: left, y: top, width: right - left, height: bottom - top, rx: 6 };
  if (chosen) made.unshift(svg("rect", { ...plate, fill: colour("--accent") }));
  if (word.dataset.share) {
    const under = !stage.isFacing;
    const at = under ? bottom + 0.6 * size : top - 0.3 * size;
    made.push(text(word.dataset.share, x, at, 0.5 * size, colour("--accent")));
  }
  return made;
}

/** @param {string} said @param {number} x @param {number} y @param {number} size
 * @param {string} fill */
function text(said, x, y, size, fill) {
  const font = { "font-family": "system-ui, sans-serif", "font-size": size.toFixed(1) };
  return svg("text", { x, y, "text-anchor": "middle", fill, ...font }, said);
}
