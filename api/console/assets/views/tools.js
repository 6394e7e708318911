// Tools: eligibility of a zipcode, and two homes or days beside each other.
import { inPath } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { field, text } from "../lib/form.js";
import { ownZone, price } from "../lib/format.js";
import { valuesOf } from "../lib/values.js";
import { table } from "../lib/table.js";
import { addDays, dateOf, isZone, midnight } from "../chart/zone.js";
import { askPart } from "./ask.js";
import { signalPart } from "./signal.js";

export function toolsView({ session, signal }) {
  return { title: "Tools", element: h("div", {}, comparePart(session, signal), eligibilityPart(session, signal)) };
}

function eligibilityPart(session, signal) {
  const zipcode = text({ inputmode: "numeric", maxlength: 5 });
  return askPart({
    id: "eligibility", title: "Eligibility", hint: "What Gridhook supports in a zipcode.", action: "Check",
    fields: [field({ name: "zipcode", label: "Zipcode", control: zipcode })],
    answer: async () => [valuesOf(await session.client.call("/v1/onboarding/eligibility/check", { zipcode: zipcode.value.trim() }, { signal }))],
  });
}

function comparePart(session, signal) {
  const today = dateOf(Date.now(), ownZone());
  const sides = ["First", "Second"].map((name) => ({
    name, home: text(), day: text({ type: "date", value: today }),
  }));
  return askPart({
    id: "compare", title: "Compare price signals", hint: "Two homes on one day, or one home on two days. Homes on different plans compare the plans.", action: "Compare",
    fields: sides.map((s) => h("div", { class: "row" },
      field({ name: `${s.name}-home`, label: `${s.name} home`, control: s.home, hint: s.name === "Second" && "Empty: the same home." }),
      field({ name: `${s.name}-day`, label: `${s.name} day`, control: s.day }))),
    answer: async () => {
      const shown = await Promise.all(sides.map(async (s) => sideOf(session, signal, s.home.value.trim() || sides[0].home.value.trim(), s.day.value || today)));
      const totals = table({
        label: "Summary", key: (s) => s.title, empty: "",
        columns: [
          { name: "Signal", cell: (s) => s.title },
          { name: "Rate plan", cell: (s) => s.plan },
          ...["Lowest", "Mean", "Highest"].map((name) => ({ name: `${name} import`, numeric: true, cell: (s) => price(s[name]) })),
        ],
      });
      totals.update(shown);
      return [totals.element, ...shown.flatMap((s) => [h("h3", {}, s.title), ...s.elements])];
    },
  });
}

/** sideOf is one side of a comparison: a day of a home, by the home's own midnight. */
async function sideOf(session, signal, id, day) {
  const home = await session.client.call(`/v1/homes/${inPath(id)}/get`, {}, { signal });
  const zone = [home.timezone, ownZone(), "UTC"].find(isZone);
  const iso = (date) => new Date(midnight(date, zone)).toISOString();
  const answer = await session.client.call(`/v1/homes/${inPath(id)}/price_signal`, { startTime: iso(day), endTime: iso(addDays(day, 1)) }, { signal });
  const imports = answer.data.map((v) => v.import);
  return {
    title: `${id} on ${day}, ${zone}`, plan: home.ratePlanId,
    Lowest: Math.min(...imports), Highest: Math.max(...imports), Mean: imports.reduce((a, b) => a + b, 0) / imports.length,
    elements: signalPart(answer, zone, null).slice(0, 2),
  };
}
