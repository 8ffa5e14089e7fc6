// The living page: a sentence is typed, a model that this file carries runs on it, and the page
// shows what it did. Nothing leaves the file.

import { Arrays } from "./data.js";
import { make, number, put, shown, small, tokenText } from "./dom.js";
import { Engine } from "./engine.js";
import { nested, parcelOf } from "./looked.js";
import { begin, carried, failed, show } from "./main.js";
import { NOTHING } from "./network/whatif.js";
import { state, watch } from "./state.js";
/** @import {Look} from "./network/runner.js" */
/** @import {Wish} from "./network/whatif.js" */

const { content, packed } = carried();
const { live } = content;
const file = { ...content, arrays: new Arrays(live.arrays, packed) };
// @ts-expect-error: the worker's own script, put before this one where the file is made
const engine = new Engine(WORKER, live, packed);

/** @type {Object<string, any>} */
const form = {};
/** What is wished for, and the look without it. @type {{wish: Wish, before: Look | null}} */
const whatIf = { wish: NOTHING, before: null };
/** @type {Look | null} */
let last = null;
let asked = 0;
let typing = 0;

function model() {
  return live.models[Number(form.model.value)];
}

function buildForm() {
  form.model = make(
    "select",
    { "aria-label": "Model", on: { change: () => restart(model().examples[0]) } },
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
  form.output = make("output", { class: "live-output", "aria-live": "polite" });
  form.wishes = make("div", { class: "wishes" });
  form.proof = make("p", { class: "quiet", id: "live-proof" }, "Proof: computing …");
  form.origin = make("p", { class: "quiet" });
  return make(
    "section",
    { class: "live", "aria-label": "The model in this file" },
    form.text,
    make("div", { class: "ask-row" }, form.model, form.examples),
    form.output,
    form.told,
    form.wishes,
    make("details", { class: "about" }, make("summary", {}, "About"), form.proof, form.origin),
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

/** Another text, or another model: no wish is kept. @param {string} text */
function restart(text) {
  clearTimeout(typing);
  if (form.text.value !== text) form.text.value = text;
  whatIf.wish = NOTHING;
  whatIf.before = null;
  tellModel();
  void run();
}

function tellModel() {
  const { examples, origin } = model();
  form.model.hidden = live.models.length < 2;
  put(
    form.examples,
    examples.map((/** @type {string} */ text) =>
      make(
        "button",
        { type: "button", class: "chip", on: { click: () => restart(text) } },
        tokenText(text, 60),
      ),
    ),
  );
  form.origin.textContent = `${weightsOf(model())} ${origin}`;
}

/** Which weights run here. @param {any} of a model */
function weightsOf(of) {
  const kind = of.bits === 8 ? "8 bits" : "half precision";
  if (of.moved === null) return `Weights in ${kind}: the model's own.`;
  const other = of.other
    ? ` ${of.other} of ${of.proof.length} results are no longer the same.`
    : "";
  return (
    `Weights rounded to ${kind}: against the original's, attention moves by at most ` +
    `${small(of.moved)} on the example sentences.${other}`
  );
}

/** Run the model on what is typed, with what is wished. Only the newest answer is shown. */
async function run() {
  const mine = ++asked;
  const text = form.text.value;
  const isNewest = () => mine === asked;
  form.told.textContent = "running …";
  const began = performance.now();
  try {
    const look = await engine.look(Number(form.model.value), text, whatIf.wish, (part) => {
      if (isNewest()) grow(part);
    });
    if (!isNewest()) return;
    last = look;
    form.told.textContent = [`${Math.round(performance.now() - began)} ms`, ...look.notes].join(
      " · ",
    );
    showLook(look, true);
    tellOutput(look);
    buildWishes();
  } catch (error) {
    if (isNewest()) tellNothing(error);
  }
}

/** What cannot be read is said, and nothing is shown in its place. @param {unknown} error */
function tellNothing(error) {
  last = null;
  form.told.textContent = error instanceof Error ? error.message : String(error);
  put(form.output);
  put(form.wishes);
  document.documentElement.classList.add("empty");
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

/** @type {Look | null} */
let growing = null;

/** What is written so far, at most once a picture. @param {Look} part */
function grow(part) {
  const idle = growing === null;
  growing = part;
  if (!idle) return;
  requestAnimationFrame(() => {
    if (growing && asked && form.told.textContent === "running …") {
      tellOutput(growing);
      showLook(growing, false);
    }
    growing = null;
  });
}

/** @param {Look} look @param {boolean} isWhole or still growing */
function showLook(look, isWhole) {
  const hasMaps = look.layers.length > 0 && look.layers[0].shape[0] > 0;
  document.documentElement.classList.toggle("empty", !hasMaps);
  if (!hasMaps) {
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
    return;
  }
  const known = document.documentElement.dataset.ready !== undefined;
  const start = {
    view: known ? state.view : "reading",
    words: true,
    query: isWhole ? 0 : look.layers[0].shape[0] - 1,
  };
  if (known) history.replaceState(null, "", "#");
  show([parcelOf(look, model().name, start, file)]).catch(failed);
}

/** @param {Look} look */
function tellOutput(look) {
  const said = tokenText(String(look.output), 4000);
  put(form.output, make("span", { class: "live-now" }, said));
  if (!whatIf.before) return;
  const same = whatIf.before.output === look.output;
  form.output.append(
    make(
      "span",
      { class: "live-before" },
      same ? "The same as before: " : "Before: ",
      tokenText(String(whatIf.before.output), 4000),
    ),
  );
}

/** @param {Partial<Wish>} change */
function wish(change) {
  whatIf.before ??= last;
  whatIf.wish = { ...whatIf.wish, ...change };
  if (JSON.stringify(whatIf.wish) === JSON.stringify(NOTHING)) whatIf.before = null;
  void run();
}

/** Words to mask, a link to cut, how sharply to look. */
function buildWishes() {
  if (!last || !last.layers.length || !last.layers[0].weights.length) return put(form.wishes);
  const keys = last.texts[last.layers[0].texts[1]];
  const { masked, factor, cut } = whatIf.wish;
  const words = keys.words.map((from, w) => {
    const to = keys.words[w + 1] ?? keys.tokens.length;
    const own = Array.from({ length: to - from }, (_, i) => from + i);
    const isMasked = masked.includes(from);
    return make(
      "button",
      {
        type: "button",
        class: "chip",
        "aria-pressed": String(isMasked),
        title: isMasked ? "Let it be looked at again" : "Let nothing look at it",
        on: {
          click: () =>
            wish({
              masked: isMasked ? masked.filter((j) => !own.includes(j)) : [...masked, ...own],
            }),
        },
      },
      tokenText(keys.names[w], 24),
    );
  });
  const sharp = make("input", {
    type: "range",
    ...{ min: -2, max: 2, step: 0.25, value: Math.log2(factor) },
    on: { change: () => wish({ factor: 2 ** Number(sharp.value) }) },
  });
  put(
    form.wishes,
    make("span", { class: "quiet" }, "What if nothing could look at"),
    words,
    make("label", { class: "field" }, make("span", {}, "how sharply it looks"), sharp),
    make("output", {}, `× ${number(factor, 2)}`),
    (form.cut = make("button", { type: "button", on: { click: cutChosen } }, "")),
    whatIf.before
      ? make("button", { type: "button", class: "strong", on: { click: undo } }, "Undo all")
      : null,
    cut.length ? make("span", { class: "quiet" }, `${cut.length} cut`) : null,
  );
  nameCut();
}

function undo() {
  whatIf.wish = NOTHING;
  whatIf.before = null;
  void run();
}

/** The link that is chosen in the views. */
function chosen() {
  if (!last) return null;
  const [from, to] = last.layers[0].texts;
  return { query: last.texts[from].tokens[state.query], key: last.texts[to].tokens[state.key] };
}

function nameCut() {
  const link = chosen();
  if (!form.cut || !link) return;
  form.cut.textContent = `Cut ${shown(link.query ?? "", 16)} → ${shown(link.key ?? "", 16)}`;
}

function cutChosen() {
  wish({ cut: [...whatIf.wish.cut, [state.query, state.key]] });
}

/** Every stored sentence run again, here: the largest difference to what Python had. */
async function prove() {
  const found = [];
  for (const [i, one] of live.models.entries()) {
    let most = 0;
    let same = 0;
    for (const { text, output, weights } of one.proof) {
      const look = await engine.look(i, text, NOTHING);
      const theirs = await file.arrays.get(weights);
      const ours = look.layers.flatMap((layer) => [...layer.weights]);
      const isEqual = ours.length === theirs.data.length;
      ours.forEach((weight, k) => {
        most = Math.max(most, isEqual ? Math.abs(weight - theirs.data[k]) : 1);
      });
      same += Number(isEqual && look.output === output);
    }
    found.push(
      `${one.name}: ${same} of ${one.proof.length} stored sentences computed again with the same ` +
        `result; largest difference of a weight ${small(most)}.`,
    );
    form.proof.dataset.most = String(Math.max(most, Number(form.proof.dataset.most ?? 0)));
  }
  form.proof.textContent = `Proof, computed in this page now: ${found.join(" ")}`;
}

/** What a model makes of a text, for scripts: by name, or the one that is chosen.
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
begin(buildForm());
watch(nameCut);
restart(live.models[0].examples[0]);
setTimeout(() => void prove().catch(failed), 400);
