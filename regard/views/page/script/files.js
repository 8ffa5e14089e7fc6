// What can be taken away: a picture, a table, a link.

import { make, say } from "./dom.js";
import { t } from "./language.js";
import { head, layer, subject } from "./model.js";
import { state, toFragment } from "./state.js";

/** @typedef {{columns: string[], rows: (string | number)[][], part?: string}} Table
 * `part` says what it is of, if it is not everything */

/** A table as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe.
 * @param {Table} table */
export function toCsv({ columns, rows }) {
  const cell = (/** @type {string | number} */ value) => {
    if (typeof value === "number") return Number.isNaN(value) ? "" : String(plain(value));
    const text = wellFormed(value);
    const safe = /^[=+@\t\r-]/.test(text) ? `'${text}` : text;
    return /[",\n\r]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** A number with the digits that float32 has; infinity by name. @param {number} value */
function plain(value) {
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  return Number(value.toPrecision(8));
}

/** @param {string} text without lone surrogates, which no file can hold */
function wellFormed(text) {
  return text.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    "\ufffd",
  );
}

/** @param {Table} table */
export function toJson(table) {
  const value = (/** @type {string | number} */ cell) =>
    typeof cell === "string" ? cell : Number.isNaN(cell) ? null : plain(cell);
  return JSON.stringify(
    {
      regard: subject().document.regard,
      model: subject().data.model,
      title: subject().data.title,
      view: state.view,
      layer: layer().data.number,
      kind: layer().data.kind,
      head: head().number,
      words: state.words,
      sinks: state.sinks,
      ...(state.measure ? { measure: state.measure } : {}),
      masked: [...state.change.masked],
      factor: state.change.factor,
      ...(table.part ? { part: table.part } : {}),
      columns: table.columns,
      rows: table.rows.map((row) => row.map(value)),
    },
    null,
    1,
  );
}

/** @param {SVGElement} picture */
export function toSvgText(picture) {
  return wellFormed(new XMLSerializer().serializeToString(picture));
}

/**
 * An SVG picture drawn at twice its size.
 * @param {SVGElement} picture
 * @returns {Promise<HTMLCanvasElement>}
 */
export async function toCanvas(picture) {
  const address = URL.createObjectURL(new Blob([toSvgText(picture)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const by = Math.min(2, 16000 / Math.max(image.width, image.height));
    const canvas = make("canvas", {
      width: Math.round(image.width * by),
      height: Math.round(image.height * by),
    });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** @param {HTMLCanvasElement} canvas @returns {Promise<Blob>} */
export function toPng(canvas) {
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture could be made")))),
  );
}

/** @param {Blob | string} content @param {string} ending @param {string} kind */
export function save(content, ending, kind) {
  const blob = typeof content === "string" ? new Blob([content], { type: kind }) : content;
  const address = URL.createObjectURL(blob);
  const place = `layer-${layer().data.number}-head-${head().number}`;
  const name = `regard-${state.view}-${place}`;
  const link = make("a", { href: address, download: `${name}.${ending}` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  say(t("Saved {file}", { file: link.download }));
}

/** @param {string | Blob} content @param {string} what */
export async function copy(content, what) {
  try {
    if (typeof content === "string") await navigator.clipboard.writeText(content);
    else await navigator.clipboard.write([new ClipboardItem({ [content.type]: content })]);
    say(t("{what} copied", { what }));
  } catch {
    if (typeof content === "string" && copyOldWay(content))
      return say(t("{what} copied", { what }));
    say(
      t("{what} could not be copied: the browser does not allow it here. Saving it works.", {
        what,
      }),
    );
  }
}

/** By a selection, which frames may do that may not use the clipboard. @param {string} text */
function copyOldWay(text) {
  const field = make("textarea", { class: "unseen", "aria-hidden": "true" });
  field.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

export function linkHere() {
  return `${location.href.split("#")[0]}#${toFragment()}`;
}
