// The worker: runs models beside the page, so that the page never waits for them.

import { Runner } from "./runner.js";

/** @type {Runner | null} */
let runner = null;

/** The first message carries everything; each other one asks for a look.
 * @param {MessageEvent} event */
async function answer({ data }) {
  if (data.packed !== undefined) {
    runner = new Runner(data.live, data.packed);
    return;
  }
  const { id, model, given, wish } = data;
  try {
    const look = await runner?.look(model, given, wish, (part) => postMessage({ id, part }));
    postMessage({ id, look });
  } catch (error) {
    const { message, values } = /** @type {any} */ (error);
    postMessage({ id, error: message ?? String(error), values });
  }
}

addEventListener("message", (event) => void answer(event));
