// The living page: a sentence is typed or an image drawn, a model that this file carries runs on
// it, and the page shows what it did. Nothing leaves the file.

import { isChange, NO_CHANGE } from "./attention.js";
import { Arrays } from "./data.js";
import { make, put, small, tokenText } from "./dom.js";
import { Engine } from "./engine.js";
import { t } from "./language.js";
import { mainLayers, nested, parcelOf } from "./looked.js";
import { begin, carried, failed, show } from "./main.js";
import { NOTHING } from "./network/wish.js";
import { Pad, pictureOf } from "./pad.js";
import { rerun, saidOf } from "./rerun.js";
import { tellResult } from "./result.js";
import { choose, state, watch } from "./state.js";
import { Wishes } from "./wishes.js";
/** @import {Example} from "./looked.js" */
/** @import {Look} from "./network/runner.js" */

const { content, packed } = carried();
const { live } = content;
const file = { ...content, arrays: new Arrays(live.arrays, packed) };
// @ts-expect-error: the worker's own script, put before this one where the file is made
const engine = new Engine(WORKER, live, packed);
const wishes = new Wishes(() => void run());
const root = document.documentElement;

/** @type {Object<string, any>} */
const form = {};
/** What is drawn on, by model. @type {Map<number, Pad>} */
const pads = new Map();
let chosen = 0; // the model
let asked = 0; // looks; an answer to an older one is not shown
let typing = 0;
let isShown = false; // whether any look was
/** What is shown. @type {Look | null} */
let last = null;
/** The same of the sentence that it is compared with. @type {Look | null} */
let beside = null;
/** What of it is kept by the next one. @type {Object<string, any>} */
let kept = {};

function model() {
  return live.models[chosen];
}

function readsImages() {
  return model().task === "images";
}

/** The pad of the chosen model. */
function pad() {
  const found = pads.get(chosen) ?? new Pad(model().config, drawn);
  pads.set(chosen, found);
  return found;
}

/** The form, anew in the language that is spoken. */
function buildForm() {
  const { text = "", told = "" } = { text: form.text?.value, told: form.told?.textContent };
  form.model = make(
    "select",
    { "aria-label": t("Model"), hidden: live.models.length < 2, on: { change: changeModel } },
    live.models.map((/** @type {any} */ m, /** @type {number} */ i) =>
      make("option", { value: i, selected: i === chosen }, m.name),
    ),
  );
  form.text = make("textarea", {
    rows: 1,
    "aria-label": t("Sentence"),
    placeholder: t("Type a sentence …"),
    spellcheck: "false",
    on: { input: later, keydown: now },
  });
  form.text.value = text;
  form.pad = make("div", {});
  for (const one of pads.values()) one.rebuild();
  form.beside = make("input", {
    type: "search",
    "aria-label": t("A sentence to compare it with"),
    placeholder: t("A sentence to compare it with"),
    value: form.beside?.value ?? "",
    on: { change: () => void run() },
  });
  form.examples = make("span", { class: "examples" });
  form.told = make("p", { class: "quiet", role: "status" }, told);
  form.output = make("div", { class: "live-output", role: "status" });
  form.proof ??= make("p", { id: "live-proof" }, t("Proof: not computed yet."));
  form.origin = make("p", {});
  tellModel();
  wishes.build(last);
  if (last) tellResult(form.output, last, wishes.before, beside);
  return make(
    "section",
    { class: "live", "aria-label": t("The model in this file") },
    make("div", { class: "live-say" }, form.text, form.beside, form.pad, form.output),
    make("div", { class: "ask-row" }, form.model, form.examples, form.told),
    make("div", { class: "live-more" }, wishes.element, buildAbout()),
  );
}

function buildAbout() {
  return make(
    "details",
    { class: "about quiet" },
    make("summary", {}, t("The model in this file: its weights, its proof, its licence")),
    form.proof,
    form.origin,
  );
}

/** @param {KeyboardEvent} event */
function now(event) {
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  restart(form.text.value);
}

/** Soon after the last key. */
function later() {
  clearTimeout(typing);
  typing = setTimeout(() => restart(form.text.value), 300);
}

/** A few times a second while something is drawn. */
function drawn() {
  typing ||= setTimeout(() => restart(), 80);
}

function changeModel() {
  chosen = Number(form.model.value);
  [kept, last] = [{}, null];
  tellModel();
  restart(model().examples[0]);
}

/** Something else to read, or what is there now: nothing is wished. @param {Example} [example] */
function restart(example) {
  clearTimeout(typing);
  typing = 0;
  if (typeof example === "object") pad().set(example.pixels);
  else if (example !== undefined && form.text.value !== example) form.text.value = example;
  wishes.reset();
  void run();
}

/** What the model makes of the sentence to compare with, where it makes vectors of sentences. */
async function lookBeside() {
  if (model().task !== "sentence" || !form.beside.value.trim()) return null;
  return engine.look(chosen, form.beside.value, NOTHING);
}

function tellModel() {
  const { examples, origin, task } = model();
  form.text.hidden = readsImages();
  form.pad.hidden = !readsImages();
  put(form.pad, readsImages() ? pad().element : null);
  form.beside.hidden = task !== "sentence";
  if (task === "sentence") form.beside.value ||= examples[1] ?? "";
  put(
    form.examples,
    examples.map((/** @type {Example} */ one) =>
      make("button", { type: "button", on: { click: () => restart(one) } }, exampleName(one)),
    ),
  );
  form.origin.textContent = `${weightsOf(model())} ${origin}`;
}

