// Steps: how the chosen head makes one token's result, with every number behind it.

import { isChange, NO_CHANGE } from "./attention.js";
import { keyTable, step, stepBy } from "./block.js";
import { isDark } from "./colour.js";
import { keepingFocus, make, number, put, shown, svg, tokenText } from "./dom.js";
import { typeset } from "./formula.js";
import { phrase, t } from "./language.js";
import {
  head,
  isDerived,
  layer,
  nameOf,
  numberName,
  readyHead,
  textsOf,
  tokenOf,
} from "./model.js";
import { productTable } from "./products.js";
import { tellProof } from "./proof.js";
import { state } from "./state.js";
import { vector } from "./vector.js";
import { shares, weights } from "./weighing.js";
import { setChange, takeBack } from "./whatif.js";
/** @import {Head, Row} from "./attention.js" */
/** @import {Text} from "./data.js" */

const FEW = 8;
/** @type {any} */
let body;
/** @type {any} */
let proofLine;
/**
 * The controls of "what if", which stay while the numbers are made anew.
 * @type {Object<string, any>}
 */
const ifs = {};
/**
 * @typedef {{of: Head, i: number, from: Text, to: Text, now: Row, before: Row,
 *   rows: number[], contexts: Float32Array[] | null}} Focus
 */

export const stepsView = {
  name: "steps",
  title: () => t("Steps"),
  build: buildSteps,
  update: updateSteps,
  table: stepsTable,
  svg: stepsSvg,
};

function buildSteps() {
  body = make("div", { class: "steps" });
  buildWhatIf();
  proofLine = make("p", { class: "proof", role: "status", id: "proof" });
  const pinned = make("div", { class: "pinned" }, ifs.title, ifs.box);
  return make("div", { class: "view-steps" }, pinned, body, proofLine);
}

async function updateSteps() {
  const of = await readyHead();
  const [from, to] = textsOf(layer());
  const i = Math.min(state.query, of.queries - 1);
  const contexts = await of.layer.contexts(i);
  if (of !== head() || !of.isReady) return; // another was chosen, and is shown on its own
  const now = of.row(i, state.change);
  const before = isChange(state.change) ? of.row(i, NO_CHANGE) : now;
  const order = Array.from(now.weights.keys()).sort(
    (a, b) => before.weights[b] - before.weights[a],
  );
  const few = new Set(order.slice(0, FEW));
  few.add(Math.min(state.key, of.keys - 1));
  state.change.masked.forEach((j) => few.add(j));
  const rows = state.every
    ? order.slice(0, 2000).sort((a, b) => a - b)
    : [...few].filter((j) => j < of.keys).sort((a, b) => a - b);
  /** @type {Focus} */
  const focus = { of, i, from, to, now, before, rows, contexts };
  const open = new Set(
    Array.from(body.querySelectorAll("details[open]"), (/** @type {any} */ d) => d.dataset.name),
  );
  put(
    ifs.title,
    phrase("What does {word} take from every token?", { word: tokenText(tokenOf(from, i), 30) }),
    make("small", {}, nameOf(of)),
  );
  updateWhatIf(focus);
  keepingFocus(body, () => {
    put(body, isDerived() ? shares(focus) : stepsOf(focus));
    for (const details of body.querySelectorAll("details")) {
      if (open.has(details.dataset.name)) details.open = true;
    }
  });
  proofLine.hidden = isDerived();
  if (!proofLine.hidden) tellProof(proofLine, of);
}

/** From the token's vector to what it takes. @param {Focus} focus */
function stepsOf(focus) {
  const makers = [inputs, vectors, scores, scaled, masked, weights, weighted, sum, after];
  return makers.map((make) => make(focus));
}

/** @param {Focus} focus */
function inputs({ of, i }) {
  const known = Object.entries(of.layer.data.known).filter(
    ([name, k]) => !k.after && layer().known(name, i),
  );
  if (!known.length) return null;
  const last = known[known.length - 1][1];
  return step(
    "0",
    t("The token's vector"),
    "input",
    last.meaning || t("One vector for each position."),
    known.map(([name, k]) => named(name, k, i)),
  );
}

/** @param {string} name @param {{formula: string}} known @param {number} i */
function named(name, known, i) {
  return make(
    "div",
    { class: "named" },
    make("span", { class: "name" }, name === "input" ? "x" : name.replaceAll("_", " ")),
    make(
      "span",
      { class: "vector-box" },
      vector(name, layer().known(name, i)),
      known.formula && known.formula !== "x_i" ? typeset(known.formula) : null,
    ),
  );
}

