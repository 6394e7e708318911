import { Problem } from "/console/lib/api.js";
import { copyButton } from "/console/lib/dialog.js";
import { h } from "/console/lib/dom.js";
import { enums } from "/console/lib/enums.js";
import { pages } from "/console/lib/pages.js";
import { table } from "/console/lib/table.js";
import { banner } from "/console/views/banner.js";
import { deviceView } from "/console/views/device.js";
import { endpointView } from "/console/views/endpoint.js";
import { endpointForm } from "/console/views/endpointform.js";
import { homeView, windowOf } from "/console/views/home.js";
import { expected } from "/console/views/triggers.js";
import { triggersTable } from "/console/views/triggerstable.js";
import { equal, test } from "./harness.js";

/** clientOf responds to an operation with its value, or with the result of its function. */
const clientOf = (answers) => ({
  call: async (path, input) => {
    const answer = answers[path] ?? { data: [], next: null };
    return typeof answer === "function" ? answer(input) : answer;
  },
});

const down = () => { throw new Problem({ message: "The server is down." }); };

const buttonOf = (element, text) => [...element.querySelectorAll("button")].find((b) => b.textContent === text);

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
  const all = { enabled: true, eventTypes: [], format: "signal", homeIds: [], ratePlanIds: [] };
  const plain = [all, { ...all, enabled: false }, { ...all, eventTypes: ["endpoint.disabled", "price_signal.updated"] }, { ...all, eventTypes: ["flex_alert"] }];
  const words = (triggers, endpoints = plain) => expected(clientOf({
    "/v1/webhook/price_signal/trigger/list": ({ limit }) => ({ data: triggers.slice(0, limit) }),
    "/v1/webhook/endpoints/list": { data: endpoints, next: null },
    "/v1/homes/list": { data: Array(4), next: "home_4" },
  }));
  equal(await words([...some, { homes: 130 }, { homes: 120 }]), "about 260 webhooks: 130 homes to 2 enabled endpoints");
  equal(await words(some), "at least 8 webhooks: 4 homes to 2 enabled endpoints");
  const openadr = { ...all, eventTypes: ["openadr.event.updated"], format: "openadr3" };
  equal(await words([{ homes: 130 }], [openadr, { ...all, ratePlanIds: ["plan_1"] }]), "at most 260 webhooks: 130 homes to 2 enabled endpoints");
  equal(await words([{ homes: 130 }], [{ ...openadr, format: "signal" }]), "nothing: no enabled endpoint gets price signals");
  equal(await words([{ homes: 130 }], [{ ...all, eventTypes: ["price_signal.changed"], format: "thin" }]), "about 130 webhooks: 130 homes to 1 enabled endpoint");
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

test("a form names each wrong header", async () => {
  const wrong = ["A", "B"].map((name) => ({ field: `headers.${name}`, message: "is required because the host of url changes" }));
  const form = endpointForm({ action: "Save", cancel: () => {}, submit: () => { throw new Problem({ message: "wrong", field_errors: wrong }); } });
  document.body.append(form);
  form.requestSubmit();
  await settled();
  form.remove();
  equal(form.querySelector("[data-field=headers] .field-error").textContent,
    "Custom headers A is required because the host of url changes. Custom headers B is required because the host of url changes.");
});

const endpoint = {
  id: "ep_1", url: "http://h", description: "", eventTypes: [], headers: {}, rateLimit: 0, timeoutSeconds: 10, deliveryMode: "always", retryPolicy: {},
  homeIds: [], ratePlanIds: [], format: "signal", batchSize: 1, compression: "none", authentication: null, clientCertificate: null,
  health: { state: "HEALTHY" }, breaker: { state: "CLOSED" }, enabled: false, updatedAt: "2026-01-01T00:00:00.000Z",
};

/** viewed shows an endpoint until stop is called. */
function viewed(client) {
  const leave = new AbortController();
  const { element } = endpointView({ session: { client, may: () => true }, signal: leave.signal, go: () => {} }, "ep_1");
  document.body.append(element);
  const stop = () => {
    leave.abort();
    element.remove();
  };
  return { element, stop };
}

