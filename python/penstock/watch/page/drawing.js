// The drawing of the network at one moment: links by use and pauses, ports by how full, switches by
// what they store, flows by colour. It draws values of tables and nothing between them.

/** Flows that are drawn in their colour (our choice: more cannot be told apart). */
const FLOWS_DRAWN = 16;
/** Flows beside each other on one link. */
const LANES = 4;
/** Steps in which a link's colour tells its use. */
const USE_STEPS = 8;
/** Steps in which a link's colour tells how many of its queues are paused. */
const PAUSE_STEPS = 4;

class Drawing {
  /** `still` lies below `canvas` and has what does not change with time. */
  constructor(canvas, still, data) {
    this.canvas = canvas;
    this.still = still;
    this.context = canvas.getContext("2d");
    this.data = data;
    this.view = new View(data.network);
    this.chosenFlows = [];
    this.readColours();
  }

  /** Takes colours from the style sheet; to be called again when they change. */
  readColours() {
    const style = getComputedStyle(document.documentElement);
    const names = ["ink", "quiet", "line", "paper", "card", "wash", "accent", "use", "pause", "queue", "stored", "mark"];
    this.colour = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.settled = null;
    this.pauseColours = Array.from({ length: PAUSE_STEPS + 1 }, (_, step) =>
      `color-mix(in srgb, ${this.colour.pause} ${Math.round(25 + (75 * step) / PAUSE_STEPS)}%, transparent)`);
    this.useColours = Array.from({ length: USE_STEPS + 1 }, (_, step) =>
      `color-mix(in srgb, ${this.colour.use} ${Math.round((100 * step) / USE_STEPS)}%, ${this.colour.line})`);
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.view.resize(clientWidth, clientHeight);
  }

  /** Draws the moment `time`; `marked` has what is emphasized: links, flow, node. */
  draw(time, marked) {
    const { context, view } = this;
    if (this.settled !== view.line) this.drawStill();
    context.clearRect(0, 0, view.width, view.height);
    this.sample = this.data.samples.at(time);
    this.drawMarked(marked);
    this.drawUse();
    this.drawFlows(time, marked);
    this.drawQueues();
    this.drawPauses(time);
    this.drawStored(time);
  }

  /** One line. Lines are drawn one by one: browsers draw a path of hundreds of lines far more slowly. */
  line(ax, ay, bx, by) {
    const { context } = this;
    context.beginPath();
    context.moveTo(ax, ay);
    context.lineTo(bx, by);
    context.stroke();
  }

  /** The line of a link in the current look, up to a share of its length. */
  link(link, share = 1) {
    const ends = this.view.line;
    const [ax, ay] = [ends[4 * link], ends[4 * link + 1]];
    this.line(ax, ay, ax + (ends[4 * link + 2] - ax) * share, ay + (ends[4 * link + 3] - ay) * share);
  }

  /** Width of an idle link, in pixels. */
  get thin() {
    return Math.max(0.8, Math.min(1.6, this.view.room * 0.1)) * this.view.unit;
  }

  /** What does not change with time: links, hosts, names. It is drawn once for each view. */
  drawStill() {
    const { view, colour, canvas } = this;
    const { network } = this.data;
    const front = this.context;
    this.still.width = canvas.width;
    this.still.height = canvas.height;
    this.context = this.still.getContext("2d");
    this.context.setTransform(front.getTransform());
    this.context.strokeStyle = colour.line;
    this.context.lineWidth = this.thin;
    for (let link = 0; link < network.linkCount; link += 1) this.link(link);
    this.drawHosts();
    this.context = front;
    this.settled = view.line;
  }

  drawMarked(marked) {
    const { context, colour } = this;
    context.strokeStyle = colour.mark;
    context.lineWidth = 16 * this.view.unit;
    for (const link of marked.links) this.link(link);
    this.drawMark(marked.node);
  }

  /** Links in use: the darker and the wider the more. */
  drawUse() {
    const { network, samples } = this.data;
    const { context } = this;
    const byStep = Array.from({ length: USE_STEPS + 1 }, () => []);
    for (let link = 0; link < network.linkCount; link += 1) {
      const use = samples.use(link, this.sample, network.rate[link]) ?? 0;
      byStep[Math.ceil(use * USE_STEPS)].push(link);
    }
    // Step 0 is idle; a colour is set once for all links that have it, because setting one takes time.
    for (let step = 1; step <= USE_STEPS; step += 1) {
      context.strokeStyle = this.useColours[step];
      context.lineWidth = this.thin * (1 + step / USE_STEPS);
      for (const link of byStep[step]) this.link(link);
    }
  }

  /** The flows that are drawn: the one that is marked, else the largest of those under way. */
  drawFlows(time, marked) {
    const { flows } = this.data;
    const { context, view } = this;
    const drawn = marked.flow !== null ? [marked.flow] : this.largest(time);
    const lanes = new Map();
    for (const row of drawn) {
      context.strokeStyle = flows.colour(row);
      context.lineWidth = (marked.flow === null ? 1.5 : 3) * view.unit;
      if (marked.flow !== null) context.setLineDash([14, 5]);
      context.lineDashOffset = -time / 4e5;
      for (const link of flows.links(row)) {
        const lane = lanes.get(link) ?? 0;
        lanes.set(link, lane + 1);
        if (lane >= LANES) continue;
        const [a, b] = view.ends(link, lane + 1);
        this.line(a[0], a[1], b[0], b[1]);
      }
    }
    context.setLineDash([]);
  }

