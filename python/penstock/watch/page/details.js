// What the panel says of a port, a node, a flow, a pause, and of the run when nothing is selected.

/** Rows of a list in the panel (our choice: a screen full). */
const ROWS_SHOWN = 12;
/** Packets of a queue that are drawn (our choice: the width of the panel). */
const PACKETS_SHOWN = 24;

const DETAILS = { port: portParts, node: nodeParts, flow: flowParts, pause: pauseParts };

/** Nothing is selected: what the run is, what the colours mean, the busiest ports. */
function overviewParts(panel, time) {
  const { data } = panel;
  const { network, samples, notes } = data;
  const sample = samples.at(time);
  const queued = (link) => samples.value("queue_bytes", link, sample) ?? 0;
  const full = largestBy([...Array(network.linkCount).keys()].filter((link) => queued(link) > 0), queued, ROWS_SHOWN);
  full.sort((a, b) => queued(b) - queued(a));
  return [
    make("h2", {}, "The network now"),
    make("p", {}, momentWords(data, time)),
    notes.samples ? noteOf(notes.samples) : null,
    full.length > 0 ? tableOf(["Fullest ports", "Queued", "Pauses"], full.map((link) => [
      panel.port(link), bytesText(queued(link)), countText(data.pauses.countOn(link, time)),
    ])) : null,
    ...pausedParts(panel, time),
    ...["cancelled", "events", "packets", "buffers", "paths", "flows", "trace"].filter((name) => notes[name]).map((name) => noteOf(notes[name])),
  ];
}

function pausedParts(panel, time) {
  const { data } = panel;
  const rows = data.pauses.pausedLinks(time).flatMap((link) => data.pauses.on(link, time));
  if (rows.length === 0) return [];
  rows.sort((a, b) => data.pauses.begin[a] - data.pauses.begin[b]);
  return [make("h3", {}, `${plural(rows.length, "pause")} in force, the oldest first`), ...pauseTable(panel, rows, time)];
}

function pauseTable(panel, rows, time) {
  const { pauses, network } = panel.data;
  return [
    tableOf(["Paused", "of", "paused by", "for"], rows.slice(0, ROWS_SHOWN).map((row) => [
      panel.button("pause", row, stoppedWords(panel.data, row)), panel.port(pauses.link[row]),
      network.names[network.to[pauses.link[row]]], durationText(time - pauses.begin[row]),
    ])),
    moreThan(rows.length),
  ];
}

function moreThan(count) {
  return count > ROWS_SHOWN ? make("p", { class: "small" }, `and ${plural(count - ROWS_SHOWN, "other", "others")}`) : null;
}

/** A port: its link, its queues, what pauses it, which flows use it. */
function portParts(panel, link, time) {
  const { data } = panel;
  const { network, samples, pauses, trace, flows, notes } = data;
  const sample = samples.at(time);
  const value = (name) => samples.value(name, link, sample);
  const use = samples.use(link, sample, network.rate[link]);
  const isHost = network.isHost(network.from[link]);
  const paused = pauses.on(link, time);
  const crossing = flows.at(time).filter((row) => flows.links(row).includes(link));
  const port = trace.port(link, time);
  return [
    make("h2", {}, `Port ${network.linkName(link)}`),
    factsOf([
      ["From, to", make("span", {}, panel.node(network.from[link]), " to ", panel.node(network.to[link]))],
      ["Link", `${rateText(network.rate[link])}, ${durationText(network.delay[link])}`],
      ["In use", use === null ? null : `${Math.round(use * 100)} % of the last ${durationText(samples.time[sample] - samples.time[samples.useSince(sample, network.rate[link])])}`],
      ["Queued", isHost ? "a host makes a packet when it sends it" : value("queue_bytes") === null ? null : `${bytesText(value("queue_bytes"))} of at most ${bytesText(network.queueMost[link])} in this run`],
      ["Controllers", isHost && value("allowed_bps") ? `allow its flows ${rateText(value("allowed_bps"))} together` : null],
      ["Queues", value("active_queues") === null || isHost ? null : `${value("active_queues")} with data and not paused, ${value("paused_queues")} paused`],
    ]),
    value("queue_bytes") === null ? noteOf(notes.samples ?? "This link has no samples: name it in measure.series, or use penstock run --watch.") : null,
    ...queueParts(panel, link, port, time, isHost),
    make("h3", {}, plural(paused.length, "pause in force", "pauses in force")),
    notes.events ? noteOf(notes.events) : null,
    ...(paused.length > 0 ? pauseTable(panel, paused, time) : []),
    make("h3", {}, `${plural(crossing.length, "flow")} on this link`),
    notes.paths ? noteOf(notes.paths) : null,
    ...flowTable(panel, crossing, time),
  ];
}

