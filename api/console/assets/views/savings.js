// The savings of optimized heating and cooling, and a chart of the best day.
import { dayChart } from "../chart/day.js";
import { inPath } from "../lib/api.js";
import { button, busy, facts, h } from "../lib/dom.js";
import { enums } from "../lib/enums.js";
import { choices, field, select } from "../lib/form.js";
import { dollars } from "../lib/format.js";
import { problemBox } from "../lib/problem.js";

/** savingsPart estimates on request, because an estimate takes some time. */
export function savingsPart({ session, signal }, id, zone) {
  const problem = problemBox();
  const place = h("div", { role: "status" });
  const type = select(choices(enums.SavingsType, { monthly: "this month", annual: "a year" }), "monthly");
  const press = button("Estimate savings", () => busy(press, estimate));

  async function estimate() {
    problem.show(null);
    place.replaceChildren(h("p", { class: "nothing" }, "Estimating…"));
    try {
      const result = await session.client.call(`/v1/homes/${inPath(id)}/hvac/estimate_savings`, { type: type.value }, { signal });
      const devices = await Promise.all(result.devices.map((d) => session.client.call(`/v1/devices/hvac/${inPath(d.deviceId)}/get`, {}, { signal })));
      place.replaceChildren(...resultOf(result, devices, zone));
    } catch (error) {
      if (signal.aborted) return;
      place.replaceChildren();
      problem.show(error);
    }
  }

  return h("section", { "aria-labelledby": "savings" }, h("h2", { id: "savings" }, "Savings"),
    h("p", { class: "hint" }, "How much cheaper heating and cooling would be if they ran when prices are low, within the allowed temperatures."),
    h("form", { class: "beside", "aria-label": "Savings", on: { submit: (event) => event.preventDefault() } },
      field({ name: "type", label: "For", control: type }), h("div", { class: "actions" }, press)),
    problem.element, place);
}

function resultOf(r, devices, zone) {
  const { uncertainty: u, assumptions: a } = r;
  return [
    facts([
      ["Without", `${dollars(r.baselineCost)}, ${Math.round(r.baselineKwh)} kWh`],
      ["Optimized", `${dollars(r.optimizedCost)}, ${Math.round(r.optimizedKwh)} kWh`],
      ["Saved", h("b", {}, `${dollars(r.savings)}, ${r.savingsPercent}%`)],
      ["Likely between", u && `${dollars(u.savingsLow)} and ${dollars(u.savingsHigh)}`],
      ["Weather", a?.weather && `a typical year of ${a.weather.station}, ${a.weather.state}`],
      ["Devices", r.devices.map((d) => [h("a", { href: `#/devices/${d.deviceId}` }, d.deviceId), " "])],
    ]),
    ...devices.map((d) => d.lastOptimizationRunData?.day).filter(Boolean).map((day) => dayChart(day, zone)),
  ];
}
