// The session of the signed-in user. Only this tab stores it.
import { Client } from "./api.js";

const item = "gridhook.session";

/** operator is whether this listener is the operator's. */
export const operator = document.documentElement.dataset.audience === "operator";

/** load returns the session of this tab, or null. */
export function load() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(item));
    return kept?.key ? session(kept) : null;
  } catch {
    return null;
  }
}

/** session is a key, its organization and its scopes. */
export function session({ key, organization = "", scopes = [] }) {
  return { key, organization, scopes, client: new Client({ key, organization }), may: (scope) => scopes.includes(scope) };
}

/** save stores the session. A frame of another site may have no storage: then the session ends with the page. */
export function save({ key, organization, scopes }) {
  try {
    sessionStorage.setItem(item, JSON.stringify({ key, organization, scopes }));
  } catch {
    // The page keeps it.
  }
}

export function forget() {
  try {
    sessionStorage.removeItem(item);
  } catch {
    // Nothing is stored.
  }
}

/** scopesOf returns the scopes of a key. An operator key has those that its role includes. */
export async function scopesOf(client) {
  const [read, write, trigger] = await Promise.all([
    client.may("/v1/webhook/deliveries/list"),
    client.may("/v1/webhook/endpoints/create"),
    client.may("/v1/webhook/price_signal/trigger"),
  ]);
  return [read && "read", write && "write", trigger && "trigger"].filter(Boolean);
}

/** named is the name of the signed-in user. It never contains the key's secret. */
export function named({ key, organization }) {
  if (organization) return organization;
  const id = /^ghk_(.+)_[^_]+$/.exec(key);
  return id ? id[1] : "this key";
}
