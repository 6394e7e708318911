// The operator's choice of the organization to act for.
import { button, h } from "../lib/dom.js";
import { when } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { session as sessionOf } from "../lib/session.js";
import { table } from "../lib/table.js";

export function organizationsView({ session, signal, signIn, go }) {
  const choose = (organization) => {
    go("/overview");
    signIn(sessionOf({ ...session, organization }));
  };
  const list = pages({
    signal,
    label: "Organizations",
    load: (after, limit) => session.client.call("/v1/admin/organizations/list", { limit, ...(after && { after }) }, { signal }),
    table: table({
      label: "Organizations",
      key: (o) => o.id,
      columns: [
        { name: "Id", cell: (o) => button(o.id, () => choose(o.id), { class: "link", data: { part: "choose" } }) },
        { name: "Name", cell: (o) => o.name },
        { name: "Created", cell: (o) => when(o.createdAt) },
      ],
      empty: "No organizations yet. Create one: gridhook org create --id acme --name \"Acme Energy\"",
    }),
  });
  list.load();
  return { title: "Organizations", element: h("div", {}, h("p", {}, "Choose the organization to act for."), list.element) };
}
