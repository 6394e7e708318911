// The overview: the deliveries now and of the last day, and the newest triggers.
import { h } from "../lib/dom.js";
import { by, parse, sum as sumOf } from "../lib/exposition.js";
import { count, duration, rate } from "../lib/format.js";
import { needsAttention, outcomes, settled, sum, total } from "../lib/outcomes.js";
import { outcomeBar, outcomeWords, sparkline, tile } from "../lib/parts.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";
import { delta, Rates, rise } from "../lib/rates.js";
import { historyPart } from "./history.js";
import { triggersTable } from "./triggerstable.js";
import { usagePart } from "./usage.js";

const every = 2000;
const recent = 20;
// A day of triggers, one every quarter hour.
const aDay = 100;

export function overviewView({ session, signal, operator }) {
  const organization = organizationPart(session, signal);
  const history = historyPart(session, signal, { name: "history", title: "Last 24 hours", every: 10_000, forOrganization: true });
  const fleet = operator && historyPart(session, signal, { name: "fleet", title: "Last 24 hours of all organizations", every: 60_000, forOrganization: false });
  const element = h("div", {}, organization.now, history, operator && usagePart(session, signal), operator && processPart(session, signal), fleet, organization.triggers);
  return { title: "Overview", element };
}

/** organizationPart shows the deliveries of the organization, by its triggers. */
function organizationPart(session, signal) {
  const problem = problemBox();
  const rates = new Rates();
  const speed = tile("Deliveries per second", "Deliveries that reach a final outcome.");
  const running = tile("Triggers running");
  const retrying = tile("Retrying now", "Deliveries that wait for their next attempt.");
  const attention = tile("Needs attention", "Deliveries that will not arrive by themselves.");
  const shares = h("div", { class: "shares" });
  const list = triggersTable();
  let before = null;

  poll({
    signal, every, failed: problem.show,
    ask: async () => {
      const { data } = await session.client.call("/v1/webhook/price_signal/trigger/list", { limit: aDay }, { signal });
      const triggers = (data ?? []).map((t) => ({ ...t, outcomes: t.outcomes ?? {} }));
      rates.add(before ? delta(before, triggers) : 0, Date.now());
      before = triggers;
      const counts = sum(triggers.slice(0, recent).map((t) => t.outcomes));
      const urgent = needsAttention(counts);
      speed.set(rate(rates.now), sparkline(rates, "Deliveries settled"));
      running.set(count(triggers.filter((t) => t.status !== "COMPLETED").length));
      retrying.set(count(counts.RETRYING ?? 0));
      attention.set(count(total(urgent)), outcomeWords(urgent));
      shares.replaceChildren(outcomeBar(counts), outcomeWords(counts));
      list.update(triggers.slice(0, recent));
    },
  });
  return {
    now: h("section", { "aria-labelledby": "now" }, h("h2", { id: "now" }, "This organization"), problem.element,
      h("dl", { class: "tiles" }, speed.element, running.element, retrying.element, attention.element)),
    triggers: h("section", { "aria-labelledby": "recent" }, h("h2", { id: "recent" }, "Recent triggers"),
      h("p", { class: "hint" }, `Outcomes of the newest ${recent} triggers.`), shares, list.element),
  };
}

/** processPart shows the metrics of this process, over all organizations. */
function processPart(session, signal) {
  const problem = problemBox();
  const rates = new Rates();
  const speed = tile("Outcomes per second");
  const flight = tile("Requests in flight");
  const queue = tile("Slices queued", "64 homes each, in the whole fleet.");
  const waiting = tile("Retries waiting", "Messages in the whole fleet. A message may hold many homes.");
  const lag = tile("Replica lag", "Changes that this process has not applied yet.");
  const counts = h("div", { class: "shares" });
  const none = h("p", { class: "nothing", hidden: true }, "This process delivers nothing. Each worker has its own metrics.");
  const tiles = h("dl", { class: "tiles" }, speed.element, flight.element, queue.element, waiting.element, lag.element);
  let before = null;
  let since = null;

  poll({
    signal, every, failed: problem.show,
    ask: async () => {
      const samples = parse(await session.client.text("/metrics", { signal }));
      const now = by(samples, "gridhook_deliveries_total", "outcome");
      const worker = Object.keys(now).length > 0;
      none.hidden = worker;
      speed.element.hidden = flight.element.hidden = counts.hidden = !worker;
      const more = before ? Object.fromEntries(outcomes.map((o) => [o.name, rise(before[o.name] ?? 0, now[o.name] ?? 0)])) : {};
      rates.add(settled(more) + (more.RETRYING ?? 0), Date.now());
      before = now;
      since ??= { now, at: Date.now() };
      speed.set(rate(rates.now), sparkline(rates, "Outcomes"));
      for (const [t, name] of [[flight, "attempts_in_flight"], [queue, "queue_slices"], [waiting, "retries_pending"], [lag, "replica_lag_revisions"]]) {
        t.set(count(sumOf(samples, `gridhook_${name}`) ?? 0));
      }
      const shown = Object.fromEntries(Object.keys(now).map((name) => [name, rise(since.now[name] ?? 0, now[name])]));
      counts.replaceChildren(h("p", { class: "hint" }, `In the ${duration(Math.max(1000, Date.now() - since.at))} since you opened this view:`), outcomeWords(shown));
    },
  });
  return h("section", { "aria-labelledby": "process" }, h("h2", { id: "process" }, "This process"), problem.element, tiles, none, counts);
}
