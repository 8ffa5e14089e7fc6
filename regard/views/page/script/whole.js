// Model: the way of one word through the whole model, from its vector to what is predicted.
//
// All of it was computed when the page was written, and is shown as it was.

import { isDark } from "./colour.js";
import { fillOptions, make, number, put, shown, svg, tableHead } from "./dom.js";
import { t } from "./language.js";
import { model, subject } from "./model.js";
import { StoredCarrier } from "./stored.js";
import { Trial } from "./trial.js";
/** @import {WholeData} from "./data.js" */

const [LABEL, BAR, ROW, TOP] = [70, 190, 22, 44];
const MOST_PARTS = 20;
const COLOURS = { attention: "#2f5fd0", cross: "#8a4fb0", "feed-forward": "#b3560b" };
/** @type {any} */
let parts;
const trial = new Trial();
/** Whose what-if it is. @type {any} */
let tried = null;
/** The layer whose steps are shown; below 0 the last. */
let chosen = -1;

export const wholeView = {
  name: "model",
  title: () => t("Model"),
  build: buildWhole,
  update: updateWhole,
  table: wholeTable,
  svg: drawing,
};

/** Whether there is a way to show, of any subject. */
export function hasWhole() {
  return model.subjects.some(({ data }) => data.whole);
}

/** @returns {WholeData | null | undefined} */
function whole() {
  return subject().data.whole;
}

function buildWhole() {
  parts = {
    said: make("p", { class: "way-said" }),
    picture: make("div", {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": t("The way as a picture"),
    }),
    layer: make("section", {}),
    who: make("section", {}),
    proof: make("p", { class: "quiet", lang: "en" }),
  };
  const { said, picture, layer, who, proof } = parts;
  const both = make("div", { class: "way-both" }, layer, who);
  return make("div", { class: "view-model" }, said, picture, trial.element, both, proof);
}

function updateWhole() {
  const found = whole();
  updateTrial();
  if (!found) {
    const how = "regard explain TEXT --whole --html FILE";
    put(parts.said, t("This page does not hold the way of a word; {how} writes one.", { how }));
    for (const name of ["picture", "layer", "who", "proof"]) put(parts[name]);
    return;
  }
  put(parts.said, sentence(found));
  put(parts.picture, drawing());
  put(parts.layer, layerTable(found));
  put(parts.who, found.parts ? whoSaidIt(found.parts) : null);
  put(parts.proof, found.proof);
}

/** What was carried through the model when the page was written. */
function updateTrial() {
  const { data } = subject();
  if (!data.trials) return trial.hide();
  if (tried === data) return trial.follow();
  tried = data;
  trial.show(data, new StoredCarrier(data.trials), data.trials.before);
}

/** A part, a step or an output of the model by its name in the data, such as "+ attention".
 * @param {string} name */
function said(name) {
  const [, sign, word] = /** @type {string[]} */ (/^([+=] )?(.*)$/.exec(name));
  /** @type {Object<string, string>} */
  const words = {
    attention: t("attention"),
    cross: t("cross-attention"),
    "cross-attention": t("cross-attention"),
    "feed-forward": t("feed-forward"),
    "handed on": t("handed on"),
    "next word": t("next word"),
    "word in the blank": t("word in the blank"),
    label: t("label"),
    "sentence vector": t("sentence vector"),
  };
  return (sign ?? "") + (words[word] ?? word);
}

/** The text, the followed token marked. @param {WholeData} found */
function sentence(found) {
  return found.tokens.map((token, i) =>
    i === found.row ? make("mark", {}, shown(token), " ") : make("span", {}, shown(token), " "),
  );
}

/** What each part of each layer adds, drawn to one scale, and what is predicted. */
function drawing() {
  const found = /** @type {WholeData} */ (whole());
  const ink = isDark() ? "#e8e8ea" : "#1c1d21";
  const text = { fill: ink, "font-family": "system-ui, sans-serif", "font-size": 12 };
  if (!found) return svg("svg", { width: 1, height: 1 });
  const kinds = found.layers[0].parts.map(({ kind }) => kind);
  const most = Math.max(...found.layers.flatMap((l) => l.parts.map(({ size }) => size)), 1e-9);
  const right = LABEL + kinds.length * BAR + 90;
  const head = (/** @type {number} */ x, /** @type {string} */ name) =>
    svg("text", { ...text, x, y: 18, "font-weight": 600 }, name);
  const rows = found.layers.map((layer, i) => layerRow(layer, i, most, text));
  const height = TOP + ROW * Math.max(found.layers.length, found.predictions.length) + 8;
  const width = right + 330;
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": t("What each layer adds to the vector, and what is predicted"),
    },
    kinds.map((kind, i) => head(LABEL + i * BAR, `+ ${said(kind)}`)),
    head(LABEL + kinds.length * BAR, "|x|"),
    rows,
    found.predictions.length ? head(right, said(found.kind)) : null,
    found.predictions.map((said, i) => prediction(said, i, right, text)),
  );
}

