// A chart as panels of lines of points: what is drawn, without a pixel. penstock/report/chart.py says what a
// chart is.

import { readTable, rowCount } from "penstock/data";

export const DISTINCT_MAX = 12; // lines that one panel can hold; more get a panel each

const PLAIN = ["name", "link"]; // columns whose values say what they are

/** Reads a chart of the page: its table becomes arrays. */
export function readChart(chart) {
  return { panels: [], marks: [], panelAxes: {}, view: 0, ...chart, table: readTable(chart.table) };
}

/** The names of all lines of a chart, in the order of its table. */
export function lineNames(chart) {
  return [...new Set(chart.table[chart.line])];
}

/** The y axis of a panel under a view. */
export function yAxis(chart, view, panel) {
  return panel.axis ?? view.axis ?? chart.y;
}

/**
 * The panels of a chart under one of its views: {title, axis, lines}. A line has a `name` and `points`; a point has
 * x and y as the table has them, and where the chart has them `low` and `high`, `isHollow`, `tip`, `until`, `said`.
 */
export function panelsOf(chart, view) {
  const panels = new Map();
  const names = lineNames(chart);
  for (let row = 0; row < rowCount(chart.table); row += 1) {
    if (chart.least && chart.table[chart.least[0]][row] < chart.least[1]) continue;
    const point = pointOf(chart, view, row);
    if (point === null) continue;
    const at = chart.panels.map((column) => chart.table[column][row]);
    const key = JSON.stringify(at);
    if (!panels.has(key)) panels.set(key, newPanel(chart, at, names));
    panels.get(key).lines[names.indexOf(chart.table[chart.line][row])].points.push(point);
  }
  const found = [...panels.values()];
  for (const panel of found) panel.lines = panel.lines.filter((line) => line.points.length);
  if (found.length === 1 && names.length > DISTINCT_MAX) return apart(found[0]);
  return found;
}

function newPanel(chart, at, names) {
  const lines = names.map((name) => ({ name, points: [] }));
  // What has an axis of its own is told by that axis.
  const told = Object.keys(chart.panelAxes).length ? at.slice(0, -1) : at;
  const words = told.map((value, place) => (PLAIN.includes(chart.panels[place]) ? value : `${chart.panels[place]} ${value}`));
  const title = words.join(" · ");
  return { title, axis: chart.panelAxes[at[at.length - 1]], name: chart.panels.includes("name") ? at[0] : null, lines };
}

function pointOf(chart, view, row) {
  const { table } = chart;
  const [x, y] = [table[chart.along][row], table[view.y][row]];
  if (x === null || y === null) return null;
  const point = { x, y };
  if (view.band && table[view.band[0]][row] !== null) {
    point.low = table[view.band[0]][row];
    point.high = table[view.band[1]][row];
  }
  if (chart.hollow) point.isHollow = table[chart.hollow][row] > 0;
  if (chart.tip) point.tip = table[chart.tip][row];
  if (chart.until) point.until = table[chart.until][row];
  if (chart.said) point.said = table[chart.said][row];
  return point;
}

/** Small multiples: a panel for each line, with the others behind it in grey. */
function apart(panel) {
  return panel.lines.map((own) => ({
    ...panel,
    title: own.name,
    lines: [...panel.lines.filter((one) => one !== own).map((one) => ({ ...one, isContext: true })), own],
  }));
}
