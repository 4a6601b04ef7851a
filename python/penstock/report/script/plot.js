// A panel on the screen: uPlot draws axes and lines and knows the pointer; the pen draws the rest.

import { canvasPen, FONT } from "penstock/pen";
import { paintBands, paintBars, paintMarkers, paintMarks, paintSpans, paintStack, paintWhiskers } from "penstock/paint";

const { uPlot } = window;
const TICK_ROOM = { x: 60, y: 44 }; // room for a tick with its words [px]

/** Colours of the page, as its style says them. */
export function pageColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  return { ink: read("--ink"), quiet: read("--quiet"), line: read("--line"), card: read("--card") };
}

/**
 * Draws a panel into an element, and returns its uPlot.
 *
 * `sheet` says what is drawn: lines, form, marks, xScale, yScale, xRange, yRange, lookOf. `on` has what is called:
 * hover(place, left, top), leave(), zoom(xRange, yRange), reset().
 */
export function drawPlot(host, sheet, on) {
  const colours = pageColours();
  const isLine = sheet.form === "line" || sheet.form === "step";
  const { xs, rows } = aligned(sheet.lines);
  const straight = uPlot.paths.linear();
  const paths = sheet.form === "step" ? uPlot.paths.stepped({ align: 1 }) : straight;
  const series = sheet.lines.map((line) => {
    const look = sheet.lookOf(line);
    return {
      stroke: look.colour,
      width: line.isContext ? 1 : 1.7,
      dash: look.dash,
      spanGaps: true,
      points: { show: false },
      // A closed form beside points is joined, the points are not.
      paths: isLine ? paths : line === sheet.reference ? straight : () => null,
    };
  });
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height: host.clientHeight,
      legend: { show: false },
      padding: [10, 14, 0, 0],
      scales: {
        x: { time: false, range: () => sheet.xRange },
        y: { range: () => sheet.yRange },
      },
      axes: [axis(sheet.xScale, colours, "x", sheet.xAxis), axis(sheet.yScale, colours, "y", sheet.yAxis)],
      series: [{}, ...series],
      cursor: {
        points: { show: false },
        drag: { x: sheet.xScale.kind !== "named", y: true, uni: 24, setScale: false },
        bind: { dblclick: () => on.reset },
      },
      hooks: {
        drawAxes: [(u) => overlay(u, (pen, area) => paintBelow(pen, area, sheet))],
        draw: [(u) => overlay(u, (pen, area) => paintAbove(pen, area, sheet, colours))],
        setCursor: [(u) => pointed(u, on)],
        setSelect: [(u) => selected(u, on)],
      },
    },
    [xs, ...rows],
    host,
  );
  return plot;
}

// uPlot wants one list of places for all lines, and a height of each line, or none, at each place.
function aligned(lines) {
  const every = new Set();
  for (const line of lines) for (const point of line.points) every.add(point.px);
  const xs = [...every].sort((one, other) => one - other);
  const at = new Map(xs.map((x, place) => [x, place]));
  const rows = lines.map((line) => {
    const row = new Array(xs.length).fill(null);
    for (const point of line.points) row[at.get(point.px)] = Number.isFinite(point.py) ? point.py : null;
    return row;
  });
  return { xs, rows };
}

function axis(scale, colours, side, { unit }) {
  return {
    stroke: colours.quiet,
    grid: { show: side === "y" || scale.kind !== "named", stroke: colours.line, width: 1 },
    ticks: { stroke: colours.line, width: 1, size: 4 },
    font: `11px ${FONT}`,
    gap: 4,
    size: side === "x" ? 26 : (u, values) => Math.max(34, 12 + 6.6 * Math.max(0, ...(values ?? []).map((one) => one.length))),
    splits: (u, index, low, high) => {
      const length = side === "x" ? u.bbox.width : u.bbox.height;
      return scale.ticks(low, high, Math.max(2, Math.floor(length / devicePixelRatio / TICK_ROOM[side])), unit);
    },
    values: (u, places) => scale.texts(places),
  };
}

function overlay(u, paint) {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
  paint(canvasPen(u.ctx, devicePixelRatio), areaOf(u));
  u.ctx.restore();
}

/** Where the places of a plot are, in CSS pixels of its canvas. */
function areaOf(u) {
  const [left, top] = [u.bbox.left / devicePixelRatio, u.bbox.top / devicePixelRatio];
  return {
    left,
    top,
    width: u.bbox.width / devicePixelRatio,
    height: u.bbox.height / devicePixelRatio,
    x: (place) => left + u.valToPos(place, "x"),
    y: (place) => top + u.valToPos(place, "y"),
  };
}

function paintBelow(pen, area, sheet) {
  if (sheet.form === "line" || sheet.form === "step") paintBands(pen, sheet.lines, area, sheet.lookOf);
}

function paintAbove(pen, area, sheet, colours) {
  paintMarks(pen, sheet.marks, area, colours);
  if (sheet.form === "bars") paintBars(pen, sheet.lines, area, sheet.lookOf, colours, sheet.yScale.to(0));
  else if (sheet.form === "stack") paintStack(pen, sheet.lines, area, sheet.lookOf, colours);
  else if (sheet.form === "spans") paintSpans(pen, sheet.lines, area, sheet.lookOf, colours);
  else {
    if (sheet.form === "points") paintWhiskers(pen, sheet.lines, area, sheet.lookOf);
    paintMarkers(pen, sheet.lines, area, sheet.lookOf, colours, sheet.form);
  }
}

function pointed(u, on) {
  const { left, top } = u.cursor;
  if (left === null || left < 0) on.leave();
  else on.hover(u.posToVal(left, "x"), left + u.over.offsetLeft, top + u.over.offsetTop);
}

function selected(u, on) {
  const { left, top, width, height } = u.select;
  if (width < 4 && height < 4) return;
  const x = width ? [u.posToVal(left, "x"), u.posToVal(left + width, "x")] : null;
  const y = height ? [u.posToVal(top + height, "y"), u.posToVal(top, "y")] : null;
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  on.zoom(x, y);
}