/** The queues of a port, packet by packet; where they were not traced, how to trace them. Who pauses a queue is beside
 * it where pauses name a queue, and no class, epoch or flow. */
function queueParts(panel, link, port, time, isHost) {
  const { data } = panel;
  if (isHost) return [];
  if (port === null) return [noteOf(data.notes.packets ?? `${data.network.names[data.network.from[link]]} was not traced: which flow waits in which queue needs --trace packets with this switch.`)];
  const isNamed = data.pausesQueues && !data.hasEpochs && !data.flowPaused.has(link);
  const pauseOf = (number) => (isNamed ? data.pauses.onQueue(link, number, time) : null);
  const queues = [...port.queues].filter(([number, one]) => one.packets.length > 0 || pauseOf(number) !== null);
  queues.sort((a, b) => a[0] - b[0]);
  if (queues.length === 0) return [make("p", {}, "No queue of this port holds data.")];
  const rows = queues.slice(0, ROWS_SHOWN).map(([number, one]) => {
    const pause = pauseOf(number);
    const by = data.network.names[data.network.to[link]];
    const cells = [`${number}`, packetsOf(panel, one.packets), bytesText(one.bytes), one.threshold === null ? "–" : bytesText(one.threshold)];
    return isNamed ? [...cells, pause === null ? "–" : panel.button("pause", pause, by)] : cells;
  });
  const titles = ["Queue", "Packets", "Holds", data.thresholdName, ...(isNamed ? ["Paused by"] : [])];
  return [make("h3", {}, "Queues"), tableOf(titles, rows), moreThan(queues.length)];
}

/** The packets of a queue as boxes in the colours of their flows, and the names of the flows. */
function packetsOf(panel, packets) {
  const boxes = packets.slice(0, PACKETS_SHOWN).map((packet) => panel.swatch(panel.data.flows.colourOf(packet.flow)));
  const numbers = [...new Set(packets.map((packet) => packet.flow))];
  const names = numbers.slice(0, 2).map((number) => make("span", {}, " ", panel.flowNumbered(number)));
  const more = numbers.length > 2 ? ` and ${numbers.length - 2} more` : "";
  return make("span", {}, make("span", { class: "packets" }, ...boxes), `${packets.length}:`, ...names, more);
}

function flowTable(panel, rows) {
  const { flows, network } = panel.data;
  if (rows.length === 0) return [];
  const size = (row) => (flows.size_bytes[row] === 0 ? Infinity : flows.size_bytes[row]);
  const shown = largestBy(rows, size, ROWS_SHOWN);
  return [tableOf(["Flow", "From", "To", "Size"], shown.map((row) => [
    panel.flow(row), panel.node(flows.src[row]), panel.node(flows.dst[row]), sizeText(flows, row),
  ])), moreThan(rows.length)];
}

function sizeText(flows, row) {
  return flows.size_bytes[row] === 0 ? "endless" : bytesText(flows.size_bytes[row]);
}

/** A node: what it stores, its ports, the flows of a host. */
function nodeParts(panel, node, time) {
  const { network, samples, buffers, flows, pauses, peaks, notes } = panel.data;
  const sample = samples.at(time);
  const isHost = network.isHost(node);
  const stored = buffers.value("buffer_bytes", node, buffers.at(time));
  const links = [...network.egress.of(node)].flatMap((link) => [link, network.reverse[link]]);
  const queued = (link) => samples.value("queue_bytes", link, sample);
  const shown = links.slice(0, 4 * ROWS_SHOWN);
  const own = isHost ? flows.at(time).filter((row) => flows.src[row] === node || flows.dst[row] === node) : [];
  return [
    make("h2", {}, `${network.kind(node)} ${network.names[node]}`),
    isHost ? null : factsOf([["Stores", stored === null ? null : `${bytesText(stored)}, at most ${bytesText(peaks[node - network.hostCount])} in this run`]]),
    !isHost && notes.buffers ? noteOf(notes.buffers) : null,
    tableOf(["Port", "Queued", "In use", "Pauses"], shown.map((link) => {
      const use = samples.use(link, sample, network.rate[link]);
      return [panel.port(link), queued(link) === null ? "–" : bytesText(queued(link)), use === null ? "–" : `${Math.round(100 * use)} %`, countText(pauses.countOn(link, time))];
    })),
    notes.samples ? noteOf(notes.samples) : null,
    isHost ? make("h3", {}, `${plural(own.length, "flow")} under way`) : null,
    ...flowTable(panel, own),
  ];
}

