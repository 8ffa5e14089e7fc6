// The stage of a thing that is no text: an image, a curve, a spectrogram or a list, with a box for
// each piece on it, and over it the pieces that stand for no part of it.

import { make, put, svg, tokenText } from "./dom.js";
import { t } from "./language.js";
import { spoken } from "./telling.js";
/** @import {Backdrop, Text} from "./data.js" */
/** @import {Unit} from "./picture.js" */

const MOST_ENLARGED = 32; // times, of a small image
const LINES = ["--accent", "--bright", "--ink"]; // of a curve

/** One list of pieces: those of a text that is drawn on something, or of any other. */
export class Pieces {
  /** @param {"from" | "to"} side @param {Object<string, (event: any) => void>} on */
  constructor(side, on) {
    this.side = side;
    this.chips = make("div", { class: "chips", role: "group" });
    this.field = make("div", { class: "field", role: "group" });
    this.behind = make("div", { class: "behind", "aria-hidden": "true" });
    this.element = make(
      "div",
      { class: `pieces ${side}`, role: "listbox", tabindex: 0, "aria-label": t("The words"), on },
      this.chips,
      this.field,
    );
    /** @type {Text | null} */
    this.text = null;
    this.key = "";
  }

  /** @param {Unit[]} units @param {Text} text */
  lay(units, text) {
    const key = units.map(({ label }) => label).join("\u0000");
    if (text === this.text && key === this.key) return;
    Object.assign(this, { text, key });
    const { backdrop } = text;
    const placed = (/** @type {Unit} */ unit) => boxOf(unit, backdrop);
    put(
      this.chips,
      units.filter((unit) => !placed(unit)).map((unit) => this.chip(unit)),
    );
    put(
      this.field,
      this.behind,
      units.filter(placed).map((unit) => this.box(unit, /** @type {Backdrop} */ (backdrop))),
    );
    this.chips.hidden = !this.chips.childElementCount;
    this.field.hidden = !backdrop;
    this.element.setAttribute("aria-label", backdrop ? partsName(backdrop) : t("The words"));
    this.chips.setAttribute("aria-label", t("What stands for no part of it"));
    this.field.setAttribute("aria-label", backdrop ? kindName(backdrop) : "");
    if (backdrop) this.draw(backdrop);
  }

  /** @param {Backdrop} backdrop */
  draw({ kind, width, height, picture, lines, since, rows }) {
    this.field.classList.toggle("list", kind === "list");
    if (rows) {
      this.field.style.setProperty("--rows", String(rows.length));
      put(this.behind, listed(rows));
      return;
    }
    const isFlat = kind !== "image";
    const enlarged = Math.min(MOST_ENLARGED, 448 / Math.max(width, height));
    const style = this.field.style;
    style.setProperty("--ratio", isFlat ? "5 / 2" : `${width} / ${height}`);
    style.setProperty("--most", isFlat ? "60rem" : `${Math.max(width * enlarged, 240)}px`);
    style.setProperty("--shape", String(isFlat ? 2.5 : width / height));
    const shown = picture
      ? make("img", { src: picture, alt: "", class: width < 200 ? "coarse" : false })
      : curves(lines ?? [], since ?? 1);
    put(this.behind, shown);
  }

  /** Scroll a long list so that a piece of it is seen. @param {number} number */
  show(number) {
    const { element, field } = this;
    const piece = this.all.find(({ dataset }) => dataset.number === String(number));
    if (!field.classList.contains("list") || piece?.parentElement !== field) return;
    const [top, bottom] = [field.offsetTop + piece.offsetTop, piece.offsetHeight];
    const first = field.offsetTop + 8; // below the pieces that stand for no part of it
    if (top - first < element.scrollTop) element.scrollTop = top - first;
    if (top + bottom + 8 > element.scrollTop + element.clientHeight)
      element.scrollTop = top + bottom + 8 - element.clientHeight;
  }

  /** @param {Unit} unit */
  chip(unit) {
    return make("span", { class: "piece-chip", ...this.option(unit) }, tokenText(unit.label, 40));
  }

  /** @param {Unit} unit @param {Backdrop} backdrop */
  box(unit, backdrop) {
    const [left, top, right, bottom] = /** @type {number[]} */ (boxOf(unit, backdrop));
    const { width, height } = backdrop;
    const share = (/** @type {number} */ part, /** @type {number} */ of) =>
      `${((100 * part) / of).toFixed(3)}%`;
    return make("span", {
      class: "box",
      "aria-label": spoken(unit, /** @type {Text} */ (this.text)),
      style: {
        left: share(left, width),
        top: share(top, height),
        width: share(right - left, width),
        height: share(bottom - top, height),
      },
      ...this.option(unit),
    });
  }

  /** @param {Unit} unit */
  option({ number }) {
    const id = this.id(number);
    return { role: "option", id, "data-number": number, "aria-selected": "false" };
  }

  /** @param {number} number */
  id(number) {
    return `piece-${this.side}${number}`;
  }

  /** @returns {any[]} */
  get all() {
    return [...this.chips.children, ...this.field.children].filter((e) => e !== this.behind);
  }
}

/** The box of a unit, around those of all its tokens; null if it has none.
 * @param {Unit} unit @param {Backdrop} [backdrop] @returns {number[] | null} */
export function boxOf({ tokens }, backdrop) {
  const boxes = tokens.map((i) => backdrop?.boxes[i] ?? []).filter((box) => box.length);
  if (!boxes.length) return null;
  const side = (/** @type {number} */ i, /** @type {(...n: number[]) => number} */ of) =>
    of(...boxes.map((box) => box[i]));
  return [side(0, Math.min), side(1, Math.min), side(2, Math.max), side(3, Math.max)];
}

/** Lines from 0 to 1, one below the other; what was forecast is dashed.
 * @param {number[][]} lines @param {number} since the share of them that was not */
function curves(lines, since) {
  const count = lines.length;
  const paths = lines.flatMap((line, i) => {
    const border = Math.round(since * line.length);
    const path = (
      /** @type {number} */ from,
      /** @type {number} */ to,
      /** @type {string} */ of,
    ) => {
      const points = line.slice(from, to).map((value, x) => {
        const begins = x === 0 || line[from + x - 1] < 0;
        const y = (i + 0.92 - 0.84 * value) / count;
        return value < 0 ? "" : `${begins ? "M" : "L"}${from + x + 0.5} ${y.toFixed(4)}`;
      });
      const stroke = `var(${LINES[i % LINES.length]})`;
      return svg("path", { d: points.join(""), fill: "none", style: { stroke }, class: of });
    };
    const forecast = path(Math.max(0, border - 1), line.length, "curve forecast");
    return [path(0, border, "curve"), ...(border < line.length ? [forecast] : [])];
  });
  const viewBox = `0 0 ${lines[0]?.length ?? 1} 1`;
  return svg("svg", { viewBox, preserveAspectRatio: "none" }, paths);
}

/** The rows of a list, each with what stands in it. @param {string[][]} rows */
function listed(rows) {
  const cell = (/** @type {string} */ text) => make("span", {}, tokenText(text, 80));
  return make(
    "div",
    { class: "rows" },
    rows.map((row) => make("div", {}, row.map(cell))),
  );
}

/** @param {Backdrop} backdrop */
export function kindName({ kind }) {
  if (kind === "image") return t("Image");
  if (kind === "list") return t("History");
  return kind === "curve" ? t("Curve") : t("Sound");
}

/** @param {Backdrop} backdrop */
function partsName({ kind }) {
  if (kind === "list") return t("The items of the history");
  return kind === "image" ? t("The patches of the image") : t("The stretches of time");
}
