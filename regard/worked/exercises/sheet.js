// The sheet's page: shows each exercise, recomputes it and checks what is typed. The solutions are
// not in the page: they follow from what is given, by the same steps as in regard.

/** @typedef {number[][]} Matrix */
/** @typedef {{number: string, title: string, about: string, given: Record<string, any>, steps: string[]}} Exercise */

/** @type {(a: Matrix, b: Matrix) => Matrix} */
const times = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, x, i) => sum + x * b[i][j], 0)));

/** @type {(a: Matrix) => Matrix} */
const turned = (a) => a[0].map((_, j) => a.map((row) => row[j]));

/** @type {(a: Matrix, factor: number) => Matrix} */
const scaledBy = (a, factor) => a.map((row) => row.map((x) => x * factor));

/** Softmax of each row over the keys that it may see.
 * @type {(a: Matrix, causal: boolean) => Matrix} */
function softmax(a, causal) {
  return a.map((row, i) => {
    const seen = row.map((_, j) => !causal || j <= i);
    const most = Math.max(...row.filter((_, j) => seen[j]));
    const raised = row.map((x, j) => (seen[j] ? Math.exp(x - most) : 0));
    const sum = raised.reduce((total, x) => total + x, 0);
    return raised.map((x) => x / sum);
  });
}

/** e[i][j] = v · tanh(W s_i + U h_j).
 * @type {(given: Record<string, any>) => Matrix} */
function additive(given) {
  const s = times(given.s, given.w_a);
  const h = times(given.h, given.u_a);
  return s.map((q) =>
    h.map((k) => q.reduce((sum, x, d) => sum + given.v_a[d] * Math.tanh(x + k[d]), 0)),
  );
}

/** Every step of an exercise, from what is given.
 * @type {(given: Record<string, any>) => Record<string, Matrix>} */
function solve(given) {
  /** @type {Record<string, Matrix>} */
  const steps = {};
  const projects = given.mechanism === "dot" || given.mechanism === "scaled";
  let query = given.x || given.s;
  let key = given.x || given.h;
  let value = given.values || key;
  if (projects) {
    steps.queries = query = times(given.x, given.w_q);
    steps.keys = key = times(given.x, given.w_k);
    steps.values = value = times(given.x, given.w_v);
  }
  if (given.mechanism === "additive") steps.scores = additive(given);
  else if (!given.scores) steps.scores = times(query, turned(key));
  let fitting = given.scores || steps.scores;
  if (given.mechanism === "scaled")
    steps.scaled = fitting = scaledBy(fitting, key[0].length ** -0.5);
  if (given.temperature) steps.scaled = fitting = scaledBy(fitting, 1 / given.temperature);
  steps.weights = softmax(fitting, given.mask === "causal");
  steps.context = times(steps.weights, value);
  return steps;
}

/** A typed number and how far the true one may be from it; null if it is none. As in a file, the
 * digits that are written count; a fraction of whole numbers is meant to three digits.
 * @type {(text: string) => {value: number, off: number} | null} */
function read(text) {
  const plain = text.trim().replace(",", ".").replace("−", "-");
  const fraction = /^(-?\d+)\s*\/\s*(\d+)$/.exec(plain);
  if (fraction && Number(fraction[2]))
    return { value: Number(fraction[1]) / Number(fraction[2]), off: 1e-3 };
  const decimal = /^-?(\d+\.?|\d*\.(\d+))$/.exec(plain);
  if (!decimal) return null;
  const digits = (decimal[2] || "").length;
  return { value: Number(plain), off: digits ? 0.5 * 10 ** -digits + 1e-9 : 1e-9 };
}

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
  const solved = solve(exercise.given);
  const verdict = element("p", "", "verdict");
  verdict.setAttribute("role", "status");
  const asked = section.appendChild(element("div", "", "asked"));
  for (const step of exercise.steps) {
    const block = asked.appendChild(element("figure"));
    block.append(element("figcaption", step));
    block.append(table(solved[step], (true_, i, j) => field(step, true_, i, j, answers[step])));
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
  const solved = solve(exercise.given);
  const count = { right: 0, wrong: 0, blank: 0 };
  for (const input of section.querySelectorAll("input")) {
    const { step = "", i, j } = input.dataset;
    const typed = read(input.value);
    const near = typed && Math.abs(solved[step][Number(i)][Number(j)] - typed.value) <= typed.off;
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
