// What if, carried through the model: mask words, cut links, remove heads, look more sharply, and
// see what the model then puts out. Who carries it is given: a server that runs the model, or a
// list of what was computed when the file was written; what nobody can carry is greyed.

import { keepingFocus, make, number, put, shown } from "./dom.js";
import { t } from "./language.js";
import { outcomeTable } from "./outcome.js";
import { state } from "./state.js";
import { setChange } from "./whatif.js";
import { chosenLink, wordButtons } from "./wishing.js";
/** @import {SubjectData} from "./data.js" */
/** @import {Outcome, Outcomes} from "./outcome.js" */

/**
 * @typedef {{masked: number[], cut: [number, number, number, number | null][],
 *   removed: [number, number][], factor: number, temperature: number}} Change as wish.py has it
 * @typedef {{can: (wish: Change) => boolean, carry: (wish: Change) => Promise<Outcomes>,
 *   reason: () => string}} Carrier
 */

/** @type {Change} */
const NOTHING = { masked: [], cut: [], removed: [], factor: 1, temperature: 1 };
const MOST_WORDS = 80; // of a longer text words are masked in the views
const PAUSE = 200; // milliseconds after the last change before it is carried

/** @param {Change} wish */
function isNothing(wish) {
  return JSON.stringify(wish) === JSON.stringify(NOTHING);
}

export class Trial {
  /** @param {(wish: Change) => any} [more] makes what stands beside a result */
  constructor(more = () => null) {
    this.more = more;
    this.wish = NOTHING;
    /** @type {Carrier | null} */
    this.carrier = null;
    /** @type {SubjectData | null} */
    this.subject = null;
    /** @type {Outcome | null} */
    this.before = null;
    this.turn = 0; // an answer to an earlier wish is not shown
    this.timer = 0;
    this.controls = make("div", { class: "trial-controls" });
    this.output = make("div", { class: "trial-output", role: "status" });
    this.title = make("summary", {});
    this.element = make("details", { class: "trial", hidden: true });
    put(this.element, this.title, make("div", { class: "trial-body" }, this.output, this.controls));
  }

  /** Another text, or another model. @param {SubjectData} subject @param {Carrier} carrier
   * @param {Outcome} before */
  show(subject, carrier, before) {
    Object.assign(this, { subject, carrier, before, wish: NOTHING, turn: this.turn + 1 });
    this.element.hidden = false;
    put(this.output, outcomeTable({ before }));
    this.build();
  }

  hide() {
    this.element.hidden = true;
    this.carrier = null;
    this.turn += 1;
  }

  /** What was masked or scaled in the views, of what is read. */
  follow() {
    if (!this.carrier || this.subject?.layers[state.layer]?.texts[1] !== 0) return;
    const masked = [...state.change.masked].sort((a, b) => a - b);
    const { factor } = state.change;
    if (masked.join() === this.wish.masked.join() && factor === this.wish.factor) {
      this.build();
      return;
    }
    this.element.open = true;
    this.set({ ...this.wish, masked, factor });
  }

  /** @param {Partial<Change>} change */
  choose(change) {
    this.set({ ...this.wish, ...change });
    setChange(new Set(this.wish.masked), this.wish.factor); // in the views, what a head makes of it
  }

  /** @param {Change} wish */
  set(wish) {
    this.wish = wish;
    this.build();
    clearTimeout(this.timer);
    this.turn += 1;
    this.timer = setTimeout(() => void this.carry(this.turn), PAUSE);
  }

