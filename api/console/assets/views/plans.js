// Rate plans: a list, and one plan with its events and the price signal of a home on it. For the operator.
import { inPath } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { field, select } from "../lib/form.js";
import { when } from "../lib/parts.js";
import { problemBox } from "../lib/problem.js";
import { valuesOf } from "../lib/values.js";
import { requested, windowOf } from "./home.js";
import { listView } from "./list.js";
import { signalPart } from "./signal.js";
import { windowForm } from "./windowform.js";

export function plansView(common) {
  const { session } = common;
  const owner = select([["", "Shared by all organizations"], [session.organization, session.organization]], common.parameters.get("owner") ?? "");
  const { list, view } = listView(common, {
    title: "Plans", path: "/v1/admin/plans/list", key: (p) => p.id,
    input: () => (owner.value ? { organizationId: owner.value } : {}),
    empty: "No rate plans. Import one with gridhook plan import, or add one of the catalog with gridhook plan add.",
    above: h("search", {}, field({ name: "owner", label: "Owner", control: owner })),
    columns: [
      { name: "Plan", cell: (p) => h("a", { href: `#/plans/${p.id}${p.organizationId ? "?owner=own" : ""}`, class: "identifier", data: { part: "link" } }, p.id) },
      { name: "Name", cell: (p) => p.name },
      { name: "Utility", cell: (p) => p.utility },
      { name: "Parts", cell: (p) => p.parts?.length ?? "", numeric: true },
      { name: "Updated", cell: (p) => when(p.updatedAt) },
    ],
  });
  owner.addEventListener("change", () => list.load());
  return view;
}

/** dayOf is a day of a tariff, which is a date as text, or Unix seconds of midnight in UTC or Denver. */
function dayOf(date) {
  const seconds = Number(date || NaN);
  if (Number.isNaN(seconds)) return String(date ?? "").slice(0, 10);
  return new Date((seconds % 86_400 === 0 ? seconds : seconds - 6 * 3600) * 1000).toISOString().slice(0, 10);
}

/** versionsOf are the versions of a tariff by the days from which they are in force. */
const versionsOf = (tariff) => [tariff.items ?? tariff].flat()
  .map((v) => ({ inForceFrom: dayOf(v.startdate ?? v.effective), name: v.name, source: v.source }))
  .sort((a, b) => a.inForceFrom.localeCompare(b.inForceFrom));

export function planView({ session, signal, parameters, go }, id) {
  const problem = problemBox();
  const about = h("div", {}, h("p", { class: "nothing" }, "Loading…"));
  const curve = h("div");
  const owner = parameters.get("owner") ? { organizationId: session.organization } : {};
  const call = (path, input) => session.client.call(path, input, { signal });

  async function load() {
    try {
      const [{ tariff, ...plan }, events, sources, { data: homes }] = await Promise.all([
        call(`/v1/admin/plans/${inPath(id)}/get`, owner),
        call("/v1/admin/plan_events/list", { planId: id, ...owner }),
        call("/v1/admin/sources/list", owner),
        call("/v1/homes/list", { ratePlanId: id, limit: 1 }),
      ]);
      const own = (sources.data ?? []).filter((s) => s.planId === id).map((s) => ({ source: s.id, adapter: s.adapter, lastGoodRun: s.lastGoodAt, dataUntil: s.dataEnd }));
      about.replaceChildren(valuesOf({
        name: plan.name, utility: plan.utility, owner: plan.organizationId ?? "all organizations", createdAt: plan.createdAt, updatedAt: plan.updatedAt,
        ...(plan.parts && { parts: plan.parts }), ...(events.data?.length > 0 && { events: events.data }), ...(own.length > 0 && { sources: own }),
        ...(tariff && { versions: versionsOf(tariff) }),
      }, 2), tariff && h("details", { class: "figures" }, h("summary", {}, "The tariff"), h("pre", { tabindex: 0, role: "group", "aria-label": "The tariff" }, JSON.stringify(tariff, null, 2))));
      await draw(homes[0]);
    } catch (error) {
      if (signal.aborted) return;
      about.querySelector(".nothing")?.remove();
      problem.show(error);
    }
  }

  /** draw shows the price signal of a home on the plan: a curve depends on the home's time zone and solar. */
  async function draw(home) {
    const title = h("h2", { id: "signal" }, "Price signal");
    if (!home) {
      curve.replaceChildren(title, h("p", { class: "nothing" }, "No home of this organization is on the plan."));
      return;
    }
    const asked = requested(parameters, home);
    const query = (q) => go(`/plans/${id}${q}${parameters.get("owner") ? `${q ? "&" : "?"}owner=own` : ""}`);
    const place = h("div");
    curve.replaceChildren(title, h("p", { class: "hint" }, "Of the first home on the plan, ", h("a", { href: `#/homes/${home.id}` }, home.id), "."),
      windowForm({ ...asked, go: query }), problem.element, place);
    place.replaceChildren(...signalPart(await call(`/v1/homes/${inPath(home.id)}/price_signal`, windowOf(asked)), asked.zone, null));
  }

  load();
  return {
    title: id, above: h("p", { class: "crumb" }, h("a", { href: "#/plans" }, "Plans")),
    element: h("div", {}, problem.element, about, h("section", { "aria-labelledby": "signal" }, curve)),
  };
}
