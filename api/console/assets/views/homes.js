// Homes: the operator's list. A partner opens a home by its identifier.
import { inPath } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { field, form, text } from "../lib/form.js";
import { badge } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { table } from "../lib/table.js";

export function homesView({ session, signal, operator, go }) {
  return { title: "Homes", element: operator ? homesList(session, signal) : h("div", {}, byIdentifier(go)) };
}

function byIdentifier(go) {
  const id = text();
  return form({
    label: "Find a home", action: "Show price signal",
    fields: [field({ name: "id", label: "Home id", control: id })],
    submit: () => {
      if (id.value.trim()) go(`/homes/${inPath(id.value.trim())}`);
    },
  });
}

function homesList(session, signal) {
  const search = text({ type: "search" });
  const list = pages({
    signal,
    label: "Homes",
    load: (after, limit) => load(session, signal, search.value.trim(), after, limit),
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
  return h("div", {}, h("search", {}, field({ name: "search", label: "Id begins with", control: search })), list.element);
}

/**
 * load fetches a page of the homes whose identifiers begin with some text. The
 * list is in their order, so they stand together: first the one of that very
 * identifier, then those that follow it.
 */
async function load(session, signal, prefix, after, limit) {
  const organizationId = session.organization;
  const list = (from) => session.client.call("/v1/admin/homes/list", { organizationId, limit, ...(from && { after: from }) }, { signal });
  if (!/^[\w-]{1,128}$/.test(prefix)) return prefix ? { data: [], next: null } : list(after);
  const [exact, page] = await Promise.all([after ? [] : find(session, signal, prefix), list(after || prefix)]);
  const matching = page.data.filter((home) => home.id.startsWith(prefix));
  return { data: [...exact, ...matching], next: matching.length === page.data.length ? page.next : null };
}

async function find(session, signal, id) {
  try {
    return [await session.client.call(`/v1/admin/homes/${inPath(id)}/get`, { organizationId: session.organization }, { signal })];
  } catch (error) {
    if (error.status === 404) return [];
    throw error;
  }
}
