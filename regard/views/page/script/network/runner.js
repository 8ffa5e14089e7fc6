// The models that a page carries, opened when first asked, and what they do with a text or image.

import { Arrays } from "../data.js";
import { Bahdanau } from "./bahdanau.js";
import { Bert, SentenceTask } from "./bert.js";
import { EncoderDecoder } from "./encoderdecoder.js";
import { ImageClassifier, ImageTask } from "./image.js";
import { LanguageModel, LanguageTask } from "./languagemodel.js";
import { nothingToRead, Refusal } from "./refusal.js";
import { Tokenizer } from "./tokenizer.js";
import { Transformer } from "./transformer.js";
import { TranslatorTask } from "./translation.js";
import { Weights } from "./weights.js";
import { WordByWord } from "./wordbyword.js";
import { WordPiece } from "./wordpiece.js";
/** @import {Entry, Text} from "../data.js" */
/** @import {Said} from "./refusal.js" */
/** @import {Vocabulary} from "./tokenizer.js" */
/** @import {Places} from "./weights.js" */
/** @import {Wish} from "./wish.js" */

/**
 * @typedef {{name: string, task: string, config: any, tokenizer: number | null,
 *   weights: Places}} ModelData
 * @typedef {string | number[]} Given a text, or the pixels of an image, row by row, from 0 to 255
 * @typedef {{rows: number, columns: number, channels: number, values: number[]}} Pixels
 * @typedef {{models: ModelData[], tokenizers: Vocabulary[], arrays: Entry[]}} LiveData
 * @typedef {{name: string, number: number, kind: string, part: string, recurrent: boolean,
 *   texts: [number, number], shape: [number, number], heads: number, weights: Float32Array,
 *   vectors?: {query: Float32Array, key: Float32Array, value: Float32Array, scale: number}
 *   }} LookLayer weights: heads × queries × keys; vectors: heads × tokens × width
 * @typedef {{text: string, tokens: string[], output: any, texts: Text[], layers: LookLayer[],
 *   notes: Said[], pixels?: Pixels}} Look what a model did with what was given
 * @typedef {{look: (given: Given, wish: Wish, told: (part: any) => void) => Look}} Task
 */

/** By task and design, what runs it. @type {Object<string, any>} */
const DESIGNS = {
  "translate bahdanau": [TranslatorTask, Bahdanau],
  "translate encoder-decoder": [TranslatorTask, EncoderDecoder],
  "translate word-by-word": [TranslatorTask, WordByWord],
  "translate transformer": [TranslatorTask, Transformer],
  "sentence bert": [SentenceTask, Bert],
  "lm lstmn": [LanguageTask, LanguageModel],
  "lm simple-rnn+attention": [LanguageTask, LanguageModel],
  "images patches": [ImageTask, ImageClassifier],
};

/** A text so long is refused before it is cut into tokens. */
const MOST_CHARACTERS = 50000;

export class Runner {
  /** @param {LiveData} data @param {string} packed */
  constructor(data, packed) {
    this.data = data;
    this.arrays = new Arrays(data.arrays, packed);
    /** @type {Map<number, Promise<Task>>} */
    this.open = new Map();
  }

  /** @param {number} number @returns {Promise<Task>} */
  task(number) {
    const found = this.open.get(number) ?? this.read(this.data.models[number]);
    this.open.set(number, found);
    return found;
  }

  /** @param {ModelData} model @returns {Promise<Task>} */
  async read(model) {
    const [TaskKind, Design] = DESIGNS[`${model.task} ${model.config.model}`];
    const weights = await Weights.read(this.arrays, model.weights);
    const design = new Design(weights, model.config);
    if (model.tokenizer === null) return new TaskKind(design);
    const vocabulary = this.data.tokenizers[model.tokenizer];
    const Kind = vocabulary.level === "wordpiece" ? WordPiece : Tokenizer;
    return new TaskKind(design, new Kind(vocabulary));
  }

  /** @param {number} model @param {Given} given @param {Wish} wish
   * @param {(part: any) => void} told of what is known before the end @returns {Promise<Look>} */
  async look(model, given, wish, told) {
    const readable = typeof given === "string" ? checked(given) : given;
    return (await this.task(model)).look(readable, wish, told);
  }
}

/** @param {string} text */
function checked(text) {
  if (!text.trim()) throw nothingToRead();
  if (text.length > MOST_CHARACTERS) {
    throw new Refusal(
      "a text may have {most} characters here, this one has {count}: give one sentence",
      { most: MOST_CHARACTERS, count: text.length },
    );
  }
  return wellFormed(text);
}

/** Halves of surrogate pairs made the replacement character: they are no text.
 * @param {string} text */
function wellFormed(text) {
  return text.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    "\ufffd",
  );
}
