// What a flow waits for: its packets in queues, pauses on its path, long queues on its path.

/** Sentences about what holds a flow at `time`; each is { text, link }. */
function waitingWords(data, row, time) {
  const { flows, network } = data;
  if (time < flows.start[row]) return [{ text: `It begins at ${timeText(flows.start[row])}.`, link: null }];
  if (time >= flows.end[row]) return [{ text: `It finished at ${timeText(flows.end[row])}.`, link: null }];
  if (flows.isInside(row)) return [{ text: "Its bytes are on the link inside its server, or wait there for those of earlier flows.", link: null }];
  const found = [];
  for (const link of flows.links(row)) {
    const text = heldAt(data, row, link, time);
    if (text !== null) found.push({ text: `${network.linkName(link)}: ${text}`, link });
  }
  if (found.length > 0) return found;
  return [{ text: nothingHolds(data), link: null }];
}

/** What holds the flow of `row` at the port from which `link` leaves; null when nothing is known to. */
function heldAt(data, row, link, time) {
  const { pauses, trace, network, samples, flows } = data;
  const flow = flows.number[row];
  const stopsIt = (pause) => data.pausesQueues || [flows.class[row], data.allClasses].includes(pauses.queue[pause]);
  const paused = pauses.on(link, time).filter(stopsIt);
  const by = network.names[network.to[link]];
  const queue = trace.queueOf(flow, link, time);
  const isOfFlow = data.flowPaused.has(link);
  const own = paused.find((pause) => {
    if (isOfFlow) return pauses.causeFlow[pause] === flow + 1;
    return pauses.queue[pause] === queue || !data.pausesQueues;
  });
  const port = trace.port(link, time);
  const words = [];
  for (const [number, one] of port?.queues ?? []) {
    const mine = one.packets.filter((packet) => packet.flow === flow);
    if (mine.length > 0) {
      words.push(`${plural(mine.length, "packet")} in queue ${number}, which holds ${bytesText(one.bytes)}`);
    }
  }
  if (own !== undefined) {
    const ofQueue = data.pausesQueues ? `${stoppedWords(data, own)} of this flow` : stoppedWords(data, own);
    const what = isOfFlow ? "this flow" : ofQueue;
    words.push(`${what} is paused by ${by} since ${timeText(pauses.begin[own])}`);
  } else if (paused.length > 0 && queue === null) {
    words.push(`${plural(paused.length, "queue is", "queues are")} paused by ${by}; which queue holds the flow, only a packet trace tells`);
  }
  const queued = samples.value("queue_bytes", link, samples.at(time));
  if (port === null && queued > 0) words.push(`${bytesText(queued)} wait at this port`);
  return words.length > 0 ? words.join("; ") : null;
}

function nothingHolds(data) {
  const known = !data.samples.isEmpty || !data.trace.isEmpty;
  return known ? "Nothing on its path holds it: its packets or their acknowledgements are on their way, or its controller waits."
    : "What it waits for is not known: neither queues nor packets were recorded.";
}
