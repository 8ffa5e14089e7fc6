// The explorer: a text is typed, a model reads it on the server, and the page shows it.

import { make, put, say } from "./dom.js";
import { begin, carried, failed, show } from "./main.js";
import { setLayerKind } from "./model.js";
import { ask, RemoteLayer, setLook } from "./remote.js";

const { serve } = carried().content;
/** @type {Object<string, any>} */
const form = {};
let running = "";

function buildForm() {
  form.model = make("select", { "aria-label": "Model" }, serve.models.map((/** @type {any} */ m) => make("option", { value: m.name }, m.name)));
  form.text = make("textarea", { rows: 2, "aria-label": "Text", placeholder: "Type or paste a text …", spellcheck: "false" });
  form.go = make("button", { type: "submit", class: "strong" }, "Look");
  form.stop = make("button", { type: "button", hidden: true, on: { click: stop } }, "Cancel");
  form.bar = make("progress", { max: 1, value: 0, hidden: true, "aria-label": "Layers done" });
  form.told = make("span", { class: "quiet", role: "status" }, `Texts of up to ${serve.most_tokens} tokens. Nothing leaves this machine.`);
  form.text.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) form.element.requestSubmit();
  });
  form.element = make("form", { class: "ask", on: { submit: (/** @type {Event} */ e) => { e.preventDefault(); send().catch(tell); } } },
    form.text, make("div", { class: "ask-row" }, form.model, form.go, form.stop, form.bar, form.told));
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
  const answer = await ask("/api/looks", { method: "POST", body, headers: { "content-type": "application/json" } });
  let look = await answer.json();
  const mine = (running = look.id);
  const address = `/api/looks/${look.id}`;
  while (look.state === "queued" || look.state === "running") {
    form.told.textContent = look.state === "queued" ? "waiting for its turn" : `${look.tokens} tokens: layer ${look.done} of ${look.layers}`;
    form.bar.value = look.layers ? look.done / look.layers : 0;
    await new Promise((go) => setTimeout(go, 150));
    if (running !== mine) return;
    look = await (await ask(address)).json();
  }
  if (look.state !== "done") throw new Error(look.error || `it was ${look.state}`);
  form.told.textContent = "computing";
  const whole = await (await ask(`${address}/document`)).json();
  setLook(address);
  history.replaceState(null, "", "#");
  put(form.told, `${look.tokens} tokens`);
  busy(false);
  document.documentElement.classList.remove("empty");
  show(whole.document, whole.packed).catch(failed);
}

async function stop() {
  const id = running;
  busy(false);
  form.told.textContent = "cancelled";
  if (id) await fetch(`/api/looks/${id}`, { method: "DELETE" });
  say("Cancelled");
}

document.documentElement.classList.add("empty");
setLayerKind(RemoteLayer);
begin(buildForm());
form.text.focus();
