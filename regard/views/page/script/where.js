// What is chosen, in one line that every view shares: text, layer, head and link.

import { fillOptions, make, number, put, say, shown, tokenText } from "./dom.js";
import { t } from "./language.js";
import { buildMeasures, updateMeasures } from "./measures.js";
import { head, layer, layerName, model, nameOf, picture } from "./model.js";
import { subject, subjectNames, textsOf, tokenOf } from "./model.js";
import { moveHead } from "./move.js";
import { strongest } from "./headlinks.js";
import { choose, state } from "./state.js";

/** @type {Object<string, any>} */
const parts = {};

export function buildWhere() {
  parts.subject = select("subject");
  parts.layer = select("layer");
  parts.head = select("head");
  parts.link = make("output", { class: "link-now" });
  parts.find = make("input", {
    id: "find",
    type: "search",
    placeholder: t("Find a token"),
    "aria-label": t("Find a token"),
    size: 12,
    on: { keydown: (/** @type {KeyboardEvent} */ e) => e.key === "Enter" && findToken() },
  });
  parts.words = tick(() => ({ words: parts.words.checked }));
  parts.sinks = tick(() => ({ sinks: !parts.sinks.checked }));
  parts.strongest = step(
    t("Strongest head"),
    t("Go to the head with the strongest link between these tokens (g)"),
    () => void strongest(),
  );
  parts.fold = make("button", {
    type: "button",
    class: "fold",
    "aria-expanded": "false",
    "aria-controls": "where-all",
    on: { click: fold },
  });
  parts.where = make(
    "section",
    { class: "where", "aria-label": t("What is chosen") },
    parts.fold,
    make(
      "div",
      { class: "where-all", id: "where-all" },
      field(t("Text"), parts.subject, "of-subject"),
      field(t("Layer"), parts.layer),
      make(
        "span",
        { class: "buttons of-head" },
        field(t("Head"), parts.head),
        step("‹", t("The head before ([)"), () => moveHead(-1)),
        step("›", t("The head after (])"), () => moveHead(1)),
      ),
      make("span", { class: "link-field" }, parts.link, parts.strongest),
      buildMeasures(),
      make("label", { class: "check" }, parts.words, t("Words")),
      make("label", { class: "check" }, parts.sinks, t("Hide sinks")),
      parts.find,
    ),
  );
  return parts.where;
}

/** @param {string} name of a choice that is a number */
function select(name) {
  return make("select", {
    on: { change: (/** @type {any} */ e) => choose({ [name]: Number(e.target.value) }) },
  });
}

/** @param {() => Object<string, boolean>} changes */
function tick(changes) {
  return make("input", { type: "checkbox", on: { change: () => choose(changes()) } });
}

/** @param {string} text @param {string} label @param {() => void} act */
function step(text, label, act) {
  const isSign = text.length === 1;
  const props = { type: "button", class: "step-button", "aria-label": isSign && label };
  return make("button", { ...props, title: label, on: { click: act } }, text);
}

/** @param {string} name @param {any} input @param {string} [more] */
function field(name, input, more = "") {
  return make("label", { class: `field ${more}` }, make("span", {}, name), input);
}

/** On a narrow screen the line is one button until it is opened. */
function fold() {
  const open = parts.where.classList.toggle("open");
  parts.fold.setAttribute("aria-expanded", String(open));
}

function findToken() {
  const wanted = parts.find.value.trim().toLowerCase();
  const [from] = textsOf(layer());
  const count = from.tokens.length;
  for (let step = 1; wanted && step <= count; step++) {
    const i = (state.query + step) % count;
    if (tokenOf(from, i).toLowerCase().includes(wanted)) return choose({ query: i });
  }
  say(wanted ? t("No token has {text} in it", { text: shown(wanted) }) : "");
}

export function updateWhere() {
  const { layers } = subject();
  fillOptions(parts.subject, subjectNames(), state.subject);
  fillOptions(
    parts.layer,
    layers.map((l) => layerName(l)),
    state.layer,
  );
  fillOptions(
    parts.head,
    layer().heads.map((h) => String(h.number)),
    state.head,
  );
  updateMeasures();
  parts.subject.closest("label").hidden = model.subjects.length < 2;
  parts.layer.closest("label").hidden = layers.length < 2;
  parts.head.closest(".buttons").hidden = layer().heads.length < 2;
  parts.strongest.hidden = layers.flatMap((l) => l.heads).length < 2;
  parts.words.checked = state.words;
  parts.sinks.checked = !state.sinks;
  parts.words.closest("label").hidden = textsOf(layer()).every(
    (text) => text.words.length === text.tokens.length,
  );
  updateLink();
}

/** The chosen link and its weight, as soon as it is known. */
export function updateLink() {
  const [from, to] = textsOf(layer());
  const pair = () => [
    tokenText(tokenOf(from, state.query), 18),
    " → ",
    tokenText(tokenOf(to, state.key), 18),
  ];
  let weight = "";
  if (head().isReady) {
    const of = picture();
    const column = of.columnOf(state.key);
    weight = column < 0 ? t("hidden") : number(of.row(of.rowOf(state.query))[column]);
  }
  put(parts.link, pair(), make("strong", { class: "weight-now" }, weight));
  put(parts.fold, nameOf(head()), make("span", {}, pair()));
}
