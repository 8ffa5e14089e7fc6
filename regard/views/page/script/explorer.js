// The explorer: a text is typed, a model reads it on the server, and the page shows it.

import { ServerCarrier } from "./carry.js";
import { make, put, say } from "./dom.js";
import { language, t } from "./language.js";
import { begin, carried, failed, retryButton, show } from "./main.js";
import { Arrays } from "./data.js";
import { pick, setMaker } from "./measures.js";
import { model, setLayerKind, subject } from "./model.js";
import { ask, askWork, RemoteLayer } from "./remote.js";
import { fromFragment, setInAddress, state, watch } from "./state.js";
import { Trial } from "./trial.js";
/** @import {Parcel} from "./model.js" */
/** @import {State} from "./state.js" */

const { serve } = carried().content;
const EXAMPLES = [
  "The animal didn't cross the street because it was too tired.",
  "She poured water from the bottle into the cup until it was full.",
  "The keys to the old cabinet are on the table.",
];
const MOST_BESIDE = 4;
/** @type {Object<string, any>} */
const form = {};
let running = "";
/** Counts what was asked for: an answer to an earlier question is not shown. */
let turn = 0;
/** What is shown, the newest last. @type {{id: string, parcel: Parcel}[]} */
let shownLooks = [];
const trial = new Trial(besideButton);
/** Whose what-if it is. @type {ServerCarrier | null} */
let carrier = null;

/** The form; made anew in another language it keeps what was typed. */
function buildForm() {
  const [text, name] = [form.text?.value ?? "", form.model?.value];
  form.model = make(
    "select",
    { "aria-label": t("Model") },
    serve.models.map((/** @type {any} */ m) => make("option", { value: m.name }, m.name)),
  );
  if (name) form.model.value = name;
  form.text = make("textarea", {
    rows: 2,
    "aria-label": t("Text"),
    placeholder: t("Type or paste a text …"),
    spellcheck: "false",
  });
  form.text.value = text;
  form.text.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.element.requestSubmit();
  });
  form.go = make("button", { type: "submit", class: "strong" }, t("Look"));
  form.stop = make("button", { type: "button", hidden: true, on: { click: stop } }, t("Cancel"));
  form.bar = make("progress", { max: 1, value: 0, hidden: true, "aria-label": t("Layers done") });
  form.keep = make("input", { type: "checkbox" });
  const beside = t("Beside what is shown, to compare");
  form.beside = make("label", { class: "check", hidden: !text }, form.keep, beside);
  const most = t("Texts of up to {n} tokens. Nothing leaves this machine.", {
    n: serve.most_tokens,
  });
  form.told = make("span", { class: "quiet", role: "status" }, most);
  const course = { href: `learn?lang=${language()}`, target: "_blank", rel: "noopener" };
  const learn = make("a", course, t("Learn"));
  const row = [form.model, form.go, form.stop, form.beside, form.bar, form.told, learn];
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    look();
  };
  form.element = make(
    "form",
    { class: "ask", on: { submit } },
    form.text,
    examples(),
    make("div", { class: "ask-row" }, row),
  );
  trial.build();
  return make("div", {}, form.element, trial.element);
}

/** The what-if of what is chosen. @param {Set<string>} changed */
function followTrial(changed) {
  const address = model.subjects[state.subject]?.own[0]?.address ?? "";
  if (address !== carrier?.address) void tryOut(address).catch(() => trial.hide());
  else if (["change", "layer", "head", "query", "key", "words"].some((n) => changed.has(n)))
    trial.follow();
}

/** @param {string} address of a look */
async function tryOut(address) {
  const mine = (carrier = new ServerCarrier(address));
  trial.hide();
  const before = await mine.before();
  if (mine === carrier) trial.show(model.subjects[state.subject].data, mine, before);
}

/** Let the server compute a measure of what is shown. @param {string} name */
async function measured(name) {
  const of = subject();
  const task = await askWork(`${of.own[0].address}/measures/${name}`, {});
  const found = await (await ask(`/api/looks/${task.id}/measured`)).json();
  const said = of.data.measures?.find((one) => one.name === name);
  if (said) said.scored = found.scored;
  of.take(found, new Arrays(found.arrays, found.packed));
  await forget(task.id);
}

/** To see the attention of the changed model. */
function besideButton() {
  const id = carrier?.look ?? "";
  const click = async () => {
    shownLooks = [...shownLooks.slice(1 - MOST_BESIDE), await fetched(id)];
    history.pushState(history.state, "", "#");
    await showAll(besideTheLast(shownLooks.length));
  };
  const on = { click: () => void click().catch(tell) };
  return make("button", { type: "button", on }, t("Its attention, beside the unchanged"));
}

/** Sentences to begin with: a click looks at one. */
function examples() {
  const one = (/** @type {string} */ text) => {
    const click = () => {
      form.text.value = text;
      look();
    };
    return make("button", { type: "button", class: "example", lang: "en", on: { click } }, text);
  };
  return make("div", { class: "examples" }, make("span", {}, t("For example")), EXAMPLES.map(one));
}

