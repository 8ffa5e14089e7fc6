// What a model says about a text: a translation, the likeliest next words, a likeness; and before
// it, if something was wished, what it said without that.

import { make, number, put, tokenText } from "./dom.js";
import { phrase, t } from "./language.js";
/** @import {Look} from "./network/runner.js" */

/** @typedef {{word: string, probability: number}[]} Next */

/** Of the next words, so many are drawn. */
const SHOWN = 5;

/** @param {Element} element @param {Look} look @param {Look | null} before */
export function tellResult(element, look, before) {
  if (Array.isArray(look.output)) return put(element, nextWords(look.output, before?.output));
  const isSame = before?.output === look.output;
  put(
    element,
    make("p", { class: "live-now" }, tokenText(look.output, 4000)),
    before &&
      make(
        "p",
        { class: "live-before" },
        phrase(isSame ? "The same without it: {text}" : "Without it: {text}", {
          text: tokenText(before.output, 4000),
        }),
      ),
  );
}

/** The likeliest next words with their probabilities, and those that they had before.
 * @param {Next} next @param {Next} [before] */
function nextWords(next, before) {
  const most = Math.max(...[...next, ...(before ?? [])].map((one) => one.probability));
  const bar = (/** @type {string} */ kind, /** @type {number} */ probability) =>
    make(
      "span",
      { class: `next-bar ${kind}` },
      make("span", { style: { width: `${(100 * probability) / most}%` } }),
      make("small", {}, probability ? number(probability, 3) : t("less")),
    );
  return make(
    "table",
    { class: "next-words" },
    make(
      "caption",
      {},
      t(before ? "What comes next; the lower bar is without what you changed" : "What comes next"),
    ),
    make(
      "tbody",
      {},
      next.slice(0, SHOWN).map(({ word, probability }) => {
        const old = before?.find((one) => one.word === word)?.probability ?? 0;
        return make(
          "tr",
          {},
          make("th", { scope: "row" }, tokenText(word.replaceAll("▁", "") || word, 24)),
          make("td", {}, bar("now", probability), before ? bar("was", old) : null),
        );
      }),
    ),
  );
}
