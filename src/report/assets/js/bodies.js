// What a body looks like: its shape where the model gives one; else bars and plates between the points at which joints and
// forces act, and a solid of the same inertia where there are too few of those.

// Points of each body at which something acts, in its frame.
function attachments() {
  const points = scene.bodies.map(() => []);
  const put = (body, point) => { if (body !== null && body !== undefined) points[body].push(point); };
  for (const joint of scene.joints) {
    if (joint.kind !== "coupling") joint.bodies.forEach((body, side) => put(body, joint.frames[side].point));
  }
  for (const force of scene.forces) {
    if (force.bodies && !force.contact && !force.tyre && !force.torque) {
      force.bodies.forEach((body, side) => put(body, force.points[side]));
    }
  }
  for (const sensor of scene.sensors) put(sensor.body, sensor.point);
  return points.map(distinct);
}

function distinct(points) {
  const found = [];
  for (const p of points) if (!found.some((q) => norm(sub(p, q)) < 1e-9 * (1 + norm(p)))) found.push(p);
  return found;
}

// Corners that must fit into the picture, in the body's frame.
function extentOf(body, points) {
  const { shape } = body;
  if (shape?.box) {
    const [a, b, c] = shape.box.map((e) => e / 2);
    return [...points, [a, b, c], [-a, -b, -c], [a, -b, c], [-a, b, -c]];
  }
  if (shape?.circle) {
    const r = shape.circle;
    return [...points, [r, 0, 0], [-r, 0, 0], [0, r, 0], [0, -r, 0], ...(planar ? [] : [[0, 0, r], [0, 0, -r]])];
  }
  if (shape?.mesh) return [...points, ...shape.mesh.points];
  const solid = !planar && !shape && points.length < 2 ? sameInertia(body, points) : null;
  return [...points, ...(shape?.line ?? []), body.center, ...(solid?.mesh.points ?? [])];
}

// Parts of a body: { mesh, role, edge }. `size` is that of the whole mechanism, `layer` the height of a planar body.
function bodyParts(index, points, size, layer) {
  const body = scene.bodies[index];
  const parts = planar ? planarParts(body, points, size, layer) : spatialParts(body, points, size);
  return parts.map((part) => ({ role: `body${index}`, edge: true, ...part }));
}

function planarParts(body, points, size, layer) {
  const { shape } = body;
  const [low, high] = [layer, layer + 0.012 * size];
  const solid = (polygon, extra = {}) => ({ mesh: prismMesh(polygon, low, high, extra) });
  const center = body.center;
  const massPoint = body.mass > 0 && body.inertia[2] === 0
    ? [{ mesh: prismMesh(circle(0.022 * size, center), low, high + 0.002 * size, { round: true }) }] : [];
  if (shape?.box) return [solid(rectangle(shape.box))];
  if (shape?.circle) {
    const r = shape.circle;
    return [solid(circle(r, [0, 0], 2 * detail), { round: true }),
      { mesh: prismMesh(stadium([0.15 * r, 0], [0.85 * r, 0], 0.05 * r), high, high + 1e-3 * size, { edges: false }), shade: 0.75 }];
  }
  if (shape?.line) return [...barParts(shape.line, size, low, high), ...massPoint];
  const all = points.length < 2 ? distinct([...points, center]) : points;
  const corners = hull(all.map(([x, y]) => [x, y]));
  if (corners.length < 2) return [solid(rectangle([0.09 * size, 0.065 * size]).map(([x, y]) => [x + center[0], y + center[1]]))];
  if (corners.length === 2) return [...barParts(corners, size, low, high), ...massPoint];
  return [solid(corners), ...massPoint];
}

const rectangle = ([a, b]) => [[-a / 2, -b / 2], [a / 2, -b / 2], [a / 2, b / 2], [-a / 2, b / 2]];

// A chain of bars with one outline: dark bars below, lighter and narrower ones above them.
function barParts(line, size, low, high) {
  const [r, rim] = [0.016 * size, 0.0028 * size];
  const segments = line.slice(1).map((b, i) => [line[i], b]);
  const closed = line.length > 3 && norm(sub(asPoint(line[0]), asPoint(line.at(-1)))) < 1e-9 * size;
  const parts = [];
  if (closed) {
    const polygon = line.slice(0, -1);
    const area = polygon.reduce((sum, [x, y], i) => {
      const [u, v] = polygon[(i + 1) % polygon.length];
      return sum + x * v - u * y;
    }, 0);
    const inside = prismMesh(area > 0 ? polygon : [...polygon].reverse(), low, low + 0.3 * (high - low), { edges: false });
    parts.push({ mesh: inside, edge: false, tint: 0.55 });
  }
  const [outer, inner] = [new Mesh(), new Mesh()];
  for (const [a, b] of segments) {
    outer.take(prismMesh(stadium(a, b, r), low, high - 0.002 * size, { round: true, edges: false }));
    inner.take(prismMesh(stadium(a, b, r - rim), high - 0.002 * size, high, { round: true, edges: false }));
  }
  return [...parts, { mesh: outer, edge: false, shade: 0.62 }, { mesh: inner, edge: false }];
}

const asPoint = (p) => [p[0], p[1], p[2] ?? 0];