/** @param {Example} example */
function exampleName(example) {
  if (typeof example === "string") return tokenText(example, 60);
  const src = pictureOf({ ...pad().pixels, values: example.pixels });
  return [make("img", { src, alt: "", class: "coarse" }), tokenText(example.name, 30)];
}

/** Which weights run here. @param {any} of a model */
function weightsOf(of) {
  const kind = of.bits === 8 ? t("8 bits") : t("half precision (16 bits)");
  if (of.moved === null) return t("Weights in {kind}: the model's own.", { kind });
  const moved = small(of.moved);
  return [
    t(
      "Weights rounded to {kind}: against the original's, attention moves by at most {moved} on " +
        "the examples.",
      { kind, moved },
    ),
    of.other
      ? t("{other} of {count} results are not the same.", {
          other: of.other,
          count: of.proof.length,
        })
      : "",
  ].join(" ");
}

/** Run the model on what is typed, with what is wished. Only the newest answer is shown. */
async function run() {
  const mine = ++asked;
  form.told.textContent = t("running …");
  root.dataset.running = String(mine);
  const began = performance.now();
  const given = readsImages() ? pad().pixels.values : form.text.value;
  const place = whereNow();
  try {
    const look = await engine.look(chosen, given, wishes.wish, (part) => grow(part, mine, place));
    if (mine !== asked) return;
    asked += 1; // whatever still grows is older
    const ms = Math.round(performance.now() - began);
    const notes = look.notes.map(([said, values]) => t(said, values));
    form.told.textContent = [t("{ms} ms in this browser", { ms }), ...notes].join(" · ");
    last = look;
    beside = await lookBeside();
    tellResult(form.output, look, wishes.before, beside);
    wishes.build(look);
    await showLook(look, place ?? kept);
  } catch (error) {
    if (mine === asked) tellNothing(error);
  }
  if (root.dataset.running === String(mine)) delete root.dataset.running;
}

/** What cannot be read is said, and nothing is shown in its place. @param {unknown} error */
function tellNothing(error) {
  form.told.textContent = error instanceof Error ? error.message : String(error);
  last = null;
  put(form.output);
  wishes.build(null);
  hideViews();
}

/** There is nothing for the views to show. */
function hideViews() {
  root.classList.add("empty");
  root.dataset.ready = String(Math.round(performance.now()));
}

/** Where the eye is, which stays if something is wished; and on an image, whose parts are the same
 * parts whatever it shows. */
function whereNow() {
  const { layer, head, query, key } = state;
  if (wishes.before) return { ...kept, layer, head, query, key };
  return last?.pixels ? { ...kept, layer, head, query } : null;
}

let isDrawing = false;

/** What is written so far, at most once a picture. @param {Look} part @param {number} mine
 * @param {Object<string, any> | null} place what is chosen; else the token just written */
function grow(part, mine, place) {
  if (isDrawing || mine !== asked) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    if (mine !== asked) return;
    tellResult(form.output, part, wishes.before);
    void showLook(part, place ?? { ...kept, ...lastLink(part) });
  });
}

/** The token just written, and where it looked most. @param {Look} part */
function lastLink(part) {
  const main = mainLayers(part);
  if (!main.length) return {};
  const { shape, weights } = main[main.length - 1];
  const query = shape[0] - 1;
  const row = weights.subarray(query * shape[1], (query + 1) * shape[1]);
  return { query, key: row.indexOf(Math.max(...row)) };
}

/** @param {Look} look @param {Object<string, any>} first what is chosen */
async function showLook(look, first) {
  if (!look.layers.some(({ weights }) => weights.length)) return hideViews();
  root.classList.remove("empty");
  // The address told of another look; a frame has none.
  if (isShown && location.protocol !== "about:") history.replaceState(null, "", "#");
  isShown = true;
  const { lang } = state;
  await show([parcelOf(look, model().name, {}, file)], { ...first, lang }).catch(failed);
}

/** What is chosen in the views holds for the next look; what is masked there, for the model.
 * @param {Set<string>} changed */
function follow(changed) {
  if (changed.has("view")) kept = { ...kept, view: state.view };
  wishes.nameChosen();
  if (!isChange(state.change) || !wishes.canMask()) return;
  const { masked, factor } = state.change;
  choose({ change: NO_CHANGE });
  wishes.takeOver([...masked], factor);
}

/** Every stored sentence of every model, run again. */
async function prove() {
  const said = [];
  let most = 0;
  for (const [i, { name, proof }] of live.models.entries()) {
    form.proof.textContent = t("Proof: computing {name} …", { name });
    const agreement = await rerun(engine, file.arrays, i, proof);
    most = Math.max(most, agreement.most);
    said.push(saidOf(name, agreement, proof.length));
  }
  const how = t("Proof, computed in this page when it was opened.");
  form.proof.textContent = [how, ...said].join(" ");
  form.proof.dataset.most = String(most);
}

/** What a model makes of a text or an image, for scripts: the chosen one, or another by name.
 * @param {any} given @param {{model?: string}} [options] */
async function look(given, { model: name } = {}) {
  const names = live.models.map((/** @type {any} */ m) => m.name);
  const place = name === undefined ? chosen : names.indexOf(name);
  if (place < 0) throw new Error(`there is no model ${name} here (known: ${names.join(", ")})`);
  const isList = typeof given === "object" && given !== null;
  const found = await engine.look(place, isList ? Array.from(given) : String(given), NOTHING);
  const { tokens, output } = found;
  return { model: names[place], text: found.text, tokens, output, weights: nested(found) };
}

/** @type {any} */ (window).regard = { look };
root.classList.add("living", "empty"); // until there is something to see
begin(buildForm);
watch(follow);
restart(live.models[0].examples[0]);
setTimeout(() => void prove().catch(failed), 500);
