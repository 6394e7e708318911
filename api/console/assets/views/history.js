// The last 24 hours: deliveries per hour, and how long triggers took.
import { h, s } from "../lib/dom.js";
import { count, duration, ownZone, plural } from "../lib/format.js";
import { needsAttention, sum, total } from "../lib/outcomes.js";

const hour = 3_600_000;
const hours = 24;

/** perHour sums the outcomes of triggers by the hour of their creation, oldest first. Pure. */
export function perHour(triggers, now) {
  const first = Math.floor(now / hour) - hours + 1;
  return Array.from({ length: hours }, (_, i) => {
    const counts = sum(triggers.filter((t) => Math.floor(Date.parse(t.createdAt) / hour) === first + i).map((t) => t.outcomes));
    return { start: (first + i) * hour, all: total(counts), attention: total(needsAttention(counts)) };
  });
}

/** tookWords says how long the completed triggers took, from their creation to their last outcome. Pure. */
export function tookWords(triggers) {
  const took = triggers.filter((t) => t.completedAt).map((t) => Date.parse(t.completedAt) - Date.parse(t.createdAt)).sort((a, b) => a - b);
  if (took.length === 0) return "";
  return `${plural(took.length, "completed trigger")}: median ${duration(took[Math.floor((took.length - 1) / 2)])}, slowest ${duration(took.at(-1))}.`;
}

/** historyPart shows the triggers of the last 24 hours. */
export function historyPart() {
  const place = h("div");
  const words = h("p", { class: "hint" });

  function update(triggers) {
    const now = Date.now();
    const day = triggers.filter((t) => now - Date.parse(t.createdAt) < hours * hour);
    const bars = perHour(day, now);
    place.replaceChildren(barsOf(bars));
    const all = bars.reduce((n, b) => n + b.all, 0);
    const attention = bars.reduce((n, b) => n + b.attention, 0);
    words.textContent = `${plural(all, "delivery", "deliveries")}, ${count(attention)} need attention. ${tookWords(day)}`;
  }

  return {
    element: h("section", { "aria-labelledby": "history" }, h("h2", { id: "history" }, "Last 24 hours"),
      h("p", { class: "hint" }, `Deliveries per hour, by the time of their trigger (${ownZone()}).`), place, words),
    update,
  };
}

function barsOf(bars) {
  const top = Math.max(1, ...bars.map((b) => b.all));
  const width = 100 / bars.length;
  const clock = (moment) => new Date(moment).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return s("svg", { class: "history", viewBox: "0 0 100 31", preserveAspectRatio: "none", role: "img", "aria-label": `Deliveries per hour: at most ${count(top)}` },
    s("line", { class: "axis", x1: 0, x2: 100, y1: 30.5, y2: 30.5 }),
    bars.map((b, i) => {
      const high = (b.all / top) * 29;
      const bad = (b.attention / top) * 29;
      const x = i * width + width * 0.1;
      return s("g", {}, s("title", {}, `${clock(b.start)}: ${count(b.all)}, ${count(b.attention)} need attention`),
        s("rect", { class: "bar good", x, width: width * 0.8, y: 30 - high, height: high - bad }),
        s("rect", { class: "bar bad", x, width: width * 0.8, y: 30 - bad, height: bad }));
    }));
}
