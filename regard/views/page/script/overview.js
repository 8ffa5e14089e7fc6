// Overview: every head of every layer as a small picture, with its kind and its entropy.

import { NO_CHANGE } from "./attention.js";
import { isDark, isLogarithmic, lookup, place } from "./colour.js";
import { make, number, put, shown, slowly } from "./dom.js";
import { learnLinks, linkWeight, resetLinks } from "./headlinks.js";
import { Grid, kindMeaning, kindName, KINDS, Tally } from "./kinds.js";
import { t } from "./language.js";
import { layerName, model, nameOf, subject, textsOf, tokenOf } from "./model.js";
import { overviewSvg } from "./overviewsvg.js";
import { choose, state } from "./state.js";
/** @import {Head} from "./attention.js" */
/** @import {Summary} from "./kinds.js" */

const SIZE = 48;
/**
 * @typedef {{head: Head, summary: Summary, most: number,
 *   grid: {rows: number, columns: number, cells: Float32Array}}} Seen
 */

/** @type {Map<Head, Seen>} */
const seen = new Map();
/** @type {Map<Head, HTMLElement>} */
const cards = new Map();
/** @type {any} */
let grid;
/** @type {any} */
let note;
let running = 0;

export const overviewView = {
  name: "overview",
  title: () => t("Overview"),
  build: buildOverview,
  update: updateOverview,
  table: overviewTable,
  svg: () => {
    for (const head of cards.keys()) draw(head); // in the colours of now
    return overviewSvg(grid);
  },
};

function buildOverview() {
  grid = make("div", {
    class: "heads",
    role: "grid",
    "aria-label": t("Heads"),
    on: { keydown: move },
  });
  note = make("p", { class: "quiet", role: "status" });
  const sorts = [
    ["layer", t("Layer and head")],
    ["entropy", t("Entropy, lowest first")],
    ["link", t("Weight of the chosen link")],
    ["kind", t("Kind")],
  ];
  return make(
    "div",
    { class: "view-overview" },
    make(
      "div",
      { class: "controls" },
      field(t("Sort"), select("sort", sorts)),
      field(
        t("Show"),
        select("kind", [
          ["", t("All kinds")],
          ...Object.keys(KINDS).map((k) => [
            k,
            t("{kind}: {what}", { kind: kindName(k), what: kindMeaning(k) }),
          ]),
        ]),
      ),
      note,
    ),
    make("div", { class: "scroll" }, grid),
  );
}

/** @param {string} label @param {Element} input */
function field(label, input) {
  return make("label", { class: "field" }, make("span", {}, label), input);
}

/** @param {"sort" | "kind"} name @param {string[][]} options */
function select(name, options) {
  return make(
    "select",
    {
      "data-state": name,
      on: { change: (/** @type {any} */ e) => choose({ [name]: e.target.value }) },
    },
    options.map(([value, text]) => make("option", { value }, text)),
  );
}

function allHeads() {
  return subject().layers.flatMap((l) => l.heads);
}

/** @param {Set<string>} changed */
async function updateOverview(changed) {
  await learnLinks(allHeads());
  for (const name of ["sort", "kind"]) {
    const input = /** @type {any} */ (
      grid.closest(".view-overview").querySelector(`[data-state=${name}]`)
    );
    input.value = /** @type {any} */ (state)[name];
  }
  const redraw = ["subject", "measure", "sort", "kind", "palette", "scale", "theme", "view"];
  const byLink = state.sort === "link" && (changed.has("query") || changed.has("key"));
  if (!grid.childElementCount || byLink || redraw.some((name) => changed.has(name))) arrange();
  mark(changed.has("head") || changed.has("layer"));
  fillAll();
}

/** @param {boolean} [bring] the chosen card into sight */
function mark(bring = false) {
  for (const [head, card] of cards) {
    const chosen = head.layer === subject().layers[state.layer] && head.place === state.head;
    card.setAttribute("aria-selected", String(chosen));
    card.tabIndex = chosen ? 0 : -1;
    if (chosen && bring) card.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  }
}

