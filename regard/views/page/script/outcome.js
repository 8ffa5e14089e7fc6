// What a model puts out, before and after a change, side by side: probable words or labels, a text,
// or how far the vector of the sentence has turned.

import { make, number, tableHead, tokenText } from "./dom.js";
import { t } from "./language.js";
import { pairsOf } from "./pairs.js";
/** @import {Unit} from "./picture.js" */

/**
 * @typedef {{word: string, probability: number}} Said
 * @typedef {{kind: string, predictions?: Said[], text?: string, cosine?: number,
 *   reason?: string}} Outcome
 * @typedef {{before: Outcome, after?: Outcome}} Outcomes
 */

const SHOWN = 5;

/** @param {Outcomes} outcomes */
export function outcomeTable({ before, after }) {
  if (before.reason) return make("p", { class: "quiet" }, before.reason);
  if (before.predictions) return words(before.predictions, after?.predictions);
  if (before.text !== undefined) return texts(before.text, after?.text);
  return cosine(after?.cosine);
}

/** @param {Said[]} before @param {Said[]} [after] */
function words(before, after) {
  const all = [...(after ?? []).slice(0, SHOWN), ...before.slice(0, SHOWN)];
  const rows = [...new Set(all.map(({ word }) => word))];
  const most = Math.max(...all.map(({ probability }) => probability), 1e-9);
  const of = (/** @type {Said[]} */ said, /** @type {string} */ word) =>
    said.find((one) => one.word === word)?.probability;
  const bar = (/** @type {string} */ kind, /** @type {number | undefined} */ p) =>
    make(
      "td",
      { class: `outcome-bar ${kind}` },
      make("span", { style: { width: `${(60 * (p ?? 0)) / most}%` } }),
      make("small", {}, p === undefined ? t("less") : number(p, 3)),
    );
  const row = (/** @type {string} */ word) => {
    const [was, is] = [of(before, word), after && of(after, word)];
    const change = was === undefined || is === undefined ? "" : signed(is - was);
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, tokenText(word.replaceAll("▁", " ").trim() || word, 20)),
      bar("was", was),
      after ? bar("now", is) : null,
      after ? make("td", { class: "outcome-change" }, change) : null,
    );
  };
  const columns = [t("word"), t("before"), ...(after ? [t("after"), t("change")] : [])];
  return make(
    "table",
    { class: "outcome plain" },
    make("caption", {}, t("What the model predicts, with probabilities")),
    tableHead(columns),
    make("tbody", {}, rows.map(row)),
  );
}

/** @param {number} value */
function signed(value) {
  return `${value < 0 ? "" : "+"}${number(value, 3)}`;
}

/** @param {string} before @param {string} [after] */
function texts(before, after) {
  const side = (/** @type {string} */ name, /** @type {any} */ said) =>
    make("div", { class: "outcome-text" }, make("small", {}, name), make("p", {}, said));
  if (after === undefined) return side(t("What the model writes"), tokenText(before, 4000));
  return make(
    "div",
    { class: "outcome outcome-texts" },
    side(t("before"), tokenText(before, 4000)),
    side(t("after"), before === after ? [tokenText(after, 4000)] : marked(before, after)),
    before === after ? make("p", { class: "quiet" }, t("The same text.")) : null,
  );
}

/** The words of `after`, marked where they are not those of `before`. @param {string} before
 * @param {string} after */
function marked(before, after) {
  const [old, now] = [before, after].map((text) => text.split(/\s+/).filter(Boolean));
  const units = (/** @type {string[]} */ list) =>
    list.map((label) => /** @type {Unit} */ (/** @type {any} */ ({ label })));
  const pairs = new Map(pairsOf(units(now), units(old)));
  return now.map((word, i) => {
    const other = pairs.get(i);
    const isSame = other !== undefined && old[other] === word;
    return [isSame ? tokenText(word) : make("mark", {}, tokenText(word)), " "];
  });
}

/** @param {number} [value] */
function cosine(value) {
  if (value === undefined)
    return make(
      "p",
      { class: "quiet" },
      t("This model puts out a vector of the sentence. Change something, and see how it turns."),
    );
  return make(
    "table",
    { class: "outcome plain" },
    make("caption", {}, t("The vector of the sentence: its cosine with the unchanged one")),
    tableHead([t("before"), t("after"), t("change")]),
    make(
      "tbody",
      {},
      make(
        "tr",
        {},
        ...["1.0000", number(value, 4), signed(value - 1)].map((said) => make("td", {}, said)),
      ),
    ),
  );
}
