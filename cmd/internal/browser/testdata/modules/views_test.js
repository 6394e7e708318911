import { enums } from "/console/lib/enums.js";
import { endpointForm } from "/console/views/endpointform.js";
import { windowOf } from "/console/views/home.js";
import { expected } from "/console/views/triggers.js";
import { equal, test } from "./harness.js";

/** clientOf responds to an operation with its value, or with the result of its function. */
const clientOf = (answers) => ({
  call: async (path, input) => {
    const answer = answers[path] ?? { data: [], next: null };
    return typeof answer === "function" ? answer(input) : answer;
  },
});

/** settled waits until the responses of a client have been handled. */
const settled = () => new Promise((resolve) => { setTimeout(resolve); });

test("31 days are never longer than the API's longest window", () => {
  const of = (day, days, zone = "America/Los_Angeles") => Object.values(windowOf({ zone, day, days }));
  equal(of("2026-10-15", 31), ["2026-10-15T07:00:00.000Z", "2026-11-15T07:00:00.000Z"]); // the clocks go back on 1 November
  equal(of("2026-11-01", 1), ["2026-11-01T07:00:00.000Z", "2026-11-02T08:00:00.000Z"]);
  equal(of("2026-02-20", 31), ["2026-02-20T08:00:00.000Z", "2026-03-23T07:00:00.000Z"]); // the clocks go forward on 8 March
  equal(windowOf({ zone: "UTC", day: "", days: 31 }), {});
});

test("the expected webhooks are those of the newest trigger of all homes", async () => {
  const some = [
    { homes: 1, notification: { objectType: "EVENT", operation: "UPDATE", objectId: "e" } },
    { homes: 2, ratePlanIds: ["plan_1"], scheduleId: "sch_1" },
  ];
  const words = (triggers) => expected(clientOf({
    "/v1/webhook/price_signal/trigger/list": ({ limit }) => ({ data: triggers.slice(0, limit) }),
    "/v1/webhook/endpoints/list": { data: [{ enabled: true }, { enabled: false }, { enabled: true }], next: null },
    "/v1/homes/list": { data: Array(4), next: "home_4" },
  }));
  equal(await words([...some, { homes: 130 }, { homes: 120 }]), "about 260 webhooks: 130 homes to 2 enabled endpoints");
  equal(await words(some), "at least 8 webhooks: 4 homes to 2 enabled endpoints");
});

test("an endpoint gets all events only if all are checked", async () => {
  const sent = [];
  const form = endpointForm({ action: "Save", cancel: () => {}, submit: async ({ eventTypes }) => { sent.push(eventTypes); } });
  document.body.append(form);
  const boxes = [...form.querySelectorAll("[data-field=eventTypes] input")];
  const save = async (checked) => {
    boxes.forEach((box, i) => { box.checked = checked(i); });
    form.requestSubmit();
    await settled();
    return form.querySelector("[data-field=eventTypes] .field-error");
  };
  await save(() => true);
  await save((i) => i === 0);
  const error = await save(() => false);
  equal([sent, error.textContent, error.checkVisibility()], [[[], [enums.EventType[0]]], "Events to send must have at least one event.", true]);
  form.remove();
});
