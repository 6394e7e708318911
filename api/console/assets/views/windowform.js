// The choice of days for the chart. The address holds it, so that a view can be
// bookmarked and shared.
import { h } from "../lib/dom.js";
import { field, select, text } from "../lib/form.js";
import { addDays } from "../chart/zone.js";

const lengths = [[1, "1 day"], [2, "2 days"], [7, "7 days"], [31, "31 days"]];

/** windowForm calls go with the query of the address of another window. */
export function windowForm({ zone, day, days, today, go }) {
  const date = text({ type: "date", value: day });
  const length = select(lengths.map(([n, label]) => [String(n), label]), lengths.some(([n]) => n === days) ? String(days) : "1");
  const to = (d, n = days) => {
    const query = new URLSearchParams();
    if (d) query.set("day", d);
    if (d && n !== 1) query.set("days", n);
    return query.size > 0 ? `?${query}` : "";
  };
  const go_ = () => go(to(date.value || (length.value === "1" ? "" : today), Number(length.value)));
  for (const control of [date, length]) control.addEventListener("change", go_);
  const link = (name, d) => h("button", { type: "button", on: { click: () => go(to(d)) } }, name);
  const from = day || today;
  return h("form", { class: "window", "aria-label": "Window", on: { submit: (event) => event.preventDefault() } },
    h("div", { class: "row" },
      field({ name: "day", label: `From local midnight in ${zone} of`, control: date }),
      field({ name: "days", label: "for", control: length })),
    h("div", { class: "actions" },
      link(days === 1 ? "Day before" : "Days before", addDays(from, -days)),
      link(days === 1 ? "Day after" : "Days after", addDays(from, days)),
      day && link("Next 24 hours", "")));
}
