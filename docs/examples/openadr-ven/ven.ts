// An OpenADR client (VEN): it requests a token, finds a program, subscribes, and reads each
// event that a callback names.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { client } from "./openadr/client.gen.js";
import { createSubscription, fetchToken, searchAllPrograms, searchEventsById } from "./openadr/sdk.gen.js";
import type { Event, Notification } from "./openadr/types.gen.js";

// The document's discriminator names no value of objectType, so the generated type of a
// notification's object has no value. This client subscribes to events.
type EventNotification = Pick<Notification, "operation"> & { object: Event };

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`set ${name}`);
  return value;
}

client.setConfig({ baseUrl: setting("OPENADR_URL"), throwOnError: true });

const { data: token } = await fetchToken({
  body: {
    grant_type: "client_credentials",
    client_id: setting("OPENADR_CLIENT_ID"),
    client_secret: setting("OPENADR_CLIENT_SECRET"),
  },
  throwOnError: true,
});
client.setConfig({ auth: () => token.access_token });

// printEvent reads the event of a notification and prints it.
async function printEvent(notification: EventNotification): Promise<void> {
  const { data: event } = await searchEventsById({ path: { eventID: notification.object.id }, throwOnError: true });
  const price = event.intervals?.[0]?.payloads[0]?.values[0];
  console.log(`${notification.operation} ${event.id} ${event.eventName ?? ""} ${price}`);
}

const bearerToken = randomUUID();
const receiver = createServer((request, response) => {
  if (request.method === "GET") {
    // The server asks a new callback to echo a value.
    response.end(new URL(request.url ?? "/", "http://localhost").searchParams.get("echo"));
    return;
  }
  if (request.headers.authorization !== `Bearer ${bearerToken}`) {
    response.writeHead(401).end();
    return;
  }
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    response.writeHead(204).end();
    printEvent(JSON.parse(body) as EventNotification).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
});
await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));

const programName = setting("OPENADR_PROGRAM");
const { data: programs } = await searchAllPrograms({ throwOnError: true });
const program = programs.find((p) => p.programName === programName);
if (!program) throw new Error(`there is no program ${programName}`);
const { data: subscription } = await createSubscription({
  body: {
    clientName: "example",
    programID: program.id,
    objectOperations: [
      {
        objects: ["EVENT"],
        operations: ["CREATE", "UPDATE"],
        callbackUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
        bearerToken,
      },
    ],
  },
  throwOnError: true,
});
console.log(`subscribed ${subscription.id}`);
