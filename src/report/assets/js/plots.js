// Curves over time. All plots show the same stretch of time and the same cursor; a click or drag in any of them seeks.
//   plot { x, unit, series: [{ name, what, y, band, color, stairs, marks, at }], log, zero, limit, events, methods, height }
const plots = [];
const range = { low: 0, high: 1 };

class Plot {
  constructor(parent, spec, player) {
    this.spec = spec;
    this.player = player;
    // Upper and lower edge of each error band.
    this.edges = spec.series.filter((s) => s.band).flatMap((series) => [{ series, sign: 1 }, { series, sign: -1 }]);
    this.box = element("figure", { class: "plot", tabindex: 0, "aria-label": `Plot: ${spec.series.map((s) => s.name).join(", ")}` });
    this.legend = element("figcaption", {});
    this.area = element("div", { class: "area" });
    this.box.append(this.legend, this.area);
    parent.append(this.box);
    this.addLegend();
    plots.push(this);
    this.visible = false;
    const seen = new IntersectionObserver((entries) => {
      this.visible = entries.some((e) => e.isIntersecting);
      if (this.visible) { this.make(); this.move(this.player.time); }
    }, { rootMargin: "300px" });
    seen.observe(this.box);
    this.box.addEventListener("keydown", (event) => this.key(event));
  }

  addLegend() {
    this.values = this.spec.series.map((series, i) => {
      const value = element("b", {}, " ");
      const swatch = element("i", { class: `swatch ${series.mark ?? ""}` });
      const what = series.what ? [element("span", { class: "what" }, ` ${series.what}`)] : [];
      this.legend.append(element("span", { title: series.source ?? "" }, swatch, `${series.name} `, value, ...what));
      return { value, swatch, series, i };
    });
    if (this.spec.unit) this.legend.append(element("span", { class: "unit" }, this.spec.unit));
    if (this.spec.note) this.legend.append(element("span", { class: "unit" }, this.spec.note));
    this.paintLegend();
  }

  paintLegend() {
    for (const { swatch, series } of this.values) swatch.style.color = this.color(series);
  }

  color(series) {
    return typeof series.color === "number" ? theme.colors.series[series.color % theme.colors.series.length] : theme.colors[series.color];
  }

