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

export const NOTHING_TO_READ = "there is nothing to read: type at least one word";
