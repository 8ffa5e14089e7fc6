// Answers of the course: told right from wrong by hashes, so that no answer stands in the page.
// The twin of regard/learn/seal.py and judge.py.

const PRIME = 16777619;
const STARTS = [2166136261, 2538058380];
const MOST = 8;

/** @typedef {{ kind: string, numbers?: string[][], words?: string[] }} Sealed */

/** Two FNV-1a hashes of 32 bits, side by side. @param {string} number @param {string} text */
export function digest(number, text) {
  const bytes = new TextEncoder().encode(`${number} ${text}`);
  return STARTS.map((start) => {
    let value = start >>> 0;
    for (const byte of bytes) value = Math.imul(value ^ byte, PRIME) >>> 0;
    return value.toString(16).padStart(8, "0");
  }).join("");
}

/** Letters and digits in lower case, whatever stands around them. @param {string} text */
export function plainWord(text) {
  const folded = text.normalize("NFKC").toLowerCase();
  return folded.replace(/[^\p{L}\p{N}\p{M}]+/gu, " ").trim();
}

/** A typed number as digits:units (0.37 → 2:37); null if it is none. @param {string} text */
export function formOf(text) {
  let plain = text.normalize("NFKC").replace("−", "-").trim().replace(/\.$/, "");
  if (/^[+-]?\d*,\d+$/.test(plain)) plain = plain.replace(",", ".");
  const found = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(plain);
  if (!found || !(found[2] || found[3])) return null;
  const all = found[3] ?? "";
  const behind = all.slice(0, MOST);
  const up = (all[MOST] ?? "0") >= "5" ? 1n : 0n; // more digits than are told apart are rounded
  const units = (BigInt(`${found[2]}${behind}`) + up) * (found[1] === "-" ? -1n : 1n);
  return `${behind.length}:${units}`;
}

/**
 * Whether an answer is right, and if not, which word of the page says why.
 * @param {string} number of the exercise
 * @param {Sealed} sealed
 * @param {string} answer
 * @returns {{ right: boolean, says: string, count?: number }}
 */
export function judge(number, sealed, answer) {
  if (sealed.kind === "word") {
    const right = /** @type {string[]} */ (sealed.words).includes(
      digest(number, plainWord(answer)),
    );
    return { right, says: right ? "right" : "wrong" };
  }
  const wanted = /** @type {string[][]} */ (sealed.numbers);
  const rows = answer.replace(/^[\s[\]]+|[\s[\]]+$/g, "").split(/[\s,;[\]，；]+/);
  const typed = (wanted.length === 1 ? [answer] : rows.filter((part) => part)).map(formOf);
  if (typed.includes(null)) return { right: false, says: "number" };
  if (typed.length !== wanted.length) {
    return { right: false, says: "numbers", count: wanted.length };
  }
  const hits = (/** @type {string} */ sign) =>
    typed.map((form, i) => wanted[i].includes(digest(number, `${sign}${form}`)));
  const [right, near] = [hits(""), hits("~")];
  if (right.every((hit) => hit)) return { right: true, says: "right" };
  const digits = right.every((hit, i) => hit || near[i]);
  return { right: false, says: digits ? "digits" : "wrong" };
}
