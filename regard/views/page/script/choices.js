// What can be done with a row that is chosen in the first view: where to go from it, and which head
// it is of.

import { make } from "./dom.js";
import { phrase, t } from "./language.js";
import { head, isDerived, layer, nameOf, subject } from "./model.js";
import { moveHead } from "./move.js";
import { choose } from "./state.js";
import { named } from "./telling.js";
import { mask } from "./whatif.js";
/** @import {Account} from "./telling.js" */

/** What to do next. @param {Account} found
 * @param {string} all how the view of all rows is called */
export function nextOf({ link, to }, all) {
  const act = (/** @type {any} */ text, /** @type {() => void} */ run, main = false) =>
    make("button", { type: "button", class: main ? "strong" : false, on: { click: run } }, text);
  const heads = subject().layers.flatMap((l) => l.heads).length;
  return [
    act(t("How is it computed?"), () => choose({ view: "steps" }), true),
    link && !isDerived()
      ? act(phrase("What if {word} were hidden?", { word: named(link.unit, to, 20) }), () =>
          mask(...link.unit.tokens),
        )
      : null,
    heads > 1
      ? act(t("Which heads link them?"), () => choose({ view: "overview", sort: "link" }))
      : null,
    act(all, () => choose({ view: "head" })),
  ];
}

/** Which head it is, and the way to others. @param {string} hint how to choose another row */
export function whichOf(hint) {
  const count = layer().heads.length;
  const step = (
    /** @type {string} */ sign,
    /** @type {string} */ label,
    /** @type {number} */ by,
  ) =>
    make(
      "button",
      {
        type: "button",
        class: "step-button",
        "aria-label": label,
        title: label,
        on: { click: () => moveHead(by) },
      },
      sign,
    );
  return [
    make("span", {}, nameOf(head())),
    count > 1
      ? [step("‹", t("The head before ([)"), -1), step("›", t("The head after (])"), 1)]
      : null,
    make("span", { class: "hint" }, hint),
  ];
}
