// Receives a partner's webhooks. It verifies each, processes each message once, and stores
// the newest signal of every home.
//
//   GRIDHOOK_WEBHOOK_SECRET=whsec_... ADDRESS=127.0.0.1:9090 npm start

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

const maxBody = 8 << 20; // bytes: a month of quarter hours fits

interface Signal {
  homeId: string;
  sequence: number;
  data: unknown;
}

interface Message {
  webhookId: string; // only in a batch; otherwise it is a header
  type: string;
  data: Signal;
}

interface Batch {
  type: "price_signal.batch";
  data: Message[];
}

class TooLarge extends Error {}

const secret = process.env["GRIDHOOK_WEBHOOK_SECRET"];
if (!secret || secret === "whsec_") {
  // everyone could sign with an empty secret
  console.error("set GRIDHOOK_WEBHOOK_SECRET to the secret of the endpoint");
  process.exit(1);
}
const webhook = new Webhook(secret);

// These are in memory. A real program has both in its database, and writes them in one
// transaction.
const seen = new Set<string>(); // by webhook-id
const signals = new Map<string, Signal>(); // by home

// read returns the received bytes: JSON that was decoded and encoded again differs.
async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBody) throw new TooLarge("too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// inflated returns the JSON of a body, which is gzip if the endpoint has compression. Both
// forms are signed. The library verifies text.
function inflated(body: Buffer): Buffer {
  return body[0] === 0x1f && body[1] === 0x8b ? gunzipSync(body, { maxOutputLength: maxBody }) : body;
}

// messages returns the message of a webhook, or the messages of a batch for an endpoint
// with a batchSize.
function messages(id: string, event: Message | Batch): Message[] {
  return event.type === "price_signal.batch" ? (event as Batch).data : [{ ...(event as Message), webhookId: id }];
}

function apply({ webhookId, type, data }: Message): void {
  if (seen.has(webhookId)) return; // a retry, because the response was lost
  if (type === "price_signal.updated") { // accept and ignore other types, including future ones
    const { homeId, sequence } = data;
    if (sequence > (signals.get(homeId)?.sequence ?? 0)) { // an older one may arrive later
      signals.set(homeId, data);
      console.log(`${homeId} has signal ${sequence}`);
    }
  }
  seen.add(webhookId);
}

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = inflated(await read(request));
    const headers = request.headers as Record<string, string>;
    const event = webhook.verify(body, headers) as Message | Batch;
    messages(headers["webhook-id"] ?? "", event).forEach(apply);
    response.writeHead(204).end(); // only now: Gridhook retries after any other response
  } catch (error) {
    const status = error instanceof WebhookVerificationError ? 401 : error instanceof TooLarge ? 413 : 400;
    response.writeHead(status, { "Content-Type": "text/plain" }).end(String(error));
  }
}

const server = createServer((request, response) => {
  switch (`${request.method} ${request.url?.split("?")[0]}`) {
    case "POST /hooks":
      void take(request, response);
      break;
    case "GET /signals":
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(Object.fromEntries(signals)));
      break;
    default:
      response.writeHead(404).end();
  }
});

const [host = "127.0.0.1", port = "9090"] = (process.env["ADDRESS"] ?? "127.0.0.1:9090").split(":");
server.listen(Number(port), host, () => {
  console.log(`listening on http://${host}:${(server.address() as AddressInfo).port}/hooks`);
});
