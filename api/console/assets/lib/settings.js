// An endpoint's settings between a form's texts and the API's JSON. Pure.

/** headersText writes headers as a line each. */
export const headersText = (headers) => Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`).join("\n");

/** parseHeaders reads them again. A line that is none is returned as wrong. */
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

/** changed keeps of the settings what differs from what there is. */
export const changed = (before, after) => Object.fromEntries(Object.entries(after).filter(([name, value]) => !same(value, before[name])));
