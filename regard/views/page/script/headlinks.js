// The weight of the chosen link in every head, and which head has the strongest.

import { number, say } from "./dom.js";
import { t } from "./language.js";
import { nameOf, subject } from "./model.js";
import { choose, state } from "./state.js";
/** @import {Head} from "./attention.js" */

/** Weights of the link that a server computed. @type {{link: string, of: Map<Head, number>}} */
let told = { link: "", of: new Map() };

/**
 * Ask for the weights of the chosen link in heads whose vectors are not here.
 * @param {Head[]} heads
 */
export async function learnLinks(heads) {
  const [i, j] = [state.query, state.key];
  const of = new Map();
  for (const layer of new Set(heads.map((head) => head.layer))) {
    const weights = await layer.links(i, j);
    weights?.forEach((weight, place) => of.set(layer.heads[place], weight));
  }
  if (state.query === i && state.key === j) told = { link: `${i} ${j}`, of };
}

/** The weight of the chosen link in a head: 0 where it has no such tokens, NaN while it is not
 * known. @param {Head} head */
export function linkWeight(head) {
  if (state.query >= head.queries || state.key >= head.keys) return 0;
  if (told.link === `${state.query} ${state.key}` && told.of.has(head))
    return told.of.get(head) ?? 0;
  return head.isReady ? head.row(state.query).weights[state.key] : NaN;
}

/** Go to the head with the strongest link between the chosen tokens. */
export async function strongest() {
  const [from, to] = subject().layers[state.layer].data.texts;
  const all = subject().layers.flatMap((l) => l.heads);
  const heads = all.filter((h) => h.layer.data.texts[0] === from && h.layer.data.texts[1] === to);
  await learnLinks(heads);
  await Promise.all(heads.filter((head) => !told.of.has(head)).map((head) => head.ready()));
  const best = heads.reduce((a, b) => (linkWeight(b) > linkWeight(a) ? b : a));
  choose({ layer: best.layer.index, head: best.place });
  say(
    t("{head} has the strongest link, {weight}", {
      head: nameOf(best),
      weight: number(linkWeight(best)),
    }),
  );
}

/** Forget what belongs to another document. */
export function resetLinks() {
  told = { link: "", of: new Map() };
}
