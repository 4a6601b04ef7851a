// The time line: what the whole run looked like, and where in it we are.
//
// A lane draws the most of a quantity in each pixel's span. Spans were prepared at two levels
// (penstock/watch/overview.py). A window shorter than the finest spans is counted exactly.

/** Shortest window of the time line [ps]. */
const WINDOW_MIN = 1e5;
/** Height of the axis below the lanes [px]. */
const AXIS_HEIGHT = 20;
/** Least distance of two ticks [px]: their words do not touch. */
const TICK_ROOM = 76;

class Timeline {
  /** `cursor` is a bar over the canvas: where we are. */
  constructor(canvas, cursor, data) {
    this.canvas = canvas;
    this.cursor = cursor;
    this.data = data;
    this.window = [0, data.endPs];
    const exact = {
      stored: (time) => data.storedAt(time),
      paused: (time) => data.pauses.count(time),
      flows: (time) => data.flows.countAt(time),
    };
    this.lanes = [
      { name: "stored", title: "stored in switches", text: bytesText, colour: "stored-line", at: exact.stored },
      { name: "pauses", title: "pauses in force", text: countText, colour: "pause", at: exact.paused },
      { name: "flows", title: "flows under way", text: countText, colour: "accent", at: exact.flows },
    ];
    for (const lane of this.lanes) {
      lane.levels = data.levels.map((level) => data.columns.get(`overview.${level}.${lane.name}`));
      lane.most = lane.levels[0].reduce((most, value) => Math.max(most, value), 0);
    }
  }

  get span() {
    return this.window[1] - this.window[0];
  }

  /** The round moments [ps] of the window that have a tick, with their words. */
  ticks() {
    const least = (this.span * TICK_ROOM) / this.width;
    const decade = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((factor) => factor * decade).find((one) => one >= least);
    const digits = Math.max(0, 6 - Math.floor(Math.log10(step) + 1e-9));
    const first = Math.ceil(this.window[0] / step);
    const count = Math.floor(this.window[1] / step) - first + 1;
    return Array.from({ length: count }, (_, place) => {
      const time = (first + place) * step;
      return { time, words: timeText(time, digits) };
    });
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    this.paint();
  }

  /** The largest value of a lane between two times. */
  most(lane, first, last) {
    for (let level = 0; level < this.data.levels.length; level += 1) {
      const spans = this.data.levels[level];
      const length = this.data.endPs / spans;
      if (length > (last - first) * 1.01) continue;
      let most = 0;
      const end = Math.min(spans, Math.ceil(last / length));
      for (let place = Math.max(0, Math.floor(first / length)); place < end; place += 1) {
        most = Math.max(most, lane.levels[level][place]);
      }
      return most;
    }
    return lane.at(first);
  }

  /** Draws the lanes of the window; to be called when the window, the size or the colours change. */
  paint() {
    const context = this.canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    context.clearRect(0, 0, this.width, this.height);
    const below = this.height - AXIS_HEIGHT;
    const height = below / this.lanes.length;
    const letters = Math.max(11, height / 4);
    this.lanes.forEach((lane, number) => {
      const bottom = (number + 1) * height - 1;
      context.fillStyle = colour(lane.colour);
      for (let x = 0; x < this.width; x += 1) {
        const value = this.most(lane, this.time(x), this.time(x + 1));
        const tall = lane.most > 0 ? (value / lane.most) * (height - letters - 5) : 0;
        if (tall > 0) context.fillRect(x, bottom - Math.max(1, tall), 1, Math.max(1, tall));
      }
      context.fillStyle = colour("line");
      context.fillRect(0, bottom, this.width, 1);
      context.fillStyle = colour("quiet");
      context.font = `${letters}px ui-sans-serif, system-ui, sans-serif`;
      const title = `${lane.title}, at most ${lane.text(lane.most)}`;
      context.fillText(title, 4, bottom - height + letters + 1);
      lane.titleEnd = 4 + context.measureText(title).width;
    });
    this.paintAxis(context, colour, below);
    this.paintMoments(context, colour, below);
  }

  /** Ticks with times below the lanes; words at the ends of the window stay inside. */
  paintAxis(context, colour, below) {
    context.font = "11px ui-sans-serif, system-ui, sans-serif";
    for (const { time, words } of this.ticks()) {
      const x = this.place(time);
      context.fillStyle = colour("quiet");
      context.fillRect(Math.min(this.width - 1, x), below, 1, 4);
      const half = context.measureText(words).width / 2;
      context.fillText(words, Math.max(3, Math.min(x - half, this.width - 2 * half - 3)), this.height - 4);
    }
  }

  /** Drops as ticks, the end of the traffic and a deadlock as lines. */
  paintMoments(context, colour, below) {
    const { drops, trafficPs, deadlock } = this.data;
    context.fillStyle = colour("bad");
    const first = countUpTo(drops.time, this.window[0]);
    const last = countUpTo(drops.time, this.window[1]);
    let painted = -1;
    for (let row = first; row < last; row += 1) {
      const x = Math.round(this.place(drops.time[row]));
      if (x !== painted) context.fillRect(x, 0, 1, 8);
      painted = x;
    }
    // Each in the row of a lane's title; behind the title where that is in the way.
    for (const [time, name, row] of [[trafficPs, "traffic ends", 1], [deadlock?.time_ps, "deadlock", 2]]) {
      if (time === undefined || time < this.window[0] || time > this.window[1]) continue;
      const x = Math.min(this.width - 1, this.place(time));
      context.fillStyle = name === "deadlock" ? colour("bad") : colour("quiet");
      context.fillRect(x, 0, 1, below);
      const y = (row * below) / this.lanes.length + 12;
      const free = this.lanes[row].titleEnd + 8;
      if (x > this.width - 80) {
        context.textAlign = "right";
        context.fillText(name, x - 4, y);
        context.textAlign = "left";
      } else if (x + 4 < free) context.fillText(`← ${name}`, free, y);
      else context.fillText(name, x + 4, y);
    }
  }

  /** Shows where we are. */
  point(time) {
    this.cursor.style.transform = `translateX(${this.place(time)}px)`;
  }

  /** The pixel of a time, and the time of a pixel. */
  place(time) {
    return ((time - this.window[0]) / this.span) * this.width;
  }

  time(pixel) {
    return this.window[0] + (pixel / this.width) * this.span;
  }

  /** Makes the window longer or shorter by a factor, around a time. */
  zoom(factor, time) {
    const span = Math.min(this.data.endPs, Math.max(WINDOW_MIN, this.span * factor));
    const share = (time - this.window[0]) / this.span;
    this.moveTo(time - share * span, span);
  }

  /** Moves the window so that a time lies in it. Returns whether it moved. */
  reveal(time) {
    if (time >= this.window[0] && time <= this.window[1]) return false;
    this.moveTo(time - this.span * 0.1, this.span);
    return true;
  }

  moveTo(begin, span) {
    const first = Math.max(0, Math.min(this.data.endPs - span, begin));
    this.window = [first, first + span];
    this.paint();
  }
}
