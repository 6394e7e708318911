// The endpoints of an organization, and the form to add one.
import { idempotencyKey } from "../lib/api.js";
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
        { name: "URL", cell: (e) => h("span", { class: "url" }, e.url) },
        { name: "State", cell: stateBadge },
        { name: "Health", cell: (e) => h("span", { class: "badges" }, healthBadge(e), breakerBadge(e)) },
        { name: "Description", cell: (e) => e.description },
      ],
      empty: "No endpoints yet. Triggers deliver nothing until you add one.",
    }),
  });
  list.load();
  return { title: "Endpoints", element: h("div", {}, session.may("write") && createPart(session, go), list.element) };
}

export const stateBadge = (e) => (e.enabled ? badge("Enabled", "good") : badge("Disabled", "calm", "Gridhook sends nothing to it."));

/** createPart is a button that opens the form. */
function createPart(session, go) {
  const place = h("div");
  const open = button("Add endpoint", () => {
    open.hidden = true;
    // A repeat after a lost response creates no second endpoint. A change is another request.
    let once = idempotencyKey();
    const element = endpointForm({
      action: "Create endpoint", fresh: true,
      cancel: () => {
        place.replaceChildren();
        open.hidden = false;
        open.focus();
      },
      submit: async (settings) => {
        const made = await session.client.call("/v1/webhook/endpoints/create", settings, { idempotencyKey: once });
        await showVerifier(made, "Endpoint created");
        go(`/endpoints/${made.id}`);
      },
    });
    element.addEventListener("change", () => { once = idempotencyKey(); });
    place.replaceChildren(h("section", { class: "panel", "aria-label": "New endpoint" }, h("h2", {}, "New endpoint"), element));
    element.querySelector("input").focus();
  }, { class: "primary" });
  return h("div", { class: "create" }, open, place);
}
