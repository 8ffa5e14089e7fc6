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
  const { id, model, text, wish } = data;
  try {
    const look = await runner?.look(model, text, wish, (part) => postMessage({ id, part }));
    postMessage({ id, look });
  } catch (error) {
    postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

addEventListener("message", (event) => void answer(event));
