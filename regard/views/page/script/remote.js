// Layers whose numbers a server has: a head's vectors are fetched when it is shown, a long map's
// tiles when they come into sight.

import { Head, Layer } from "./attention.js";
import { Arrays } from "./data.js";

/** Where the look is: /api/looks/… */
const look = { address: "" };

/** @param {string} address */
export function setLook(address) {
  look.address = address;
}

/** @param {string} address @param {RequestInit} [options] @returns {Promise<Response>} */
export async function ask(address, options) {
  const answer = await fetch(address, options);
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new Error(said.error ?? `the server answered ${answer.status}`);
  }
  return answer;
}

export class RemoteLayer extends Layer {
  get isRemote() {
    return Boolean(this.data.remote);
  }

  /** @param {Head} head @returns {Promise<void>} */
  async readyFor(head) {
    if (!this.isRemote) return this.ready();
    if (head.own) return;
    const answer = await ask(`${look.address}/layers/${this.index}/heads/${head.number}`);
    const { parts, arrays, packed } = await answer.json();
    const found = new Arrays(arrays, packed);
    const names = Object.keys(parts);
    const values = await Promise.all(names.map((name) => (parts[name] === null ? null : found.get(parts[name]))));
    for (const other of this.heads) other.own = null; // one head at a time: they are large
    head.own = Object.fromEntries(names.map((name, i) => [name, values[i]]));
  }

  get tiles() {
    if (!this.isRemote) return null;
    return async (/** @type {Head} */ head, /** @type {number} */ level, /** @type {number} */ down, /** @type {number} */ across) => {
      const place = `${look.address}/layers/${this.index}/heads/${head.number}/tiles/${level}/${down}/${across}`;
      return new Float32Array(await (await ask(place)).arrayBuffer());
    };
  }

  async summaries() {
    if (!this.isRemote) return null;
    const { heads, arrays, packed } = await (await ask(`${look.address}/layers/${this.index}`)).json();
    const { shape, data } = await new Arrays(arrays, packed).get(0);
    const [, rows, columns] = shape;
    return heads.map((/** @type {any} */ one, /** @type {number} */ h) => ({
      summary: { kind: one.kind, share: one.share ?? NaN, entropy: one.entropy },
      most: one.most,
      grid: { rows, columns, cells: data.subarray(h * rows * columns, (h + 1) * rows * columns) },
    }));
  }
}
