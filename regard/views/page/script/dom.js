// Elements. Text goes in as text, never as markup, so no token can become anything but itself.

/** @typedef {Object<string, any>} Props */

/** An HTML element: `on` holds listeners, the rest are attributes; false and null leave one out.
 * @param {string} tag @param {Props} [props] @param {...any} children @returns {any} */
export function make(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** @param {string} tag @param {Props} [props] @param {...any} children @returns {any} */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

/** @param {string} tag @param {...any} children @returns {any} */
export function math(tag, ...children) {
  const element = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  return fill(element, {}, children);
}

/** @param {Element} element @param {Props} props @param {any[]} children */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") {
      for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    } else if (name === "style") {
      for (const [key, to] of Object.entries(value)) {
        /** @type {any} */ (element).style.setProperty(key, String(to));
      }
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined),
  );
  return element;
}

/**
 * Put these children in place of what is there.
 * @param {Element} element
 * @param {any[]} children
 */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
}

/**
 * Options of a select, made anew only where the names have changed.
 * @param {any} select
 * @param {string[]} names
 * @param {number} chosen */
export function fillOptions(select, names, chosen) {
  const said = names.join("\n");
  if (select.dataset.said !== said)
    put(
      select,
      names.map((name, i) => make("option", { value: i }, name)),
    );
  select.dataset.said = said;
  select.value = String(chosen);
}

/** The same for values with names. @param {any} select @param {[string, string][]} choices
 * @param {string} chosen */
export function fillChoices(select, choices, chosen) {
  const said = choices.flat().join("\n");
  if (select.dataset.said !== said)
    put(
      select,
      choices.map(([value, name]) => make("option", { value }, name)),
    );
  select.dataset.said = said;
  select.value = choices.some(([value]) => value === chosen) ? chosen : choices[0][0];
}

/**
 * The head of a table.
 * @param {any[]} columns their names, as text or elements */
export function tableHead(columns) {
  const names = columns.map((name) => make("th", { scope: "col" }, name));
  return make("thead", {}, make("tr", {}, names));
}

const ACTING = new RegExp(
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e]/.source +
    /|[\u2060-\u206f\ufeff\ufff9-\ufffb]/.source +
    /|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.source,
  "g",
);

/** A token as it is shown: what would act instead of being seen becomes its escape, and a very
 * long one is cut. @param {string} token @param {number} [most] */
export function shown(token, most = 40) {
  const cut = token.length > most ? `${cleanEnd(token.slice(0, most))}…` : token;
  const text = cut.replace(ACTING, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return text === "" ? "∅" : text;
}

/** @param {string} text without half of a pair at its end */
function cleanEnd(text) {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** A token in an element of its own, so that right-to-left text does not reorder its neighbours.
 * @param {string} token @param {number} [most] */
export function tokenText(token, most) {
  return make("bdi", { class: "token-text", dir: "auto" }, shown(token, most));
}

/** @param {number} value @param {number} [places] */
export function number(value, places = 4) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const text = value.toFixed(places);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** A small number with what matters of it. @param {number} value */
export function small(value) {
  if (value === 0) return "0";
  return value < 1e-3 ? value.toExponential(1).replace("-", "−") : number(value);
}

/** A weight with six places, or its power of ten. @param {number} weight */
export function exact(weight) {
  return weight !== 0 && weight < 1e-4
    ? weight.toExponential(3).replace("-", "−")
    : number(weight, 6);
}

let fading = 0;

/**
 * A short message: read out, and seen for a moment; in a dialog, inside it.
 * @param {string} text
 */
export function say(text) {
  const line = document.querySelector("dialog[open] .said") ?? document.getElementById("said");
  if (!line) return;
  line.textContent = text;
  line.classList.toggle("seen", text !== "");
  clearTimeout(fading);
  fading = setTimeout(() => line.classList.remove("seen"), 5000);
}

/** Make the content of an element anew; what had the focus (by its data-focus) has it again.
 * @param {Element} element @param {() => void} act */
export function keepingFocus(element, act) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  const name = active && element.contains(active) ? active.dataset.focus : undefined;
  act();
  if (name === undefined) return;
  const again = [...element.querySelectorAll("[data-focus]")].find(
    (e) => /** @type {any} */ (e).dataset.focus === name,
  );
  /** @type {HTMLElement | undefined} */ (again)?.focus({ preventScroll: true });
}

/** Works through a long list a little at a time, so that the page stays awake.
 * @template T @param {Iterable<T>} items @param {(item: T) => void | Promise<void>} act
 * @param {() => boolean} [stop] */
export async function slowly(items, act, stop = () => false) {
  let since = performance.now();
  for (const item of items) {
    if (stop()) return;
    await act(item);
    if (performance.now() - since > 12) {
      await new Promise((go) => setTimeout(go));
      since = performance.now();
    }
  }
}
