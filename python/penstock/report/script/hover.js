// What stands at a place of a panel: the value of every scheme, beside the pointer.

import { writer } from "penstock/text";
import { swatch } from "penstock/legend";

const SPANS_MAX = 16; // bars over one place that are told
const BESIDE = 14; // distance of the box from the pointer [px]
const NEAR = 0.03; // share of the axis beyond its ends at which a line has no value any more

/** The nearest place to `at` at which a line of the panel has a point. */
export function nearestPlace(lines, at) {
  let best = null;
  for (const line of lines) {
    for (const point of line.points) {
      if (best === null || Math.abs(point.px - at) < Math.abs(best.px - at)) best = point;
    }
  }
  return best;
}

/** All places of a panel from left to right, each once. */
export function placesOf(lines) {
  return [...new Set(lines.flatMap((line) => line.points.map((point) => point.px)))].sort((a, b) => a - b);
}

/**
 * What the lines of a panel say at a place: {x, rows}; a row has `line` and `point`, the largest value first.
 * A step says what holds there; any other line says its nearest point.
 */
export function readAt(sheet, at) {
  const own = sheet.lines.filter((line) => !line.isContext);
  if (sheet.form === "spans") return readSpans(sheet, own, at);
  const nearest = nearestPlace(own, at);
  if (nearest === null) return null;
  const place = sheet.form === "step" ? at : nearest.px;
  const room = NEAR * (sheet.xRange[1] - sheet.xRange[0]);
  const rows = [];
  for (const line of own) {
    const point = sheet.form === "step" ? lastBefore(line.points, place) : nearestPlace([line], place);
    if (point === null || (sheet.form !== "step" && Math.abs(point.px - place) > room)) continue;
    rows.push({ line, point });
  }
  rows.sort((one, other) => other.point.y - one.point.y);
  return { x: sheet.form === "step" ? sheet.xScale.text(place) : writeX(sheet, nearest.x), place, rows };
}

// The bars that lie over a place, the upmost first.
function readSpans(sheet, lines, place) {
  const over = (point) => point.px <= place && place <= point.pend;
  const rows = lines.flatMap((line) => line.points.filter(over).map((point) => ({ line, point })));
  rows.sort((one, other) => other.point.py - one.point.py);
  return { x: sheet.xScale.text(place), place, rows: rows.slice(0, SPANS_MAX) };
}

function writeX(sheet, x) {
  return typeof x === "string" ? x : writer(sheet.xAxis.unit)(x);
}

function lastBefore(points, place) {
  let found = null;
  for (const point of points) {
    if (point.px > place) break;
    found = point;
  }
  return found;
}

/** What a row says, in words. */
export function valueText(sheet, point) {
  if (sheet.form === "spans") return `${point.y}: ${point.said}`;
  const write = writer(sheet.yAxis.unit);
  const band = point.low === undefined ? "" : ` [${write(point.low)} to ${write(point.high)}]`;
  const tip = point.tip === undefined || point.tip === null ? "" : `, ${sheet.tipWords || "tip"} ${write(point.tip)}`;
  return `${write(point.y)}${band}${tip}${point.isHollow ? " (doubtful)" : ""}`;
}

/** Shows what stands at a place in a box beside it; `left` and `top` are of the panel [px]. */
export function showHover(box, sheet, found, left, top) {
  const head = document.createElement("div");
  head.className = "hover-x";
  head.textContent = [sheet.xAxis.title, found.x].filter(Boolean).join(": ");
  const list = found.rows.map(({ line, point }) => {
    const row = document.createElement("div");
    const value = document.createElement("b");
    value.textContent = valueText(sheet, point);
    row.append(swatch(sheet.lookOf(line)), ` ${line.name} `, value);
    return row;
  });
  box.replaceChildren(head, ...list);
  box.hidden = false;
  // Beside the pointer where there is room; a narrow panel has none, and no word is to be lost at its ends.
  const room = box.parentElement.clientWidth;
  const beside = left > room / 2 ? left - BESIDE - box.offsetWidth : left + BESIDE;
  box.style.left = `${Math.max(0, Math.min(beside, room - box.offsetWidth))}px`;
  box.style.top = `${Math.max(0, Math.min(top - 10, box.parentElement.clientHeight - box.offsetHeight))}px`;
}

/** The same as a sentence, for those who listen. */
export function hoverText(sheet, found) {
  const rows = found.rows.map(({ line, point }) => `${line.name} ${valueText(sheet, point)}`);
  return `${sheet.xAxis.title} ${found.x}: ${rows.join("; ")}`;
}
