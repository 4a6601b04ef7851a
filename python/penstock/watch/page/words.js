// Decisions and pauses in words.

/** One decision of a switch: { place, text }. */
function decisionWords(data, decision) {
  const { trace, network } = data;
  const [first, last] = trace.rowsOf(decision);
  const parts = [];
  for (let row = first; row < last; row += 1) {
    const words = rowWords(data, row, first, last);
    if (words !== null) parts.push(words);
  }
  const bytes = `from byte ${countText(trace.sequence[first])}`;
  const packet = `packet of flow ${countText(trace.flow[first])} (${bytes}, ${bytesText(trace.size_bytes[first])})`;
  return { place: network.names[trace.node[first]], text: `${packet}: ${parts.join("; ")}` };
}

/** The words for one row of a decision; null where another row says it. */
function rowWords(data, row, first, last) {
  const { trace, network } = data;
  const queue = trace.queue[row] - 1;
  const name = trace.eventName(row);
  const chosen = rowsNamed(trace, first, last, "choose").length > 0;
  switch (name) {
    case "arrive":
      return `arrives from ${network.names[network.from[trace.ingress[row] - 1]]}`;
    case "choose":
      return `queue ${queue} is chosen: ${trace.queue_bytes[row] === 0 ? "empty" : bytesText(trace.queue_bytes[row])}`;
    case "assign":
      if (chosen) return null;
      return `queue ${queue}: ${trace.queue_bytes[row] === 0 ? "empty" : bytesText(trace.queue_bytes[row])}`;
    case "enqueue":
      return `joins it, now ${bytesText(trace.queue_bytes[row])}${thresholdWords(data, row)}`;
    case "mark":
      return `is marked at ${bytesText(trace.queue_bytes[row])}`;
    case "drop":
      return queue > 0 ? `is dropped as it leaves queue ${queue}` : "is dropped, there is no room";
    case "depart": {
      const left = trace.queue_bytes[row] === 0 ? "empty" : bytesText(trace.queue_bytes[row]);
      const next = network.names[network.to[trace.egress[row] - 1]];
      return `leaves queue ${queue} for ${next}, the queue is now ${left}${thresholdWords(data, row)}`;
    }
    default:
      return frameWords(data, row, name);
  }
}

/** A pause or resume that a packet sets off, in words. */
function frameWords(data, row, name) {
  const { trace, network } = data;
  const link = trace.ingress[row] - 1;
  const what = subjectWords(data, link, trace.upstream_queue[row] - 1, trace.flow[row]);
  const upstream = network.names[network.from[link]];
  if (name === "pause_sent") return `pause upstream ${what} at ${upstream}`;
  if (name === "resume_sent") return `resume upstream ${what} at ${upstream}`;
  return name === "resume_received" ? "a grace lets the paused queue send" : "the grace is used up";
}

function thresholdWords(data, row) {
  const stored = data.trace.threshold_bytes[row];
  return stored === 0 ? "" : `; ${data.thresholdName} ${bytesText(stored - 1)}`;
}

function rowsNamed(trace, first, last, name) {
  const found = [];
  for (let row = first; row < last; row += 1) if (trace.eventName(row) === name) found.push(row);
  return found;
}

/** What a pause of `link` names by `number`: a class, a queue, or the flow that set it off, null where unknown. */
function subjectWords(data, link, number, flow) {
  if (!data.pausesQueues) return number === data.allClasses ? "all data" : `class ${number}`;
  if (data.flowPaused.has(link)) return flow === null ? "a flow" : `flow ${countText(flow)}`;
  return data.hasEpochs ? `queue ${number & 255} in epoch ${number >> 8}` : `queue ${number}`;
}

/** What a pause stops. */
function stoppedWords(data, row) {
  const { pauses } = data;
  const flow = pauses.causeFlow[row] === 0 ? null : pauses.causeFlow[row] - 1;
  return subjectWords(data, pauses.link[row], pauses.queue[row], flow);
}

/** What is paused, by whom, and why, in words. */
function pauseWords(data, row) {
  const { pauses, network } = data;
  const link = pauses.link[row];
  const what = stoppedWords(data, row);
  const owner = network.names[network.from[link]];
  const by = network.names[network.to[link]];
  const cause = causeWords(data, row);
  return `${what} of ${owner} towards ${by} is paused by ${by}${cause}`;
}

function causeWords(data, row) {
  const { pauses, network } = data;
  if (pauses.causePort[row] === 0) return "";
  const port = network.linkName(pauses.causePort[row] - 1);
  const flow = countText(pauses.causeFlow[row] - 1);
  return `, because of a packet of flow ${flow} for queue ${pauses.causeQueue[row] - 1} of ${port}`;
}

/** The end of a pause, in words. */
function resumeWords(data, row) {
  const { pauses, network } = data;
  const link = pauses.link[row];
  const what = stoppedWords(data, row);
  const owner = `${what} of ${network.names[network.from[link]]} towards ${network.names[network.to[link]]}`;
  const lasted = durationText(pauses.end[row] - pauses.begin[row]);
  const end = pauses.lasts[row] ? "still paused when the run ends" : "may send again";
  return `${owner}: ${end}, after ${lasted}`;
}

/** What can be seen of the whole network at a time, for those who do not see the drawing. */
function momentWords(data, time) {
  const { network, samples, pauses, flows } = data;
  const sample = samples.at(time);
  let fullest = null;
  let most = 0;
  for (let link = 0; link < network.linkCount; link += 1) {
    const bytes = samples.value("queue_bytes", link, sample) ?? 0;
    if (bytes > most) [fullest, most] = [link, bytes];
  }
  const parts = [`At ${timeText(time)}: ${plural(flows.countAt(time), "flow")} under way`];
  if (data.notes.events === undefined) parts.push(`${plural(pauses.count(time), "pause")} in force`);
  if (fullest !== null) parts.push(`fullest port ${network.linkName(fullest)} with ${bytesText(most)}`);
  return `${parts.join(", ")}.`;
}
