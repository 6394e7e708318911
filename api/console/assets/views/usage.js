// The usage of an organization. For the operator.
import { inPath } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { bytes, count } from "../lib/format.js";
import { tile } from "../lib/parts.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";

const every = 10_000;

/** usagePart shows the usage of the organization. */
export function usagePart(session, signal) {
  const problem = problemBox();
  const homes = tile("Homes");
  const endpoints = tile("Endpoints");
  const waiting = tile("Waiting triggers");
  const deliveries = tile("Deliveries", "In the delivery log.");
  const records = tile("Stored records", "With the deletions of 30 days.");
  const history = tile("Stored history", "Triggers and receipts.");
  poll({
    signal, every, failed: problem.show,
    ask: async () => {
      const u = await session.client.call(`/v1/admin/organizations/${inPath(session.organization)}/usage`, {}, { signal });
      homes.set(count(u.homes));
      endpoints.set(count(u.endpoints));
      waiting.set(count(u.waitingTriggers));
      deliveries.set(count(u.deliveries));
      records.set(bytes(u.storedBytes));
      history.set(bytes(u.historyBytes));
    },
  });
  return h("section", { "aria-labelledby": "usage" }, h("h2", { id: "usage" }, "Usage"), problem.element,
    h("dl", { class: "tiles" }, [homes, endpoints, waiting, deliveries, records, history].map((t) => t.element)));
}
