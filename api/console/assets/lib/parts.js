// Small things that several views show.
import { h, s } from "./dom.js";
import { ago, count, duration, instant, percent, plural, rate, span } from "./format.js";
import { outcome, present, total } from "./outcomes.js";

/** badge is a word in a color. The color never says anything alone. */
export const badge = (word, tone, title) => h("span", { class: `badge ${tone}`, title }, word);

export const outcomeBadge = (name) => {
  const o = outcome(name);
  return badge(o.label, o.tone, o.meaning);
};

const statusTones = { ACCEPTED: "calm", RUNNING: "warn", COMPLETED: "good" };
const statusWords = { ACCEPTED: "Accepted", RUNNING: "Running", COMPLETED: "Completed" };

export const statusBadge = (status) => badge(statusWords[status] ?? status, statusTones[status] ?? "calm");

/** subject is what a trigger sends: the price signals of a window, or an OpenADR object. */
export const subject = ({ notification: n, startTime, endTime }) => (n ? `OpenADR ${n.objectType} ${n.objectId}` : span(startTime, endTime));

/** when shows how long ago a moment was. A tooltip has the exact time. */
export const when = (moment) => moment && h("time", { datetime: moment, title: instant(moment) }, ago(moment, Date.now()));

/** refreshTimes updates every relative time on the page. */
export function refreshTimes() {
  for (const time of document.querySelectorAll("main time")) time.textContent = ago(time.dateTime, Date.now());
}

/** walkedNoun names what a trigger walks. */
export const walkedNoun = (trigger) => (trigger.notification ? "subscription" : "home");

/** walkBar shows how many homes or subscriptions a trigger has walked. */
export function walkBar(trigger) {
  const { walked, homes } = trigger;
  const noun = walkedNoun(trigger);
  const done = trigger.status === "COMPLETED" || walked === homes;
  const words = done ? plural(walked, noun) : `${count(walked)} of ${plural(homes, noun)}, ${percent(walked, homes)}`;
  return h("span", { class: "walk" },
    h("progress", { max: Math.max(homes, 1), value: done ? Math.max(homes, 1) : walked, "aria-label": `Walked: ${words}` }),
    h("span", { class: "walk-words" }, words));
}

/** outcomeBar is one bar with the share of each outcome. The words stand beside it. */
export function outcomeBar(counts) {
  const all = total(counts);
  let x = 0;
  return s("svg", { class: "outcome-bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    s("rect", { class: "bar-empty", width: 100, height: 6 }),
    present(counts).map((o) => {
      const width = (o.count / all) * 100;
      const part = s("rect", { class: `bar ${o.tone}`, x, width, height: 6 });
      x += width;
      return part;
    }));
}

/** outcomeWords are the counts of outcomes as badges. Without any, none is the text. */
export const outcomeWords = (counts, none = "none yet") => {
  const any = present(counts);
  return any.length === 0 ? h("span", { class: "hint" }, none)
    : h("span", { class: "badges" }, any.map((o) => badge(`${count(o.count)} ${o.label.toLowerCase()}`, o.tone, o.meaning)));
};

/** sparkline draws the last rates, the newest at the right. */
export function sparkline(rates, label) {
  const { values, keep, peak } = rates;
  const top = Math.max(peak, 1);
  const at = (i) => ((keep - values.length + i) / keep) * 100;
  const path = values.map((v, i) => `${i === 0 ? "M" : "L"}${at(i).toFixed(2)} ${(30 - (v / top) * 28).toFixed(2)}`).join("");
  return s("svg", { class: "spark", viewBox: "0 0 100 31", preserveAspectRatio: "none", role: "img", "aria-label": `${label}: now ${rate(rates.now)}, at most ${rate(peak)} a second` },
    s("line", { class: "axis", x1: 0, x2: 100, y1: 30.5, y2: 30.5 }),
    path && s("path", { d: path }));
}

/** tile is a figure with its name and meaning. */
export function tile(name, hint) {
  const figure = h("span", { class: "figure" }, "–");
  const below = h("div", { class: "below" });
  return {
    element: h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, figure, below, hint && h("p", { class: "hint" }, hint))),
    set(value, ...more) {
      figure.textContent = value;
      below.replaceChildren(...more);
    },
  };
}

/** lastAnswer is the response to the last attempt of a delivery, if it has an attempt. */
export function lastAnswer(d) {
  if (d.status) return `${d.status}`;
  return d.durationMs ? "no response" : "";
}

/** took is the duration of a delivery's last attempt. */
export const took = (d) => (d.durationMs ? duration(d.durationMs) : "");
