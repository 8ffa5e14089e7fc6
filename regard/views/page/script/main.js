// The page: its frame around the views, and what happens when something is chosen.

import { isChange, NO_CHANGE } from "./attention.js";
import { isDark, palettes, scales } from "./colour.js";
import { make, number, put, say, shown, tokenText } from "./dom.js";
import { buildHelp, listenToKeys, showHelp } from "./keys.js";
import { LANGUAGES, language, preferred, speak, t } from "./language.js";
import { derivedLine } from "./measures.js";
import { buildMenu, openMenu } from "./menu.js";
import { layer, model, openParcels, readyHead, subject, textsOf, tokenOf } from "./model.js";
import { buildNumbers, fillNumbers, toggleNumbers } from "./numbers.js";
import { opening } from "./opening.js";
import { resetOther } from "./other.js";
import { resetOverview } from "./overview.js";
import { buildPaper, listenToPrinter } from "./paper.js";
import { choose, fromFragment, setClamp, state, touch, watch } from "./state.js";
import { hasTab, isView, view, VIEWS } from "./views.js";
import { takeBack } from "./whatif.js";
import { buildWhere, updateLink, updateWhere } from "./where.js";
/** @import {State} from "./state.js" */
/** @import {Parcel} from "./model.js" */

const MOST_JOINED = 1024; // tokens: of a longer text the model's own pieces come first

/** @type {Object<string, any>} */
const parts = {};
/** @type {Set<string>} */
const built = new Set();
/** What stands over everything. @type {() => any} */
let above = () => null;

/** Everything, in the language that is spoken. */
function buildPage() {
  built.clear();
  for (const old of parts.all ?? []) old.remove();
  parts.panels = VIEWS.map(({ name }) =>
    make("section", {
      class: "panel",
      role: "tabpanel",
      id: `view-${name}`,
      "aria-labelledby": `tab-${name}`,
      hidden: true,
    }),
  );
  parts.changed = make("div", { class: "banner", role: "status", hidden: true });
  parts.derived = make("div", { class: "banner derived", role: "status", hidden: true });
  parts.made = make("footer", {});
  parts.main = make(
    "main",
    { id: "main", tabindex: -1 },
    parts.panels,
    buildPaper(),
    buildNumbers(),
  );
  parts.all = [
    above(),
    skipLink(),
    buildTop(),
    make("nav", { class: "nav", "aria-label": t("Views") }, buildTabs()),
    buildWhere(),
    parts.changed,
    parts.derived,
    parts.main,
    parts.made,
    make("p", { id: "said", class: "said", role: "status", "aria-live": "polite" }),
    buildHelp(),
    buildMenu(),
  ].filter(Boolean);
  document.body.append(...parts.all);
}

function skipLink() {
  const click = (/** @type {Event} */ event) => {
    event.preventDefault();
    parts.main.focus();
  };
  return make("a", { class: "skip", href: "#main", on: { click } }, t("To the picture"));
}

function buildTop() {
  parts.title = make("h1", {});
  parts.model = make("p", { class: "model" });
  return make(
    "header",
    { class: "top" },
    make("div", { class: "titles" }, parts.title, parts.model),
    make(
      "div",
      { class: "buttons" },
      button(t("Export"), t("Export and copy (e)"), openMenu, { "aria-haspopup": "dialog" }),
      Object.entries(LANGUAGES)
        .filter(([code]) => code !== language())
        .map(([code, name]) => button(name, name, () => choose({ lang: code }), { lang: code })),
      button("◐", t("Dark or light (d)"), turnTheme),
      button("?", t("Keyboard (?)"), showHelp),
    ),
  );
}

/** @param {string} text @param {string} label @param {() => void} act @param {Object} [more] */
function button(text, label, act, more = {}) {
  const props = { type: "button", "aria-label": label, title: label, on: { click: act } };
  return make("button", { ...props, ...more }, text);
}

function buildTabs() {
  const tab = (/** @type {string} */ name, /** @type {string} */ title, /** @type {number} */ i) =>
    make(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-controls": `view-${name}`,
        title: `${title} (${i + 1})`,
        on: { click: () => choose({ view: name }) },
      },
      title,
    );
  parts.tabs = make(
    "div",
    { class: "tabs", role: "tablist", "aria-label": t("Views"), on: { keydown: moveTab } },
    VIEWS.map(({ name, title }, i) => tab(name, title(), i)),
  );
  return parts.tabs;
}

