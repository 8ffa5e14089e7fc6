// A worked example whose numbers can be changed: every cell of its tables is a field. What follows
// from a change is computed again, and the claims are judged anew.

import { make, put } from "../dom.js";
import { t } from "../language.js";
import { fromLists } from "./arrays.js";
import { solve } from "./solve.js";
import { Working } from "./working.js";
import { asWritten, decimals, read } from "./written.js";
/** @import {Changes, Given} from "./working.js" */

/**
 * @typedef {{given: Given, tolerance: number | null,
 *   claims: Record<string, {value: (number | null)[], off: number[]}>}} Content
 * @typedef {{name: string, at: number, places: number | null, td: HTMLElement,
 *   field: HTMLInputElement | null}} Cell a number of an array, if places is null, or of a step
 * @typedef {{value: number, off: number}} Written
 */

export class Enlivened {
  /** @param {HTMLElement} section @param {(working: Working) => void} [follow] */
  constructor(section, follow = () => {}) {
    this.section = section;
    this.follow = follow;
    /** @type {Content} */
    this.content = JSON.parse(section.querySelector("script")?.textContent ?? "");
    /** @type {Changes} */
    this.changes = new Map();
    this.first = solve(this.content.given);
    this.now = this.first;
    /** Claims that the reader wrote. @type {Map<HTMLInputElement, Written>} */
    this.written = new Map();
    this.cells = [...section.querySelectorAll("tr:not(.claimed) > td[data-at]")].map((td) =>
      this.cell(/** @type {HTMLElement} */ (td)),
    );
    this.claims = [...section.querySelectorAll("tr.claimed > td[data-at]")]
      .map((td) => this.claim(/** @type {HTMLElement} */ (td)))
      .filter((claim) => claim !== null);
    this.bar = make("div", { class: "worked-bar" });
    section.prepend(this.bar);
    this.retell();
  }

  /** Everything in words, in the language that is spoken. */
  retell() {
    this.verdict = make("p", { role: "status", class: "verdict" });
    this.problem = make("p", { role: "alert", class: "wrong" });
    this.back = make(
      "button",
      { type: "button", on: { click: () => this.reset() } },
      t("Back to the file's numbers"),
    );
    put(
      this.bar,
      make(
        "p",
        {},
        t("Change any number: what follows from it is computed again, here in the page."),
      ),
      this.verdict,
      this.problem,
      this.back,
    );
    for (const { name, at, field, td } of this.cells) {
      field?.setAttribute("aria-label", `${name}, ${placeOf(td, at)}`);
    }
    for (const { name, at, field, td } of this.claims) {
      field.setAttribute(
        "aria-label",
        t("claimed: {place}", { place: `${name}, ${placeOf(td, at)}` }),
      );
    }
    for (const th of this.section.querySelectorAll("tr.claimed > th"))
      th.textContent = t("claimed");
    this.show();
  }

  /** @param {HTMLElement} td @returns {Cell} */
  cell(td) {
    const table = /** @type {HTMLElement} */ (td.closest("table"));
    const { step, given, places } = table.dataset;
    const name = step ?? given ?? "";
    const cell = { name, at: Number(td.dataset.at), places: step ? Number(places) : null, td };
    if (this.first.fixed.has(name)) return { ...cell, field: null };
    const field = make("input", { value: td.textContent, inputmode: "decimal", size: 7 });
    field.addEventListener("input", () => this.change(name, cell.at, field));
    field.addEventListener("change", () => this.show());
    put(td, field);
    return { ...cell, field };
  }

  /** @param {HTMLElement} td */
  claim(td) {
    const name = /** @type {HTMLElement} */ (td.closest("table")).dataset.step ?? "";
    const at = Number(td.dataset.at);
    const { value, off } = this.content.claims[name];
    const claimed = value[at];
    if (claimed === null) return null;
    const own = { value: claimed, off: off[at] };
    const field = make("input", {
      value: asWritten(claimed, off[at]),
      inputmode: "decimal",
      size: 7,
    });
    field.addEventListener("input", () => this.rewrite(field));
    put(td, field);
    return { name, at, own, td, field: /** @type {HTMLInputElement} */ (field) };
  }

