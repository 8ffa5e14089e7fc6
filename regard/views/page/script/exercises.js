// The page of exercises: shows each, computes it and checks what is typed. The solutions are not in
// the page: they follow from what is given, by the same steps as in regard.

import { rowsOf } from "./worked/arrays.js";
import { solve } from "./worked/solve.js";
import { read } from "./worked/written.js";
/** @import {Values} from "./worked/arrays.js" */
/** @import {Given} from "./worked/working.js" */

/** @typedef {{number: string, title: string, about: string, given: Record<string, any>,
 *   computed: Given, steps: string[]}} Exercise what its file would hold, and what it is computed
 *   from */

/** @type {(tag: string, text?: string, name?: string) => HTMLElement} */
function element(tag, text = "", name = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

/** @type {(rows: any[][], cell: (value: any, i: number, j: number) => Node) => HTMLElement} */
function table(rows, cell) {
  const made = element("table");
  rows.forEach((row, i) => {
    const line = made.appendChild(element("tr"));
    row.forEach((value, j) => line.appendChild(element("td")).appendChild(cell(value, i, j)));
  });
  return made;
}

/** @type {(content: any) => any} */
const stored = (content) =>
  JSON.parse(/** @type {HTMLElement} */ (document.getElementById(content)).textContent || "{}");

/** @type {(exercise: Exercise, answers: Record<string, string[][]>) => HTMLElement} */
function show(exercise, answers) {
  const section = element("section");
  section.id = exercise.number;
  section.append(
    element("h2", exercise.title),
    element("p", `Exercise ${exercise.number}: ${exercise.about}`, "number"),
  );
  const given = section.appendChild(element("div", "", "given"));
  for (const [name, value] of Object.entries(exercise.given)) {
    const block = given.appendChild(element("figure"));
    block.append(element("figcaption", name));
    if (!Array.isArray(value) || typeof value[0] === "string") {
      block.append(element("p", Array.isArray(value) ? value.join(" ") : String(value)));
    } else {
      block.append(
        table(Array.isArray(value[0]) ? value : [value], (x) => element("span", String(x))),
      );
    }
  }
  const { steps: solved } = solve(exercise.computed);
  const verdict = element("p", "", "verdict");
  verdict.setAttribute("role", "status");
  const asked = section.appendChild(element("div", "", "asked"));
  for (const step of exercise.steps) {
    const block = asked.appendChild(element("figure"));
    block.append(element("figcaption", step));
    const rows = rowsOf(/** @type {Values} */ (solved.get(step))).map((row) => Array.from(row));
    block.append(table(rows, (true_, i, j) => field(step, true_, i, j, answers[step])));
  }
  if (document.body.dataset.solutions === "yes") return section;
  const button = section.appendChild(element("button", "Check"));
  button.addEventListener("click", () => judge(section, verdict));
  section.append(verdict);
  return section;
}

/** @type {(step: string, right: number, i: number, j: number, typed?: string[][]) => Node} */
function field(step, right, i, j, typed) {
  const solutions = document.body.dataset.solutions === "yes";
  if (solutions)
    return element(
      "span",
      Math.abs(right - Math.round(right)) < 1e-9 ? String(Math.round(right)) : right.toFixed(4),
    );
  const made = document.createElement("input");
  made.size = 7;
  made.inputMode = "decimal";
  made.setAttribute("aria-label", `${step}, row ${i + 1}, column ${j + 1}`);
  Object.assign(made.dataset, { step, i: String(i), j: String(j) });
  made.value = typed?.[i]?.[j] || "";
  made.addEventListener("input", () => made.classList.remove("right", "wrong"));
  return made;
}

/** Mark what is typed in a section, by computing it again.
 * @type {(section: HTMLElement, verdict: HTMLElement) => void} */
function judge(section, verdict) {
  const exercise = /** @type {Exercise} */ (exercises.find((one) => one.number === section.id));
  const { steps: solved } = solve(exercise.computed);
  const count = { right: 0, wrong: 0, blank: 0 };
  for (const input of section.querySelectorAll("input")) {
    const { step = "", i, j } = input.dataset;
    const typed = read(input.value);
    const rows = rowsOf(/** @type {Values} */ (solved.get(step)));
    const near = typed && Math.abs(rows[Number(i)][Number(j)] - typed.value) <= typed.off;
    const kind = !input.value.trim() ? "blank" : near ? "right" : "wrong";
    input.classList.remove("right", "wrong");
    if (kind !== "blank") input.classList.add(kind);
    count[kind] += 1;
  }
  const left = count.blank ? `, ${count.blank} still to fill in` : "";
  verdict.textContent = `${count.right} right, ${count.wrong} wrong${left}.`;
}

/** The page with what is typed in it, for 'regard check'. */
function save() {
  /** @type {Record<string, Record<string, string[][]>>} */
  const answers = {};
  for (const input of document.querySelectorAll("input")) {
    const { step = "", i, j } = input.dataset;
    const number = /** @type {HTMLElement} */ (input.closest("section")).id;
    const steps = (answers[number] ??= {});
    const rows = (steps[step] ??= []);
    (rows[Number(i)] ??= [])[Number(j)] = input.value.trim();
  }
  const copy = /** @type {HTMLElement} */ (document.documentElement.cloneNode(true));
  /** @type {HTMLElement} */ (copy.querySelector("#sheet")).textContent = "";
  /** @type {HTMLElement} */ (copy.querySelector("#answers")).textContent = JSON.stringify(
    answers,
  ).replaceAll("<", "\\u003c");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(
    new Blob(["<!doctype html>\n", copy.outerHTML], { type: "text/html" }),
  );
  link.download = "sheet-answers.html";
  link.click();
}

/** @type {Exercise[]} */
const exercises = stored("exercises");
const saved = stored("answers");
for (const exercise of exercises) {
  /** @type {HTMLElement} */ (document.getElementById("sheet")).append(
    show(exercise, saved[exercise.number] || {}),
  );
}
document.getElementById("save")?.addEventListener("click", save);
