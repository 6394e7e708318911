// What may become of a delivery, in words.

/** outcomes are all, in the order in which they are shown. A tone is a colour's name in the style sheet. */
export const outcomes = [
  { name: "DELIVERED", label: "Delivered", tone: "good", meaning: "The receiver answered 2xx." },
  { name: "RETRYING", label: "Retrying", tone: "warn", meaning: "The last attempt failed, and another is due." },
  { name: "FAILED", label: "Failed", tone: "bad", meaning: "Every attempt failed, and none is left." },
  { name: "UNPRICEABLE", label: "Unpriceable", tone: "bad", meaning: "The home has no price, and the reason says why." },
  { name: "SUPERSEDED", label: "Superseded", tone: "calm", meaning: "A newer signal of the home was delivered first." },
  { name: "EXPIRED", label: "Expired", tone: "calm", meaning: "The signal's own window ended before it was delivered." },
  { name: "UNCHANGED", label: "Unchanged", tone: "calm", meaning: "The endpoint wants changes alone, and nothing changed." },
  { name: "NO_ENDPOINT", label: "No endpoint", tone: "calm", meaning: "There was no enabled endpoint to deliver to." },
];

const byName = new Map(outcomes.map((o) => [o.name, o]));

/** outcome describes an outcome, one that is new to this page too. */
export const outcome = (name) => byName.get(name) ?? { name, label: name, tone: "calm", meaning: "" };

/** present lists the outcomes that counts have any of, with their counts. */
export function present(counts) {
  const names = [...outcomes.map((o) => o.name), ...Object.keys(counts).filter((n) => !byName.has(n))];
  return names.filter((n) => counts[n] > 0).map((n) => ({ ...outcome(n), count: counts[n] }));
}

export const total = (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0);

/** settled counts what will not change any more. */
export const settled = (counts) => total(counts) - (counts.RETRYING ?? 0);

/** sum adds up the counts of several triggers. */
export function sum(list) {
  const all = {};
  for (const counts of list) for (const [name, n] of Object.entries(counts)) all[name] = (all[name] ?? 0) + n;
  return all;
}
