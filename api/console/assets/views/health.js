// The health of an endpoint.
import { instant, plural } from "../lib/format.js";
import { badge } from "../lib/parts.js";

const states = {
  HEALTHY: { word: "Healthy", tone: "good", meaning: "The last attempt succeeded." },
  FAILING: { word: "Failing", tone: "bad", meaning: "The last attempts failed." },
  UNKNOWN: { word: "Nothing sent yet", tone: "calm", meaning: "Gridhook has sent nothing to it yet." },
};

/** healthBadge is the health in one word. */
export function healthBadge({ health }) {
  const { word, tone, meaning } = states[health.state] ?? { word: health.state, tone: "calm", meaning: "" };
  const times = health.state === "FAILING" ? `, ${plural(health.consecutiveFailures, "attempt")}` : "";
  return badge(word + times, tone, health.lastFailure || meaning);
}

const breakers = {
  OPEN: { word: "Breaker open", tone: "bad", meaning: "Too many attempts failed in a row. Deliveries wait until a probe succeeds." },
  HALF_OPEN: { word: "Probing", tone: "warn", meaning: "One attempt decides whether the breaker closes." },
};

/** breakerBadge says that the breaker is not closed. It is null if it is closed. */
export function breakerBadge({ breaker }) {
  const stands = breakers[breaker.state];
  return stands ? badge(stands.word, stands.tone, stands.meaning) : null;
}

const breakerWords = { CLOSED: "closed: deliveries are sent", OPEN: "open: deliveries wait", HALF_OPEN: "half open: a probe decides" };

/** healthFacts are the details of the health. */
export const healthFacts = ({ health, breaker }) => [
  ["Breaker", `${breakerWords[breaker.state] ?? breaker.state}${breaker.workers > 1 ? `, on ${plural(breaker.workers, "worker")}` : ""}`],
  ["Open since", instant(breaker.since)],
  ["Next probe", instant(breaker.nextProbeAt)],
  ["Last success", instant(health.lastSuccessAt)],
  ["Last failure", health.lastFailureAt && `${instant(health.lastFailureAt)}${health.lastFailure ? `: ${health.lastFailure}` : ""}`],
  ["Failing since", instant(health.failingSince)],
];
