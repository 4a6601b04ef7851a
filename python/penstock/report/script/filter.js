// Filters of a long page: only the rows and figures of chosen papers and verdicts are shown.

/** Makes the choices of the page work, if it has any: a <select> for each attribute `data-…` of what is filtered. */
export function startFilters() {
  const form = document.getElementById("page-filters");
  if (!form) return;
  const selects = [...form.querySelectorAll("select")];
  const count = document.getElementById("page-filtered");
  const show = () => {
    for (const one of document.querySelectorAll("[data-filtered]")) {
      one.hidden = !selects.every((select) => matches(one, select));
    }
    const rows = [...document.querySelectorAll("tr[data-filtered]")];
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  };
  selects.forEach((select) => select.addEventListener("change", show));
  form.hidden = false;
  show();
}

// An element may have several values, e.g. a figure with claims of several verdicts.
function matches(element, select) {
  const own = (element.dataset[select.name] ?? "").split("|");
  return select.value === "" || own.includes(select.value);
}
