// Changes carried through the model by the server that runs it.

import { ask, askWork } from "./remote.js";
/** @import {Carrier, Change} from "./trial.js" */

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
    const look = await askWork(`${this.address}/what-if`, wish);
    this.look = look.id;
    return (await ask(`/api/looks/${look.id}/outcome`)).json();
  }
}
