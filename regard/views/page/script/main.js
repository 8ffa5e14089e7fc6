// The page: its frame, its views, and what they share.

import { isChange, NO_CHANGE } from "./attention.js";
import { isDark } from "./colour.js";
import { buildCompare, compareSvg, compareTable, resetCompare, updateCompare } from "./compare.js";
import { fillOptions, make, number, put, say, shown, tableHead, tokenText } from "./dom.js";
import { copy, linkHere, save, toCanvas, toCsv, toJson, toPng, toSvgText } from "./files.js";
import { buildHelp, listenToKeys, moveHead, showHelp } from "./keys.js";
import { buildLines, linesSvg, linesTable, updateLines } from "./lines.js";
import { buildMap, exact, mapCanvas, mapSvg, mapTable, updateMap } from "./map.js";
import {
  head,
  layer,
  layerName,
  model,
  openParcels,
  picture,
  readyHead,
  subject,
  subjectNames,
  textsOf,
  tokenOf,
} from "./model.js";
import {
  buildOverview,
  overviewSvg,
  overviewTable,
  resetOverview,
  strongest,
  updateOverview,
} from "./overview.js";
import { buildReading, readingSvg, readingTable, updateReading } from "./reading.js";
import { choose, fromFragment, setClamp, state, VIEWS, watch } from "./state.js";
import { buildSteps, stepsSvg, stepsTable, updateSteps } from "./steps.js";
/** @import {State} from "./state.js" */
/** @import {Table} from "./files.js" */
/** @import {Parcel} from "./model.js" */

/**
 * @typedef {{title: string, build: () => any,
 *   update: (changed: Set<string>) => void | Promise<void>,
 *   table: () => Table, canvas?: () => HTMLCanvasElement, svg: () => SVGElement}} View
 */

/** @type {Object<string, View>} */
const views = {
  overview: {
    title: "Overview",
    build: buildOverview,
    update: updateOverview,
    table: overviewTable,
    svg: overviewSvg,
  },
  head: { title: "Head", build: buildLines, update: updateLines, table: linesTable, svg: linesSvg },
  map: {
    title: "Map",
    build: buildMap,
    update: updateMap,
    table: mapTable,
    canvas: mapCanvas,
    svg: mapSvg,
  },
  steps: {
    title: "Steps",
    build: buildSteps,
    update: updateSteps,
    table: stepsTable,
    svg: stepsSvg,
  },
  reading: {
    title: "Reading",
    build: buildReading,
    update: updateReading,
    table: readingTable,
    svg: readingSvg,
  },
  compare: {
    title: "Compare",
    build: buildCompare,
    update: updateCompare,
    table: compareTable,
    svg: compareSvg,
  },
};

/** @type {Object<string, any>} */
const parts = {};
/** @type {Set<string>} */
const built = new Set();

