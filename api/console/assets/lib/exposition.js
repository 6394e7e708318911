// Prometheus' text exposition of counters and gauges. Pure.

const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** parse returns the samples: {name, labels, value}. It skips other lines. */
export function parse(text) {
  const samples = [];
  for (const row of text.split("\n")) {
    const m = row.startsWith("#") ? null : line.exec(row);
    if (!m) continue;
    const labels = {};
    for (const [, name, value] of (m[2] ?? "").matchAll(label)) {
      labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    }
    samples.push({ name: m[1], labels, value: Number(m[3].replace("Inf", "Infinity")) });
  }
  return samples;
}

/** by maps the values of one label to the sums of a metric's samples. */
export function by(samples, name, labelName) {
  const sums = {};
  for (const s of samples) {
    if (s.name === name) sums[s.labels[labelName]] = (sums[s.labels[labelName]] ?? 0) + s.value;
  }
  return sums;
}

/** sum adds up a metric's samples; null when there are none. */
export function sum(samples, name) {
  const own = samples.filter((s) => s.name === name);
  return own.length === 0 ? null : own.reduce((all, s) => all + s.value, 0);
}
