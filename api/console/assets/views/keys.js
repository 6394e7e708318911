// API keys and console links of the organization. For the operator.
import { inPath } from "../lib/api.js";
import { confirm, showSecret } from "../lib/dialog.js";
import { h } from "../lib/dom.js";
import { enums } from "../lib/enums.js";
import { checkbox, field, number, text } from "../lib/form.js";
import { instant } from "../lib/format.js";
import { badge, when } from "../lib/parts.js";
import { listView } from "./list.js";

const day = 86_400_000;

export function keysView(common) {
  const { session } = common;

  async function revoke(k) {
    const sure = await confirm({ title: "Revoke this key?", action: "Revoke", danger: true, text: `Requests with ${k.keyId} are refused at once.` });
    if (sure) await session.client.call(`/v1/admin/keys/${inPath(k.keyId)}/revoke`);
  }

  return listView(common, {
    title: "Keys", path: "/v1/admin/keys/list", input: () => ({ organizationId: session.organization }), key: (k) => k.keyId,
    empty: "No keys yet. Create a key for the partner.",
    columns: [
      { name: "Key", cell: (k) => h("span", { class: "identifier" }, k.keyId) },
      { name: "State", cell: state },
      { name: "Scopes", cell: (k) => k.scopes.join(", ") },
      { name: "Expires", cell: (k) => (k.expiresAt ? instant(k.expiresAt) : "never") },
      { name: "Last used", cell: (k) => (k.lastUsedAt ? when(k.lastUsedAt) : "never") },
      { name: "Description", cell: (k) => k.description },
    ],
    actions: (k) => [live(k) && { name: "Revoke", danger: true, run: () => revoke(k) }],
    add: { label: "Create key", form: () => formOf(session) },
  }).view;
}

const live = (k) => !k.revokedAt && !(k.expiresAt && Date.parse(k.expiresAt) <= Date.now());

function state(k) {
  if (k.revokedAt) return badge("Revoked", "bad");
  return live(k) ? badge("Live", "good") : badge("Expired", "calm");
}

function formOf(session) {
  const description = text({ maxlength: 255 });
  const days = number({ min: 0, step: 1, value: "" });
  const wanted = enums.Scope.map((name) => [name, field({ name: `scope-${name}`, label: name, control: checkbox(["read", "write", "trigger"].includes(name)) })]);
  return {
    fields: [
      h("fieldset", { data: { field: "scopes" } }, h("legend", {}, "Scopes"), wanted.map(([, element]) => element), h("p", { class: "field-error" })),
      h("div", { class: "row" },
        field({ name: "expiresAt", label: "Expires after (days)", control: days, hint: "Empty: never." }),
        field({ name: "description", label: "Description", control: description })),
    ],
    submit: async () => {
      const made = await session.client.call("/v1/admin/keys/create", {
        organizationId: session.organization, description: description.value,
        scopes: wanted.filter(([, element]) => element.querySelector("input").checked).map(([name]) => name),
        ...(days.value && { expiresAt: new Date(Date.now() + Number(days.value) * day).toISOString() }),
      });
      await showSecret({ title: "Key created", text: "Give this key to the partner. It cannot be shown again.", label: "API key", secret: made.key });
    },
  };
}
