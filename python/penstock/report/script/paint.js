// Draws what a panel holds with a pen: bands, lines, markers, bars, upright lines.
//
// `area` says where places are: x(place) and y(place) in CSS pixels, and left, top, width, height of the plot.
// `lookOf(line)` gives the colour, dash and marker of a line.

import { markerPath } from "penstock/look";

const BARS = 0.84; // share of the room of a word that its bars fill
const MARKERS_MAX = 40; // points of a line up to which each has a marker
const APART = { few: 9, many: 70 }; // least distance of two markers [px], for lines of few and of many points
const STACK_MAX = 140; // widest bar of a stack [px]
const SPAN = 0.72; // share of the room of a word that a lying bar fills
const EDGE = 4; // distance of the words of an upright line from it [px]

/** The path of a line; "step" keeps a value until the next point. */
export function linePath(points, area, form) {
  let path = "";
  let last = null;
  for (const point of points) {
    const [x, y] = [round(area.x(point.px)), yOf(area, point.py)];
    if (last === null) path = `M${x},${y}`;
    else path += form === "step" ? `H${x}V${y}` : `L${x},${y}`;
    last = point;
  }
  return path;
}

/** Bands behind lines. */
export function paintBands(pen, lines, area, lookOf) {
  for (const line of lines) {
    const points = line.points.filter((point) => point.plow !== undefined);
    if (points.length < 2 || line.isContext) continue;
    const top = points.map((point) => `${round(area.x(point.px))},${yOf(area, point.phigh)}`);
    const bottom = points.map((point) => `${round(area.x(point.px))},${yOf(area, point.plow)}`).reverse();
    pen.path(`M${[...top, ...bottom].join("L")}Z`, { fill: lookOf(line).colour, alpha: 0.16 });
  }
}

/** Lines, where no plot draws them. */
export function paintLines(pen, lines, area, lookOf, form) {
  for (const line of lines) {
    const look = lookOf(line);
    const width = line.isContext ? 1 : 1.7;
    pen.path(linePath(line.points, area, form), { stroke: look.colour, width, dash: look.dash });
  }
}

/** Markers: each point where points are not joined; on a line only so many that they stay apart. */
export function paintMarkers(pen, lines, area, lookOf, colours, form) {
  lines.forEach((line, rank) => {
    if (line.isContext) return;
    const look = lookOf(line);
    const isEach = form === "points";
    const isMany = line.points.length > MARKERS_MAX;
    const least = isMany ? APART.many : APART.few;
    // Long lines begin with their markers at different places, so that they do not cover each other.
    let next = isMany ? area.left + (least * (rank % 7)) / 7 : -Infinity;
    for (const point of line.points) {
      const [x, y] = [xOf(area, point), yOf(area, point.py)];
      if (point.isHollow) {
        pen.path(markerPath(look.marker || "o", x, y, 4), { fill: colours.card, stroke: look.colour, width: 1.6 });
      } else if (isEach || x >= next) {
        // A point alone has no line.
        const marker = look.marker || (isEach || line.points.length === 1 ? "o" : "");
        pen.path(markerPath(marker, x, y), { fill: look.colour, stroke: colours.card, width: 0.7 });
      } else continue;
      next = x + least;
    }
  });
}

/** Lines from the lower to the upper end of a point, where points are not joined. */
export function paintWhiskers(pen, lines, area, lookOf) {
  for (const line of lines) {
    for (const point of line.points) {
      if (point.plow !== undefined) whisker(pen, xOf(area, point), point, area, lookOf(line).colour);
    }
  }
}

function whisker(pen, x, point, area, colour) {
  const [low, high] = [yOf(area, point.plow), yOf(area, point.phigh)];
  const ends = [low, high].map((y) => `M${round(x - 3)},${y}H${round(x + 3)}`);
  pen.path(`M${round(x)},${low}V${high}${ends.join("")}`, { stroke: colour, width: 1.2 });
}

/** Where the bar of a line stands: its middle, and its width [px]. */
export function barPlace(place, rank, count, area) {
  const room = area.x(1) - area.x(0);
  const width = (room * BARS) / count;
  return { middle: area.x(place) + (rank - (count - 1) / 2) * width, width: width * 0.86 };
}

