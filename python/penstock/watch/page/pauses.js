// Pauses: which queue or class of which link must not send, and from when to when.

class Pauses {
  constructor(columns, network, endPs) {
    this.begin = columns.get("pause.begin_ps");
    this.link = columns.get("pause.link");
    this.queue = columns.get("pause.queue");
    this.causePort = columns.get("pause.cause_port");
    this.causeQueue = columns.get("pause.cause_queue");
    this.causeFlow = columns.get("pause.cause_flow");
    const length = columns.get("pause.length_ps");
    this.lasts = Array.from(length, (one) => one === 0);
    this.end = Float64Array.from(length, (one, row) => (one === 0 ? endPs + 1 : this.begin[row] + one - 1));
    this.ofLink = rowsByKey(this.link, network.linkCount);
    this.byEnd = Uint32Array.from(this.end.keys()).sort((a, b) => this.end[a] - this.end[b] || a - b);
    this.endsInOrder = Float64Array.from(this.byEnd, (row) => this.end[row]);
    this.linkBegins = [];
    this.linkEnds = [];
    for (let link = 0; link < network.linkCount; link += 1) {
      const rows = this.ofLink.of(link);
      this.linkBegins.push(Float64Array.from(rows, (row) => this.begin[row]));
      this.linkEnds.push(Float64Array.from(rows, (row) => this.end[row]).sort());
    }
  }

  /** How many pauses a link has at `time`. */
  countOn(link, time) {
    return countUpTo(this.linkBegins[link], time) - countUpTo(this.linkEnds[link], time);
  }

  /** How many pauses the network has at `time`. */
  count(time) {
    return countUpTo(this.begin, time) - countUpTo(this.endsInOrder, time);
  }

  /** The pauses of a link that are in force at `time`, in order of begin. */
  on(link, time) {
    const rows = this.ofLink.of(link);
    const begun = countUpTo(this.linkBegins[link], time);
    const found = [];
    for (let place = 0; place < begun; place += 1) if (this.end[rows[place]] > time) found.push(rows[place]);
    return found;
  }

  /** The pause of one queue of a link at `time`, or null. */
  onQueue(link, queue, time) {
    return this.on(link, time).find((row) => this.queue[row] === queue) ?? null;
  }

  /** All links that have a pause at `time`. */
  pausedLinks(time) {
    const found = [];
    for (let link = 0; link < this.linkBegins.length; link += 1) {
      if (this.countOn(link, time) > 0) found.push(link);
    }
    return found;
  }
}
