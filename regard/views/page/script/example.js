// The page of a worked example: the views of its attention and, below them, every step with numbers
// that can be changed. The views show what follows too.

import { Arrays } from "./data.js";
import { begin, carried, failed, show } from "./main.js";
import { state, watch } from "./state.js";
import { enliven } from "./worked/enlivened.js";
import { renumbered } from "./worked/renumbered.js";

begin();
const { content, packed } = carried();
const arrays = new Arrays(content.arrays, packed);
const worked = enliven((working) => {
  const { layer, head, query, key, view, lang } = state;
  renumbered(content, arrays, working)
    .then((parcel) => show([parcel], { layer, head, query, key, view, lang }))
    .catch(failed);
});
watch((changed) => {
  if (changed.has("lang")) worked?.retell();
});
show([{ document: content, arrays }]).catch(failed);
