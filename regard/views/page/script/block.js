// A step as a block: its mark, its name, its formula, what it means, and what is in it.

import { make, tableHead, tokenText } from "./dom.js";
import { formula } from "./formula.js";
import { t } from "./language.js";
import { tokenOf } from "./model.js";
import { choose, state } from "./state.js";
/** @import {Focus} from "./steps.js" */

/**
 * @param {string} mark
 * @param {string} name
 * @param {string} kind
 * @param {string} meaning
 * @param {...any} content
 */
export function step(mark, name, kind, meaning, ...content) {
  return stepBy(kind, mark, name, kind, meaning, ...content);
}

/** A step with a formula of another name. @param {string} by @param {string} mark
 * @param {string} name
 * @param {string} kind @param {string} meaning @param {...any} content */
export function stepBy(by, mark, name, kind, meaning, ...content) {
  return make(
    "section",
    { class: "step", "data-step": kind },
    make(
      "header",
      {},
      make("span", { class: "step-mark" }, mark),
      make("h3", {}, name),
      formula(by),
    ),
    make("p", { class: "quiet" }, meaning),
    ...content,
  );
}

/** A table with a row for each key that is shown. @param {Focus} focus @param {string[]} columns
 * @param {(j: number) => any[]} cells */
export function keyTable(focus, columns, cells) {
  const { rows, to, of } = focus;
  const hidden = of.keys - rows.length;
  const made = rows.map((j) =>
    make(
      "tr",
      { class: j === state.key ? "chosen" : "", on: { click: () => choose({ key: j }) } },
      make("th", { scope: "row" }, tokenText(tokenOf(to, j), 24)),
      cells(j).map((cell) => make("td", {}, cell)),
    ),
  );
  return make(
    "div",
    { class: "table-box" },
    make("table", { class: "keys" }, tableHead([t("token"), ...columns]), make("tbody", {}, made)),
    hidden > 0 || state.every
      ? make(
          "button",
          {
            type: "button",
            class: "link-button",
            "data-focus": `all ${columns.join()}`,
            on: { click: () => choose({ every: !state.every }) },
          },
          state.every ? t("Show the strongest only") : t("Show all {n} tokens", { n: of.keys }),
        )
      : null,
  );
}
