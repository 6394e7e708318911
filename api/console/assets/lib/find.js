// The search by any identifier.
import { inPath } from "./api.js";

/** prefixes are the views of identifiers that Gridhook makes. */
const prefixes = { trg: "triggers", ep: "endpoints", msg: "deliveries" };

/** find returns the address of the object with an identifier, or of the list of homes that a text fits. */
export async function find(client, text, signal) {
  const view = prefixes[/^([a-z]+)_[\w-]+$/.exec(text)?.[1]];
  if (view) return `/${view}/${text}`;
  const { data } = await client.call("/v1/homes/list", { search: text, limit: 100 }, { signal });
  if (data.some((home) => home.id === text)) return `/homes/${text}`;
  if (data.length === 0 && /^[\w-]+$/.test(text)) {
    try {
      await client.call(`/v1/devices/hvac/${inPath(text)}/get`, {}, { signal });
      return `/devices/${text}`;
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }
  return data.length === 1 ? `/homes/${data[0].id}` : `/homes?search=${encodeURIComponent(text)}`;
}
