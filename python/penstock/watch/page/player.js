// The clock of the page: which moment is shown, play and pause, speed, steps.

/** Simulated time in a second of ours that can be chosen [ps]. */
const SPEEDS = [1e4, 1e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 1e10];
/** A whole run takes about so long to play unless another speed is chosen [s] (our choice). */
const PLAY_SECONDS = 40;

class Player {
  /** `onTime` is called with every new moment. */
  constructor(data, onTime) {
    this.data = data;
    this.onTime = onTime;
    this.time = 0;
    this.isPlaying = false;
    this.position = data.steps.position(0);
    const wanted = data.endPs / PLAY_SECONDS;
    this.speed = SPEEDS.find((speed) => speed >= wanted) ?? SPEEDS[SPEEDS.length - 1];
    this.frames = 0;
  }

  /** Goes to a moment. */
  seek(time) {
    this.time = Math.max(0, Math.min(this.data.endPs, time));
    this.position = this.data.steps.position(this.time);
    this.onTime();
  }

  toggle() {
    if (this.isPlaying) this.stop();
    else this.play();
  }

  play() {
    if (this.time >= this.data.endPs) this.seek(0);
    this.isPlaying = true;
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    this.onTime();
  }

  stop() {
    this.isPlaying = false;
    this.onTime();
  }

  tick(now) {
    if (!this.isPlaying) return;
    const seconds = Math.min(0.25, Math.max(0, now - this.last) / 1000);
    this.last = now;
    this.frames += 1;
    this.seek(this.time + seconds * this.speed);
    if (this.time >= this.data.endPs) this.stop();
    else requestAnimationFrame((next) => this.tick(next));
  }

  /** Goes to the next step (`way` 1) or the one before (`way` -1) that `isWanted`; returns the step or null. */
  step(way, isWanted) {
    this.isPlaying = false;
    const found = this.data.steps.neighbour(this.position, way, isWanted);
    if (found === null) {
      this.onTime();
      return null;
    }
    this.time = Math.min(this.data.endPs, found.time); // what lasts has its end behind that of the run
    this.position = found;
    this.onTime();
    return found;
  }

  /** Chooses the next faster (`way` 1) or slower speed. */
  shift(way) {
    const place = SPEEDS.indexOf(this.speed) + way;
    this.speed = SPEEDS[Math.max(0, Math.min(SPEEDS.length - 1, place))];
    this.onTime();
  }
}
