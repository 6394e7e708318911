// Polling while the page is visible.

/** pause waits. The signal ends it early. */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}

/** visible waits until the page is visible. */
function visible(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = new AbortController();
    const done = () => {
      if (document.hidden && !signal.aborted) return;
      stop.abort();
      resolve();
    };
    document.addEventListener("visibilitychange", done, { signal: stop.signal });
    signal.addEventListener("abort", done, { signal: stop.signal });
  });
}

/**
 * poll calls ask at once and then at an interval in ms, until ask returns false or the
 * signal ends it. It reports errors, and polls less often after them.
 */
export async function poll({ signal, every, ask, failed }) {
  let wait = every;
  while (!signal.aborted) {
    await visible(signal);
    if (signal.aborted) return;
    try {
      if ((await ask()) === false) return;
      failed(null);
      wait = every;
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
      wait = Math.max(Math.min(wait * 2, 30_000), (error.retryAfter ?? 0) * 1000);
    }
    await pause(wait, signal);
  }
}
