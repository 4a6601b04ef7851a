// The small parts of a figure: buttons, a group of choices, a panel.

/** A button. */
export function button(words, title, onClick) {
  const one = document.createElement("button");
  one.type = "button";
  one.textContent = words;
  one.title = title;
  one.addEventListener("click", onClick);
  return one;
}

/** A row of buttons of which one is chosen. */
export function choices(titles, chosen, label, onChoice) {
  const group = document.createElement("div");
  group.className = "choices";
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", label);
  const buttons = titles.map((title, place) =>
    button(title, "", () => {
      mark(place);
      onChoice(place);
    }),
  );
  const mark = (place) => buttons.forEach((one, other) => one.setAttribute("aria-pressed", String(other === place)));
  mark(chosen);
  group.append(...buttons);
  return group;
}

/** The elements of a panel: titles around the plot, and the box for what stands at a place. */
export function makePanel(sheet) {
  const element = document.createElement("div");
  element.className = "panel";
  const head = document.createElement("div");
  head.className = "panel-head";
  if (sheet.title) head.append(strong(sheet.title), " ");
  head.append(sheet.yAxis.title);
  const holder = document.createElement("div");
  holder.className = "holder";
  const plot = document.createElement("div");
  plot.className = "canvas";
  plot.tabIndex = 0;
  plot.setAttribute("role", "group");
  plot.setAttribute("aria-label", `${sheet.title} ${sheet.yAxis.title} by ${sheet.xAxis.title}. ${KEYS}`.trim());
  const hover = document.createElement("div");
  hover.className = "hover";
  hover.hidden = true;
  holder.append(plot, hover);
  const foot = document.createElement("div");
  foot.className = "panel-foot";
  foot.textContent = sheet.xAxis.title;
  element.append(head, holder, foot);
  return { element, plot, hover };
}

const KEYS = "Arrow keys read values, plus and minus zoom, 0 shows all.";

function strong(words) {
  const one = document.createElement("strong");
  one.textContent = words;
  return one;
}
