// The bill of a home, on its own rate plan or on several to compare.
import { inPath } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { field, number, text } from "../lib/form.js";
import { dollars } from "../lib/format.js";
import { table } from "../lib/table.js";
import { valuesOf } from "../lib/values.js";
import { askPart } from "./ask.js";

/** billPart calculates a typical year, because that needs no meter data. */
export function billPart({ session, signal }, id) {
  const energy = number({ min: 0, placeholder: "the home's own" });
  const plans = text({ placeholder: "e.g. plan-a, plan-b" });
  return askPart({
    id: "bill", title: "Bill", action: "Calculate the bill",
    hint: "A typical year, for comparing plans. It is not an invoice.",
    fields: [h("div", { class: "row" },
      field({ name: "annualKwh", label: "Energy of a year (kWh)", control: energy, hint: "Empty: the home's assumed use." }),
      field({ name: "ratePlanId", label: "Compare with the plans", control: plans, hint: "Ids with commas between them. Empty: the home's own plan alone." }))],
    answer: async () => {
      const ids = ["", ...plans.value.split(",").map((p) => p.trim()).filter(Boolean)];
      const bills = await Promise.all(ids.map(async (ratePlanId) => ({ ratePlanId, bill: await session.client.call(`/v1/homes/${inPath(id)}/bill`, {
        ...(energy.value && { annualKwh: Number(energy.value) }), ...(ratePlanId && { ratePlanId }),
      }, { signal }) })));
      return answerOf(bills);
    },
  });
}

function answerOf(bills) {
  const own = bills[0].bill.total;
  const compared = table({
    label: "Bills by plan", key: (b) => b.ratePlanId, empty: "",
    columns: [
      { name: "Rate plan", cell: (b) => b.ratePlanId || "the home's own" },
      { name: "A year", cell: (b) => dollars(b.bill.total), numeric: true },
      { name: "Difference", cell: (b) => (b.ratePlanId ? dollars(b.bill.total - own) : ""), numeric: true },
    ],
  });
  compared.update(bills);
  return [bills.length > 1 && compared.element, ...bills.map((b) => h("details", { class: "figures", open: bills.length === 1 },
    h("summary", {}, b.ratePlanId ? `The bill on ${b.ratePlanId}` : "The bill on the home's own plan"), valuesOf(b.bill)))].filter(Boolean);
}
