// Formulas, as MathML.

import { math } from "./dom.js";

const id = (/** @type {string} */ name) => math("mi", name);
const sign = (/** @type {string} */ text) => math("mo", text);
const row = (/** @type {any[]} */ ...parts) => math("mrow", ...parts);
const sub = (/** @type {string} */ name, /** @type {string} */ below) =>
  math("msub", id(name), row(...[...below].map((c) => (c === "," ? sign(",") : id(c)))));
const sumOver = (/** @type {string} */ what) => math("munder", sign("∑"), id(what));
const bold = (/** @type {string} */ name) => {
  const made = id(name);
  made.setAttribute("mathvariant", "normal");
  return made;
};

/** @type {Object<string, () => any[]>} */
const FORMULAS = {
  input: () => [sub("x", "i")],
  query: () =>
    [
      ...["Q", "K", "V"].flatMap((name, i) => [
        i ? sign(",") : null,
        sub(name.toLowerCase(), i ? "j" : "i"),
        sign("="),
        sub("x", i ? "j" : "i"),
        sub("W", name),
      ]),
    ].filter(Boolean),
  asItIs: () => [
    sub("q", "i"),
    sign("="),
    sub("k", "i"),
    sign("="),
    sub("v", "i"),
    sign("="),
    sub("x", "i"),
  ],
  scores: () => [sub("q", "i"), sign("·"), sub("k", "j")],
  scaled: () => [
    sub("e", "ij"),
    sign("="),
    math("mfrac", row(sub("q", "i"), sign("·"), sub("k", "j")), math("msqrt", id("d"))),
  ],
  unscaled: () => [sub("e", "ij"), sign("="), sub("q", "i"), sign("·"), sub("k", "j")],
  scaledBy: () => [
    sub("e", "ij"),
    sign("="),
    bold("scale"),
    sub("q", "i"),
    sign("·"),
    sub("k", "j"),
  ],
  mask: () => [sub("e", "ij"), sign("="), sign("−"), bold("∞")],
  weights: () => [
    sub("a", "ij"),
    sign("="),
    math("mfrac", row(bold("exp"), sub("e", "ij")), row(sumOver("m"), bold("exp"), sub("e", "im"))),
  ],
  lse: () => [bold("log"), sumOver("j"), bold("exp"), sub("e", "ij")],
  weighted: () => [sub("a", "ij"), sub("v", "j")],
  context: () => [sub("c", "i"), sign("="), sumOver("j"), sub("a", "ij"), sub("v", "j")],
  concatenated: () => [
    sign("["),
    math("msup", id("c"), math("mn", "1")),
    sign(";"),
    sign("…"),
    sign(";"),
    math("msup", id("c"), id("h")),
    sign("]"),
  ],
  output: () => [
    sub("y", "i"),
    sign("="),
    sign("["),
    math("msup", id("c"), math("mn", "1")),
    sign(";"),
    sign("…"),
    sign("]"),
    sub("W", "O"),
  ],
};

/** The formula of a step, in its block. @param {string} name */
export function formula(name) {
  const parts = FORMULAS[name]?.();
  if (!parts) return null;
  const made = math("math", row(...parts));
  made.setAttribute("display", "inline");
  made.setAttribute("class", "formula");
  return made;
}

/** A formula that comes as text, such as "norm(x_i + W_2 gelu(W_1 x_i))": names, what stands below
 * them, and signs. @param {string} text */
export function typeset(text) {
  const parts = text.match(/[\p{L}^~]+|\d+(?:\.\d+)?|_\{[^}]*\}|_\w+|\S/gu) ?? [];
  /** @type {any[]} */
  const made = [];
  for (const part of parts) {
    if (part.startsWith("_") && made.length) {
      const below = part.replace(/[_{}]/g, "");
      made.push(math("msub", made.pop(), math("mi", below)));
    } else if (/^\d/.test(part)) made.push(math("mn", part));
    else if (/^\p{L}/u.test(part)) made.push(part.length > 1 ? bold(part) : id(part));
    else made.push(sign(part));
  }
  const whole = math("math", row(...made));
  whole.setAttribute("class", "formula own");
  return whole;
}
