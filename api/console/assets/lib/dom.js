// Elements made of values. Text stays text: nothing here parses markup.

const svgNamespace = "http://www.w3.org/2000/svg";

/** present are the children that are there: a condition may leave one out. */
const present = (children) => children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false);

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

/** h makes an HTML element: h("p", {class: "hint"}, "text", child). */
export const h = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children);

/** s makes an SVG element. */
export const s = (tag, properties = {}, ...children) => fill(document.createElementNS(svgNamespace, tag), properties, children);

/** facts is a description list of the pairs that have a value. */
export function facts(pairs, className = "facts") {
  return h("dl", { class: className }, pairs
    .filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false)
    .map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** button makes a button. It acts on this page; links lead to other pages. */
export function button(text, onClick, properties = {}) {
  return h("button", { type: "button", ...properties, on: { click: onClick } }, text);
}

/** busy disables a button while its action runs. */
export async function busy(element, work) {
  if (element.getAttribute("aria-disabled") === "true") return undefined;
  element.setAttribute("aria-disabled", "true");
  try {
    return await work();
  } finally {
    element.removeAttribute("aria-disabled");
  }
}

/** replace replaces the children of an element. The part that has the focus keeps it. */
export function replace(element, ...children) {
  const part = element.contains(document.activeElement) && document.activeElement.dataset.part;
  element.replaceChildren(...present(children));
  if (part) element.querySelector(`[data-part="${part}"]`)?.focus();
}

let lastId = 0;

/** uniqueId is an id for an element that another refers to. */
export const uniqueId = (prefix) => `${prefix}-${++lastId}`;

/** say makes a screen reader read a text aloud. */
export function say(text) {
  document.getElementById("spoken").textContent = text;
}
