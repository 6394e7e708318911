// The operator's choice of the organization to act for, and the deletion of an organization.
import { inPath } from "../lib/api.js";
import { confirm } from "../lib/dialog.js";
import { button, h } from "../lib/dom.js";
import { badge, when } from "../lib/parts.js";
import { plural } from "../lib/format.js";
import { session as sessionOf } from "../lib/session.js";
import { listView } from "./list.js";

export function organizationsView(common) {
  const { session, signIn, go } = common;
  const choose = (organization) => {
    go("/overview");
    signIn(sessionOf({ ...session, organization }));
  };

  /** remove deletes an organization. A large one takes several requests. */
  async function remove(o) {
    const sure = await confirm({
      title: "Delete this organization?", action: "Delete", danger: true, word: o.id,
      text: `Gridhook refuses the keys of ${o.id} at once, and erases its homes, endpoints, deliveries and keys. This cannot be undone. Export it first with gridhook org export.`,
    });
    if (!sure) return "";
    let erased = 0;
    let receipt = null;
    do {
      receipt = await session.client.call(`/v1/admin/organizations/${inPath(o.id)}/delete`, { confirm: o.id });
      erased += Object.values(receipt.records ?? {}).reduce((sum, n) => sum + n, 0);
    } while (!receipt.complete);
    return `${o.id} is deleted: ${plural(erased, "record")} erased.`;
  }

  return listView(common, {
    title: "Organizations", path: "/v1/admin/organizations/list", key: (o) => o.id,
    above: h("p", {}, "Choose the organization to act for."),
    empty: "No organizations yet. Create one: gridhook org create --id acme --name \"Acme Energy\"",
    columns: [
      { name: "Id", cell: (o) => button(o.id, () => choose(o.id), { class: "link identifier", data: { part: "choose" } }) },
      { name: "Name", cell: (o) => o.name },
      { name: "State", cell: (o) => o.suspended && badge("Suspended", "warn") },
      { name: "Created", cell: (o) => when(o.createdAt) },
    ],
    actions: (o) => [{ name: "Delete", danger: true, run: () => remove(o) }],
  }).view;
}
