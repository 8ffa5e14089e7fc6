// The menu of what can be taken away from the chosen view.

import { make, say } from "./dom.js";
import { copy, linkHere, save, toCanvas, toCsv, toJson, toPng, toSvgText } from "./files.js";
import { t } from "./language.js";
import { view } from "./views.js";

/** @type {any} */
let menu;

export function buildMenu() {
  const svg = () => toSvgText(view().svg());
  const csv = () => toCsv(view().table());
  const json = () => toJson(view().table());
  menu = make(
    "dialog",
    { class: "files", "aria-labelledby": "files-title" },
    make("h2", { id: "files-title" }, t("Take it with you")),
    make(
      "div",
      { class: "files-grid" },
      act(t("Save PNG"), async () => save(await png(), "png", "image/png")),
      act(t("Save SVG"), () => save(svg(), "svg", "image/svg+xml")),
      act(t("Save CSV"), () => save(csv(), "csv", "text/csv")),
      act(t("Save JSON"), () => save(json(), "json", "application/json")),
      act(t("Copy PNG"), async () => copy(await png(), t("Picture"))),
      act(t("Copy SVG"), () => copy(svg(), "SVG")),
      act(t("Copy CSV"), () => copy(csv(), "CSV")),
      act(t("Copy JSON"), () => copy(json(), "JSON")),
      location.protocol === "about:"
        ? null
        : act(t("Copy link to this view"), () => copy(linkHere(), t("Link"))),
      act(t("Print"), () => {
        menu.close();
        print();
      }),
    ),
    make("p", { class: "said quiet", role: "status" }),
    make(
      "button",
      { type: "button", class: "strong", on: { click: () => menu.close() } },
      t("Close"),
    ),
  );
  return menu;
}

/** @param {string} text @param {() => void | Promise<any>} run */
function act(text, run) {
  const click = async () => {
    try {
      await run();
    } catch (error) {
      say(t("That did not work: {reason}", { reason: String(error) }));
    }
  };
  return make("button", { type: "button", on: { click } }, text);
}

async function png() {
  const { canvas, svg } = view();
  return toPng(canvas ? canvas() : await toCanvas(svg()));
}

export function openMenu() {
  menu.querySelector(".said").textContent = "";
  menu.showModal();
}
