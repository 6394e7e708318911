// A partner's client: it finds the cheapest hour of a home, triggers the webhooks of all
// homes, and waits until each is delivered.

import { setTimeout as pause } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./gridhook.js";

type Problem = components["schemas"]["Error"];

const client = createClient<paths>({
  baseUrl: process.env["GRIDHOOK_API_URL"] ?? "http://127.0.0.1:8080",
  headers: { "x-ws-api-key": process.env["GRIDHOOK_API_KEY"] ?? "" },
});

// must returns the response, or throws an error with the recovery action.
function must<T>(answer: { data?: T; error?: Problem }): T {
  if (answer.data !== undefined) return answer.data;
  const { error_code = "UNKNOWN", message = "", recovery_action = "", field_errors = [] } = answer.error ?? {};
  const fields = field_errors.map((f) => `${f.field} ${f.message}`);
  throw new Error([`${error_code}: ${message}`, ...fields, recovery_action].join("\n"));
}

// cheapestHour returns the cheapest hour of the next 24 hours.
async function cheapestHour(id: string): Promise<{ from: string; price: number }> {
  const signal = must(await client.POST("/v1/homes/{id}/price_signal", { params: { path: { id } } }));
  if (Array.isArray(signal)) throw new Error("events of OpenADR 3, which come with the format openadr3 alone");
  const { data } = signal;
  const hours = data.slice(0, -3).map((interval, i) => ({
    from: interval.startTime,
    price: data.slice(i, i + 4).reduce((sum, quarter) => sum + quarter.import, 0) / 4,
  }));
  return hours.reduce((best, hour) => (hour.price < best.price ? hour : best));
}

// triggerAll triggers the webhooks of all homes, once for each name, and returns the
// completed trigger.
async function triggerAll(name: string): Promise<components["schemas"]["TriggerProgress"]> {
  const { triggerId } = must(
    await client.POST("/v1/webhook/price_signal/trigger", { params: { header: { "Idempotency-Key": name } }, body: {} }),
  );
  for (;;) {
    const progress = must(await client.POST("/v1/webhook/price_signal/trigger/{id}/get", { params: { path: { id: triggerId } } }));
    if (progress.status === "COMPLETED") return progress;
    await pause(100);
  }
}

const [home = "home-1", name = new Date().toISOString().slice(0, 13)] = process.argv.slice(2); // once an hour
const hour = await cheapestHour(home);
console.log(`the cheapest hour of ${home} begins at ${hour.from}: $${hour.price.toFixed(5)} a kWh`);
const progress = await triggerAll(name);
console.log(`${progress.walked} of ${progress.homes} homes were walked:`, progress.outcomes);
