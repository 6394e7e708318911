// The last 24 hours: deliveries per hour, and how long triggers took.
import { h, s } from "../lib/dom.js";
import { count, duration, ownZone, plural } from "../lib/format.js";
import { needsAttention, sum, total } from "../lib/outcomes.js";
import { poll } from "../lib/poll.js";
import { problemBox } from "../lib/problem.js";

/** historyWords sums up a history. Pure. */
export function historyWords(hours) {
  const outcomes = sum(hours.map((o) => o.outcomes));
  const words = `${plural(total(outcomes), "delivery", "deliveries")}, ${count(total(needsAttention(outcomes)))} need attention.`;
  const completed = hours.reduce((n, o) => n + o.completed, 0);
  if (completed === 0) return words;
  const slowest = Math.max(...hours.map((o) => o.slowestSeconds));
  return `${words} ${plural(completed, "completed trigger")}, the slowest took ${duration(slowest * 1000)}.`;
}

/** historyPart shows the history of the organization, or of all organizations. */
export function historyPart(session, signal, { name, title, every, forOrganization }) {
  const problem = problemBox();
  const charts = h("div", { class: "history" });
  const words = h("p", { class: "hint" });
  poll({
    signal, every, failed: problem.show,
    ask: async () => {
      const { hours } = await session.client.call("/v1/webhook/deliveries/history", {}, { signal, forOrganization });
      charts.replaceChildren(
        bars(hours, "Deliveries per hour", {
          tone: "good", value: (o) => total(o.outcomes), bad: (o) => total(needsAttention(o.outcomes)), show: count,
          words: (o) => `${count(total(o.outcomes))}, ${count(total(needsAttention(o.outcomes)))} need attention`,
        }),
        bars(hours, "Time of the slowest trigger", {
          tone: "calm", value: (o) => o.slowestSeconds, bad: () => 0, show: seconds,
          words: (o) => (o.completed === 0 ? "no completed trigger" : `${seconds(o.slowestSeconds)}, median ${seconds(o.medianSeconds)}`),
        }));
      words.textContent = historyWords(hours);
    },
  });
  return h("section", { "aria-labelledby": name }, h("h2", { id: name }, title), problem.element,
    h("p", { class: "hint" }, `By the hour of the trigger (${ownZone()}).`), charts, words);
}

const seconds = (s) => duration(s * 1000);

/** bars draws a bar for each hour. Its lower part is what is bad. */
function bars(hours, title, { tone, value, bad, show, words }) {
  const top = Math.max(...hours.map(value));
  const scale = 29 / (top || 1);
  const width = 100 / hours.length;
  const clock = (time) => new Date(time).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const bar = (i, kind, height, below) => s("rect", { class: `bar ${kind}`, x: (i + 0.1) * width, width: 0.8 * width, y: 30 - height - below, height });
  const name = `${title}, at most ${show(top)}`;
  return h("figure", {}, h("figcaption", { class: "hint" }, name),
    s("svg", { viewBox: "0 0 100 31", preserveAspectRatio: "none", role: "img", "aria-label": name },
      s("line", { class: "axis", x1: 0, x2: 100, y1: 30.5, y2: 30.5 }),
      hours.map((o, i) => {
        const low = bad(o) * scale;
        return s("g", {}, s("title", {}, `${clock(o.startTime)}: ${words(o)}`), bar(i, tone, value(o) * scale - low, low), bar(i, "bad", low, 0));
      })));
}
