// Colours of weights: scales that rise evenly in lightness, so that they can be read in grey and
// with every kind of colour vision.

import { t } from "./language.js";
/** @typedef {[number, number, number]} Rgb */

/** @type {Object<string, Rgb[]>} */
const LIGHT = {
  ink: [
    [252, 252, 253],
    [214, 224, 244],
    [150, 178, 224],
    [84, 124, 190],
    [40, 70, 140],
    [20, 30, 72],
  ],
  viridis: [
    [68, 1, 84],
    [59, 82, 139],
    [33, 145, 140],
    [94, 201, 98],
    [253, 231, 37],
  ],
  grey: [
    [252, 252, 252],
    [12, 12, 12],
  ],
};
/** @type {Object<string, Rgb[]>} */
const DARK = {
  ink: [
    [22, 24, 29],
    [32, 58, 96],
    [48, 110, 160],
    [110, 168, 190],
    [206, 216, 190],
    [255, 246, 214],
  ],
  viridis: LIGHT.viridis,
  grey: [
    [22, 24, 29],
    [250, 250, 250],
  ],
};
/** @type {{light: Rgb[], dark: Rgb[]}} */
const BOTH_WAYS = {
  light: [
    [166, 84, 10],
    [230, 165, 95],
    [252, 252, 253],
    [120, 160, 215],
    [24, 72, 150],
  ],
  dark: [
    [255, 180, 96],
    [150, 88, 30],
    [22, 24, 29],
    [44, 90, 160],
    [140, 190, 255],
  ],
};

/** The colours to choose from, and their names. @returns {[string, string][]} */
export function palettes() {
  return [
    ["ink", t("ink")],
    ["viridis", t("viridis")],
    ["grey", t("grey")],
  ];
}

/** The scales to choose from, and their names. @returns {[string, string][]} */
export function scales() {
  return [
    ["auto", t("as it fits")],
    ["linear", t("linear")],
    ["log", t("logarithmic")],
  ];
}

const LONG = 64; // keys: on a longer text an even scale leaves all but peaks white
const BROAD = 0.2; // the largest weight of a head that spreads its attention

/** Whether weights are shown on a logarithmic scale: as chosen, or where the text is long or the
 * head broad. @param {string} scale @param {number} keys @param {number} most */
export function isLogarithmic(scale, keys, most) {
  return scale === "log" || (scale === "auto" && (keys > LONG || most < BROAD));
}

/** Weights below this are the lightest colour of the logarithmic scale. */
export const LEAST = 1e-5;

/** 256 colours. @param {string} palette @param {boolean} dark @returns {Uint8Array} */
export function lookup(palette, dark) {
  const stops =
    palette === "both" ? BOTH_WAYS[dark ? "dark" : "light"] : (dark ? DARK : LIGHT)[palette];
  const table = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    for (let c = 0; c < 3; c++) {
      table[4 * i + c] = Math.round(
        stops[low][c] + (stops[low + 1][c] - stops[low][c]) * (at - low),
      );
    }
    table[4 * i + 3] = 255;
  }
  return table;
}

/** Where a weight is on the scale, 0 to 1. @param {number} weight @param {number} most
 * @param {boolean} log */
export function place(weight, most, log) {
  if (log) return weight <= LEAST ? 0 : 1 - Math.log(weight / most) / Math.log(LEAST / most);
  return most > 0 ? Math.min(1, weight / most) : 0;
}

/** Where a difference is, 0.5 being none. @param {number} value @param {number} most */
export function placeBothWays(value, most) {
  return most > 0 ? Math.max(0, Math.min(1, 0.5 + (0.5 * value) / most)) : 0.5;
}

/** @param {Uint8Array} table @param {number} at 0 to 1 @returns {string} */
export function css(table, at) {
  const i = 4 * Math.max(0, Math.min(255, Math.round(at * 255)));
  return `rgb(${table[i]}, ${table[i + 1]}, ${table[i + 2]})`;
}

/** Black or white, whichever is read more easily on this colour.
 * @param {Uint8Array} table @param {number} at */
export function inkOn(table, at) {
  const i = 4 * Math.max(0, Math.min(255, Math.round(at * 255)));
  const [r, g, b] = [table[i], table[i + 1], table[i + 2]].map((c) => (c / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.35 ? "#111" : "#fff";
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}
