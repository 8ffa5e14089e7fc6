// What is chosen. Every view reads it and changes it here, so all of them move together, and the
// page's address (after #) says it, so that a link restores the view.

import { isChange, NO_CHANGE } from "./attention.js";
/** @import {Change} from "./attention.js" */

/**
 * @typedef {{view: string, subject: number, layer: number, head: number, query: number,
 *   key: number, words: boolean, sinks: boolean, scale: string, over: string, palette: string,
 *   share: number,
 *   all: boolean, every: boolean, sort: string, kind: string, sight: string,
 *   other: [number, number, number] | null, change: Change, lang: string, heads: string,
 *   measure: string}} State
 */

/** @type {State} */
export const state = {
  view: "sentence",
  subject: 0,
  layer: 0, // its place in the list of layers
  head: 0, // its place among the heads that are kept
  query: 0,
  key: 0,
  words: true, // subwords joined to words
  sinks: true, // first and special tokens shown
  scale: "auto", // of the colours: linear, logarithmic, or as it fits
  over: "", // heads that the map takes together
  palette: "ink",
  share: 0.6, // of each row's weight, drawn as lines
  all: true, // lines of all tokens, or of the chosen one
  every: false, // in Steps, all tokens or the strongest
  sort: "layer",
  kind: "",
  sight: "", // the part of a map that is seen: left, top, pixels a cell; empty: all of it
  other: null, // subject, layer, head to compare with
  change: NO_CHANGE,
  measure: "", // derived from the weights and shown in their place; empty: the weights
  heads: "", // others that Head draws over the chosen one, by dots
  lang: "", // the page's language; empty: the browser's
};

/** @type {Set<(changed: Set<string>) => void>} */
const watchers = new Set();
/** @type {Set<string>} */
let pending = new Set();
/** @type {(next: State) => State} */
let clamp = (next) => next;

/** @param {(changed: Set<string>) => void} act called once for all changes of a moment */
export function watch(act) {
  watchers.add(act);
}

/** @param {(next: State) => State} rule keeps choices inside what there is */
export function setClamp(rule) {
  clamp = rule;
}

/** @param {Partial<State>} changes */
export function choose(changes) {
  const next = clamp({ ...state, ...changes });
  for (const name of /** @type {(keyof State)[]} */ (Object.keys(state))) {
    if (next[name] !== state[name]) {
      /** @type {any} */ (state)[name] = next[name];
      touch(name);
    }
  }
}

/** As if these were chosen anew: what they stand for is another. @param {...keyof State} names */
export function touch(...names) {
  if (!pending.size) queueMicrotask(tell);
  for (const name of names) pending.add(name);
}

function tell() {
  const changed = pending;
  pending = new Set();
  for (const act of watchers) act(changed);
  tellAddress();
}

const MOST_WRITES = 40; // in WINDOW milliseconds: browsers refuse an address that changes too often
const WINDOW = 10000;
/** @type {number[]} */
let writes = [];
let later = 0;

function tellAddress() {
  const link = toFragment();
  // A frame has no address.
  if (link === location.hash.slice(1) || location.protocol === "about:") return;
  const now = performance.now();
  writes = writes.filter((at) => now - at < WINDOW);
  clearTimeout(later);
  if (writes.length >= MOST_WRITES) {
    later = setTimeout(tellAddress, 400);
    return;
  }
  writes.push(now);
  history.replaceState(history.state, "", `#${link}`);
}

/** What else the address says. @type {Map<string, string>} */
const more = new Map();

/** @param {string} name @param {string} value */
export function setInAddress(name, value) {
  more.set(name, value);
  tellAddress();
}

/** @type {[keyof State, string][]} */
const NAMES = [
  ["view", "view"],
  ["subject", "text"],
  ["layer", "layer"],
  ["head", "head"],
  ["query", "from"],
  ["key", "to"],
  ["words", "words"],
  ["sinks", "sinks"],
  ["scale", "scale"],
  ["over", "over"],
  ["palette", "palette"],
  ["share", "share"],
  ["all", "all"],
  ["every", "every"],
  ["sort", "sort"],
  ["kind", "kind"],
  ["sight", "sight"],
  ["lang", "lang"],
  ["heads", "heads"],
  ["measure", "measure"],
];

/** The choices as the part of an address after #. */
export function toFragment() {
  const parts = new URLSearchParams([...more]);
  for (const [name, short] of NAMES) {
    const value = state[name];
    parts.set(short, typeof value === "boolean" ? (value ? "1" : "0") : String(value));
  }
  if (state.other) parts.set("with", state.other.join("."));
  if (isChange(state.change)) {
    parts.set("masked", [...state.change.masked].join("."));
    parts.set("factor", String(state.change.factor));
  }
  return parts.toString();
}

/** @param {string} fragment @returns {Partial<State>} what of it can be understood */
export function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment);
  /** @type {Object<string, any>} */
  const found = {};
  for (const [name, short] of NAMES) {
    const text = parts.get(short);
    if (text === null) continue;
    const kind = typeof state[name];
    if (kind === "boolean") found[name] = text === "1";
    else if (kind !== "number") found[name] = text;
    else if (text.trim() !== "" && Number.isFinite(Number(text))) found[name] = Number(text);
  }
  const other = numbers(parts.get("with"));
  if (other.length === 3) found.other = other;
  const factor = Number(parts.get("factor") ?? 1);
  const masked = new Set(numbers(parts.get("masked")));
  if (masked.size || factor !== 1) {
    found.change = { masked, factor: Number.isFinite(factor) ? factor : 1 };
  }
  return found;
}

/** @param {string | null} text @returns {number[]} */
function numbers(text) {
  return (text ?? "")
    .split(".")
    .filter((part) => /^\d{1,9}$/.test(part))
    .map(Number);
}
