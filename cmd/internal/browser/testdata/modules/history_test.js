import { perHour, tookWords } from "/console/views/history.js";
import { equal, test } from "./harness.js";

const now = Date.parse("2026-11-21T12:30:00Z");

test("perHour sums the outcomes of each hour", () => {
  const bars = perHour([
    { createdAt: "2026-11-21T12:10:00Z", outcomes: { DELIVERED: 5, FAILED: 1 } },
    { createdAt: "2026-11-21T12:20:00Z", outcomes: { UNPRICEABLE: 2, RETRYING: 1 } },
    { createdAt: "2026-11-20T13:00:00Z", outcomes: { NO_ENDPOINT: 4 } },
    { createdAt: "2026-11-20T12:59:59Z", outcomes: { DELIVERED: 9 } },
  ], now);
  equal(bars.length, 24);
  equal([bars[23].all, bars[23].attention], [9, 3]);
  equal([bars[0].all, bars[0].attention], [4, 4]);
  equal(bars.reduce((n, b) => n + b.all, 0), 13);
});

test("tookWords names the median and the slowest trigger", () => {
  const took = (seconds) => ({ createdAt: "2026-11-21T12:00:00Z", completedAt: new Date(Date.parse("2026-11-21T12:00:00Z") + seconds * 1000).toISOString() });
  equal(tookWords([took(3), took(1), took(60), { createdAt: "2026-11-21T12:00:00Z" }]), "3 completed triggers: median 3 s, slowest 1 min.");
  equal(tookWords([]), "");
});