  // Made when first seen: a model may have hundreds of outputs.
  make() {
    if (this.plot) return;
    const { spec } = this;
    const { colors } = theme;
    const axis = { stroke: colors.faint, grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.grid, width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
    const options = {
      width: Math.max(this.area.clientWidth, 120), height: spec.height ?? 150,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false, sync: { key: "time" } },
      scales: {
        x: { time: false, auto: false, range: () => [range.low, range.high] },
        y: { distr: spec.log ? 3 : 1, auto: true, range: spec.log ? logRange : (u, low, high) => spanOf(...settled(spec, low, high), spec.zero) },
      },
      axes: [
        { ...axis, size: 26, gap: 3, values: (...given) => tickTexts(...given).map((text, i, all) => (i === all.length - 1 ? `${text} s` : text)) },
        { ...axis, size: 58, gap: 4, values: spec.log ? decadeTexts : tickTexts, ...(spec.log ? { splits: decades } : {}) },
      ],
      series: [{}, ...spec.series.map((series) => ({
        stroke: this.color(series), width: 1.6, spanGaps: true,
        // The value of a step belongs to the time before its end.
        paths: series.marks ? () => null : series.stairs ? uPlot.paths.stepped({ align: -1 }) : uPlot.paths.linear(),
        points: series.marks ? { show: true, size: 6, width: 1.5, fill: this.color(series) } : { show: false },
      })), ...this.edges.map(() => ({ width: 0, stroke: "transparent", paths: uPlot.paths.linear(), points: { show: false } }))],
      bands: this.edges.filter((edge) => edge.sign > 0).map(({ series }, k) => {
        const upper = 1 + spec.series.length + 2 * k;
        return { series: [upper, upper + 1], fill: translucent(this.color(series)) };
      }),
      padding: [8, 16, 0, 0],
      hooks: { draw: [(u) => { this.marks(u); this.move(this.player.time); }] },
    };
    const edges = this.edges.map(({ series, sign }) => series.y.map((y, i) => y + sign * Math.abs(series.band[i])));
    this.plot = new uPlot(options, [spec.x, ...spec.series.map((s) => s.y), ...edges], this.area);
    this.line = element("div", { class: "cursor" });
    this.plot.over.append(this.line);
    this.addPointer(this.plot.over);
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  resize() {
    const width = this.area.clientWidth;
    if (width && this.plot && Math.abs(width - this.plot.width) > 0.5) {
      this.plot.setSize({ width, height: this.spec.height ?? 150 });
      this.move(this.player.time);
    }
  }

  restyle() {
    this.paintLegend();
    if (!this.plot) return;
    this.plot.destroy();
    this.plot = this.line = null;
    if (this.visible) { this.make(); this.move(this.player.time); }
  }

  // Events as thin lines through the plot, one at the tolerance.
  marks(u) {
    const { ctx } = u;
    ctx.save();
    ctx.lineWidth = devicePixelRatio;
    const line = (x0, y0, x1, y1) => { ctx.beginPath(); ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); ctx.stroke(); };
    if (this.spec.events && run.events.times.length <= 2000) {
      ctx.strokeStyle = theme.colors.contact;
      ctx.globalAlpha = 0.4;
      const shown = run.events.times.filter((t) => t >= range.low && t <= range.high);
      // Many of them would hide the curves.
      const height = shown.length > 24 ? 7 * devicePixelRatio : u.bbox.height;
      for (const t of shown) {
        const x = u.valToPos(t, "x", true);
        line(x, u.bbox.top, x, u.bbox.top + height);
      }
    }
    if (this.spec.methods) paintMethods(u);
    if (this.spec.limit !== undefined) {
      const y = u.valToPos(this.spec.limit, "y", true);
      ctx.globalAlpha = 0.9;
      ctx.strokeStyle = theme.colors.wrong;
      ctx.setLineDash([5, 4]);
      if (y >= u.bbox.top && y <= u.bbox.top + u.bbox.height) line(u.bbox.left, y, u.bbox.left + u.bbox.width, y);
    }
    ctx.restore();
  }

