// The outcomes of a delivery, in words.
import { enums } from "./enums.js";

/**
 * words describe each outcome. tone is the name of a color in the style sheet.
 * attention says that somebody must look at it.
 */
const words = {
  DELIVERED: { label: "Delivered", tone: "good", meaning: "The receiver responded with 2xx." },
  RETRYING: { label: "Retrying", tone: "warn", meaning: "The next attempt is scheduled." },
  FAILED: { label: "Failed", tone: "bad", attention: true, meaning: "Gridhook gave up. You can retry it." },
  UNPRICEABLE: { label: "Unpriceable", tone: "bad", attention: true, meaning: "The home could not be priced. The reason says why." },
  SUPERSEDED: { label: "Superseded", tone: "calm", meaning: "A newer trigger replaced this signal." },
  EXPIRED: { label: "Expired", tone: "warn", attention: true, meaning: "The signal's window ended before it was delivered." },
  UNCHANGED: { label: "Unchanged", tone: "calm", meaning: "The endpoint receives only changed signals. This signal did not change." },
  NO_ENDPOINT: { label: "No endpoint", tone: "warn", attention: true, meaning: "The organization had no enabled endpoint." },
};

/** outcomes are all outcomes, in the order in which they are shown. */
export const outcomes = enums.Outcome.map((name) => ({ name, label: name, tone: "calm", meaning: "", ...words[name] }));

const byName = new Map(outcomes.map((o) => [o.name, o]));

/** outcome describes an outcome, even an unknown one. */
export const outcome = (name) => byName.get(name) ?? { name, label: name, tone: "calm", meaning: "" };

/** present lists the outcomes with a count above 0. */
export function present(counts) {
  const names = [...outcomes.map((o) => o.name), ...Object.keys(counts).filter((n) => !byName.has(n))];
  return names.filter((n) => counts[n] > 0).map((n) => ({ ...outcome(n), count: counts[n] }));
}

export const total = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0);

/** needsAttention keeps the counts of outcomes that somebody must look at. */
export const needsAttention = (counts) => Object.fromEntries(outcomes.filter((o) => o.attention && counts[o.name] > 0).map((o) => [o.name, counts[o.name]]));

/** settled counts the deliveries with a final outcome. */
export const settled = (counts) => total(counts) - (counts.RETRYING ?? 0);

/** sum adds up the counts of several triggers. */
export function sum(list) {
  const all = {};
  for (const counts of list) for (const [name, n] of Object.entries(counts)) all[name] = (all[name] ?? 0) + n;
  return all;
}
