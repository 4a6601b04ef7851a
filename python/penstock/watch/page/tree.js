// The congestion tree of a pause: from the port where congestion begins to the hosts that wait.
//
// A pause stops a link because packets behind that link cannot leave. With a trace of the switch
// that sent the pause, the packet that was its cause names the port. Without one, flows that are
// under way tell: a link waits for the next link of a flow on it, if that link is paused, too; else
// for the next link with the longest queue.

/** For each link the next links of the flows that are under way at `time`: link to (link to flows). */
function nextLinks(data, time) {
  const found = new Map();
  for (const row of data.flows.at(time)) {
    const links = data.flows.links(row);
    for (let hop = 0; hop + 1 < links.length; hop += 1) {
      if (!found.has(links[hop])) found.set(links[hop], new Map());
      const next = found.get(links[hop]);
      next.set(links[hop + 1], (next.get(links[hop + 1]) ?? 0) + 1);
    }
  }
  return found;
}

/** The links for which a paused link waits at `time`. */
function waitsFor(data, link, time, next) {
  const known = data.pauses.on(link, time).map((row) => data.pauses.causePort[row]).filter((port) => port > 0);
  if (known.length > 0) return [...new Set(known)].map((port) => port - 1);
  const choices = [...(next.get(link)?.keys() ?? [])];
  const paused = choices.filter((one) => data.pauses.countOn(one, time) > 0);
  if (paused.length > 0) return paused;
  const sample = data.samples.at(time);
  const queued = (one) => data.samples.value("queue_bytes", one, sample) ?? 0;
  const weight = (one) => queued(one) * 1e6 + (next.get(link).get(one) ?? 0);
  choices.sort((a, b) => weight(b) - weight(a) || a - b);
  return choices.slice(0, 1);
}

/**
 * The tree of a paused link: `roots` (not paused), `cycle` (links that wait for each other, if there are
 * any), `children` (link to the paused links that wait for it) and `members`.
 */
function congestionTree(data, link, time) {
  const next = nextLinks(data, time);
  const paused = data.pauses.pausedLinks(time);
  const waits = new Map(paused.map((one) => [one, waitsFor(data, one, time, next)]));
  const below = reached(link, (one) => waits.get(one) ?? []);
  const roots = [...below].filter((one) => !waits.has(one));
  const cycle = [...below].filter((one) => reached(one, (x) => waits.get(x) ?? [], false).has(one));
  const children = new Map();
  for (const [one, targets] of waits) {
    for (const target of targets) {
      if (!children.has(target)) children.set(target, []);
      children.get(target).push(one);
    }
  }
  const members = new Set();
  for (const one of roots.length > 0 ? roots : below) {
    for (const member of reached(one, (x) => children.get(x) ?? [])) members.add(member);
  }
  for (const one of below) members.add(one);
  return { roots, cycle, children, members };
}

/** Everything that is reached from `start` by steps; with `withStart` false, only what a step reaches. */
function reached(start, steps, withStart = true) {
  const seen = new Set(withStart ? [start] : []);
  const open = [start];
  while (open.length > 0) {
    for (const one of steps(open.pop())) {
      if (!seen.has(one)) {
        seen.add(one);
        open.push(one);
      }
    }
  }
  return seen;
}
