// A figure of the page: its panels, its choices, its pointer and keys, what it gives away. Drawn when it comes near
// the window, drawn again whenever the reader chooses something.

import { lineNames, panelsOf, readChart, yAxis } from "penstock/chart";
import { csvText } from "penstock/data";
import { hoverText, placesOf, readAt, showHover } from "penstock/hover";
import { swatch } from "penstock/legend";
import { contextLook, referenceLook, lookOf } from "penstock/look";
import { drawPlot } from "penstock/plot";
import { placeAtEnds, placePoints, xRange, yRange } from "penstock/range";
import { save, savePng } from "penstock/save";
import { otherScale, scaleOf } from "penstock/scale";
import { isShown, onState } from "penstock/state";
import { svgText } from "penstock/svg";
import { dataTable } from "penstock/table";
import { fileName } from "penstock/text";
import { onTheme } from "penstock/theme";
import { button, choices, makePanel } from "penstock/control";

const ACROSS = 8; // panels of several axes that stand in one row
const KEY_ZOOM = 0.6; // part of an axis that stays after a zoom by key
const ONE_SCALE = ["points", "stack", "spans"]; // forms whose axes have one division

export class PageFigure {
  /** `page` has the looks of all names; `chart` is a figure of the page's data; `element` is its place. */
  constructor(page, chart, element) {
    this.page = page;
    this.looks = chart.barLooks ?? chart.looks ?? page.looks;
    this.chart = readChart(chart);
    this.element = element;
    this.view = this.chart.view;
    this.kinds = { x: this.chart.x.scale, y: null };
    this.zoom = { x: null, y: null };
    this.plots = [];
    this.isDrawn = false;
    this.build();
  }

  /** Draws the figure now or when it comes near the window, and again when something changes. */
  watch(isNow) {
    const again = () => this.isDrawn && this.draw();
    onState(again);
    onTheme(again);
    const near = new IntersectionObserver((found) => found.some((one) => one.isIntersecting) && this.first(near), {
      rootMargin: "800px",
    });
    if (isNow) this.draw();
    else near.observe(this.element);
    new ResizeObserver(() => this.isDrawn && this.fit()).observe(this.host);
  }

  first(near) {
    near.disconnect();
    if (!this.isDrawn) this.draw();
  }

  // The parts of the figure, once.
  build() {
    const { chart } = this;
    this.tools = document.createElement("div");
    this.tools.className = "tools";
    this.host = document.createElement("div");
    this.host.className = "panels";
    this.voice = document.createElement("div");
    this.voice.className = "unseen";
    this.voice.setAttribute("aria-live", "polite");
    this.key = document.createElement("div");
    this.key.className = "key";
    this.print = document.createElement("div");
    this.print.className = "print-only";
    this.element.querySelector(".plot").replaceChildren(this.tools, this.key, this.host, this.voice, this.print);
    this.element.querySelector("figcaption").after(dataTable(chart, chart.name));
    this.buildTools();
  }

  buildTools() {
    const { chart } = this;
    const parts = [];
    if (chart.views.length > 1) {
      const titles = chart.views.map((view) => view.title);
      parts.push(choices(titles, this.view, `What ${chart.name} shows`, (place) => {
        this.view = place;
        this.zoom.y = null;
        this.kinds.y = null;
        this.draw();
      }));
    }
    for (const side of ["x", "y"]) {
      const axis = side === "x" ? chart.x : yAxis(chart, chart.views[0], {});
      if (otherScale(axis) && !ONE_SCALE.includes(chart.form)) parts.push(this.scaleButton(side));
    }
    this.back = button("whole", "Show the whole axes again", () => this.reset());
    this.back.hidden = true;
    parts.push(this.back);
    parts.push(button("CSV", "Save the data", () => save(`${fileName(chart.name)}.csv`, "text/csv", csvText(chart.table))));
    parts.push(button("SVG", "Save the figure as SVG", () => save(`${fileName(chart.name)}.svg`, "image/svg+xml", this.svg())));
    parts.push(button("PNG", "Save the figure as PNG", () => savePng(`${fileName(chart.name)}.png`, this.svg())));
    this.tools.append(...parts);
  }