test("an endpoint that did not load appears when the server responds again", async () => {
  const { setTimeout: later } = globalThis;
  globalThis.setTimeout = (work) => later(work); // polls do not wait
  let [answer, again] = [down, () => {}];
  const { element, stop } = viewed(clientOf({ "/v1/webhook/endpoints/ep_1/get": () => { again(); return answer(); } }));
  const shown = () => [Boolean(buttonOf(element, "Edit")), element.querySelector(".problem:not([hidden])") !== null];
  await settled();
  equal(shown(), [false, true]);
  answer = () => endpoint;
  await new Promise((resolve) => { again = resolve; });
  await settled();
  stop();
  globalThis.setTimeout = later;
  equal(shown(), [true, false]);
});

test("a button of an endpoint keeps the focus", async () => {
  const { element, stop } = viewed(clientOf({
    "/v1/webhook/endpoints/ep_1/get": endpoint, "/v1/webhook/endpoints/ep_1/update": { ...endpoint, enabled: true, updatedAt: "2026-01-01T00:00:01.000Z" },
  }));
  document.body.append(h("div", { id: "spoken" }));
  await settled();
  buttonOf(element, "Enable").focus();
  buttonOf(element, "Enable").click();
  await settled();
  equal(document.activeElement.textContent, "Disable");
  buttonOf(element, "Edit").click();
  buttonOf(element, "Cancel").click();
  equal(document.activeElement.textContent, "Edit");
  stop();
  document.getElementById("spoken").remove();
});

test("an endpoint shows which signals it gets, and how", async () => {
  const factsOf = async (settings) => {
    const { element, stop } = viewed(clientOf({ "/v1/webhook/endpoints/ep_1/get": { ...endpoint, ...settings } }));
    await settled();
    stop();
    return Object.fromEntries([...element.querySelectorAll("dt")].map((dt) => [dt.textContent, dt.nextSibling.textContent]));
  };
  const names = ["Delivery mode", "Only homes", "Only rate plans", "Format", "Batches", "Compression", "Authentication"];
  const shown = (facts) => names.map((name) => facts[name] ?? "");
  equal(shown(await factsOf({})), ["every signal", "", "", "", "", "", ""]);
  equal(shown(await factsOf({
    deliveryMode: "onChange", minPriceChange: 0.01, homeIds: ["home_1", "home_2"], ratePlanIds: ["plan_1"], format: "thin", batchSize: 50, compression: "gzip",
    authentication: { type: "bearer", token: "********" }, clientCertificate: { certificate: "c", privateKey: "********" },
  })), ["only signals that changed by more than $0.0100", "home_1, home_2", "plan_1", "thin", "up to 50 homes per request", "gzip", "bearer, client certificate"]);
});

test("a thermostat shows why it was not unlinked", async () => {
  const client = clientOf({
    "/v1/devices/hvac/d/get": { deviceId: "d", homeId: "home_1", linked: true }, "/v1/devices/hvac/d/user_preferences/get": {}, "/v1/devices/hvac/d/linked": down,
  });
  const shown = async (may) => {
    const { element } = deviceView({ session: { client, may: () => may }, signal: new AbortController().signal }, "d");
    await settled();
    buttonOf(element, "Unlink")?.click();
    await settled();
    return element;
  };
  equal((await shown(true)).querySelector(".problem-message").textContent, "The server is down.");
  equal((await shown(false)).textContent.endsWith("Home home_1"), true);
});

test("a search that failed can be repeated", async () => {
  let searches = 0;
  const client = clientOf({ "/v1/homes/list": () => { searches++; return down(); } });
  const place = h("div", {}, banner({ session: { key: "k", client, may: () => true }, sections: [{ section: "homes", name: "Homes" }], current: "homes", operator: false }));
  document.body.append(place);
  place.querySelector("search input").value = "home_1";
  for (let i = 0; i < 2; i++) {
    place.querySelector("search form").requestSubmit();
    await settled();
  }
  place.remove();
  equal(searches, 2);
});

test("a button says that a frame may not copy", async () => {
  Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: () => Promise.reject(new Error("denied")) } });
  const [press, spoken] = [copyButton("Copy", "text"), h("div", { id: "spoken" })];
  document.body.append(spoken);
  press.click();
  await settled();
  spoken.remove();
  delete navigator.clipboard;
  equal(press.textContent, "Not copied: the browser does not allow it");
});

