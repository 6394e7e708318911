import { ago, count, duration, instant, percent, plural, price, rate, span } from "/console/lib/format.js";
import { changed, headersText, parseHeaders } from "/console/lib/settings.js";
import { outcomes, present, settled, sum, total } from "/console/lib/outcomes.js";
import { by, parse, sum as sumOf } from "/console/lib/exposition.js";
import { delta, Rates, rise } from "/console/lib/rates.js";
import { equal, test } from "./harness.js";

test("numbers read well", () => {
  equal([0, 1234567].map(count), ["0", "1,234,567"]);
  equal([plural(1, "home"), plural(2, "home"), plural(0, "home")], ["1 home", "2 homes", "0 homes"]);
  equal([0, 0.25, 12.34, 100.4, 20700].map(rate), ["0", "0.3", "12.3", "100", "20,700"]);
  equal([0.3612, 0.28468, 0.123456, -0.05, 0].map(price), ["$0.3612", "$0.28468", "$0.123456", "−$0.0500", "$0.0000"]);
});

test("a share is 0% or 100% only when it is", () => {
  equal([[0, 5], [1, 1000], [500, 1000], [999, 1000], [1000, 1000], [0, 0]].map(([a, b]) => percent(a, b)), ["0%", "<1%", "50%", ">99%", "100%", "0%"]);
});

test("durations have two units at most", () => {
  equal([0.4, 12, 1500, 10_000, 61_000, 3_600_000, 3_605_000, 90_000_000, 900_000].map(duration),
    ["0.4 ms", "12 ms", "1.5 s", "10 s", "1 min 1 s", "1 h", "1 h", "1 d 1 h", "15 min"]);
});

test("moments are relative to now, and exact in a zone", () => {
  const now = Date.parse("2026-11-21T08:00:00Z");
  equal(["2026-11-21T07:59:59.500Z", "2026-11-21T07:59:30Z", "2026-11-21T08:00:05Z"].map((m) => ago(m, now)), ["just now", "30 s ago", "in 5 s"]);
  equal(instant("2026-11-21T08:00:00.000Z", "America/Los_Angeles"), "21 Nov 2026, 00:00:00 GMT-8");
  equal(instant(null), "");
  equal(span("2026-11-21T08:00:00Z", "2026-11-22T08:00:00Z", "UTC"), "21 Nov, 08:00 – 22 Nov, 08:00 UTC");
});

test("headers survive the form", () => {
  const headers = { "X-One": "a: b", "X-Two": "" };
  equal(parseHeaders(headersText(headers)), { headers, wrong: null });
  equal(parseHeaders("\n  \n"), { headers: {}, wrong: null });
  equal(parseHeaders("X-One: 1\nnothing").wrong, "nothing");
  equal(parseHeaders(": 1").wrong, ": 1");
});

test("only what changed is sent", () => {
  equal(changed({ url: "a", headers: { a: "1" }, retryPolicy: { initialSeconds: 5 }, id: "ep" }, { url: "b", headers: { a: "1" }, retryPolicy: { initialSeconds: 6 } }),
    { url: "b", retryPolicy: { initialSeconds: 6 } });
});

test("outcomes are counted, those that are new to the page too", () => {
  const counts = { FAILED: 2, DELIVERED: 3, RETRYING: 4, PARKED: 1, EXPIRED: 0 };
  equal(present(counts).map((o) => [o.name, o.count]), [["DELIVERED", 3], ["RETRYING", 4], ["FAILED", 2], ["PARKED", 1]]);
  equal([total(counts), settled(counts), outcomes.length], [10, 6, 8]);
  equal(sum([{ DELIVERED: 1 }, { DELIVERED: 2, FAILED: 1 }, {}]), { DELIVERED: 3, FAILED: 1 });
});

test("the metrics' text is read", () => {
  const samples = parse([
    "# HELP gridhook_deliveries_total Outcomes reached.", "# TYPE gridhook_deliveries_total counter",
    'gridhook_deliveries_total{outcome="DELIVERED"} 15', 'gridhook_deliveries_total{outcome="FAILED"} 1.5e+02 1700000000',
    'odd{a="x\\"},y",b="\\\\"} +Inf', "gridhook_queue_slices 3", "no number", "",
  ].join("\n"));
  equal(by(samples, "gridhook_deliveries_total", "outcome"), { DELIVERED: 15, FAILED: 150 });
  equal(samples[2], { name: "odd", labels: { a: 'x"},y', b: "\\" }, value: Infinity });
  equal([sumOf(samples, "gridhook_queue_slices"), sumOf(samples, "nothing")], [3, null]);
});

test("rates count what is new", () => {
  const t = (triggerId, createdAt, outcomes) => ({ triggerId, createdAt, outcomes });
  const before = [t("b", "2026-01-02", { DELIVERED: 5, RETRYING: 2 }), t("a", "2026-01-01", { DELIVERED: 9 })];
  equal(delta(before, [t("c", "2026-01-03", { DELIVERED: 4, RETRYING: 1 }), t("b", "2026-01-02", { DELIVERED: 6, FAILED: 1 })]), 6);
  equal(delta(before, [before[0], t("0", "2025-12-31", { DELIVERED: 100 })]), 0);
  equal([rise(3, 10), rise(10, 3)], [7, 3]);
  const rates = new Rates(2);
  for (const [more, at] of [[99, 0], [10, 1000], [20, 2000], [30, 4000]]) rates.add(more, at);
  equal([rates.values, rates.now, rates.peak], [[20, 15], 17.5, 20]);
});
