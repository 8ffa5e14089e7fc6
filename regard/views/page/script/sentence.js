// Sentence, the first view: the words in large type, and arcs from the chosen one to what it looks
// at, as thick as their weights.

import { Arcs } from "./arcs.js";
import { make } from "./dom.js";
import { t } from "./language.js";
import { behind, head, isRightToLeft, layer, model, numberName, picture } from "./model.js";
import { readyHead, textsOf } from "./model.js";
import { rowTable } from "./picture.js";
import { isMasked, ShownRow } from "./shownrow.js";
import { Stage } from "./stage.js";
import { stageSvg } from "./stagesvg.js";
import { state } from "./state.js";
import { percent } from "./telling.js";
/** @import {Account, Look} from "./telling.js" */

const MOST_ARCS = 14;
const LEAST = 0.015; // of a row's weight: less is not drawn
const LEAST_BEHIND = 0.15; // in rows that are not chosen

/** @type {Stage} */
let stage;
/** @type {Arcs} */
let arcs;
/** The links of all words, where two texts face each other. @type {Arcs} */
let ground;
/** @type {ShownRow} */
let shown;

export const sentenceView = {
  name: "sentence",
  build,
  update,
  table: () => rowTable(picture(), state.query, numberName()),
  svg: () => stageSvg(stage, [ground, arcs], shown.told.textContent),
};

function build() {
  shown = new ShownRow(() => draw(true), {
    all: () => t("All words at once"),
    hint: () => t("Point at a word, or walk with the arrow keys."),
  });
  stage = new Stage((side) => shown.listeners(side, walk));
  arcs = new Arcs();
  ground = new Arcs();
  stage.element.prepend(ground.element, arcs.element);
  new ResizeObserver(again).observe(stage.element);
  return make("div", { class: "view-sentence" }, stage.element, shown.element);
}

/** Arrow keys walk over the words. @param {KeyboardEvent} event */
function walk(event) {
  const of = picture();
  const last = of.rows.length - 1;
  const turned = isRightToLeft(textsOf(layer())[0]) && !stage.inColumns ? -1 : 1;
  const by = { ArrowRight: turned, ArrowDown: 1, ArrowLeft: -turned, ArrowUp: -1 }[event.key];
  const to = { Home: 0, End: last }[event.key] ?? (by && of.rowOf(state.query) + by);
  if (to === undefined) return;
  shown.pick("from", of.rows[Math.max(0, Math.min(last, to))].number);
  event.preventDefault();
  event.stopPropagation();
}

/** @param {Set<string>} changed */
async function update(changed) {
  await readyHead();
  const of = picture();
  shown.follow(changed);
  const isLaid = stage.lay(of, ...textsOf(layer()), of.rowOf(state.query));
  drawGround();
  draw(!isLaid && !changed.has("view"));
}

function drawGround() {
  const of = picture();
  const all = !stage.isFacing
    ? []
    : of.rows.flatMap((row, r) =>
        Array.from(of.row(r), (weight, c) => {
          const path = weight < LEAST_BEHIND ? null : stage.path(row, of.columns[c]);
          const width = 0.8 + 0.5 * stage.thickest * weight;
          return path ? [{ to: `${r} ${c}`, path, width, opacity: 1, kind: "pale" }] : [];
        }).flat(),
      );
  ground.show(all, false);
}

function again() {
  if (state.view !== "sentence" || !model.subjects.length || !head().isReady || behind()) return;
  const of = picture();
  if (!stage.lay(of, ...textsOf(layer()), of.rowOf(state.query))) return;
  drawGround();
  draw(false);
}

/** @param {boolean} moving */
function draw(moving) {
  const found = shown.account();
  const { words, marks, row } = found;
  const faded = new Set(marks);
  const looks = [...words, ...marks].sort((a, b) => b.weight - a.weight).slice(0, MOST_ARCS);
  const made = looks.flatMap((look) => {
    const path = look.weight < LEAST ? null : stage.path(row, look.unit);
    return path ? [{ path, ...styleOf(look, faded.has(look)) }] : [];
  });
  arcs.show(made.reverse(), moving); // the strongest on top
  mark(found);
  shown.tell(found);
}

/** @param {Look} look @param {boolean} faded */
function styleOf({ unit, weight }, faded) {
  const width = 0.8 + stage.thickest * weight;
  const opacity = Math.min(0.92, 0.25 + 1.1 * weight);
  return { to: String(unit.number), width, opacity, kind: faded ? "faded" : "" };
}

/** Mark the chosen word and what it looks at. @param {Account} found */
function mark({ row, words, marks, link }) {
  const chosen = stage.rowId(row);
  const looks = new Map([...words, ...marks].map((look) => [stage.columnId(look.unit), look]));
  const numbered = new Set([link, words[0]].filter((look) => look && look.weight >= LEAST));
  for (const word of stage.words) {
    const look = looks.get(word.id);
    word.classList.toggle("chosen", word.id === chosen);
    const isNumbered = look !== undefined && numbered.has(look);
    word.classList.toggle("best", isNumbered && look === link);
    word.classList.toggle("masked", look !== undefined && isMasked(look.unit));
    word.setAttribute("aria-selected", String(word.id === chosen));
    word.style.setProperty("--weight", (look?.weight ?? 0).toFixed(3));
    word.classList.toggle("from-below", isNumbered && stage.isFromBelow(row, look.unit));
    if (isNumbered) word.dataset.share = percent(look.weight);
    else delete word.dataset.share;
  }
  stage.from.setAttribute("aria-activedescendant", chosen);
}
