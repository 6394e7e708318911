// The endpoints of an organization, and registering another.
import { button, h } from "../lib/dom.js";
import { badge } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { table } from "../lib/table.js";
import { endpointForm } from "./endpointform.js";
import { showVerifier } from "./endpointsecret.js";
import { breakerBadge, healthBadge } from "./health.js";

export function endpointsView({ session, signal, go }) {
  const list = pages({
    signal,
    label: "Endpoints",
    load: (after, limit) => session.client.call("/v1/webhook/endpoints/list", { limit, ...(after && { after }) }, { signal }),
    table: table({
      label: "Endpoints",
      key: (e) => e.id,
      columns: [
        { name: "Endpoint", cell: (e) => h("a", { href: `#/endpoints/${e.id}`, class: "identifier", data: { part: "link" } }, e.id) },
        { name: "Deliveries go to", cell: (e) => h("span", { class: "url" }, e.url) },
        { name: "State", cell: stateBadge },
        { name: "Health", cell: (e) => h("span", { class: "badges" }, healthBadge(e), breakerBadge(e)) },
        { name: "Description", cell: (e) => e.description },
      ],
      empty: "There is no endpoint yet, so that triggers have nowhere to deliver to.",
    }),
  });
  list.load();
  return { title: "Endpoints", element: h("div", {}, session.may("write") && createPart(session, go), list.element) };
}

export const stateBadge = (e) => (e.enabled ? badge("Enabled", "good") : badge("Disabled", "calm", "Nothing is delivered to it."));

/** createPart is a form that comes when it is asked for. */
function createPart(session, go) {
  const place = h("div");
  const open = button("Add an endpoint", () => {
    open.hidden = true;
    const element = endpointForm({
      action: "Create the endpoint", fresh: true,
      cancel: () => {
        place.replaceChildren();
        open.hidden = false;
        open.focus();
      },
      submit: async (settings) => {
        const made = await session.client.call("/v1/webhook/endpoints/create", settings);
        await showVerifier(made, "The endpoint is registered");
        go(`/endpoints/${made.id}`);
      },
    });
    place.replaceChildren(h("section", { class: "panel", "aria-label": "A new endpoint" }, h("h2", {}, "A new endpoint"), element));
    element.querySelector("input").focus();
  }, { class: "primary" });
  return h("div", { class: "create" }, open, place);
}
