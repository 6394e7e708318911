// The geometry of a chart of steps over time. Pure.
import { clock, wall } from "./zone.js";

/** scale maps a domain onto a range of pixels. */
export function scale([d0, d1], [r0, r1]) {
  const factor = d1 === d0 ? 0 : (r1 - r0) / (d1 - d0);
  return (value) => r0 + (value - d0) * factor;
}

/** niceTicks are round values that span a domain, about so many. */
export function niceTicks(low, high, about = 5) {
  const span = high - low || Math.abs(high) || 1;
  const raw = span / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((m) => m * power >= raw * (1 - 1e-9)) * power;
  const ticks = [];
  for (let i = Math.floor(low / step + 1e-9); ; i++) {
    const value = Number((i * step).toPrecision(12));
    ticks.push(value);
    if (value >= high - step * 1e-9) return ticks;
  }
}

const round = (n) => Math.round(n * 100) / 100;

/** steps is the path of values that each hold from one edge to the next. */
export function steps(values, xs, y) {
  let path = "";
  for (let i = 0; i < values.length; i++) {
    if (i === 0) path = `M${round(xs[0])} ${round(y(values[0]))}`;
    else if (values[i] !== values[i - 1]) path += `V${round(y(values[i]))}`;
    // A line continues as long as its value.
    if (values[i] !== values[i + 1]) path += `H${round(xs[i + 1])}`;
  }
  return path;
}

/** runs are the ranges of one value: {from, to, value}, without to. */
export function runs(values) {
  const found = [];
  values.forEach((value, i) => {
    if (i > 0 && value === values[i - 1]) found.at(-1).to = i + 1;
    else found.push({ from: i, to: i + 1, value });
  });
  return found;
}

/** runAt is the run that has an index. */
export const runAt = (all, index) => all.find((r) => index >= r.from && index < r.to);

/** bands gives each run a depth from 0 (the cheapest) to 1, or none if there are too many prices. */
export function bands(values, most = 6) {
  const levels = [...new Set(values)].sort((a, b) => a - b);
  if (levels.length < 2 || levels.length > most) return [];
  return runs(values).map((r) => ({ ...r, depth: levels.indexOf(r.value) / (levels.length - 1) }));
}

/** hourSteps are the distances of the ticks of an axis of hours. */
const hourSteps = [1, 2, 3, 6, 12];

/**
 * timeTicks are the ticks of an axis at local hours, as many as fit: {index, label,
 * day}. day is set at midnight. At a clock change an hour occurs twice or never.
 */
export function timeTicks(starts, zone, width, room = 46) {
  const walls = starts.map((ms) => wall(ms, zone));
  const hours = (starts.length * 15) / 60;
  const step = hourSteps.find((h) => (width / hours) * h >= room);
  const dayStep = step ? 1 : Math.max(1, Math.ceil(room / ((width / hours) * 24)));
  const ticks = [];
  let days = 0;
  walls.forEach((w, i) => {
    const newDay = i === 0 ? w.hour === 0 && w.minute === 0 : w.day !== walls[i - 1].day;
    if (newDay && i > 0) days++;
    const day = newDay ? `${w.weekday} ${w.day} ${w.monthName}` : "";
    if (step && w.minute === 0 && w.hour % step === 0) ticks.push({ index: i, label: clock(starts[i], zone), day });
    else if (!step && newDay && days % dayStep === 0) ticks.push({ index: i, label: `${w.day} ${w.monthName}`, day });
  });
  return ticks;
}

/** apart drops labels that would touch the one before. */
export function apart(ticks, x, room) {
  let last = -Infinity;
  return ticks.filter((t) => {
    const at = x(t);
    if (at - last < room) return false;
    last = at;
    return true;
  });
}

/** indexAt is the interval at a place along the axis. */
export function indexAt(px, x0, x1, n) {
  return Math.min(n - 1, Math.max(0, Math.floor(((px - x0) / (x1 - x0)) * n)));
}
