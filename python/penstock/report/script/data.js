// The data of the page: read once from its script element, inflated where they are compressed.

/** Reads what the page shows: looks of the schemes, and figures. */
export async function readPage() {
  const element = document.getElementById("page-data");
  return JSON.parse(element.dataset.form === "deflate" ? await inflate(element.textContent) : element.textContent);
}

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

/** A table by columns: name to an array with a value per row. */
export function readTable(columns) {
  const table = {};
  for (const [name, column] of Object.entries(columns)) {
    table[name] = Array.isArray(column) ? column.map(number) : column.at.map((place) => column.words[place] ?? null);
  }
  return table;
}

// JSON has no infinity, so the words stand for it.
function number(value) {
  if (value === "inf") return Infinity;
  return value === "-inf" ? -Infinity : value;
}

/** How many rows a table has. */
export function rowCount(table) {
  const [first] = Object.values(table);
  return first ? first.length : 0;
}

/** A table as the text of a CSV file. */
export function csvText(table) {
  const names = Object.keys(table);
  const lines = [names.map(cell).join(",")];
  for (let row = 0; row < rowCount(table); row += 1) lines.push(names.map((name) => cell(table[name][row])).join(","));
  return `${lines.join("\n")}\n`;
}

function cell(value) {
  if (value === null) return "";
  const text = value === Infinity ? "inf" : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
