// Measures: what can be shown in place of the weights. They are derived from them, and said to be.

import { make, put, say } from "./dom.js";
import { t } from "./language.js";
import { isDerived, subject } from "./model.js";
import { choose, state } from "./state.js";
/** @import {MeasureData} from "./data.js" */
/** @typedef {{title: string, formula: string, said: string}} Measure */

/** Whoever can compute one that is not here, such as a server.
 * @type {((name: string) => Promise<void>) | null} */
let maker = null;
/** @type {Object<string, any>} */
const parts = {};

/** @param {(name: string) => Promise<void>} make lets a measure be computed and takes it in */
export function setMaker(make) {
  maker = make;
}

/** @param {string} name @returns {Measure} */
export function measure(name) {
  return known()[name] ?? known()[""];
}

/** @returns {Object<string, Measure>} */
function known() {
  return {
    "": {
      title: t("weights"),
      formula: "aᵢⱼ",
      said: t("The attention itself: the share of each token in a row."),
    },
    norm: {
      title: t("size of what is brought"),
      formula: "‖aᵢⱼ vⱼ W_O‖",
      said: t(
        "A large weight on a small vector brings little: the length of the weighted value behind " +
          "the output matrix, as a share of its row (Kobayashi et al. 2020).",
      ),
    },
    rollout: {
      title: t("rollout"),
      formula: "Rₗ = (½ mean Aₗ + ½ I) Rₗ₋₁",
      said: t(
        "The heads of a layer averaged and half of each token kept, multiplied through all " +
          "layers so far: where a token's vector came from, if nothing but weights counted " +
          "(Abnar & Zuidema 2020).",
      ),
    },
    flow: {
      title: t("flow"),
      formula: "max-flow(½ mean Aₗ + ½ I)",
      said: t(
        "The most that could stream from token to token through all layers so far, no way wider " +
          "than its narrowest part; texts of up to 32 tokens (Abnar & Zuidema 2020).",
      ),
    },
    "value-zeroing": {
      title: t("value zeroing"),
      formula: "1 − cos(yᵢ, yᵢ without vⱼ)",
      said: t(
        "How much the direction of what a layer hands on of a token changes without another " +
          "token's value, as a share of its row (Mohebbi et al. 2023).",
      ),
    },
    gradient: {
      title: t("gradient × attention"),
      formula: "|aᵢⱼ ∂y/∂aᵢⱼ|",
      said: t(
        "How far what the model says would move with a weight, times that weight, as a share of " +
          "its row; rows on which it does not depend are 0 (Serrano & Smith 2019).",
      ),
    },
  };
}

/** A formula in one line. @param {string} text */
export function formulaOf(text) {
  return make("span", { class: "formula in-line", lang: "en" }, text);
}

/** What there is to choose from; nothing where a page has weights alone. */
export function buildMeasures() {
  parts.chosen = make("span", {});
  parts.list = make("div", {
    class: "measures-list",
    role: "radiogroup",
    "aria-label": t("Shown"),
  });
  const summary = make("summary", {}, make("span", {}, t("Shown")), parts.chosen);
  parts.box = make("details", { class: "measures" }, summary, parts.list);
  return parts.box;
}

export function updateMeasures() {
  const all = subject().data.measures ?? [];
  parts.box.hidden = !all.length;
  parts.chosen.textContent = measure(state.measure).title;
  const said = all.map((one) => `${one.name} ${reasonOf(one)}`).join();
  if (said !== parts.list.dataset.said)
    put(
      parts.list,
      option("", ""),
      all.map((one) => option(one.name, reasonOf(one), one.reason !== "")),
    );
  parts.list.dataset.said = said;
  for (const input of parts.list.querySelectorAll("input"))
    input.checked = input.value === state.measure;
}

/** Why a measure cannot be chosen; empty if it can. @param {MeasureData} of */
function reasonOf(of) {
  if (subject().measured.has(of.name)) return "";
  if (of.reason) return of.reason;
  return maker
    ? ""
    : t(
        "Not computed when this file was written; asked for by: regard look … --html " +
          "--measure {name}",
        { name: of.name },
      );
}

/** @param {string} name @param {string} reason
 * @param {boolean} [isOwn] whether the model's side gave the reason, in its own words */
function option(name, reason, isOwn = false) {
  const { title, formula, said } = measure(name);
  const input = make("input", {
    type: "radio",
    name: "measure",
    value: name,
    disabled: Boolean(reason),
    on: { change: () => void pick(name) },
  });
  return make(
    "label",
    { class: reason ? "measure greyed" : "measure", on: { click: close } },
    input,
    make(
      "span",
      {},
      make("strong", {}, title),
      formulaOf(formula),
      name ? make("em", {}, t("derived")) : null,
      make(
        "small",
        {},
        said,
        reason ? make("span", { class: "reason", lang: isOwn && "en" }, reason) : null,
      ),
    ),
  );
}

/** A click closes the list, arrow keys walk on in it. @param {MouseEvent} event */
function close(event) {
  if (event.detail) parts.box.open = false;
}

/** Show it; where it is not here yet, let it be computed. @param {string} name */
export async function pick(name) {
  if (name && !subject().measured.has(name) && maker) {
    parts.chosen.textContent = t("computing");
    try {
      await maker(name);
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      const found = subject().data.measures?.find((one) => one.name === name);
      if (found) found.reason = said;
      say(said);
      return updateMeasures();
    }
  }
  choose({ measure: name });
}

/** What is shown in place of the weights, said in one line; null of the weights themselves. */
export function derivedLine() {
  if (!state.measure) return null;
  const back = make(
    "button",
    { type: "button", on: { click: () => choose({ measure: "" }) } },
    t("Back to the weights"),
  );
  if (!isDerived()) return [t("These are weights: the measure is of self-attention alone. "), back];
  const { title, formula, said } = measure(state.measure);
  const found = subject().data.measures?.find(({ name }) => name === state.measure);
  return [
    make("strong", {}, t("Derived, not weights: {title} ", { title })),
    formulaOf(formula),
    ` ${said} `,
    found?.scored ? t("Here y is {number}. ", { number: found.scored }) : "",
    back,
  ];
}
