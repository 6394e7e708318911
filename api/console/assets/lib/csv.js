// Lists as CSV files.
import { button, busy, say } from "./dom.js";
import { plural } from "./format.js";

/** flat has the values of an item by path: {a: {b: 1}} is {"a.b": 1}. A list is one value. */
export function flat(item, prefix = "") {
  return Object.entries(item).reduce((all, [name, value]) => {
    if (value === null || value === undefined) return { ...all, [prefix + name]: "" };
    if (Array.isArray(value)) return { ...all, [prefix + name]: value.every((v) => typeof v !== "object") ? value.join(" ") : JSON.stringify(value) };
    return typeof value === "object" ? { ...all, ...flat(value, `${prefix}${name}.`) } : { ...all, [prefix + name]: value };
  }, {});
}

/** cell quotes a value. A spreadsheet must not take a text for a formula. */
function cell(value) {
  const text = typeof value === "string" && /^[=+@\t\r-]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** csv writes items with one column for each field of any item. */
export function csv(items) {
  const rows = items.map((item) => flat(item));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names, ...rows.map((row) => names.map((name) => row[name] ?? ""))].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

/** csvButton saves the items that fetch returns as a file. failed shows a problem. */
export function csvButton(label, fetchItems, failed) {
  const press = button("CSV", () => busy(press, async () => {
    try {
      const items = await fetchItems();
      const url = URL.createObjectURL(new Blob([csv(items)], { type: "text/csv" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = `${label.toLowerCase().replace(/[^\w-]+/g, "-")}.csv`;
      link.click();
      URL.revokeObjectURL(url);
      say(`${plural(items.length, "row")} saved.`);
    } catch (error) {
      failed(error);
    }
  }), { class: "link", "aria-label": `${label} as CSV` });
  return press;
}
