// Schedules: triggers that start by themselves.
import { inPath } from "../lib/api.js";
import { confirm } from "../lib/dialog.js";
import { h } from "../lib/dom.js";
import { duration, instant, plural } from "../lib/format.js";
import { badge, when } from "../lib/parts.js";
import { listView } from "./list.js";
import { scheduleForm } from "./scheduleform.js";

export function schedulesView(common) {
  const { session } = common;
  const call = (path, input) => session.client.call(`/v1/webhook/schedules/${path}`, input);

  async function change(s, changes) {
    await call(`${inPath(s.id)}/update`, changes);
    return "Saved.";
  }

  async function remove(s) {
    const sure = await confirm({ title: "Delete this schedule?", action: "Delete", danger: true, text: `${s.id} starts no more triggers. Triggers under way go on.` });
    if (sure) await call(`${inPath(s.id)}/delete`);
  }

  return listView(common, {
    title: "Schedules", path: "/v1/webhook/schedules/list", key: (s) => s.id,
    empty: "No schedules yet. Triggers start only by hand or by the API.",
    columns: [
      { name: "Schedule", cell: (s) => h("span", { class: "identifier" }, s.id) },
      { name: "State", cell: (s) => (s.enabled ? badge("Enabled", "good") : badge("Disabled", "calm", "It starts no triggers.")) },
      { name: "Runs", cell: rule },
      { name: "Window", cell: (s) => windowWords(s.window) },
      { name: "Next", cell: (s) => s.nextRunAt && instant(s.nextRunAt) },
      { name: "Last", cell: (s) => s.lastTriggerId && h("a", { href: `#/triggers/${s.lastTriggerId}` }, when(s.lastRunAt)) },
      { name: "Description", cell: (s) => s.description },
    ],
    actions: session.may("trigger") && ((s) => [
      { name: "Edit", form: () => scheduleForm(s, (settings) => change(s, settings)) },
      { name: s.enabled ? "Disable" : "Enable", run: () => change(s, { enabled: !s.enabled }) },
      { name: "Delete", danger: true, run: () => remove(s) },
    ]),
    add: session.may("trigger") && { label: "Add schedule", action: "Create schedule", form: () => scheduleForm(null, (settings) => call("create", settings)) },
  }).view;
}

/** rule says in words when a schedule runs. */
function rule(s) {
  if (s.onPriceChange) return "when prices change";
  if (s.cron) return h("span", {}, h("code", {}, s.cron), ` in ${s.timezone}`);
  return s.everyMinutes === 1 ? "every minute" : `every ${plural(s.everyMinutes, "minute")}`;
}

function windowWords({ offsetMinutes, lengthMinutes }) {
  const length = duration(lengthMinutes * 60_000);
  return offsetMinutes === 0 ? `the next ${length}` : `${length}, starting ${duration(offsetMinutes * 60_000)} after the run`;
}
