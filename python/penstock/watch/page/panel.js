// The panel beside the drawing: what is selected, in words and tables. Here are its parts; details.js
// says what stands in it.

/** An element with attributes and children; texts are texts, never markup. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A table of rows; the first row has the titles. */
function tableOf(titles, rows) {
  const head = make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title)));
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell))));
  return make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": titles.join(", ") },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}

/** Pairs of a name and a value. */
function factsOf(pairs) {
  const shown = pairs.filter(([, value]) => value !== null);
  return make("dl", {}, ...shown.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

/** Why a view has no data, and what records it. */
function noteOf(text) {
  return make("p", { class: "note" }, text);
}

class Panel {
  constructor(element, data, select) {
    this.element = element;
    this.data = data;
    this.select = select;
  }

  /** Shows a selection at a time. */
  show(selection, time) {
    const focus = this.element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const parts = selection === null ? overviewParts(this, time) : DETAILS[selection.kind](this, selection.id, time);
    this.element.replaceChildren(...parts.filter((part) => part !== null));
    if (focus) this.element.querySelector(`[data-key="${focus}"]`)?.focus({ preventScroll: true });
  }

  /** A button that selects something. */
  button(kind, id, text) {
    return make("button", { type: "button", class: "link", "data-key": `${kind}-${id}`, onclick: () => this.select({ kind, id }) }, text);
  }

  port(link) {
    return this.button("port", link, this.data.network.linkName(link));
  }

  node(node) {
    return this.button("node", node, this.data.network.names[node]);
  }

  /** A flow with its colour. */
  flow(row) {
    const { flows } = this.data;
    return make("span", { class: "flow" }, this.swatch(flows.colour(row)), this.button("flow", row, `flow ${countText(flows.number[row])}`));
  }

  /** The flow with a number; without a button where the page does not have the flow. */
  flowNumbered(number) {
    const row = this.data.flows.rowOf(number);
    return row === null ? `flow ${countText(number)}` : this.flow(row);
  }

  swatch(colour) {
    return make("span", { class: "swatch", style: `background:${colour}`, "aria-hidden": "true" });
  }
}
