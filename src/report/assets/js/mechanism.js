// The mechanism as a list of things to draw, moved to any time of the run.
//   node  { mesh, role, matrix, group, edge }            a solid
//   line  { points, role, width, matrix, group, upto }   a polyline, width in pixels
//   label { text, at, group }                            a text at the point at()
class Mechanism {
  constructor() {
    this.nodes = [];
    this.lines = [];
    this.labels = [];
    this.beamPieces = [];     // nodes of each beam
    this.moving = [];         // functions called with the place of a time
    this.points = attachments();
    this.bodyMatrices = scene.bodies.map(identity);
    this.ground = identity();
    this.wrong = new Set((summary.failure?.elements ?? []).map((e) => e.name));
    this.samples = sampleRows(160);
    this.measure();
    this.layers = planar ? layersOf() : scene.bodies.map(() => 0);
    this.addGround();
    scene.bodies.forEach((_, i) => this.addBody(i));
    scene.beams.forEach((beam, i) => this.addBeam(beam, i));
    scene.joints.forEach((joint) => this.addJoint(joint));
    scene.forces.forEach((force) => this.addForce(force));
    this.addTrails();
    this.arrows = new Arrows(this);
    this.update(run.times[0]);
  }

  node(mesh, role, matrix, group, extra = {}) {
    const node = { mesh, role, matrix, group, edge: false, ...extra };
    this.nodes.push(node);
    return node;
  }

  line(points, role, width, group, extra = {}) {
    const line = { points, role, width, group, matrix: this.ground, ...extra };
    this.lines.push(line);
    return line;
  }

  matrixOf(body) { return body === null || body === undefined ? this.ground : this.bodyMatrices[body]; }

  worldPoint(body, point) { return transformed(this.matrixOf(body), point); }

  // Moves everything to the time t.
  update(t) {
    this.time = t;
    const place = locate(run.times, t);
    this.place(place);
    this.moving.forEach((move) => move(place, t));
    this.arrows.update(t);
  }

  place(place) {
    scene.bodies.forEach((_, i) => {
      const { position, orientation } = poseAt(i, place);
      setPose(this.bodyMatrices[i], orientation, position);
    });
  }

  // Box around everything at all times, its size, and the size that marks are relative to.
  measure() {
    const extents = scene.bodies.map((body, i) => extentOf(body, this.points[i]));
    const fixed = [];
    for (const item of [...scene.joints, ...scene.forces]) {
      (item.bodies ?? []).forEach((body, side) => {
        if (body === null && item.kind !== "coupling" && !item.tyre && !item.contact?.plane) fixed.push(item.frames ? item.frames[side].point : item.points[side]);
      });
    }
    const visible = fixed.filter((p, i) => !(scene.forces.some((f) => f.torque) && norm(p) === 0 && i > 0));
    const box = { low: [Infinity, Infinity, Infinity], high: [-Infinity, -Infinity, -Infinity] };
    const grow = (p) => p.forEach((c, k) => {
      if (!Number.isFinite(c)) return;
      box.low[k] = Math.min(box.low[k], c);
      box.high[k] = Math.max(box.high[k], c);
    });
    visible.forEach(grow);
    const spans = [];
    for (const row of this.samples) {
      this.place([row, 0]);
      const now = { low: [...box.low], high: [...box.high] };
      extents.forEach((points, i) => points.forEach((p) => {
        const at = transformed(this.bodyMatrices[i], p);
        grow(at);
        at.forEach((c, k) => { now.low[k] = Math.min(now.low[k], c); now.high[k] = Math.max(now.high[k], c); });
      }));
      spans.push(norm(sub(now.high, now.low)));
    }
    for (const force of scene.forces) {
      const r = force.tyre?.radius ?? force.contact?.radius ?? 0;
      if (r > 0 && force.bodies[1] !== null) {
        this.place([0, 0]);
        const at = this.worldPoint(force.bodies[1], force.points[1]);
        grow(add(at, [r, r, planar ? 0 : r])); grow(sub(at, [r, r, planar ? 0 : r]));
      }
    }
    if (!(box.high[0] >= box.low[0])) { box.low = [-0.5, -0.5, 0]; box.high = [0.5, 0.5, 0]; }
    const whole = norm(sub(box.high, box.low)) || 1;
    this.whole = Math.min(whole, 1.6 * (spans.sort((a, b) => a - b)[spans.length >> 1] || whole)) || 1;
    // Marks of joints are in proportion to the bodies where these are many and small.
    const reach = (points) => Math.max(0, ...points.map((p) => norm(sub(p, points[0]))));
    const reaches = extents.map(reach).filter((r) => r > 0).sort((a, b) => a - b);
    this.size = Math.min(this.whole, 5 * (reaches[reaches.length >> 1] ?? this.whole));
    this.box = box;
    const down = norm(scene.gravity) > 0 ? unit(scene.gravity) : planar ? [0, -1, 0] : [0, 0, -1];
    const axis = down.map(Math.abs).indexOf(Math.max(...down.map(Math.abs)));
    this.up = [0, 0, 0];
    this.up[axis] = -Math.sign(down[axis]);
    if (planar) this.up = [0, 1, 0];
  }

