import { windowOf } from "/console/views/home.js";
import { equal, test } from "./harness.js";

test("31 days are never longer than the API's longest window", () => {
  const of = (day, days, zone = "America/Los_Angeles") => Object.values(windowOf({ zone, day, days }));
  equal(of("2026-10-15", 31), ["2026-10-15T07:00:00.000Z", "2026-11-15T07:00:00.000Z"]); // the clocks go back on 1 November
  equal(of("2026-11-01", 1), ["2026-11-01T07:00:00.000Z", "2026-11-02T08:00:00.000Z"]);
  equal(of("2026-02-20", 31), ["2026-02-20T08:00:00.000Z", "2026-03-23T07:00:00.000Z"]); // the clocks go forward on 8 March
  equal(windowOf({ zone: "UTC", day: "", days: 31 }), {});
});
