// What the reader has chosen for the whole page: which schemes are hidden.

const hidden = new Set();
const listeners = [];

/** Whether a scheme is shown; names that no legend has are always shown. */
export function isShown(name) {
  return !hidden.has(name);
}

/** Whether nothing is hidden. */
export function isAllShown() {
  return hidden.size === 0;
}

/** Hides a scheme in all figures, or shows it again. */
export function toggle(name) {
  if (!hidden.delete(name)) hidden.add(name);
  tell();
}

/** Shows one scheme alone in all figures. */
export function showOnly(name, every) {
  hidden.clear();
  every.filter((one) => one !== name).forEach((one) => hidden.add(one));
  tell();
}

/** Shows all schemes again. */
export function showAll() {
  hidden.clear();
  tell();
}

/** Calls a function whenever schemes are hidden or shown. */
export function onState(listener) {
  listeners.push(listener);
}

function tell() {
  listeners.forEach((listener) => listener());
}