test("an endpoint that Gridhook disables can be enabled", async () => {
  let now = { ...endpoint, enabled: true };
  let polled = () => {};
  const { element, stop } = viewed(clientOf({ "/v1/webhook/endpoints/ep_1/get": () => { polled(); return now; } }));
  await settled();
  equal(Boolean(buttonOf(element, "Disable")), true);
  now = { ...endpoint, enabled: false, disabled: { at: "2026-01-02T00:00:00.000Z", detail: "it responded 410 Gone" }, updatedAt: "2026-01-02T00:00:00.000Z" };
  await new Promise((resolve) => { polled = resolve; });
  await settled();
  stop();
  equal([Boolean(buttonOf(element, "Enable")), element.textContent.includes("it responded 410 Gone")], [true, true]);
});

test("a page that fails to load can be requested again", async () => {
  const requested = [];
  let answer = (after) => ({ data: [after], next: `${after}x` });
  const list = pages({
    label: "Letters", signal: new AbortController().signal, table: { element: h("div"), update: () => {} },
    load: async (after) => { requested.push(after); return answer(after); },
  });
  const working = answer;
  const turns = () => ["Previous", "Next"].map((text) => buttonOf(list.element, text).getAttribute("aria-disabled") === "false");
  const click = (text) => { buttonOf(list.element, text).click(); return settled(); };
  await list.load();
  await click("Next");
  answer = down;
  await click("Next");
  equal(turns(), [true, true]);
  await click("Previous");
  equal(turns(), [true, true]);
  answer = working;
  await click("Next");
  equal([requested, turns()], [["", "x", "xx", "", "xx"], [true, true]]);
});

test("a list that does not load does not say that it is empty", async () => {
  let answer = down;
  const list = pages({
    label: "Letters", signal: new AbortController().signal, load: async () => answer(),
    table: table({ label: "Letters", columns: [{ name: "Letter", cell: (letter) => letter }], key: (letter) => letter, empty: "No letters." }),
  });
  document.body.append(list.element);
  const shown = () => ["table", ".nothing", "button[aria-label$=CSV]"].map((part) => list.element.querySelector(part).checkVisibility());
  await list.load();
  equal(shown(), [false, false, false]);
  answer = () => ({ data: [], next: null });
  await list.load();
  equal(shown(), [false, true, false]);
  answer = () => ({ data: ["a"], next: null });
  await list.load();
  equal(shown(), [true, false, true]);
  list.element.remove();
});

test("a home without a price signal shows everything else", async () => {
  const shown = async (answers) => {
    const client = clientOf({ "/v1/homes/home_1/get": { id: "home_1", timezone: "UTC" }, ...answers });
    const { element } = homeView({ session: { client, may: () => false }, signal: new AbortController().signal, parameters: new URLSearchParams(), go: () => {} }, "home_1");
    await settled();
    return [...element.querySelectorAll("section")].map((s) => [s.querySelector("h2")?.textContent, s.querySelector(".problem:not([hidden])") !== null]).filter(([name]) => name);
  };
  const parts = (broken) => ["Price signal", "Devices", "Savings", "Bill", "Onboarding", "Deliveries"].map((name) => [name, name === broken]);
  equal(await shown({ "/v1/homes/home_1/price_signal": down }), parts("Price signal"));
  equal(await shown({ "/v1/homes/home_1/price_signal": { data: [] }, "/v1/onboarding/status/get": down }), parts("Onboarding"));
});

test("a notification shows its OpenADR object and its subscriptions", () => {
  const time = "2026-01-01T00:00:00.000Z";
  const list = triggersTable();
  list.update([{
    triggerId: "trg_1", status: "COMPLETED", homes: 2, walked: 2, startTime: time, endTime: time, createdAt: time,
    notification: { objectType: "EVENT", operation: "UPDATE", objectId: "flat_20260101" },
  }]);
  const cells = [...list.element.querySelectorAll("td")].map((cell) => cell.textContent);
  equal([cells[2], cells[4]], ["2 subscriptions", "OpenADR EVENT flat_20260101"]);
});

test("only a trigger that is not completed has no deliveries yet", () => {
  const time = "2026-01-01T00:00:00.000Z";
  const list = triggersTable();
  list.update(["ACCEPTED", "COMPLETED"].map((status) => ({ triggerId: status, status, homes: 0, walked: 0, startTime: time, endTime: time, createdAt: time })));
  equal([...list.element.querySelectorAll("td:nth-child(4)")].map((cell) => cell.textContent), ["none yet", "no deliveries"]);
});
