// What a model reads, piece by piece: labels, words and marks. The twin of regard/pieces.

import { told } from "./refusal.js";
/** @import {Text} from "../data.js" */
/** @import {Said} from "./refusal.js" */

/**
 * @typedef {{labels: string[], ids: number[], places: number[][], words: Word[],
 *   special: boolean[], separators: boolean[], unknown: boolean[], text: string}} Pieces
 * @typedef {{name: string, start: number, stop: number}} Word
 */

const IDEOGRAPH =
  "\\u3005-\\u3007\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
const MARKS = "\\u00ad\\u200c\\u200d\\p{M}";
const LETTER = `(?:(?![${IDEOGRAPH}])[\\p{L}\\p{N}_])`;
const LETTERS = `${LETTER}+(?:[${MARKS}]+${LETTER}*)*`;
/** Numbers, words with their inner apostrophes, and every other sign with its accents. */
const WORDS = new RegExp(
  `\\p{Nd}+(?:[.,]\\p{Nd}+)+|${LETTERS}(?:['\\u2019]${LETTERS})*` +
    `|[^\\p{White_Space}\\x1c-\\x1f][${MARKS}]*`,
  "gu",
);
/** White space as Python has it: with separators of records, without the byte order mark. */
const BLANK = /^[\p{White_Space}\x1c-\x1f]$/u;
const FULL = /[^\p{White_Space}\x1c-\x1f]/u;
const ENDS = /^[\p{White_Space}\x1c-\x1f]+|[\p{White_Space}\x1c-\x1f]+$/gu;
const MARK = /^\p{P}+$/u;
const NAMED = /^(?:\[(?:CLS|SEP|PAD|MASK|BOS|EOS)\]|<\/?(?:s|pad|mask|bos|eos)>)$/u;

/** @param {string} text @param {string[]} labels @param {number[][]} places of each piece's
 * characters @param {number[]} ids @param {number} unknown @param {boolean} [alone] each piece is a
 * word @returns {Pieces} */
export function piecesOf(text, labels, places, ids, unknown, alone = false) {
  const special = labels.map(() => false);
  return {
    labels,
    ids,
    places,
    words: alone
      ? labels.map((name, i) => ({ name, start: i, stop: i + 1 }))
      : grouped(text, labels, places),
    special,
    separators: places.map(([from, to], i) => i > 0 && isMark(text.slice(from, to))),
    unknown: ids.map((id) => id === unknown),
    text,
  };
}

/** Pieces of which only the labels are known, `▁` where a word begins. @param {string[]} labels
 * @returns {Pieces} */
export function fromLabels(labels) {
  const special = labels.map((label) => NAMED.test(label));
  const known = labels.some((label) => label.startsWith("▁"));
  let text = "";
  const places = labels.map((label, i) => {
    const from = text.length;
    text += (label.startsWith("▁") || special[i] ? " " : "") + label.replace(/^▁+/u, "");
    return special[i] ? [] : [from, text.length];
  });
  const found = piecesOf(text, labels, places, [], -1, !known);
  found.special = special;
  found.separators = labels.map(
    (label, i) => i > 0 && (special[i] || isMark(label.replace(/^▁+/u, ""))),
  );
  return found;
}

/** With a special piece behind. @param {Pieces} pieces @param {string} label @param {number} id
 * @returns {Pieces} */
export function before(pieces, label, id) {
  const n = pieces.labels.length;
  return {
    ...pieces,
    labels: [...pieces.labels, label],
    ids: [...pieces.ids, id],
    places: [...pieces.places, []],
    words: [...pieces.words, { name: label, start: n, stop: n + 1 }],
    special: [...pieces.special, true],
    separators: [...pieces.separators, true],
    unknown: [...pieces.unknown, false],
  };
}

/** With a special piece in front. @param {Pieces} pieces @param {string} label @param {number} id
 * @returns {Pieces} */
export function after(pieces, label, id) {
  const moved = pieces.words.map(({ name, start, stop }) => ({
    name,
    start: start + 1,
    stop: stop + 1,
  }));
  return {
    ...pieces,
    labels: [label, ...pieces.labels],
    ids: [id, ...pieces.ids],
    places: [[], ...pieces.places],
    words: [{ name: label, start: 0, stop: 1 }, ...moved],
    special: [true, ...pieces.special],
    separators: [false, ...pieces.separators],
    unknown: [false, ...pieces.unknown],
  };
}

/** As a text of the page. @param {Pieces} pieces @param {string} [name] @returns {Text} */
export function textOf(pieces, name = "") {
  const places = (/** @type {boolean[]} */ flags) => flags.flatMap((own, i) => (own ? [i] : []));
  return {
    name,
    tokens: pieces.labels,
    words: pieces.words.map(({ start }) => start),
    names: pieces.words.map((word) => word.name),
    special: places(pieces.special),
    separators: places(pieces.separators),
    unknown: places(pieces.unknown),
  };
}

/** What is to be said of pieces that the model does not know. @param {Pieces} pieces
 * @returns {Said[]} */
export function unknown(pieces) {
  const lost = pieces.unknown.filter(Boolean).length;
  const all = pieces.special.filter((own) => !own).length;
  return lost ? [told("{lost} of {all} pieces are unknown to the model", { lost, all })] : [];
}

/** Words, numbers and marks of a text. @param {string} text @returns {string[]} */
export function wordsOf(text) {
  return text.match(WORDS) ?? [];
}

/** Neighbouring pieces whose first letters belong to one word of the text are that word.
 * @param {string} text @param {string[]} labels @param {number[][]} places @returns {Word[]} */
function grouped(text, labels, places) {
  const owners = ownersOf(text, places);
  /** @type {Word[]} */
  const words = [];
  owners.forEach((owner, i) => {
    const last = words[words.length - 1];
    if (last && owner >= 0 && owner === owners[i - 1]) last.stop = i + 1;
    else words.push({ name: "", start: i, stop: i + 1 });
  });
  for (const word of words) {
    const [from, to] = [places[word.start][0], places[word.stop - 1][1]];
    word.name = stripped(text.slice(from, to)) || labels[word.start];
  }
  return words;
}

/** The number of the word that each piece belongs to, −1 if it does to none.
 * @param {string} text @param {number[][]} places */
function ownersOf(text, places) {
  const starts = Array.from(text.matchAll(WORDS), ({ index }) => index);
  const owners = places.map(([from, to]) => {
    const part = text.slice(from, to);
    const blank = part.search(FULL);
    return blank < 0 || from === undefined ? -1 : lastUpTo(starts, from + blank);
  });
  const alone = owners.map((owner) => owner < 0);
  for (let i = 0; i + 1 < places.length; i++) {
    const [from, to] = places[i];
    if (alone[i] && !alone[i + 1] && from !== undefined && text.slice(from, to) === " ") {
      owners[i] = places[i + 1][0] === to ? owners[i + 1] : -1;
    }
  }
  return owners;
}

/** How many of the rising numbers are at most `most`, less one. @param {number[]} rising
 * @param {number} most */
function lastUpTo(rising, most) {
  let low = 0;
  let high = rising.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rising[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** @param {string} sign */
export function isBlank(sign) {
  return BLANK.test(sign);
}

/** Without the white space at its ends. @param {string} text */
export function stripped(text) {
  return text.replace(ENDS, "");
}

/** Whether a token is all punctuation, or white space with a line break. @param {string} part */
export function isMark(part) {
  const bare = stripped(part);
  return bare ? MARK.test(bare) : part.includes("\n");
}
