// On paper a view is its picture, light and whole; the steps are a text already.

import { make, put } from "./dom.js";
import { head, model } from "./model.js";
import { state } from "./state.js";
import { view } from "./views.js";

/** @type {any} */
let sheet;

export function buildPaper() {
  sheet = make("div", { class: "print-only" });
  return sheet;
}

/** @param {() => void} redraw */
export function listenToPrinter(redraw) {
  addEventListener("beforeprint", () => before(redraw));
  addEventListener("afterprint", () => after(redraw));
}

/** @param {() => void} redraw */
function before(redraw) {
  if (!model.subjects.length || !head().isReady) return;
  const { dataset } = document.documentElement;
  dataset.before = dataset.theme ?? "";
  dataset.theme = "light";
  if (state.view === "steps") return redraw();
  put(sheet, view().svg());
  dataset.printing = "";
}

/** @param {() => void} redraw */
function after(redraw) {
  const { dataset } = document.documentElement;
  if (dataset.before === undefined) return;
  if (dataset.before) dataset.theme = dataset.before;
  else delete dataset.theme;
  delete dataset.before;
  delete dataset.printing;
  put(sheet);
  redraw();
}
