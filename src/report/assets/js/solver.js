// Outputs, steps of the solver, events, energy: which plots and lists there are.
const METHODS = ["HHT", "HHT with corrector", "smooth path of sixth order"];

const rowValue = (column, unitName) => (t) => `${number(mix(column, locate(run.times, t)), 5)} ${unitName}`;

// An output `x.error` is the estimated error of the output `x`: a band around its curve, not a curve of its own.
const bandOf = (output) => summary.outputs.findIndex((other) => other.name === `${output.name}.error`);
const isBand = (output) => output.name.endsWith(".error") && summary.outputs.some((other) => `${other.name}.error` === output.name);

// Outputs of one unit share a plot, a few in each.
function addOutputs(parent, player) {
  const groups = new Map();
  summary.outputs.forEach((output, i) => {
    if (isBand(output)) return;
    let n = 0;
    while ((groups.get(`${output.unit}|${n}`)?.length ?? 0) >= 4) n++;
    const key = `${output.unit}|${n}`;
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  for (const indices of groups.values()) {
    const { unit: unitName } = summary.outputs[indices[0]];
    new Plot(parent, {
      x: run.times, unit: unitName ? `[${unitName}]` : "", events: true,
      series: indices.map((i, k) => outputSeries(summary.outputs[i], run.outputs[i], k)),
    }, player);
  }
  if (!summary.outputs.length) parent.append(element("p", { class: "empty" }, "The model declares no outputs."));
}

function outputSeries(output, y, color) {
  const band = run.outputs[bandOf(output)];
  const value = rowValue(y, "");
  return {
    name: output.name, source: output.source, what: words(output), y, color, band,
    at: band ? (t) => `${value(t)}\u00b1 ${number(Math.abs(mix(band, locate(run.times, t))), 2)}` : value,
  };
}

const ENERGY_COLORS = { kinetic: 0, potential: 1, total: 2, dissipated: 3, supplied: 4, balance: 5 };

function addEnergy(parent, player) {
  const series = summary.energy.map((source, i) => {
    const name = source.replace("energy.", "");
    return { name, source, y: run.energy[i], color: ENERGY_COLORS[name] ?? 6, at: rowValue(run.energy[i], "") };
  });
  const balance = series.filter((s) => s.name === "balance");
  const moved = (s) => s.y.some((v) => v !== 0);
  const parts = series.filter((s) => s.name !== "balance" && moved(s));
  if (parts.length) new Plot(parent, { x: run.times, unit: "[J]", series: parts, events: true, height: 170 }, player);
  if (balance.length) {
    const note = "total + dissipated \u2212 supplied \u2212 total at start: what the method gained or lost";
    new Plot(parent, { x: run.times, unit: "[J]", note, series: balance, height: 120 }, player);
  }
  if (!series.length) parent.append(element("p", { class: "empty" }, "No energy was recorded."));
}

// The accepted step that contains t.
function stepAt(t) {
  const { ends } = run.steps;
  const [i, f] = locate(ends, t);
  return f > 0 || (i === 0 && t > ends[0]) ? i + 1 : i;
}

function addSolver(parent, player) {
  const { ends, errors, methods, iterations } = run.steps;
  if (!ends.length) { parent.append(element("p", { class: "empty" }, "No step was accepted.")); return; }
  const sizes = ends.map((end, i) => end - (i ? ends[i - 1] : run.times[0]));
  const r = run.rejected;
  // A rejected trial step is marked where it would have ended.
  const order = [...r.times.keys()].sort((a, b) => r.times[a] + r.steps[a] - r.times[b] - r.steps[b]);
  const failedEnds = order.map((i) => r.times[i] + r.steps[i]);
  const positive = (values) => Array.from(values, (v) => (v > 0 && Number.isFinite(v) ? v : null));
  const joined = (accepted, rejected) => {
    const tables = [[Array.from(ends), positive(accepted)]];
    const [xs, ys] = [[], []];
    failedEnds.forEach((x, k) => { if (x !== xs.at(-1)) { xs.push(x); ys.push(rejected[order[k]]); } });
    if (xs.length) tables.push([xs, positive(ys)]);
    return xs.length ? uPlot.join(tables) : tables[0];
  };
  const plot = (name, accepted, rejected, extra, at) => {
    const [x, ...ys] = joined(accepted, rejected);
    const series = [{ name, y: ys[0], color: 0, stairs: true, at: (t) => at(stepAt(t)) }];
    if (ys[1]) series.push({ name: "rejected", y: ys[1], color: "wrong", marks: true, mark: "dot" });
    new Plot(parent, { x, series, log: true, events: true, ...extra }, player);
  };
  plot("step size", sizes, r.steps, { unit: "[s]", methods: true, height: 170 }, (i) => `${number(sizes[i], 3)} s, ${METHODS[methods[i]] ?? ""}`);
  plot("error over tolerance", errors, r.errors, { limit: 1 }, (i) => number(errors[i], 3));
  new Plot(parent, {
    x: ends, zero: true, height: 110, series: [{ name: "Newton iterations in the step", y: iterations, color: 4, stairs: true, at: (t) => String(iterations[stepAt(t)] ?? "") }],
  }, player);
  const key = element("p", { class: "key" });
  METHODS.forEach((name, i) => {
    if (methods.includes(i)) key.append(element("span", {}, element("i", { class: `swatch method${i}` }), ` ${name}: ${methods.filter((m) => m === i).length} steps `));
  });
  parent.append(key);
}

// A strip at the foot of the plot: the method of each step.
function paintMethods(u) {
  const { ends, methods } = run.steps;
  const colors = [theme.colors.series[7], theme.colors.series[2], theme.colors.series[0]];
  const { ctx, bbox } = u;
  const height = 6 * devicePixelRatio;
  ctx.globalAlpha = 1;
  for (let i = 0; i < ends.length;) {
    let j = i;
    while (j + 1 < ends.length && methods[j + 1] === methods[i]) j++;
    const [a, b] = [i ? ends[i - 1] : run.times[0], ends[j]].map((t) => Math.min(Math.max(u.valToPos(t, "x", true), bbox.left), bbox.left + bbox.width));
    ctx.fillStyle = colors[methods[i]] ?? colors[0];
    if (b > a) ctx.fillRect(a, bbox.top + bbox.height - height, b - a, height);
    i = j + 1;
  }
}

const MOST_LINES = 300;

// A table whose rows lead to their time.
function timeTable(parent, title, heads, rows, player) {
  const body = element("tbody", {});
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((h) => element("th", { scope: "col" }, h)))), body);
  for (const [t, ...cells] of rows.slice(0, MOST_LINES)) {
    const go = element("button", { type: "button", class: "link", onclick: () => player.seek(t) }, `${number(t, 7)} s`);
    body.append(element("tr", {}, element("td", {}, go), ...cells.map((c) => element("td", {}, c))));
  }
  const more = rows.length > MOST_LINES ? element("p", { class: "empty" }, `The first ${MOST_LINES} of ${rows.length}.`) : "";
  parent.append(element("details", { open: rows.length <= 12, "data-long": rows.length > 40 }, element("summary", {}, `${title} (${rows.length})`), element("div", { class: "scroll" }, table), more));
}

function addRejected(parent, player) {
  const r = run.rejected;
  const rows = Array.from(r.times, (t, i) => [t, `${number(r.steps[i], 3)} s`, Number.isFinite(r.errors[i]) ? number(r.errors[i], 3) : "", summary.reasons[r.reasons[i]], summary.culprits[r.culprits[i]]]);
  if (!rows.length) { parent.append(element("p", { class: "empty" }, "No trial step was rejected.")); return; }
  const counts = new Map();
  for (const row of rows) {
    const key = row[4] ? `${row[4]}: ${row[3]}` : row[3];
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const list = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([name, n]) => element("li", {}, `${n} \u00d7 ${name}`));
  parent.append(element("p", { class: "lead" }, "Rejected most often by"), element("ul", {}, ...list));
  timeTable(parent, "Rejected trial steps", ["from", "step", "error / tolerance", "reason", "worst in"], rows, player);
}

function addEvents(parent, player) {
  const rows = Array.from(run.events.times, (t, i) => [t, summary.events[run.events.names[i]]]);
  if (rows.length) timeTable(parent, "Events", ["time", "event"], rows, player);
}