  /** @param {number} mine */
  async carry(mine) {
    const { carrier, before, wish } = this;
    if (!carrier || !before) return;
    if (isNothing(wish)) return put(this.output, outcomeTable({ before }));
    if (!carrier.can(wish))
      return put(this.output, make("p", { class: "quiet" }, carrier.reason()));
    this.output.classList.add("waiting");
    try {
      const found = await carrier.carry(wish);
      if (mine === this.turn) put(this.output, outcomeTable(found), this.more(wish));
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error);
      if (mine === this.turn) put(this.output, make("p", { class: "trial-error" }, said));
    }
    if (mine === this.turn) this.output.classList.remove("waiting");
  }

  /** The controls, in the language that is spoken. */
  build() {
    const { subject, carrier } = this;
    if (!subject || !carrier) return;
    put(this.title, t("What if? And what does the model say then?"));
    keepingFocus(this.controls, () =>
      put(this.controls, this.words(), this.links(), this.scales(), this.done(), this.greyed()),
    );
  }

  /** @param {Partial<Change>} change */
  can(change) {
    const wish = { ...this.wish, ...change };
    return isNothing(wish) || Boolean(this.carrier?.can(wish));
  }

  words() {
    const text = /** @type {SubjectData} */ (this.subject).texts[0];
    const said = make("span", { class: "quiet" }, t("nothing could look at"));
    const list =
      text.words.length > MOST_WORDS
        ? make("span", { class: "quiet" }, t("(choose a word in a view and press m)"))
        : wordButtons(
            text,
            this.wish.masked,
            (masked) => this.choose({ masked }),
            (masked) => this.can({ masked }),
          );
    return make("div", { class: "wish-row" }, said, list);
  }

  /** The chosen link and the chosen head. */
  links() {
    const { texts, layers } = /** @type {SubjectData} */ (this.subject);
    const { layer, head } = state;
    const data = layers[layer] ?? layers[0];
    const { links, name } = chosenLink(texts[data.texts[0]], texts[data.texts[1]]);
    const { cut, removed } = this.wish;
    const cutting = (/** @type {number | null} */ where) => ({
      cut: [
        ...cut,
        ...links.map(([i, j]) => /** @type {Change["cut"][0]} */ ([i, j, layer, where])),
      ],
    });
    const number = data.heads[head] ?? head;
    /** @type {Partial<Change>} */
    const removing = { removed: [...removed, [layer, number]] };
    return make(
      "div",
      { class: "wish-row" },
      this.button("cut", t("the link {name} were cut", { name }), cutting(null)),
      data.heads.length > 1
        ? [
            this.button("cut here", t("… in this head alone"), cutting(number)),
            this.button(
              "remove",
              t("head {head} of layer {layer} were removed", { head: number, layer: data.number }),
              removing,
            ),
          ]
        : null,
    );
  }

  /** @param {string} focus @param {string} text @param {Partial<Change>} change */
  button(focus, text, change) {
    const on = { click: () => this.choose(change) };
    const disabled = !this.can(change);
    return make("button", { type: "button", "data-focus": focus, disabled, on }, text);
  }

  scales() {
    const { factor, temperature } = this.wish;
    const hasWords = Boolean(this.before?.predictions);
    return make(
      "div",
      { class: "wish-row" },
      this.slider("factor", t("it looked more sharply"), factor, (value) => ({ factor: value })),
      hasWords
        ? this.slider("temperature", t("temperature of the prediction"), temperature, (value) => ({
            temperature: value,
          }))
        : null,
    );
  }

  /** @param {string} focus @param {string} name @param {number} value
   * @param {(value: number) => Partial<Change>} change */
  slider(focus, name, value, change) {
    const input = make("input", {
      type: "range",
      ...{ min: -2, max: 2, step: 0.5, value: Math.log2(Math.max(value, 0.25)) },
      "data-focus": focus,
      disabled: !this.can(change(2)),
      on: { change: () => this.choose(change(2 ** Number(input.value))) },
    });
    const said = make("output", {}, `× ${number(value, 2)}`);
    return make("label", { class: "field" }, make("span", {}, name), input, said);
  }

  /** What is changed, each with a button that takes it back. */
  done() {
    const { texts, layers } = /** @type {SubjectData} */ (this.subject);
    const { cut, removed } = this.wish;
    const chip = (/** @type {string} */ text, /** @type {Partial<Change>} */ without) =>
      make(
        "button",
        {
          type: "button",
          class: "undo-one",
          "aria-label": t("take back: {what}", { what: text }),
          on: { click: () => this.choose(without) },
        },
        `${text} ✕`,
      );
    const links = cut.map(([i, j, layer, head], place) => {
      const [from, to] = layers[layer].texts;
      const name = `${shown(texts[from].tokens[i], 16)} → ${shown(texts[to].tokens[j], 16)}`;
      const where = head === null ? "" : ` (${t("layer {layer} head {head}", { layer, head })})`;
      return chip(`${name}${where}`, { cut: cut.filter((_, k) => k !== place) });
    });
    const heads = removed.map(([layer, head], place) =>
      chip(t("layer {layer} head {head}", { layer, head }), {
        removed: removed.filter((_, k) => k !== place),
      }),
    );
    if (isNothing(this.wish)) return null;
    const on = { click: () => this.choose(NOTHING) };
    const undo = make("button", { type: "button", class: "strong", on }, t("Undo all"));
    return make("div", { class: "wish-row" }, links, heads, undo);
  }

  /** Why something is greyed. */
  greyed() {
    const reason = this.carrier?.reason();
    return reason ? make("p", { class: "quiet" }, reason) : null;
  }
}
