// Starting a trigger, and the newest ones.
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
      !session.may("trigger") && !session.may("read") && h("p", { class: "nothing" }, "The key may neither trigger nor read.")),
  };
}

/** moment is what a control of local date and time says, as a timestamp. */
const moment = (control) => (control.value ? new Date(control.value).toISOString() : null);

function startPart(session, go) {
  const start = text({ type: "datetime-local", step: 900 });
  const end = text({ type: "datetime-local", step: 900 });
  const accepted = h("p", { role: "status", class: "notice", hidden: true });
  // The same key until it is accepted: pressed again after a lost answer, it is
  // still one trigger.
  let once = idempotencyKey();
  const element = form({
    label: "Start a trigger", action: "Trigger every home",
    fields: [
      h("p", {}, "Sends the price signal of every home that the organization has now to its enabled endpoints."),
      h("div", { class: "row" },
        field({ name: "startTime", label: "Window from (optional)", control: start, hint: `In your time zone, ${ownZone()}.` }),
        field({ name: "endTime", label: "to", control: end, hint: "Without a window it is the next 24 hours." })),
    ],
    submit: async () => {
      const made = await session.client.call("/v1/webhook/price_signal/trigger",
        { startTime: moment(start), endTime: moment(end) }, { idempotencyKey: once });
      once = idempotencyKey();
      if (session.may("read")) {
        go(`/triggers/${made.triggerId}`);
        return;
      }
      accepted.hidden = false;
      accepted.textContent = `${made.triggerId} is accepted, for ${plural(made.homes, "home")}.`;
    },
  });
  // Another window is another request.
  element.addEventListener("change", () => { once = idempotencyKey(); });
  return h("section", { "aria-labelledby": "start" }, h("h2", { id: "start" }, "Start a trigger"), element, accepted);
}

function listPart(session, signal) {
  const problem = problemBox();
  const list = triggersTable();
  poll({
    signal, every: 3000, failed: problem.show,
    ask: async () => {
      const { data } = await session.client.call("/v1/webhook/price_signal/trigger/list", { limit: 100 }, { signal });
      list.update(data ?? []);
    },
  });
  return h("section", { "aria-labelledby": "list" }, h("h2", { id: "list" }, "Newest first"), problem.element, list.element);
}
