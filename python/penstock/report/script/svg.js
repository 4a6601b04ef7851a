// A figure as a picture of its own: SVG to keep, to print, and to make a PNG of. Always on light ground.

import { FONT, escaped, svgPen } from "penstock/pen";
import {
  paintBands, paintBars, paintLines, paintMarkers, paintMarks, paintSpans, paintStack, paintWhiskers,
} from "penstock/paint";
import { markerPath } from "penstock/look";

const COLOURS = { ink: "#1d2329", quiet: "#56606b", line: "#e2e6ea", card: "#ffffff" };
const PANEL = { wide: [460, 300, 3], alone: [720, 400, 1] }; // width and height of a panel, panels in a row
const MARGIN = { left: 58, right: 16, top: 40, bottom: 42 };
const HEAD = 34; // title of the figure
const KEY = 22; // a row of the legend
const LETTER = 6.8; // width of a letter of the legend

/** A figure as the text of an SVG file; `sheets` are its panels as they are drawn, all in light colours. `words` say
 * what is drawn beside lines. */
export function svgText(title, note, sheets, words) {
  const [width, height, most] = sheets.length > 1 ? PANEL.wide : PANEL.alone;
  const columns = Math.min(most, sheets.length);
  const rows = Math.ceil(sheets.length / columns);
  const key = keyRows(sheets, words, columns * width);
  const size = [columns * width, HEAD + key.length * KEY + rows * height + 24];
  const out = [];
  const pen = svgPen(out);
  pen.text(12, 22, title, { fill: COLOURS.ink, size: 15, bold: true });
  key.forEach((row, number) => paintKey(pen, row, HEAD + 14 + number * KEY));
  sheets.forEach((sheet, number) => {
    const left = (number % columns) * width;
    const top = HEAD + key.length * KEY + Math.floor(number / columns) * height;
    panel(out, pen, sheet, number, { left, top, width, height });
  });
  pen.text(size[0] - 10, size[1] - 9, note, { fill: COLOURS.quiet, size: 10, anchor: "end" });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size[0]} ${size[1]}" width="${size[0]}" ` +
    `height="${size[1]}" font-family='${escaped(FONT).replaceAll("&quot;", "")}' role="img" ` +
    `aria-label="${escaped(title)}"><rect width="100%" height="100%" fill="#ffffff"/>${out.join("")}</svg>`
  );
}

// The names of all lines with their looks, and the words without one, in rows that fit.
function keyRows(sheets, words, width) {
  const looks = new Map();
  for (const sheet of sheets) {
    for (const line of sheet.lines) if (!line.isContext) looks.set(line.name, sheet.lookOf(line));
  }
  const rows = [];
  let x = Infinity;
  const entries = [...(looks.size > 1 ? looks : []), ...words.map((one) => [one, null])];
  for (const [name, look] of entries) {
    const length = 40 + name.length * LETTER;
    if (x + length > width) {
      rows.push([]);
      x = MARGIN.left;
    }
    rows[rows.length - 1].push({ name, look, x });
    x += length;
  }
  return rows;
}

function paintKey(pen, row, y) {
  for (const { name, look, x } of row) {
    pen.text(look ? x + 29 : x, y, name, { fill: COLOURS.ink, size: 12 });
    if (!look) continue;
    pen.path(`M${x},${y - 4}h24`, { stroke: look.colour, width: 2, dash: look.dash });
    if (look.marker) pen.path(markerPath(look.marker, x + 12, y - 4, 4), { fill: look.colour });
  }
}

function panel(out, pen, sheet, number, place) {
  const area = areaOf(sheet, place);
  paintAxes(pen, sheet, area);
  if (sheet.title) {
    pen.text(area.left, place.top + 14, sheet.title, { fill: COLOURS.ink, size: 12, bold: true });
  }
  pen.text(place.left + 12, place.top + 30, sheet.yAxis.title, { fill: COLOURS.quiet, size: 11 });
  const below = { fill: COLOURS.quiet, size: 11, anchor: "middle" };
  pen.text(area.left + area.width / 2, area.top + area.height + 34, sheet.xAxis.title, below);
  const clip = `clip${number}`;
  const box = `x="${area.left}" y="${area.top}" width="${area.width}" height="${area.height}"`;
  out.push(`<clipPath id="${clip}"><rect ${box}/></clipPath><g clip-path="url(#${clip})">`);
  if (sheet.form === "bars") paintBars(pen, sheet.lines, area, sheet.lookOf, COLOURS, sheet.yScale.to(0));
  else if (sheet.form === "stack") paintStack(pen, sheet.lines, area, sheet.lookOf, COLOURS);
  else if (sheet.form === "spans") paintSpans(pen, sheet.lines, area, sheet.lookOf, COLOURS);
  else {
    if (sheet.form === "points") paintWhiskers(pen, sheet.lines, area, sheet.lookOf);
    else {
      paintBands(pen, sheet.lines, area, sheet.lookOf);
      paintLines(pen, sheet.lines, area, sheet.lookOf, sheet.form);
    }
    if (sheet.reference) paintLines(pen, [sheet.reference], area, sheet.lookOf, "line");
    paintMarkers(pen, sheet.lines, area, sheet.lookOf, COLOURS, sheet.form);
  }
  paintMarks(pen, sheet.marks, area, COLOURS);
  out.push("</g>");
}

function areaOf(sheet, place) {
  const [left, top] = [place.left + MARGIN.left, place.top + MARGIN.top];
  const width = place.width - MARGIN.left - MARGIN.right;
  const height = place.height - MARGIN.top - MARGIN.bottom;
  const along = (value, [low, high]) => (value - low) / (high - low);
  return {
    left,
    top,
    width,
    height,
    x: (at) => left + width * along(at, sheet.xRange),
    y: (at) => top + height * (1 - along(at, sheet.yRange)),
  };
}

// Pairs of a place and its words.
function ticks(scale, range, count) {
  const places = scale.ticks(...range, Math.floor(count));
  const words = scale.texts(places);
  return places.map((place, index) => [place, words[index]]);
}

function paintAxes(pen, sheet, area) {
  const base = area.top + area.height;
  for (const [at, words] of ticks(sheet.yScale, sheet.yRange, area.height / 44)) {
    const y = Math.round(area.y(at) * 10) / 10;
    if (y < area.top - 1 || y > base + 1) continue;
    pen.path(`M${area.left},${y}h${area.width}`, { stroke: COLOURS.line });
    pen.text(area.left - 6, y + 4, words, { fill: COLOURS.quiet, anchor: "end" });
  }
  for (const [at, words] of ticks(sheet.xScale, sheet.xRange, area.width / 76)) {
    const x = Math.round(area.x(at) * 10) / 10;
    if (x < area.left - 1 || x > area.left + area.width + 1) continue;
    if (sheet.xScale.kind !== "named") pen.path(`M${x},${area.top}v${area.height}`, { stroke: COLOURS.line });
    pen.text(x, base + 16, words, { fill: COLOURS.quiet, anchor: "middle" });
  }
  pen.path(`M${area.left},${area.top}V${base}h${area.width}`, { stroke: COLOURS.quiet });
}
