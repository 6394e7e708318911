// How an endpoint does.
import { instant, plural } from "../lib/format.js";
import { badge } from "../lib/parts.js";

const states = {
  HEALTHY: { word: "Healthy", tone: "good", meaning: "The last attempt was successful." },
  FAILING: { word: "Failing", tone: "bad", meaning: "The last attempts were not successful." },
  UNKNOWN: { word: "Nothing sent yet", tone: "calm", meaning: "Nothing has been sent to it." },
};

/** healthBadge says in a word how an endpoint does. */
export function healthBadge({ health }) {
  const { word, tone, meaning } = states[health.state] ?? { word: health.state, tone: "calm", meaning: "" };
  const times = health.state === "FAILING" ? `, ${plural(health.consecutiveFailures, "attempt")}` : "";
  return badge(word + times, tone, health.lastFailure || meaning);
}

const breakers = {
  OPEN: { word: "Not tried now", tone: "bad", meaning: "Too much has failed in a row: what is due waits, until a probe is answered well." },
  HALF_OPEN: { word: "Being probed", tone: "warn", meaning: "A single attempt decides whether it is tried again." },
};

/** breakerBadge says that the workers do not try an endpoint, and is nothing where they do. */
export function breakerBadge({ breaker }) {
  const stands = breakers[breaker.state];
  return stands ? badge(stands.word, stands.tone, stands.meaning) : null;
}

const breakerWords = { CLOSED: "closed: it is tried", OPEN: "open: it is not tried", HALF_OPEN: "half open: a probe decides" };

/** healthFacts are the rest of it. */
export const healthFacts = ({ health, breaker }) => [
  ["Breaker", `${breakerWords[breaker.state] ?? breaker.state}${breaker.workers > 1 ? `, at ${plural(breaker.workers, "worker")}` : ""}`],
  ["Open since", instant(breaker.since)],
  ["Next probe", instant(breaker.nextProbeAt)],
  ["Last success", instant(health.lastSuccessAt)],
  ["Last failure", health.lastFailureAt && `${instant(health.lastFailureAt)}${health.lastFailure ? `: ${health.lastFailure}` : ""}`],
  ["Failing since", instant(health.failingSince)],
];
