// The proof under the steps: what this page computed, against what the model itself had.

import { prove } from "./attention.js";
import { make, number, put, small } from "./dom.js";
import { t } from "./language.js";
import { subject } from "./model.js";
/** @import {Head} from "./attention.js" */

/** Computed here and now, from the numbers that the page carries. @param {any} line
 * @param {Head} of */
export function tellProof(line, of) {
  const proof = prove(of);
  const values = { rows: proof.rows, all: of.queries };
  const parts = [t("rows sum to 1 within {far}", { far: small(proof.sum) })];
  if (proof.lse !== null)
    parts.push(t("log-sum-exp equals Python's within {far}", { far: small(proof.lse) }));
  if (proof.context !== null) {
    const found = { far: small(proof.context), size: number(proof.size, 3) };
    parts.push(t("the sums equal the model's own within {far} (largest number {size})", found));
  }
  line.dataset.sum = String(proof.sum);
  line.dataset.context = proof.context === null ? "" : String(proof.context);
  put(
    line,
    make("strong", {}, t("Proof")),
    " ",
    subject().document.half
      ? t("computed in this page over {rows} of {all} rows, from half precision vectors: ", values)
      : t("computed in this page over {rows} of {all} rows, from float32 vectors: ", values),
    `${parts.join("; ")}.`,
  );
}
