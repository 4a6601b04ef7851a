// Tables: sorted by a click on a title; a table behind each figure.

import { rowCount } from "penstock/data";
import { writer } from "penstock/text";

const ROWS_MAX = 2000; // rows of the table behind a figure; the CSV file has all
const SIZES = { B: 1, KB: 1e3, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
const TIMES = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };
const RATES = { "b/s": 1, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9, "Tb/s": 1e12 };
const UNITS = { "%": 1, ...SIZES, ...TIMES, ...RATES };
const NUMBER = /^(?:unstable, )?([+−-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*([^\s[(/]*(?:\/s)?)/;
const MINUTES = /^(\d+) min (\d+) s$/;

/** The number that a cell begins with, in the base of its unit; null where there is none. */
export function cellNumber(text) {
  const minutes = MINUTES.exec(text.trim());
  if (minutes) return (60 * Number(minutes[1]) + Number(minutes[2])) * TIMES.s;
  const found = NUMBER.exec(text.trim());
  if (!found) return null;
  return Number(found[1].replaceAll(",", "").replace("−", "-")) * (UNITS[found[2]] ?? 1);
}

/** Lets the reader sort a table by any of its columns, up and down. */
export function makeSortable(table) {
  const titles = [...table.tHead.rows[0].cells];
  titles.forEach((title, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...title.childNodes);
    title.append(button);
    button.addEventListener("click", () => {
      const isRising = title.getAttribute("aria-sort") !== "ascending";
      titles.forEach((other) => other.removeAttribute("aria-sort"));
      title.setAttribute("aria-sort", isRising ? "ascending" : "descending");
      sort(table.tBodies[0], column, isRising ? 1 : -1);
    });
  });
}

// Numbers in their order, before words in theirs; cells without either are last in both directions.
function sort(body, column, direction) {
  const rows = [...body.rows].map((row) => {
    const text = row.cells[column].textContent.trim();
    return { row, text, number: cellNumber(text), isEmpty: text === "–" || text === "" };
  });
  rows.sort((one, other) => {
    if (one.isEmpty !== other.isEmpty) return one.isEmpty ? 1 : -1;
    if (one.number !== null && other.number !== null) return direction * (one.number - other.number);
    if ((one.number === null) !== (other.number === null)) return one.number === null ? 1 : -1;
    return direction * one.text.localeCompare(other.text);
  });
  body.append(...rows.map(({ row }) => row));
}

/** The table behind a figure, filled when it is opened. */
export function dataTable(chart, name) {
  const details = document.createElement("details");
  details.className = "behind";
  const summary = document.createElement("summary");
  summary.textContent = "Table";
  details.append(summary);
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(filled(chart, name));
  });
  return details;
}

function filled(chart, name) {
  const scroll = document.createElement("div");
  scroll.className = "scroll";
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", `Data of ${name}`);
  const table = document.createElement("table");
  const names = Object.keys(chart.table);
  const head = table.createTHead().insertRow();
  for (const one of names) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = one;
    head.append(cell);
  }
  const body = table.createTBody();
  const rows = Math.min(rowCount(chart.table), ROWS_MAX);
  for (let row = 0; row < rows; row += 1) {
    const line = body.insertRow();
    for (const one of names) line.insertCell().textContent = cellText(chart.table[one][row]);
  }
  makeSortable(table);
  scroll.append(table);
  if (rows < rowCount(chart.table)) {
    const more = document.createElement("p");
    more.textContent = `The first ${rows} of ${rowCount(chart.table)} rows; the CSV file has all.`;
    scroll.append(more);
  }
  return scroll;
}

function cellText(value) {
  if (value === null) return "–";
  return typeof value === "number" ? writer("number")(value, 5) : String(value);
}
