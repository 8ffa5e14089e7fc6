// Why a text cannot be run: words with names in braces, so that the page can say it in the reader's
// language, and the values of the names.

/** @typedef {[string, Object<string, string | number>]} Said */

export class Refusal extends Error {
  /** @param {string} text @param {Object<string, string | number>} [values] */
  constructor(text, values = {}) {
    super(text);
    this.values = values;
  }
}

/** What is to be said of what was read. @param {string} text
 * @param {Object<string, string | number>} values @returns {Said} */
export function told(text, values) {
  return [text, values];
}

export function nothingToRead() {
  return new Refusal("there is nothing to read: type at least one word");
}

export function nothingToSee() {
  return new Refusal("there is nothing to see: draw something, or choose an image");
}
