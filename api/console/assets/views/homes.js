// Homes: a list with a search.
import { h } from "../lib/dom.js";
import { field, text } from "../lib/form.js";
import { badge } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { table } from "../lib/table.js";

export function homesView({ session, signal, parameters }) {
  const search = text({ type: "search", value: parameters.get("search") ?? "" });
  const list = pages({
    signal,
    label: "Homes",
    load: (after, limit) => session.client.call("/v1/homes/list", {
      limit, ...(after && { after }), ...(search.value.trim() && { search: search.value.trim() }),
    }, { signal }),
    table: table({
      label: "Homes",
      key: (home) => home.id,
      columns: [
        { name: "Home", cell: (home) => h("a", { href: `#/homes/${home.id}`, class: "identifier", data: { part: "link" } }, home.id) },
        { name: "Name", cell: (home) => home.name },
        { name: "Rate plan", cell: (home) => home.ratePlanId },
        { name: "Time zone", cell: (home) => home.timezone },
        { name: "Zipcode", cell: (home) => home.zipcode },
        { name: "State", cell: (home) => (home.enabled ? badge("Enabled", "good") : badge("Disabled", "calm")) },
      ],
      empty: "No such home.",
    }),
  });
  search.addEventListener("input", () => list.load());
  list.load();
  const hint = "Id, name, user, zipcode, city or street";
  return { title: "Homes", element: h("div", {}, h("search", {}, field({ name: "search", label: "Search", control: search, hint })), list.element) };
}
