// The smallest of harnesses: tests that run one after another in a page.
const tests = [];

export const test = (name, run) => tests.push({ name, run });

/** equal compares values as JSON shows them. */
export function equal(got, want) {
  const [a, b] = [got, want].map((v) => JSON.stringify(v, (_, x) => (typeof x === "number" && !Number.isFinite(x) ? String(x) : x)));
  if (a !== b) throw new Error(`got ${a}, want ${b}`);
}

/** outcome runs all and resolves to the names of the tests, and what failed. */
export async function outcome() {
  const failed = [];
  for (const { name, run } of tests) {
    try {
      await run();
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    }
  }
  return { ran: tests.length, failed };
}