/** @param {KeyboardEvent} event */
function moveTab(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  const there = VIEWS.filter(({ name }) => hasTab(name));
  const { name } = there[(there.indexOf(view()) + by + there.length) % there.length];
  choose({ view: name });
  document.getElementById(`tab-${name}`)?.focus();
  event.preventDefault();
}

/** Keep choices inside what there is. @param {State} next @returns {State} */
function inside(next) {
  const within = (/** @type {any} */ value, /** @type {number} */ count) =>
    Math.max(0, Math.min(count - 1, Math.floor(Number(value) || 0)));
  const subjects = model.subjects;
  const s = within(next.subject, subjects.length);
  const measure = shownMeasure(next, s);
  const layers = subjects[s].layersOf(measure);
  const l = within(next.layer, layers.length);
  const of = layers[l];
  const known = {
    ...next,
    measure,
    subject: s,
    layer: l,
    head: within(next.head, of.heads.length),
    query: within(next.query, of.data.shape[0]),
    key: within(next.key, of.data.shape[1]),
  };
  if (!isView(known.view)) known.view = VIEWS[0].name;
  if (!palettes().some(([name]) => name === known.palette)) known.palette = "ink";
  if (!scales().some(([name]) => name === known.scale)) known.scale = "auto";
  if (!["layer", "entropy", "link", "kind"].includes(known.sort)) known.sort = "layer";
  known.share = Math.max(0.05, Math.min(1, known.share || 0.6));
  if (s !== state.subject || measure) known.change = NO_CHANGE;
  return known;
}

/** A measure that is here, and none beside a new what-if: that is of weights.
 * @param {State} next @param {number} s the subject */
function shownMeasure({ measure, change }, s) {
  const isNew = isChange(change) && change !== state.change;
  return model.subjects[s].measured.has(measure) && !isNew ? measure : "";
}

/** @param {Set<string>} changed */
function update(changed) {
  if (changed.has("lang") && setLanguage()) changed = new Set([...changed, "view", "theme"]);
  const chosen = view();
  document.documentElement.dataset.view = chosen.name;
  VIEWS.forEach(({ name, title }, i) => {
    const isChosen = name === chosen.name;
    parts.panels[i].hidden = !isChosen;
    const tab = /** @type {HTMLElement} */ (document.getElementById(`tab-${name}`));
    if (tab.textContent !== title()) tab.textContent = title(); // by what is shown
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    tab.hidden = !hasTab(name);
    if (isChosen && changed.has("view"))
      parts.tabs.scrollLeft = tab.offsetLeft - parts.tabs.clientWidth / 2;
  });
  updateTitle();
  updateWhere();
  updateBanner();
  updateDerived();
  if (!built.has(chosen.name)) {
    parts.panels[VIEWS.indexOf(chosen)].append(chosen.build());
    built.add(chosen.name);
  }
  Promise.resolve(chosen.update(changed)).then(afterwards, failed);
}

/** Speak the chosen language, or the browser's; say whether the page was built anew for it. */
function setLanguage() {
  const before = language();
  speak(state.lang || preferred());
  if (language() === before) return false;
  buildPage();
  tellMade().catch(failed);
  return true;
}

async function afterwards() {
  await readyHead();
  updateLink();
  fillNumbers();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

/** @param {unknown} error */
export function failed(error) {
  console.error(error);
  const reason = error instanceof Error ? error.message : String(error);
  const said = t("This could not be shown: {reason}", { reason });
  say(said);
  parts.changed.hidden = false;
  parts.changed.classList.remove("change");
  const again = () => {
    parts.changed.hidden = true;
    redraw();
  };
  put(parts.changed, `${said} `, model.subjects.length ? retryButton(again) : null);
}

/** @param {() => void} again */
export function retryButton(again) {
  return make("button", { type: "button", on: { click: again } }, t("Try again"));
}

function updateTitle() {
  const { title, model: name, notes, mechanism } = subject().data;
  put(parts.title, tokenText(title, 160));
  parts.title.title = shown(title, 300);
  const said = [name || mechanism, ...notes].filter(Boolean).map((text) => shown(text, 300));
  parts.model.textContent = said.join(" · ");
}

function updateBanner() {
  const { change } = state;
  parts.changed.hidden = !isChange(change);
  parts.changed.classList.toggle("change", isChange(change));
  if (!isChange(change)) return;
  const [, to] = textsOf(layer());
  const masked = [...change.masked].map((j) => shown(tokenOf(to, j), 20)).join(t(", "));
  const said = [
    masked ? t("hidden: {list}", { list: masked }) : "",
    change.factor !== 1 ? t("scale × {factor}", { factor: number(change.factor, 1) }) : "",
  ];
  put(
    parts.changed,
    make("strong", {}, t("What if: ")),
    `${said.filter(Boolean).join("; ")}. `,
    t("These are not the model's own numbers; the overview still shows those. "),
    make("button", { type: "button", on: { click: takeBack } }, t("Back")),
  );
}

function updateDerived() {
  const line = derivedLine();
  parts.derived.hidden = !line;
  put(parts.derived, line ?? []);
}

function turnTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  redraw();
}

