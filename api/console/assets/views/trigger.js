// One trigger: its walk, its outcomes and its delivery log.
import { facts, h, say } from "../lib/dom.js";
import { inPath } from "../lib/api.js";
import { count, duration, instant, plural } from "../lib/format.js";
import { present, total } from "../lib/outcomes.js";
import { outcomeBar, statusBadge, subject, walkBar, walkedNoun } from "../lib/parts.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";
import { triggerLog } from "./deliveries.js";

export function triggerView({ session, signal }, id) {
  const problem = problemBox();
  const summary = h("div", { class: "summary" });
  const log = triggerLog(session, signal, id, recount);
  let last = null;

  const get = () => session.client.call(`/v1/webhook/price_signal/trigger/${inPath(id)}/get`, {}, { signal });

  /** recount updates the counts and leaves the log, so that an open delivery stays open. */
  async function recount() {
    try {
      last = await get();
      summary.replaceChildren(...summaryOf(last));
      log.count(last);
    } catch (error) {
      if (!signal.aborted) problem.show(error);
    }
  }

  poll({
    signal, every: 1000, failed: problem.show,
    ask: async () => {
      const trigger = await get();
      trigger.outcomes ??= {};
      const news = !last || JSON.stringify(last.outcomes) !== JSON.stringify(trigger.outcomes);
      if (!last || news || last.status !== trigger.status || last.walked !== trigger.walked) {
        summary.replaceChildren(...summaryOf(trigger));
        announce(last, trigger);
      }
      last = trigger;
      if (news) await log.update(trigger);
      return trigger.status !== "COMPLETED";
    },
  });
  return {
    title: id, above: h("p", { class: "crumb" }, h("a", { href: "#/triggers" }, "Triggers")),
    element: h("div", {}, problem.element, summary, log.element),
  };
}

/** announce reads the end aloud, and each tenth of the walk. */
function announce(before, now) {
  const tenth = (t) => (t && t.homes > 0 ? Math.floor((t.walked / t.homes) * 10) : -1);
  if (now.status === "COMPLETED") say(`Completed. ${present(now.outcomes).map((o) => `${count(o.count)} ${o.label}`).join(", ") || "No deliveries"}.`);
  else if (tenth(before) !== tenth(now)) say(`${count(now.walked)} of ${plural(now.homes, walkedNoun(now))} walked.`);
}

function summaryOf(t) {
  return [
    h("div", { class: "headline" }, statusBadge(t.status), walkBar(t)),
    outcomeBar(t.outcomes),
    facts([
      ["Window", subject(t)],
      ["Deliveries", total(t.outcomes) > 0 && count(total(t.outcomes))],
      ["Created", instant(t.createdAt)],
      ["Completed", t.completedAt && `${instant(t.completedAt)}, after ${duration(new Date(t.completedAt) - new Date(t.createdAt)).replace(" ", "\u00a0")}`],
    ]),
  ];
}
