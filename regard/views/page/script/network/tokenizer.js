// Text to token ids and back, by a learned vocabulary. The twin of regard/pieces/tokenizer.py,
// which cuts by the library "tokenizers"; a test holds both to the same ids on hostile lines.

import { fromLabels, isBlank, piecesOf, stripped } from "./pieces.js";
import { BLANK, JOINING, PUNCTUATION } from "./signs.js";
/** @import {Pieces} from "./pieces.js" */

export const PAD = 0;
export const UNK = 1;
export const BOS = 2;
export const EOS = 3;
const SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"];
const WRITTEN = /<pad>|<unk>|<s>|<\/s>/gu;
/** Marks a piece that begins a word. */
const START = "▁";
/** A sign with those that are composed with it, or put in order behind it. */
const CLUSTER = new RegExp(`[^]${JOINING.source}*`, "gu");

/**
 * @typedef {{level: "bpe" | "word" | "space" | "wordpiece", vocabulary: string[],
 *   merges: number[][], written?: string[]}} Vocabulary pieces by id; of bpe, the pairs of ids
 *   that become one, the most frequent first
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
      const begins = this.level !== "space" && (i === 0 || isBlank(text.charAt(from)));
      return (begins ? START : "") + stripped(text.slice(from, to));
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
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    for (const one of placed(cluster, at + index)) {
      const last = signs[signs.length - 1];
      if (!BLANK.test(one.sign)) signs.push(one);
      else if (last && last.sign !== " ") signs.push({ ...one, sign: " " });
      else if (last) [last.from, last.to] = [one.from, one.to];
    }
  }
  if (signs.length && signs[signs.length - 1].sign === " ") signs.pop();
  return signs;
}

/** A letter with its accents as it is composed. The first sign stands where the letter did, the
 * others where the last accents did. @param {string} cluster @param {number} at
 * @returns {Sign[]} */
function placed(cluster, at) {
  const before = [...cluster];
  const signs = [...cluster.normalize("NFC")];
  const ends = before.map((_, i) => at + before.slice(0, i + 1).join("").length);
  return signs.map((sign, i) => {
    const of = i === 0 ? 0 : Math.max(0, before.length - signs.length + i);
    return { sign, from: ends[of] - before[of].length, to: ends[of] };
  });
}

/** Words, each behind its mark, and punctuation apart. @param {Sign[]} signs */
function marked(signs) {
  if (!signs.length) return [];
  const all = signs.map((one) => (one.sign === " " ? { ...one, sign: START } : one));
  if (all[0].sign !== START) {
    all.unshift({ ...all[0], sign: START });
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
