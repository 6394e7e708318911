// Rates from counts that are sampled from time to time. Pure, except for the samples in
// a Rates.
import { settled } from "./outcomes.js";

/** delta returns how many deliveries were settled between two lists of triggers. */
export function delta(older, newer) {
  const before = new Map(older.map((t) => [t.triggerId, settled(t.outcomes)]));
  const seenUntil = older.reduce((latest, t) => (t.createdAt > latest ? t.createdAt : latest), "");
  let more = 0;
  for (const t of newer) {
    // An older trigger that appears only now does not count.
    if (before.has(t.triggerId)) more += Math.max(0, settled(t.outcomes) - before.get(t.triggerId));
    else if (t.createdAt > seenUntil) more += settled(t.outcomes);
  }
  return more;
}

/** rise returns the increase of a counter. A restarted counter began at 0. */
export const rise = (before, after) => (after >= before ? after - before : after);

/** Rates stores the last rates of a count. */
export class Rates {
  constructor(keep = 60) {
    this.keep = keep;
    this.values = [];
    this.at = null;
  }

  /** add adds the increase since the last sample, at a time in ms. */
  add(more, at) {
    if (this.at !== null && at > this.at) {
      this.values.push((more * 1000) / (at - this.at));
      if (this.values.length > this.keep) this.values.shift();
    }
    this.at = at;
  }

  /** now returns the rate, smoothed over the last samples. */
  get now() {
    const last = this.values.slice(-3);
    return last.length === 0 ? 0 : last.reduce((a, b) => a + b, 0) / last.length;
  }

  get peak() {
    return this.values.reduce((a, b) => Math.max(a, b), 0);
  }
}
