// A home: its facts and a chart of its price signal.
import { inPath } from "../lib/api.js";
import { facts, h } from "../lib/dom.js";
import { ownZone } from "../lib/format.js";
import { problemBox } from "../lib/problem.js";
import { valuesOf } from "../lib/values.js";
import { addDays, dateOf, isZone, midnight } from "../chart/zone.js";
import { billPart } from "./bill.js";
import { logOf } from "./deliveries.js";
import { savingsPart } from "./savings.js";
import { signalPart } from "./signal.js";
import { windowForm } from "./windowform.js";

export function homeView({ session, signal, parameters, operator, go }, id) {
  const problem = problemBox();
  const about = h("div");
  const controls = h("div");
  const place = h("div", {}, h("p", { class: "nothing" }, "Loading…"));
  const savings = h("div");

  async function load() {
    try {
      const home = operator
        ? await session.client.call(`/v1/admin/homes/${inPath(id)}/get`, { organizationId: session.organization }, { signal })
        : null;
      if (home) about.replaceChildren(homeFacts(home));
      const asked = requested(parameters, home);
      controls.replaceChildren(windowForm({ ...asked, fixedZone: Boolean(home?.timezone), go: (query) => go(`/homes/${id}${query}`) }));
      const answer = await session.client.call(`/v1/homes/${inPath(id)}/price_signal`, windowOf(asked), { signal });
      place.replaceChildren(...signalPart(answer, asked.zone, home));
      savings.replaceChildren(savingsPart({ session, signal }, id, asked.zone), billPart({ session, signal }, id), await onboardingPart({ session, signal }, id));
    } catch (error) {
      if (signal.aborted) return;
      place.replaceChildren();
      problem.show(error);
    }
  }

  load();
  return {
    title: id, above: h("p", { class: "crumb" }, h("a", { href: "#/homes" }, "Homes")),
    element: h("div", {}, about, h("section", { "aria-labelledby": "signal" }, h("h2", { id: "signal" }, "Price signal"), controls, problem.element, place),
      savings, logOf(session, signal, { homeId: id }).element),
  };
}

/** requested reads the first day, the number of days and the time zone from the address. Without a day it is the API's default window. */
export function requested(parameters, home) {
  const zone = [home?.timezone, parameters.get("zone"), ownZone(), "UTC"].find(isZone);
  const day = /^\d{4}-\d\d-\d\d$/.test(parameters.get("day") ?? "") ? parameters.get("day") : "";
  const days = Math.min(31, Math.max(1, Number.parseInt(parameters.get("days"), 10) || 1));
  return { zone, day, days, today: dateOf(Date.now(), zone) };
}

/** windowOf is the window of whole local days, of 23 or 25 hours at a clock change. */
export function windowOf({ zone, day, days }) {
  if (!day) return {};
  const iso = (date) => new Date(midnight(date, zone)).toISOString();
  return { startTime: iso(day), endTime: iso(addDays(day, days)) };
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

/** onboardingPart shows the onboarding of a home. */
async function onboardingPart({ session, signal }, homeId) {
  const { homeId: _, ...flow } = await session.client.call("/v1/onboarding/status/get", { homeId }, { signal });
  return h("section", { "aria-labelledby": "onboarding" }, h("h2", { id: "onboarding" }, "Onboarding"), valuesOf(flow));
}
