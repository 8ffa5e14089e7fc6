// The first view of a thing that is no text: what the chosen piece takes, drawn on the thing
// itself.

import { make } from "./dom.js";
import { t } from "./language.js";
import { layer, numberName, picture, readyHead, textsOf } from "./model.js";
import { rowTable } from "./picture.js";
import { isMasked, ShownRow } from "./shownrow.js";
import { state } from "./state.js";
import { percent } from "./telling.js";
import { boxOf, Pieces } from "./thingstage.js";
import { thingSvg } from "./thingsvg.js";
/** @import {Side} from "./shownrow.js" */
/** @import {Account, Look} from "./telling.js" */
/** @import {Unit} from "./picture.js" */

/** What attends, and what is attended to where that is another text. @type {Pieces} */
let from;
/** @type {Pieces} */
let to;
/** @type {ShownRow} */
let shown;

export const thingView = {
  build,
  update,
  table: () => rowTable(picture(), state.query, numberName()),
  svg: () => thingSvg(to.element.hidden ? from : to, shown.told.textContent),
};

function build() {
  shown = new ShownRow(draw, {
    all: () => t("All pieces at once"),
    hint: () => t("Point at a part, or walk with the arrow keys."),
  });
  const pieces = (/** @type {Side} */ side) =>
    new Pieces(
      side,
      shown.listeners(side, (event) => walk(side, event)),
    );
  [from, to] = [pieces("from"), pieces("to")];
  return make(
    "div",
    { class: "view-thing" },
    make("div", { class: "things" }, from.element, to.element),
    shown.element,
  );
}

/** Arrow keys go to the piece that lies there; from the last one, on in the order of the pieces.
 * @param {Side} side @param {KeyboardEvent} event */
function walk(side, event) {
  const of = picture();
  const units = side === "to" ? of.columns : of.rows;
  const chosen = side === "to" ? state.key : state.query;
  const at = Math.max(
    0,
    units.findIndex(({ tokens }) => tokens.includes(chosen)),
  );
  const way = { ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowUp: [0, -1] };
  const to = { Home: 0, End: units.length - 1 }[event.key];
  const by = way[/** @type {keyof way} */ (event.key)];
  if (to === undefined && !by) return;
  shown.pick(side, units[to ?? beside(units, at, by, side)].number);
  event.preventDefault();
  event.stopPropagation();
}

/** The nearest unit in a direction. @param {Unit[]} units @param {number} at
 * @param {number[]} by @param {Side} side @returns {number} */
function beside(units, at, [right, down], side) {
  const { backdrop } = textsOf(layer())[side === "to" ? 1 : 0];
  const middle = (/** @type {Unit} */ unit) => {
    const box = boxOf(unit, backdrop);
    return box && [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  };
  const here = middle(units[at]);
  let [found, least] = [-1, Infinity];
  units.forEach((unit, i) => {
    const there = here && middle(unit);
    if (!there) return;
    const [x, y] = [there[0] - here[0], there[1] - here[1]];
    const [along, aside] = [x * right + y * down, Math.abs(x * down) + Math.abs(y * right)];
    if (along > 0 && along + 3 * aside < least) [found, least] = [i, along + 3 * aside];
  });
  return found >= 0 ? found : Math.max(0, Math.min(units.length - 1, at + right + down));
}

/** @param {Set<string>} changed */
async function update(changed) {
  await readyHead();
  const of = picture();
  const [rows, columns] = textsOf(layer());
  shown.follow(changed);
  from.lay(of.rows, rows);
  to.element.hidden = rows === columns;
  if (rows !== columns) to.lay(of.columns, columns);
  draw();
}

function draw() {
  const found = shown.account();
  mark(found);
  shown.tell(found);
}

/** Mark the chosen piece and what it takes from each. @param {Account} found */
function mark({ row, words, marks, own, link, from: rows, to: columns }) {
  const looked = rows === columns ? from : to;
  const itself = rows === columns ? [{ unit: row, weight: own }] : [];
  const looks = new Map([...words, ...marks, ...itself].map((look) => [look.unit.number, look]));
  const most = Math.max(...[...looks.values()].map(({ weight }) => weight), 1e-9);
  const best = link?.unit.number ?? -1;
  for (const piece of looked.all) {
    const look = /** @type {Look | undefined} */ (looks.get(Number(piece.dataset.number)));
    const share = (look?.weight ?? 0) / most;
    const isBest = look !== undefined && look.unit.number === best;
    piece.style.setProperty("--weight", share.toFixed(3));
    piece.classList.toggle("best", isBest);
    piece.classList.toggle("masked", look !== undefined && isMasked(look.unit));
    if (isBest) piece.dataset.share = percent(look.weight);
    else delete piece.dataset.share;
    if (looked === to) piece.setAttribute("aria-selected", String(isBest));
  }
  for (const piece of from.all) {
    const isChosen = Number(piece.dataset.number) === row.number;
    piece.classList.toggle("chosen", isChosen);
    piece.setAttribute("aria-selected", String(isChosen));
  }
  from.element.setAttribute("aria-activedescendant", from.id(row.number));
  if (shown.hovered < 0) from.show(row.number);
  if (best >= 0) to.element.setAttribute("aria-activedescendant", to.id(best));
}
