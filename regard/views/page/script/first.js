// The first view: the sentence, or the thing that was read in its place, with what the chosen part
// of it looks at.

import { make } from "./dom.js";
import { t } from "./language.js";
import { behind, model } from "./model.js";
import { sentenceView } from "./sentence.js";
import { thingView } from "./thing.js";
import { kindName } from "./thingstage.js";

/** @type {{sentence: HTMLElement, thing: HTMLElement}} */
let parts;

export const firstView = {
  name: sentenceView.name,
  title: () => {
    const backdrop = model.subjects.length ? behind() : null;
    return backdrop ? kindName(backdrop) : t("Sentence");
  },
  build,
  update,
  table: () => chosen().table(),
  svg: () => chosen().svg(),
};

function chosen() {
  return behind() ? thingView : sentenceView;
}

function build() {
  parts = { sentence: sentenceView.build(), thing: thingView.build() };
  return make("div", {}, parts.sentence, parts.thing);
}

/** @param {Set<string>} changed */
function update(changed) {
  parts.thing.hidden = !behind();
  parts.sentence.hidden = !parts.thing.hidden;
  return chosen().update(changed);
}
