// How the values of an axis become places along it, and back.
//
// A scale has `to` (value to place), `from` (place to value), `ticks` (places between two places, about
// `count` of them), `text` (a place in words) and `texts` (places in words that tell them apart). Plots work with
// places alone: on them every axis is linear.

import { writer } from "penstock/text";

const TAIL_END = 0.99995; // the largest share that is told apart from 1
const TAIL_TICKS = [0, 0.5, 0.9, 0.99, 0.999, 0.9999];
const DIGITS_MAX = 6; // of a tick; more would be as wide as a plot of two
const ZERO_BELOW = 0.7; // decades from zeros to the least of the others
// Decades for each tick that has room, up to which a decade has three ticks, or two: the closest of three are 0.3
// decades apart, of two 0.48. Our choice: three quarters of the room of a tick hold the words of most.
const CLOSEST = { threes: 0.4, twos: 0.64 };
const NEAR_ZERO = 10; // a near-zero axis is linear up to here

/** The scale of an axis of a chart. `kind` is its own, or the one that the reader has chosen. */
export function scaleOf(axis, kind = axis.scale) {
  if (kind === "named") return named(axis);
  const scale = { ...SCALES[kind](axis), ...writing(axis, kind), kind };
  return axis.unit === "count" ? { ...scale, ticks: wholeTicks(scale) } : scale;
}

// Between two trials there is none.
function wholeTicks({ from, ticks }) {
  return (...range) => ticks(...range).filter((place) => Number.isInteger(clean(from(place))));
}

/** The other scale that a reader can choose for an axis; none for words. */
export function otherScale(axis) {
  if (axis.scale === "named") return null;
  return axis.scale === "linear" ? "log" : "linear";
}

function writing(axis, kind) {
  const write = writer(axis.unit);
  const { from } = SCALES[kind](axis);
  const text = (place, digits) => write(clean(from(place)), digits);
  return { text, texts: (places) => apart(places, text) };
}

// 1.065 and 1.06 have the same three digits.
function apart(places, text, digits = 3) {
  const words = places.map((place) => text(place, digits));
  const areApart = new Set(words).size === words.length;
  return areApart || digits === DIGITS_MAX ? words : apart(places, text, digits + 1);
}

// 0.30000000000000004 is 0.3.
function clean(value) {
  return Number(value.toPrecision(12));
}

function named(axis) {
  const places = new Map(axis.names.map((name, place) => [name, place]));
  return {
    kind: "named",
    to: (name) => places.get(name) ?? null,
    from: (place) => axis.names[Math.round(place)],
    ticks: () => axis.names.map((_, place) => place),
    text: (place) => axis.names[place] ?? "",
    texts: (places) => places.map((place) => axis.names[place] ?? ""),
  };
}

const SCALES = {
  linear: () => ({ to: (value) => value, from: (place) => place, ticks: linearTicks }),
  log: (axis) => (axis.least ? logWithZero(Math.log10(axis.least)) : {
    to: (value) => (value > 0 ? Math.log10(value) : -Infinity), // a zero stands at the lower end
    from: (place) => 10 ** place,
    ticks: logTicks,
  }),
  tail: () => ({
    to: (share) => -Math.log10(1 - Math.min(share, TAIL_END)),
    from: (place) => 1 - 10 ** -place,
    ticks: (low, high) => TAIL_TICKS.map((share) => -Math.log10(1 - share)).filter((at) => at >= low && at <= high),
  }),
  "near-zero": () => ({
    to: (value) => (value <= NEAR_ZERO ? value / NEAR_ZERO : 1 + Math.log10(value / NEAR_ZERO)),
    from: (place) => (place <= 1 ? place * NEAR_ZERO : NEAR_ZERO * 10 ** (place - 1)),
    ticks: nearZeroTicks,
  }),
};

/** A logarithmic scale on which zeros have a place of their own below the least of the others. */
function logWithZero(least) {
  const zero = least - ZERO_BELOW;
  return {
    to: (value) => (value > 0 ? Math.log10(value) : zero),
    from: (place) => (place < least - ZERO_BELOW / 2 ? 0 : 10 ** place),
    ticks: (low, high, count) => [zero, ...logTicks(Math.max(low, least), high, count - 1)].filter((at) => at >= low),
  };
}

/** Round steps of 1, 2 or 5 times a power of ten. */
function linearTicks(low, high, count) {
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push(clean(k * step));
  return ticks;
}

function logTicks(low, high, count) {
  const decades = high - low;
  if (decades < 0.7) return linearTicks(10 ** low, 10 ** high, count).filter((one) => one > 0).map(Math.log10);
  const isRoomy = (most) => decades <= most * count;
  const steps = isRoomy(CLOSEST.threes) ? [1, 2, 5] : isRoomy(CLOSEST.twos) ? [1, 3] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(count, 1)));
  const ticks = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) {
    if (steps.length === 1 && power % every !== 0) continue;
    for (const step of steps) ticks.push(power + Math.log10(step));
  }
  return ticks.filter((at) => at >= low - 1e-9 && at <= high + 1e-9);
}

function nearZeroTicks(low, high, count) {
  const values = count > 7 ? [0, 2, 4, 6, 8] : [0, 5];
  // Three steps in each decade above the linear part, where they fit: between 10 and 100 a reader needs some.
  const steps = count > 7 || values.length + 3 * (high - 1) <= count ? [1, 2, 5] : [1];
  for (let power = 1; power < 7; power += 1) for (const step of steps) values.push(step * 10 ** power);
  return values.map(SCALES["near-zero"]().to).filter((at) => at >= low && at <= high);
}
