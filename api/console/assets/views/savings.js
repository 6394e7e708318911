// The savings of optimized heating and cooling, and a chart of the best day.
import { dayChart } from "../chart/day.js";
import { inPath } from "../lib/api.js";
import { facts, h } from "../lib/dom.js";
import { enums } from "../lib/enums.js";
import { choices, field, select } from "../lib/form.js";
import { dollars } from "../lib/format.js";
import { askPart } from "./ask.js";

/** savingsPart estimates on request, because an estimate takes some time. */
export function savingsPart({ session, signal }, id, zone) {
  const type = select(choices(enums.SavingsType, { monthly: "this month", annual: "a year" }), "monthly");
  return askPart({
    id: "savings", title: "Savings", action: "Estimate savings",
    hint: "How much cheaper heating and cooling would be if they ran when prices are low, within the allowed temperatures.",
    fields: [field({ name: "type", label: "For", control: type })],
    answer: async () => {
      const result = await session.client.call(`/v1/homes/${inPath(id)}/hvac/estimate_savings`, { type: type.value }, { signal });
      const devices = await Promise.all(result.devices.map((d) => session.client.call(`/v1/devices/hvac/${inPath(d.deviceId)}/get`, {}, { signal })));
      return resultOf(result, devices, zone);
    },
  });
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
