// What a partner does: find the cheapest hour of a home, trigger the webhooks of all
// homes, and wait until each has been told.

import { setTimeout as pause } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./gridhook.js";

type Problem = components["schemas"]["Error"];

const client = createClient<paths>({
  baseUrl: process.env["GRIDHOOK_URL"] ?? "http://127.0.0.1:8080",
  headers: { "x-ws-api-key": process.env["GRIDHOOK_API_KEY"] ?? "" },
});

// must is the answer, or an exception that says what to do.
function must<T>(answer: { data?: T; error?: Problem }): T {
  if (answer.data !== undefined) return answer.data;
  const { error_code = "UNKNOWN", message = "", recovery_action = "", field_errors = [] } = answer.error ?? {};
  const fields = field_errors.map((f) => `${f.field} ${f.message}`);
  throw new Error([`${error_code}: ${message}`, ...fields, recovery_action].join("\n"));
}

// cheapestHour is the hour of the coming day in which a kWh costs least.
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

// tellAll triggers the webhooks of all homes once, however often it is asked under one
// name, and returns how it went.
async function tellAll(name: string): Promise<components["schemas"]["TriggerProgress"]> {
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
const progress = await tellAll(name);
console.log(`${progress.walked} of ${progress.homes} homes were told:`, progress.outcomes);
