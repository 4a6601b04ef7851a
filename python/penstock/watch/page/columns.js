// The way of the tables out of the page; penstock/watch/column.py is the way in.
// Every column becomes a typed array, the smallest that holds its values; above 2^32 of doubles,
// which are exact below 2^53.

/** Reads all columns: name to typed array. */
async function readColumns(packed) {
  let bytes = Uint8Array.from(atob(packed.text), (character) => character.charCodeAt(0));
  if (packed.deflated) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const found = new Map();
  let place = 0;
  for (const column of packed.columns) {
    found.set(column.name, readColumn(bytes, place, column));
    place += column.rows * column.planes;
  }
  return found;
}

function readColumn(bytes, place, { rows, planes, ascending, bytes: width }) {
  const Values = width <= 1 ? Uint8Array : width <= 2 ? Uint16Array : width <= 4 ? Uint32Array : Float64Array;
  const values = new Values(rows);
  let weight = 1;
  for (let plane = 0; plane < planes; plane += 1) {
    for (let row = 0; row < rows; row += 1) values[row] += bytes[place + row] * weight;
    place += rows;
    weight *= 256;
  }
  if (ascending) {
    for (let row = 1; row < rows; row += 1) values[row] += values[row - 1];
  }
  return values;
}
