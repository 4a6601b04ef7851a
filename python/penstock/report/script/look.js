// How schemes look: colour by theme, dash, marker. The looks come from penstock/look.py.

import { isDark } from "penstock/theme";

const DASHES = { "-": [], "--": [6, 3], "-.": [7, 3, 1.5, 3], ":": [1.8, 2.6] };
const CONTEXT = { light: "#c3cad1", dark: "#46515b" }; // lines that stand behind others
const REFERENCE = { light: "#6b7580", dark: "#9aa7b3" }; // quiet ink, as captions

/** Colour, dash and marker of a name as the page shows it now; `dark` says otherwise, for print. */
export function lookOf(looks, name, dark = isDark()) {
  const look = looks[name];
  return { colour: dark ? look.dark : look.light, dash: DASHES[look.dash], marker: look.marker };
}

/** The look of a closed form beside points. */
export function referenceLook(dark = isDark()) {
  return { colour: dark ? REFERENCE.dark : REFERENCE.light, dash: [6, 3], marker: "" };
}

/** The look of a line that only stands behind another. */
export function contextLook(dark = isDark()) {
  return { colour: dark ? CONTEXT.dark : CONTEXT.light, dash: [], marker: "" };
}

/** The path of a marker around a point; `marker` is a letter of Matplotlib's. */
export function markerPath(marker, x, y, r = 3.6) {
  const shape = SHAPES[marker];
  if (!shape) return "";
  if (typeof shape === "function") return shape(x, y, r);
  const corners = shape.map(([dx, dy]) => `${round(x + dx * r)},${round(y + dy * r)}`);
  return `M${corners.join("L")}Z`;
}

function round(value) {
  return Math.round(value * 100) / 100;
}

const PLUS = [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1],
  [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]];

const SHAPES = {
  o: (x, y, r) => `M${round(x - r)},${round(y)}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`,
  s: [[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]],
  D: [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  d: [[0, -1.35], [0.8, 0], [0, 1.35], [-0.8, 0]],
  "^": [[0, -1.2], [1.15, 0.9], [-1.15, 0.9]],
  v: [[0, 1.2], [1.15, -0.9], [-1.15, -0.9]],
  "<": [[-1.2, 0], [0.9, -1.15], [0.9, 1.15]],
  ">": [[1.2, 0], [-0.9, -1.15], [-0.9, 1.15]],
  P: PLUS,
  X: PLUS.map(([x, y]) => [(x - y) * Math.SQRT1_2, (x + y) * Math.SQRT1_2]),
  x: PLUS.map(([x, y]) => [(x - y) * 0.6, (x + y) * 0.6]),
};
