// Where a page opens: the link between two words that has most to tell.
//
//   telling[i,j] = weight[i,j] − the mean weight of other words to j
//                              − (of a text that attends to itself) of other words this far apart
//
// so that neither a sink nor a head that only counts places wins. Words without a meaning of their
// own, marks, special and unknown pieces are no end of it, and it is the strongest of its word, as
// long as there are others.

import { unitsOf } from "./picture.js";
/** @import {Head, Layer} from "./attention.js" */
/** @import {Text} from "./data.js" */
/** @import {Unit} from "./picture.js" */
/** @typedef {{layer: number, head: number, query: number, key: number, worth: number}} Opening */

const WORK = 6e7; // multiplications at most: a long text is looked at in some of its rows
const MOST_REMOTE = 2; // heads whose vectors are fetched for it
const FUNCTION = new Set(
  (
    "a an the and or but nor so yet if as at by for from in into of off on onto out over to " +
    "up with than then that this these those is am are was were be been being do does did " +
    "done has have had will would can could may might must shall should not no too very just " +
    "also because while when where which who whom whose what how why there here's s t re ve " +
    "ll d m n't didn't don't isn't der die das den dem des ein eine einen einem einer eines " +
    "und oder aber denn wenn als wie an am auf aus bei beim für im in ins mit nach seit über " +
    "um unter von vom vor zu zum zur ist sind war waren sein hat haben hatte wird werden " +
    "nicht kein keine so sehr auch noch nur da dass diese dieser dieses diesen le la les un " +
    "une des du de et ou mais en dans que qui ne pas est sont el los las y o pero es son"
  ).split(" "),
);
const PRONOUNS = new Set(
  (
    "i me my you your he him his she her it its we us our they them their themselves itself " +
    "himself herself myself one ich mich mir mein du dich dir er ihn ihm sie ihr es wir uns " +
    "sich man je tu il elle nous vous ils elles se lui yo tú él ella"
  ).split(" "),
);

/** Whether units can be ends of a link that tells something: 2 a word of its own, 1 a word that
 * stands for another, 0 neither. @param {Text} text @param {Unit[]} units @returns {number[]} */
function meanings(text, units) {
  const out = new Set([...text.special, ...text.separators, ...text.unknown]);
  return units.map((unit) => {
    const bare = unit.label.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
    if (unit.tokens.some((i) => out.has(i)) || !/\p{L}/u.test(bare)) return 0;
    return FUNCTION.has(bare) ? 0 : PRONOUNS.has(bare) ? 1 : 2;
  });
}

/** The opening of a subject.
 * @param {{layers: Layer[], data: {texts: Text[]}}} subject
 * @param {Partial<Opening>} [given] what is known of it already
 * @returns {Promise<Omit<Opening, "worth">>} */
export async function opening({ layers, data }, given = {}) {
  const chosen = orAll(layers, given.layer);
  const found = [];
  for (const layer of alike(chosen)) {
    const heads = orAll(layer.heads, given.head);
    const [from, to] = layer.data.texts.map((number) => data.texts[number]);
    for (const head of layer.tiles ? heads.slice(0, MOST_REMOTE) : heads) {
      await head.ready();
      found.push(best(head, from, to, WORK / chosen.length / heads.length, given.query));
    }
    if (layer.tiles) break;
  }
  return found.reduce((a, b) => (b.worth > a.worth ? b : a));
}

/** The one of a list that is asked for, or if there is no such one, all.
 * @template T @param {T[]} list @param {number} [place] @returns {T[]} */
function orAll(list, place) {
  return place !== undefined && place in list ? [list[place]] : list;
}

/** The layers between the same two texts as the first: a translation opens at its alignment.
 * @param {Layer[]} layers */
function alike(layers) {
  const cross = layers.filter((layer) => layer.data.kind === "cross");
  const some = cross.length ? cross : layers;
  const words = some.filter((layer) => layer.data.name === "words");
  return words.length ? words : some;
}