/** Bars side by side at each word, a hatched one above where a point has a tip. They stand on `zero`, the place of 0:
 * on a logarithmic axis at its end. A value of 0 has no bar but its number. */
export function paintBars(pen, lines, area, lookOf, colours, zero) {
  const shown = lines.filter((line) => !line.isContext);
  const base = Math.min(yOf(area, zero), area.top + area.height);
  shown.forEach((line, rank) => {
    const look = lookOf(line);
    for (const point of line.points) {
      const { middle, width } = barPlace(point.px, rank, shown.length, area);
      const top = Number.isFinite(point.py) ? yOf(area, point.py) : base;
      const hasTip = point.ptip !== undefined && Number.isFinite(point.ptip);
      if (hasTip) hatched(pen, middle, width, top, yOf(area, point.ptip), look.colour, colours);
      if (top !== base) pen.path(box(middle, width, Math.min(top, base), Math.max(top, base)), { fill: look.colour });
      else if (!hasTip && point.y === 0) pen.text(round(middle), base - 4, "0", { fill: colours.quiet, anchor: "middle" });
      if (point.plow !== undefined) whisker(pen, middle, point, area, colours.ink);
    }
  });
}

/** Bars on top of each other at each word. */
export function paintStack(pen, lines, area, lookOf, colours) {
  for (const line of lines) {
    for (const point of line.points) {
      const { middle, width } = barPlace(point.px, 0, 1, area);
      const [bottom, top] = [yOf(area, point.pbase), yOf(area, point.py)];
      const style = { fill: lookOf(line).colour, stroke: colours.card, width: 1 };
      if (top < bottom) pen.path(box(middle, Math.min(width, STACK_MAX), top, bottom), style);
    }
  }
}

/** Bars that lie: from one place of the x axis to another, at a word of the y axis. */
export function paintSpans(pen, lines, area, lookOf, colours) {
  const height = Math.max(2, SPAN * Math.abs(area.y(1) - area.y(0)));
  for (const line of lines) {
    const style = { fill: lookOf(line).colour, stroke: colours.card, width: 0.7 };
    for (const point of line.points) {
      const [left, right] = [area.x(point.px), area.x(point.pend)];
      const top = area.y(point.py) - height / 2;
      pen.path(box((left + right) / 2, Math.max(right - left, 1), top, top + height), style);
    }
  }
}

function hatched(pen, middle, width, bottom, top, colour, colours) {
  if (!(top < bottom)) return;
  pen.path(box(middle, width, top, bottom), { fill: colours.card, stroke: colour, width: 1 });
  let lines = "";
  for (let y = bottom; y > top; y -= 6) {
    const rise = Math.min(6, y - top);
    lines += `M${round(middle - width / 2)},${round(y)}l${round((width * rise) / 6)},${round(-rise)}`;
  }
  pen.path(lines, { stroke: colour, width: 1 });
}

function box(middle, width, top, bottom) {
  return `M${round(middle - width / 2)},${round(top)}h${round(width)}V${round(bottom)}h${round(-width)}Z`;
}

/** Upright dotted lines with their words. */
export function paintMarks(pen, marks, area, colours) {
  marks.forEach((mark, rank) => {
    const x = round(area.x(mark.place));
    if (x < area.left || x > area.left + area.width) return;
    pen.path(`M${x},${area.top}v${area.height}`, { stroke: colours.ink, width: 1, dash: [2, 2] });
    const isRight = x > area.left + 0.7 * area.width;
    const y = area.top + area.height - 10 - 15 * rank;
    const anchor = isRight ? "end" : "start";
    pen.text(isRight ? x - EDGE : x + EDGE, y, mark.words, { fill: colours.quiet, anchor });
  });
}

function xOf(area, point) {
  return area.x(point.px + (point.beside ?? 0));
}

// What has no place on the axis, as a zero has none on a logarithmic one, stands at its end.
function yOf(area, place) {
  const y = area.y(place);
  if (Number.isFinite(y)) return round(y);
  return y === -Infinity ? area.top : area.top + area.height;
}

function round(value) {
  return Math.round(value * 100) / 100;
}
