// The page's own words in the reader's language: English as it stands in the script, or another
// language out of its table. What was read by a model stays as it is.

import { CHINESE } from "./chinese.js";

/** @type {Object<string, Object<string, string>>} */
const TABLES = { en: {}, zh: CHINESE };
export const LANGUAGES = { en: "English", zh: "中文" };
let spoken = "en";

/** @returns {string} the code of the language that is spoken */
export function language() {
  return spoken;
}

/** @param {string} code what is not known is English */
export function speak(code) {
  spoken = code in TABLES ? code : "en";
  document.documentElement.lang = spoken;
}

/** The first language of the browser that is known. */
export function preferred() {
  const wanted = navigator.languages ?? [navigator.language];
  return wanted.map((name) => name.slice(0, 2).toLowerCase()).find((c) => c in TABLES) ?? "en";
}

/** Text in the reader's language, with values for the names in braces.
 * @param {string} text @param {Object<string, string | number>} [values] @returns {string} */
export function t(text, values = {}) {
  return phrase(text, values).join("");
}

/** The same in parts, where a value may be an element.
 * @param {string} text @param {Object<string, any>} [values] @returns {any[]} */
export function phrase(text, values = {}) {
  const said = TABLES[spoken][text] ?? text;
  return said
    .split(/(\{\w+\})/)
    .filter((part) => part !== "")
    .map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      return name !== undefined && name in values ? values[name] : part;
    });
}