/** The best link of a head. @param {Head} head @param {Text} from @param {Text} to
 * @param {number} work @param {number} [query] the only row, if it is known @returns {Opening} */
function best(head, from, to, work, query) {
  const isSelf = head.layer.data.kind === "self" && head.queries === head.keys;
  const rows = unitsOf(from, true);
  const columns = unitsOf(to, true);
  const weights = rowsOf(head, rows, columns, work, query);
  const means = new Means(weights, rows.length, columns.length, isSelf);
  /** @type {Opening} */
  let found = { layer: head.layer.index, head: head.place, query: query ?? 0, key: 0, worth: -99 };
  const [ask, give] = [meanings(from, rows), meanings(to, columns)];
  const special = new Set(to.special);
  for (const [r, row] of weights) {
    if (query !== undefined && !rows[r].tokens.includes(query)) continue;
    const isOther = (/** @type {number} */ c) =>
      !(isSelf && r === c) && !columns[c].tokens.every((j) => special.has(j));
    const most = row.reduce((a, b, c) => (isOther(c) ? Math.max(a, b) : a), 0);
    for (let c = 0; c < row.length; c++) {
      if (isSelf && r === c) continue;
      const poor =
        (ask[r] || query !== undefined ? 0 : 8) + (give[c] === 2 ? 0 : 4) + (row[c] < most ? 2 : 0);
      const worth = row[c] - means.other(r, c, row[c]) - poor;
      if (worth > found.worth)
        found = { ...found, query: query ?? rows[r].number, key: columns[c].number, worth };
    }
  }
  return found;
}

/** Weights between words, for as many rows as the work allows.
 * @param {Head} head @param {Unit[]} rows @param {Unit[]} columns @param {number} work
 * @param {number} [query] of a row that is among them @returns {Map<number, Float32Array>} */
function rowsOf(head, rows, columns, work, query) {
  const cost = head.queries * head.keys * (head.part("query")?.width ?? 1);
  const every = Math.max(1, Math.ceil(cost / work));
  const found = new Map();
  for (let r = 0; r < rows.length; r++) {
    if (r % every && !(query !== undefined && rows[r].tokens.includes(query))) continue;
    const row = new Float32Array(columns.length);
    const { tokens } = rows[r];
    for (const i of tokens) {
      const { weights } = head.row(i);
      columns.forEach((unit, c) => {
        for (const j of unit.tokens) row[c] += weights[j] / tokens.length;
      });
    }
    found.set(r, row);
  }
  return found;
}

/** Mean weights of columns and of distances, each without the cell that is asked about. */
class Means {
  /** @param {Map<number, Float32Array>} weights @param {number} rows @param {number} columns
   * @param {boolean} isSelf */
  constructor(weights, rows, columns, isSelf) {
    this.weights = weights;
    this.shift = rows;
    this.columns = { sum: new Float64Array(columns), count: weights.size };
    this.far = isSelf
      ? { sum: new Float64Array(rows + columns), count: new Int32Array(rows + columns) }
      : null;
    for (const [r, row] of weights) for (let c = 0; c < columns; c++) this.add(r, c, row[c]);
  }

  /** @param {number} r @param {number} c @param {number} weight */
  add(r, c, weight) {
    this.columns.sum[c] += weight;
    if (!this.far) return;
    this.far.sum[c - r + this.shift] += weight;
    this.far.count[c - r + this.shift] += 1;
  }

  /** @param {number} r @param {number} c @param {number} own the cell's weight */
  other(r, c, own) {
    const mean = (/** @type {number} */ sum, /** @type {number} */ count) =>
      count > 1 ? (sum - own) / (count - 1) : 0;
    const at = c - r + this.shift;
    const far = this.far ? mean(this.far.sum[at], this.far.count[at]) : 0;
    return mean(this.columns.sum[c], this.columns.count) + far;
  }
}
