// Maps as SVG pictures with their text as text.

import { css, isDark, lookup, place, placeBothWays } from "./colour.js";
import { exact, shown, svg } from "./dom.js";
import { state } from "./state.js";
/** @import {Pane} from "./pane.js" */
/** @import {Unit} from "./picture.js" */

/** Cells as rectangles and tokens as text; a large map as a picture inside.
 * @param {string} name @param {Unit[]} rows @param {Unit[]} columns
 * @param {(r: number) => Float32Array} rowOf @param {Pane} shownBy @returns {SVGElement} */
export function matrixSvg(name, rows, columns, rowOf, shownBy) {
  if (rows.length * columns.length > 20000) return pictureSvg(name, shownBy);
  const signed = Boolean(shownBy.source?.signed);
  const table = lookup(signed ? "both" : state.palette, isDark());
  const cell = 18;
  const [left, top] = [120, 100];
  const ink = isDark() ? "#e8e8ea" : "#1c1d21";
  const text = { fill: ink, "font-family": "system-ui, sans-serif", "font-size": 12 };
  const cells = [];
  for (let r = 0; r < rows.length; r++) {
    const row = rowOf(r);
    for (let c = 0; c < columns.length; c++) {
      const at = signed
        ? placeBothWays(row[c], shownBy.most)
        : place(row[c], shownBy.most, shownBy.isLog);
      cells.push(
        svg(
          "rect",
          {
            x: left + c * cell,
            y: top + r * cell,
            width: cell,
            height: cell,
            fill: css(table, at),
          },
          svg(
            "title",
            {},
            `${shown(rows[r].label)} → ${shown(columns[c].label)}: ${exact(row[c])}`,
          ),
        ),
      );
    }
  }
  const [width, height] = [left + columns.length * cell + 8, top + rows.length * cell + 8];
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svg("title", {}, name),
    svg("rect", { width: "100%", height: "100%", fill: isDark() ? "#16181d" : "#ffffff" }),
    cells,
    rows.map((unit, r) =>
      svg(
        "text",
        { ...text, x: left - 6, y: top + (r + 0.5) * cell + 4, "text-anchor": "end" },
        shown(unit.label, 18),
      ),
    ),
    columns.map((unit, c) =>
      svg(
        "text",
        { ...text, transform: `translate(${left + (c + 0.5) * cell + 4} ${top - 6}) rotate(-90)` },
        shown(unit.label, 14),
      ),
    ),
  );
}

/** @param {string} name @param {Pane} shownBy */
function pictureSvg(name, shownBy) {
  const canvas = shownBy.toCanvas();
  const [width, height] = [shownBy.element.clientWidth, shownBy.element.clientHeight];
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svg("title", {}, name),
    svg("image", { width, height, href: canvas.toDataURL() }),
  );
}

/** Pictures side by side, each with its title over it. @param {[string, SVGElement][]} pictures */
export function besideSvg(pictures) {
  const size = (/** @type {SVGElement} */ one, /** @type {string} */ name) =>
    Number(one.getAttribute(name));
  const height = 28 + Math.max(...pictures.map(([, one]) => size(one, "height")));
  let x = 0;
  const placed = pictures.map(([title, one]) => {
    one.setAttribute("x", String(x));
    one.setAttribute("y", "28");
    const made = [
      svg(
        "text",
        {
          x: x + 12,
          y: 20,
          fill: isDark() ? "#e8e8ea" : "#1c1d21",
          "font-family": "system-ui, sans-serif",
          "font-size": 13,
          "font-weight": 600,
        },
        title,
      ),
      one,
    ];
    x += size(one, "width") + 16;
    return made;
  });
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width: x, height, viewBox: `0 0 ${x} ${height}` },
    svg("rect", { width: "100%", height: "100%", fill: isDark() ? "#16181d" : "#ffffff" }),
    placed,
  );
}
