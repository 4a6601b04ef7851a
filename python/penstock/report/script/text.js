// Numbers as people read them; the same words as penstock/readable.py writes.

const BYTES = ["B", "KB", "MB", "GB", "TB"];

/** A number with so many significant digits, thousands separated; a dash where there is none. */
export function numberText(value, digits = 3) {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const rounded = Number(value.toPrecision(digits));
  return Math.abs(rounded) >= 10 ** digits ? Math.round(value).toLocaleString("en") : String(rounded);
}

/** A size with a decimal unit: 1500 is "1.5 KB". */
export function bytesText(value, digits = 3) {
  if (value === null || Number.isNaN(value)) return "–";
  let step = 0;
  while (Math.abs(value) >= 999.5 && step < BYTES.length - 1) {
    value /= 1000;
    step += 1;
  }
  return `${Number(value.toPrecision(digits))} ${BYTES[step]}`;
}

/** A share of 1 as a percentage; more digits towards 100 %. */
export function shareText(value, digits = 3) {
  if (value === null || Number.isNaN(value)) return "–";
  const percent = 100 * value;
  if (percent > 99 && percent < 100) return `${Number(percent.toFixed(4))} %`;
  return `${Number(percent.toPrecision(digits))} %`;
}

/** The function that writes numbers of a unit: "number", "count", "bytes" or "share". */
export function writer(unit) {
  return { number: numberText, count: numberText, bytes: bytesText, share: shareText }[unit];
}

/** A name of the data as the name of a file. */
export function fileName(text) {
  return text.replace(/[^\w.-]+/g, "-");
}
