// What the user does: keys, buttons, pointer. It only calls the parts of the page.

/** Pixels around a link that belong to it; more for a finger. */
const REACH = { mouse: 8, pen: 10, touch: 16 };

Page.prototype.listen = function listen() {
  const { player, timeline } = this;
  const on = (id, event, act) => element(id).addEventListener(event, act);
  on("play", "click", () => player.toggle());
  on("back", "click", () => this.takeStep(-1));
  on("next", "click", () => this.takeStep(1));
  on("closer", "click", () => this.zoomTime(0.25));
  on("wider", "click", () => this.zoomTime(4));
  on("near", "click", () => this.zoomNetwork(1.5));
  on("far", "click", () => this.zoomNetwork(1 / 1.5));
  on("speed", "change", (event) => {
    player.speed = Number(event.target.value);
  });
  on("colours", "change", (event) => {
    this.data.flows.colourBy = event.target.value;
    this.legend();
    this.panel.show(this.selection, player.time);
    this.draw();
  });
  on("scrubber", "input", (event) => {
    player.isPlaying = false;
    player.seek(timeline.window[0] + (event.target.value / 10000) * timeline.span);
  });
  on("find", "submit", (event) => {
    event.preventDefault();
    this.find(element("find-text").value);
  });
  on("theme", "click", () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
    this.resize();
  });
  this.listenToPointers();
  document.addEventListener("keydown", (event) => this.onKey(event));
  new ResizeObserver(() => this.resize()).observe(element("network"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.resize());
};

Page.prototype.zoomTime = function zoomTime(factor) {
  this.timeline.zoom(factor, this.player.time);
  this.player.onTime();
};

Page.prototype.zoomNetwork = function zoomNetwork(factor) {
  const { view } = this.drawing;
  view.enlarge(factor, [view.width / 2, view.height / 2]);
  this.draw();
};

Page.prototype.listenToPointers = function listenToPointers() {
  const canvas = element("network");
  const { view } = this.drawing;
  const pixel = (event) => [event.offsetX, event.offsetY];
  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => {
    dragged = { from: pixel(event), moved: 0 };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = pixel(event);
    if (dragged === null) {
      const found = view.under([x, y], REACH.mouse);
      canvas.style.cursor = found === null ? "default" : "pointer";
      canvas.title = found === null ? "" : this.nameOf(found);
      return;
    }
    dragged.moved += Math.abs(x - dragged.from[0]) + Math.abs(y - dragged.from[1]);
    if (view.zoom > 1) view.move(x - dragged.from[0], y - dragged.from[1]);
    dragged.from = [x, y];
    this.draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (dragged !== null && dragged.moved < 6) this.select(view.under(pixel(event), REACH[event.pointerType] ?? REACH.mouse));
    dragged = null;
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey && view.zoom === 1 && event.deltaY > 0) return;
    event.preventDefault();
    view.enlarge(Math.exp(-event.deltaY / 400), pixel(event));
    this.draw();
  }, { passive: false });
  const line = element("timeline");
  const seek = (event) => {
    this.player.isPlaying = false;
    this.player.seek(this.timeline.time(event.offsetX));
  };
  line.addEventListener("pointerdown", (event) => {
    line.setPointerCapture(event.pointerId);
    seek(event);
  });
  line.addEventListener("pointermove", (event) => {
    if (event.buttons > 0) seek(event);
  });
};

Page.prototype.nameOf = function nameOf({ kind, id }) {
  return kind === "node" ? this.data.network.names[id] : `port ${this.data.network.linkName(id)}`;
};

/** Keys, unless a field has the focus that needs them itself. */
Page.prototype.onKey = function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { tagName: tag, type } = event.target;
  const isPressed = tag === "BUTTON" || type === "checkbox";
  if (isPressed ? event.key === " " : ["INPUT", "SELECT", "SUMMARY"].includes(tag)) return;
  const { player, timeline } = this;
  const acts = {
    " ": () => player.toggle(),
    ArrowRight: () => (event.shiftKey ? player.seek(player.time + timeline.span / 100) : this.takeStep(1)),
    ArrowLeft: () => (event.shiftKey ? player.seek(player.time - timeline.span / 100) : this.takeStep(-1)),
    Home: () => player.seek(0),
    End: () => player.seek(this.data.endPs),
    "]": () => player.shift(1),
    "[": () => player.shift(-1),
    "+": () => this.zoomTime(0.25),
    "-": () => this.zoomTime(4),
    Escape: () => this.select(null),
  };
  if (acts[event.key] === undefined) return;
  event.preventDefault();
  acts[event.key]();
};