  /** The reader wrote another number. @param {string} name @param {number} at
   * @param {HTMLInputElement} field */
  change(name, at, field) {
    const text = field.value.trim();
    const found = read(text);
    if (text && !found) return this.refuse(field, noNumber(text));
    const isLow = found && name in this.content.given.numbers && !isEnough(name, found.value);
    if (isLow) return this.refuse(field, t("{name} must be a number above 0.", { name }));
    this.accept(field);
    const own = this.changes.get(name) ?? new Map();
    if (found) own.set(at, found.value);
    else own.delete(at);
    if (own.size) this.changes.set(name, own);
    else this.changes.delete(name);
    this.now = solve(this.content.given, this.changes);
    this.show();
    this.follow(this.now);
  }

  /** The reader claims another number. @param {HTMLInputElement} field */
  rewrite(field) {
    const text = field.value.trim();
    const found = read(text);
    if (text && !found) return this.refuse(field, noNumber(text));
    this.accept(field);
    const { tolerance } = this.content;
    if (found) this.written.set(field, tolerance === null ? found : { ...found, off: tolerance });
    else this.written.delete(field);
    this.show();
  }

  /** @param {HTMLInputElement} field @param {string} why */
  refuse(field, why) {
    field.setAttribute("aria-invalid", "true");
    this.problem.textContent = why;
  }

  /** @param {HTMLInputElement} field */
  accept(field) {
    field.removeAttribute("aria-invalid");
    this.problem.textContent = "";
  }

  reset() {
    this.changes = new Map();
    this.written.clear();
    this.now = this.first;
    for (const { field } of [...this.cells, ...this.claims]) field?.removeAttribute("aria-invalid");
    this.problem.textContent = "";
    this.show();
    this.follow(this.now);
    this.section.querySelector("input")?.focus();
  }

  /** Numbers, colours and judgements as they are now. */
  show() {
    for (const cell of this.cells) this.showCell(cell);
    const isWritten = this.claims.length > 0;
    const wrong = this.judge();
    const right = this.claims.length - wrong;
    const counts = { right, wrong };
    this.verdict.hidden = !isWritten;
    this.verdict.textContent = this.changes.size
      ? t("With your numbers: {right} of the claims are right, {wrong} wrong.", counts)
      : t("As it stands: {right} of the claims are right, {wrong} wrong.", counts);
    const notes = /** @type {HTMLElement | null} */ (this.section.querySelector(".notes"));
    if (notes) notes.hidden = this.changes.size > 0; // they are about the file's own numbers
    this.back.disabled = !this.changes.size && !this.written.size;
    this.tellFormula();
    this.tellUnknown();
  }

  /** @param {Cell} cell */
  showCell({ name, at, places, td, field }) {
    const isYours = this.changes.get(name)?.has(at) ?? false;
    td.classList.toggle("yours", isYours);
    if (places === null) {
      const shown = String(
        fromLists(this.content.given.arrays[name] ?? this.content.given.numbers[name]).data[at],
      );
      if (field && !isYours && field !== document.activeElement) field.value = shown;
      return;
    }
    const value = this.value(name, at);
    const before = this.first.steps.get(name)?.data[at] ?? NaN;
    const moved = Math.abs(value - before) > 1e-12 * Math.max(1, Math.abs(before));
    td.classList.toggle("follows", !isYours && (moved || !Number.isFinite(value)));
    const text = decimals(value, places);
    if (!field) td.textContent = text;
    else if (!isYours && field !== document.activeElement) field.value = text;
  }

  /** @param {string} name @param {number} at */
  value(name, at) {
    return this.now.steps.get(name)?.data[at] ?? NaN;
  }

