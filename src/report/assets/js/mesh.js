// Solids as faces: WebGL makes triangles of them, the canvas fills them as they are.
//   points   corners
//   faces    { at: indices, normal, normals: one for each corner where the surface is round }
//   edges    pairs of indices that are drawn as lines
//   dense    of many small faces
//   simple   rods { a, b, r } and balls { a, r } that are all of it, for where it is small; null if there is more
let detail = 24;            // corners of a circle; fewer where the canvas draws

class Mesh {
  constructor() { this.points = []; this.faces = []; this.edges = []; this.simple = null; }

  corner(p) { this.points.push(p); return this.points.length - 1; }

  face(at, normals = null) {
    const [a, b, c] = at.map((i) => this.points[i]);
    let normal = cross(sub(b, a), sub(c, a));
    if (at.length > 4) normal = this.areaNormal(at);
    this.faces.push({ at, normal: unit(normal), normals });
  }

  // Also for faces that are not convex.
  areaNormal(at) {
    let sum = [0, 0, 0];
    for (let i = 0; i < at.length; i++) {
      sum = add(sum, cross(this.points[at[i]], this.points[at[(i + 1) % at.length]]));
    }
    return sum;
  }

  outline(at) { at.forEach((i, k) => this.edges.push([i, at[(k + 1) % at.length]])); }

  // Everything of another mesh.
  take(other) {
    const base = this.points.length;
    const own = base ? this.simple : [];
    this.simple = own && other.simple ? [...own, ...other.simple] : null;
    this.points.push(...other.points);
    for (const face of other.faces) this.faces.push({ ...face, at: face.at.map((i) => i + base) });
    for (const [a, b] of other.edges) this.edges.push([a + base, b + base]);
    return this;
  }
}

// Triangles of a file, each flat.
function triangleMesh({ points, triangles }) {
  const mesh = new Mesh();
  mesh.points = points;
  mesh.dense = true;
  for (const at of triangles) mesh.face(at);
  return mesh;
}

function boxMesh([a, b, c], center = [0, 0, 0]) {
  const mesh = new Mesh();
  for (const z of [-c / 2, c / 2]) {
    for (const [x, y] of [[-a, -b], [a, -b], [a, b], [-a, b]]) mesh.corner(add(center, [x / 2, y / 2, z]));
  }
  for (const at of [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]) mesh.face(at);
  for (const at of [[0, 1, 2, 3], [4, 5, 6, 7]]) mesh.outline(at);
  for (let i = 0; i < 4; i++) mesh.edges.push([i, i + 4]);
  return mesh;
}

// A polygon of the plane (counter-clockwise) between two heights.
function prismMesh(polygon, low, high, { round = false, edges = true } = {}) {
  const mesh = new Mesh();
  const n = polygon.length;
  const bottom = polygon.map(([x, y]) => mesh.corner([x, y, low]));
  const top = polygon.map(([x, y]) => mesh.corner([x, y, high]));
  mesh.face(top);
  mesh.face([...bottom].reverse());
  const out = polygon.map(([x, y], i) => {
    const [a, b] = [polygon[(i + n - 1) % n], polygon[(i + 1) % n]];
    return unit([b[1] - a[1], a[0] - b[0], 0]);
  });
  for (let i = 0; i < n; i++) {
    const j = (i + 1) % n;
    mesh.face([bottom[i], bottom[j], top[j], top[i]], round ? [out[i], out[j], out[j], out[i]] : null);
    if (edges && !round) mesh.edges.push([bottom[i], top[i]]);
  }
  if (edges) { mesh.outline(top); mesh.outline(bottom); }
  return mesh;
}

const circle = (r, [cx, cy] = [0, 0], n = detail) =>
  Array.from({ length: n }, (_, i) => [cx + r * Math.cos(2 * Math.PI * i / n), cy + r * Math.sin(2 * Math.PI * i / n)]);

// A bar with round ends from a to b.
function stadium(a, b, r) {
  const angle = Math.atan2(b[1] - a[1], b[0] - a[0]);
  const n = Math.max(6, detail / 2);
  const arc = (center, from) => Array.from({ length: n + 1 }, (_, i) => {
    const s = from + Math.PI * i / n;
    return [center[0] + r * Math.cos(s), center[1] + r * Math.sin(s)];
  });
  if (Math.hypot(b[0] - a[0], b[1] - a[1]) < 1e-9 * r) return circle(r, a);
  return [...arc(b, angle - Math.PI / 2), ...arc(a, angle + Math.PI / 2)];
}