  /** Rows of the largest flows under way. They are looked for again only when flows begin or end. */
  largest(time) {
    const { flows } = this.data;
    const key = `${countUpTo(flows.start, time)} ${countUpTo(flows.endsInOrder, time)}`;
    if (key !== this.chosenKey) {
      this.chosenKey = key;
      const size = (row) => (flows.size_bytes[row] === 0 ? Infinity : flows.size_bytes[row]);
      this.chosenFlows = largestBy(flows.at(time), size, FLOWS_DRAWN);
    }
    return this.chosenFlows;
  }

  /** A bar from each port along its link: as long as the queue, half the link for the longest of the run. */
  drawQueues() {
    const { network, samples } = this.data;
    if (samples.isEmpty || network.longestQueue === 0) return;
    const { context, view } = this;
    context.strokeStyle = this.colour.queue;
    context.lineWidth = Math.max(3, Math.min(7, view.room * 0.4)) * view.unit;
    for (let link = 0; link < network.linkCount; link += 1) {
      const bytes = samples.value("queue_bytes", link, this.sample);
      if (bytes) this.link(link, 0.04 + 0.46 * (bytes / network.longestQueue));
    }
  }

  /**
   * A line on every link that has a pause, and a bar across it at the end that must not send. The more of
   * the link's queues are paused, the stronger.
   */
  drawPauses(time) {
    const { context, view } = this;
    const { pauses, queueCount } = this.data;
    const byStep = Array.from({ length: PAUSE_STEPS + 1 }, () => []);
    for (const link of pauses.pausedLinks(time)) {
      const share = Math.min(1, pauses.countOn(link, time) / queueCount);
      byStep[Math.ceil(share * PAUSE_STEPS)].push(link);
    }
    byStep.forEach((links, step) => {
      context.strokeStyle = this.pauseColours[step];
      context.lineWidth = Math.max(1.4, Math.min(2.2, view.room * 0.16)) * view.unit;
      for (const link of links) this.link(link);
      context.lineWidth = 2.5 * view.unit;
      for (const link of links) this.bar(link);
    });
  }

  /** A bar across a link at the end that sends. */
  bar(link) {
    const { view } = this;
    const half = Math.max(3, Math.min(7, view.room * 0.45)) * view.unit;
    const [ax, ay, bx, by] = view.line.subarray(4 * link, 4 * link + 4);
    const length = Math.hypot(bx - ax, by - ay) || 1;
    const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
    const [x, y] = [ax + ux * 5, ay + uy * 5];
    this.line(x - uy * half, y + ux * half, x + uy * half, y - ux * half);
  }

  drawHosts() {
    const { network } = this.data;
    const { context, view, colour } = this;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 1.2;
    context.strokeStyle = colour.quiet;
    for (let host = 0; host < network.hostCount; host += 1) {
      const [x, y] = view.point(host);
      const radius = view.radius(host);
      context.fillStyle = colour.wash;
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      this.label(host, x, y, radius);
    }
  }

  /** Switches, filled by what they store; the most of the run is full. */
  drawStored(time) {
    const { network, buffers, peaks } = this.data;
    const { context, view, colour } = this;
    const sample = buffers.at(time);
    const most = Math.max(1, ...peaks);
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineWidth = 1.2;
    context.strokeStyle = colour.quiet;
    for (let node = network.hostCount; node < network.nodeCount; node += 1) {
      const [x, y] = view.point(node);
      const radius = view.radius(node);
      const box = [x - radius * 1.3, y - radius, radius * 2.6, radius * 2];
      context.fillStyle = colour.card;
      context.fillRect(...box);
      const stored = buffers.value("buffer_bytes", node, sample) ?? 0;
      const height = 2 * radius * Math.min(1, stored / most);
      context.fillStyle = colour.stored;
      context.fillRect(box[0], y + radius - height, box[2], height);
      context.strokeRect(...box);
      this.label(node, x, y, radius);
    }
  }

  /** A ring around the node that is selected. */
  drawMark(node) {
    if (node === null) return;
    const { context, view } = this;
    context.lineWidth = 3;
    context.strokeStyle = this.colour.accent;
    context.beginPath();
    context.arc(...view.point(node), view.radius(node) * 1.5 + 3, 0, 2 * Math.PI);
    context.stroke();
  }

  /** Names stand in switches, and beside hosts where there is room. */
  label(node, x, y, radius) {
    const { context, view, colour } = this;
    const name = this.data.network.names[node];
    context.fillStyle = colour.ink;
    if (!this.data.network.isHost(node)) {
      context.font = `600 ${Math.max(8, Math.min(13 * view.unit, radius * 0.95))}px ui-sans-serif, system-ui, sans-serif`;
      context.fillText(name, x, y);
    } else if (view.room >= 18) {
      context.font = `${11 * view.unit}px ui-sans-serif, system-ui, sans-serif`;
      const { network } = this.data;
      const [sx, sy] = view.point(network.to[network.uplink(node)]);
      const away = Math.hypot(x - sx, y - sy) || 1;
      const far = radius + 9 * view.unit;
      context.fillText(name, x + ((x - sx) / away) * (far + 4 * view.unit), y + ((y - sy) / away) * far);
    }
  }
}

/** The `count` rows with the largest values, in order of row. */
function largestBy(rows, value, count) {
  if (rows.length <= count) return rows;
  const found = [];
  for (const row of rows) {
    const own = value(row);
    if (found.length === count && own <= found[count - 1].own) continue;
    let place = found.length;
    while (place > 0 && found[place - 1].own < own) place -= 1;
    found.splice(place, 0, { row, own });
    if (found.length > count) found.pop();
  }
  return found.map((one) => one.row).sort((a, b) => a - b);
}