  scaleButton(side) {
    const one = button(`${side} axis: ${this.kindOf(side)}`, `Divide the ${side} axis otherwise`, () => {
      const own = side === "x" ? this.chart.x : this.yAxisNow();
      this.kinds[side] = this.kindOf(side) === own.scale ? otherScale(own) : own.scale;
      this.zoom[side] = null;
      one.textContent = `${side} axis: ${this.kindOf(side)}`;
      this.draw();
    });
    one.dataset.scale = side;
    return one;
  }

  yAxisNow() {
    return yAxis(this.chart, this.chart.views[this.view], {});
  }

  kindOf(side) {
    return this.kinds[side] ?? (side === "x" ? this.chart.x : this.yAxisNow()).scale;
  }

  // The names of lines that the legend of the page does not have, or not in these colours.
  drawKey() {
    const names = lineNames(this.chart);
    const isInLegend = (name) => this.chart.line === "name" && this.page.names.includes(name);
    const own = names.length > 1 && (this.chart.barLooks || !names.every(isInLegend)) ? names : [];
    this.key.replaceChildren(
      ...[...own, ...this.words()].map((name) => {
        const item = document.createElement("span");
        item.append(...(own.includes(name) ? [swatch(lookOf(this.looks, name))] : []), name);
        return item;
      }),
    );
  }

  // What is drawn beside the lines that have a name.
  words() {
    const { form, tipWords, reference, bandWords } = this.chart;
    const words = tipWords ? [`hatched: ${tipWords}`] : [];
    if (reference) words.push(`dashed: ${reference.name}`);
    if (bandWords) words.push(`${form === "line" ? "band" : "whisker"}: ${bandWords}`);
    return words;
  }

  /** What is drawn now: a sheet per panel. `dark` false: in light colours, for print. */
  sheets(dark) {
    const { chart } = this;
    const view = chart.views[this.view];
    const panels = panelsOf(chart, view)
      .filter((panel) => panel.name === null || isShown(panel.name))
      .map((panel) => ({ ...panel, lines: panel.lines.filter((line) => chart.line !== "name" || isShown(line.name)) }))
      .filter((panel) => panel.lines.some((line) => !line.isContext));
    const xScale = scaleOf(chart.x, this.kindOf("x"));
    const axisOf = (panel) => yAxis(chart, view, panel);
    const scaleFor = (panel) => scaleOf(axisOf(panel), this.kinds.y ?? axisOf(panel).scale);
    const reference = this.referenceLine();
    const all = reference ? panels.map((panel) => ({ ...panel, lines: [reference, ...panel.lines] })) : panels;
    placePoints(all, xScale, scaleFor, chart.form);
    const whole = xRange(all, chart.x, xScale, chart.marks);
    const isBars = ["bars", "stack"].includes(chart.form);
    const heights = panels.map((panel) => {
      const peers = all.filter((other) => axisOf(other) === axisOf(panel));
      return yRange(peers, axisOf(panel), scaleFor(panel), isBars);
    });
    all.forEach((panel, place) => {
      placeAtEnds(panel.lines, "px", whole);
      if (!isBars) placeAtEnds(panel.lines, "py", heights[place]);
    });
    const marks = chart.marks.map(([words, value]) => ({ words, place: xScale.to(value) }));
    return panels.map((panel, place) => {
      const yScale = scaleFor(panel);
      return {
        ...panel,
        form: chart.form,
        tipWords: chart.tipWords,
        reference,
        marks,
        xScale,
        yScale,
        xAxis: chart.x,
        yAxis: axisOf(panel),
        xRange: this.zoom.x ?? whole,
        yRange: this.zoom.y ?? heights[place],
        lookOf: (line) => line.look?.(dark) ?? (line.isContext ? contextLook(dark) : lookOf(this.looks, line.name, dark)),
      };
    });
  }

  referenceLine() {
    const { reference } = this.chart;
    if (!reference) return null;
    const points = reference.x.map((x, place) => ({ x, y: reference.y[place] }));
    return { name: reference.name, points, isContext: true, look: referenceLook };
  }

