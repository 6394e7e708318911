// Values as people read them. Everything here is a pure function.

const locale = "en-US";
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const prices = new Intl.NumberFormat(locale, { minimumFractionDigits: 4, maximumFractionDigits: 6 });
const tenths = new Intl.NumberFormat(locale, { maximumFractionDigits: 1, minimumFractionDigits: 1 });

export const count = (n) => whole.format(n);

/** plural is a count with its noun. */
export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

/** rate is a number a second, with a decimal where it matters. */
export const rate = (perSecond) => (perSecond === 0 || perSecond >= 100 ? whole : tenths).format(perSecond);

/** bytes is a size in the largest unit that is full. */
export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const unit = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, n)) / 10));
  return `${(unit === 0 ? whole : tenths).format(n / 1024 ** unit)} ${units[unit]}`;
}

/** percent rounds towards the middle: only the whole is 100%. */
export function percent(part, all) {
  if (all <= 0) return "0%";
  const p = (part / all) * 100;
  if (p > 0 && p < 1) return "<1%";
  if (p > 99 && p < 100) return ">99%";
  return `${Math.round(p)}%`;
}

/** price is in $/kWh: four decimals, and up to six where there are more. */
export const price = (perKwh) => `${perKwh < 0 ? "−" : ""}$${prices.format(Math.abs(perKwh))}`;

/** dollars is an amount with its cents. */
export const dollars = (amount) => `${amount < 0 ? "−" : ""}$${Math.abs(amount).toFixed(2)}`;

/** duration is a length of time in its two largest units. */
export function duration(milliseconds) {
  if (milliseconds < 1000) return `${milliseconds < 10 ? Number(milliseconds.toFixed(1)) : Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  let rest = Math.round(seconds);
  const parts = [];
  for (const [name, size] of units) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) parts.push(`${n} ${name}`);
    else if (parts.length > 0) break;
  }
  return parts.slice(0, 2).join(" ");
}

/** ago is how long before now a moment was. */
export function ago(moment, now) {
  const past = now - new Date(moment).getTime();
  if (past < 0) return `in ${duration(-past)}`;
  return past < 2000 ? "just now" : `${duration(Math.floor(past / 1000) * 1000)} ago`;
}

const formats = new Map();

function format(zone, options) {
  const key = zone + JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone }));
  return formats.get(key);
}

/** instant is a moment in a time zone, by default the browser's: 21 Nov 2026, 07:40:12 UTC. */
export function instant(moment, zone) {
  if (!moment) return "";
  return format(zone, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" }).format(new Date(moment));
}

/** span is a window in a time zone, by default the browser's. It names the zone at its end. */
export function span(start, end, zone) {
  const options = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  return `${format(zone, options).format(new Date(start))} – ${format(zone, { ...options, timeZoneName: "short" }).format(new Date(end))}`;
}

/** ownZone is the browser's time zone. */
export const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
