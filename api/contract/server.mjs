// Starts a Gridhook, and a partner that receives its webhooks.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

// serve starts the binary on free ports, and returns when it is ready.
export async function serve(binary) {
  const data = await mkdtemp(join(tmpdir(), "gridhook-contract-"));
  const child = spawn(
    binary,
    ["serve", "--data", data, "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--allow-private-destinations", "--max-endpoints", "1000", "--max-channels", "1000", "--max-schedules", "1000", "--log-level", "error"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const said = {};
  for await (const line of createInterface({ input: child.stdout })) {
    const [, name, value] = /^(\S+)\s+(\S+)/.exec(line) ?? [];
    said[name] = value;
    if (name === "ready") break;
  }
  if (!said.ready) {
    throw new Error(`${binary} ended before it was ready`);
  }
  const operatorKey = (await readFile(join(data, "operator.key"), "utf8")).trim();
  return {
    url: said.API,
    adminUrl: said.admin,
    operatorKey,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      await rm(data, { recursive: true, force: true });
    },
  };
}

// flexAlert is the response of MIDAS with an alert from the next hour on.
function flexAlert() {
  const hour = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000).toISOString();
  const [date, clock] = [hour.slice(0, 10), hour.slice(11, 13)];
  return JSON.stringify({
    RateID: "USCA-FLEX-ALRT-0000", RateName: "Flex Alert Status",
    ValueInformation: [{ ValueName: "Active Flex Alert", DateStart: date, DateEnd: date, TimeStart: `${clock}:00:00`, TimeEnd: `${clock}:59:59`, value: 1, Unit: "Event" }],
  });
}

// partner receives webhooks and stores them. A path that ends in /gone responds 410. The
// path /chat takes messages to notification channels, which are no webhooks. It
// responds to the GET requests of sources as MIDAS does during a Flex Alert.
export async function partner() {
  const received = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method === "GET") return response.writeHead(200, { "content-type": "application/json" }).end(flexAlert());
      if (request.url !== "/chat") received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString("utf8")) });
      response.writeHead(request.url.endsWith("/gone") ? 410 : 204).end();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    received,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
