// The views, in the order of their tabs: a new one is its file and a line here.

import { compareView } from "./compare.js";
import { firstView } from "./first.js";
import { headView } from "./lines.js";
import { mapView } from "./map.js";
import { overviewView } from "./overview.js";
import { readingView } from "./reading.js";
import { stepsView } from "./steps.js";
import { state } from "./state.js";
import { hasWhole, wholeView } from "./whole.js";
/** @import {Table} from "./files.js" */

/**
 * `update` draws what is chosen; `table` gives the numbers behind it, `svg` and `canvas` pictures.
 * @typedef {{name: string, title: () => string, build: () => HTMLElement,
 *   update: (changed: Set<string>) => void | Promise<void>, table: () => Table,
 *   svg: () => SVGElement, canvas?: () => HTMLCanvasElement}} View
 */

/** @type {View[]} */
export const VIEWS = [
  firstView,
  stepsView,
  headView,
  mapView,
  overviewView,
  readingView,
  compareView,
  wholeView,
];

/** Whether there is anything for a view to show: one without it has no tab. @param {string} name */
export function hasTab(name) {
  return name !== wholeView.name || hasWhole();
}

/** @param {string} name */
export function isView(name) {
  return VIEWS.some((view) => view.name === name);
}

/** The view that is chosen. */
export function view() {
  return VIEWS.find(({ name }) => name === state.view) ?? VIEWS[0];
}