/** A flow: its path, and what it waits for. */
function flowParts(panel, row, time) {
  const { data } = panel;
  const { flows, network, samples, pauses, notes } = data;
  const sample = samples.at(time);
  const took = flows.isFinished(row) ? flows.end[row] - flows.start[row] : null;
  const ideal = flows.ideal_ps[row];
  return [
    make("h2", {}, panel.swatch(flows.colour(row)), ` Flow ${countText(flows.number[row])}`),
    factsOf([
      ["From, to", make("span", {}, panel.node(flows.src[row]), " to ", panel.node(flows.dst[row]))],
      ["Label", data.labels[flows.label[row]]],
      ["Size", sizeText(flows, row)],
      ["Begins", timeText(flows.start[row])],
      ["Takes", took === null ? "does not finish in this run" : `${durationText(took)}; alone ${durationText(ideal)}, so slowdown ${(took / ideal).toFixed(2)}`],
    ]),
    make("h3", {}, "What it waits for"),
    make("ul", {}, ...waitingWords(data, row, time).map(({ text, link }) => make("li", {}, text, link === null ? null : make("span", {}, " ", panel.button("port", link, "show"))))),
    make("h3", {}, "Its path"),
    notes.paths ? noteOf(notes.paths) : null,
    flows.isInside(row) ? make("p", { class: "small" }, "It stays inside its server and takes no link of the network.") : null,
    flows.haveNoPaths || flows.isInside(row) ? null : tableOf(["Port", "Queued", "Pauses"], flows.links(row).map((link) => [
      panel.port(link), network.isHost(network.from[link]) ? "–" : bytesText(samples.value("queue_bytes", link, sample) ?? 0), countText(pauses.countOn(link, time)),
    ])),
  ];
}

/** A pause: who paused what and why, and the congestion tree to which it belongs. */
function pauseParts(panel, row, time) {
  const { data } = panel;
  const { pauses, network, notes } = data;
  const link = pauses.link[row];
  const isNow = time >= pauses.begin[row] && time < pauses.end[row];
  const words = pauseWords(data, row);
  return [
    make("h2", {}, `Pause of ${network.linkName(link)}`),
    make("p", {}, `${words[0].toUpperCase()}${words.slice(1)}.`),
    factsOf([
      ["From", timeText(pauses.begin[row])],
      ["To", pauses.lasts[row] ? "the end of the run" : `${timeText(pauses.end[row])}, after ${durationText(pauses.end[row] - pauses.begin[row])}`],
      ["Port", panel.port(link)],
    ]),
    make("h3", {}, "The congestion tree"),
    ...(isNow ? treeParts(panel, link, time) : [make("p", {}, "The pause is not in force at this moment.")]),
    notes.packets && pauses.causePort[row] === 0 ? make("p", { class: "small" }, "The tree follows the paths of flows under way. A packet trace would name the packet that caused each pause.") : null,
  ];
}

function treeParts(panel, link, time) {
  const { data } = panel;
  const tree = congestionTree(data, link, time);
  const parts = [];
  if (tree.cycle.length > 0) {
    parts.push(make("p", { class: "bad" }, "These links wait for each other in a cycle: ", ...tree.cycle.flatMap((one) => [panel.port(one), " "])));
  }
  const seen = new Set();
  const branch = (one) => {
    if (seen.has(one)) return null;
    seen.add(one);
    const children = (tree.children.get(one) ?? []).filter((child) => tree.members.has(child) && !seen.has(child));
    const count = data.pauses.countOn(one, time);
    const text = count > 0 ? ` ${plural(count, "pause")}` : ` not paused: congestion begins here${queuedWords(data, one, time)}`;
    const mark = one === link ? make("strong", {}, text) : text;
    return make("li", {}, panel.port(one), mark, children.length > 0 ? make("ul", {}, ...children.map(branch).filter((item) => item !== null)) : null);
  };
  const tops = tree.roots.length > 0 ? tree.roots : [tree.cycle[0] ?? link];
  parts.push(make("ul", { class: "tree" }, ...tops.map(branch).filter((item) => item !== null)));
  return parts;
}

function queuedWords(data, link, time) {
  const bytes = data.samples.value("queue_bytes", link, data.samples.at(time));
  return bytes === null ? "" : `, ${bytesText(bytes)} queued`;
}
