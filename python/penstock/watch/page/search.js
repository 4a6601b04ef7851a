// Binary search in ascending arrays, and lists of rows by a key.

/** How many of `values` are at most `limit`: the place after the last of them. */
function countUpTo(values, limit, first = 0, end = values.length) {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The rows of each key, ascending: rows of key `k` are `rows.subarray(starts[k], starts[k + 1])`. */
function rowsByKey(keys, keyCount) {
  const starts = new Uint32Array(keyCount + 1);
  for (let row = 0; row < keys.length; row += 1) {
    if (keys[row] < keyCount) starts[keys[row] + 1] += 1;
  }
  for (let key = 0; key < keyCount; key += 1) starts[key + 1] += starts[key];
  const next = starts.slice(0, keyCount);
  const rows = new Uint32Array(starts[keyCount]);
  for (let row = 0; row < keys.length; row += 1) {
    if (keys[row] < keyCount) rows[next[keys[row]]++] = row;
  }
  return { starts, rows, of: (key) => rows.subarray(starts[key], starts[key + 1]) };
}
