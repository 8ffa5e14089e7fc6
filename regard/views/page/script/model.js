// What the page shows: subjects (a text read by a model), their layers and heads.

import { Head, Layer } from "./attention.js";
import { Arrays } from "./data.js";
import { shown } from "./dom.js";
import { t } from "./language.js";
import { Picture } from "./picture.js";
import { state } from "./state.js";
/** @import {DocumentData, MeasureData, SubjectData, Text} from "./data.js" */

/**
 * @typedef {{document: DocumentData, packed?: string, arrays?: Arrays, address?: string}} Parcel
 *   a document with its arrays, packed or not, and where the rest of it is if a server has it
 */

/** @type {typeof Layer} */
let LayerKind = Layer;

/** A text read by a model, and the layers that show what is chosen: weights, or a measure. */
export class Subject {
  /** @param {SubjectData} data @param {DocumentData} document @param {Arrays} arrays
   * @param {string} address where a server has the rest of it */
  constructor(data, document, arrays, address) {
    this.data = data;
    this.document = document;
    this.arrays = arrays;
    this.own = data.layers.map((layer, i) => new LayerKind(layer, arrays, i, address));
    /** @type {Map<string, Layer[]>} */
    this.measured = new Map();
    for (const found of data.measures ?? []) this.take(found, arrays);
  }

  /** @param {MeasureData} found a measure that was computed @param {Arrays} arrays */
  take({ name, layers }, arrays) {
    if (!layers.length) return;
    const shown = this.own.map((own, i) => {
      const data = layers[i];
      return data ? new Layer(data, arrays, i) : own;
    });
    this.measured.set(name, shown);
  }

  get layers() {
    return this.layersOf(state.measure);
  }

  /** @param {string} measure one that is not here shows the weights */
  layersOf(measure) {
    return this.measured.get(measure) ?? this.own;
  }
}

/** @type {{subjects: Subject[]}} */
export const model = { subjects: [] };

/** Layers of another kind, such as those whose numbers a server has. @param {typeof Layer} kind */
export function setLayerKind(kind) {
  LayerKind = kind;
}

/** @param {Parcel[]} parcels */
export function openParcels(parcels) {
  model.subjects = parcels.flatMap(({ document, packed = "", address = "", arrays: given }) => {
    const arrays = given ?? new Arrays(document.arrays, packed);
    return document.subjects.map((data) => new Subject(data, document, arrays, address));
  });
}

export function subject() {
  return model.subjects[state.subject];
}

export function layer() {
  return subject().layers[state.layer];
}

/** Whether the chosen layer shows a measure: one of cross-attention shows its weights always. */
export function isDerived() {
  return layer() !== subject().own[state.layer];
}

/** What the chosen numbers are called in a table. */
export function numberName() {
  return isDerived() ? state.measure : "weight";
}

/** The chosen head. */
export function head() {
  return layer().heads[state.head];
}

/** The chosen head, with its numbers here: another may be chosen while they come.
 * @returns {Promise<Head>} */
export async function readyHead() {
  for (;;) {
    const of = head();
    await of.ready();
    if (of === head() && of.isReady) return of;
  }
}

/** The text that a layer attends from, and the one it attends to.
 * @param {Layer} of @param {Subject} [within] @returns {[Text, Text]} */
export function textsOf(of, within = subject()) {
  const [from, to] = of.data.texts;
  return [within.data.texts[from], within.data.texts[to]];
}

/** What the text that is attended to is drawn on, if it is drawn on anything. */
export function behind() {
  return textsOf(layer())[1].backdrop ?? null;
}

/** @type {{key: any[], picture: Picture} | null} */
let last = null;

/** The chosen head under the chosen options; the same object as long as they stay. */
export function picture() {
  const key = [head(), state.words, state.sinks, state.change];
  if (!last || key.some((part, i) => part !== last?.key[i])) {
    last?.picture.head.forget();
    last = { key, picture: pictureOf(head(), subject(), state.change) };
  }
  return last.picture;
}

/** @param {Head} of @param {Subject} within @param {Picture["change"]} change */
export function pictureOf(of, within, change) {
  const { words, sinks } = state;
  return new Picture(of, ...textsOf(of.layer, within), { words, sinks, change });
}

/** "Layer 3, head 1". @param {Head} of @param {Subject} [within] */
export function nameOf(of, within = subject()) {
  const name = layerName(of.layer, within);
  return of.layer.heads.length > 1
    ? t("{layer}, head {head}", { layer: name, head: of.number })
    : name;
}

/** @param {Layer} of @param {Subject} [within] */
export function layerName(of, within = subject()) {
  const { name, number, kind, part } = of.data;
  if (name === "words") return t("Word alignment");
  if (name === "copied") return t("Copied from the source");
  if (name === "alignment") return t("Alignment");
  if (name === "readout") return t("Decision");
  if (within.layers.length === 1 && name !== `layer ${number}`)
    return name === "head" || name === "attention" ? t("Attention") : capital(name);
  const others = within.layers.filter((l) => l.data.name !== "readout");
  const kinds = new Set(others.map((l) => `${l.data.part} ${l.data.kind}`));
  if (kinds.size === 1) return t("Layer {number}", { number });
  if (kind === "cross") return t("Cross-attention layer {number}", { number });
  if (part === "encoder") return t("Encoder layer {number}", { number });
  return part === "decoder"
    ? t("Decoder layer {number}", { number })
    : t("Self layer {number}", { number });
}

/** @param {string} text */
function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The titles, without the beginning that all of them share; of one text, the models. */
export function subjectNames() {
  const all = model.subjects.map((s) => s.data);
  const models = new Set(all.map((data) => data.model));
  if (all.length > 1 && models.size === all.length) {
    const same = all.every((data) => data.title === all[0].title);
    return all.map((data) =>
      shown(
        same && data.model ? data.model : [data.model, data.title].filter(Boolean).join(": "),
        40,
      ),
    );
  }
  const titles = all.map((data) => data.title);
  let same = 0;
  while (
    titles.length > 1 &&
    same < titles[0].length &&
    titles.every((t) => t[same] === titles[0][same])
  )
    same += 1;
  const from = same > 24 ? titles[0].lastIndexOf(" ", same) + 1 : 0;
  return titles.map((title) => shown(from > 0 ? `… ${title.slice(from)}` : title, 40));
}

/** The token's text as it is shown. @param {Text} text @param {number} i */
export function tokenOf(text, i) {
  return text.tokens[i] ?? "";
}

/** Whether a text is written from right to left. @param {Text} text */
export function isRightToLeft(text) {
  const signs = text.tokens.slice(0, 400).join("");
  const right = signs.match(/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/g)?.length ?? 0;
  const left = signs.match(/[A-Za-z\u00c0-\u024f\u0370-\u052f]/g)?.length ?? 0;
  return right > left;
}