/** Look at what is typed. */
function look() {
  const again = () => look();
  send(form.text.value, form.model.value).catch((error) => tell(error, again));
}

/** What went wrong, and a way to try it again. @param {any} error @param {() => void} [again] */
function tell(error, again) {
  busy(false);
  const said = error instanceof Error ? error.message : String(error);
  put(form.told, said, " ", again ? retryButton(again) : null);
}

/** @param {boolean} isBusy */
function busy(isBusy) {
  form.go.disabled = isBusy;
  form.stop.hidden = form.bar.hidden = !isBusy;
  if (!isBusy) running = "";
}

/** @param {string} text @param {string} name of the model
 * @param {boolean} [preview] of a text that nobody typed */
async function send(text, name, preview = false) {
  const mine = ++turn;
  busy(true);
  form.go.disabled = !preview;
  form.told.textContent = t("sent");
  const answer = await ask("/api/looks", {
    method: "POST",
    body: JSON.stringify({ model: name, text }),
    headers: { "content-type": "application/json" },
  });
  const done = await finished(await answer.json(), mine);
  if (!done) return;
  form.told.textContent = t("computing");
  const found = await fetched(done.id);
  if (mine !== turn) return;
  const beside = form.keep.checked && shownLooks.length > 0;
  shownLooks = [...(beside ? shownLooks.slice(1 - MOST_BESIDE) : []), found];
  if (preview) history.replaceState({ text, model: name }, "", "#");
  else history.pushState({ text, model: name }, "", "#");
  await showAll(beside ? besideTheLast(shownLooks.length) : undefined);
  form.beside.hidden = preview;
  form.told.textContent = t("{n} tokens", { n: done.tokens });
}

/** Wait for a look and tell how far it is; null if it was given up or another came after it.
 * @param {any} look @param {number} mine @returns {Promise<any>} */
async function finished(look, mine) {
  if (mine === turn) running = look.id;
  while (look.state === "queued" || look.state === "running") {
    if (mine !== turn || running !== look.id) return forget(look.id);
    const { tokens, done, layers } = look;
    form.told.textContent =
      look.state === "queued"
        ? t("waiting for its turn")
        : t("{tokens} tokens: layer {done} of {layers}", { tokens, done, layers });
    form.bar.value = layers ? done / layers : 0;
    await new Promise((go) => setTimeout(go, 150));
    look = await (await ask(`/api/looks/${look.id}`)).json();
  }
  if (look.state !== "done") throw new Error(look.error || t("it was cancelled"));
  return look;
}

/**
 * The same place, in the last two of what is shown.
 * @param {number} count
 * @returns {Partial<State>}
 */
function besideTheLast(count) {
  const { layer, head, query, key } = state;
  return {
    view: "compare",
    subject: count - 2,
    layer,
    head,
    query,
    key,
    other: [count - 1, layer, head],
  };
}

/** @param {string} id of a look that is done */
async function fetched(id) {
  const address = `/api/looks/${id}`;
  const { document: content, packed } = await (await ask(`${address}/document`)).json();
  return { id, parcel: { document: content, packed, address } };
}

/** @param {Partial<State>} [first] */
async function showAll(first) {
  busy(false);
  form.beside.hidden = false;
  document.documentElement.classList.remove("empty");
  const parcels = shownLooks.map(({ parcel }) => parcel);
  const { measure } = fromFragment(location.hash.slice(1));
  await show(parcels, first).catch(failed);
  if (measure) await pick(measure);
  followTrial(new Set());
  setInAddress("look", shownLooks.map(({ id }) => id).join("."));
}

/** The looks that an address names, as long as the server has them; after that, the text again.
 * @param {string} address */
async function restore(address) {
  const { hash } = new URL(address);
  const wanted = new URLSearchParams(hash.slice(1)).get("look") ?? "";
  const { text = "", model: name = "" } = history.state ?? {};
  if (text) form.text.value = text;
  if (name) form.model.value = name;
  if (!/^[0-9a-f.]+$/.test(wanted) || wanted === shownLooks.map(({ id }) => id).join(".")) return;
  try {
    shownLooks = await Promise.all(wanted.split(".").slice(0, MOST_BESIDE).map(fetched));
    history.replaceState(history.state, "", hash);
    await showAll();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const again = () => void (text ? look() : restore(address));
    tell(new Error(t("What this address shows is gone: {reason}.", { reason })), again);
  }
}

function stop() {
  busy(false); // whoever waits for it finds that it is no longer wanted
  form.told.textContent = t("cancelled");
  say(t("Cancelled"));
}

/** Stop a look that nobody waits for. @param {string} id */
async function forget(id) {
  await ask(`/api/looks/${id}`, { method: "DELETE" }).catch(() => null);
  return null;
}

document.documentElement.classList.add("empty");
setLayerKind(RemoteLayer);
setMaker(measured);
begin(buildForm);
watch(followTrial);
form.text.focus();
addEventListener("popstate", () => void restore(location.href));
if (location.hash.includes("look=")) restore(location.href);
else send(EXAMPLES[0], form.model.value, true).catch(tell);
