// An endpoint's settings between a form's texts and the API's JSON. Pure.

/** headersText writes one header per line. */
export const headersText = (headers) => Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n");

/** parseHeaders reads headers, one per line. It returns the first invalid line as wrong. */
export function parseHeaders(text) {
  const headers = {};
  for (const line of text.split("\n").map((l) => l.trim()).filter(Boolean)) {
    const colon = line.indexOf(":");
    if (colon <= 0) return { headers: null, wrong: line };
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return { headers, wrong: null };
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** changed returns the settings that differ from those before. */
export const changed = (before, after) => Object.fromEntries(Object.entries(after).filter(([name, value]) => !same(value, before[name])));
