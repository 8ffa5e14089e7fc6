// Text to token ids and back, by a learned vocabulary. The twin of regard/pieces/tokenizer.py, which
// cuts by the library "tokenizers"; a test holds both to the same ids on hostile lines.

import { fromLabels, piecesOf } from "./pieces.js";
/** @import {Pieces} from "./pieces.js" */

export const PAD = 0;
export const UNK = 1;
export const BOS = 2;
export const EOS = 3;
const SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"];
const WRITTEN = /<pad>|<unk>|<s>|<\/s>/gu;
/** Marks a piece that begins a word. */
const START = "▁";
const BLANK = /\p{White_Space}/u;
const PUNCTUATION = /[\p{P}$+<=>^`|~]/u;

/**
 * @typedef {{level: "bpe" | "word" | "space", vocabulary: string[], merges: number[][]}}
 *   Vocabulary pieces by id; of bpe, the pairs of ids that become one, the most frequent first
 * @typedef {{sign: string, from: number, to: number}} Sign a character, and where it stands in the
 *   text
 */

export class Tokenizer {
  /** @param {Vocabulary} data */
  constructor(data) {
    this.level = data.level;
    this.vocabulary = data.vocabulary;
    this.ids = new Map(data.vocabulary.map((piece, id) => [piece, id]));
    /** By the two ids, the rank and the id of their union. @type {Map<number, [number, number]>} */
    this.merges = new Map();
    data.merges.forEach(([a, b], rank) => {
      const union = this.ids.get(this.vocabulary[a] + this.vocabulary[b]) ?? UNK;
      this.merges.set(this.pair(a, b), [rank, union]);
    });
  }

  /** @param {number} a @param {number} b */
  pair(a, b) {
    return a * this.vocabulary.length + b;
  }

  /** The ids of a text, and what of it each stands for. @param {string} text
   * @returns {{id: number, from: number, to: number}[]} */
  cut(text) {
    /** @type {{id: number, from: number, to: number}[]} */
    const found = [];
    let from = 0;
    for (const special of text.matchAll(WRITTEN)) {
      found.push(...this.cutPlain(text.slice(from, special.index), from));
      const to = special.index + special[0].length;
      found.push({ id: SPECIAL.indexOf(special[0]), from: special.index, to });
      from = to;
    }
    found.push(...this.cutPlain(text.slice(from), from));
    return found;
  }

  /** The same of a text without special tokens. @param {string} text @param {number} at */
  cutPlain(text, at) {
    const signs = composed(text, at);
    const words = this.level === "space" ? spaced(signs) : marked(signs);
    return words.flatMap((word) => this.encodeWord(word));
  }

  /** @param {Sign[]} word @returns {{id: number, from: number, to: number}[]} */
  encodeWord(word) {
    if (this.level !== "bpe") {
      const id = this.ids.get(word.map(({ sign }) => sign).join("")) ?? UNK;
      return [{ id, from: word[0].from, to: word[word.length - 1].to }];
    }
    let parts = word.map(({ sign, from, to }) => ({ id: this.ids.get(sign) ?? UNK, from, to }));
    for (;;) {
      let best = Infinity;
      let wanted = -1;
      for (let i = 0; i + 1 < parts.length; i++) {
        const pair = this.pair(parts[i].id, parts[i + 1].id);
        const rank = this.merges.get(pair)?.[0] ?? Infinity;
        if (rank < best) [best, wanted] = [rank, pair];
      }
      if (wanted < 0) return parts;
      parts = this.merged(parts, wanted);
    }
  }

  /** Every pair of this kind made one: no pair that comes of it ranks before it.
   * @param {{id: number, from: number, to: number}[]} parts @param {number} wanted */
  merged(parts, wanted) {
    const id = /** @type {[number, number]} */ (this.merges.get(wanted))[1];
    const after = [];
    for (let i = 0; i < parts.length; i++) {
      const next = parts[i + 1];
      if (next && this.pair(parts[i].id, next.id) === wanted) {
        after.push({ id, from: Math.min(parts[i].from, next.from), to: next.to });
        i += 1;
      } else after.push(parts[i]);
    }
    return after;
  }

  /** A text as a model reads it. A special token that somebody wrote is text like any other, and
   * unknown. @param {string} text @returns {Pieces} */
  read(text) {
    const parts = this.cut(text);
    const ids = parts.map(({ id }) => (id < SPECIAL.length ? UNK : id));
    const places = parts.map(({ from, to }) => [from, to]);
    const labels = parts.map(({ from, to }, i) => {
      if (ids[i] !== UNK) return this.vocabulary[ids[i]];
      const begins = this.level !== "space" && (i === 0 || BLANK.test(text.charAt(from)));
      return (begins ? START : "") + text.slice(from, to).trim();
    });
    return piecesOf(text, labels, places, ids, UNK, this.level === "space");
  }

  /** What a model wrote. @param {number[]} ids */
  written(ids) {
    return fromLabels(ids.map((id) => this.vocabulary[id] ?? SPECIAL[UNK]));
  }

  /** The text of ids, the special ones left out. @param {number[]} ids */
  decode(ids) {
    const pieces = ids.filter((id) => id >= SPECIAL.length).map((id) => this.vocabulary[id]);
    if (this.level === "space") return pieces.join(" ");
    return pieces.map((piece, i) => piece.replaceAll(START, i === 0 ? "" : " ")).join("");
  }
}

/** A text's characters, accents joined to their letters, runs of white space one blank, none at
 * the ends. @param {string} text @param {number} at where the text begins in a longer one */
function composed(text, at) {
  /** @type {Sign[]} */
  const signs = [];
  for (const { 0: cluster, index } of text.matchAll(/\P{M}[\p{M}\u1160-\u11ff]*|\p{M}+/gu)) {
    const from = at + index;
    const to = from + cluster.length;
    for (const sign of cluster.normalize("NFC")) {
      if (!BLANK.test(sign)) signs.push({ sign, from, to });
      else if (signs.length && signs[signs.length - 1].sign !== " ") {
        signs.push({ sign: " ", from, to });
      } else if (signs.length) signs[signs.length - 1].to = to;
    }
  }
  if (signs.length && signs[signs.length - 1].sign === " ") signs.pop();
  return signs;
}

/** Words, each behind its mark, and punctuation apart. @param {Sign[]} signs */
function marked(signs) {
  if (!signs.length) return [];
  const all = signs.map((one) => (one.sign === " " ? { ...one, sign: START } : one));
  if (all[0].sign !== START) {
    all.unshift({ sign: START, from: all[0].from, to: all[0].from });
  }
  /** @type {Sign[][]} */
  const words = [];
  let open = false;
  for (const one of all) {
    const apart = PUNCTUATION.test(one.sign);
    if (apart || one.sign === START || !open) words.push([one]);
    else words[words.length - 1].push(one);
    open = !apart;
  }
  return words;
}

/** What stands between blanks. @param {Sign[]} signs */
function spaced(signs) {
  /** @type {Sign[][]} */
  const words = [[]];
  for (const one of signs) {
    if (one.sign === " ") words.push([]);
    else words[words.length - 1].push(one);
  }
  return words.filter((word) => word.length);
}
