// Sources: scheduled fetches of prices. For the operator.
import { inPath } from "../lib/api.js";
import { button, h, say } from "../lib/dom.js";
import { duration, instant } from "../lib/format.js";
import { field, select } from "../lib/form.js";
import { badge, when } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { problemBox } from "../lib/problem.js";
import { table } from "../lib/table.js";

export function sourcesView({ session, signal }) {
  const problem = problemBox();
  const runs = h("div");
  const owner = select([["", "Shared by all organizations"], [session.organization, session.organization]], "");
  const owned = (input = {}) => ({ ...(owner.value && { organizationId: owner.value }), ...input });
  const call = (s, operation, input) => session.client.call(`/v1/admin/sources/${inPath(s.id)}/${operation}`, owned(input), { signal });
  const list = pages({
    signal,
    label: "Sources",
    load: (after, limit) => session.client.call("/v1/admin/sources/list", owned({ limit, ...(after && { after }) }), { signal }),
    table: table({
      label: "Sources",
      key: (s) => s.id,
      columns: [
        { name: "Source", cell: (s) => h("span", { class: "identifier" }, s.id) },
        { name: "State", cell: state },
        { name: "Adapter", cell: (s) => s.adapter },
        { name: "Rate plan", cell: (s) => s.planId },
        { name: "Every", cell: (s) => duration(s.everySeconds * 1000) },
        { name: "Last good run", cell: (s) => s.lastGoodAt && when(s.lastGoodAt) },
        { name: "Data until", cell: (s) => s.dataEnd && instant(s.dataEnd) },
        { name: "Actions", cell: actions },
      ],
      empty: "No sources. Add one with gridhook source add.",
    }),
  });

  function actions(s) {
    const act = (name, part, work) => button(name, problem.press(work), { "aria-label": `${name} ${s.id}`, data: { part } });
    return h("span", { class: "buttons" },
      act("Log", "log", () => showRuns(s)),
      act("Fetch now", "run", async () => {
        await call(s, "run");
        say("The source fetches now.");
      }),
      act(s.enabled ? "Pause" : "Resume", "pause", async () => {
        await call(s, "update", { enabled: !s.enabled });
        await list.refresh();
      }));
  }

  /** showRuns shows the last runs of a source, the newest first. */
  async function showRuns(s) {
    const shown = table({
      label: `Runs of ${s.id}`,
      key: (run) => run.at,
      columns: [
        { name: "Time", cell: (run) => when(run.at) },
        { name: "Outcome", cell: (run) => run.outcome },
        { name: "New prices", cell: (run) => run.added, numeric: true },
        { name: "Changed prices", cell: (run) => run.changed, numeric: true },
        { name: "Error", cell: (run) => run.error },
      ],
      empty: "No runs yet.",
    });
    shown.update((await call(s, "get")).runs);
    runs.replaceChildren(h("section", { class: "panel", "aria-label": `Runs of ${s.id}` }, h("h2", {}, s.id), shown.element));
  }

  owner.addEventListener("change", () => {
    runs.replaceChildren();
    list.load();
  });
  list.load();
  return {
    title: "Sources",
    element: h("div", {}, problem.element, h("search", {}, field({ name: "owner", label: "Owner", control: owner })), list.element, runs),
  };
}

function state(s) {
  if (!s.enabled) return badge("Paused", "calm");
  if (s.late) return badge("Late", "bad", "No good run for two intervals, or no new price for a day more.");
  if (s.failures > 0) return badge("Failing", "warn");
  return s.lastGoodAt ? badge("OK", "good") : badge("Waiting", "calm");
}
