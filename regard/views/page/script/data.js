// The page's data: what is known as JSON, and arrays that are unpacked when they are first needed.

/** @import {Trials} from "./stored.js" */
/**
 * @typedef {{at: number, bytes: number, kind: "f2" | "f4" | "i1" | "bits", shape: number[]}} Entry
 * @typedef {{value: number, formula: string, meaning: string, after: boolean}} Known
 * @typedef {{name: string, tokens: string[], words: number[], names: string[],
 *   special: number[], separators: number[], unknown: number[], backdrop?: Backdrop}} Text
 * @typedef {{kind: string, width: number, height: number, boxes: number[][], picture?: string,
 *   lines?: number[][], since?: number, rows?: string[][]}} Backdrop what pieces are drawn on, and
 *   their boxes in it: left, top, right, bottom; of a piece without a place none; since: the share
 *   of a curve that came before its forecast
 * @typedef {{name: string, number: number, kind: string, part: string, recurrent: boolean,
 *   texts: [number, number], shape: [number, number], heads: number[], scale: number,
 *   causal: boolean, before: number | null, after: number | null, softcap: number | null,
 *   query: number | null, key: number | null, value: number | null, weights: number | null,
 *   allowed: number | null, bias: number | null, lse: number | null, context: number | null,
 *   checked: number[], known: Object<string, Known>, remote?: boolean}} LayerData
 * @typedef {{title: string, model: string, mechanism: string, notes: string[],
 *   start: Object<string, any>, texts: Text[], layers: LayerData[],
 *   whole?: WholeData | null, trials?: Trials | null, measures?: MeasureData[]}} SubjectData
 * @typedef {{name: string, reason: string, scored: string, layers: (LayerData | null)[]}}
 *   MeasureData its layers stand in the places of the subject's; none: it was not computed
 * @typedef {{tokens: string[], row: number, kind: string, proof: string,
 *   layers: {size: number, parts: {kind: string, size: number}[],
 *     steps: {name: string, formula: string, meaning: string, size: number, start: number[]}[]}[],
 *   predictions: {word: string, probability: number}[],
 *   parts: {word: string, score: number, total: number,
 *     rows: {name: string, score: number}[]} | null}} WholeData
 * @typedef {{format: number, regard: string, half: boolean, sha256: string, arrays: Entry[],
 *   subjects: SubjectData[]}} DocumentData
 * @typedef {{shape: number[], data: Float32Array}} Numbers
 */

const ALPHABET = Array.from({ length: 94 }, (_, i) => String.fromCharCode(i + 33))
  .filter((c) => !"\"&'/<>\\`|".includes(c))
  .join("");

/** Arrays of one document, by number. */
export class Arrays {
  /** @param {Entry[]} entries @param {string} packed */
  constructor(entries, packed) {
    this.entries = entries;
    this.packed = packed;
    /** @type {Map<number, Promise<Numbers>>} */
    this.found = new Map();
    /** Computed once: a page shows many looks, and what it carries stays what it is.
     * @type {Promise<string> | null} */
    this.digest = null;
  }

  /** @param {number} number @returns {Promise<Numbers>} */
  get(number) {
    let found = this.found.get(number);
    if (!found) {
      found = this.unpack(this.entries[number]);
      this.found.set(number, found);
    }
    return found;
  }

  /** @param {Entry} entry @returns {Promise<Numbers>} */
  async unpack(entry) {
    const bytes = await inflate(fromText(this.packed, entry.at, entry.bytes));
    return { shape: entry.shape, data: toNumbers(bytes, entry) };
  }

  /** Whether the packed text has the checksum; null where the browser cannot tell.
   * @param {string} sha256 @returns {Promise<boolean | null>} */
  async isWhole(sha256) {
    if (!globalThis.crypto?.subtle) return null; // only secure contexts have it
    this.digest ??= digestOf(this.packed);
    return (await this.digest) === sha256;
  }
}

/** SHA-256. @param {string} text */
async function digestOf(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Arrays that were computed here. */
export class HeldArrays extends Arrays {
  /** @param {Numbers[]} numbers @param {Arrays} carried what the file carries */
  constructor(numbers, carried) {
    super([], "");
    this.numbers = numbers;
    this.carried = carried;
  }

  /** @param {number} number @returns {Promise<Numbers>} */
  async get(number) {
    return this.numbers[number];
  }

  /** @param {string} sha256 @returns {Promise<boolean | null>} */
  isWhole(sha256) {
    return this.carried.isWhole(sha256);
  }
}

/** Four bytes out of each five characters. @param {string} text @param {number} at
 * @param {number} count @returns {Uint8Array<ArrayBuffer>} */
export function fromText(text, at, count) {
  const digit = new Uint8Array(128);
  for (let i = 0; i < 85; i++) digit[ALPHABET.charCodeAt(i)] = i;
  const bytes = new Uint8Array(Math.ceil(count / 4) * 4);
  for (let to = 0; to < bytes.length; at += 5, to += 4) {
    let word = 0;
    for (let i = 0; i < 5; i++) word = word * 85 + digit[text.charCodeAt(at + i)];
    bytes[to] = word >>> 24;
    bytes[to + 1] = word >>> 16;
    bytes[to + 2] = word >>> 8;
    bytes[to + 3] = word;
  }
  return bytes.subarray(0, count);
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Uint8Array>} */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers out of their byte planes. @param {Uint8Array} bytes @param {Entry} entry */
export function toNumbers(bytes, entry) {
  const count = entry.shape.reduce((a, b) => a * b, 1);
  if (entry.kind === "bits") {
    return Float32Array.from({ length: count }, (_, i) => (bytes[i >> 3] >> (i & 7)) & 1);
  }
  if (entry.kind === "i1") return Float32Array.from(new Int8Array(bytes.buffer, 0, count));
  if (entry.kind === "f4") {
    const whole = new Uint8Array(4 * count);
    for (let b = 0; b < 4; b++) {
      for (let i = 0; i < count; i++) whole[4 * i + b] = bytes[b * count + i];
    }
    return new Float32Array(whole.buffer);
  }
  const numbers = new Float32Array(count);
  const halves = halfTable();
  for (let i = 0; i < count; i++) numbers[i] = halves[bytes[i] | (bytes[count + i] << 8)];
  return numbers;
}

/** @type {Float32Array | null} */
let table = null;

/** Every half-precision number: 5 bits of exponent, 10 of fraction. */
export function halfTable() {
  if (table) return table;
  table = new Float32Array(65536);
  for (let i = 0; i < 65536; i++) {
    const sign = i & 0x8000 ? -1 : 1;
    const exponent = (i >> 10) & 31;
    const fraction = (i & 1023) / 1024;
    if (exponent === 0) table[i] = sign * fraction * 2 ** -14;
    else if (exponent === 31) table[i] = fraction ? NaN : sign * Infinity;
    else table[i] = sign * (1 + fraction) * 2 ** (exponent - 15);
  }
  return table;
}
