// The living page: a sentence is typed, a model that this file carries runs on it, and the page
// shows what it did. Nothing leaves the file.

import { Arrays } from "./data.js";
import { make, put, small, tokenText } from "./dom.js";
import { Engine } from "./engine.js";
import { nested, parcelOf } from "./looked.js";
import { begin, carried, failed, show } from "./main.js";
import { NOTHING } from "./network/wish.js";
import { rerun, saidOf } from "./rerun.js";
import { tellResult } from "./result.js";
import { state, watch } from "./state.js";
import { Wishes } from "./wishes.js";
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
let asked = 0;
let typing = 0;
let isOpen = false; // whether this model has been shown
let wasShown = false; // whether any has

function model() {
  return live.models[Number(form.model.value)];
}

function buildForm() {
  form.model = make(
    "select",
    {
      "aria-label": "Model",
      hidden: live.models.length < 2,
      on: {
        change: () => {
          isOpen = false;
          restart(model().examples[0]);
        },
      },
    },
    live.models.map((/** @type {any} */ m, /** @type {number} */ i) =>
      make("option", { value: i }, m.name),
    ),
  );
  form.text = make("textarea", {
    rows: 1,
    "aria-label": "Sentence",
    placeholder: "Type a sentence …",
    spellcheck: "false",
    on: { input: later, keydown: now },
  });
  form.examples = make("span", { class: "examples" });
  form.told = make("p", { class: "quiet", role: "status" });
  form.output = make("div", { class: "live-output", role: "status" });
  form.proof = make("p", { id: "live-proof" }, "Proof: not computed yet.");
  form.origin = make("p", {});
  return make(
    "section",
    { class: "live", "aria-label": "The model in this file" },
    make("div", { class: "live-say" }, form.text, form.output),
    make("div", { class: "ask-row" }, form.model, form.examples, form.told),
    wishes.element,
    make(
      "details",
      { class: "about quiet" },
      make("summary", {}, "The model in this file: its weights, its proof, its licence"),
      form.proof,
      form.origin,
    ),
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

/** Another text, or another model. @param {string} text */
function restart(text) {
  clearTimeout(typing);
  if (form.text.value !== text) form.text.value = text;
  wishes.reset();
  tellModel();
  void run();
}

function tellModel() {
  const { examples, origin } = model();
  put(
    form.examples,
    examples.map((/** @type {string} */ text) =>
      make("button", { type: "button", on: { click: () => restart(text) } }, tokenText(text, 60)),
    ),
  );
  form.origin.textContent = `${weightsOf(model())} ${origin}`;
}

/** Which weights run here. @param {any} of a model */
function weightsOf(of) {
  const kind = of.bits === 8 ? "8 bits" : "half precision (16 bits)";
  if (of.moved === null) return `Weights in ${kind}: the model's own.`;
  const other = of.other ? ` ${of.other} of ${of.proof.length} results are not the same.` : "";
  return (
    `Weights rounded to ${kind}: against the original's, attention moves by at most ` +
    `${small(of.moved)} on the example sentences.${other}`
  );
}

/** Run the model on what is typed, with what is wished. Only the newest answer is shown. */
async function run() {
  const mine = ++asked;
  form.told.textContent = "running …";
  const began = performance.now();
  try {
    const look = await engine.look(
      Number(form.model.value),
      form.text.value,
      wishes.wish,
      (part) => mine === asked && grow(part, mine),
    );
    if (mine !== asked) return;
    asked += 1; // whatever still grows is older
    const took = Math.round(performance.now() - began);
    form.told.textContent = [`${took} ms in this browser`, ...look.notes].join(" · ");
    tellResult(form.output, look, wishes.before);
    showLook(look);
    wishes.build(look);
  } catch (error) {
    if (mine === asked) tellNothing(error);
  }
}

/** What cannot be read is said, and nothing is shown in its place. @param {unknown} error */
function tellNothing(error) {
  form.told.textContent = error instanceof Error ? error.message : String(error);
  put(form.output);
  wishes.build(null);
  hideViews();
}

/** There is nothing for the views to show. */
function hideViews() {
  root.classList.add("empty");
  root.dataset.ready = String(Math.round(performance.now()));
}

let isDrawing = false;

/** What is written so far, at most once a picture. @param {Look} part @param {number} mine */
function grow(part, mine) {
  if (isDrawing) return;
  isDrawing = true;
  requestAnimationFrame(() => {
    isDrawing = false;
    if (mine !== asked) return;
    tellResult(form.output, part, wishes.before);
    if (part.layers.length) showLook(part, part.layers[0].shape[0] - 1);
  });
}

/** @param {Look} look @param {number} [query] the chosen row */
function showLook(look, query) {
  if (!look.layers.some(({ weights }) => weights.length)) return hideViews();
  root.classList.remove("empty");
  const { name, start } = model();
  const chosen = isOpen ? { view: state.view, layer: state.layer, head: state.head } : start;
  if (wasShown) history.replaceState(null, "", "#"); // the address told of another look
  isOpen = wasShown = true;
  const last = look.layers[0].shape[0] - 1;
  const first = { words: true, ...chosen, query: query ?? (look.layers[0].recurrent ? last : 0) };
  show([parcelOf(look, name, first, file)]).catch(failed);
}

/** Every stored sentence of every model, run again. */
async function prove() {
  const said = [];
  let most = 0;
  for (const [i, { name, proof }] of live.models.entries()) {
    form.proof.textContent = `Proof: computing ${name} …`;
    const agreement = await rerun(engine, file.arrays, i, proof);
    most = Math.max(most, agreement.most);
    said.push(saidOf(name, agreement, proof.length));
  }
  form.proof.textContent = `Proof, computed in this page when it was opened. ${said.join(" ")}`;
  form.proof.dataset.most = String(most);
}

/** What a model makes of a text, for scripts: the one that is chosen, or another by name.
 * @param {string} text @param {{model?: string}} [options] */
async function look(text, { model: name } = {}) {
  const names = live.models.map((/** @type {any} */ m) => m.name);
  const place = name === undefined ? Number(form.model.value) : names.indexOf(name);
  if (place < 0) throw new Error(`there is no model ${name} here (known: ${names.join(", ")})`);
  const found = await engine.look(place, String(text), NOTHING);
  const { tokens, output } = found;
  return { model: names[place], text: found.text, tokens, output, weights: nested(found) };
}

/** @type {any} */ (window).regard = { look };
root.classList.add("living");
begin(buildForm());
watch(() => wishes.nameChosen());
restart(live.models[0].examples[0]);
setTimeout(() => void prove().catch(failed), 500);