/** @param {Focus} focus */
function vectors(focus) {
  const { of, i, to } = focus;
  if (!of.hasVectors) {
    return step(
      "1",
      t("No queries and keys"),
      "none",
      t(
        "This mechanism scores a pair in another way than by a dot product, " +
          "or its vectors were not kept: the page carries its weights.",
      ),
    );
  }
  const [x, q] = [layer().known("input", i), of.vector("query", i)];
  const asItIs = x !== null && x.length === q?.length && x.every((value, c) => value === q[c]);
  return stepBy(
    asItIs ? "asItIs" : "query",
    "1",
    t("Query, keys and values"),
    "query",
    t("What the token looks for, what each can be found by, and what each hands over."),
    make(
      "div",
      { class: "named" },
      make("span", { class: "name" }, "q"),
      vector("q", of.vector("query", i)),
    ),
    keyTable(focus, of.hasValues ? [t("key"), t("value")] : [t("key")], (j) => [
      vector(`k ${j} ${shown(to.tokens[j], 8)}`, of.vector("key", j), 3),
      ...(of.hasValues ? [vector(`v ${j}`, of.vector("value", j), 3)] : []),
    ]),
  );
}

/** @param {Focus} focus */
function scores(focus) {
  if (!focus.now.products) return null;
  return step(
    "2",
    t("Scores"),
    "scores",
    t("How well each key fits the query: their dot product, cell by cell."),
    productTable(focus),
  );
}

/** @param {Focus} focus */
function scaled(focus) {
  const { of, now } = focus;
  if (!now.products) return null;
  const { scale, softcap, bias } = of.layer.data;
  const { factor } = state.change;
  const said = [
    scale === 1 && factor === 1
      ? t("This mechanism does not scale its scores.")
      : t(
          "Multiplied by {by}: scores of wide vectors grow with their width, and scaling keeps " +
            "softmax soft.",
          { by: number(scale * factor, 6) },
        ),
    factor === 1 ? "" : t("(The model's own is {scale}.)", { scale: number(scale, 6) }),
    softcap ? t("Soft-capped at {cap}.", { cap: softcap }) : "",
    bias !== null ? t("A bias for each pair is added.") : "",
  ];
  const usual = Math.abs(scale * factor * Math.sqrt(of.part("query")?.width ?? 1) - 1) < 1e-4;
  return stepBy(
    scale * factor === 1 ? "unscaled" : usual ? "scaled" : "scaledBy",
    "3",
    t("Scaled scores"),
    "scaled",
    said.filter(Boolean).join(" "),
    keyTable(focus, [t("score")], (j) => [
      Number.isFinite(now.scores[j])
        ? number(now.scores[j])
        : number((now.products?.[j] ?? NaN) * scale * factor),
    ]),
  );
}

/** @param {Focus} focus */
function masked(focus) {
  const { of, i } = focus;
  const { causal, before, after: ahead, allowed } = of.layer.data;
  const rules = [
    causal ? t("a token sees itself and what came before it") : "",
    before !== null ? t("at most {n} back", { n: before }) : "",
    ahead !== null ? t("at most {n} ahead", { n: ahead }) : "",
    allowed !== null ? t("where the mask allows") : "",
  ].filter(Boolean);
  if (!rules.length && !state.change.masked.size) return null;
  return step(
    "3b",
    t("Mask"),
    "mask",
    [
      rules.length ? t("The rule: {rules}.", { rules: rules.join(t(", ")) }) : t("No mask here."),
      t("What may not be seen gets −∞ and so weight 0."),
    ].join(" "),
    keyTable(focus, [t("may be seen"), t("score")], (j) => [
      state.change.masked.has(j)
        ? changedMark(t("no, by you"))
        : of.allows(i, j)
          ? t("yes")
          : t("no"),
      number(focus.now.scores[j]),
    ]),
  );
}

/** @param {string} text */
function changedMark(text) {
  return make("span", { class: "changed" }, text);
}

function buildWhatIf() {
  ifs.title = make("h2", { class: "steps-title" });
  ifs.slider = make("input", {
    type: "range",
    min: 0,
    max: 4,
    step: 0.1,
    "aria-label": t("Factor on the scale"),
    on: { input: () => setChange(state.change.masked, Number(ifs.slider.value)) },
  });
  ifs.factor = make("span", {});
  ifs.masked = make("span", {});
  ifs.back = make(
    "button",
    { type: "button", on: { click: takeBack } },
    t("Back to the model's own"),
  );
  ifs.box = make(
    "div",
    { class: "what-if" },
    make("strong", {}, t("What if")),
    make("label", { class: "field" }, ifs.factor, ifs.slider),
    ifs.masked,
    ifs.back,
  );
}

/** @param {Focus} focus */
function updateWhatIf({ to }) {
  const { masked: keys, factor } = state.change;
  const list = [...keys].map((j) => shown(tokenOf(to, j), 20));
  ifs.box.classList.toggle("changed-box", isChange(state.change));
  ifs.slider.value = String(factor);
  ifs.factor.textContent = t("scale × {factor}", { factor: number(factor, 1) });
  ifs.masked.textContent = list.length
    ? t("hidden: {list}", { list: list.join(t(", ")) })
    : t("Mask tokens in step 4, or press m.");
  ifs.back.hidden = !isChange(state.change);
  ifs.box.hidden = isDerived();
}

