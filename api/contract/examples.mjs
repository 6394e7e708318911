// Runs programs of partners against a running Gridhook, each the same way:
//
//   node examples.mjs path/to/gridhook COMMAND...
//
// Each command runs with GRIDHOOK_API_URL and GRIDHOOK_API_KEY, and with the home and a name
// for the trigger as arguments. It must succeed and print the delivery. All use the same
// trigger name, so together they make one trigger.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { partner, serve } from "./server.mjs";
import { World } from "./world.mjs";

const [binary, ...commands] = process.argv.slice(2);
const server = await serve(binary);
const sink = await partner();
let failed = commands.length === 0;
try {
  const world = new World(server, sink);
  await world.furnish();
  const before = sink.received.length;
  for (const command of commands) {
    const [program, ...words] = command.split(" ");
    const env = { ...process.env, GRIDHOOK_API_URL: server.url, GRIDHOOK_API_KEY: world.key };
    const { stdout } = await promisify(execFile)(program, [...words, "home_1", "contract"], { env, timeout: 60_000 });
    process.stdout.write(`${command}\n${stdout}`);
    failed ||= !stdout.includes("1 of 1 homes were walked") || !stdout.includes("DELIVERED");
  }
  // Later the event of the completed trigger arrives too.
  const told = sink.received.slice(before).filter((webhook) => webhook.body.type === "price_signal.updated").length;
  console.log(`${told} webhook arrived for ${commands.length} programs that asked for the same`);
  failed ||= told !== 1;
} finally {
  await sink.stop();
  await server.stop();
}
process.exit(failed ? 1 : 0);
