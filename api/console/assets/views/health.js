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

/** healthFacts are the rest of it. */
export const healthFacts = ({ health }) => [
  ["Last success", instant(health.lastSuccessAt)],
  ["Last failure", health.lastFailureAt && `${instant(health.lastFailureAt)}${health.lastFailure ? `: ${health.lastFailure}` : ""}`],
  ["Failing since", instant(health.failingSince)],
];
