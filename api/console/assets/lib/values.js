// Any value of the API as elements: one way for objects that need no view of their own.
import { facts, h } from "./dom.js";
import { instant } from "./format.js";

/** words are the words of a field: ratePlanId is "Rate plan id". */
export const words = (name) => {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
  return spaced[0].toUpperCase() + spaced.slice(1);
};

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

const simple = (value) => value === null || typeof value !== "object";

/** short is a value without parts, as text. An absent value is "". */
function short(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "number") return value.toLocaleString("en-US", { maximumFractionDigits: 6, useGrouping: Math.abs(value) >= 10_000 });
  return moment.test(value) ? instant(value) : String(value);
}

/** rowsOf is a list of objects as a table. */
function rowsOf(list, label) {
  const names = [...new Set(list.flatMap((item) => Object.keys(item)))];
  const numeric = (name) => list.every((item) => [undefined, null].includes(item[name]) || typeof item[name] === "number") && "numeric";
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h("table", { class: "plain" }, h("caption", { class: "unseen" }, label),
      h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: numeric(name) }, words(name))))),
      h("tbody", {}, list.map((item) => h("tr", {}, names.map((name) => h("td", { class: numeric(name) }, inCell(item[name]))))))));
}

/** inCell is a value in a table. */
function inCell(value) {
  if (value === undefined || simple(value)) return short(value);
  if (Array.isArray(value)) return value.map(inCell).join(", ");
  return Object.entries(value).map(([name, part]) => `${words(name)} ${inCell(part)}`).join(", ");
}

/** valuesOf shows an object: its plain values as facts, and its lists and objects below, each with its name. */
export function valuesOf(object, level = 3) {
  const plain = [];
  const parts = [];
  for (const [name, value] of Object.entries(object)) {
    if (simple(value)) plain.push([words(name), short(value)]);
    else if (Array.isArray(value) && value.every(simple)) plain.push([words(name), value.map(short).join(", ")]);
    else if (Array.isArray(value)) parts.push([name, rowsOf(value, words(name))]);
    else parts.push([name, valuesOf(value, level + 1)]);
  }
  const long = plain.filter(([, text]) => text.length > 120);
  const brief = plain.filter((f) => !long.includes(f));
  return h("div", { class: "values" }, brief.length > 0 && facts(brief), long.length > 0 && facts(long, "facts wide"), parts.map(([name, element]) => [h(`h${Math.min(level, 6)}`, {}, words(name)), element]));
}
