// The way from places of nodes to pixels: scale and shift, and what lies under a pixel.

/** Pixels between the border of the canvas and the outermost node, on a canvas of ordinary size. */
const MARGIN = 34;
/** A canvas of ordinary size, in pixels; on a larger one nodes and letters are larger, too. */
const ORDINARY = [1200, 700];
/** Largest and smallest enlargement. */
const ZOOM_MAX = 40;

class View {
  constructor(network) {
    this.network = network;
    const xs = network.place.map(([x]) => x);
    const ys = network.place.map(([, y]) => y);
    this.size = [Math.max(1, ...xs), Math.max(1, ...ys)];
    this.zoom = 1;
    this.shift = [0, 0];
    this.resize(300, 150);
  }

  resize(width, height) {
    [this.width, this.height] = [width, height];
    this.unit = Math.max(1, Math.min(width / ORDINARY[0], height / ORDINARY[1]));
    const fit = this.size.map((size, axis) => ([width, height][axis] - 2 * MARGIN * this.unit) / size);
    const flatness = Math.min(2, this.size[0] / this.size[1] / 2);
    // A flat network is stretched a little, so that its tiers stand apart.
    this.scale = [Math.min(fit[0], fit[1] * 1.8), Math.min(fit[1], fit[0] * 1.8 * Math.max(1, flatness))];
    this.rest = [(width - this.size[0] * this.scale[0]) / 2, (height - this.size[1] * this.scale[1]) / 2];
    this.move(0, 0);
  }

  /** Works out the ends of all links anew, because the drawing has moved: 4 numbers a link. */
  settle() {
    const { linkCount } = this.network;
    this.line = new Float32Array(4 * linkCount);
    for (let link = 0; link < linkCount; link += 1) this.line.set(this.ends(link).flat(), 4 * link);
  }

  /** The pixels between neighbouring hosts: how much room there is for details. */
  get room() {
    return Math.min(this.scale[0], this.scale[1]) * this.zoom;
  }

  /** Where a node is, in pixels. */
  point(node) {
    return this.network.place[node].map(
      (value, axis) => (value * this.scale[axis] + this.rest[axis]) * this.zoom + this.shift[axis],
    );
  }

  /** Half the width of a node, in pixels. */
  radius(node) {
    const room = this.room;
    const [least, most, share] = { Host: [2, 8, 0.3], NIC: [4, 11, 0.4], Switch: [7, 20, 0.9] }[this.network.kind(node)];
    return Math.max(least, Math.min(most * this.unit, room * share));
  }

  /** The two ends of a directed link in pixels, beside the line between the nodes; `lane` counts outwards. */
  ends(link, lane = 0) {
    const { from, to } = this.network;
    const [a, b] = [this.point(from[link]), this.point(to[link])];
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    const length = Math.hypot(dx, dy) || 1;
    const aside = Math.max(1.4, Math.min(3.2, this.room * 0.16)) + (lane > 0 ? 1.5 + lane * 3 : 0);
    const beside = aside * this.unit;
    const [ux, uy] = [dx / length, dy / length];
    const trim = [this.radius(from[link]), this.radius(to[link])].map((one) => Math.min(one, length / 3));
    return [
      [a[0] + ux * trim[0] - uy * beside, a[1] + uy * trim[0] + ux * beside],
      [b[0] - ux * trim[1] - uy * beside, b[1] - uy * trim[1] + ux * beside],
    ];
  }

  /** Enlarges by a factor around a pixel. */
  enlarge(factor, [x, y]) {
    const zoom = Math.min(ZOOM_MAX, Math.max(1, this.zoom * factor));
    const by = zoom / this.zoom;
    this.shift = [x - (x - this.shift[0]) * by, y - (y - this.shift[1]) * by];
    this.zoom = zoom;
    this.move(0, 0);
  }

  /** Moves the drawing by pixels, no further than its border. */
  move(dx, dy) {
    const clamp = (value, size) => Math.min(0, Math.max(size * (1 - this.zoom), value));
    this.shift = [clamp(this.shift[0] + dx, this.width), clamp(this.shift[1] + dy, this.height)];
    this.settle();
  }

  /** What is at a pixel: a node, else a port, within `reach` pixels; or null. */
  under([x, y], reach) {
    let best = null;
    let nearest = Infinity;
    for (let node = 0; node < this.network.nodeCount; node += 1) {
      const [nx, ny] = this.point(node);
      const away = Math.hypot(x - nx, y - ny) - this.radius(node);
      if (away < Math.min(nearest, reach / 2)) [best, nearest] = [{ kind: "node", id: node }, away];
    }
    if (best !== null) return best;
    for (let link = 0; link < this.network.linkCount; link += 1) {
      const away = distanceTo([x, y], this.ends(link));
      if (away < Math.min(nearest, reach)) [best, nearest] = [{ kind: "port", id: link }, away];
    }
    return best;
  }
}

/** Distance of a pixel from a line. */
function distanceTo([x, y], [[ax, ay], [bx, by]]) {
  const [dx, dy] = [bx - ax, by - ay];
  const along = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - along * dx, y - ay - along * dy);
}
