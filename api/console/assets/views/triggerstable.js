// The table of triggers, for two views.
import { h } from "../lib/dom.js";
import { outcomeWords, statusBadge, subject, walkBar, when } from "../lib/parts.js";
import { table } from "../lib/table.js";

export const triggersTable = () => table({
  label: "Triggers",
  key: (t) => t.triggerId,
  columns: [
    { name: "Trigger", cell: (t) => h("a", { href: `#/triggers/${t.triggerId}`, class: "identifier", data: { part: "link" } }, t.triggerId) },
    { name: "Status", cell: (t) => statusBadge(t.status) },
    { name: "Walked", cell: walkBar },
    { name: "Outcomes", cell: (t) => outcomeWords(t.outcomes ?? {}, t.status === "COMPLETED" ? "no deliveries" : undefined) },
    { name: "Window", cell: subject },
    { name: "Created", cell: (t) => when(t.createdAt) },
  ],
  empty: "No triggers yet.",
});
