// Text to token ids by BERT's rules: lower case, accents off, punctuation apart, then the longest
// pieces that the vocabulary has. The twin of the library "tokenizers" with BertNormalizer,
// BertPreTokenizer and WordPiece.

import { after, before, isMark, piecesOf } from "./pieces.js";
import { ACCENT, BLANK, CAPITAL, IDEOGRAPH, LOST, PUNCTUATION } from "./signs.js";
/** @import {Pieces} from "./pieces.js" */
/** @import {Vocabulary} from "./tokenizer.js" */

const UNKNOWN = "[UNK]";
const CONTINUES = "##";
/** Characters of the longest word that is cut; a longer one is unknown. */
const LONGEST = 100;
/** @typedef {{sign: string, from: number, to: number}} Sign */

export class WordPiece {
  /** @param {Vocabulary} data */
  constructor(data) {
    this.vocabulary = data.vocabulary;
    /** What the vocabulary has for its own use, wherever it is written. */
    this.written = new RegExp(
      (data.written ?? []).map((token) => token.replace(/[[\]\\^$.|?*+(){}]/g, "\\$&")).join("|") ||
        "(?!)",
      "gu",
    );
    this.ids = new Map(data.vocabulary.map((piece, id) => [piece, id]));
  }

  /** @param {string} piece @returns {number} */
  id(piece) {
    return /** @type {number} */ (this.ids.get(piece));
  }

  /** A text as the model reads it, between its marks. @param {string} text @returns {Pieces} */
  read(text) {
    const parts = [];
    let from = 0;
    for (const { 0: own, index } of text.matchAll(this.written)) {
      parts.push(...this.cut(text.slice(from, index), from));
      parts.push({ id: this.id(own), from: index, to: index + own.length });
      from = index + own.length;
    }
    parts.push(...this.cut(text.slice(from), from));
    const unknown = this.id(UNKNOWN);
    const ids = parts.map(({ id }) => id);
    const places = parts.map((part) => [part.from, part.to]);
    const labels = parts.map(({ id, ...part }) =>
      id === unknown ? text.slice(part.from, part.to) : this.vocabulary[id],
    );
    const pieces = piecesOf(text, labels, places, ids, unknown);
    pieces.separators = labels.map((label) => isMark(label));
    return after(before(pieces, "[SEP]", this.id("[SEP]")), "[CLS]", this.id("[CLS]"));
  }

  /** @param {string} text @param {number} at where it begins in a longer one */
  cut(text, at) {
    return wordsOf(text, at).flatMap((word) => this.encodeWord(word));
  }

  /** The longest pieces from the left; a word that cannot be cut so is unknown as a whole.
   * @param {Sign[]} word */
  encodeWord(word) {
    const whole = [{ id: this.id(UNKNOWN), from: word[0].from, to: word[word.length - 1].to }];
    if (word.length > LONGEST) return whole;
    const found = [];
    for (let start = 0; start < word.length; ) {
      let stop = word.length;
      let id;
      for (; stop > start; stop--) {
        const piece = word.slice(start, stop).map(({ sign }) => sign);
        id = this.ids.get((start ? CONTINUES : "") + piece.join(""));
        if (id !== undefined) break;
      }
      if (id === undefined) return whole;
      found.push({ id, from: word[start].from, to: word[stop - 1].to });
      start = stop;
    }
    return found;
  }
}

/** Words of small letters without accents, and punctuation apart. @param {string} text
 * @param {number} at @returns {Sign[][]} */
function wordsOf(text, at) {
  /** @type {Sign[][]} */
  const words = [];
  let isOpen = false;
  let from = at;
  for (const character of text) {
    const to = from + character.length;
    const isLost = LOST.test(character);
    const isBlank = !isLost && BLANK.test(character);
    if (isBlank || IDEOGRAPH.test(character)) isOpen = false;
    if (!isBlank && !isLost) {
      for (const sign of plain(character)) {
        const isApart = PUNCTUATION.test(sign);
        if (isApart || !isOpen) words.push([]);
        words[words.length - 1].push({ sign, from, to });
        isOpen = !isApart;
      }
    }
    if (IDEOGRAPH.test(character)) isOpen = false;
    from = to;
  }
  return words;
}

/** The small letters of a character, without accents. @param {string} character */
function plain(character) {
  return [...character.normalize("NFD")]
    .filter((sign) => !ACCENT.test(sign))
    .map((sign) => (CAPITAL.test(sign) ? sign.toLowerCase() : sign))
    .join("");
}
