import { historyWords } from "/console/views/history.js";
import { equal, test } from "./harness.js";

test("historyWords sums up the hours", () => {
  const hours = [
    { outcomes: { DELIVERED: 5, FAILED: 1 }, completed: 2, slowestSeconds: 60 },
    { outcomes: {}, completed: 0, slowestSeconds: 0 },
    { outcomes: { UNPRICEABLE: 2, RETRYING: 1 }, completed: 1, slowestSeconds: 3.25 },
  ];
  equal(historyWords(hours), "9 deliveries, 3 need attention. 3 completed triggers, the slowest took 1 min.");
  equal(historyWords(hours.slice(1, 2)), "0 deliveries, 0 need attention.");
});
