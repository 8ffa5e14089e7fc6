// Layers whose numbers a server has: a head's vectors are fetched when it is shown, a long map's
// tiles when they come into sight.

import { Head, Layer } from "./attention.js";
import { Arrays } from "./data.js";
import { t } from "./language.js";

const MOST_HEADS = 4;
/** Heads whose vectors are here, the one that was shown last at the end: they are large.
 * @type {Head[]} */
let held = [];
/**
 * The last answer about a link.
 * @type {{address: string, weights: Promise<(number[] | null)[]>} | null}
 */
let lastLink = null;

/** @param {string} address @param {RequestInit} [options] @returns {Promise<Response>} */
export async function ask(address, options) {
  const answer = await fetch(address, options).catch(() => {
    throw new Error(t("the server does not answer: is 'regard serve' still running?"));
  });
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Error(said.error ?? t("the server answered {status}", { status: answer.status }));
  }
  return answer;
}

/** Ask for work of the model and wait for it. @param {string} address @param {Object} wish
 * @returns {Promise<{id: string}>} the look that is done */
export async function askWork(address, wish) {
  const headers = { "content-type": "application/json" };
  const options = { method: "POST", body: JSON.stringify(wish), headers };
  let look = await (await ask(address, options)).json();
  while (look.state === "queued" || look.state === "running") {
    await new Promise((go) => setTimeout(go, 60));
    look = await (await ask(`/api/looks/${look.id}`)).json();
  }
  if (look.state !== "done") throw new Error(look.error || t("it was cancelled"));
  return look;
}

export class RemoteLayer extends Layer {
  get isRemote() {
    return Boolean(this.data.remote);
  }

  /** @param {Head} head @returns {Promise<void>} */
  async readyFor(head) {
    if (!this.isRemote) return this.ready();
    held = [...held.filter((other) => other !== head), head];
    for (const other of held.splice(0, held.length - MOST_HEADS)) other.own = null;
    if (head.own) return;
    const answer = await ask(`${this.address}/layers/${this.index}/heads/${head.number}`);
    const { parts, arrays, packed } = await answer.json();
    const found = new Arrays(arrays, packed);
    const names = Object.keys(parts);
    const values = await Promise.all(
      names.map((name) => (parts[name] === null ? null : found.get(parts[name]))),
    );
    head.own = Object.fromEntries(names.map((name, i) => [name, values[i]]));
  }

  get tiles() {
    if (!this.isRemote) return null;
    return async (
      /** @type {Head} */ head,
      /** @type {number} */ level,
      /** @type {number} */ down,
      /** @type {number} */ across,
    ) => {
      const tiles = `${this.address}/layers/${this.index}/heads/${head.number}/tiles`;
      const place = `${tiles}/${level}/${down}/${across}`;
      return new Float32Array(await (await ask(place)).arrayBuffer());
    };
  }

  async summaries() {
    if (!this.isRemote) return null;
    const { heads, arrays, packed } = await (
      await ask(`${this.address}/layers/${this.index}`)
    ).json();
    const { shape, data } = await new Arrays(arrays, packed).get(0);
    const [, rows, columns] = shape;
    return heads.map((/** @type {any} */ one, /** @type {number} */ h) => ({
      summary: { kind: one.kind, share: one.share ?? NaN, entropy: one.entropy },
      most: one.most,
      grid: { rows, columns, cells: data.subarray(h * rows * columns, (h + 1) * rows * columns) },
    }));
  }

  /** @param {number} i @returns {Promise<Float32Array[] | null>} */
  async contexts(i) {
    if (!this.isRemote) return null;
    const answer = await ask(`${this.address}/layers/${this.index}/contexts/${i}`);
    const { heads } = await answer.json();
    return heads && heads.map((/** @type {number[]} */ one) => Float32Array.from(one));
  }

  /** @param {number} i @param {number} j */
  async links(i, j) {
    if (!this.isRemote) return null;
    const address = `${this.address}/links/${i}/${j}`;
    if (lastLink?.address !== address) {
      const weights = ask(address)
        .then((answer) => answer.json())
        .then(({ layers }) => layers);
      lastLink = { address, weights };
      weights.catch(() => {
        lastLink = null;
      });
    }
    return (await lastLink.weights)[this.index];
  }
}
