// The chart of a price signal: import, export and price as steps over local time, the
// confidence below, and a cursor for mouse, finger and keyboard.
import { h, s } from "../lib/dom.js";
import { percent, price } from "../lib/format.js";
import { apart, bands, indexAt, niceTicks, scale, steps, timeTicks } from "./geometry.js";
import { changes, spoken } from "./zone.js";

/** series are the lines, in drawing order. */
export const series = [
  { name: "import", label: "Import" },
  { name: "export", label: "Export" },
  { name: "price", label: "Price" },
];

const size = { left: 50, right: 10, top: 18, prices: 240, gap: 18, confidence: 34, axis: 36 };
const bottom = size.top + size.prices + size.gap + size.confidence;
const height = bottom + size.axis;

/**
 * chart draws intervals {start, end, import, export, price, confidence}, times in
 * ms. It calls explain with the index of the chosen interval.
 */
export function chart({ intervals, zone, explain }) {
  const n = intervals.length;
  const values = Object.fromEntries([...series.map((l) => l.name), "confidence"].map((name) => [name, intervals.map((v) => v[name])]));
  const starts = intervals.map((v) => v.start);
  const readout = readoutOf(zone);
  const plot = h("div", {
    class: "plot", role: "slider", tabindex: 0, "aria-label": "Quarter hour", "aria-valuemin": 0, "aria-valuemax": n - 1, "aria-describedby": "chart-keys",
  });
  let width = 0;
  let x = null;
  let cursor = null;
  let at = nowIndex(intervals);
  let chosen = -1;

  function draw() {
    x = scale([0, n], [size.left, width - size.right]);
    const high = Math.max(0, ...series.flatMap((l) => values[l.name]));
    const low = Math.min(0, ...series.flatMap((l) => values[l.name]));
    const ticks = niceTicks(low, high || 0.01);
    const y = scale([ticks[0], ticks.at(-1)], [size.top + size.prices, size.top]);
    cursor = cursorOf(x, y);
    const xs = Array.from({ length: n + 1 }, (_, i) => x(i));
    plot.replaceChildren(s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" },
      shades(values.import, x), cursor.band, grid(ticks, y, width), timeAxis(starts, zone, x, width), confidence(values.confidence, xs, width),
      clockChanges(starts, zone, x),
      series.map((l) => s("path", { class: `line ${l.name}`, d: steps(values[l.name], xs, y) })),
      cursor.line, cursor.dots));
    move(at);
  }

  function move(to) {
    at = Math.min(n - 1, Math.max(0, to));
    const v = intervals[at];
    cursor?.set(at, chosen, v);
    readout.set(v);
    plot.setAttribute("aria-valuenow", at);
    plot.setAttribute("aria-valuetext", `${spoken(v.start, v.end, zone)}: ${series.map((l) => `${l.label} ${price(v[l.name])}`).join(", ")}, confidence ${percent(v.confidence, 1)}`);
  }

  function choose() {
    chosen = at;
    move(at);
    explain(at);
  }

  const pointed = (event) => indexAt(event.clientX - plot.getBoundingClientRect().left, size.left, width - size.right, n);
  plot.addEventListener("pointermove", (event) => move(pointed(event)));
  plot.addEventListener("click", (event) => {
    move(pointed(event));
    choose();
  });
  plot.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowDown: at - 1, ArrowUp: at + 1, PageDown: at - 16, PageUp: at + 16, Home: 0, End: n - 1 }[event.key];
    if (to !== undefined) move(to);
    else if (event.key === "Enter" || event.key === " ") choose();
    else return;
    event.preventDefault();
  });
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width > 0 && Math.round(contentRect.width) !== width) {
      width = Math.round(contentRect.width);
      draw();
    }
  }).observe(plot);

  return h("figure", { class: "chart" }, readout.element, plot,
    h("figcaption", { class: "hint", id: "chart-keys" },
      "Prices in $/kWh; shaded where importing costs more. Click a quarter hour, or move with the arrow and page keys and press Enter, to have it explained."));
}

/** nowIndex is the interval of the present, or the first. */
function nowIndex(intervals) {
  const now = Date.now();
  return Math.max(0, intervals.findIndex((v) => v.start <= now && now < v.end));
}

