// The explorer: a text is typed, a model reads it on the server, and the page shows it.

import { make, put, say } from "./dom.js";
import { begin, carried, failed, show } from "./main.js";
import { setLayerKind } from "./model.js";
import { ask, RemoteLayer } from "./remote.js";
import { setInAddress, state } from "./state.js";
/** @import {Parcel} from "./model.js" */
/** @import {State} from "./state.js" */

const { serve } = carried().content;
/** @type {Object<string, any>} */
const form = {};
let running = "";
const MOST_BESIDE = 4;
/** What is shown, the newest last. @type {{id: string, parcel: Parcel}[]} */
let shownLooks = [];

function buildForm() {
  form.model = make(
    "select",
    { "aria-label": "Model" },
    serve.models.map((/** @type {any} */ m) => make("option", { value: m.name }, m.name)),
  );
  form.text = make("textarea", {
    rows: 2,
    "aria-label": "Text",
    placeholder: "Type or paste a text …",
    spellcheck: "false",
  });
  form.go = make("button", { type: "submit", class: "strong" }, "Look");
  form.stop = make("button", { type: "button", hidden: true, on: { click: stop } }, "Cancel");
  form.bar = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "Layers done" });
  form.keep = make("input", { type: "checkbox" });
  form.beside = make(
    "label",
    { class: "check", hidden: true },
    form.keep,
    "Beside what is shown, to compare",
  );
  form.told = make(
    "span",
    { class: "quiet", role: "status" },
    `Texts of up to ${serve.most_tokens} tokens. Nothing leaves this machine.`,
  );
  form.text.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.element.requestSubmit();
  });
  form.element = make(
    "form",
    {
      class: "ask",
      on: {
        submit: (/** @type {Event} */ e) => {
          e.preventDefault();
          send().catch(tell);
        },
      },
    },
    form.text,
    make(
      "div",
      { class: "ask-row" },
      form.model,
      form.go,
      form.stop,
      form.beside,
      form.bar,
      form.told,
    ),
  );
  return form.element;
}

/** @param {any} error */
function tell(error) {
  busy(false);
  form.told.textContent = error instanceof Error ? error.message : String(error);
}

/** @param {boolean} isBusy */
function busy(isBusy) {
  form.go.disabled = isBusy;
  form.stop.hidden = form.bar.hidden = !isBusy;
  if (!isBusy) running = "";
}

async function send() {
  busy(true);
  form.told.textContent = "sent";
  const body = JSON.stringify({ model: form.model.value, text: form.text.value });
  const answer = await ask("/api/looks", {
    method: "POST",
    body,
    headers: { "content-type": "application/json" },
  });
  let look = await answer.json();
  const mine = (running = look.id);
  const address = `/api/looks/${look.id}`;
  while (look.state === "queued" || look.state === "running") {
    form.told.textContent =
      look.state === "queued"
        ? "waiting for its turn"
        : `${look.tokens} tokens: layer ${look.done} of ${look.layers}`;
    form.bar.value = look.layers ? look.done / look.layers : 0;
    await new Promise((go) => setTimeout(go, 150));
    if (running !== mine) return;
    look = await (await ask(address)).json();
  }
  if (look.state !== "done") throw new Error(look.error || `it was ${look.state}`);
  form.told.textContent = "computing";
  const found = await fetched(look.id);
  const beside = form.keep.checked && shownLooks.length > 0;
  shownLooks = [...(beside ? shownLooks.slice(1 - MOST_BESIDE) : []), found];
  history.replaceState(null, "", "#");
  showAll(beside ? besideTheLast(shownLooks.length) : undefined);
  put(form.told, `${look.tokens} tokens`);
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
function showAll(first) {
  busy(false);
  form.beside.hidden = false;
  document.documentElement.classList.remove("empty");
  show(
    shownLooks.map(({ parcel }) => parcel),
    first,
  ).catch(failed);
  setInAddress("look", shownLooks.map(({ id }) => id).join("."));
}

/** The looks that an address names, as long as the server has them. @param {string} address */
async function restore(address) {
  const { hash } = new URL(address);
  const wanted = new URLSearchParams(hash.slice(1)).get("look") ?? "";
  if (!/^[0-9a-f.]+$/.test(wanted) || wanted === shownLooks.map(({ id }) => id).join(".")) return;
  try {
    shownLooks = await Promise.all(wanted.split(".").slice(0, MOST_BESIDE).map(fetched));
    history.replaceState(null, "", hash);
    showAll();
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    form.told.textContent = `What this address shows is gone: ${reason}`;
  }
}

async function stop() {
  const id = running;
  busy(false);
  form.told.textContent = "cancelled";
  if (id) await ask(`/api/looks/${id}`, { method: "DELETE" }).catch(tell);
  say("Cancelled");
}

document.documentElement.classList.add("empty");
setLayerKind(RemoteLayer);
begin(buildForm);
form.text.focus();
addEventListener("hashchange", (event) => void restore(event.newURL));
restore(location.href);
