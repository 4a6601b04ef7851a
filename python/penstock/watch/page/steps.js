// Steps: everything that happens, one after the other. A step is a decision of a traced switch, the
// begin or end of a pause, a dropped packet or the deadlock.
//
// Invariant: steps are in the order of (time, source, place), so that going back undoes going on.

class Steps {
  constructor(data) {
    this.data = data;
    const { pauses, trace, drops, deadlock } = data;
    this.sources = [
      { name: "decision", time: trace.decisionTime },
      { name: "resume", time: pauses.endsInOrder },
      { name: "pause", time: pauses.begin },
      { name: "drop", time: drops.time },
      { name: "deadlock", time: deadlock ? [deadlock.time_ps] : [] },
    ];
  }

  get isEmpty() {
    return this.sources.every((source) => source.time.length === 0);
  }

  /** The position between steps at a moment: all steps up to `time` have been taken. */
  position(time) {
    return { time, source: this.sources.length, place: -1 };
  }

  /** The next step after a position (`way` 1) or the last before it (`way` -1) that `isWanted`; or null. */
  neighbour(position, way, isWanted) {
    let best = null;
    this.sources.forEach(({ time }, source) => {
      let place = this.firstAfter(position, source);
      if (way < 0) place -= 1;
      if (way < 0 && place >= 0 && this.isAt(position, source, place)) place -= 1;
      while (place >= 0 && place < time.length && !isWanted(this.step(source, place))) place += way;
      if (place < 0 || place >= time.length) return;
      const found = { time: time[place], source, place };
      if (best === null || way * this.order(found, best) < 0) best = found;
    });
    return best;
  }

  order(a, b) {
    return a.time - b.time || a.source - b.source || a.place - b.place;
  }

  isAt(position, source, place) {
    return position.source === source && position.place === place;
  }

  /** The place in a source of its first step behind a position. */
  firstAfter(position, source) {
    const { time } = this.sources[source];
    const upTo = countUpTo(time, position.time);
    if (source < position.source) return upTo;
    if (source === position.source) return position.place + 1;
    return countUpTo(time, position.time - 1);
  }

  /** What a step is about: nodes, links, flow; and how it is told. */
  step(source, place) {
    const { pauses, trace, drops, network } = this.data;
    const { name } = this.sources[source];
    if (name === "decision") {
      const row = trace.decision[place];
      const links = [trace.ingress[row] - 1, trace.egress[row] - 1];
      return { nodes: [trace.node[row]], links, flow: trace.flow[row] };
    }
    if (name === "drop") return { nodes: [drops.node[place]], links: [drops.link[place]], flow: null };
    if (name === "deadlock") return { nodes: this.data.deadlock.nodes, links: this.data.deadlock.cycle.map((one) => one.link), flow: null };
    const row = name === "pause" ? place : pauses.byEnd[place];
    const link = pauses.link[row];
    const flow = pauses.causeFlow[row] > 0 ? pauses.causeFlow[row] - 1 : null;
    return { nodes: [network.from[link], network.to[link]], links: [link], flow };
  }

  /** A step in words: { place, text }. */
  words({ source, place }) {
    const { pauses, drops, network, deadlock } = this.data;
    switch (this.sources[source].name) {
      case "decision":
        return decisionWords(this.data, place);
      case "pause":
        return { place: network.linkName(pauses.link[place]), text: pauseWords(this.data, place) };
      case "resume": {
        const row = pauses.byEnd[place];
        return { place: network.linkName(pauses.link[row]), text: resumeWords(this.data, row) };
      }
      case "drop":
        return { place: network.names[drops.node[place]], text: `a packet for ${network.linkName(drops.link[place])} is dropped` };
      default:
        return { place: "Deadlock", text: `these links wait for each other: ${deadlock.cycle.map((one) => network.linkName(one.link)).join(", ")}` };
    }
  }
}
