// The beginning: everything above is defined, now the page is made.

const page = new Page(dataOf(await readColumns(JSON.parse(element("columns").textContent))));
// For tests and for the curious: what the page knows and shows.
window.penstock = page;
