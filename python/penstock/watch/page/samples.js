// Sampled values of links or switches. A value holds from its sample to the next.

/** The use of a link is its mean over the time of so many bytes, or since the sample before (our choice: 8 packets). */
const USE_BYTES = 12000;

class Samples {
  /** `group` is the prefix of the columns, `keyCount` how many links or nodes there are. */
  constructor(columns, group, names, keyCount) {
    this.time = columns.get(`${group}.time_ps`);
    this.placeOf = new Int32Array(keyCount).fill(-1);
    columns.get(`${group}.number`).forEach((number, place) => {
      this.placeOf[number] = place;
    });
    this.values = Object.fromEntries(names.map((name) => [name, columns.get(`${group}.${name}`)]));
  }

  get isEmpty() {
    return this.time.length === 0;
  }

  /** The sample in force at `time`; -1 before the first. */
  at(time) {
    return countUpTo(this.time, time) - 1;
  }

  /** A value of a link or node at a sample; null where there is none. */
  value(name, key, sample) {
    const place = this.placeOf[key];
    if (place < 0 || sample < 0) return null;
    return this.values[name][place * this.time.length + sample];
  }

  /** The first of the samples over which the use of a link is the mean: some packets before `sample`. */
  useSince(sample, rate) {
    return Math.max(0, Math.min(sample - 1, countUpTo(this.time, this.time[sample] - (USE_BYTES * 8e12) / rate) - 1));
  }

  /** The share of a link's rate that was used up to a sample; 0 to 1. */
  use(link, sample, rate) {
    const place = this.placeOf[link];
    if (sample < 1 || place < 0) return null;
    const first = this.useSince(sample, rate);
    const row = place * this.time.length;
    let bytes = 0;
    for (let one = first + 1; one <= sample; one += 1) bytes += this.values.sent_bytes[row + one];
    return Math.min(1, (bytes * 8e12) / (rate * (this.time[sample] - this.time[first])));
  }
}
