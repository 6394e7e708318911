// The audit log: who changed what. For the operator.
import { h } from "../lib/dom.js";
import { field, select, text } from "../lib/form.js";
import { when } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { table } from "../lib/table.js";

export function auditView({ session, signal }) {
  const scope = select([[session.organization, session.organization], ["", "All organizations"]], session.organization);
  const key = text({ type: "search" });
  const operation = text({ type: "search" });
  const filter = () => Object.fromEntries(Object.entries({
    organizationId: scope.value, keyId: key.value.trim(), operation: operation.value.trim(),
  }).filter(([, value]) => value));
  const list = pages({
    signal,
    label: "Audit log",
    load: (after, limit) => session.client.call("/v1/admin/audit/list", { ...filter(), limit, ...(after && { after }) }, { signal }),
    table: table({
      label: "Audit log",
      key: (e) => e.id,
      columns: [
        { name: "Time", cell: (e) => when(e.time) },
        { name: "Organization", cell: (e) => e.organizationId },
        // A row has three long identifiers. As code they break, so that the row fits the page.
        { name: "Key", cell: (e) => h("code", {}, e.keyName || e.keyId) },
        { name: "Operation", cell: (e) => e.operation },
        { name: "Object", cell: (e) => h("code", {}, e.objectId) },
        { name: "Status", cell: (e) => e.status, numeric: true },
        { name: "Client", cell: (e) => e.client },
        { name: "Request", cell: (e) => h("code", {}, e.requestId) },
      ],
      empty: "No such change.",
    }),
  });
  for (const control of [scope, key, operation]) control.addEventListener("change", () => list.load());
  list.load();
  return {
    title: "Audit log",
    element: h("div", {}, h("search", { class: "row" },
      field({ name: "scope", label: "Organization", control: scope }),
      field({ name: "key", label: "Key id", control: key }),
      field({ name: "operation", label: "Operation", control: operation })), list.element),
  };
}