/** readoutOf is the legend with the values at the cursor. */
function readoutOf(zone) {
  const moment = h("p", { class: "moment" });
  const figures = new Map([...series, { name: "confidence", label: "Confidence" }].map((l) => [l.name, { ...l, value: h("b", {}) }]));
  return {
    element: h("div", { class: "readout", "aria-hidden": "true" }, moment,
      h("ul", { class: "legend" }, [...figures.values()].map((f) => h("li", {}, s("svg", { class: "key", viewBox: "0 0 24 8", width: 24, height: 8 },
        s("path", { class: `line ${f.name}`, d: "M0 4H24" })), `${f.label} `, f.value)))),
    set(v) {
      moment.textContent = spoken(v.start, v.end, zone);
      for (const [name, f] of figures) f.value.textContent = name === "confidence" ? percent(v[name], 1) : price(v[name]);
    },
  };
}

function shades(imports, x) {
  return bands(imports).filter((b) => b.depth > 0).map((b) => s("rect", {
    class: "shade", x: x(b.from), width: x(b.to) - x(b.from), y: size.top, height: size.prices, opacity: b.depth,
  }));
}

function grid(ticks, y, width) {
  return ticks.map((t) => s("g", {},
    s("line", { class: t === 0 ? "axis" : "grid", x1: size.left, x2: width - size.right, y1: y(t), y2: y(t) }),
    s("text", { class: "label", x: size.left - 6, y: y(t) + 4, "text-anchor": "end" }, price(t).replace(/0{1,2}$/, ""))));
}

function confidence(values, xs, width) {
  const y = scale([0, 1], [bottom, bottom - size.confidence]);
  return [
    s("line", { class: "axis", x1: size.left, x2: width - size.right, y1: bottom, y2: bottom }),
    s("path", { class: "area", d: `${steps(values, xs, y)}V${bottom}H${xs[0]}Z` }),
    s("path", { class: "line confidence", d: steps(values, xs, y) }),
    s("text", { class: "label", x: size.left - 6, y: y(1) + 4, "text-anchor": "end" }, "100%"),
    s("text", { class: "label", x: size.left - 6, y: y(0) + 4, "text-anchor": "end" }, "0%"),
    s("text", { class: "label", x: size.left + 2, y: bottom - size.confidence - 4 }, "Confidence"),
  ];
}

function timeAxis(starts, zone, x, width) {
  const end = width - size.right;
  const ticks = timeTicks(starts, zone, end - size.left);
  const at = (t) => x(t.index);
  const inside = (t) => at(t) + 14 < end;
  return [
    ticks.map((t) => s("line", { class: "tick", x1: at(t), x2: at(t), y1: bottom, y2: bottom + 5 })),
    apart(ticks.filter(inside), at, 40).map((t) => s("text", { class: "label", x: at(t), y: bottom + 17, "text-anchor": "middle" }, t.label)),
    ticks.filter((t) => t.day).map((t) => s("line", { class: "midnight", x1: at(t), x2: at(t), y1: size.top, y2: bottom })),
    apart(ticks.filter((t) => t.day && t.label.includes(":") && at(t) + 70 < end), at, 80)
      .map((t) => s("text", { class: "label day", x: at(t) + 3, y: bottom + 31 }, t.day)),
  ];
}

/** clockChanges mark where the clocks go forward or back. */
function clockChanges(starts, zone, x) {
  return changes(starts, zone).map(({ index, by }) => s("g", { class: "change" },
    s("line", { x1: x(index), x2: x(index), y1: size.top, y2: bottom }),
    s("text", { class: "label", x: x(index) + 4, y: size.top - 5 }, `clocks go ${by < 0 ? "back" : "forward"} ${Math.abs(by) / 60} h`)));
}

/** cursorOf is the line at the cursor with a dot on each series, and a band at the chosen interval. */
function cursorOf(x, y) {
  const line = s("line", { class: "cursor", y1: size.top, y2: bottom });
  const band = s("rect", { class: "chosen", y: size.top, height: bottom - size.top, width: 0 });
  const dots = series.map((l) => s("circle", { class: `dot ${l.name}`, r: 4 }));
  return {
    line, band, dots,
    set(at, chosen, v) {
      const middle = x(at + 0.5);
      line.setAttribute("x1", middle);
      line.setAttribute("x2", middle);
      series.forEach((l, i) => {
        dots[i].setAttribute("cx", middle);
        dots[i].setAttribute("cy", y(v[l.name]));
      });
      band.setAttribute("x", x(Math.max(0, chosen)));
      band.setAttribute("width", chosen < 0 ? 0 : Math.max(2, x(chosen + 1) - x(chosen)));
    },
  };
}
