// A price signal: the chart, an interval explained, and the same as a table.
import { chart, series } from "../chart/chart.js";
import { runAt, runs } from "../chart/geometry.js";
import { changes, clock, dateOf, spoken } from "../chart/zone.js";
import { csvButton } from "../lib/csv.js";
import { facts, h, say } from "../lib/dom.js";
import { duration, instant, percent, plural, price } from "../lib/format.js";

/** signalPart returns the elements of a signal of the API. home is null if it is unknown. */
export function signalPart(answer, zone, home) {
  const intervals = answer.data.map((v) => ({ ...v, start: Date.parse(v.startTime), end: Date.parse(v.endTime) }));
  if (intervals.length === 0) return [h("p", { class: "nothing" }, "No intervals in this window.")];
  const explained = h("div", { role: "status" });
  return [
    clockWords(intervals, zone),
    chart({ intervals, zone, explain: (index) => explained.replaceChildren(explanation(index, intervals, answer.metadata, zone, home)) }),
    explained,
    source(answer.metadata),
    asTable(intervals, zone),
    csvButton("Price signal", async () => answer.data),
  ].filter(Boolean);
}

/** clockWords describe a day with a clock change. */
function clockWords(intervals, zone) {
  const found = changes(intervals.map((v) => v.start), zone);
  return found.length > 0 && h("p", { class: "notice" }, found.map(({ index, by }) => {
    const { start } = intervals[index];
    const hours = plural(Math.abs(by) / 60, "hour");
    return `On ${dateOf(start, zone)} the clocks go ${by < 0 ? "back" : "forward"} ${hours}: it is ${clock(start, zone)} ${by < 0 ? "again" : "at once"}. `;
  }), `The window has ${plural(intervals.length, "quarter hour")}.`);
}

/** holds says how long a value holds around an interval. */
function holds(index, intervals, name, zone) {
  const run = runAt(runs(intervals.map((v) => v[name])), index);
  const [first, last] = [intervals[run.from], intervals[run.to - 1]];
  const from = run.from === 0 ? "the window's start" : clock(first.start, zone);
  const to = run.to === intervals.length ? "the window's end" : clock(last.end, zone);
  return `${price(intervals[index][name])} from ${from} to ${to}, ${duration(last.end - first.start)}`;
}

const confidenceWords = (confidence) => (confidence === 1 ? "100%: it follows a published tariff that is in force."
  : `${percent(confidence, 1)}: part of it is a forecast, not in force yet, or depends on a fact that Gridhook does not know.`);

/** explanation says where the values of an interval come from. */
function explanation(index, intervals, metadata, zone, home) {
  const v = intervals[index];
  const { exportCompensation: export_ } = metadata;
  const carbon = home && home.carbonSignalIntensity !== "LOW" ? ` The home's ${home.carbonSignalIntensity} carbon intensity adds its emissions.` : "";
  say(`Explained: ${spoken(v.start, v.end, zone)}`);
  return h("section", { class: "panel", "aria-label": "The interval explained" },
    h("h3", {}, spoken(v.start, v.end, zone)),
    facts([
      ["Import", h("span", {}, holds(index, intervals, "import", zone), h("br"), h("span", { class: "hint" }, `What one more kWh drawn costs, by ${metadata.importSource}.`))],
      ["Export", h("span", {}, holds(index, intervals, "export", zone), h("br"), h("span", { class: "hint" }, `What one more kWh sent out earns: ${compensation(export_)}.`))],
      ["Price", h("span", {}, holds(index, intervals, "price", zone), h("br"), h("span", { class: "hint" }, `What a kWh is expected to be worth: between import and export, as likely as the home exports then.${carbon}`))],
      ["Confidence", confidenceWords(v.confidence)],
    ]));
}

const compensationNames = { NET_METERING: "net metering", NET_BILLING: "net billing", FEED_IN: "a feed-in rate", WHOLESALE: "the wholesale price", NONE: "nothing is paid" };

function compensation({ type, description }) {
  const name = compensationNames[type] ?? type;
  if (!description || description.toLowerCase().startsWith(name)) return (description || name).replace(/\.$/, "");
  return `${name}: ${description.replace(/\.$/, "")}`;
}

/** source is the tariff of the whole signal. */
function source({ exportCompensation: e, importSource, generatedAt, sequence }) {
  return h("section", { "aria-labelledby": "source" }, h("h2", { id: "source" }, "Where it comes from"), facts([
    ["Import", importSource],
    ["Export", compensation(e)],
    ["Published in", e.source],
    ["Rate plan", e.ratePlanId],
    ["In force", (e.effectiveFrom || e.effectiveTo) && `${e.effectiveFrom ? `from ${e.effectiveFrom}` : ""} ${e.effectiveTo ? `to ${e.effectiveTo}` : ""}`.trim()],
    ["Sequence", String(sequence)],
    ["Generated", instant(generatedAt)],
  ], "facts wide"));
}

/** asTable is the signal as a table, built when it is opened. */
function asTable(intervals, zone) {
  const place = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "The price signal in figures" });
  const details = h("details", { class: "figures" }, h("summary", {}, "The same as a table"), place);
  details.addEventListener("toggle", () => {
    if (!details.open || place.hasChildNodes()) return;
    place.append(h("table", { class: "plain" },
      h("caption", { class: "unseen" }, "The price signal, a row for each quarter hour"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, `Local time, ${zone}`), series.map((l) => h("th", { scope: "col", class: "numeric" }, l.label)), h("th", { scope: "col", class: "numeric" }, "Confidence"))),
      h("tbody", {}, intervals.map((v) => h("tr", {}, h("th", { scope: "row" }, spoken(v.start, v.end, zone)),
        series.map((l) => h("td", { class: "numeric" }, price(v[l.name]))), h("td", { class: "numeric" }, percent(v.confidence, 1)))))));
  });
  return details;
}
