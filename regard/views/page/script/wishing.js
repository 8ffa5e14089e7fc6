// What the controls of a what-if share: the link that is chosen, and a button for each word.

import { make, shown, tokenText } from "./dom.js";
import { state } from "./state.js";
/** @import {Text} from "./data.js" */

/** The places of one word, or of one piece. @param {Text} text @param {number} i */
function wordAt({ tokens, words, names }, i) {
  const at = Math.min(i, tokens.length - 1);
  if (!state.words) return { name: tokens[at], places: [at] };
  const w = words.findLastIndex((start) => start <= at);
  const stop = words[w + 1] ?? tokens.length;
  return { name: names[w], places: tokens.flatMap((_, j) => (words[w] <= j && j < stop ? j : [])) };
}

/** The link that is chosen in the views, of words or of pieces: its places, and it in words.
 * @param {Text} from @param {Text} to */
export function chosenLink(from, to) {
  const [query, key] = [wordAt(from, state.query), wordAt(to, state.key)];
  const name = [query, key].map((one) => shown(one.name ?? "", 16)).join(" → ");
  /** @type {[number, number][]} */
  const links = query.places.flatMap((i) =>
    key.places.map((j) => /** @type {[number, number]} */ ([i, j])),
  );
  return { links, name };
}

/** A button for each word: pressed if it is masked. @param {Text} text @param {number[]} masked
 * @param {(masked: number[]) => void} act given what is masked then
 * @param {(masked: number[]) => boolean} [can] whether that can be done */
export function wordButtons(text, masked, act, can = () => true) {
  return text.words.map((from, w) => {
    const stop = text.words[w + 1] ?? text.tokens.length;
    const own = Array.from({ length: stop - from }, (_, i) => from + i);
    const isMasked = masked.includes(from);
    const after = isMasked ? masked.filter((j) => !own.includes(j)) : [...masked, ...own];
    after.sort((a, b) => a - b);
    return make(
      "button",
      {
        type: "button",
        class: "mask-word",
        disabled: !can(after),
        "aria-pressed": String(isMasked),
        "data-focus": `mask ${w}`,
        on: { click: () => act(after) },
      },
      tokenText(text.names[w], 24),
    );
  });
}
