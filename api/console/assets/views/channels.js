// Notification channels: where people hear of failures.
import { inPath, Problem } from "../lib/api.js";
import { confirm } from "../lib/dialog.js";
import { h } from "../lib/dom.js";
import { enums } from "../lib/enums.js";
import { checkbox, choices, field, select, text } from "../lib/form.js";
import { badge } from "../lib/parts.js";
import { healthBadge } from "./health.js";
import { listView } from "./list.js";

const kinds = { EMAIL: "Email", SLACK: "Slack", TEAMS: "Microsoft Teams", ALERTMANAGER: "Alertmanager" };

const events = {
  "endpoint.failing": "An endpoint fails for long", "endpoint.disabled": "An endpoint was disabled", "endpoint.recovered": "An endpoint recovered",
  "price_signal.trigger.failures": "Many deliveries of a trigger failed", "quota.near": "A limit is near",
};

export function channelsView(common) {
  const { session } = common;
  const call = (c, verb) => session.client.call(`/v1/channels/${inPath(c.id)}/${verb}`);

  async function remove(c) {
    const sure = await confirm({ title: "Delete this channel?", action: "Delete", danger: true, text: `${c.address} gets no more messages.` });
    if (sure) await call(c, "delete");
  }

  async function test(c) {
    const { delivered, reason } = await call(c, "test");
    if (!delivered) throw new Problem({ error_code: "NOT_DELIVERED", message: `The test message to ${c.address} was not delivered: ${reason ?? "no reason is known"}.`, recovery_action: "Check the address." });
    return `The receiver accepted the test message to ${c.address}.`;
  }

  return listView(common, {
    title: "Channels", path: "/v1/channels/list", key: (c) => c.id,
    empty: "No notification channels yet. Nobody hears of a failing endpoint.",
    columns: [
      { name: "Channel", cell: (c) => h("span", { class: "identifier" }, c.id) },
      { name: "Kind", cell: (c) => kinds[c.kind] ?? c.kind },
      { name: "Address", cell: (c) => h("span", { class: "url" }, c.address) },
      { name: "Events", cell: (c) => (c.events.length === 0 ? "all" : c.events.map((e) => events[e] ?? e).join(", ")) },
      { name: "Health", cell: healthBadge },
      { name: "State", cell: (c) => (c.enabled ? badge("Enabled", "good") : badge("Disabled", "calm")) },
      { name: "Description", cell: (c) => c.description },
    ],
    actions: (session.may("trigger") || session.may("write")) && ((c) => [
      session.may("trigger") && { name: "Test", run: () => test(c) },
      session.may("write") && { name: "Edit", form: () => formOf(session, c) },
      session.may("write") && { name: "Delete", danger: true, run: () => remove(c) },
    ]),
    add: session.may("write") && { label: "Add channel", form: () => formOf(session) },
  }).view;
}

/** formOf is the form of a channel, or of a new channel. */
function formOf(session, c) {
  const kind = select(choices(enums.ChannelKind, kinds), c?.kind ?? "EMAIL");
  const address = text({ value: c?.address ?? "", placeholder: "ops@example.com" });
  const description = text({ value: c?.description ?? "", maxlength: 500 });
  const enabled = checkbox(c?.enabled ?? true);
  const wanted = Object.entries(events).map(([name, label]) => [name, field({ name: "event", label, control: checkbox(c?.events.includes(name)) })]);
  return {
    fields: [
      h("div", { class: "row" },
        field({ name: "kind", label: "Kind", control: kind }),
        field({ name: "address", label: "Address", control: address, hint: "An email address, or the URL of an incoming webhook." })),
      h("fieldset", { data: { field: "events" } }, h("legend", {}, "Events"), h("p", { class: "hint" }, "None means all."),
        wanted.map(([, element]) => element), h("p", { class: "field-error" })),
      field({ name: "description", label: "Description", control: description }),
      field({ name: "enabled", label: "Enabled", control: enabled }),
    ],
    submit: () => session.client.call(`/v1/channels/${c ? `${inPath(c.id)}/update` : "create"}`, {
      kind: kind.value, address: address.value.trim(), description: description.value, enabled: enabled.checked,
      events: wanted.filter(([, element]) => element.querySelector("input").checked).map(([name]) => name),
    }),
  };
}
