// The network: nodes with names and places, directed links, and the port from which each leaves.

class Network {
  constructor(facts, columns) {
    this.names = facts.names;
    this.hostCount = facts.host_count;
    this.firstNic = facts.host_count + facts.switch_count;
    this.place = facts.place;
    this.from = columns.get("link.from");
    this.to = columns.get("link.to");
    this.rate = columns.get("link.rate_bps");
    this.delay = columns.get("link.delay_ps");
    this.queueMost = columns.get("link.queue_bytes_max");
    this.linkCount = this.from.length;
    this.nodeCount = this.names.length;
    this.egress = rowsByKey(this.from, this.nodeCount);
    const ends = new Map();
    for (let link = 0; link < this.linkCount; link += 1) ends.set(`${this.from[link]} ${this.to[link]}`, link);
    this.reverse = Array.from(this.from, (from, link) => ends.get(`${this.to[link]} ${from}`));
    this.byName = new Map();
    for (let node = 0; node < this.nodeCount; node += 1) {
      this.byName.set(this.names[node].toLowerCase(), { kind: "node", id: node });
    }
    for (let link = 0; link < this.linkCount; link += 1) {
      this.byName.set(this.linkName(link, "-").toLowerCase(), { kind: "port", id: link });
    }
    this.longestQueue = this.queueMost.reduce((most, bytes) => Math.max(most, bytes), 0);
  }

  isHost(node) {
    return node < this.hostCount;
  }

  /** What a node is, in a word. NICs are nodes in runs in real time only. */
  kind(node) {
    if (this.isHost(node)) return "Host";
    return node >= this.firstNic ? "NIC" : "Switch";
  }

  /** Such as `T0→H3`: also the name of the port of `T0` from which the link leaves. */
  linkName(link, arrow = "→") {
    return `${this.names[this.from[link]]}${arrow}${this.names[this.to[link]]}`;
  }

  /** The link from a host to its switch. */
  uplink(host) {
    return this.egress.of(host)[0];
  }

  /** The link from its switch to a host. */
  downlink(host) {
    return this.reverse[this.uplink(host)];
  }
}
