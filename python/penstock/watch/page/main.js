// Puts the page together: reads the columns, makes the parts, and carries what the user does to them.

const element = (id) => document.getElementById(id);
const facts = JSON.parse(element("facts").textContent);

/** All that is known of the run. */
function dataOf(columns) {
  const network = new Network(facts, columns);
  const data = {
    columns,
    network,
    endPs: facts.end_ps,
    trafficPs: facts.traffic_ps,
    labels: facts.labels,
    levels: facts.levels,
    notes: facts.notes,
    peaks: facts.buffer_peak_bytes,
    deadlock: facts.deadlock,
    queueCount: facts.queue_count,
    thresholdName: facts.threshold,
    pausesQueues: facts.pauses_queues,
    allClasses: facts.all_classes, // what a pause of all data names in place of a class
    flowPaused: new Set(facts.flow_paused),
    hasEpochs: facts.has_epochs,
    samples: new Samples(columns, "samples", ["queue_bytes", "active_queues", "paused_queues", "allowed_bps", "sent_bytes"], network.linkCount),
    buffers: new Samples(columns, "buffers", ["buffer_bytes"], network.nodeCount),
    pauses: new Pauses(columns, network, facts.end_ps),
    flows: new Flows(columns, network, facts.end_ps),
    trace: new Trace(columns, network, facts.events, facts.has_epochs),
    drops: { time: columns.get("drop.time_ps"), node: columns.get("drop.node"), link: columns.get("drop.link") },
  };
  const stored = new Float64Array(data.buffers.time.length);
  data.buffers.values.buffer_bytes.forEach((bytes, place) => {
    stored[place % stored.length] += bytes;
  });
  data.storedAt = (time) => stored[data.buffers.at(time)] ?? 0;
  data.steps = new Steps(data);
  return data;
}

class Page {
  constructor(data) {
    this.data = data;
    this.selection = null;
    this.step = null;
    this.shownAt = 0;
    this.player = new Player(data, () => this.onTime());
    this.drawing = new Drawing(element("network"), element("still"), data);
    this.timeline = new Timeline(element("timeline"), element("cursor"), data);
    this.panel = new Panel(element("panel"), data, (selection) => this.select(selection));
    this.fill();
    this.listen();
    this.resize();
    this.player.seek(0);
    document.documentElement.dataset.ready = "true";
  }

  /** Choices and legends that depend on the run. */
  fill() {
    const { flows, labels } = this.data;
    for (const speed of SPEEDS) element("speed").append(make("option", { value: speed }, `${durationText(speed)} a second`));
    element("scrubber").max = 10000;
    if (labels.length < 2) flows.colourBy = "flow";
    element("colours").value = flows.colourBy;
    const names = [...this.data.network.names, ...Array.from(this.data.network.from, (_, link) => this.data.network.linkName(link, "-"))];
    element("places").append(...names.slice(0, 2000).map((name) => make("option", { value: name })));
    if (this.data.steps.isEmpty) element("steps").textContent = `There are no steps. ${Object.values(this.data.notes).join(" ")}`;
    this.legend();
  }

  legend() {
    const { flows, labels } = this.data;
    const colours = flows.colourBy === "label"
      ? labels.map((label, number) => make("li", {}, this.panel.swatch(FLOW_COLOURS[number % FLOW_COLOURS.length]), ` ${label}`))
      : [make("li", {}, "each flow has a colour of its own; five colours repeat")];
    element("flow-legend").replaceChildren(...colours);
    if (this.data.network.longestQueue > 0) {
      element("queue-scale").textContent = `; half the link: ${bytesText(this.data.network.longestQueue)}`;
    }
  }

  /** What is emphasized: the selection, and what the last step is about. */
  marked() {
    const { data, selection } = this;
    const found = { links: new Set(), node: null, flow: null };
    if (selection?.kind === "node") found.node = selection.id;
    if (selection?.kind === "port") found.links.add(selection.id);
    if (selection?.kind === "flow") found.flow = selection.id;
    if (selection?.kind === "pause") {
      const link = data.pauses.link[selection.id];
      found.links.add(link);
      if (data.pauses.end[selection.id] > this.player.time) found.links = congestionTree(data, link, this.player.time).members;
    }
    if (this.step !== null) {
      for (const link of data.steps.step(this.step.source, this.step.place).links) if (link >= 0) found.links.add(link);
    }
    return found;
  }

  select(selection) {
    this.selection = selection;
    this.step = null;
    element("only").disabled = selection === null;
    if (selection === null) element("only").checked = false;
    this.panel.show(selection, this.player.time);
    this.draw();
  }

  onTime() {
    const { player } = this;
    if (player.position.place < 0) this.step = null;
    this.timeline.reveal(player.time);
    this.draw();
    element("clock").textContent = timeText(player.time);
    element("play").textContent = player.isPlaying ? "Pause" : "Play";
    element("play").setAttribute("aria-pressed", player.isPlaying);
    element("speed").value = player.speed;
    const [begin] = this.timeline.window;
    if (document.activeElement !== element("scrubber") || player.isPlaying) {
      element("scrubber").value = Math.round((10000 * (player.time - begin)) / this.timeline.span);
    }
    element("scrubber").setAttribute("aria-valuetext", timeText(player.time));
    // Words change four times a second at most: nobody reads faster.
    const now = performance.now();
    if (player.isPlaying && now - this.shownAt < 250) return;
    this.shownAt = now;
    this.panel.show(this.selection, player.time);
    if (!player.isPlaying) element("network").setAttribute("aria-label", momentWords(this.data, player.time));
  }

  draw() {
    this.drawing.draw(this.player.time, this.marked());
    this.timeline.point(this.player.time);
  }

  resize() {
    this.drawing.readColours();
    this.drawing.resize();
    this.timeline.resize();
    this.draw();
  }

  /** Goes to a neighbouring step and tells it. */
  takeStep(way) {
    const found = this.player.step(way, (step) => this.isWanted(step));
    this.step = found;
    const words = found === null ? null : this.data.steps.words(found);
    const none = way > 0 ? "There is no later step." : "There is no earlier step.";
    element("steps").replaceChildren(...(words === null ? [none] : [make("strong", {}, `${timeText(found.time)}, ${words.place}: `), words.text]));
    this.draw();
  }

  /** Whether a step is about the selection, if only such steps are wanted. */
  isWanted(step) {
    const { selection, data } = this;
    if (!element("only").checked || selection === null) return true;
    if (selection.kind === "node") return step.nodes.includes(selection.id);
    if (selection.kind === "port") return step.links.includes(selection.id);
    if (selection.kind === "flow") return step.flow === data.flows.number[selection.id];
    return step.links.includes(data.pauses.link[selection.id]);
  }

  /** Selects what a name or the number of a flow says; tells when there is no such thing. */
  find(text) {
    const name = text.trim().toLowerCase().replace(/→|->| to /, "-");
    const flow = /^(flow )?([0-9,]+)$/.exec(name);
    const row = flow ? this.data.flows.rowOf(Number(flow[2].replaceAll(",", ""))) : null;
    const found = row !== null ? { kind: "flow", id: row } : this.data.network.byName.get(name);
    if (found) {
      this.select(found);
      // The keys are the page's again, and no longer those of the field.
      element("panel").focus({ preventScroll: true });
    }
    element("find-answer").textContent = found ? "" : "There is nothing of this name.";
  }
}
