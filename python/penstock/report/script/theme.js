// Light or dark: as the system says, until the reader says otherwise.

const KEY = "penstock-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = [];

/** Whether the page is dark now. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

/** Calls a function whenever the page turns light or dark. */
export function onTheme(listener) {
  listeners.push(listener);
}

/** Makes the switch of the page work. */
export function startTheme(button) {
  const kept = remembered();
  if (kept) document.documentElement.dataset.theme = kept;
  const show = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    listeners.forEach((listener) => listener());
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    remember(document.documentElement.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  button.hidden = false;
  show();
}

// A browser may refuse storage to a page from a file; then the choice lasts as long as the page.
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // As above.
  }
}