  /** Mark what is claimed wrongly, and count it. */
  judge() {
    /** @type {Map<HTMLTableElement, number>} */
    const counts = new Map();
    /** @type {Map<HTMLElement, boolean>} */
    const rows = new Map();
    const right = new Set();
    for (const { name, at, own, td, field } of this.claims) {
      const { value, off } = this.written.get(field) ?? own;
      const isWrong = !(Math.abs(this.value(name, at) - value) <= off);
      if (!this.written.has(field) && field !== document.activeElement)
        field.value = asWritten(own.value, own.off);
      td.classList.toggle("wrong", isWrong);
      td.classList.toggle("yours", this.written.has(field));
      const table = /** @type {HTMLTableElement} */ (td.closest("table"));
      counts.set(table, (counts.get(table) ?? 0) + Number(isWrong));
      const row = /** @type {HTMLElement} */ (td.parentElement);
      rows.set(row, (rows.get(row) ?? false) || isWrong || this.written.has(field));
      if (isWrong) right.add(`${name} ${at}`);
    }
    for (const [row, isSeen] of rows) {
      row.hidden = !isSeen;
      this.tellWhy(row);
    }
    for (const { name, at, td, places } of this.cells)
      td.classList.toggle("right", places !== null && right.has(`${name} ${at}`));
    for (const [table, count] of counts) tellCount(table, count);
    return right.size;
  }

  /** What made a number wrong is known of the file's own numbers alone. @param {HTMLElement} row */
  tellWhy(row) {
    const isOwn =
      !this.changes.size && ![...row.querySelectorAll("input")].some((f) => this.written.has(f));
    const why = row.querySelector(".why");
    why?.classList.toggle("unsaid", !isOwn);
  }

  /** What scores are divided by, where the reader changed it. */
  tellFormula() {
    const { numbers } = this.content.given;
    for (const table of this.section.querySelectorAll("table[data-step$='scaled']")) {
      const code = /** @type {HTMLElement} */ (table.previousElementSibling?.querySelector("code"));
      code.dataset.own ??= code.textContent ?? "";
      const name = ["temperature", "scale", "d_k"].find((n) => n in numbers && this.changes.has(n));
      const value = name && this.now.number(name);
      const by = { temperature: `/ ${value}`, scale: `* ${value}`, d_k: `/ sqrt(${value})` };
      code.textContent = name ? `e[i,j] ${/** @type {any} */ (by)[name]}` : code.dataset.own;
    }
  }

  /** A step that cannot be computed is named. */
  tellUnknown() {
    const broken = [...this.now.steps].find(([, { data }]) => !data.every(Number.isFinite));
    if (broken)
      this.problem.textContent = t("{step} cannot be computed with these numbers.", {
        step: broken[0],
      });
    else if (!this.section.querySelector("[aria-invalid]")) this.problem.textContent = "";
  }
}

/** Whether a given number can be computed with: it divides, or a root is taken of it.
 * @param {string} name @param {number} value */
function isEnough(name, value) {
  return name === "epsilon" ? value >= 0 : value > 0;
}

/** @param {string} text */
function noNumber(text) {
  return t("“{text}” is no number: write it like 0.5, -2 or 1/3. What was there still counts.", {
    text: text.slice(0, 40),
  });
}

/** Where a number stands, in words. @param {HTMLElement} td @param {number} at */
function placeOf(td, at) {
  const row = /** @type {HTMLTableRowElement} */ (td.parentElement);
  const of = row.classList.contains("claimed") ? row.previousElementSibling : row;
  const label = of?.querySelector("th")?.textContent;
  const place = [...row.querySelectorAll("td[data-at]")].indexOf(td);
  const head = td.closest("table")?.querySelectorAll("thead th")[place]?.textContent;
  const column = head ?? t("number {n}", { n: place + 1 });
  return label
    ? `${label}, ${column}`
    : t("row {row}, {column}", { row: row.rowIndex + 1, column });
}

/** @param {HTMLTableElement} table @param {number} count */
function tellCount(table, count) {
  const title = /** @type {HTMLElement} */ (table.previousElementSibling?.previousElementSibling);
  title.querySelector(".wrong")?.remove();
  if (count) title.append(" ", make("span", { class: "wrong" }, t("{count} wrong", { count })));
}

/** The worked example of this page, if its numbers can be changed.
 * @param {(working: Working) => void} [follow] @returns {Enlivened | null} */
export function enliven(follow) {
  const section = /** @type {HTMLElement | null} */ (document.querySelector(".worked"));
  return section?.querySelector("script") ? new Enlivened(section, follow) : null;
}
