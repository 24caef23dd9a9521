// Vectors as arrays of three, quaternions as [w, x, y, z], matrices 4 x 4 by columns as WebGL has them.
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scaled(a, 1 / (norm(a) || 1));

// Some unit vector across a.
function across(a) {
  const [x, y, z] = a.map(Math.abs);
  return unit(cross(a, x <= y && x <= z ? [1, 0, 0] : y <= z ? [0, 1, 0] : [0, 0, 1]));
}

function rotate([w, x, y, z], v) {
  const u = [x, y, z];
  const once = cross(u, v);
  const twice = cross(u, once);
  return [0, 1, 2].map((k) => v[k] + 2 * (w * once[k] + twice[k]));
}

// From columns x, y, z and origin.
function setFrame(m, x, y, z, o) {
  m[0] = x[0]; m[1] = x[1]; m[2] = x[2]; m[3] = 0;
  m[4] = y[0]; m[5] = y[1]; m[6] = y[2]; m[7] = 0;
  m[8] = z[0]; m[9] = z[1]; m[10] = z[2]; m[11] = 0;
  m[12] = o[0]; m[13] = o[1]; m[14] = o[2]; m[15] = 1;
  return m;
}

const identity = () => setFrame(new Float32Array(16), [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]);

function setPose(m, [w, x, y, z], o) {
  return setFrame(m,
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], o);
}

const transformed = (m, p) => [
  m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12],
  m[1] * p[0] + m[5] * p[1] + m[9] * p[2] + m[13],
  m[2] * p[0] + m[6] * p[1] + m[10] * p[2] + m[14],
];
const turned = (m, p) => [
  m[0] * p[0] + m[4] * p[1] + m[8] * p[2],
  m[1] * p[0] + m[5] * p[1] + m[9] * p[2],
  m[2] * p[0] + m[6] * p[1] + m[10] * p[2],
];

// Unit mesh along z from a to b; its x and y are stretched by `width`.
function setBetween(m, a, b, width) {
  const d = sub(b, a);
  const z = norm(d) > 0 ? unit(d) : [0, 0, 1];
  const x = across(z);
  return setFrame(m, scaled(x, width), scaled(cross(z, x), width), norm(d) > 0 ? d : scaled(z, 1e-9), a);
}

// The smallest of 1, 2, 5 times a power of ten not below x.
function roundUp(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return power * [1, 2, 5, 10].find((d) => d * power >= x * 0.999999);
}

// Corners of the convex hull of points in the plane, counter-clockwise.
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (list) => {
    const chain = [];
    for (const p of list) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), p) <= 1e-12) chain.pop();
      chain.push(p);
    }
    chain.pop();
    return chain;
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}
