// The chart of a savings day: the temperatures with and without optimization in the
// allowed band, above the price and the imported power.
import { h, s } from "../lib/dom.js";
import { dollars, price } from "../lib/format.js";
import { apart, niceTicks, scale, steps, timeTicks } from "./geometry.js";
import { clock } from "./zone.js";

const size = { left: 50, right: 10, top: 10, temperature: 170, gap: 22, power: 80, price: 60, axis: 28 };
const rows = { temperature: size.top, power: size.top + size.temperature + size.gap, price: size.top + size.temperature + size.power + 2 * size.gap };
const bottom = rows.price + size.price;
const height = bottom + size.axis;

const lines = [
  { name: "baseline", label: "Without" },
  { name: "optimized", label: "Optimized" },
];

/** dayChart draws the day of an estimate, a quarter hour a step: temperatures in its units, kW, $/kWh. */
export function dayChart(day, zone) {
  const n = day.price.length;
  const start = Date.parse(day.startTime);
  const starts = Array.from({ length: n }, (_, i) => start + i * 900_000);
  const words = `On ${day.date} optimizing ${day.deviceId} costs ${dollars(day.optimized.cost)} instead of ${dollars(day.baseline.cost)}.`;
  const plot = h("div", { class: "plot day", role: "img", "aria-label": words });
  let width = 0;

  function draw() {
    const end = width - size.right;
    const xs = Array.from({ length: n + 1 }, (_, i) => scale([0, n], [size.left, end])(i));
    plot.replaceChildren(s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
      temperatures(day, xs, end), power(day, xs, end), prices(day.price, xs, end), hours(starts, zone, xs, end)));
  }

  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width > 0 && Math.round(contentRect.width) !== width) {
      width = Math.round(contentRect.width);
      draw();
    }
  }).observe(plot);

  return h("figure", { class: "chart" },
    h("div", { class: "readout" }, h("p", { class: "moment" }, `The best day, ${day.date}`),
      h("ul", { class: "legend", "aria-hidden": "true" }, lines.map((l) => h("li", {},
        s("svg", { class: "key", viewBox: "0 0 24 8", width: 24, height: 8 }, s("path", { class: `line ${l.name}`, d: "M0 4H24" })), `${l.label} `, h("b", {}, dollars(day[l.name].cost)))))),
    plot,
    h("figcaption", { class: "hint" }, `${words} The shaded band is what the schedule of the device allows. Power is the mean of a quarter hour; the price is that of the home's signal.`));
}

/** panel is a grid with a name, for values between low and high. */
function panel(name, from, tall, [low, high], end, about, label) {
  const ticks = niceTicks(low, high, about);
  const y = scale([ticks[0], ticks.at(-1)], [from + tall, from]);
  return {
    y,
    grid: [
      ticks.map((t) => s("g", {},
        s("line", { class: "grid", x1: size.left, x2: end, y1: y(t), y2: y(t) }),
        s("text", { class: "label", x: size.left - 6, y: y(t) + 4, "text-anchor": "end" }, label(t)))),
      s("text", { class: "label name", x: size.left + 4, y: from - 4 }, name),
    ],
  };
}

function temperatures(day, xs, end) {
  const all = [...day.minTemp, ...day.maxTemp, ...lines.flatMap((l) => day[l.name].temperature)];
  const { y, grid } = panel("", rows.temperature, size.temperature, [Math.min(...all), Math.max(...all)], end, 4, (t) => `${t} °${day.tempUnits}`);
  // A temperature belongs to the end of its quarter hour, the allowed band to all of it.
  const at = (i, v) => `${xs[i].toFixed(1)} ${y(v).toFixed(1)}`;
  const points = (values) => values.map((v, i) => at(i + 1, v));
  const allowed = (values) => values.flatMap((v, i) => [at(i, v), at(i + 1, v)]);
  return [
    s("path", { class: "band", d: `M${allowed(day.maxTemp).join("L")}L${allowed(day.minTemp).reverse().join("L")}Z` }),
    grid,
    lines.map((l) => s("path", { class: `line ${l.name}`, d: `M${points(day[l.name].temperature).join("L")}` })),
  ];
}

function power(day, xs, end) {
  const { y, grid } = panel("Power, kW", rows.power, size.power, [0, Math.max(0.1, ...lines.flatMap((l) => day[l.name].kw))], end, 2, String);
  return [grid, lines.map((l) => s("path", { class: `line ${l.name}`, d: steps(day[l.name].kw, xs, y) }))];
}

function prices(values, xs, end) {
  const { y, grid } = panel("Price, $/kWh", rows.price, size.price, [Math.min(0, ...values), Math.max(0.01, ...values)], end, 2, (t) => price(t).replace(/0{1,2}$/, ""));
  return [grid, s("path", { class: "line import", d: steps(values, xs, y) })];
}

function hours(starts, zone, xs, end) {
  const ticks = timeTicks(starts, zone, end - size.left).filter((t) => xs[t.index] + 14 < end);
  return [
    ticks.map((t) => s("line", { class: "tick", x1: xs[t.index], x2: xs[t.index], y1: bottom, y2: bottom + 5 })),
    apart(ticks, (t) => xs[t.index], 40).map((t) => s("text", { class: "label", x: xs[t.index], y: bottom + 18, "text-anchor": "middle" }, t.label || clock(starts[t.index], zone))),
  ];
}
