// The lines of heads: which weights are drawn, in which colour, and how they move to others.

import { pictureOf, layer, picture, subject, textsOf } from "./model.js";
import { state } from "./state.js";
/** @import {Picture} from "./picture.js" */

/**
 * `head` is the place of the head; `faded`: it goes to a token that stands for nothing.
 * @typedef {{from: number, to: number, weight: number, head: number, faded: boolean}} Strand
 * @typedef {{d: string, strength: number, bright: boolean, head: number, faded: boolean}} Stroke
 */

export const MOST = 2500;
const STRENGTHS = 14;
/** Colours of heads that the colour-blind tell apart, light and dark (Okabe and Ito's order). */
export const COLOURS = {
  light: ["#1f55c8", "#b3430b", "#007a5e", "#a3347f", "#7a5c00", "#2b7ba8", "#5a5f69", "#6a3fb0"],
  dark: ["#8fb4ff", "#ffb066", "#4fd6ae", "#f59bd3", "#f0d94e", "#7fd0ff", "#b7bcc6", "#c3a6ff"],
};

/** The heads that are drawn, the chosen one first. @returns {number[]} */
export function drawnHeads() {
  const more = state.heads.split(".").filter(Boolean).map(Number);
  const count = layer().heads.length;
  const wanted = [state.head, ...more.filter((h) => h >= 0 && h < count && h !== state.head)];
  return [...new Set(wanted)].slice(0, COLOURS.light.length);
}

/** Draw a head too, or no longer. @param {number} place @returns {string} the heads besides */
export function withHead(place) {
  const now = new Set(drawnHeads().slice(1));
  if (!now.delete(place)) now.add(place);
  return [...now].join(".");
}

/** @param {number} place of a head @returns {Picture} */
function pictureAt(place) {
  if (place === state.head) return picture();
  return pictureOf(layer().heads[place], subject(), state.change);
}

/** The strongest links of a row that together make the share of its weight.
 * @param {Picture} of @param {number} r @param {Set<number>} special @returns {Strand[]} */
function strongestOf(of, r, special) {
  const row = of.row(r);
  const sorted = row.slice().sort();
  let least = Infinity;
  let sum = 0;
  for (let at = sorted.length - 1; at >= 0 && sorted[at] > 0 && sum < state.share - 1e-6; at--) {
    least = sorted[at];
    sum += least;
  }
  /** @type {Strand[]} */
  const found = [];
  for (let c = 0; c < row.length; c++) {
    if (row[c] < least) continue;
    const faded = isSink(of.columns[c].number, special);
    found.push({ from: r, to: c, weight: row[c], head: of.head.place, faded });
  }
  return found;
}

/** Where attention goes that has nowhere else to go. @param {number} token
 * @param {Set<number>} special */
function isSink(token, special) {
  return special.has(token) || (token === 0 && layer().data.causal);
}

/** What is drawn, and how much of all weight it is. @param {number[]} rows */
export function strandsOf(rows) {
  const special = new Set(textsOf(layer())[1].special);
  const some = state.all ? rows : [picture().rowOf(state.query)];
  const heads = drawnHeads();
  let strands = heads.flatMap((place) => {
    const of = pictureAt(place);
    return some.flatMap((r) => strongestOf(of, r, special));
  });
  const wanted = strands.length;
  if (wanted > MOST) strands = strands.sort((a, b) => b.weight - a.weight).slice(0, MOST);
  const sum = strands.reduce((total, strand) => total + strand.weight, 0);
  const whole = Math.max(1, some.length * heads.length);
  return { strands, wanted, rows: some.length, covered: sum / whole };
}

/** Part of the way from some strands to others. @param {Strand[]} old @param {Strand[]} next
 * @param {number} part 0 to 1 @returns {Strand[]} */
export function between(old, next, part) {
  const key = (/** @type {Strand} */ s) =>
    `${s.from} ${s.to} ${s.head === state.head ? "" : s.head}`;
  const before = new Map(old.map((strand) => [key(strand), strand]));
  const mixed = next.map((strand) => {
    const was = before.get(key(strand))?.weight ?? 0;
    before.delete(key(strand));
    return { ...strand, weight: was + (strand.weight - was) * part };
  });
  const going = [...before.values()].map((s) => ({ ...s, weight: s.weight * (1 - part) }));
  return [...mixed, ...going];
}

/** Strands of like strength are one path each: thousands of them stay quick.
 * @param {Strand[]} strands @param {{width: number, row: number, mirrored: boolean}} room
 * @param {(strand: Strand) => boolean} isBright @returns {Stroke[]} */
export function strokesOf(strands, { width, row, mirrored }, isBright) {
  const [x1, x2] = mirrored ? [width, 0] : [0, width];
  const bend = (x2 - x1) * 0.4;
  /** @type {Map<string, {stroke: Stroke, parts: string[]}>} */
  const groups = new Map();
  for (const strand of strands) {
    const { head, faded } = strand;
    const bright = isBright(strand);
    const strength = Math.max(1, Math.ceil(Math.min(1, strand.weight) * STRENGTHS)) / STRENGTHS;
    const key = [head, faded, bright, strength].join();
    const group = groups.get(key) ?? {
      stroke: { d: "", strength, bright, head, faded },
      parts: [],
    };
    const [y1, y2] = [(strand.from + 0.5) * row, (strand.to + 0.5) * row];
    group.parts.push(`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`);
    groups.set(key, group);
  }
  const made = [...groups.values()].map(({ stroke, parts }) => ({ ...stroke, d: parts.join("") }));
  return made.sort((a, b) => Number(a.bright) - Number(b.bright) || a.strength - b.strength);
}

/** @param {Stroke} stroke @param {boolean} others whether another row is pointed at */
export function opacityOf({ strength, bright, faded }, others) {
  return (0.1 + 0.82 * strength) * (others && !bright ? 0.2 : 1) * (faded ? 0.3 : 1);
}
