// The course: one chapter at a time, exercises that are checked, and a memory of both.

import { judge } from "./answer.js";
import { make, put } from "./dom.js";

const KEPT = "regard-course";
const $ = (/** @type {string} */ name) => /** @type {any} */ (document.getElementById(name));
const all = (/** @type {string} */ rule, /** @type {any} */ within = document) =>
  /** @type {any[]} */ ([...within.querySelectorAll(rule)]);

/** @type {Object<string, string>} */
const words = JSON.parse($("words").textContent);
const articles = all("article");
const exercises = all(".exercise");

/** What is remembered: answers that were right, and the chapter that was open. */
const memory = remembered();

/** @returns {{ solved: Object<string, string>, chapter: string, theme: string }} */
function remembered() {
  const nothing = { solved: {}, chapter: "", theme: "" };
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "null");
    const well = kept && typeof kept.solved === "object" && kept.solved !== null;
    return well ? { ...nothing, ...kept } : nothing;
  } catch {
    return nothing; // refused for files, or damaged: the course works without
  }
}

function keep() {
  try {
    localStorage.setItem(KEPT, JSON.stringify(memory));
    return true;
  } catch {
    return false;
  }
}

/** Show the chapter, and the part of it, that the address names. */
function route() {
  const name = decodeURIComponent(location.hash.slice(1));
  const target = name ? document.getElementById(name) : null;
  const shown = target?.closest("article") ?? $(memory.chapter) ?? articles[0];
  for (const article of articles) article.classList.toggle("shown", article === shown);
  for (const link of all("#contents a")) {
    if (link.hash === `#${shown.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  memory.chapter = shown.id;
  keep();
  close();
  document.title = `${shown.dataset.title} · ${words.title}`;
  if (target && target !== shown) target.scrollIntoView();
  else window.scrollTo(0, 0);
}

/** How far the reader is, in the contents. */
function tally() {
  for (const article of articles) {
    const own = all(".exercise", article);
    const solved = own.filter((one) => one.dataset.number in memory.solved).length;
    const place = all(".done").find((mark) => mark.dataset.of === article.id);
    put(place, solved ? `${solved}/${own.length}` : "");
  }
  const solved = exercises.filter((one) => one.dataset.number in memory.solved).length;
  const kept = keep() ? "" : ` ${words.forgetful}`;
  put($("progress"), `${solved} / ${exercises.length} ${words.solved}.${kept}`);
}

/** @param {any} exercise @param {string | null} answer: null if it is not solved any more */
function mark(exercise, answer) {
  const number = exercise.dataset.number;
  if (answer === null) delete memory.solved[number];
  else memory.solved[number] = answer;
  exercise.classList.toggle("solved", answer !== null);
  tally();
}

/** @param {any} exercise */
function prepare(exercise) {
  const number = exercise.dataset.number;
  const before = memory.solved[number];
  exercise.classList.toggle("solved", before !== undefined);
  const form = exercise.querySelector("form");
  if (!form) {
    const box = exercise.querySelector("input");
    box.checked = before !== undefined;
    box.addEventListener("change", () => mark(exercise, box.checked ? "" : null));
    return;
  }
  const [input, said] = [form.querySelector("input"), form.querySelector("output")];
  if (before !== undefined) input.value = before;
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const told = judge(number, JSON.parse(exercise.dataset.sealed), input.value);
    said.className = told.right ? "right" : "wrong";
    put(said, told.count ? `${words[told.says]} ${told.count}` : words[told.says]);
    if (told.right) mark(exercise, input.value);
  });
}

/** Parts of the course that have all words of the search. */
function search() {
  /** @type {string[]} */
  const wanted = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  $("found").hidden = !wanted.length;
  for (const article of articles) article.hidden = wanted.length > 0;
  if (!wanted.length) return;
  const hits = all("article > section")
    .map((section) => ({ section, text: section.textContent }))
    .filter(({ text }) => wanted.every((word) => text.toLowerCase().includes(word)))
    .slice(0, 40);
  put(
    $("found"),
    make("h2", {}, hits.length ? `${words.found} (${hits.length})` : words.nothing),
    make(
      "ul",
      {},
      hits.map(({ section, text }) => hit(section, text, wanted[0])),
    ),
  );
}

/** @param {any} section @param {string} text @param {string} word */
function hit(section, text, word) {
  const at = text.toLowerCase().indexOf(word);
  const from = Math.max(0, at - 60);
  const title = section.querySelector("h2")?.textContent ?? "";
  const chapter = section.closest("article").dataset.title;
  const link = make("a", { href: `#${section.id}` }, title ? `${chapter}: ${title}` : chapter);
  link.addEventListener("click", () => {
    $("search").value = "";
    search();
    route();
  });
  const around = [
    `${from ? "…" : ""}${text.slice(from, at)}`,
    make("mark", {}, text.slice(at, at + word.length)),
    `${text.slice(at + word.length, at + 90)}…`,
  ];
  return make("li", {}, link, make("p", {}, around));
}

/** Put the living page in place of the button that asks for it. @param {any} button */
function bringToLife(button) {
  const frame = make("iframe", {
    title: button.textContent,
    sandbox: "allow-scripts allow-downloads",
    srcdoc: JSON.parse($("living").textContent)[button.dataset.living],
  });
  button.replaceWith(frame);
  frame.focus();
}

function close() {
  $("contents").classList.remove("open");
  $("open-contents").setAttribute("aria-expanded", "false");
}

function toggleTheme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  memory.theme = now === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = memory.theme;
  keep();
}

if (memory.theme) document.documentElement.dataset.theme = memory.theme;
exercises.forEach(prepare);
for (const button of all("[data-living]")) {
  button.addEventListener("click", () => bringToLife(button));
}
tally();
addEventListener("hashchange", route);
$("search").addEventListener("input", search);
$("theme").addEventListener("click", toggleTheme);
$("open-contents").addEventListener("click", () => {
  const open = $("contents").classList.toggle("open");
  $("open-contents").setAttribute("aria-expanded", String(open));
});
$("forget").addEventListener("click", () => {
  for (const exercise of exercises) mark(exercise, null);
  for (const input of all(".exercise input")) {
    input.value = "";
    input.checked = false;
  }
  for (const said of all("output")) put(said);
});
route();
document.documentElement.dataset.ready = "";
