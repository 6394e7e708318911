// A replay: retries of the deliveries that an endpoint missed.
import { idempotencyKey, inPath } from "../lib/api.js";
import { button, facts, h, say } from "../lib/dom.js";
import { field, form, select } from "../lib/form.js";
import { count, instant } from "../lib/format.js";
import { badge } from "../lib/parts.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";

const spans = [[1, "the last hour"], [6, "the last 6 hours"], [24, "the last day"], [168, "the last week"]];

/** replayPart asks since when, starts a replay and watches it; done is called when it is completed. */
export function replayPart({ session, signal }, id, done) {
  const problem = problemBox();
  const element = h("div");
  let turn = new AbortController(); // of what was opened last

  /** leave closes the open form, which would otherwise overwrite the next one. */
  function leave() {
    turn.abort();
    element.replaceChildren();
  }

  function open() {
    leave();
    const opened = Date.now();
    const { signal: left } = (turn = new AbortController());
    const since = select(spans.map(([hours, label]) => [String(hours), label]), "24");
    // The same choice, submitted again, is the same request.
    const keys = new Map(spans.map(([hours]) => [String(hours), idempotencyKey()]));
    element.replaceChildren(h("section", { class: "panel", "aria-label": "Replay" }, h("h2", {}, "Replay missed deliveries"),
      h("p", {}, "Gridhook sends failed and expired deliveries again as the same messages, newest first. It skips superseded signals."),
      form({
        action: "Replay", extra: [button("Cancel", leave)],
        fields: [field({ name: "since", label: "Failed in", control: since })],
        submit: async () => {
          const from = new Date(opened - Number(since.value) * 3_600_000).toISOString();
          const replay = await session.client.call(`/v1/webhook/endpoints/${inPath(id)}/replay`, { since: from }, { idempotencyKey: keys.get(since.value) });
          if (!left.aborted) watch(replay, AbortSignal.any([signal, left]));
        },
      })));
    since.focus();
  }

  function watch(replay, lasting) {
    show(replay);
    poll({
      signal: lasting, every: 500, failed: problem.show,
      ask: async () => {
        const now = await session.client.call(`/v1/webhook/replays/${inPath(replay.id)}/get`, {}, { signal: lasting });
        show(now);
        if (now.status !== "COMPLETED") return true;
        say(`Replay completed: ${now.retried} of ${now.found} deliveries are retried.`);
        await done();
        return false;
      },
    });
  }

  function show(r) {
    const completed = r.status === "COMPLETED";
    element.replaceChildren(h("section", { class: "panel", "aria-label": "Replay progress" },
      h("h2", {}, "Replay ", badge(completed ? "Completed" : "Running", completed ? "good" : "warn")), problem.element,
      facts([
        ["Since", instant(r.since)],
        ["Found", count(r.found)],
        ["Retried", count(r.retried)],
        ["Superseded", r.superseded > 0 && count(r.superseded)],
        ["Past retention", r.lost > 0 && count(r.lost)],
      ]),
      completed && h("div", { class: "actions" }, button("Close", leave))));
  }

  return { element, open };
}
