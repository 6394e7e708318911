// The objects that the documented examples name: created in a server before the examples
// are sent, and found again for the identifiers in paths and bodies.

const homes = `{"resource":"organization","id":"acme","name":"Acme"}
{"resource":"ratePlan","id":"plan_1","tariff":{"name":"Flat","energyratestructure":[[{"rate":0.2}]]}}
{"resource":"ratePlan","id":"plan_2","tariff":{"name":"Flat","energyratestructure":[[{"rate":0.1}]]}}
{"resource":"home","organizationId":"acme","id":"home_1","ratePlanId":"plan_1","zipcode":"60614"}
{"resource":"hvacDevice","organizationId":"acme","deviceId":"dev_1","homeId":"home_1","coolingRate":6,"heatingRate":6,"heatTransferCoefficient":0.05}
{"resource":"userPreferences","organizationId":"acme","deviceId":"dev_1","name":"Always"}
`;

// base is the time of the examples in the document.
const base = Date.parse("2026-07-01T12:00:00Z");
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

export class World {
  constructor(server, sink) {
    this.server = server;
    this.sink = sink;
  }

  // operate calls an operation with the operator's key.
  async operate(path, body, contentType = "application/json") {
    const response = await fetch(this.server.adminUrl + path, {
      method: "POST",
      headers: { "content-type": contentType, "x-ws-api-key": this.server.operatorKey, "x-gridhook-organization": "acme" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const answer = await response.json();
    if (response.status !== 200 || answer.failed > 0) {
      throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    }
    return answer;
  }

  import(lines) {
    return this.operate("/v1/admin/import", lines, "application/x-ndjson");
  }

  async furnish() {
    await this.import(homes);
    this.key = (await this.newKey()).key;
    await this.newEndpoint("gone");
    await this.newEndpoint("");
    // No later trigger covers this window: a superseded delivery cannot be retried.
    const day = 24 * 60 * 60 * 1000;
    const startTime = new Date(Math.floor(Date.now() / day) * day).toISOString();
    const endTime = new Date(Date.parse(startTime) + 14 * day).toISOString();
    this.trigger = (await this.operate("/v1/webhook/price_signal/trigger", { startTime, endTime })).triggerId;
    await this.ended(this.trigger);
    await this.arrived("endpoint.disabled");
  }

  // forms triggers signals in batches, as OpenADR events and without prices, and fetches an alert.
  async forms() {
    await this.newEndpoint("", { batchSize: 10 });
    await this.newEndpoint("", { format: "openadr3" });
    await this.newEndpoint("", { format: "thin", homeIds: ["home_1"] });
    await this.ended((await this.operate("/v1/webhook/price_signal/trigger", {})).triggerId);
    await this.arrived("price_signal.batch");
    await this.arrived("openadr.event.updated");
    await this.arrived("price_signal.changed");
    await this.operate("/v1/admin/sources/create", { adapter: "midas", url: this.sink.url, parameters: { rin: "USCA-FLEX-ALRT-0000" }, planId: "plan_1" });
    await this.arrived("flex_alert");
  }

  // arrived waits for an event of a type. Events while an endpoint is disabled are not
  // sent later.
  async arrived(type) {
    for (let tries = 0; tries < 400; tries++) {
      if (this.sink.received.some((webhook) => webhook.body.type === type)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${type} does not come`);
  }

  newKey() {
    return this.operate("/v1/admin/keys/create", { organizationId: "acme" });
  }

  newEndpoint(path, fields = {}) {
    return this.operate("/v1/webhook/endpoints/create", { url: this.sink.url + path, ...fields });
  }

  // newRelay creates an endpoint that clients listen at.
  async newRelay() {
    return (await this.newEndpoint("", { url: "relay:listen", enabled: false })).id;
  }

  // ended waits until a trigger has walked all homes.
  async ended(trigger) {
    for (let tries = 0; tries < 200; tries++) {
      const { status } = await this.operate(`/v1/webhook/price_signal/trigger/${trigger}/get`, {});
      if (status === "COMPLETED") return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the trigger ${trigger} does not end`);
  }

  // delivery returns a failed delivery to an enabled endpoint. The 410 that failed it had
  // disabled the endpoint.
  async delivery() {
    const { data } = await this.operate("/v1/webhook/deliveries/list", { triggerId: this.trigger });
    const given = data.find((d) => d.outcome === "FAILED") ?? data[0];
    await this.operate(`/v1/webhook/endpoints/${given.endpointId}/update`, { enabled: true });
    return given.id;
  }

  async replay() {
    const { id } = await this.newEndpoint("");
    const since = new Date(Date.now() - 60 * 60 * 1000).toISOString();
    return (await this.operate(`/v1/webhook/endpoints/${id}/replay`, { since })).id;
  }

  // identifier returns an identifier for a path. If the operation may delete the object,
  // it creates a new one.
  async identifier(path) {
    const [, find] = Object.entries(identifiers)
      .filter(([prefix]) => path.startsWith(prefix))
      .sort(([a], [b]) => b.length - a.length)[0] ?? [];
    if (!find) throw new Error(`there is no identifier for ${path}: say in world.mjs what it is of`);
    return find(this);
  }

  // body returns an example that can be sent now: its times move from the document's time
  // to now, and its identifiers name existing objects.
  body(example, name = "") {
    if (Array.isArray(example)) return example.map((element) => this.body(element));
    if (example !== null && typeof example === "object") {
      return Object.fromEntries(Object.entries(example).map(([field, value]) => [field, this.body(value, field)]));
    }
    if (name === "seconds") return 1; // of a stream
    if (typeof example !== "string") return example;
    if (name === "triggerId") return this.trigger;
    if (name === "url") return this.sink.url;
    return timestamp.test(example) ? new Date(Date.now() + Date.parse(example) - base).toISOString() : example;
  }
}

// identifiers are found or created by the prefix of a path.
const identifiers = {
  "/v1/webhook/price_signal/trigger/": (w) => w.trigger,
  "/v1/webhook/deliveries/": (w) => w.delivery(),
  "/v1/webhook/endpoints/": async (w) => (await w.newEndpoint("")).id,
  "/v1/webhook/endpoints/{id}/listen": (w) => w.newRelay(),
  "/v1/webhook/endpoints/{id}/respond": (w) => w.newRelay(),
  "/v1/webhook/replays/": (w) => w.replay(),
  "/v1/webhook/schedules/": async (w) => (await w.operate("/v1/webhook/schedules/create", {})).id,
  "/v1/console/links/": async (w) => (await w.operate("/v1/console/links/create", {})).keyId,
  "/v1/channels/": async (w) => (await w.operate("/v1/channels/create", { kind: "SLACK", address: w.sink.url + "chat" })).id,
  "/v1/homes/": () => "home_1",
  "/v1/devices/hvac/": () => "dev_1",
  "/v1/admin/organizations/": () => "acme",
  "/v1/admin/organizations/{id}/delete": async (w) => {
    // A deleted identifier cannot be used again, but a deletion may be repeated.
    await (w.deleted ??= w.import(`{"resource":"organization","id":"partner","name":"Partner"}`));
    return "partner";
  },
  "/v1/admin/keys/": async (w) => (await w.newKey()).keyId,
  "/v1/admin/operator_keys/": async (w) => (await w.operate("/v1/admin/operator_keys/create", { name: "gone", role: "read" })).keyId,
  "/v1/admin/homes/": async (w) => (await w.operate("/v1/admin/homes/create", { organizationId: "acme" })).id,
  "/v1/admin/homes/{id}/import_green_button": () => "home_1",
  "/v1/admin/plans/": async (w) => {
    await w.import(`{"resource":"ratePlan","id":"plan_2","tariff":{"energyratestructure":[[{"rate":0.1}]]}}`);
    return "plan_2";
  },
  "/v1/admin/plan_events/": async (w) => {
    const [from, to] = [1, 2].map((hours) => new Date(Date.now() + hours * 60 * 60 * 1000).toISOString());
    await w.import(JSON.stringify({ resource: "planEvent", planId: "plan_1", id: "gone", kind: "PEAK_REBATE", from, to, adder: 1 }));
    return "gone";
  },
  "/v1/admin/sources/": async (w) => {
    const source = { adapter: "csv", url: w.sink.url + "prices.csv", parameters: { node: "NP15" } };
    return (await w.operate("/v1/admin/sources/create", source)).id;
  },
  "/v1/admin/market_series/": async (w) => {
    await w.import(`{"resource":"marketSeries","node":"GONE","market":"REAL_TIME","startTime":"2026-07-01T00:00:00Z","prices":[0.02]}`);
    return "REAL_TIME--GONE";
  },
  "/v1/admin/feedback/": async (w) => {
    const { data } = await w.operate("/v1/admin/feedback/list", {}); // submissions have a rate limit
    return (data[0] ?? (await w.operate("/v1/feedback", { feedback_type: "bug", summary: "s", message: "m" }))).feedback_id;
  },
  "/v1/admin/utilities/": async (w) => {
    await w.import(`{"resource":"utility","eiaId":1,"name":"One"}`);
    return "1";
  },
  "/v1/admin/demand_response/": async (w) => {
    await w.import(`{"resource":"demandResponse","eiaId":1,"programs":[]}`);
    return "1";
  },
  "/v1/admin/areas/": async (w) => {
    await w.import(`{"resource":"area","area":"IL","supported":true}`);
    return "IL";
  },
};
