// What a row of weights says, in words.

import { make, tokenText } from "./dom.js";
import { phrase, t } from "./language.js";
import { isDerived, layer, textsOf } from "./model.js";
/** @import {Text} from "./data.js" */
/** @import {Picture, Unit} from "./picture.js" */

/**
 * What a row looks at: words, strongest first; itself; and marks, which are no words.
 * @typedef {{unit: Unit, weight: number}} Look
 * @typedef {{row: Unit, words: Look[], own: number, marks: Look[],
 *   link: Look | undefined, from: Text, to: Text}} Account the link is the one that is spoken of
 */

const LEAST = 0.01; // of the weight: less is not told

/** @param {Picture} of @param {number} r @param {number} [key] a token of the link; else it is the
 * strongest to a word @returns {Account} */
export function account(of, r, key = -1) {
  const [from, to] = textsOf(layer());
  const special = new Set(to.special);
  const weights = of.row(r);
  const looks = of.columns.map((unit, c) => ({ unit, weight: weights[c] }));
  const sorted = looks.sort((a, b) => b.weight - a.weight);
  const row = of.rows[r];
  const isOwn = (/** @type {Look} */ look) => from === to && look.unit.number === row.number;
  const isMark = (/** @type {Look} */ look) => look.unit.tokens.every((j) => special.has(j));
  const words = sorted.filter((look) => !isOwn(look) && !isMark(look));
  return {
    row,
    words,
    link: words.find((look) => look.unit.tokens.includes(key)) ?? words[0],
    own: sorted.find(isOwn)?.weight ?? 0,
    marks: sorted.filter((look) => isMark(look) && !isOwn(look)),
    ...{ from, to },
  };
}

/** A share of the whole. @param {number} weight */
export function percent(weight) {
  const n =
    weight > 0 && weight < 0.095 ? (100 * weight).toFixed(1) : String(Math.round(100 * weight));
  return t("{n}\u00a0%", { n });
}

/** The row in one sentence. @param {Account} found @returns {any[]} */
export function sentenceOf({ row, words, own, marks, link, from, to }) {
  const values = { word: named(row, from) };
  const best = words[0];
  const [mark] = marks;
  if (isDerived()) return byMeasure(values, link, to);
  const whole = [...words, ...marks].reduce((sum, look) => sum + look.weight, own);
  if (!best || !link || whole < LEAST) return phrase("{word} has nothing to look at yet.", values);
  const all = { ...values, share: strong(link.weight), target: named(link.unit, to) };
  if (link !== best) return mainly(all, to);
  if (Math.max(best.weight, own, mark?.weight ?? 0) < LEAST)
    return phrase("{word} takes a little from everywhere; most, {share}, from {target}.", all);
  if (mark && mark.weight > Math.max(best.weight, own)) {
    const values = { ...all, most: strong(mark.weight), mark: named(mark.unit, to) };
    return to.backdrop
      ? phrase(
          "{word} takes {most} from {mark}, which stands for no part of it. Of its parts, most " +
            "comes from {target}: {share}.",
          values,
        )
      : phrase(
          "{word} takes {most} from {mark}, which is no word: here this head has little to say. " +
            "Of the words, most comes from {target}: {share}.",
          values,
        );
  }
  if (own > best.weight)
    return phrase(
      "{word} keeps {most} to itself; of the others, most comes from {target}: {share}.",
      { ...all, most: strong(own) },
    );
  return mainly(all, to);
}

/** @param {Object<string, any>} values @param {Look | undefined} link @param {Text} to */
function byMeasure(values, link, to) {
  if (!link || link.weight <= 0)
    return phrase("By this measure there is nothing in the row of {word}.", values);
  return phrase("By this measure {target} has {share} of the row of {word}.", {
    ...values,
    share: strong(link.weight),
    target: named(link.unit, to),
  });
}

/** @param {Object<string, any>} values @param {Text} to */
function mainly(values, to) {
  const { kind, recurrent, shape, query } = layer().data;
  if (kind === "cross" && to.backdrop && shape[0] === 1)
    return phrase("To decide, the model takes {share} from {target}.", values);
  // A row of queries belongs to the word just read, a row of an alignment to the word it chose.
  if (kind === "cross" && query !== null)
    return phrase(
      "Having read {word}, the decoder takes {share} of what it looks up from {target}.",
      values,
    );
  if (kind === "cross")
    return phrase(
      "To write {word}, the model takes {share} of what it reads from {target}.",
      values,
    );
  return recurrent
    ? phrase(
        "Reading {word}, the network takes {share} of what it remembers from {target}.",
        values,
      )
    : phrase("{word} takes {share} of what it hands on from {target}.", values);
}

/** What else the row looks at. @param {Account} found @returns {any[]} */
export function restOf({ words, own, marks, link, to }) {
  const others = words.filter((look) => look !== link && look.weight >= LEAST);
  const next = others.slice(0, 3);
  const lost = marks.reduce((sum, look) => sum + look.weight, 0);
  const told = next.map((look) => [named(look.unit, to), ` ${percent(look.weight)}`]);
  const none = to.backdrop ? t("what stands for no part of it") : t("marks that are no words");
  if (own >= LEAST) told.push([t("itself"), ` ${percent(own)}`]);
  if (lost >= LEAST) told.push([none, ` ${percent(lost)}`]);
  if (!told.length) return [];
  return phrase("Besides: {list}.", { list: "\u0000" }).flatMap((part) =>
    part === "\u0000" ? told.flatMap((one, i) => (i ? [t(", "), ...one] : one)) : [part],
  );
}

/** A unit of a text as it is spoken of. @param {Unit} unit @param {Text} text
 * @param {number} [most] signs */
export function named(unit, text, most = 40) {
  const made = tokenText(spoken(unit, text), most);
  made.classList.add("word-told");
  return made;
}

/** @param {Unit} unit @param {Text} text */
export function spoken({ label, number }, text) {
  const isPatch = text.backdrop?.kind === "image" && text.backdrop.boxes[number]?.length;
  return isPatch ? t("patch {label}", { label }) : label;
}

/** @param {number} weight */
function strong(weight) {
  return make("strong", {}, percent(weight));
}
