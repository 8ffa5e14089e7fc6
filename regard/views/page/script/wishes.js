// What if, and how the model's own output changes: words that nothing may look at, links that are
// cut, heads that are removed, and how sharply the model looks.

import { make, number, put, shown } from "./dom.js";
import { t } from "./language.js";
import { NOTHING } from "./network/wish.js";
import { state } from "./state.js";
import { chosenLink, wordButtons } from "./wishing.js";
/** @import {Look} from "./network/runner.js" */
/** @import {Wish} from "./network/wish.js" */

const rising = (/** @type {number} */ a, /** @type {number} */ b) => a - b;

/** The controls, and what is wished with them. */
export class Wishes {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.wish = NOTHING;
    /** What was there before anything was wished. @type {Look | null} */
    this.before = null;
    /** @type {Look | null} */
    this.look = null;
    this.controls = make("div", { class: "wishes" });
    this.masks = make("span", { class: "wishes" });
    this.summary = make("summary", {});
    this.element = make("details", { class: "live-if", hidden: true }, this.summary, this.controls);
    this.cut = make("button", { type: "button", on: { click: () => this.cutChosen() } });
    this.remove = make("button", { type: "button", on: { click: () => this.removeChosen() } });
  }

  /** What is masked in the views, masked in the model. @param {number[]} masked
   * @param {number} factor */
  takeOver(masked, factor) {
    this.element.open = true;
    this.choose({ masked: [...new Set([...this.wish.masked, ...masked])].sort(rising), factor });
  }

  /** Another text: nothing is wished. */
  reset() {
    this.wish = NOTHING;
    this.before = null;
  }

  /** @param {Partial<Wish>} change */
  choose(change) {
    this.before ??= this.look;
    this.wish = { ...this.wish, ...change };
    if (JSON.stringify(this.wish) === JSON.stringify(NOTHING)) this.before = null;
    this.changed();
  }

  /** The controls for what is shown now. @param {Look | null} look */
  build(look) {
    this.look = look;
    const layer = look?.layers[0];
    this.element.hidden = !layer?.weights.length || layer.name === "the word just read";
    if (!look || !layer || this.element.hidden) return put(this.controls);
    this.summary.textContent = look.pixels
      ? t("What if … (mask a patch, cut a link, and see what the model says then)")
      : t("What if … (mask a word, cut a link, and see what the model says then)");
    const focus = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.focus;
    put(
      this.controls,
      make("span", { class: "quiet" }, t("nothing could look at")),
      this.masks,
      this.sharpness(),
      this.cut,
      layer.heads > 1 ? this.remove : null,
      this.before
        ? make(
            "button",
            {
              type: "button",
              class: "strong",
              on: {
                click: () => {
                  this.reset();
                  this.changed();
                },
              },
            },
            t("Undo all"),
          )
        : null,
      make("span", { class: "quiet" }, this.said(look)),
    );
    this.nameChosen();
    if (focus) this.controls.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus();
  }

  /** A button for each word that is looked at; of an image, for what is masked or chosen.
   * @param {Look} look */
  words(look) {
    const keys = look.texts[look.layers[0].texts[1]];
    const { masked } = this.wish;
    const all = wordButtons(keys, masked, (chosen) => this.choose({ masked: chosen }));
    return keys.backdrop ? all.filter((_, j) => j === state.key || masked.includes(j)) : all;
  }

  sharpness() {
    const slider = make("input", {
      type: "range",
      ...{ min: -2, max: 2, step: 0.5, value: Math.log2(this.wish.factor) },
      "data-focus": "sharp",
      on: { change: () => this.choose({ factor: 2 ** Number(slider.value) }) },
    });
    return make(
      "label",
      { class: "field" },
      make("span", {}, t("it looked more sharply")),
      slider,
      make("output", {}, `× ${number(this.wish.factor, 2)}`),
    );
  }

  /** The link that is chosen in the views. @param {Look} look */
  chosen(look) {
    const [from, to] = (look.layers[state.layer] ?? look.layers[0]).texts;
    return chosenLink(look.texts[from], look.texts[to]);
  }

  /** Whether links and heads of the layer that is chosen in the views can be changed: of a
   * translator, its looks at the source; of an image, those of patches. */
  isReached() {
    const layers = this.look?.layers ?? [];
    return layers.length > 0 && (layers[state.layer] ?? layers[0]).kind === layers[0].kind;
  }

  /** Whether the pieces that it looks at can be masked: also where something is decided. */
  canMask() {
    return this.isReached() || this.look?.layers[state.layer]?.kind === "cross";
  }

  /** Say on the buttons what they would change. */
  nameChosen() {
    if (!this.look?.layers.length) return;
    this.cut.disabled = this.remove.disabled = !this.isReached();
    put(this.masks, this.words(this.look));
    const { name } = this.chosen(this.look);
    put(this.cut, t("the link {name} were cut", { name }));
    const { layer, head } = state;
    put(this.remove, t("head {head} of layer {layer} were removed", { head, layer }));
  }

  cutChosen() {
    if (!this.look) return;
    const { links } = this.chosen(this.look);
    this.choose({ cut: [...this.wish.cut, ...links] });
  }

  removeChosen() {
    this.choose({ removed: [...this.wish.removed, [state.layer, state.head]] });
  }

  /** What is wished, in words. @param {Look} look */
  said({ layers, texts }) {
    const [from, to] = layers[0].texts;
    const { cut, removed } = this.wish;
    const links = cut.map(
      ([i, j]) => `${shown(texts[from].tokens[i] ?? "…", 16)} → ${shown(texts[to].tokens[j], 16)}`,
    );
    const heads = removed.map(([layer, head]) => t("layer {layer} head {head}", { layer, head }));
    return [
      links.length ? t("cut: {what}", { what: links.join(", ") }) : "",
      heads.length ? t("removed: {what}", { what: heads.join(", ") }) : "",
    ]
      .filter(Boolean)
      .join("; ");
  }
}
