// The overview: what goes on now, and the newest triggers.
import { h } from "../lib/dom.js";
import { by, parse, sum as sumOf } from "../lib/exposition.js";
import { count, duration, rate } from "../lib/format.js";
import { outcomes, settled, sum } from "../lib/outcomes.js";
import { outcomeBar, outcomeWords, sparkline, tile } from "../lib/parts.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";
import { delta, Rates, rise } from "../lib/rates.js";
import { triggersTable } from "./triggerstable.js";

const every = 2000;
const recent = 20;

export function overviewView({ session, signal, operator }) {
  const organization = organizationPart(session, signal);
  const element = h("div", {}, organization.now, operator && processPart(session, signal), organization.triggers);
  return { title: "Overview", element };
}

/** organizationPart shows what the triggers of the organization tell. */
function organizationPart(session, signal) {
  const problem = problemBox();
  const rates = new Rates();
  const speed = tile("Deliveries settled a second");
  const running = tile("Triggers running");
  const retrying = tile("Retrying now", "Deliveries of recent triggers whose next attempt is due.");
  const failed = tile("Failed", "Deliveries of recent triggers that were given up.");
  const shares = h("div", { class: "shares" });
  const list = triggersTable();
  let before = null;

  poll({
    signal, every, failed: problem.show,
    ask: async () => {
      const { data } = await session.client.call("/v1/webhook/price_signal/trigger/list", { limit: recent }, { signal });
      const triggers = (data ?? []).map((t) => ({ ...t, outcomes: t.outcomes ?? {} }));
      rates.add(before ? delta(before, triggers) : 0, Date.now());
      before = triggers;
      const counts = sum(triggers.map((t) => t.outcomes));
      speed.set(rate(rates.now), sparkline(rates, "Deliveries settled"));
      running.set(count(triggers.filter((t) => t.status !== "COMPLETED").length));
      retrying.set(count(counts.RETRYING ?? 0));
      failed.set(count(counts.FAILED ?? 0));
      shares.replaceChildren(outcomeBar(counts), outcomeWords(counts));
      list.update(triggers);
    },
  });
  return {
    now: h("section", { "aria-labelledby": "now" }, h("h2", { id: "now" }, "This organization"), problem.element,
      h("dl", { class: "tiles" }, speed.element, running.element, retrying.element, failed.element)),
    triggers: h("section", { "aria-labelledby": "recent" }, h("h2", { id: "recent" }, "Recent triggers"),
      h("p", { class: "hint" }, `What became of the deliveries of the newest ${recent}.`), shares, list.element),
  };
}

/** processPart shows what this process measures, of all organizations together. */
function processPart(session, signal) {
  const problem = problemBox();
  const rates = new Rates();
  const speed = tile("Outcomes a second");
  const flight = tile("Requests in flight");
  const queue = tile("Slices queued", "Of 64 homes each, in the whole fleet.");
  const waiting = tile("Retries waiting", "Messages in the whole fleet; one may carry many homes.");
  const lag = tile("Replica lag", "Changes that this process has yet to see.");
  const counts = h("div", { class: "shares" });
  const none = h("p", { class: "nothing", hidden: true }, "This process delivers nothing itself: workers run apart, and each measures its own.");
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
      counts.replaceChildren(h("p", { class: "hint" }, `Reached in the ${duration(Math.max(1000, Date.now() - since.at))} since this view was opened:`), outcomeWords(shown));
    },
  });
  return h("section", { "aria-labelledby": "process" }, h("h2", { id: "process" }, "This process"), problem.element, tiles, none, counts);
}
