// Numbers as people write them.

/** What the last digit of an exact number may be off by, as regard has it. */
const EXACT = 1e-9;

/** A typed number and how far the true one may be from it; null if it is none. As in a file, the
 * digits that are written count; a fraction of whole numbers is meant to three digits.
 * @param {string} text @returns {{value: number, off: number} | null} */
export function read(text) {
  const plain = text.trim().replace(",", ".").replace("−", "-");
  const fraction = /^(-?\d+)\s*\/\s*(\d+)$/.exec(plain);
  if (fraction && Number(fraction[2]))
    return { value: Number(fraction[1]) / Number(fraction[2]), off: 1e-3 };
  const decimal = /^-?(?:\d+\.?|\d*\.(\d+))(?:e([+-]?\d{1,3}))?$/i.exec(plain);
  if (!decimal || !Number.isFinite(Number(plain))) return null;
  const digits = (decimal[1] ?? "").length - Number(decimal[2] ?? 0);
  const isWhole = !decimal[1] && !decimal[2];
  return { value: Number(plain), off: isWhole ? EXACT : 0.5 * 10 ** -digits + EXACT };
}

/** A claimed number with the digits that it was written with. @param {number} value
 * @param {number} off how far it may be off */
export function asWritten(value, off) {
  const digits = off > EXACT ? Math.round(-Math.log10(2 * (off - EXACT))) : 0;
  return off > EXACT && digits > 0 && digits <= 15 ? value.toFixed(digits) : String(value);
}

/** So many decimals; a minus sign only where something is left of it. @param {number} value
 * @param {number} places */
export function decimals(value, places) {
  if (!Number.isFinite(value)) return "–";
  const text = value.toFixed(places);
  return Number(text) === 0 ? text.replace("-", "") : text;
}
