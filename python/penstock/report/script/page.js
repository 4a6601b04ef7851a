// The beginning: reads the data, then brings legend, figures, tables, theme and filters to life.

import { readPage } from "penstock/data";
import { PageFigure } from "penstock/figure";
import { startFilters } from "penstock/filter";
import { startLegend } from "penstock/legend";
import { makeSortable } from "penstock/table";
import { startTheme } from "penstock/theme";

const AT_ONCE = 12; // a page with more figures draws those that come near the window

/** All figures of the page, for tests and for the curious. */
export const figures = [];

async function start() {
  startTheme(document.getElementById("page-theme"));
  document.querySelectorAll("table.sortable").forEach(makeSortable);
  startFilters();
  const page = await readPage();
  startLegend(document.getElementById("page-legend"), page.names, page.looks);
  for (const chart of page.figures) {
    const figure = new PageFigure(page, chart, document.getElementById(chart.name));
    figure.watch(page.figures.length <= AT_ONCE);
    figures.push(figure);
  }
  window.addEventListener("beforeprint", () => figures.forEach((figure) => figure.forPrint()));
  document.documentElement.dataset.ready = performance.now().toFixed(0); // [ms] since the page was asked for
}

window.penstock = { figures };
start();
