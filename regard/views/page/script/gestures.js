// What a pane listens to: the wheel and two fingers zoom it, a drag moves it, a click and the arrow
// keys choose a cell.

/** @import {Pane} from "./pane.js" */

/** @param {Pane} pane */
export function listenToGestures(pane) {
  const { element } = pane;
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;
  const point = (/** @type {any} */ e) => {
    const box = element.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  element.addEventListener(
    "wheel",
    (/** @type {WheelEvent} */ e) => {
      e.preventDefault();
      const { x, y } = point(e);
      pane.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0022)), x, y);
    },
    { passive: false },
  );
  element.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    element.setPointerCapture(e.pointerId);
    down.set(e.pointerId, point(e));
    moved = 0;
  });
  element.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    const here = point(e);
    const before = down.get(e.pointerId);
    if (!before) return pane.hover(here.x, here.y);
    moved += Math.abs(here.x - before.x) + Math.abs(here.y - before.y);
    const others = [...down].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    if (others.length) {
      const [other] = others;
      const far = (/** @type {any} */ p) => Math.hypot(p.x - other.x, p.y - other.y);
      pane.zoom(
        far(here) / Math.max(1, far(before)),
        (here.x + other.x) / 2,
        (here.y + other.y) / 2,
      );
    } else if (moved > 4) {
      const { sight } = pane;
      pane.setSight(
        pane.held({
          ...sight,
          left: sight.left - (here.x - before.x) / sight.cell,
          top: sight.top - (here.y - before.y) / sight.cell,
        }),
      );
    }
    down.set(e.pointerId, here);
  });
  const up = (/** @type {PointerEvent} */ e) => {
    const here = point(e);
    if (down.delete(e.pointerId) && moved <= 4 && e.type === "pointerup") pane.pick(here.x, here.y);
  };
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("pointerleave", () => {
    pane.tip.hidden = true;
  });
  element.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => press(pane, e));
}

/** @param {Pane} pane @param {KeyboardEvent} event */
function press(pane, event) {
  const { source, chosen, sight } = pane;
  if (!source || event.ctrlKey || event.metaKey || event.altKey) return;
  const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[
    event.key
  ];
  if (way && event.shiftKey) {
    const step = 60 / sight.cell;
    pane.setSight(
      pane.held({ ...sight, left: sight.left + way[1] * step, top: sight.top + way[0] * step }),
    );
  } else if (way) {
    const r = Math.max(0, Math.min(source.rows.length - 1, chosen.r + way[0]));
    const c = Math.max(0, Math.min(source.columns.length - 1, chosen.c + way[1]));
    pane.options.onpick(r, c);
    pane.reveal(r, c);
  } else if (event.key === "+" || event.key === "=") pane.zoom(1.5);
  else if (event.key === "-") pane.zoom(1 / 1.5);
  else if (event.key === "0") pane.fit();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
