// Local time in a time zone, clock changes included. Times are milliseconds since
// 1970; dates are texts such as "2026-11-01". Pure.

const formats = new Map();

function parts(ms, zone) {
  if (!formats.has(zone)) {
    formats.set(zone, new Intl.DateTimeFormat("en-GB", {
      timeZone: zone, hourCycle: "h23", weekday: "short", year: "numeric", month: "short", day: "numeric",
      hour: "numeric", minute: "numeric", second: "numeric",
    }));
  }
  return Object.fromEntries(formats.get(zone).formatToParts(ms).map((p) => [p.type, p.value]));
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** wall is the local time, and how far it is ahead of UTC in ms. */
export function wall(ms, zone) {
  const p = parts(ms, zone);
  const month = months.findIndex((m) => p.month.startsWith(m)) + 1;
  const [year, day, hour, minute, second] = [p.year, p.day, p.hour, p.minute, p.second].map(Number);
  const shown = Date.UTC(year, month - 1, day, hour, minute, second);
  return { year, month, day, hour, minute, weekday: p.weekday, monthName: months[month - 1], offset: shown - Math.floor(ms / 1000) * 1000 };
}

const two = (n) => String(n).padStart(2, "0");

/** dateOf is the local date of a moment. */
export function dateOf(ms, zone) {
  const w = wall(ms, zone);
  return `${w.year}-${two(w.month)}-${two(w.day)}`;
}

/** addDays moves a date. */
export function addDays(date, days) {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** midnight is the first moment of a date in a zone. It is later if a clock change skips midnight. */
export function midnight(date, zone) {
  const utc = Date.parse(`${date}T00:00:00Z`);
  // Offsets are from -12 to +14 hours, so local midnight is within these.
  let [before, from] = [utc - 15 * 3_600_000, utc + 13 * 3_600_000];
  while (from - before > 60_000) {
    const middle = Math.floor((before + from) / 120_000) * 60_000;
    if (dateOf(middle, zone) >= date) from = middle;
    else before = middle;
  }
  return from;
}

/** abbreviation is a zone's short name at a moment: PDT, or GMT+1 if it has none. */
export function abbreviation(ms, zone) {
  return new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "short" }).formatToParts(ms).find((p) => p.type === "timeZoneName").value;
}

/** clock is the time of day: 01:15. */
export function clock(ms, zone) {
  const w = wall(ms, zone);
  return `${two(w.hour)}:${two(w.minute)}`;
}

/** spoken is a quarter hour with its date and the zone's name: Sun 1 Nov, 01:15 – 01:30 PDT. */
export function spoken(start, end, zone) {
  const w = wall(start, zone);
  return `${w.weekday} ${w.day} ${w.monthName}, ${clock(start, zone)} – ${clock(end, zone)} ${abbreviation(start, zone)}`;
}

/** changes returns the starts that follow a clock change, with the change in minutes. */
export function changes(starts, zone) {
  const found = [];
  for (let i = 1; i < starts.length; i++) {
    const by = (wall(starts[i], zone).offset - wall(starts[i - 1], zone).offset) / 60_000;
    if (by !== 0) found.push({ index: i, by });
  }
  return found;
}

/** isZone reports whether a text names a time zone. */
export function isZone(name) {
  try {
    return Boolean(name && new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}
