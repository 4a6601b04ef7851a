// Ranges of axes: from the values that are drawn to the places between which an axis goes.

const ROOM = 0.03; // share of an axis that stays free beside the data
const ABOVE = 0.06; // the same above bars and lines that stand on a zero
const MARKS = { gap: 0.12, width: 0.6 }; // of marks at one word: the distance of two, and most of all, in words

/** Gives every point its places `px` and `py` on the two scales; ends of bands are `plow`, `phigh`, `ptip`, those of
 * spans `pend`. In a stack `pbase` is where a bar begins, and `py` where it ends. At words, points of several lines
 * stand side by side: `beside` is how far from the word. */
export function placePoints(panels, xScale, yScaleOf, form) {
  for (const panel of panels) {
    const yScale = yScaleOf(panel);
    for (const line of panel.lines) {
      for (const point of line.points) {
        point.px = xScale.to(point.x);
        point.py = yScale.to(point.y);
        if (point.low !== undefined) {
          point.plow = yScale.to(point.low);
          point.phigh = yScale.to(point.high);
        }
        if (point.tip !== undefined && point.tip !== null) point.ptip = yScale.to(point.tip);
        if (point.until !== undefined) point.pend = xScale.to(point.until);
      }
      // Words stand in the order of the axis; a line of numbers goes from left to right.
      line.points.sort((one, other) => one.px - other.px);
    }
    if (form === "stack") pile(panel.lines, yScale);
    if (form === "points" && xScale.kind === "named") spread(panel.lines.filter((line) => !line.isContext));
  }
}

// Points of several lines side by side at each word; a point that has its word alone stands at it.
function spread(lines) {
  const places = lines.flatMap((line) => [...new Set(line.points.map((point) => point.px))]);
  const gap = new Set(places).size < places.length ? Math.min(MARKS.gap, MARKS.width / lines.length) : 0;
  lines.forEach((line, rank) => {
    for (const point of line.points) point.beside = gap * (rank - (lines.length - 1) / 2);
  });
}

// The bars of each place on top of each other, in the order of the lines.
function pile(lines, yScale) {
  const heights = new Map();
  for (const line of lines) {
    for (const point of line.points) {
      const below = heights.get(point.px) ?? 0;
      heights.set(point.px, below + point.y);
      point.pbase = yScale.to(below);
      point.py = yScale.to(below + point.y);
    }
  }
}

/** The range of the x axis, which all panels share: [least place, largest place]. */
export function xRange(panels, axis, scale, marks) {
  if (scale.kind === "named") return [-0.5, axis.names.length - 0.5];
  const places = panels.flatMap((panel) => panel.lines.flatMap((line) => line.points.flatMap((point) => [point.px, point.pend ?? point.px])));
  const [low, high] = ends(places);
  const near = marks.map(([, value]) => scale.to(value)).filter((at) => at <= low + 1.5 * (high - low));
  const most = Math.max(high, ...near);
  const room = ROOM * (most - low || 1);
  return [axis.zero && scale.kind !== "log" ? 0 : low - room, most + room];
}

/** Gives points without a place, as a zero has none on a logarithmic axis, a place at the end of the whole axis.
 * `key` is the place that is looked at, `px` or `py`. */
export function placeAtEnds(lines, key, [low, high]) {
  for (const line of lines) {
    for (const point of line.points) {
      if (point[key] === -Infinity) point[key] = low;
      if (point[key] === Infinity) point[key] = high;
    }
  }
}

/** The range of a y axis over the lines that are shown of the panels that share it. */
export function yRange(panels, axis, scale, isBars) {
  const places = [];
  for (const panel of panels) {
    for (const line of panel.lines) {
      for (const point of line.points) places.push(point.py, point.plow, point.phigh, point.ptip);
    }
  }
  if (scale.kind === "named") return [-0.5, axis.names.length - 0.5];
  if (scale.kind === "tail") return [0, scale.to(1)];
  // Where all is zero, nothing is below it.
  if (places.every((place) => place === 0 || !Number.isFinite(place)) && scale.kind !== "log") return [0, 1 + ABOVE];
  // Bars stand on zero, also those that go down from it.
  const isBelow = isBars && scale.kind !== "log" && places.some((place) => place < 0);
  const [low, high] = ends(isBelow ? [...places, 0] : places);
  if (scale.kind === "log") {
    const room = ROOM * (high - low || 1);
    return [isBars ? Math.floor(low - 0.05) : low - room, high + 2 * room];
  }
  const room = ABOVE * (high - low || Math.abs(high) || 1);
  const bottom = (axis.zero || isBars) && low >= 0 ? 0 : low - room;
  return [bottom, high + (bottom === 0 ? ABOVE * (high || 1) : room)];
}

function ends(places) {
  let [low, high] = [Infinity, -Infinity];
  for (const place of places) {
    if (place === undefined || place === null || !Number.isFinite(place)) continue;
    low = Math.min(low, place);
    high = Math.max(high, place);
  }
  if (low > high) return [0, 1];
  return low === high ? [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)] : [low, high];
}
