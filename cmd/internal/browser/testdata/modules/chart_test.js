import { apart, bands, indexAt, niceTicks, runAt, runs, scale, steps, timeTicks } from "/console/chart/geometry.js";
import { abbreviation, addDays, changes, clock, dateOf, isZone, midnight, spoken, wall } from "/console/chart/zone.js";
import { equal, test } from "./harness.js";

const pacific = "America/Los_Angeles";
const iso = (ms) => new Date(ms).toISOString();
const quarter = 15 * 60_000;

/** day lists the quarter hours of a local day. */
function day(date, zone) {
  const starts = [];
  for (let at = midnight(date, zone); at < midnight(addDays(date, 1), zone); at += quarter) starts.push(at);
  return starts;
}

test("a local day begins where its clocks say so", () => {
  equal(iso(midnight("2026-11-01", pacific)), "2026-11-01T07:00:00.000Z");
  equal(iso(midnight("2026-11-02", pacific)), "2026-11-02T08:00:00.000Z");
  equal(iso(midnight("2026-06-01", "Asia/Kolkata")), "2026-05-31T18:30:00.000Z");
  equal(iso(midnight("2026-06-01", "Pacific/Kiritimati")), "2026-05-31T10:00:00.000Z");
  equal(iso(midnight("2026-06-01", "Pacific/Pago_Pago")), "2026-06-01T11:00:00.000Z");
  // There is no midnight on this day in Santiago: it begins at one.
  equal([iso(midnight("2026-09-06", "America/Santiago")), clock(midnight("2026-09-06", "America/Santiago"), "America/Santiago")], ["2026-09-06T04:00:00.000Z", "01:00"]);
});

test("days of changed clocks are longer and shorter", () => {
  equal(["2026-03-08", "2026-11-01", "2026-07-01"].map((d) => day(d, pacific).length), [92, 100, 96]);
  equal(day("2026-10-04", "Australia/Lord_Howe").length, 94); // by half an hour
  equal(changes(day("2026-11-01", pacific), pacific), [{ index: 8, by: -60 }]);
  equal(changes(day("2026-03-08", pacific), pacific), [{ index: 8, by: 60 }]);
  equal(changes(day("2026-07-01", pacific), pacific), []);
});

test("walls show the hour that comes twice by two names", () => {
  const starts = day("2026-11-01", pacific);
  equal([starts[4], starts[8]].map((ms) => `${clock(ms, pacific)} ${abbreviation(ms, pacific)}`), ["01:00 PDT", "01:00 PST"]);
  equal(spoken(starts[99], starts[99] + quarter, pacific), "Sun 1 Nov, 23:45 – 00:00 PST");
  const w = wall(starts[0], pacific);
  equal([w.year, w.month, w.day, w.hour, w.minute, w.weekday, w.monthName, w.offset / 3_600_000], [2026, 11, 1, 0, 0, "Sun", "Nov", -7]);
  equal(["Sep", "May"], [wall(Date.parse("2026-09-05T12:00Z"), "UTC"), wall(Date.parse("2026-05-05T12:00Z"), "UTC")].map((x) => x.monthName));
});

test("dates are moved by days, whatever the clocks", () => {
  equal([addDays("2026-10-31", 1), addDays("2026-11-01", 1), addDays("2026-01-01", -1), addDays("2028-02-28", 1)], ["2026-11-01", "2026-11-02", "2025-12-31", "2028-02-29"]);
  equal(dateOf(Date.parse("2026-11-01T06:59:00Z"), pacific), "2026-10-31");
  equal([isZone(pacific), isZone("Mars/Olympus"), isZone(""), isZone(undefined)], [true, false, false, false]);
});

test("ticks stand at local hours", () => {
  const labels = (date, width) => timeTicks(day(date, pacific), pacific, width).map((t) => t.label);
  equal(labels("2026-07-01", 300), ["00:00", "06:00", "12:00", "18:00"]);
  const hours = labels("2026-11-01", 1250);
  equal([hours.length, hours.filter((l) => l === "01:00").length], [25, 2]);
  equal(labels("2026-03-08", 1250).includes("02:00"), false);
  equal(timeTicks(day("2026-11-01", pacific), pacific, 300).map((t) => t.index), [0, 28, 52, 76]);
  const week = Array.from({ length: 7 * 96 }, (_, i) => Date.parse("2026-07-01T00:00Z") + i * quarter);
  equal(timeTicks(week, "UTC", 330).map((t) => t.label), ["1 Jul", "2 Jul", "3 Jul", "4 Jul", "5 Jul", "6 Jul", "7 Jul"]);
  equal(timeTicks(week, "UTC", 150).map((t) => t.label), ["1 Jul", "4 Jul", "7 Jul"]);
  equal(timeTicks(week, "UTC", 900).filter((t) => t.day).map((t) => t.day)[1], "Thu 2 Jul");
});

test("labels keep apart", () => {
  equal(apart([0, 30, 45, 100], (t) => t, 40), [0, 45, 100]);
});

test("values have round ticks around them", () => {
  equal(niceTicks(0, 0.32), [0, 0.1, 0.2, 0.3, 0.4]);
  equal(niceTicks(-0.03, 0.25, 5), [-0.1, 0, 0.1, 0.2, 0.3]);
  equal(niceTicks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  equal(niceTicks(0, 0.01).at(-1) >= 0.01, true);
});

test("scales map ends to ends, and a point to the beginning", () => {
  const s = scale([0, 10], [100, 0]);
  equal([s(0), s(5), s(10)], [100, 50, 0]);
  equal(scale([3, 3], [7, 9])(3), 7);
});

test("steps go up and down at the edges, and along between", () => {
  const y = (v) => v * 10;
  equal(steps([1, 1, 2, 1], [0, 5, 10, 15, 20], y), "M0 10H10V20H15V10H20");
  equal(steps([3], [0, 5], y), "M0 30H5");
  equal(steps([], [0], y), "");
});

test("runs cover everything once", () => {
  const values = [1, 1, 2, 2, 2, 1];
  equal(runs(values), [{ from: 0, to: 2, value: 1 }, { from: 2, to: 5, value: 2 }, { from: 5, to: 6, value: 1 }]);
  equal(runAt(runs(values), 4), { from: 2, to: 5, value: 2 });
  equal(bands(values).map((b) => b.depth), [0, 1, 0]);
  equal([bands([1, 1]), bands([1, 2, 3, 4, 5, 6, 7])], [[], []]);
});

test("a place along the axis is an interval, at the ends too", () => {
  equal([-5, 10, 10.9, 59, 60, 99].map((px) => indexAt(px, 10, 60, 5)), [0, 0, 0, 4, 4, 4]);
});
