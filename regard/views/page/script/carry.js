// Changes carried through the model by the server that runs it.

import { t } from "./language.js";
import { ask } from "./remote.js";
/** @import {Carrier, Change} from "./trial.js" */

const JSON_TYPE = { "content-type": "application/json" };

/** Carries the changes of one look. */
export class ServerCarrier {
  /** @param {string} address of the look */
  constructor(address) {
    this.address = address;
    /** Of the last change that was carried. */
    this.look = "";
  }

  can() {
    return true;
  }

  reason() {
    return "";
  }

  /** What the unchanged model puts out. */
  async before() {
    return (await (await ask(`${this.address}/outcome`)).json()).before;
  }

  /** @param {Change} wish */
  async carry(wish) {
    const options = { method: "POST", body: JSON.stringify(wish), headers: JSON_TYPE };
    let look = await (await ask(`${this.address}/what-if`, options)).json();
    this.look = look.id;
    while (look.state === "queued" || look.state === "running") {
      await new Promise((go) => setTimeout(go, 60));
      look = await (await ask(`/api/looks/${look.id}`)).json();
    }
    if (look.state !== "done") throw new Error(look.error || t("it was cancelled"));
    return (await ask(`/api/looks/${look.id}/outcome`)).json();
  }
}
