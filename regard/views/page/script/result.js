// What a model says: a translation, the likeliest next words, a likeness, what an image shows; and
// before it, if something was wished, what it said without that.

import { make, number, put, tokenText } from "./dom.js";
import { phrase, t } from "./language.js";
/** @import {Look} from "./network/runner.js" */

/** @typedef {{word: string, probability: number}[]} Next */

/** Of the next words, so many are drawn. */
const SHOWN = 5;

/** @param {Element} element @param {Look} look @param {Look | null} before
 * @param {Look | null} [beside] of the sentence that it is compared with */
export function tellResult(element, look, before, beside = null) {
  if (typeof look.output[0] === "number") return put(element, likeness(look, before, beside));
  if (Array.isArray(look.output))
    return put(element, likeliest(look.output, before?.output, captionOf(look, before)));
  const isSame = before?.output === look.output;
  put(
    element,
    make("p", { class: "live-now" }, tokenText(look.output, 4000)),
    before &&
      make(
        "p",
        { class: "live-before" },
        isSame
          ? phrase("The same without it: {text}", { text: tokenText(before.output, 4000) })
          : phrase("Without it: {text}", { text: tokenText(before.output, 4000) }),
      ),
  );
}

/** How alike two sentences are to the model: the cosine of their vectors. @param {Look} look
 * @param {Look | null} before @param {Look | null} beside */
function likeness(look, before, beside) {
  if (!beside) return null;
  const cosine = (/** @type {Look} */ one) =>
    number(
      one.output.reduce(
        (/** @type {number} */ sum, /** @type {number} */ value, /** @type {number} */ c) =>
          sum + value * beside.output[c],
        0,
      ),
      3,
    );
  return [
    make("p", { class: "live-now" }, t("Likeness of the two: {value}", { value: cosine(look) })),
    before &&
      make("p", { class: "live-before" }, t("Without it: {text}", { text: cosine(before) })),
  ];
}

/** @param {Look} look @param {Look | null} before */
function captionOf({ pixels }, before) {
  if (pixels)
    return before
      ? t("What the image shows; the lower bar is without what you changed")
      : t("What the image shows");
  return before
    ? t("What comes next; the lower bar is without what you changed")
    : t("What comes next");
}

/** Words or labels with their probabilities, and those that they had before.
 * @param {Next} next @param {Next | undefined} before @param {string} caption */
function likeliest(next, before, caption) {
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
    make("caption", {}, caption),
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
