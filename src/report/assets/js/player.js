// Time: one value that everything follows. Playing, the slider, keys.
const READING = 80;         // ms between two numbers while playing

class Player {
  constructor() {
    this.time = run.times[0];
    this.listeners = [];
    this.first = run.times[0];
    this.last = run.times.at(-1);
    this.playing = false;
    this.speed = 1;
    this.loop = true;
    // A run is watched in 1.5 to 60 seconds: in real time where that fits, else slower or faster by a power of ten.
    const span = this.last - this.first;
    this.pace = 1;
    while (span > 0 && span / this.pace < 1.5) this.pace /= 10;
    while (span / this.pace > 60) this.pace *= 10;
    this.slider = byId("slider");
    this.slider.min = this.first;
    this.slider.max = this.last;
    this.slider.value = this.first;
    this.slider.addEventListener("input", () => { this.pause(); this.set(Number(this.slider.value)); });
    byId("play").addEventListener("click", () => this.toggle());
    byId("previous").addEventListener("click", () => this.frame(-1));
    byId("next").addEventListener("click", () => this.frame(1));
    byId("loop").addEventListener("change", (event) => { this.loop = event.target.checked; });
    const speed = byId("speed");
    speed.addEventListener("input", () => { this.speed = 10 ** Number(speed.value); this.showSpeed(); });
    this.setSpeed = (factor) => { this.speed = factor; speed.value = Math.log10(factor); this.showSpeed(); };
    this.showSpeed();
    document.addEventListener("keydown", (event) => this.key(event));
  }

  showSpeed() {
    const factor = Number(this.speed.toPrecision(2));
    const real = Number((this.speed * this.pace).toPrecision(2));
    byId("speed").setAttribute("aria-valuetext", `${factor} times`);
    byId("speedText").textContent = this.pace === 1 ? `${factor} × real time` : `${factor} (${number(real)} × real time)`;
  }

  // Moves to a time; a change from outside ends playing.
  seek(t) {
    this.pause();
    this.set(t);
  }

  set(t) {
    this.time = Math.min(Math.max(Number(t), this.first), this.last);
    this.slider.value = this.time;
    // While playing, numbers change no faster than they can be read.
    const now = performance.now();
    this.telling = !this.playing || now - (this.told ?? -Infinity) > READING;
    if (this.telling) {
      this.told = now;
      const [before, share] = locate(run.times, this.time);
      const row = share > 0.5 ? before + 1 : before;
      byId("clock").textContent = `${clockText(this.time)} s`;
      byId("row").textContent = `row ${row + 1} of ${run.times.length}`;
      this.slider.setAttribute("aria-valuetext", `${number(this.time, 6)} seconds`);
    }
    this.listeners.forEach((listener) => listener(this.time));
  }

  // To the next or the last row.
  frame(by) {
    const [row, rest] = locate(run.times, this.time);
    const from = by < 0 && rest > 0 ? row + 1 : row;
    this.seek(run.times[Math.min(Math.max(from + by, 0), run.times.length - 1)]);
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  play() {
    if (this.last <= this.first) return;
    if (this.time >= this.last) this.set(this.first);
    this.playing = true;
    this.showPlaying();
    let before = null;
    const step = (now) => {
      if (!this.playing) return;
      if (before !== null) {
        this.stage?.keepPace(now - before);
        // A tab that slept does not jump.
        const dt = Math.min((now - before) / 1000, 0.25) * this.speed * this.pace;
        let t = this.time + dt;
        if (t >= this.last) {
          if (this.loop) t = this.first;
          else { this.set(this.last); this.pause(); return; }
        }
        this.set(t);
      }
      before = now;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  pause() {
    const played = this.playing;
    this.playing = false;
    this.showPlaying();
    if (!played) return;
    this.stage?.keepPace(null);
    this.set(this.time);
  }

  showPlaying() {
    const button = byId("play");
    button.textContent = this.playing ? "❚❚" : "▶";
    button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
    button.setAttribute("aria-pressed", this.playing);
  }

  key(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea")) return;
    const act = {
      " ": () => this.toggle(), ArrowRight: () => this.frame(event.shiftKey ? 10 : 1), ArrowLeft: () => this.frame(event.shiftKey ? -10 : -1),
      Home: () => this.seek(this.first), End: () => this.seek(this.last),
      ".": () => this.frame(1), ",": () => this.frame(-1),
      f: () => byId("views").querySelector("button").click(),
      t: () => byId("theme").click(),
    }[event.key];
    if (act) {
      if (event.key === " " && target.matches("button, summary, a")) return;
      event.preventDefault();
      act();
      return;
    }
    const view = byId("views").querySelectorAll("[data-view]")[Number(event.key) - 1];
    if (view) view.click();
  }
}

// As many digits as the rows need.
function clockText(t) {
  const span = run.times.at(-1) - run.times[0];
  const spacing = span / Math.max(1, run.times.length - 1);
  const digits = Math.min(9, Math.max(2, Math.ceil(-Math.log10(spacing || 1)) + 1));
  return t.toFixed(digits);
}
