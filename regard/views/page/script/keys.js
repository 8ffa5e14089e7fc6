// The keyboard: everything can be done with it, and ? says how.

import { make } from "./dom.js";
import { model } from "./model.js";
import { moveHead, moveKey, moveLayer, moveQuery } from "./move.js";
import { strongest } from "./overview.js";
import { palettes } from "./colour.js";
import { toggle } from "./reading.js";
import { choose, state } from "./state.js";
import { VIEWS } from "./views.js";
import { mask, takeBack } from "./whatif.js";

/** @type {[string, string][]} */
const HELP = [
  ["1 … 6", "Overview, Head, Map, Steps, Reading, Compare"],
  ["↑ ↓", "the token before, after (that attends)"],
  ["← →", "the token before, after (attended to)"],
  ["[ ]", "the head before, after"],
  ["{ }", "the layer before, after"],
  ["g", "the head with the strongest link between the two tokens"],
  ["/", "find a token"],
  ["w", "subwords or words"],
  ["s", "sinks: first and special tokens shown or hidden"],
  ["l", "linear or logarithmic colours"],
  ["c", "other colours"],
  ["a", "lines of all tokens or of the chosen one"],
  ["m", "what if: mask the token attended to"],
  ["r", "back to the model's own numbers"],
  ["+ − 0", "in the map: zoom in, out, show all; Shift with arrows moves it"],
  ["Space", "in Reading: play, pause"],
  ["t", "the numbers as a table"],
  ["e", "export and copy"],
  ["d", "dark or light"],
  ["?", "this help"],
];

/** @type {any} */
let dialog;
let single = true;

export function buildHelp() {
  const off = make("input", {
    type: "checkbox",
    on: {
      change: () => {
        single = off.checked;
      },
    },
  });
  off.checked = single;
  dialog = make(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    make("h2", { id: "help-title" }, "Keyboard"),
    make(
      "dl",
      {},
      HELP.map(([key, what]) =>
        make(
          "div",
          {},
          make(
            "dt",
            {},
            key.split(" ").map((k) => (k === "…" ? " … " : make("kbd", {}, k))),
          ),
          make("dd", {}, what),
        ),
      ),
    ),
    make(
      "p",
      { class: "quiet" },
      "Tab goes from part to part. In lists and grids the arrow keys move inside.",
    ),
    make("label", { class: "check" }, off, "Keys work without Ctrl or Alt"),
    make(
      "button",
      { type: "button", class: "strong", on: { click: () => dialog.close() } },
      "Close",
    ),
  );
  return dialog;
}

export function showHelp() {
  dialog.showModal();
}

function nextPalette() {
  const names = palettes().map(([name]) => name);
  return names[(names.indexOf(state.palette) + 1) % names.length];
}

/** @type {Object<string, () => void>} */
const ACTS = {
  ArrowUp: () => moveQuery(-1),
  ArrowDown: () => moveQuery(1),
  ArrowLeft: () => moveKey(-1),
  ArrowRight: () => moveKey(1),
  "[": () => moveHead(-1),
  "]": () => moveHead(1),
  "{": () => moveLayer(-1),
  "}": () => moveLayer(1),
  g: () => void strongest(),
  "/": () => document.getElementById("find")?.focus(),
  w: () => choose({ words: !state.words }),
  s: () => choose({ sinks: !state.sinks }),
  l: () => choose({ scale: state.scale === "log" ? "linear" : "log" }),
  c: () => choose({ palette: nextPalette() }),
  a: () => choose({ all: !state.all }),
  m: () => mask(state.key),
  r: takeBack,
  "?": showHelp,
};

/** @param {Object<string, () => void>} more what the page itself does by key */
export function listenToKeys(more) {
  const acts = { ...ACTS, ...more };
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      document.querySelector("dialog[open]") ||
      !model.subjects.length
    )
      return;
    if (target.matches("input:not([type=checkbox], [type=range]), textarea, select")) return;
    const isArrow = event.key.startsWith("Arrow");
    if (isArrow && target.matches("input, [role=tab], [role=gridcell], summary")) return;
    if (
      event.key === " " &&
      !target.matches("button, input, summary, [role=gridcell], a") &&
      state.view === "reading"
    ) {
      event.preventDefault();
      return toggle();
    }
    const digit = Number(event.key);
    if (!single && !isArrow) return;
    if (digit >= 1 && digit <= VIEWS.length) return choose({ view: VIEWS[digit - 1].name });
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