function arrange() {
  cards.clear();
  let heads = allHeads().filter(
    (head) => !state.kind || seen.get(head)?.summary.kind === state.kind,
  );
  if (state.sort === "entropy") {
    heads.sort(
      (a, b) => (seen.get(a)?.summary.entropy ?? 99) - (seen.get(b)?.summary.entropy ?? 99),
    );
  } else if (state.sort === "link") {
    heads.sort((a, b) => (linkWeight(b) || 0) - (linkWeight(a) || 0));
  } else if (state.sort === "kind") {
    const order = Object.keys(KINDS);
    const rank = (/** @type {Head} */ h) => order.indexOf(seen.get(h)?.summary.kind ?? "mixed");
    heads.sort(
      (a, b) =>
        rank(a) - rank(b) || (seen.get(b)?.summary.share ?? 0) - (seen.get(a)?.summary.share ?? 0),
    );
  }
  const rows = [];
  if (state.sort === "layer" && !state.kind) {
    for (const layer of subject().layers) {
      const cells = heads.filter((head) => head.layer === layer).map(card);
      rows.push(
        make(
          "div",
          { role: "row", class: "heads-row" },
          make("span", { role: "rowheader", class: "heads-layer" }, layerName(layer)),
          cells,
        ),
      );
    }
  } else {
    rows.push(make("div", { role: "row", class: "heads-row flow" }, heads.map(card)));
  }
  grid.classList.toggle("sorted", state.sort !== "layer");
  put(grid, rows);
  for (const head of cards.keys()) draw(head);
  tellNote();
}

/** @param {Head} head */
function card(head) {
  const canvas = make("canvas", { width: SIZE, height: SIZE, "aria-hidden": "true" });
  const made = make(
    "div",
    {
      role: "gridcell",
      class: "card",
      tabindex: -1,
      title: nameOf(head),
      on: {
        click: () => choose({ layer: head.layer.index, head: head.place }),
        dblclick: () => choose({ layer: head.layer.index, head: head.place, view: "head" }),
      },
    },
    canvas,
    make(
      "span",
      { class: "card-name" },
      state.sort === "layer" && !state.kind
        ? `${head.number}`
        : `${head.layer.data.number} · ${head.number}`,
    ),
    make("span", { class: "card-kind" }, "…"),
    make("span", { class: "card-entropy" }, ""),
  );
  cards.set(head, made);
  return made;
}

/** @param {Head} head */
function draw(head) {
  const found = seen.get(head);
  const made = cards.get(head);
  if (!found || !made) return;
  const { summary, grid: cells, most } = found;
  const [canvas, , kind, entropy] = /** @type {any} */ (made.children);
  const table = lookup(state.palette, isDark());
  canvas.width = cells.columns;
  canvas.height = cells.rows;
  const context = canvas.getContext("2d");
  const isLog = isLogarithmic(state.scale, head.keys, most);
  const image = context.createImageData(cells.columns, cells.rows);
  for (let i = 0; i < cells.cells.length; i++) {
    const at = 4 * Math.round(255 * place(cells.cells[i], most, isLog));
    image.data.set(table.subarray(at, at + 4), 4 * i);
  }
  context.putImageData(image, 0, 0);
  kind.textContent = kindName(summary.kind);
  made.style.setProperty("--kind", `var(--kind-${summary.kind})`);
  const weight = number(linkWeight(head), 3);
  const isLink = state.sort === "link";
  entropy.textContent = isLink ? t("link {weight}", { weight }) : `H ${number(summary.entropy, 2)}`;
  made.title = [
    t("{head}: {kind}, {what}; entropy {entropy} nats", {
      head: nameOf(head),
      kind: kindName(summary.kind),
      what: kindMeaning(summary.kind),
      entropy: number(summary.entropy, 2),
    }),
    isLink ? t("link {weight}", { weight }) : "",
  ]
    .filter(Boolean)
    .join("; ");
}