  // Click and drag seek; with shift, or the middle button, a drag moves the stretch of time; the wheel zooms.
  addPointer(over) {
    let mode = null;
    let last = 0;
    const timeAt = (event) => {
      const box = over.getBoundingClientRect();
      return range.low + (event.clientX - box.left) / box.width * (range.high - range.low);
    };
    over.addEventListener("pointerdown", (event) => {
      mode = event.shiftKey || event.button === 1 ? "pan" : "seek";
      last = event.clientX;
      over.setPointerCapture(event.pointerId);
      if (mode === "seek") this.player.seek(timeAt(event));
      event.preventDefault();
      this.box.focus({ preventScroll: true });
    });
    over.addEventListener("pointermove", (event) => {
      if (mode === "seek") this.player.seek(timeAt(event));
      if (mode === "pan") {
        const width = over.getBoundingClientRect().width;
        moveRange((last - event.clientX) / width * (range.high - range.low));
        last = event.clientX;
      }
    });
    for (const end of ["pointerup", "pointercancel"]) over.addEventListener(end, () => { mode = null; });
    over.addEventListener("dblclick", () => setRange(this.player.first, this.player.last));
    over.addEventListener("wheel", (event) => {
      // Without a key the wheel scrolls the page, as everywhere.
      if (!(event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      zoomRange(Math.exp((event.deltaY || event.deltaX) * (event.deltaMode ? 0.05 : 0.002)), timeAt(event));
    }, { passive: false });
  }

  key(event) {
    const width = range.high - range.low;
    const act = {
      "+": () => zoomRange(0.7, this.player.time), "=": () => zoomRange(0.7, this.player.time), "-": () => zoomRange(1 / 0.7, this.player.time),
      0: () => setRange(this.player.first, this.player.last), "[": () => moveRange(-0.2 * width), "]": () => moveRange(0.2 * width),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  move(t) {
    // While playing, those out of sight wait until it stops.
    if (!this.line || (!this.visible && this.player.playing)) return;
    const x = (t - range.low) / (range.high - range.low);
    this.line.style.display = x >= 0 && x <= 1 ? "" : "none";
    this.line.style.transform = `translateX(${(x * this.plot.bbox.width / devicePixelRatio).toFixed(1)}px)`;
    if (!this.player.telling) return;
    for (const entry of this.values) {
      const text = entry.series.at ? entry.series.at(t) : "";
      if (text !== entry.text) entry.value.firstChild.data = entry.text = text;
    }
  }
}

// A colour #rrggbb that lets the grid through.
const translucent = (color) => `${color}38`;

function setRange(low, high) {
  const { first, last } = biela.player;
  const least = (last - first) * 1e-6 || 1e-9;
  const width = Math.min(Math.max(high - low, least), last - first || 1);
  range.low = Math.min(Math.max(low, first), Math.max(first, last - width));
  range.high = range.low + width;
  for (const plot of plots) if (plot.plot) { plot.plot.redraw(true, true); plot.plot.setScale("x", { min: range.low, max: range.high }); plot.move(biela.player.time); }
  byId("zoomed").hidden = width > 0.999 * (last - first);
}

const moveRange = (by) => setRange(range.low + by, range.high + by);
const zoomRange = (by, t) => setRange(t - (t - range.low) * by, t + (range.high - t) * by);

// A run that failed often ends in values beyond all measure; the curves before them are what can be read.
function settled({ x, series }, low, high) {
  if (!summary.failure || x.length < 20 || !(high > low)) return [low, high];
  const count = Math.floor(x.length * 0.97);
  const [from, to] = [Math.max(0, locate(x, range.low)[0]), Math.min(count, locate(x, range.high)[0] + 1)];
  let [a, b] = [Infinity, -Infinity];
  for (const { y } of series) {
    for (let i = from; i < to; i++) if (y[i] !== null) { a = Math.min(a, y[i]); b = Math.max(b, y[i]); }
  }
  return high - low > 20 * (b - a) && b > a ? [a, b] : [low, high];
}

function spanOf(low, high, zero) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  if (zero) low = Math.min(low, 0);
  const pad = 0.06 * (high - low) || Math.abs(high) * 0.05 || 1;
  return [low - (zero && low === 0 ? 0 : pad), high + pad];
}

function logRange(u, low, high) {
  if (!(low > 0) || !(high > 0)) return [1e-3, 1];
  return [10 ** Math.floor(Math.log10(low) - 0.05), 10 ** Math.ceil(Math.log10(high) + 0.05)];
}

// As many digits as tell neighbouring ticks apart.
function tickTexts(u, ticks, axis, space, spacing) {
  const largest = Math.max(...ticks.map(Math.abs));
  // Zero among large numbers is not quite zero.
  ticks = ticks.map((v) => (Math.abs(v) < 1e-9 * spacing ? 0 : v));
  let digits = Math.max(0, Math.ceil(-Math.log10(spacing) - 1e-9));
  // 0.25 has one more digit than 0.2.
  if (Math.abs(spacing * 10 ** digits - Math.round(spacing * 10 ** digits)) > 1e-6) digits += 1;
  // A small change of a large value: the first tick in full, the others relative to it.
  if (largest / spacing > 2e5) return ticks.map((v, i) => (i ? `+${number(v - ticks[0], 3)}` : number(v, 7)));
  if (largest >= 1e5 || (largest > 0 && largest < 1e-3)) {
    const mantissa = Math.max(0, Math.ceil(Math.log10(largest / spacing) - 1e-9));
    return ticks.map((v) => (v === 0 ? "0" : v.toExponential(Math.min(mantissa, 6)).replace("e+", "e")));
  }
  return ticks.map((v) => v.toFixed(Math.min(digits, 9)));
}

// Powers of ten, every one or every second, third .. where there are many.
function decades(u, axis, low, high) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first) / 5));
  const found = [];
  for (let k = first; k <= last; k += step) found.push(10 ** k);
  return found;
}

const decadeTexts = (u, ticks) => ticks.map((v) => (v !== null && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? number(v) : ""));