function spatialParts(body, points, size) {
  const { shape } = body;
  const rod = 0.012 * size;
  if (shape?.mesh) return [{ mesh: triangleMesh(shape.mesh), edge: false }];
  if (shape?.box) return [{ mesh: boxMesh(shape.box) }];
  if (shape?.circle) return [{ mesh: sphereMesh(shape.circle), edge: false }];
  if (shape?.line) return [rods(shape.line.slice(1).map((b, i) => [shape.line[i], b]), rod)];
  if (points.length >= 3) {
    const plate = plateThrough(points, 0.02 * size);
    if (plate) return [{ mesh: plate }];
    return [rods(spanningTree(points), rod), ...centerMark(body, size)];
  }
  if (points.length === 2) {
    const [a, b] = points;
    const away = norm(cross(sub(body.center, a), unit(sub(b, a))));
    const links = away > 0.02 * size ? [[a, b], [scaled(add(a, b), 0.5), body.center]] : [[a, b]];
    return [rods(links, rod)];
  }
  const same = sameInertia(body, points);
  const solid = same ? [same] : centerMark(body, size, 2.2);
  const arm = points.filter((p) => norm(sub(p, body.center)) > 1e-6 * size).map((p) => [p, body.center]);
  return arm.length ? [rods(arm, rod), ...solid] : solid;
}

function rods(links, r) {
  const mesh = new Mesh();
  for (const [a, b] of links) {
    const [p, q] = [asPoint(a), asPoint(b)];
    if (norm(sub(p, q)) > 0) mesh.take(tubeMesh(p, q, r, r, Math.max(8, detail / 2), false));
  }
  return { mesh, edge: false };
}

const centerMark = (body, size, by = 1) => body.mass > 0
  ? [{ mesh: sphereMesh(0.018 * size * by, body.center, Math.max(8, detail / 2)), edge: false }] : [];

// A plate through points that lie in one plane; none where they do not.
function plateThrough(points, thickness) {
  const middle = scaled(points.reduce(add), 1 / points.length);
  const arms = points.map((p) => sub(p, middle));
  const longest = arms.reduce((a, b) => (norm(b) > norm(a) ? b : a));
  const x = unit(longest);
  const widest = arms.map((a) => sub(a, scaled(x, dot(a, x)))).reduce((a, b) => (norm(b) > norm(a) ? b : a));
  if (norm(widest) < 0.15 * norm(longest)) return null;
  const y = unit(widest);
  const z = cross(x, y);
  if (arms.some((a) => Math.abs(dot(a, z)) > 0.02 * norm(longest))) return null;
  const mesh = prismMesh(hull(arms.map((a) => [dot(a, x), dot(a, y)])), -thickness / 2, thickness / 2);
  mesh.points = mesh.points.map(([u, v, w]) => add(middle, add(scaled(x, u), add(scaled(y, v), scaled(z, w)))));
  for (const face of mesh.faces) face.normal = add(scaled(x, face.normal[0]), add(scaled(y, face.normal[1]), scaled(z, face.normal[2])));
  return mesh;
}

// Shortest links that join all points (Prim).
function spanningTree(points) {
  const [inside, outside, links] = [[points[0]], points.slice(1), []];
  while (outside.length) {
    let best = null;
    for (const a of inside) {
      outside.forEach((b, k) => {
        const length = norm(sub(a, b));
        if (!best || length < best.length) best = { a, b, k, length };
      });
    }
    links.push([best.a, best.b]);
    inside.push(...outside.splice(best.k, 1));
  }
  return links;
}

// A cylinder or box of homogeneous material with the body's mass and principal moments, if it is not much larger than the
// distance at which the body is held: then its inertia is not that of its shape.
function sameInertia(body, points) {
  const [ixx, iyy, izz, ixy, ixz, iyz] = body.inertia;
  if (!(body.mass > 0) || ixy || ixz || iyz) return null;
  const moments = [ixx, iyy, izz];
  const equal = (a, b) => Math.abs(a - b) < 1e-3 * Math.max(a, b);
  const reach = Math.max(0, ...points.map((p) => norm(sub(p, body.center))));
  const limit = reach > 0 ? 3 * reach : Infinity;
  for (let k = 0; k < 3; k++) {
    const [axial, b, c] = [moments[k], moments[(k + 1) % 3], moments[(k + 2) % 3]];
    const r = Math.sqrt(2 * axial / body.mass);
    const h = Math.sqrt(Math.max(12 * b / body.mass - 3 * r * r, 0));
    if (equal(b, c) && !equal(axial, b) && r > 0 && 2 * r < limit && h < limit) {
      const axis = [0, 1, 2].map((i) => (i === k ? Math.max(h, 0.06 * r) / 2 : 0));
      return { mesh: tubeMesh(sub(body.center, axis), add(body.center, axis), r, r, 2 * detail), lines: spokes(body.center, axis, r) };
    }
  }
  const edges = [0, 1, 2].map((k) => Math.sqrt(Math.max(6 * (moments[(k + 1) % 3] + moments[(k + 2) % 3] - moments[k]) / body.mass, 0)));
  if (!edges.every((e) => e > 0.002 * Math.max(...edges) && e < limit)) return null;
  return { mesh: boxMesh(edges, body.center) };
}

// Lines across the ends of a cylinder, so that its rotation is seen.
function spokes(center, axis, r) {
  const x = across(unit(axis));
  const y = cross(unit(axis), x);
  return [1.002, -1.002].flatMap((end) => [[1, 0], [0, 1]].map(([c, s]) => {
    const arm = add(scaled(x, r * c), scaled(y, r * s));
    const at = add(center, scaled(axis, end));
    return [sub(at, arm), add(at, arm)];
  }));
}