/** Look at every head of the subject, the chosen layer first, without holding the page up. */
async function fillAll() {
  const run = ++running;
  const within = subject();
  const chosen = within.layers[state.layer];
  const heads = allHeads().filter((head) => !seen.has(head));
  heads.sort((a, b) => Number(b.layer === chosen) - Number(a.layer === chosen));
  await slowly(
    heads,
    async (head) => {
      if (seen.has(head)) return;
      const told = await head.layer.summaries();
      if (told)
        told.forEach((one, place) =>
          seen.set(head.layer.heads[place], { ...one, head: head.layer.heads[place] }),
        );
      else {
        await head.ready();
        await look(head, within, () => run !== running);
      }
      (told ? head.layer.heads : [head]).forEach(draw);
      tellNote();
    },
    () => run !== running,
  );
  if (run === running && heads.length) {
    if (state.sort !== "layer" || state.kind) arrange();
    mark();
    tellNote();
  }
}

/** @param {Head} head @param {ReturnType<typeof subject>} within @param {() => boolean} stop */
async function look(head, within, stop) {
  const [, to] = textsOf(head.layer, within);
  const tally = new Tally(head, to);
  const cells = new Grid(head.queries, head.keys, SIZE);
  const add = (/** @type {number} */ i) => {
    const row = head.fits
      ? head.matrix(NO_CHANGE).subarray(i * head.keys, (i + 1) * head.keys)
      : head.row(i).weights;
    tally.add(i, row);
    cells.add(i, row);
  };
  const rows = Array.from({ length: head.queries }, (_, i) => i);
  if (head.fits) rows.forEach(add);
  else await slowly(rows, add, stop);
  if (head.layer.index !== state.layer || head.place !== state.head) head.forget();
  if (stop() && !head.fits) return;
  const most = cells.cells.reduce((a, b) => (b > a ? b : a), 0);
  seen.set(head, { head, most, summary: tally.summary(), grid: cells });
}

function tellNote() {
  const heads = allHeads();
  const done = heads.filter((head) => seen.has(head)).length;
  const [from, to] = textsOf(subject().layers[state.layer]);
  const link = `${shown(tokenOf(from, state.query), 16)} → ${shown(tokenOf(to, state.key), 16)}`;
  note.textContent =
    done < heads.length
      ? t("{done} of {all} heads computed", { done, all: heads.length })
      : t(
          "{all} heads, {some} shown. H is the entropy in nats: how widely a head looks. " +
            "The chosen link: {link}",
          { all: heads.length, some: cards.size, link },
        );
}

/** Arrow keys go to the neighbour, whatever row it is in. @param {KeyboardEvent} event */
function move(event) {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2 }[event.key];
  const list = [...cards];
  const at = list.findIndex(([, card]) => card === document.activeElement);
  if (at < 0) return;
  if (event.key === "Enter" || event.key === " ") {
    choose({ view: "head" });
  } else if (by) {
    const here = list[at][1].getBoundingClientRect();
    const next = Math.abs(by) === 1 ? list[at + by] : nearestVertically(list, here, by / 2);
    if (!next) return;
    choose({ layer: next[0].layer.index, head: next[0].place });
    next[1].focus();
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}

/** @param {[Head, HTMLElement][]} list @param {DOMRect} here @param {number} way */
function nearestVertically(list, here, way) {
  let best = null;
  let least = Infinity;
  for (const entry of list) {
    const box = entry[1].getBoundingClientRect();
    if ((box.top - here.top) * way < here.height / 2) continue;
    const far = Math.abs(box.top - here.top) * 4 + Math.abs(box.left - here.left);
    if (far < least) [best, least] = [entry, far];
  }
  return best;
}

/** The heads as a table: for screen readers, copies and exports. */
function overviewTable() {
  const rows = [...cards.keys()].map((head) => {
    const found = seen.get(head)?.summary;
    return [
      layerName(head.layer),
      head.number,
      found?.kind ?? "",
      found?.share ?? NaN,
      found?.entropy ?? NaN,
      linkWeight(head),
    ];
  });
  return {
    columns: ["layer", "head", "kind", "share", "entropy (nats)", "weight of the link"],
    rows,
  };
}

/** Forget what belongs to another document. */
export function resetOverview() {
  seen.clear();
  cards.clear();
  resetLinks();
  running += 1;
  if (grid && model.subjects.length) put(grid);
}