// A tube of radii r0 and r1 from a to b; closed by caps. A radius of zero makes a cone.
function tubeMesh(a, b, r0, r1 = r0, n = detail, edges = true) {
  const mesh = new Mesh();
  const z = unit(sub(b, a));
  const x = across(z);
  const y = cross(z, x);
  const slope = (r0 - r1) / (norm(sub(b, a)) || 1);
  const rings = [[a, r0], [b, r1]].map(([center, r]) => Array.from({ length: n }, (_, i) => {
    const s = 2 * Math.PI * i / n;
    return mesh.corner(add(center, add(scaled(x, r * Math.cos(s)), scaled(y, r * Math.sin(s)))));
  }));
  const out = Array.from({ length: n }, (_, i) => {
    const s = 2 * Math.PI * i / n;
    return unit(add(add(scaled(x, Math.cos(s)), scaled(y, Math.sin(s))), scaled(z, slope)));
  });
  for (let i = 0; i < n; i++) {
    const j = (i + 1) % n;
    mesh.face([rings[0][i], rings[0][j], rings[1][j], rings[1][i]], [out[i], out[j], out[j], out[i]]);
  }
  if (r0 > 0) { mesh.face([...rings[0]].reverse()); if (edges) mesh.outline(rings[0]); }
  if (r1 > 0) { mesh.face(rings[1]); if (edges) mesh.outline(rings[1]); }
  if (r0 === r1) mesh.simple = [{ a, b, r: r0 }];
  return mesh;
}

function sphereMesh(r, center = [0, 0, 0], n = detail) {
  const mesh = new Mesh();
  const rows = Math.max(4, Math.round(n / 2));
  const at = (i, k) => {
    const [u, v] = [Math.PI * i / rows, 2 * Math.PI * k / n];
    return [Math.sin(u) * Math.cos(v), Math.sin(u) * Math.sin(v), Math.cos(u)];
  };
  const out = [];
  for (let i = 0; i <= rows; i++) {
    for (let k = 0; k < n; k++) { out.push(at(i, k)); mesh.corner(add(center, scaled(at(i, k), r))); }
  }
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < n; k++) {
      const [a, b] = [i * n + k, i * n + (k + 1) % n];
      const face = i === 0 ? [a, a + n, b + n] : i === rows - 1 ? [a, a + n, b] : [a, a + n, b + n, b];
      mesh.face(face, face.map((p) => out[p]));
    }
  }
  mesh.simple = [{ a: center, r }];
  return mesh;
}

// A ring about z, for tyres.
function torusMesh(R, r, n = detail * 2, m = Math.max(8, detail / 2)) {
  const mesh = new Mesh();
  const out = [];
  for (let i = 0; i < n; i++) {
    const s = 2 * Math.PI * i / n;
    for (let k = 0; k < m; k++) {
      const v = 2 * Math.PI * k / m;
      const normal = [Math.cos(v) * Math.cos(s), Math.cos(v) * Math.sin(s), Math.sin(v)];
      out.push(normal);
      mesh.corner(add([R * Math.cos(s), R * Math.sin(s), 0], scaled(normal, r)));
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < m; k++) {
      const [a, b] = [i * m, ((i + 1) % n) * m];
      const face = [a + k, b + k, b + (k + 1) % m, a + (k + 1) % m];
      mesh.face(face, face.map((p) => out[p]));
    }
  }
  return mesh;
}

// A coil along z from 0 to 1, radius 1, straight ends; `wire` is relative to the radius.
function coilMesh(turns = 7, wire = 0.16) {
  const mesh = new Mesh();
  const [steps, m] = [turns * Math.max(8, detail / 2), 6];
  let last = null;
  for (let i = 0; i <= steps; i++) {
    const s = 2 * Math.PI * turns * i / steps;
    const center = [Math.cos(s), Math.sin(s), 0.1 + 0.8 * i / steps];
    const ring = Array.from({ length: m }, (_, k) => {
      const v = 2 * Math.PI * k / m;
      const normal = [Math.cos(v) * Math.cos(s), Math.cos(v) * Math.sin(s), Math.sin(v)];
      // Along z the unit mesh is stretched by the length of the spring, so the wire is kept thin there.
      return [mesh.corner(add(center, [wire * normal[0], wire * normal[1], 0.012 * normal[2]])), normal];
    });
    if (last) {
      for (let k = 0; k < m; k++) {
        const l = (k + 1) % m;
        mesh.face([last[k][0], ring[k][0], ring[l][0], last[l][0]], [last[k][1], ring[k][1], ring[l][1], last[l][1]]);
      }
    }
    last = ring;
  }
  for (const [a, b] of [[0, 0.1], [0.9, 1]]) mesh.take(tubeMesh([0, 0, a], [0, 0, b], wire, wire, 6, false));
  return mesh;
}

// Triangles of a flat face, by cutting ears; corners as indices into `at`.
function triangles(points, { at, normal }) {
  if (at.length === 3) return [[0, 1, 2]];
  const x = across(normal);
  const y = cross(normal, x);
  const flat = at.map((i) => [dot(points[i], x), dot(points[i], y)]);
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const left = at.map((_, i) => i);
  const found = [];
  while (left.length > 3) {
    const ear = left.findIndex((b, k) => {
      const [a, c] = [left[(k + left.length - 1) % left.length], left[(k + 1) % left.length]];
      if (turn(flat[a], flat[b], flat[c]) <= 0) return false;
      return left.every((p) => p === a || p === b || p === c || turn(flat[a], flat[b], flat[p]) < 0
        || turn(flat[b], flat[c], flat[p]) < 0 || turn(flat[c], flat[a], flat[p]) < 0);
    });
    const k = ear < 0 ? 0 : ear;
    found.push([left[(k + left.length - 1) % left.length], left[k], left[(k + 1) % left.length]]);
    left.splice(k, 1);
  }
  return [...found, left];
}
