// Numbers as people read them. Sizes have the papers' units: 1 KB is 1000 B.

const digits = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A whole number with its thousands apart. */
function countText(value) {
  return digits.format(value);
}

/** A number and the plural of a word where the number is not 1. */
function plural(count, word, words = `${word}s`) {
  return `${countText(count)} ${count === 1 ? word : words}`;
}

function scaled(value, units, step = 1000) {
  let unit = 0;
  while (Math.abs(value) >= 999.5 && unit < units.length - 1) {
    value /= step;
    unit += 1;
  }
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

/** A size [B]; below 10 KB to the byte. */
function bytesText(value) {
  return value < 10000 ? `${countText(value)} B` : scaled(value, ["B", "KB", "MB", "GB", "TB"]);
}

/** A length of time [ps]. */
function durationText(ps) {
  return scaled(ps, ["ps", "ns", "µs", "ms", "s"]);
}

/** A moment [ps] in microseconds, to the nanosecond or to another number of digits. */
function timeText(ps, digits = 3) {
  return `${(ps / 1e6).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} µs`;
}

/** A rate [bit/s]. */
function rateText(bps) {
  return scaled(bps, ["b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"]);
}
