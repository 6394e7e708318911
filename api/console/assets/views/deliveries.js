// The delivery log: the outcome of each delivery, and its attempts.
import { inPath } from "../lib/api.js";
import { button, facts, h, replace, say } from "../lib/dom.js";
import { field, select } from "../lib/form.js";
import { count, duration, instant, plural } from "../lib/format.js";
import { enums } from "../lib/enums.js";
import { outcome, outcomes, present, total } from "../lib/outcomes.js";
import { lastAnswer, outcomeBadge, took, when } from "../lib/parts.js";
import { pages } from "../lib/pages.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";
import { table } from "../lib/table.js";
import { requestPart } from "./request.js";

/**
 * deliveryPages is the log for a query. of() returns more fields of the query.
 * changed is called after a retry.
 */
function deliveryPages(session, signal, query, of, changed = () => {}) {
  return pages({
    signal,
    label: "Deliveries",
    load: (after, limit) => session.client.call("/v1/webhook/deliveries/list",
      { ...query, ...of(), limit, ...(after && { after }) }, { signal }),
    table: table({
      label: "Deliveries",
      key: (d) => `${d.triggerId} ${d.homeId} ${d.endpointId ?? ""}`,
      columns: [
        { name: query.endpointId ? "Home or event" : "Home", cell: (d) => h("span", { class: "identifier" }, d.eventType ?? d.homeId) },
        !query.endpointId && { name: "Endpoint", cell: (d) => d.endpointId && h("a", { href: `#/endpoints/${d.endpointId}`, class: "identifier" }, d.endpointId) },
        { name: "Outcome", cell: (d) => outcomeBadge(d.outcome) },
        { name: "Attempts", cell: (d) => count(d.attempt), numeric: true },
        { name: "Response", cell: lastAnswer, numeric: true },
        { name: "Duration", cell: took, numeric: true },
        { name: "Updated", cell: (d) => when(d.at) },
        { name: "Reason", cell: (d) => d.reason ?? "" },
      ].filter(Boolean),
      detail: (d, replace) => deliveryDetail(session, signal, d, (fresh) => {
        replace(fresh);
        changed();
      }),
      empty: "No deliveries.",
    }),
  });
}

/** triggerLog is the log of a trigger, with a count per outcome. changed is called after a retry. */
export function triggerLog(session, signal, triggerId, changed) {
  let chosen = "";
  let latest = null;
  const filters = h("div", { class: "filters", role: "group", "aria-label": "Deliveries by outcome" });
  const list = deliveryPages(session, signal, { triggerId }, () => (chosen ? { outcome: chosen } : {}), changed);

  function choose(name) {
    chosen = name;
    fill(latest);
    list.load();
  }

  function fill(trigger) {
    latest = trigger;
    const kinds = present(trigger.outcomes);
    // The chosen filter stays, even without deliveries.
    if (chosen && !kinds.some((k) => k.name === chosen)) kinds.push({ ...outcome(chosen), count: 0 });
    const wanted = [{ name: "", label: "All", count: total(trigger.outcomes), tone: "calm" }, ...kinds];
    replace(filters, ...wanted.map((k) => button(
      [h("span", { class: `dot ${k.tone}`, "aria-hidden": "true" }), `${k.label} `, h("b", {}, count(k.count))],
      () => choose(k.name), { "aria-pressed": String(k.name === chosen), title: k.meaning, data: { part: k.label } })));
  }

  return {
    element: h("section", { "aria-labelledby": "log" }, h("h2", { id: "log" }, "Delivery log"), filters, list.element),
    /** count updates the counts and leaves the log as it is. */
    count: fill,
    update: (trigger) => {
      fill(trigger);
      return list.refresh();
    },
  };
}

/** logOf is the log of a home or an endpoint, over all triggers. An endpoint receives events, too. */
export function logOf(session, signal, query) {
  const control = select([["", "all"], ...outcomes.map((o) => [o.name, o.label.toLowerCase()])], "");
  const kind = query.endpointId && select([["", "price signals"], ["events", "events"]], "");
  const list = deliveryPages(session, signal, query, () => ({
    ...(control.value && { outcome: control.value }), ...(kind?.value && { events: true }),
  }));
  for (const c of [control, kind]) c?.addEventListener("change", () => list.load());
  list.load();
  const element = h("section", { "aria-labelledby": "log" }, h("h2", { id: "log" }, "Deliveries"),
    h("div", { class: "beside" }, kind && field({ name: "kind", label: "Of", control: kind }), field({ name: "outcome", label: "Show", control })), list.element);
  return { element, refresh: list.refresh, fill: list.fill };
}

