// A home: its facts and a chart of its price signal.
import { inPath } from "../lib/api.js";
import { facts, h } from "../lib/dom.js";
import { ownZone } from "../lib/format.js";
import { badge } from "../lib/parts.js";
import { problemBox } from "../lib/problem.js";
import { valuesOf } from "../lib/values.js";
import { addDays, dateOf, isZone, midnight } from "../chart/zone.js";
import { billPart } from "./bill.js";
import { logOf } from "./deliveries.js";
import { listView } from "./list.js";
import { savingsPart } from "./savings.js";
import { signalPart } from "./signal.js";
import { windowForm } from "./windowform.js";

export function homeView(common, id) {
  const { session, signal, parameters, go } = common;
  const problem = problemBox();
  const about = h("div");
  const controls = h("div");
  const place = h("div", {}, h("p", { class: "nothing" }, "Loading…"));
  const devices = h("div");
  const savings = h("div");

  fill({ place, problem, signal }, async () => {
    const home = await session.client.call(`/v1/homes/${inPath(id)}/get`, {}, { signal });
    about.replaceChildren(homeFacts(home));
    devices.replaceChildren(devicesPart(common, id));
    const asked = requested(parameters, home);
    controls.replaceChildren(windowForm({ ...asked, go: (query) => go(`/homes/${id}${query}`) }));
    savings.replaceChildren(savingsPart({ session, signal }, id, asked.zone), billPart({ session, signal }, id), onboardingPart({ session, signal }, id));
    const answer = await session.client.call(`/v1/homes/${inPath(id)}/price_signal`, windowOf(asked), { signal });
    return signalPart(answer, asked.zone, home);
  });
  return {
    title: id, above: h("p", { class: "crumb" }, h("a", { href: "#/homes" }, "Homes")),
    element: h("div", {}, about, h("section", { "aria-labelledby": "signal" }, h("h2", { id: "signal" }, "Price signal"), controls, problem.element, place),
      devices, savings, logOf(session, signal, { homeId: id }).element),
  };
}

/** fill shows the elements that make returns, or its problem. */
async function fill({ place, problem, signal }, make) {
  try {
    place.replaceChildren(...await make());
  } catch (error) {
    if (signal.aborted) return;
    place.replaceChildren();
    problem.show(error);
  }
}

/** requested reads the first day and the number of days from the address. Without a day it is the API's default window. */
export function requested(parameters, home) {
  const zone = [home.timezone, ownZone(), "UTC"].find(isZone);
  const day = /^\d{4}-\d\d-\d\d$/.test(parameters.get("day") ?? "") ? parameters.get("day") : "";
  const days = Math.min(31, Math.max(1, Number.parseInt(parameters.get("days"), 10) || 1));
  return { zone, day, days, today: dateOf(Date.now(), zone) };
}

// The longest window that the API accepts, in ms.
const longest = 31 * 24 * 3_600_000;

/**
 * windowOf is the window of whole local days, of 23 or 25 hours at a clock change. The
 * longest window ends an hour early if the clocks go back in it.
 */
export function windowOf({ zone, day, days }) {
  if (!day) return {};
  const start = midnight(day, zone);
  const end = Math.min(midnight(addDays(day, days), zone), start + longest);
  return { startTime: new Date(start).toISOString(), endTime: new Date(end).toISOString() };
}

function homeFacts(home) {
  return facts([
    ["Name", home.name],
    ["Rate plan", home.ratePlanId || "none"],
    ["Time zone", home.timezone || "none"],
    ["Place", [home.streetAddress, home.city, home.zipcode, home.country].filter(Boolean).join(", ")],
    ["Utility", home.UtilityId],
    ["Carbon intensity", home.carbonSignalIntensity],
    ["Enabled", home.enabled ? "yes" : "no"],
  ]);
}

/** devicesPart lists the thermostats of a home. */
function devicesPart(common, homeId) {
  const { view } = listView(common, {
    title: "Devices", path: "/v1/devices/hvac/list", input: () => ({ homeId }), key: (d) => d.deviceId,
    empty: "No thermostat. An import adds thermostats.",
    columns: [
      { name: "Device", cell: (d) => h("a", { href: `#/devices/${d.deviceId}`, class: "identifier" }, d.deviceId) },
      { name: "Name", cell: (d) => d.systemDetails.name },
      { name: "State", cell: (d) => (d.linked ? badge("Linked", "good") : badge("Unlinked", "calm", "Optimization skips it.")) },
    ],
  });
  return h("section", { "aria-labelledby": "devices" }, h("h2", { id: "devices" }, "Devices"), view.element);
}

/** onboardingPart shows the onboarding of a home. */
function onboardingPart({ session, signal }, id) {
  const problem = problemBox();
  const place = h("div", {}, h("p", { class: "nothing" }, "Loading…"));
  fill({ place, problem, signal }, async () => {
    const { homeId, ...flow } = await session.client.call("/v1/onboarding/status/get", { homeId: id }, { signal });
    return [valuesOf(flow)];
  });
  return h("section", { "aria-labelledby": "onboarding" }, h("h2", { id: "onboarding" }, "Onboarding"), problem.element, place);
}
