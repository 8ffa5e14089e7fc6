// The keyboard: everything can be done with it, and ? says how.

import { make } from "./dom.js";
import { t } from "./language.js";
import { model } from "./model.js";
import { moveHead, moveKey, moveLayer, moveQuery } from "./move.js";
import { strongest } from "./headlinks.js";
import { palettes } from "./colour.js";
import { toggle } from "./reading.js";
import { choose, state } from "./state.js";
import { VIEWS } from "./views.js";
import { mask, takeBack } from "./whatif.js";

/** Keys and what they do. @returns {[string, string][]} */
function help() {
  return [
    [`1 … ${VIEWS.length}`, VIEWS.map(({ title }) => title()).join(t(", "))],
    ["↑ ↓", t("the token before, after (that attends)")],
    ["← →", t("the token before, after (attended to); in Sentence, the word before, after")],
    ["[ ]", t("the head before, after")],
    ["{ }", t("the layer before, after")],
    ["g", t("the head with the strongest link between the two tokens")],
    ["/", t("find a token")],
    ["w", t("subwords or words")],
    ["s", t("sinks: first and special tokens shown or hidden")],
    ["l", t("linear or logarithmic colours")],
    ["c", t("other colours")],
    ["a", t("lines of all tokens or of the chosen one")],
    ["m", t("what if: mask the token attended to")],
    ["r", t("back to the model's own numbers")],
    ["+ − 0", t("in the map: zoom in, out, show all; Shift with arrows moves it")],
    [t("Space"), t("in Reading: play, pause")],
    ["t", t("the numbers as a table")],
    ["e", t("export and copy")],
    ["d", t("dark or light")],
    ["?", t("this help")],
  ];
}

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
    make("h2", { id: "help-title" }, t("Keyboard")),
    make(
      "dl",
      {},
      help().map(([key, what]) =>
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
      t("Tab goes from part to part. In lists and grids the arrow keys move inside."),
    ),
    make("label", { class: "check" }, off, t("Keys work without Ctrl or Alt")),
    make(
      "button",
      { type: "button", class: "strong", on: { click: () => dialog.close() } },
      t("Close"),
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
  ArrowLeft: () => (state.view === "sentence" ? moveQuery(-1) : moveKey(-1)),
  ArrowRight: () => (state.view === "sentence" ? moveQuery(1) : moveKey(1)),
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
