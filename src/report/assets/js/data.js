// The run: one JSON object and columns of numbers in a deflate stream. See columns.rs and summary.rs for their order.
const byId = (id) => document.getElementById(id);
const summary = JSON.parse(byId("summary").textContent);
const measured = JSON.parse(byId("measured").textContent);
const scene = summary.scene;
const planar = scene.dimension === 2;

// Filled by `decode`. Rows: times, outputs, poses (columns of each body), energy; loads at every loadStride-th row.
const run = {
  times: [summary.start], outputs: [], poses: [], energy: [], loads: [], loadTimes: [],
  steps: {}, rejected: {}, events: {},
};

async function decode() {
  const text = atob(byId("columns").textContent.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const reader = { bytes, view: new DataView(bytes.buffer), at: 0 };
  const next = () => readColumn(reader);
  const many = (count) => Array.from({ length: count }, next);

  run.times = next();
  run.outputs = many(summary.outputs.length);
  const poseWidth = planar ? 3 : 7;
  run.poses = scene.bodies.map(() => many(poseWidth));
  run.energy = many(summary.energy.length);
  run.loads = many(summary.loads.length);
  run.loadTimes = run.times.filter((_, i) => i % summary.loadStride === 0);
  run.steps = { ends: next(), errors: next(), methods: next(), iterations: next() };
  run.rejected = { times: next(), steps: next(), errors: next(), reasons: next(), culprits: next() };
  run.events = { times: next(), names: next() };
}

function readColumn(reader) {
  const { bytes, view } = reader;
  const head = reader.at;
  const [kind, order, planes] = [bytes[head], bytes[head + 1], bytes[head + 2]];
  const count = view.getUint32(head + 4, true);
  const [offset, quantum] = [view.getFloat64(head + 8, true), view.getFloat64(head + 16, true)];
  const body = head + 24;
  reader.at = body + planes * count;
  const values = new Float64Array(count);
  if (kind < 2) {
    const word = new DataView(new ArrayBuffer(8));
    for (let i = 0; i < count; i++) {
      for (let p = 0; p < planes; p++) word.setUint8(p, bytes[body + p * count + i]);
      values[i] = kind === 0 ? word.getFloat64(0, true) : word.getFloat32(0, true);
    }
    return values;
  }
  let [k, difference] = [0, 0];
  const [second, third] = [body + count, body + 2 * count];
  for (let i = 0; i < count; i++) {
    let x = 0;
    if (planes <= 3) {
      const code = (planes > 0 ? bytes[body + i] : 0) | (planes > 1 ? bytes[second + i] << 8 : 0) | (planes > 2 ? bytes[third + i] << 16 : 0);
      x = (code >>> 1) ^ -(code & 1);
    } else {
      // Beyond 2^31 only with floating point.
      let code = 0;
      for (let p = planes - 1; p >= 0; p--) code = code * 256 + bytes[body + p * count + i];
      x = code % 2 === 1 ? -(code + 1) / 2 : code / 2;
    }
    if (order === 0) k = x;
    else if (order === 1) k += x;
    else k += difference += x;
    values[i] = offset + quantum * k;
  }
  return values;
}

// The row at or before t, and the fraction of the way to the next one.
function locate(times, t) {
  let [low, high] = [0, times.length - 1];
  if (!(t > times[0])) return [0, 0];
  if (t >= times[high]) return [high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  return [low, (t - times[low]) / (times[high] - times[low])];
}

// A column between its rows, by straight lines; at a row's time it is that row.
function mix(column, [i, f]) {
  return f === 0 ? column[i] : column[i] + f * (column[i + 1] - column[i]);
}

function poseAt(body, place) {
  const columns = run.poses[body];
  if (planar) {
    const half = mix(columns[2], place) / 2;
    return {
      position: [mix(columns[0], place), mix(columns[1], place), 0],
      orientation: [Math.cos(half), 0, 0, Math.sin(half)],
    };
  }
  const [i, f] = place;
  const q = [3, 4, 5, 6].map((c) => columns[c][i]);
  if (f > 0) {
    const next = [3, 4, 5, 6].map((c) => columns[c][i + 1]);
    const sign = q[0] * next[0] + q[1] * next[1] + q[2] * next[2] + q[3] * next[3] < 0 ? -1 : 1;
    for (let k = 0; k < 4; k++) q[k] += f * (sign * next[k] - q[k]);
    const norm = Math.hypot(...q) || 1;
    for (let k = 0; k < 4; k++) q[k] /= norm;
  }
  return { position: [0, 1, 2].map((c) => mix(columns[c], place)), orientation: q };
}

// What stands after # in the address: words and name=value, joined by &.
function addressed(name) {
  const part = location.hash.slice(1).split("&").find((p) => p === name || p.startsWith(`${name}=`));
  return part && (part.slice(name.length + 1) || true);
}

// Numbers as people read them.
function number(x, digits = 4) {
  if (x === null || x === undefined) return "";
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-3) return Number(x.toPrecision(Math.max(digits - 1, 2))).toExponential().replace("e+", "e");
  return String(Number(x.toPrecision(digits)));
}

const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
};
