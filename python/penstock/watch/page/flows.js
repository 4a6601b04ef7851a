// Flows: when they run, which links they take, which colour they have.

/**
 * Of Okabe and Ito's palette ("Color Universal Design", 2008) the colours that mean nothing else in the
 * drawing, and a violet. They are told apart with every common form of colour blindness.
 */
const FLOW_COLOURS = ["#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#7a5cc9"];
/** The number of no path, of a flow that stays inside its server (`core_paths` of the core). */
const INSIDE = 0xffffffff;
/** Flows of a block; a block whose flows have all ended is skipped (our choice). */
const BLOCK = 1024;

class Flows {
  constructor(columns, network, endPs) {
    for (const name of ["number", "src", "dst", "size_bytes", "label", "class", "ideal_ps"]) {
      this[name] = columns.get(`flow.${name}`);
    }
    this.network = network;
    this.start = columns.get("flow.start_ps");
    this.length = columns.get("flow.length_ps");
    this.path = columns.get("flow.path");
    this.pathStart = columns.get("path.start");
    this.pathLink = columns.get("path.link");
    this.count = this.start.length;
    this.end = new Float64Array(this.count);
    this.blockEnd = new Float64Array(Math.ceil(this.count / BLOCK));
    for (let row = 0; row < this.count; row += 1) {
      this.end[row] = this.length[row] === 0 ? endPs + 1 : this.start[row] + this.length[row] - 1;
      const block = Math.floor(row / BLOCK);
      this.blockEnd[block] = Math.max(this.blockEnd[block], this.end[row]);
    }
    this.endsInOrder = this.end.slice().sort();
    // Flows that wait for others begin in another order than that of their numbers.
    this.rowOfNumber = new Map();
    this.number.forEach((number, row) => this.rowOfNumber.set(number, row));
    this.colourBy = "label";
  }

  get haveNoPaths() {
    return this.path === undefined;
  }

  /** How many flows are under way at `time`. */
  countAt(time) {
    return countUpTo(this.start, time) - countUpTo(this.endsInOrder, time);
  }

  /** Rows of the flows that are under way at `time`. */
  at(time) {
    const found = [];
    const begun = countUpTo(this.start, time);
    for (let first = 0; first < begun; first += BLOCK) {
      if (this.blockEnd[first / BLOCK] <= time) continue;
      const last = Math.min(first + BLOCK, begun);
      for (let row = first; row < last; row += 1) if (this.end[row] > time) found.push(row);
    }
    return found;
  }

  isFinished(row) {
    return this.length[row] !== 0;
  }

  /** Whether a flow stays inside its server, and takes no link of the network. */
  isInside(row) {
    return !this.haveNoPaths && this.path[row] === INSIDE;
  }

  /** The links of a flow from its source to its destination; empty where the path is not known, and inside a server. */
  links(row) {
    if (this.haveNoPaths || this.isInside(row)) return [];
    const path = this.path[row];
    const core = this.pathLink.subarray(this.pathStart[path], this.pathStart[path + 1]);
    return [this.network.uplink(this.src[row]), ...core, this.network.downlink(this.dst[row])];
  }

  colour(row) {
    const key = this.colourBy === "label" ? this.label[row] : this.number[row];
    return FLOW_COLOURS[key % FLOW_COLOURS.length];
  }

  /** The row of the flow with a number; null where the page does not have the flow. */
  rowOf(number) {
    return this.rowOfNumber.get(number) ?? null;
  }

  /** The colour of the flow with a number, also where the flow is not shown. */
  colourOf(number) {
    const row = this.rowOf(number);
    return row === null ? FLOW_COLOURS[number % FLOW_COLOURS.length] : this.colour(row);
  }
}