  addBody(index) {
    const layer = this.layers[index] * 0.016 * this.size;
    const wrong = this.wrong.has(scene.bodies[index].name);
    const parts = isNode(index) ? [] : bodyParts(index, this.points[index], this.size, layer);
    for (const { mesh, role, lines = [], ...look } of parts) {
      for (const line of lines) this.line(line, "ink", 1.2, "bodies", { matrix: this.bodyMatrices[index], alpha: 0.6 });
      this.node(mesh, wrong ? "wrong" : role, this.bodyMatrices[index], "bodies", look);
    }
    const { name, center } = scene.bodies[index];
    this.labels.push({ text: name, at: () => add(this.worldPoint(index, center), [0, 0, planar ? layer : 0]), group: "names" });
  }

  addTrails() {
    const stride = Math.max(1, Math.ceil(run.times.length / 4000));
    const rows = [];
    for (let i = 0; i < run.times.length; i += stride) rows.push(i);
    let traced = scene.sensors.filter((s) => s.body !== null);
    if (!traced.length) {
      traced = scene.bodies.map((body, i) => ({ body: i, point: body.center })).filter(({ body }) => !isNode(body));
      if (traced.length > 12) traced = [];
    }
    for (const sensor of traced) {
      const path = rows.map((row) => {
        const { position, orientation } = poseAt(sensor.body, [row, 0]);
        const p = add(position, rotate(orientation, sensor.point));
        return planar ? [p[0], p[1], -0.004 * this.size] : p;
      });
      if (path.every((p) => norm(sub(p, path[0])) < 1e-6 * this.size)) continue;
      this.line(path, "trail", 1, "trails", { alpha: 0.28 });
      const past = this.line(path, "trail", 1.8, "trails", { alpha: 0.9, upto: 0 });
      this.moving.push(([row]) => { past.upto = Math.floor(row / stride); });
      if (sensor.name) {
        const z = planar ? [0, 0, 0.06 * this.size] : [0, 0, 0];
        this.node(sphereMesh(0.009 * this.size, add(sensor.point, z), 10), "trail", this.bodyMatrices[sensor.body], "trails");
      }
    }
  }
}

// Rows spread evenly over the run, the last one among them.
function sampleRows(count) {
  const last = run.times.length - 1;
  const step = Math.max(1, Math.ceil(last / count));
  const rows = [];
  for (let i = 0; i < last; i += step) rows.push(i);
  return [...rows, last];
}

// Heights for planar bodies: those that share a joint lie above each other, the others need not.
function layersOf() {
  const neighbours = scene.bodies.map(() => new Set());
  for (const { bodies: [a, b], kind } of scene.joints) {
    if (a !== null && b !== null && kind !== "coupling") { neighbours[a].add(b); neighbours[b].add(a); }
  }
  const layers = [];
  scene.bodies.forEach((_, i) => {
    let layer = 0;
    while ([...neighbours[i]].some((j) => layers[j] === layer)) layer++;
    layers.push(layer);
  });
  return layers;
}
