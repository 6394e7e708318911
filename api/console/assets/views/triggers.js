// The form that starts a trigger, and the newest triggers.
import { csvButton } from "../lib/csv.js";
import { confirm } from "../lib/dialog.js";
import { h } from "../lib/dom.js";
import { idempotencyKey } from "../lib/api.js";
import { field, form, text } from "../lib/form.js";
import { ownZone, plural } from "../lib/format.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";
import { triggersTable } from "./triggerstable.js";

export function triggersView({ session, signal, go }) {
  return {
    title: "Triggers",
    element: h("div", {},
      session.may("trigger") && startPart(session, go),
      session.may("read") && listPart(session, signal),
      !session.may("trigger") && !session.may("read") && h("p", { class: "nothing" }, "This key may neither trigger nor read.")),
  };
}

/** moment is the timestamp of a control with a local date and time. */
const moment = (control) => (control.value ? new Date(control.value).toISOString() : null);

function startPart(session, go) {
  const start = text({ type: "datetime-local", step: 900 });
  const end = text({ type: "datetime-local", step: 900 });
  const accepted = h("p", { role: "status", class: "notice", hidden: true });
  // The key stays the same until the trigger is accepted: a repeat after a lost
  // response is still one trigger.
  let once = idempotencyKey();
  const element = form({
    label: "Start a trigger", action: "Trigger every home",
    fields: [
      h("p", {}, "Sends the price signal of every home of the organization to every enabled endpoint."),
      h("div", { class: "row" },
        field({ name: "startTime", label: "Window from (optional)", control: start, hint: `In your time zone, ${ownZone()}.` }),
        field({ name: "endTime", label: "to", control: end, hint: "Default: the next 24 hours." })),
    ],
    submit: async () => {
      if (!await sure(session)) return;
      const made = await session.client.call("/v1/webhook/price_signal/trigger",
        { startTime: moment(start), endTime: moment(end) }, { idempotencyKey: once });
      once = idempotencyKey();
      if (session.may("read")) {
        go(`/triggers/${made.triggerId}`);
        return;
      }
      accepted.hidden = false;
      accepted.textContent = `${made.triggerId} is accepted for ${plural(made.homes, "home")}.`;
    },
  });
  // Another window is another request.
  element.addEventListener("change", () => { once = idempotencyKey(); });
  return h("section", { "aria-labelledby": "start" }, h("h2", { id: "start" }, "Start a trigger"), element, accepted);
}

/** sure asks before a trigger, with the number of webhooks as far as the key may read it. */
async function sure(session) {
  const webhooks = session.may("read") ? await expected(session.client) : "one webhook per home to every enabled endpoint";
  return confirm({ title: "Trigger every home?", action: "Trigger", text: `Gridhook sends ${webhooks}. A newer trigger supersedes older ones.` });
}

/**
 * expected says how many webhooks a trigger sends, by the homes of the newest trigger of
 * all homes or, if there is none, of a page of homes.
 */
export async function expected(client) {
  const [triggers, endpoints] = await Promise.all([
    client.call("/v1/webhook/price_signal/trigger/list", { limit: 100 }),
    client.call("/v1/webhook/endpoints/list", { limit: 100 }),
  ]);
  const receiving = endpoints.data.filter(getsSignals);
  if (receiving.length === 0) return "nothing: no enabled endpoint gets price signals";
  // A trigger of some rate plans counts only their homes, and a notification counts subscriptions.
  let [homes, roughly] = [triggers.data?.find((t) => !t.ratePlanIds && !t.notification)?.homes, "about"];
  if (homes === undefined) {
    const { data, next } = await client.call("/v1/homes/list", { limit: 1000 });
    [homes, roughly] = [data.length, next ? "at least" : "about"];
  }
  if (receiving.some((e) => e.homeIds.length + e.ratePlanIds.length > 0)) roughly = "at most";
  return `${roughly} ${plural(homes * receiving.length, "webhook")}: ${plural(homes, "home")} to ${plural(receiving.length, "enabled endpoint")}`;
}

/** signalEvents are the types of price signals in other formats than signal. */
const signalEvents = { openadr3: "openadr.event.updated", thin: "price_signal.changed" };

const getsSignals = ({ enabled, eventTypes, format }) =>
  enabled && (eventTypes.length === 0 || eventTypes.includes("price_signal.updated") || eventTypes.includes(signalEvents[format]));

function listPart(session, signal) {
  const problem = problemBox();
  const list = triggersTable();
  const fetchList = () => session.client.call("/v1/webhook/price_signal/trigger/list", { limit: 100 }, { signal });
  poll({
    signal, every: 3000, failed: problem.show,
    ask: async () => {
      const { data } = await fetchList();
      list.update(data ?? []);
    },
  });
  return h("section", { "aria-labelledby": "list" }, h("h2", { id: "list" }, "Triggers, newest first"), problem.element, list.element,
    h("div", { class: "below-table" }, csvButton("Triggers", async () => (await fetchList()).data ?? [], problem.show)));
}