/** deliveryDetail shows a delivery and fetches its attempts. changed is called with the new state after a retry. */
export function deliveryDetail(session, signal, d, changed) {
  const { client } = session;
  const problem = problemBox();
  const waiting = h("span", { role: "status", class: "hint" });
  const attempts = h("div", { class: "attempts" }, d.answer && answerOf(d));
  if (d.id) loadAttempts();

  async function loadAttempts() {
    try {
      const log = await client.call(`/v1/webhook/deliveries/${inPath(d.id)}/get`, {}, { signal });
      attempts.replaceChildren(h("h3", {}, plural(log.attempts.filter((a) => a.durationMs).length, "attempt")), h("ol", {}, log.attempts.map(attemptOf)));
    } catch (error) {
      if (!signal.aborted) problem.show(error);
    }
  }

  /** retry retries the delivery and waits for the outcome. */
  async function retry() {
    await client.call(`/v1/webhook/deliveries/${inPath(d.id)}/retry`);
    waiting.textContent = "Retrying the same message…";
    let shown = d;
    let asks = 120; // a minute
    await poll({
      signal, every: 500, failed: problem.show,
      ask: async () => {
        const { attempts: _, ...fresh } = await client.call(`/v1/webhook/deliveries/${inPath(d.id)}/get`, {}, { signal });
        if (fresh.outcome === shown.outcome && fresh.at === shown.at) return --asks > 0;
        shown = fresh;
        changed(fresh);
        if (fresh.outcome === "RETRYING") return --asks > 0;
        say(`${d.homeId}: ${outcome(fresh.outcome).label}.`);
        return false;
      },
    });
  }

  const again = d.id && !d.eventType && enums.Replayable.includes(d.outcome) && session.may("trigger")
    && h("div", { class: "actions" }, button("Retry", problem.press(retry), { class: "primary", data: { part: "retry" } }), waiting);

  return h("div", { class: "delivery" },
    facts([
      ["Outcome", outcome(d.outcome).meaning],
      ["Next attempt", d.nextAt && instant(d.nextAt)],
      ["Message (webhook-id)", d.id && h("code", {}, d.id)],
      ["Endpoint", d.endpointId && h("a", { href: `#/endpoints/${d.endpointId}` }, d.endpointId)],
      ["Event", d.eventType && [`${d.eventType} `, h("code", {}, d.triggerId)]],
      ["Home", d.homeId && h("a", { href: `#/homes/${d.homeId}` }, d.homeId)],
      ["Trigger", d.triggerId && !d.eventType && h("a", { href: `#/triggers/${d.triggerId}` }, d.triggerId)],
    ]), again, problem.element, attempts, d.id && !d.eventType && requestPart(session, d.id, signal));
}

/** attemptOf is one attempt, or the end of a delivery without an attempt. */
function attemptOf(a) {
  const parts = Object.entries(a.timing ?? {}).filter(([, ms]) => ms > 0).map(([name, ms]) => `${timings[name] ?? name} ${duration(ms)}`);
  return h("li", {},
    h("p", {}, outcomeBadge(a.outcome), " ", instant(a.at), a.durationMs ? `, ${duration(a.durationMs)}` : "",
      a.status ? [", response ", h("b", {}, `HTTP ${a.status}`)] : ""),
    a.reason && h("p", {}, a.reason, a.errorClass && !a.status && h("span", { class: "hint" }, ` (${a.errorClass})`)),
    a.batchId && h("p", { class: "hint" }, "batch ", h("code", {}, a.batchId)),
    parts.length > 0 && h("p", { class: "hint" }, parts.join(", ")),
    a.answer && answerOf(a));
}

const timings = { dnsMs: "DNS", connectMs: "connect", tlsMs: "TLS", firstByteMs: "first byte" };

/** answerOf is the beginning of the receiver's response. */
export const answerOf = ({ answer }) => h("pre", { tabindex: 0, class: "answer", role: "group", "aria-label": "Beginning of the response" }, answer);
