// The engine: a worker with the models that this file carries, asked for one look after the other.

import { t } from "./language.js";
/** @import {Given, LiveData, Look} from "./network/runner.js" */
/** @import {Wish} from "./network/wish.js" */

/** @typedef {{resolve: (look: Look) => void, reject: (error: Error) => void,
 *   told: (part: Look) => void}} Waiting */

export class Engine {
  /** @param {string} script of the worker @param {LiveData} live @param {string} packed */
  constructor(script, live, packed) {
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.worker.postMessage({ live, packed });
    this.worker.addEventListener("message", ({ data }) => this.answer(data));
    this.worker.addEventListener("error", (event) => this.fail(event.message));
    this.count = 0;
    /** Why nothing can be asked any more. */
    this.broken = "";
    /** @type {Map<number, Waiting>} */
    this.waiting = new Map();
  }

  /** @param {number} model @param {Given} given @param {Wish} wish
   * @param {(part: Look) => void} [told] of what is known before the end
   * @returns {Promise<Look>} */
  look(model, given, wish, told = () => {}) {
    if (this.broken) return Promise.reject(new Error(this.broken));
    const id = this.count++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, told });
      this.worker.postMessage({ id, model, given, wish });
    });
  }

  /** @param {{id: number, part?: Look, look?: Look, error?: string, values?: any}} message */
  answer({ id, part, look, error, values }) {
    const one = this.waiting.get(id);
    if (!one) return;
    if (part) return one.told(part);
    this.waiting.delete(id);
    if (look) one.resolve(look);
    else one.reject(new Error(t(error ?? "the model did not answer", values)));
  }

  /** @param {string} reason */
  fail(reason) {
    this.broken = t("the model could not be run in this browser: {reason}", {
      reason: reason || t("it does not say why"),
    });
    for (const { reject } of this.waiting.values()) reject(new Error(this.broken));
    this.waiting.clear();
  }
}
