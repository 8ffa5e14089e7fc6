// All heads of the overview as one SVG picture, with their names as text.

import { isDark } from "./colour.js";
import { svg } from "./dom.js";

/** @param {Element} grid of cards, as they are shown @returns {SVGElement} */
export function overviewSvg(grid) {
  const [cell, step, name] = [66, 84, 110];
  const rows = [...grid.querySelectorAll(".heads-row")];
  const most = 12; // in a row that has no end of its own
  const text = {
    fill: isDark() ? "#e8e8ea" : "#1c1d21",
    "font-family": "system-ui, sans-serif",
    "font-size": 11,
  };
  /** @type {any[]} */
  const made = [];
  let [top, wide] = [8, 0];
  for (const row of rows) {
    const layer = row.querySelector(".heads-layer")?.textContent ?? "";
    const shownCards = [...row.querySelectorAll(".card")];
    const across = layer ? shownCards.length : most;
    made.push(svg("text", { ...text, x: 8, y: top + cell / 2, "font-size": 12 }, layer));
    shownCards.forEach((card, i) => {
      const [canvas, number, kind, entropy] = /** @type {any} */ (card.children);
      const [x, y] = [
        (layer ? name : 8) + (i % across) * step,
        top + Math.floor(i / across) * (cell + 38),
      ];
      made.push(
        svg("image", {
          x,
          y,
          width: cell,
          height: cell,
          preserveAspectRatio: "none",
          style: { "image-rendering": "pixelated" },
          href: canvas.toDataURL(),
        }),
        svg("text", { ...text, x, y: y + cell + 13, "font-weight": 600 }, number.textContent),
        svg(
          "text",
          { ...text, x: x + cell, y: y + cell + 13, "text-anchor": "end" },
          entropy.textContent,
        ),
        svg("text", { ...text, x, y: y + cell + 26 }, kind.textContent),
      );
      wide = Math.max(wide, x + cell + 10);
    });
    top += Math.ceil(shownCards.length / Math.max(1, across)) * (cell + 38);
  }
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width: wide,
      height: top,
      viewBox: `0 0 ${wide} ${top}`,
    },
    svg("rect", { width: "100%", height: "100%", fill: isDark() ? "#16181d" : "#ffffff" }),
    made,
  );
}
