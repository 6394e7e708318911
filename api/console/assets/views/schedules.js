// Schedules: triggers that start by themselves.
import { inPath } from "../lib/api.js";
import { confirm } from "../lib/dialog.js";
import { busy, button, h, say } from "../lib/dom.js";
import { duration, instant, plural } from "../lib/format.js";
import { badge, when } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { problemBox } from "../lib/problem.js";
import { table } from "../lib/table.js";
import { scheduleForm } from "./scheduleform.js";

export function schedulesView({ session, signal }) {
  const problem = problemBox();
  const place = h("div");
  const call = (path, input) => session.client.call(`/v1/webhook/schedules/${path}`, input);
  const add = button("Add schedule", () => edit(null), { class: "primary" });

  const columns = [
    { name: "Schedule", cell: (s) => h("span", { class: "identifier" }, s.id) },
    { name: "State", cell: (s) => (s.enabled ? badge("Enabled", "good") : badge("Disabled", "calm", "It starts no triggers.")) },
    { name: "Runs", cell: rule },
    { name: "Window", cell: (s) => windowWords(s.window) },
    { name: "Next", cell: (s) => s.nextRunAt && instant(s.nextRunAt) },
    { name: "Last", cell: (s) => s.lastTriggerId && h("a", { href: `#/triggers/${s.lastTriggerId}` }, when(s.lastRunAt)) },
    { name: "Description", cell: (s) => s.description },
  ];
  if (session.may("trigger")) columns.push({ name: "Actions", cell: actions });
  const list = pages({
    signal,
    label: "Schedules",
    load: (after, limit) => session.client.call("/v1/webhook/schedules/list", { limit, ...(after && { after }) }, { signal }),
    table: table({ label: "Schedules", key: (s) => s.id, columns, empty: "No schedules yet. Triggers start only by hand or by the API." }),
  });

  function actions(s) {
    const act = (name, part, work, properties = {}) => button(name, (event) => busy(event.currentTarget, async () => {
      problem.show(null);
      try {
        await work();
      } catch (error) {
        problem.show(error);
      }
    }), { "aria-label": `${name} ${s.id}`, data: { part }, ...properties });
    return h("span", { class: "buttons" },
      act("Edit", "edit", () => edit(s)),
      act(s.enabled ? "Disable" : "Enable", "enable", () => change(s, { enabled: !s.enabled })),
      act("Delete", "delete", () => remove(s), { class: "danger" }));
  }

  async function change(s, changes) {
    await call(`${inPath(s.id)}/update`, changes);
    await list.refresh();
    say("Saved.");
  }

  async function remove(s) {
    const sure = await confirm({ title: "Delete this schedule?", action: "Delete", danger: true, text: `${s.id} starts no more triggers. Triggers under way go on.` });
    if (!sure) return;
    await call(`${inPath(s.id)}/delete`);
    await list.refresh();
  }

  /** edit opens the form of a schedule, or of a new schedule. */
  function edit(s) {
    const close = () => {
      place.replaceChildren();
      add.hidden = false;
      add.focus();
    };
    const element = scheduleForm({
      settings: s, action: s ? "Save" : "Create schedule", cancel: close,
      submit: async (settings) => {
        await call(s ? `${inPath(s.id)}/update` : "create", settings);
        close();
        await list.load();
      },
    });
    add.hidden = true;
    place.replaceChildren(h("section", { class: "panel", "aria-label": s ? "Change schedule" : "New schedule" },
      h("h2", {}, s ? s.id : "New schedule"), element));
    element.querySelector("input, select").focus();
  }

  list.load();
  return { title: "Schedules", element: h("div", {}, problem.element, session.may("trigger") && h("div", { class: "create" }, add), place, list.element) };
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
