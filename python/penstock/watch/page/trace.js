// The packet trace: what each traced switch decided, and what stood in its queues at any time.

class Trace {
  constructor(columns, network, events, hasEpochs) {
    for (const name of ["time_ps", "node", "event", "flow", "sequence", "size_bytes", "queue_bytes", "port_bytes",
      "active_queues", "ingress", "egress", "queue", "upstream_queue", "threshold_bytes", "decision"]) {
      this[name] = columns.get(`trace.${name}`);
    }
    this.events = events;
    this.network = network;
    this.hasEpochs = hasEpochs;
    this.count = this.time_ps.length;
    // Numbers that can be missing are stored plus 1; port 0 is none.
    this.ofPort = rowsByKey(this.egress, network.linkCount + 1);
    this.isTraced = new Uint8Array(network.nodeCount);
    this.node.forEach((node) => {
      this.isTraced[node] = 1;
    });
    this.rowsOfFlow = new Map();
    this.flow.forEach((flow, row) => {
      if (!this.rowsOfFlow.has(flow)) this.rowsOfFlow.set(flow, []);
      this.rowsOfFlow.get(flow).push(row);
    });
    this.replays = new Map();
    this.decisionTime = Float64Array.from(this.decision, (row) => this.time_ps[row]);
  }

  get isEmpty() {
    return this.count === 0;
  }

  eventName(row) {
    return this.events[this.event[row]];
  }

  /** The rows of a decision: first and the one after the last. */
  rowsOf(decision) {
    return [this.decision[decision], this.decision[decision + 1] ?? this.count];
  }

  /** What stands in the queues of a port at `time`; null where the port was not traced. */
  port(link, time) {
    if (!this.isTraced[this.network.from[link]]) return null;
    let replay = this.replays.get(link);
    if (replay === undefined || replay.time > time) {
      replay = { time: -1, next: 0, queues: new Map(), portBytes: 0, activeQueues: 0 };
      this.replays.set(link, replay);
    }
    const rows = this.ofPort.of(link + 1);
    while (replay.next < rows.length && this.time_ps[rows[replay.next]] <= time) {
      this.apply(replay, rows[replay.next]);
      replay.next += 1;
    }
    replay.time = time;
    return replay;
  }

  /** Brings the queues of a port up to one more row. */
  apply(replay, row) {
    const event = this.eventName(row);
    if (!["enqueue", "depart", "drop"].includes(event)) return;
    const number = this.queue[row] - 1;
    if (!replay.queues.has(number)) replay.queues.set(number, { packets: [], bytes: 0, threshold: null });
    const queue = replay.queues.get(number);
    const isThis = (one) => one.flow === this.flow[row] && one.sequence === this.sequence[row];
    if (event === "enqueue") {
      queue.packets.push({ flow: this.flow[row], sequence: this.sequence[row], bytes: this.size_bytes[row] });
    } else {
      const place = queue.packets.findIndex(isThis);
      if (place < 0) return;
      queue.packets.splice(place, 1);
    }
    queue.bytes = this.queue_bytes[row];
    queue.threshold = this.threshold_bytes[row] === 0 ? null : this.threshold_bytes[row] - 1;
    replay.portBytes = this.port_bytes[row];
    replay.activeQueues = this.active_queues[row];
  }

  /**
   * The queue of a flow at the port from which `link` leaves, by its packet next to `time`; or null. Where queues
   * have epochs only the next switch tells queue and epoch, as pauses name them.
   */
  queueOf(flow, link, time) {
    const rows = this.rowsOfFlow.get(flow) ?? [];
    let found = null;
    for (const row of rows) {
      const isOwn = !this.hasEpochs && this.egress[row] === link + 1 && this.queue[row] > 1;
      const own = isOwn ? this.queue[row] - 1 : null;
      const behind = this.ingress[row] === link + 1 && this.upstream_queue[row] > 0 ? this.upstream_queue[row] - 1 : null;
      const queue = own ?? behind;
      if (queue !== null && (found === null || this.time_ps[row] <= time)) found = queue;
      if (queue !== null && this.time_ps[row] > time) break;
    }
    return found;
  }
}