/** @param {WholeData["layers"][number]} layer @param {number} i @param {number} most
 * @param {Object} text */
function layerRow(layer, i, most, text) {
  const y = TOP + i * ROW;
  const click = () => showLayer(i);
  const isChosen = i === chosenLayer();
  return svg(
    "g",
    { class: "way-layer", on: { click } },
    svg("text", { ...text, x: 4, y, "font-weight": isChosen ? 700 : 400 }, `${t("layer")} ${i}`),
    layer.parts.map(({ kind, size }, k) => {
      const x = LABEL + k * BAR;
      const wide = (size / most) * (BAR - 70);
      const fill = /** @type {Object<string, string>} */ (COLOURS)[kind];
      return [
        svg("rect", { x, y: y - 11, width: Math.max(1, wide), height: 14, fill, rx: 2 }),
        svg("text", { ...text, x: x + wide + 5, y }, number(size, 2)),
      ];
    }),
    svg("text", { ...text, x: LABEL + layer.parts.length * BAR, y }, number(layer.size, 2)),
  );
}

/** @param {WholeData["predictions"][number]} said @param {number} i @param {number} x
 * @param {Object} text */
function prediction(said, i, x, text) {
  const y = TOP + i * ROW;
  const wide = 130 * said.probability;
  return [
    svg("text", { ...text, x, y, class: "way-word" }, shown(said.word, 16)),
    svg("rect", {
      x: x + 120,
      y: y - 11,
      width: Math.max(1, wide),
      height: 14,
      fill: "#2b8a5a",
      rx: 2,
    }),
    svg("text", { ...text, x: x + 125 + wide, y }, number(said.probability, 4)),
  ];
}

function chosenLayer() {
  const last = (whole()?.layers.length ?? 1) - 1;
  return chosen < 0 ? last : Math.min(chosen, last);
}

/** @param {number} i */
function showLayer(i) {
  chosen = i;
  updateWhole();
  parts.layer.querySelector("select")?.focus();
}

/** The vectors of the chosen layer. @param {WholeData} found */
function layerTable(found) {
  const i = chosenLayer();
  const rows = found.layers[i].steps.map(({ name, formula, meaning, size, start }) =>
    make(
      "tr",
      { title: meaning },
      make("th", { scope: "row" }, said(name)),
      make("td", {}, formula),
      make("td", {}, number(size, 3)),
      make("td", {}, `[${start.map((v) => number(v, 3)).join("  ")} …]`),
    ),
  );
  const change = (/** @type {any} */ event) => showLayer(Number(event.target.value));
  const choice = make("select", { on: { change } });
  fillOptions(
    choice,
    found.layers.map((_, k) => String(k)),
    i,
  );
  return [
    make("label", { class: "field" }, make("span", {}, t("Every step of layer")), choice),
    make(
      "table",
      { class: "plain" },
      tableHead([t("step"), t("formula"), t("size"), t("its first numbers")]),
      make("tbody", {}, rows),
    ),
  ];
}

/** @param {NonNullable<WholeData["parts"]>} said */
function whoSaidIt({ word, score, total, rows }) {
  const most = Math.max(...rows.map((row) => Math.abs(row.score)), 1e-9);
  const line = (/** @type {{name: string, score: number}} */ { name, score: value }) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, name),
      make("td", {}, number(value, 3)),
      make(
        "td",
        { class: value < 0 ? "way-less" : "way-more" },
        make("span", { style: { width: `${(120 * Math.abs(value)) / most}px` } }),
      ),
    );
  const values = { word: shown(word), score: number(score, 4), total: number(total, 4) };
  return [
    make("h2", {}, t("Who said {word}?", values)),
    make("p", { class: "quiet" }, t("The parts sum to {total}; the logit is {score}.", values)),
    make(
      "table",
      { class: "plain way-parts" },
      tableHead([t("part"), t("logit"), t("as a bar")]),
      make("tbody", {}, rows.slice(0, MOST_PARTS).map(line)),
    ),
  ];
}

/** Sizes by layer, for export. */
function wholeTable() {
  const layers = whole()?.layers ?? [];
  const kinds = layers[0]?.parts.map(({ kind }) => kind) ?? [];
  const rows = layers.map((layer, i) => [i, ...layer.parts.map(({ size }) => size), layer.size]);
  return { columns: ["layer", ...kinds, "handed on"], rows };
}