function buildPage() {
  const button = (
    /** @type {string} */ text,
    /** @type {string} */ label,
    /** @type {() => void} */ act,
    more = {},
  ) =>
    make(
      "button",
      { type: "button", "aria-label": label, title: label, on: { click: act }, ...more },
      text,
    );
  parts.title = make("h1", {});
  parts.model = make("p", { class: "model" });
  parts.tabs = make(
    "div",
    { class: "tabs", role: "tablist", "aria-label": "Views", on: { keydown: moveTab } },
    VIEWS.map((name, i) =>
      make(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${name}`,
          "aria-controls": `view-${name}`,
          title: `${views[name].title} (${i + 1})`,
          on: { click: () => choose({ view: name }) },
        },
        views[name].title,
      ),
    ),
  );
  parts.panels = VIEWS.map((name) =>
    make("section", {
      class: "panel",
      role: "tabpanel",
      id: `view-${name}`,
      "aria-labelledby": `tab-${name}`,
      hidden: true,
    }),
  );
  parts.changed = make("div", { class: "banner", role: "status", hidden: true });
  parts.table = make(
    "details",
    { class: "as-table", on: { toggle: fillTable } },
    make("summary", {}, "The numbers as a table"),
    make("div", { class: "table-box" }),
  );
  parts.made = make("footer", {});
  parts.print = make("div", { class: "print-only" });
  parts.files = filesMenu();
  document.body.append(
    make(
      "a",
      {
        class: "skip",
        href: "#main",
        on: {
          click: (/** @type {Event} */ e) => {
            e.preventDefault();
            parts.main.focus();
          },
        },
      },
      "To the picture",
    ),
    make(
      "header",
      { class: "top" },
      make("div", { class: "titles" }, parts.title, parts.model),
      make(
        "div",
        { class: "buttons" },
        button("Export", "Export and copy (e)", openFiles, { "aria-haspopup": "dialog" }),
        button("◐", "Dark or light (d)", turnTheme),
        button("?", "Keyboard (?)", showHelp),
      ),
    ),
    make("nav", { class: "nav", "aria-label": "Views" }, parts.tabs),
    buildWhere(),
    parts.changed,
    (parts.main = make(
      "main",
      { id: "main", tabindex: -1 },
      parts.panels,
      parts.print,
      parts.table,
    )),
    parts.made,
    make("p", { id: "said", class: "said", role: "status", "aria-live": "polite" }),
    buildHelp(),
    parts.files,
  );
}

/** What is chosen, in one line that every view shares. */
function buildWhere() {
  const select = (/** @type {string} */ name) =>
    make("select", {
      on: { change: (/** @type {any} */ e) => choose({ [name]: Number(e.target.value) }) },
    });
  parts.subject = select("subject");
  parts.layer = select("layer");
  parts.head = select("head");
  parts.link = make("output", { class: "link-now" });
  parts.find = make("input", {
    id: "find",
    type: "search",
    placeholder: "Find a token",
    "aria-label": "Find a token",
    size: 12,
    on: { keydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && findToken() },
  });
  parts.words = make("input", {
    type: "checkbox",
    on: { change: () => choose({ words: parts.words.checked }) },
  });
  parts.sinks = make("input", {
    type: "checkbox",
    on: { change: () => choose({ sinks: !parts.sinks.checked }) },
  });
  const step = (
    /** @type {string} */ text,
    /** @type {string} */ label,
    /** @type {() => void} */ act,
  ) =>
    make(
      "button",
      {
        type: "button",
        class: "step-button",
        "aria-label": label,
        title: label,
        on: { click: act },
      },
      text,
    );
  const field = (/** @type {string} */ name, /** @type {any} */ input) =>
    make("label", { class: "field" }, make("span", {}, name), input);
  parts.where = make(
    "section",
    { class: "where", "aria-label": "What is chosen" },
    field("Text", parts.subject),
    field("Layer", parts.layer),
    make(
      "span",
      { class: "buttons" },
      field("Head", parts.head),
      step("‹", "The head before ([)", () => moveHead(-1)),
      step("›", "The head after (])", () => moveHead(1)),
    ),
    make(
      "span",
      { class: "link-field" },
      parts.link,
      (parts.strongest = step(
        "Strongest head",
        "Go to the head with the strongest link between these tokens (g)",
        () => void strongest(),
      )),
    ),
    make("label", { class: "check" }, parts.words, "Words"),
    make("label", { class: "check" }, parts.sinks, "Hide sinks"),
    parts.find,
  );
  return parts.where;
}

/** @param {KeyboardEvent} event */
function moveTab(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  const next = VIEWS[(VIEWS.indexOf(state.view) + by + VIEWS.length) % VIEWS.length];
  choose({ view: next });
  document.getElementById(`tab-${next}`)?.focus();
  event.preventDefault();
}

function findToken() {
  const wanted = parts.find.value.trim().toLowerCase();
  const [from] = textsOf(layer());
  const count = from.tokens.length;
  for (let step = 1; wanted && step <= count; step++) {
    const i = (state.query + step) % count;
    if (tokenOf(from, i).toLowerCase().includes(wanted)) return choose({ query: i });
  }
  say(wanted ? `No token has ${shown(wanted)} in it` : "");
}

/** Keep choices inside what there is. @param {State} next @returns {State} */
function inside(next) {
  const within = (/** @type {any} */ value, /** @type {number} */ count) =>
    Math.max(0, Math.min(count - 1, Math.floor(Number(value) || 0)));
  const subjects = model.subjects;
  const s = within(next.subject, subjects.length);
  const l = within(next.layer, subjects[s].layers.length);
  const of = subjects[s].layers[l];
  const known = {
    ...next,
    subject: s,
    layer: l,
    head: within(next.head, of.heads.length),
    query: within(next.query, of.data.shape[0]),
    key: within(next.key, of.data.shape[1]),
  };
  if (!VIEWS.includes(known.view)) known.view = "overview";
  if (!["ink", "viridis", "grey"].includes(known.palette)) known.palette = "ink";
  if (!["layer", "entropy", "link", "kind"].includes(known.sort)) known.sort = "layer";
  known.share = Math.max(0.05, Math.min(1, known.share || 0.6));
  if (s !== state.subject) known.change = NO_CHANGE;
  return known;
}

/** @param {Set<string>} changed */
function update(changed) {
  const { view } = state;
  VIEWS.forEach((name, i) => {
    const chosen = name === view;
    parts.panels[i].hidden = !chosen;
    const tab = document.getElementById(`tab-${name}`);
    tab?.setAttribute("aria-selected", String(chosen));
    if (tab) tab.tabIndex = chosen ? 0 : -1;
    if (tab && chosen && changed.has("view"))
      parts.tabs.scrollLeft = tab.offsetLeft - parts.tabs.clientWidth / 2;
  });
  updateWhere();
  updateBanner();
  if (!built.has(view)) {
    parts.panels[VIEWS.indexOf(view)].append(views[view].build());
    built.add(view);
  }
  const done = views[view].update(changed);
  Promise.resolve(done).then(afterwards, failed);
}

async function afterwards() {
  await readyHead();
  updateLink();
  if (parts.table.open) fillTable();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

/** @param {unknown} error */
export function failed(error) {
  console.error(error);
  say(`This could not be shown: ${error instanceof Error ? error.message : String(error)}`);
  parts.changed.hidden = false;
  put(
    parts.changed,
    `This could not be shown: ${error instanceof Error ? error.message : String(error)}`,
  );
}

function updateWhere() {
  fillOptions(parts.subject, subjectNames(), state.subject);
  fillOptions(
    parts.layer,
    subject().layers.map((l) => layerName(l)),
    state.layer,
  );
  fillOptions(
    parts.head,
    layer().heads.map((h) => String(h.number)),
    state.head,
  );
  parts.subject.closest("label").hidden = model.subjects.length < 2;
  parts.layer.closest("label").hidden = subject().layers.length < 2;
  parts.head.closest(".buttons").hidden = layer().heads.length < 2;
  parts.strongest.hidden = subject().layers.flatMap((l) => l.heads).length < 2;
  parts.words.checked = state.words;
  parts.sinks.checked = !state.sinks;
  const [from, to] = textsOf(layer());
  parts.words.closest("label").hidden = [from, to].every(
    (text) => text.words.length === text.tokens.length,
  );
  parts.title.replaceChildren(tokenText(subject().data.title, 160));
  const { model: name, notes, mechanism } = subject().data;
  const said = [name || mechanism, ...notes].filter(Boolean).map((text) => shown(text, 300));
  parts.model.textContent = said.join(" · ");
  updateLink();
}

/** The chosen link and its weight, as soon as it is known. */
function updateLink() {
  const [from, to] = textsOf(layer());
  const pair = [
    tokenText(tokenOf(from, state.query), 18),
    " → ",
    tokenText(tokenOf(to, state.key), 18),
  ];
  let weight = "";
  if (head().isReady) {
    const of = picture();
    const column = of.columnOf(state.key);
    weight = column < 0 ? "hidden" : number(of.row(of.rowOf(state.query))[column]);
  }
  put(parts.link, ...pair, make("strong", { class: "weight-now" }, weight));
}

function updateBanner() {
  const { change } = state;
  parts.changed.hidden = !isChange(change);
  if (!isChange(change)) return;
  const [, to] = textsOf(layer());
  const masked = [...change.masked].map((j) => shown(tokenOf(to, j), 20)).join(", ");
  const said = [
    masked ? `masked: ${masked}` : "",
    change.factor !== 1 ? `scale × ${number(change.factor, 1)}` : "",
  ]
    .filter(Boolean)
    .join("; ");
  put(
    parts.changed,
    make("strong", {}, "What if: "),
    `${said}. These are not the model's own numbers; the overview still shows those. `,
    make("button", { type: "button", on: { click: () => choose({ change: NO_CHANGE }) } }, "Back"),
  );
}

function fillTable() {
  if (!parts.table.open || !head().isReady) return;
  const table = views[state.view].table();
  const rows = table.rows.slice(0, 200);
  const columns = table.columns.slice(0, 200);
  const cut = table.rows.length > rows.length || table.columns.length > columns.length;
  const said = [
    views[state.view].title,
    table.part,
    cut
      ? `${rows.length} of ${table.rows.length} rows and ${columns.length} of ` +
        `${table.columns.length} columns; an export has all`
      : "",
  ];
  const text = (/** @type {string | number} */ cell) =>
    typeof cell === "string"
      ? tokenText(cell, 60)
      : Number.isInteger(cell)
        ? String(cell)
        : Number.isNaN(cell)
          ? ""
          : Math.abs(cell) < 1
            ? exact(cell)
            : number(cell);
  put(
    parts.table.lastElementChild,
    make(
      "table",
      { class: "plain" },
      make("caption", {}, said.filter(Boolean).join(": ")),
      tableHead(columns.map((name) => (name === "" ? "from \\ to" : tokenText(name, 24)))),
      make(
        "tbody",
        {},
        rows.map((row) =>
          make(
            "tr",
            {},
            row
              .slice(0, 200)
              .map((cell, i) =>
                i === 0 ? make("th", { scope: "row" }, text(cell)) : make("td", {}, text(cell)),
              ),
          ),
        ),
      ),
    ),
  );
}

function filesMenu() {
  const act = (/** @type {string} */ text, /** @type {() => void | Promise<any>} */ run) =>
    make(
      "button",
      {
        type: "button",
        on: {
          click: async () => {
            try {
              await run();
            } catch (error) {
              say(`That did not work: ${error instanceof Error ? error.message : String(error)}`);
            }
          },
        },
      },
      text,
    );
  const menu = make(
    "dialog",
    { class: "files", "aria-labelledby": "files-title" },
    make("h2", { id: "files-title" }, "Take it with you"),
    make(
      "div",
      { class: "files-grid" },
      act("Save PNG", async () => save(await currentPng(), "png", "image/png")),
      act("Save SVG", () => save(toSvgText(currentSvg()), "svg", "image/svg+xml")),
      act("Save CSV", () => save(toCsv(views[state.view].table()), "csv", "text/csv")),
      act("Save JSON", () => save(toJson(views[state.view].table()), "json", "application/json")),
      act("Copy PNG", async () => copy(await currentPng(), "Picture")),
      act("Copy SVG", () => copy(toSvgText(currentSvg()), "SVG")),
      act("Copy CSV", () => copy(toCsv(views[state.view].table()), "CSV")),
      act("Copy JSON", () => copy(toJson(views[state.view].table()), "JSON")),
      location.protocol === "about:"
        ? null
        : act("Copy link to this view", () => copy(linkHere(), "Link")),
      act("Print", () => {
        menu.close();
        print();
      }),
    ),
    make("p", { class: "said quiet", role: "status" }),
    make("button", { type: "button", class: "strong", on: { click: () => menu.close() } }, "Close"),
  );
  return menu;
}

function openFiles() {
  parts.files.querySelector(".said").textContent = "";
  parts.files.showModal();
}

async function currentPng() {
  const view = views[state.view];
  return toPng(view.canvas ? view.canvas() : await toCanvas(view.svg()));
}

function currentSvg() {
  return views[state.view].svg();
}

function turnTheme() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  if (model.subjects.length) update(new Set(["theme"]));
}

/** On paper a view is its picture, light and whole; the steps are a text already. */
function beforePrint() {
  if (!model.subjects.length || !head().isReady) return;
  const root = document.documentElement;
  root.dataset.before = root.dataset.theme ?? "";
  root.dataset.theme = "light";
  if (state.view === "steps") return void updateSteps();
  put(parts.print, views[state.view].svg());
  root.dataset.printing = "";
}

function afterPrint() {
  const { dataset } = document.documentElement;
  if (dataset.before === undefined) return;
  if (dataset.before) dataset.theme = dataset.before;
  else delete dataset.theme;
  delete dataset.before;
  delete dataset.printing;
  put(parts.print);
  update(new Set(["theme"]));
}

/** Which regard made it, of what, and whether the data is whole. */
async function tellMade() {
  const {
    document: { regard, half, sha256 },
    arrays,
  } = subject();
  const numbers = half ? "half-precision vectors" : "float32 vectors";
  const check = make("span", { id: "whole" }, "checking the data …");
  put(
    parts.made,
    `Made by regard ${regard} from ${numbers}; every weight here is computed in this page. `,
    check,
    ` SHA-256 ${sha256.slice(0, 12)}….`,
  );
  await new Promise((go) => setTimeout(go, 600)); // the picture first
  const whole = await arrays.isWhole(sha256);
  check.textContent =
    whole === null
      ? "Data: checked by zlib only (no secure context)."
      : whole
        ? "Data whole ✓"
        : "DATA DAMAGED: the checksum does not fit.";
  if (whole === false)
    failed(new Error("the data of this file is damaged: its checksum does not fit"));
}

/** Show documents: at the start, and again when a new one arrives. @param {Parcel[]} parcels
 * @param {Partial<State>} [first] what is chosen then, if the address does not say */
export async function show(parcels, first) {
  openParcels(parcels);
  resetOverview();
  resetCompare();
  setClamp(inside);
  choose({
    subject: 0,
    layer: 0,
    head: 0,
    query: 0,
    key: 0,
    sight: "",
    other: null,
    change: NO_CHANGE,
    ...(first ?? model.subjects[0].data.start),
    ...fromFragment(location.hash.slice(1)),
  });
  update(new Set(["view", "subject"]));
  await tellMade();
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
 * @param {any} [above] what stands over everything
 */
export function begin(above = null) {
  buildPage();
  if (above) document.body.prepend(above);
  listenToKeys({
    t: () => {
      parts.table.open = !parts.table.open;
    },
    e: openFiles,
    d: turnTheme,
  });
  const redraw = () => model.subjects.length && update(new Set(["theme"]));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener(
    "hashchange",
    () => model.subjects.length && choose(fromFragment(location.hash.slice(1))),
  );
  addEventListener("beforeprint", beforePrint);
  addEventListener("afterprint", afterPrint);
  watch(update);
}