function redraw() {
  if (model.subjects.length) update(new Set(["theme"]));
}

/** Which regard made it, of what, and whether the data is whole. */
async function tellMade() {
  const {
    document: { regard, half, sha256 },
    arrays,
  } = subject();
  const check = make("span", { id: "whole" }, t("checking the data …"));
  const version = { version: regard };
  const made = half
    ? t(
        "Made by regard {version} from half-precision vectors; this page computes every weight. ",
        version,
      )
    : t(
        "Made by regard {version} from float32 vectors; this page computes every weight. ",
        version,
      );
  put(parts.made, made, check, ` SHA-256 ${sha256.slice(0, 12)}….`);
  await new Promise((go) => setTimeout(go, 600)); // the picture first
  const whole = await arrays.isWhole(sha256);
  check.textContent =
    whole === null
      ? t("Data: checked by zlib only (no secure context).")
      : whole
        ? t("Data whole ✓")
        : t("DATA DAMAGED: the checksum does not fit.");
  if (whole === false)
    failed(new Error(t("the data of this file is damaged: its checksum does not fit")));
}

/** Show documents: at the start, and again when a new one arrives. @param {Parcel[]} parcels
 * @param {Partial<State>} [first] what is chosen then, if the address does not say */
export async function show(parcels, first) {
  const isFirst = !model.subjects.length;
  openParcels(parcels);
  resetOverview();
  resetOther();
  setClamp(inside);
  const given = first ?? model.subjects[0].data.start;
  const address = fromFragment(location.hash.slice(1));
  const start = await opened(given, address);
  const isShort = model.subjects.every(({ data }) =>
    data.texts.every((text) => text.tokens.length <= MOST_JOINED),
  );
  const words = isShort && (isFirst || state.words);
  const rest = { sight: "", other: null, change: NO_CHANGE, view: "sentence", words, measure: "" };
  choose({ ...rest, ...start, ...address });
  touch("view", "subject"); // drawn once, with whatever else was chosen
  tellMade().catch(failed);
}

/** Where it opens: as was asked for, and where nothing was, at what has most to tell.
 * @param {Partial<State>} given @param {Partial<State>} address
 * @returns {Promise<Partial<State>>} */
async function opened(given, address) {
  const asked = { ...given, ...address };
  const none = { subject: 0, layer: 0, head: 0, query: 0, key: 0, ...given };
  if (asked.query !== undefined && asked.key !== undefined) return none;
  const of = model.subjects[asked.subject ?? 0] ?? model.subjects[0];
  const layers = of.layersOf(asked.measure ?? "");
  return { ...none, ...(await opening({ ...of, layers }, asked)), ...given };
}

/** What the file carries. @returns {{content: any, packed: string}} */
export function carried() {
  const content = document.getElementById("document")?.textContent ?? "";
  return {
    content: JSON.parse(content),
    packed: document.getElementById("packed")?.textContent ?? "",
  };
}

/**
 * Build the page and listen. Nothing is shown yet.
 * @param {() => any} [over] makes what stands over everything
 */
export function begin(over = () => null) {
  above = over;
  const { lang } = fromFragment(location.hash.slice(1));
  speak(lang || preferred());
  buildPage();
  listenToKeys({ t: toggleNumbers, e: openMenu, d: turnTheme });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener(
    "hashchange",
    () => model.subjects.length && choose(fromFragment(location.hash.slice(1))),
  );
  listenToPrinter(redraw);
  watch(update);
}