/** @param {Focus} focus */
function weighted(focus) {
  const { of, now } = focus;
  if (!of.hasValues) return null;
  return step(
    "5",
    t("Weighted values"),
    "weighted",
    t("Each value shrunk to its share: little is left of what got little weight."),
    keyTable(focus, [t("weight × value")], (j) => [
      vector(`av ${j}`, of.vector("value", j)?.map((v) => v * now.weights[j]) ?? null, 4),
    ]),
  );
}

/** @param {Focus} focus */
function sum(focus) {
  const { of, i, now, before } = focus;
  if (!of.hasValues) {
    return step(
      "5",
      t("Values"),
      "none",
      t(
        "The values were not kept, so what is mixed of them is not shown. " +
          "(observe(model, values=True) keeps them.)",
      ),
    );
  }
  const place = of.layer.data.checked.indexOf(i);
  const own = place >= 0 ? of.vector("context", place) : null;
  return step(
    "6",
    t("Their sum"),
    "context",
    t("What the token takes from every token it may see."),
    make(
      "div",
      { class: "named" },
      make("span", { class: "name" }, "c"),
      vector("c", of.mix(now.weights)),
    ),
    own && now === before
      ? make(
          "div",
          { class: "named" },
          make("span", { class: "name quiet" }, t("the model's")),
          vector("own", own),
        )
      : null,
  );
}

/** @param {Focus} focus */
function after({ of, i, now, contexts }) {
  const { known } = of.layer.data;
  const made = [];
  if (of.layer.heads.length > 1 && of.hasValues) {
    made.push(
      step(
        "7",
        t("All heads, side by side"),
        "concatenated",
        t("Each head's sum, one after the other."),
        of.layer.heads.map((other) =>
          make(
            "div",
            { class: "named" },
            make("span", { class: "name" }, t("c of head {n}", { n: other.number })),
            vector(
              `c ${other.number}`,
              other === of
                ? of.mix(now.weights)
                : (contexts?.[other.place] ?? other.mix(other.row(i).weights)),
              4,
            ),
          ),
        ),
      ),
    );
  }
  const later = Object.entries(known).filter(
    ([name, k]) => k.after && name !== "concatenated" && layer().known(name, i),
  );
  for (const [name, k] of later) {
    const isOutput = name === "output";
    made.push(
      step(
        isOutput ? "8" : "+",
        isOutput
          ? t("Output projection")
          : name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " "),
        isOutput ? "output" : "none",
        k.meaning,
        named(isOutput ? "output" : name, k, i),
      ),
    );
  }
  return made;
}

/** The chosen token's numbers, key by key. */
function stepsTable() {
  const of = head();
  const [from, to] = textsOf(layer());
  const now = of.row(state.query, state.change);
  return {
    columns: ["from", "to", "position", "q·k", "score", numberName()],
    rows: Array.from(now.weights, (w, j) => [
      tokenOf(from, state.query),
      tokenOf(to, j),
      j,
      now.products?.[j] ?? NaN,
      now.scores[j],
      w,
    ]),
  };
}

/** The chosen token's weights as bars. @returns {SVGElement} */
function stepsSvg() {
  const of = head();
  const [from, to] = textsOf(layer());
  const { weights: row } = of.row(state.query, state.change);
  const order = Array.from(row.keys())
    .sort((a, b) => row[b] - row[a])
    .slice(0, 40)
    .sort((a, b) => a - b);
  const ink = isDark() ? "#e8e8ea" : "#1c1d21";
  const text = { fill: ink, "font-family": "system-ui, sans-serif", "font-size": 13 };
  const most = Math.max(...row, 1e-9);
  const height = 40 + order.length * 22;
  return svg(
    "svg",
    { xmlns: "http://www.w3.org/2000/svg", width: 560, height, viewBox: `0 0 560 ${height}` },
    svg("rect", { width: "100%", height: "100%", fill: isDark() ? "#16181d" : "#ffffff" }),
    svg(
      "text",
      { ...text, x: 12, y: 22, "font-weight": 600 },
      t("{head}: what {word} attends to", {
        head: nameOf(of),
        word: shown(tokenOf(from, state.query), 20),
      }),
    ),
    order.map((j, place) =>
      svg(
        "g",
        { transform: `translate(0 ${34 + place * 22})` },
        svg("text", { ...text, x: 150, y: 15, "text-anchor": "end" }, shown(tokenOf(to, j), 18)),
        svg("rect", {
          x: 160,
          y: 3,
          width: (300 * row[j]) / most,
          height: 15,
          fill: isDark() ? "#8fb4ff" : "#2f5fd0",
        }),
        svg("text", { ...text, x: 468, y: 15 }, number(row[j])),
      ),
    ),
  );
}
