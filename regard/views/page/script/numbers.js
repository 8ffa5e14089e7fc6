// The numbers behind the chosen view, as a table that opens.

import { exact, make, number, put, tableHead, tokenText } from "./dom.js";
import { t } from "./language.js";
import { head } from "./model.js";
import { view } from "./views.js";

const MOST = 200; // rows and columns: an export has all
/** @type {any} */
let details;

export function buildNumbers() {
  details = make(
    "details",
    { class: "as-table", on: { toggle: fillNumbers } },
    make("summary", {}, t("The numbers as a table")),
    make("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": t("Numbers") }),
  );
  return details;
}

export function toggleNumbers() {
  details.open = !details.open;
}

export function fillNumbers() {
  if (!details.open || !head().isReady) return;
  const table = view().table();
  const rows = table.rows.slice(0, MOST);
  const columns = table.columns.slice(0, MOST);
  const values = {
    rows: rows.length,
    of: table.rows.length,
    columns: columns.length,
    among: table.columns.length,
  };
  const isCut = values.of > values.rows || values.among > values.columns;
  const cut = t("{rows} of {of} rows and {columns} of {among} columns; an export has all", values);
  const said = [view().title(), table.part, isCut ? cut : ""].filter(Boolean);
  put(
    details.lastElementChild,
    make(
      "table",
      { class: "plain" },
      make("caption", {}, said.join(": ")),
      tableHead(columns.map((name) => (name === "" ? t("from \\ to") : tokenText(name, 24)))),
      make("tbody", {}, rows.map(line)),
    ),
  );
}

/** @param {(string | number)[]} row */
function line(row) {
  const cells = row.slice(0, MOST);
  return make(
    "tr",
    {},
    cells.map((cell, i) =>
      i === 0 ? make("th", { scope: "row" }, text(cell)) : make("td", {}, text(cell)),
    ),
  );
}

/** @param {string | number} cell */
function text(cell) {
  if (typeof cell === "string") return tokenText(cell, 60);
  if (Number.isInteger(cell)) return String(cell);
  if (Number.isNaN(cell)) return "";
  return Math.abs(cell) < 1 ? exact(cell) : number(cell);
}