  draw() {
    const began = performance.now();
    this.plots.forEach((plot) => plot.destroy());
    this.current = this.sheets();
    this.drawKey();
    this.host.style.setProperty("--columns", String(this.columns()));
    this.panels = this.current.map((sheet) => makePanel(sheet, this.host));
    this.host.replaceChildren(...this.panels.map((panel) => panel.element));
    this.plots = this.current.map((sheet, place) => this.plot(sheet, this.panels[place]));
    this.back.hidden = !this.zoom.x && !this.zoom.y;
    this.tools.querySelectorAll("[data-scale]").forEach((one) => {
      one.textContent = `${one.dataset.scale} axis: ${this.kindOf(one.dataset.scale)}`;
    });
    this.isDrawn = true;
    this.element.dataset.drawn = (performance.now() - began).toFixed(1);
  }

  columns() {
    const last = Object.keys(this.chart.panelAxes).length;
    return (last <= ACROSS && last) || (this.current.length === 4 ? 2 : Math.min(this.current.length, 3));
  }

  plot(sheet, panel) {
    const shown = sheet.reference ? { ...sheet, lines: [sheet.reference, ...sheet.lines] } : sheet;
    const drawn = sheet.reference ? { ...shown, form: "points" } : shown;
    const plot = drawPlot(panel.plot, drawn, {
      hover: (place, left, top) => this.hover(sheet, panel, place, left, top),
      leave: () => (panel.hover.hidden = true),
      zoom: (x, y) => this.zoomTo(x, y),
      reset: () => this.reset(),
    });
    panel.plot.onkeydown = (event) => this.pressed(event, sheet, panel, plot);
    return plot;
  }

  hover(sheet, panel, place, left, top) {
    const found = readAt(sheet, place);
    if (found === null || !found.rows.length) panel.hover.hidden = true;
    else showHover(panel.hover, sheet, found, left, top);
    return found;
  }

  zoomTo(x, y) {
    if (x) this.zoom.x = x;
    if (y && !Object.keys(this.chart.panelAxes).length) this.zoom.y = y;
    this.draw();
  }

  reset() {
    this.zoom = { x: null, y: null };
    this.draw();
  }

  // Left and right go from point to point, + and - zoom around the point, 0 shows all, Escape lets go.
  pressed(event, sheet, panel, plot) {
    const places = placesOf(sheet.lines.filter((line) => !line.isContext)).filter(
      (place) => place >= sheet.xRange[0] && place <= sheet.xRange[1],
    );
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step && places.length) {
      const last = panel.at === undefined ? (step > 0 ? -1 : places.length) : panel.at;
      panel.at = Math.min(Math.max(last + step, 0), places.length - 1);
      const left = plot.valToPos(places[panel.at], "x") + plot.over.offsetLeft;
      const found = this.hover(sheet, panel, places[panel.at], left, 20);
      if (found) this.voice.textContent = hoverText(sheet, found);
    } else if (event.key === "+" || event.key === "-") {
      const [low, high] = sheet.xRange;
      const middle = places[panel.at] ?? (low + high) / 2;
      const part = event.key === "+" ? KEY_ZOOM : 1 / KEY_ZOOM;
      this.keepFocus(panel, () => this.zoomTo([middle + (low - middle) * part, middle + (high - middle) * part], null));
    } else if (event.key === "0") this.keepFocus(panel, () => this.reset());
    else if (event.key === "Escape") panel.hover.hidden = true;
    else return;
    event.preventDefault();
  }

  // Drawing makes new panels; the keys stay with the one that had them.
  keepFocus(panel, change) {
    const place = this.panels.indexOf(panel);
    change();
    this.panels[Math.min(place, this.panels.length - 1)]?.plot.focus();
  }

  fit() {
    this.plots.forEach((plot, place) => {
      const { clientWidth: width, clientHeight: height } = this.panels[place].plot;
      if (width && (width !== plot.width || height !== plot.height)) plot.setSize({ width, height });
    });
  }

  /** The figure as SVG, in light colours. */
  svg() {
    const view = this.chart.views.length > 1 ? ` ${this.chart.views[this.view].title}` : "";
    const title = `${this.chart.title}${view ? ` (${view.trim()})` : ""}`;
    return svgText(title, this.chart.note ?? this.page.note, this.sheets(false), this.words());
  }

  /** Puts the figure as SVG where paper shows it. */
  forPrint() {
    this.print.innerHTML = this.svg().replaceAll('id="clip', `id="${fileName(this.chart.name)}-clip`)
      .replaceAll("url(#clip", `url(#${fileName(this.chart.name)}-clip`);
  }
}
