// Calls every operation of the OpenAPI documents of a running Gridhook with a stock
// client (openapi-fetch). Validates each response and each received webhook against its
// schema (ajv, JSON Schema 2020-12):
//
//   node drive.mjs path/to/gridhook
//
// It fails if anything differs from the document, if a list was never seen with an
// element, or if an operation or a webhook of the document was not seen.

import createClient from "openapi-fetch";
import { Document } from "./document.mjs";
import { partner, serve } from "./server.mjs";
import { World } from "./world.mjs";

const failures = [];
const fail = (where, problems) => problems.forEach((p) => failures.push(`${where}: ${p}`));

// Driver calls the operations of one document.
class Driver {
  constructor(world, audience, url, headers, document) {
    Object.assign(this, { world, audience, headers, document });
    this.client = createClient({ baseUrl: url });
    this.counts = { answered: 0, refused: 0 };
    this.met = new Set();
    this.listed = new Map(); // by operation, whether a list had anything in it
  }

  // send sends a request and validates the response.
  async send(operation, body, { id, headers = this.headers, contentType = operation.mediaType ?? "application/json" } = {}) {
    const path = operation.identified ? { id: id ?? (await this.world.identifier(operation.path)) } : {};
    const { data, error, response } = await this.client.POST(operation.path, {
      params: { path },
      headers: { ...headers, "content-type": body === undefined ? undefined : contentType },
      body,
      bodySerializer: (value) => (typeof value === "string" ? value : JSON.stringify(value)),
      parseAs: "text",
    });
    const [first] = (data ?? JSON.stringify(error)).split("\n"); // of a stream
    const answer = JSON.parse(first);
    const where = `${this.audience} ${operation.name}`;
    fail(`${where} answered ${response.status}`, operation.problems(response.status, answer));
    if (!response.headers.get("x-request-id")) fail(where, ["the header X-Request-Id is missing"]);
    if (response.status === 200) {
      this.counts.answered++;
      if (Array.isArray(answer.data)) this.listed.set(operation.name, this.listed.get(operation.name) || answer.data.length > 0);
    } else {
      this.counts.refused++;
    }
    return { status: response.status, answer };
  }

  // succeed sends the documented example, which must get 200.
  async succeed(operation) {
    const example = operation.mediaType === "application/x-ndjson" ? operation.example : this.world.body(operation.example);
    const { status, answer } = await this.send(operation, example);
    if (status === 200 && !(answer.failed > 0)) {
      this.met.add(operation.name);
    } else {
      fail(`${this.audience} ${operation.name}`, [`the example is answered ${status} ${JSON.stringify(answer)}`]);
    }
  }

  // least sends only the required fields. It may fail, for example because the object
  // exists.
  async least(operation) {
    if ((operation.mediaType ?? "application/json") !== "application/json") return;
    const example = this.world.body(operation.example ?? {});
    await this.send(operation, Object.fromEntries(operation.required.map((name) => [name, example[name]])));
  }

  // refuse sends an invalid request, which must get the given status.
  async refuse(operation) {
    const cases = [
      ["a text that is no JSON", 400, "{", {}],
      ["another media type", 415, "{}", { contentType: "text/plain" }],
    ];
    if (operation.mediaType === "application/x-ndjson") cases.shift(); // a bad line is reported, not refused
    else cases.push(["an unknown field", 400, { bogus: 1 }, {}]);
    if (!operation.open) {
      const { "x-ws-api-key": _, ...without } = this.headers;
      cases.push(["no key", 401, {}, { headers: without }], ["a wrong key", 401, {}, { headers: { ...this.headers, "x-ws-api-key": "ghk_key_1_00" } }]);
    }
    if (operation.identified) cases.push(["an identifier that is none", 400, undefined, { id: "a.b" }]);
    for (const [what, want, body, how] of cases) {
      const { status } = await this.send(operation, body, how);
      if (status !== want) fail(`${this.audience} ${operation.name}`, [`${what} is answered ${status}, not ${want}`]);
    }
  }

  async drive() {
    // Operations that end something come last, all others in the document's order.
    const ends = (operation) => /^(delete|revoke)/.test(operation.name);
    const inOrder = this.document.operations.toSorted((a, b) => ends(a) - ends(b));
    for (const operation of inOrder) {
      await this.succeed(operation);
      await this.least(operation);
      await this.refuse(operation);
    }
    for (const operation of this.document.operations) {
      if (!this.met.has(operation.name)) fail(this.audience, [`${operation.name} was not met`]);
      if (this.listed.get(operation.name) === false) fail(this.audience, [`${operation.name} never listed anything`]);
    }
    console.log(
      `${this.audience}: ${this.met.size} of ${this.document.operations.length} operations met; ` +
        `${this.counts.answered} answers and ${this.counts.refused} refusals held against their schemas`,
    );
  }
}

async function documentAt(url) {
  const response = await fetch(`${url}/openapi.json`);
  return new Document(await response.json());
}

// holdWebhooks validates the received webhooks.
function holdWebhooks(document, received) {
  const seen = new Map();
  for (const webhook of received) {
    fail(`webhook ${webhook.body.type}`, document.webhookProblems(webhook));
    seen.set(webhook.body.type, (seen.get(webhook.body.type) ?? 0) + 1);
  }
  for (const event of document.webhooks) {
    if (!seen.has(event)) fail("webhooks", [`${event} is documented and never arrived`]);
  }
  console.log(`webhooks: ${[...seen].map(([event, n]) => `${n} ${event}`).join(", ")}`);
}

const binary = process.argv[2];
if (!binary) {
  console.error("usage: node drive.mjs path/to/gridhook");
  process.exit(2);
}
// Each audience has its own server with a new data folder.
for (const audience of ["partner", "operator"]) {
  const server = await serve(binary);
  const sink = await partner();
  try {
    const world = new World(server, sink);
    await world.furnish();
    await world.forms();
    const isPartner = audience === "partner";
    const url = isPartner ? server.url : server.adminUrl;
    const headers = isPartner ? { "x-ws-api-key": world.key } : { "x-ws-api-key": server.operatorKey, "x-gridhook-organization": "acme" };
    const document = await documentAt(url);
    await new Driver(world, audience, url, headers, document).drive();
    holdWebhooks(document, sink.received);
  } finally {
    await sink.stop();
    await server.stop();
  }
}
if (failures.length > 0) {
  console.error(`${failures.length} failures:\n  ${[...new Set(failures)].join("\n  ")}`);
  process.exit(1);
}
