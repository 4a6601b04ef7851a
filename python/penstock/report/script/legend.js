// The one legend of the page: a button for each scheme, which hides the scheme in all figures at once.

import { lookOf, markerPath } from "penstock/look";
import { svgPen } from "penstock/pen";
import { isAllShown, isShown, onState, showAll, showOnly, toggle } from "penstock/state";
import { onTheme } from "penstock/theme";

/** A short piece of a scheme's line with its marker, as an element. */
export function swatch(look) {
  const out = [];
  const pen = svgPen(out);
  pen.path("M1,7H25", { stroke: look.colour, width: 2, dash: look.dash });
  if (look.marker) pen.path(markerPath(look.marker, 13, 7, 4), { fill: look.colour });
  const holder = document.createElement("span");
  holder.className = "swatch";
  holder.setAttribute("aria-hidden", "true");
  holder.innerHTML = `<svg width="26" height="14" viewBox="0 0 26 14">${out.join("")}</svg>`;
  return holder;
}

/** Fills the legend with the names of all figures; one name alone needs none. */
export function startLegend(element, names, looks) {
  if (names.length < 2) return;
  const all = document.createElement("button");
  all.type = "button";
  all.className = "all";
  all.textContent = "show all";
  all.addEventListener("click", showAll);
  const buttons = names.map((name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.name = name;
    button.title = `${name}: click to hide or show, double-click or Shift for this one alone`;
    button.addEventListener("click", (event) => (event.shiftKey ? showOnly(name, names) : toggle(name)));
    button.addEventListener("dblclick", () => showOnly(name, names));
    return button;
  });
  const show = () => {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(isShown(button.dataset.name)));
      button.replaceChildren(swatch(lookOf(looks, button.dataset.name)), button.dataset.name);
    }
    all.hidden = isAllShown();
  };
  element.append(...buttons, all);
  element.hidden = false;
  onState(show);
  onTheme(show);
  show();
}
