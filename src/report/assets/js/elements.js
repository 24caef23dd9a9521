// Ground, joints and forces of the mechanism.
Object.assign(Mechanism.prototype, {
  addGround() {
    const { whole: size } = this;
    const spacing = roundUp(size / 12);
    const middle = scaled(add(this.box.low, this.box.high), 0.5);
    const up = planar ? [0, 0, 1] : this.up;
    const k = up.map(Math.abs).indexOf(1);
    const [a, b] = [(k + 1) % 3, (k + 2) % 3];
    const floor = planar ? -0.03 * size : this.box.low[k] - 0.004 * size;
    const reach = Math.ceil((planar ? 1.5 : 0.75) * Math.max(size, norm(sub(this.box.high, this.box.low))) / spacing) * spacing;
    const [ca, cb] = [a, b].map((i) => Math.round(middle[i] / spacing) * spacing);
    for (let s = -reach; s <= reach + spacing / 2; s += spacing) {
      for (const [along, other, from, to] of [[a, b, ca, cb], [b, a, cb, ca]]) {
        const ends = [-reach, reach].map((e) => {
          const p = [0, 0, 0];
          p[k] = floor; p[along] = from + e; p[other] = to + s;
          return p;
        });
        this.line(ends, "grid", 1.3, "ground", { behind: true });
      }
    }
    this.gridSpacing = spacing;
    const length = 0.14 * size;
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].slice(0, planar ? 2 : 3).forEach((axis, i) => {
      const z = planar ? [0, 0, -0.02 * size] : [0, 0, 0];
      this.line([z, add(z, scaled(axis, length))], ["axisX", "axisY", "axisZ"][i], 2, "axes", { behind: planar });
      this.labels.push({ text: "xyz"[i], at: () => scaled(axis, length * 1.12), group: "axes", quiet: true });
    });
  },

  addJoint(joint) {
    const { size } = this;
    if (joint.kind === "coupling") return;
    const role = this.wrong.has(joint.name) ? "wrong" : "steel";
    const side = joint.bodies[1] === null ? 0 : 1;
    this.labels.push({ text: joint.name, at: () => this.worldPoint(joint.bodies[side], joint.frames[side].point), group: "names", quiet: true });
    if (joint.kind === "distance") return this.addRod(joint.bodies, joint.frames.map((f) => f.point), role, 0.006 * size);
    if (planar) return this.addPlanarJoint(joint, role);
    this.addSpatialJoint(joint, role);
  },

  // A thin bar whose ends belong to two bodies.
  addRod(bodies, points, role, r, group = "joints") {
    const z = planar ? [0, 0, 0.03 * this.size] : [0, 0, 0];
    const node = this.node(tubeMesh([0, 0, 0], [0, 0, 1], 1, 1, 10, false), role, identity(), group);
    this.moving.push(() => {
      const [a, b] = bodies.map((body, side) => add(this.worldPoint(body, points[side]), z));
      setBetween(node.matrix, a, b, r);
    });
  },

  addPlanarJoint(joint, role) {
    const { size } = this;
    const [first, second] = joint.bodies;
    const top = (Math.max(first === null ? 0 : this.layers[first], second === null ? 0 : this.layers[second]) + 1) * 0.016 * size;
    const upper = second === null || (first !== null && this.layers[first] > this.layers[second]) ? 0 : 1;
    const { point } = joint.frames[upper];
    const matrix = this.matrixOf(joint.bodies[upper]);
    if (joint.kind === "revolute" || joint.kind === "point_on_line") {
      const side = joint.kind === "revolute" ? upper : 1;
      const center = joint.frames[side].point;
      const owner = this.matrixOf(joint.bodies[side]);
      this.node(prismMesh(circle(0.0125 * size, center), 0, top, { round: true }), role === "wrong" ? role : "ink", owner, "joints");
      this.node(prismMesh(circle(0.0088 * size, center), top, top + 0.001 * size, { round: true, edges: false }), role === "wrong" ? role : "pin", owner, "joints");
      const held = joint.bodies.indexOf(null);
      if (held >= 0 && joint.kind === "revolute") this.addSupport(joint.frames[held].point);
    } else if (joint.kind === "fixed") {
      const s = 0.02 * size;
      this.node(prismMesh(rectangle([s, s]).map(([x, y]) => [x + point[0], y + point[1]]), 0, top), role, matrix, "joints", { edge: true });
      const held = joint.bodies.indexOf(null);
      if (held >= 0) this.addSupport(joint.frames[held].point);
    }
    if (joint.kind === "prismatic" || joint.kind === "point_on_line") this.addRail(joint, role);
  },

  // A guide in the body on side 0 (in the ground, if one of them is that), as long as the travel.
  addRail(joint, role) {
    const { size } = this;
    const fixed = joint.bodies[1] === null ? 1 : 0;
    const moving = 1 - fixed;
    const frame = joint.frames[fixed];
    const axis = unit(frame.axis);
    const travel = this.travel(joint, fixed);
    const ends = [travel[0] - 0.07 * size, travel[1] + 0.07 * size].map((s) => add(frame.point, scaled(axis, s)));
    if (joint.bodies[fixed] === null && planar) {
      const body = joint.bodies[moving];
      const normal = axis[0] >= 0 ? [axis[1], -axis[0], 0] : [-axis[1], axis[0], 0];
      const below = this.reachAlong(body, joint.frames[moving].point, normal);
      const lower = ends.map((p) => add(p, scaled(normal, below + 0.002 * size)));
      this.hatchedLine(lower[0], lower[1], normal);
      return;
    }
    const r = 0.007 * size;
    this.node(tubeMesh(ends[0], ends[1], r, r, 10, false), joint.bodies[fixed] === null ? "ground" : role, this.matrixOf(joint.bodies[fixed]), "joints");
  },

  // How far a body reaches from a point of it in a direction of the ground, in its first pose.
  reachAlong(body, point, direction) {
    this.place([0, 0]);
    const from = this.worldPoint(body, point);
    const corners = extentOf(scene.bodies[body], this.points[body]).map((p) => dot(sub(this.worldPoint(body, p), from), direction));
    const least = scene.bodies[body].shape ? 0 : 0.035 * this.size;
    return Math.max(least, ...corners);
  },

  // Range of the travel along the axis over the run.
  travel(joint, fixed) {
    const range = [Infinity, -Infinity];
    for (const row of this.samples) {
      this.place([row, 0]);
      const [a, b] = [fixed, 1 - fixed].map((side) => this.worldPoint(joint.bodies[side], joint.frames[side].point));
      const axis = turned(this.matrixOf(joint.bodies[fixed]), unit(joint.frames[fixed].axis));
      const s = dot(sub(b, a), axis);
      range[0] = Math.min(range[0], s);
      range[1] = Math.max(range[1], s);
    }
    return range;
  },

  // A pin held by the ground: a triangle on a hatched line.
  addSupport([x, y]) {
    const s = 0.03 * this.size;
    const z = -0.012 * this.size;
    const triangle = [[x - 0.62 * s, y - 1.3 * s], [x + 0.62 * s, y - 1.3 * s], [x + 0.2 * s, y], [x - 0.2 * s, y]];
    this.node(prismMesh(triangle, z, -0.001 * this.size), "groundFill", this.ground, "joints", { edge: true });
    this.hatchedLine([x - s, y - 1.3 * s, 0], [x + s, y - 1.3 * s, 0], [0, -1, 0]);
  },

  hatchedLine(a, b, normal) {
    const z = [0, 0, -0.006 * this.size];
    this.line([add(a, z), add(b, z)], "ground", 1.8, "joints");
    const length = norm(sub(b, a));
    const along = unit(sub(b, a));
    const h = 0.013 * this.size;
    const count = Math.max(3, Math.round(length / (1.1 * h)));
    for (let i = 1; i <= count; i++) {
      const p = add(add(a, scaled(along, (i - 0.3) * length / count)), z);
      this.line([p, add(p, add(scaled(normal, h), scaled(along, -h * 0.8)))], "ground", 1, "joints", { alpha: 0.8 });
    }
  },

  addSpatialJoint(joint, role) {
    const { size } = this;
    const frame = (side) => ({ ...joint.frames[side], axis: unit(joint.frames[side].axis) });
    const bar = (side, r, half, axis) => this.node(
      tubeMesh(sub(frame(side).point, scaled(axis, half)), add(frame(side).point, scaled(axis, half)), r, r, Math.max(10, detail / 2)),
      joint.bodies[side] === null ? "ground" : role, this.matrixOf(joint.bodies[side]), "joints", { edge: true });
    const held = joint.bodies.indexOf(null);
    const { kind } = joint;
    if (kind === "spherical" || kind === "gimbal") {
      this.node(sphereMesh(0.02 * size, frame(1).point, Math.max(10, Math.round(detail * 0.7))), role, this.matrixOf(joint.bodies[1]), "joints");
    } else if (kind === "revolute" || kind === "screw" || kind === "cylindrical") {
      bar(0, kind === "revolute" ? 0.018 * size : 0.011 * size, kind === "revolute" ? 0.022 * size : 0.09 * size, frame(0).axis);
      bar(1, 0.012 * size * (kind === "revolute" ? 1 : 1.6), 0.034 * size, frame(1).axis);
    } else if (kind === "universal") {
      bar(0, 0.008 * size, 0.035 * size, frame(0).axis);
      bar(1, 0.008 * size, 0.035 * size, unit(frame(1).across));
    } else if (kind === "prismatic" || kind === "point_on_line") {
      this.addRail({ ...joint }, role);
      this.node(sphereMesh(0.016 * size, frame(1).point, 10), role, this.matrixOf(joint.bodies[1]), "joints");
    } else {
      this.node(boxMesh([0.03 * size, 0.03 * size, 0.03 * size], frame(1).point), role, this.matrixOf(joint.bodies[1]), "joints", { edge: true });
    }
    if (held >= 0 && kind !== "prismatic" && kind !== "point_on_line") this.addFoot(frame(held).point);
  },

  // A point held by the ground in space: a foot below it.
  addFoot(point) {
    const { size, up } = this;
    const low = sub(point, scaled(up, 0.055 * size));
    this.node(tubeMesh(low, point, 0.035 * size, 0.012 * size, Math.max(10, detail / 2)), "groundFill", this.ground, "joints", { edge: true });
  },

  addForce(force) {
    const role = this.wrong.has(force.name) ? "wrong" : "spring";
    if (force.contact) return this.addContact(force, role);
    if (force.tyre) return this.addTyre(force, role);
    if (!force.bodies || !["spring_damper", "actuator", "bushing"].includes(force.kind)) return;
    const { size } = this;
    force.bodies.forEach((body, side) => {
      if (body !== null) return;
      if (planar) this.addSupport(force.points[side]); else this.addFoot(force.points[side]);
    });
    if (force.kind === "actuator") {
      this.addRod(force.bodies, force.points, role, 0.006 * size, "springs");
      const sleeve = this.node(tubeMesh([0, 0, 0], [0, 0, 1], 1, 1, Math.max(10, detail / 2)), "steel", identity(), "springs", { edge: true });
      this.moving.push(() => {
        const [a, b] = force.bodies.map((body, side) => add(this.worldPoint(body, force.points[side]), planar ? [0, 0, 0.03 * size] : [0, 0, 0]));
        setBetween(sleeve.matrix, a, add(a, scaled(sub(b, a), 0.55)), 0.012 * size);
      });
      return;
    }
    if (planar) {
      const line = this.line(zigzag([0, 0, 0], [1, 0, 0], 1), role, 1.8, "springs", { changes: true });
      this.moving.push(() => {
        const [a, b] = force.bodies.map((body, side) => add(this.worldPoint(body, force.points[side]), [0, 0, 0.05 * size]));
        line.points = zigzag(a, b, 0.02 * size);
      });
      return;
    }
    const coil = this.node(coilMesh(), role, identity(), "springs");
    this.moving.push(() => {
      const [a, b] = force.bodies.map((body, side) => this.worldPoint(body, force.points[side]));
      setBetween(coil.matrix, a, b, 0.022 * size);
    });
  },

  addContact(force, role) {
    const { contact, bodies, points } = force;
    const { size } = this;
    const ball = (side, r) => {
      const body = bodies[side];
      const look = this.wrong.has(force.name) ? "wrong" : body === null ? "groundFill" : `body${body}`;
      const z = planar && body !== null ? this.layers[body] * 0.016 * size : 0;
      const mesh = planar ? prismMesh(circle(r, points[side], 2 * detail), z, z + 0.013 * size, { round: true }) : sphereMesh(r, points[side]);
      this.node(mesh, look, this.matrixOf(body), "contacts", { edge: planar });
    };
    if (contact.radius > 0) ball(1, contact.radius);
    if (contact.sphere > 0) ball(0, contact.sphere);
    const matrix = this.matrixOf(bodies[0]);
    if (contact.curve) {
      const outline = contact.curve.smooth ? smoothed(contact.curve.points, contact.curve.closed) : contact.curve.points;
      const path = [...outline, ...(contact.curve.closed ? [outline[0]] : [])].map(([x, y]) => [x, y, 0.02 * size]);
      this.line(path, role === "wrong" ? role : bodies[0] === null ? "ground" : "ink", 2.2, "contacts", { matrix });
    }
    if (contact.plane) {
      const normal = unit(contact.plane);
      const x = planar ? [normal[1], -normal[0], 0] : across(normal);
      const middle = bodies[0] === null ? scaled(add(this.box.low, this.box.high), 0.5) : points[0];
      const center = sub(middle, scaled(normal, dot(sub(middle, points[0]), normal)));
      const [a, b] = [-0.55, 0.55].map((s) => add(center, scaled(x, s * this.whole)));
      if (planar && bodies[0] === null) return this.hatchedLine(a, b, scaled(normal, -1));
      if (planar) { this.line([a, b], "ink", 2.2, "contacts", { matrix }); return; }
      const y = cross(normal, x);
      const mesh = boxMesh([1.1 * this.whole, 1.1 * this.whole, 0.01 * size]);
      const m = setFrame(new Float32Array(16), x, y, normal, sub(center, scaled(normal, 0.005 * size)));
      mesh.points = mesh.points.map((p) => transformed(m, p));
      mesh.faces.forEach((face) => { face.normal = turned(m, face.normal); });
      this.node(mesh, "groundFill", matrix, "contacts", { edge: true });
    }
  },

  addTyre(force) {
    const { tyre, bodies, points } = force;
    const { size } = this;
    const axle = unit(cross(tyre.up, tyre.forward));
    const wheel = identity();
    const width = 0.16 * tyre.radius;
    if (planar) {
      const rim = tyre.radius * 0.78;
      this.node(prismMesh(circle(tyre.radius, points[1], 2 * detail), -0.02 * size, -0.01 * size, { round: true }), "rubber", this.matrixOf(bodies[1]), "contacts");
      this.node(prismMesh(circle(rim, points[1], 2 * detail), -0.01 * size, -0.009 * size, { round: true }), "groundFill", this.matrixOf(bodies[1]), "contacts");
    } else {
      const mesh = torusMesh(tyre.radius - width, width);
      this.node(mesh, "rubber", wheel, "contacts");
      this.moving.push(() => {
        const z = axle;
        const x = across(z);
        setFrame(wheel, x, cross(z, x), z, this.worldPoint(bodies[1], points[1]));
      });
    }
    const edges = (planar ? [0] : [-0.14, 0.14]).map((side) => [side, this.line([[0, 0, 0], [1, 0, 0]], "ground", 2.2, "contacts", { changes: true, most: tyre.profile.length })]);
    this.moving.push((_, t) => {
      const road = this.matrixOf(bodies[0]);
      const [up, forward, side] = [tyre.up, tyre.forward, axle].map((v) => turned(road, v));
      const origin = transformed(road, points[0]);
      const center = dot(sub(this.worldPoint(bodies[1], points[1]), origin), forward);
      const shift = tyre.offset + tyre.speed * t;
      const near = tyre.profile.filter(([s]) => Math.abs(s - shift - center) < 0.9 * this.whole);
      const from = sub(this.worldPoint(bodies[1], points[1]), scaled(forward, center));
      const level = sub(from, scaled(up, dot(sub(from, origin), up)));
      const path = near.map(([s, h]) => add(add(level, scaled(forward, s - shift)), scaled(up, h + tyre.height)));
      for (const [offset, line] of edges) {
        line.points = path.length > 1 ? path.map((p) => add(p, scaled(side, offset * size))) : [level, level];
      }
    });
  },
});

// From a to b with straight ends and turns between them.
function zigzag(a, b, height) {
  const d = sub(b, a);
  const side = scaled(unit([-d[1], d[0], 0]), height);
  const at = (s, out) => add(add(a, scaled(d, s)), scaled(side, out));
  const turns = Array.from({ length: 12 }, (_, i) => at(0.18 + 0.64 * (i + 0.5) / 12, i % 2 ? -1 : 1));
  return [a, at(0.18, 0), ...turns, at(0.82, 0), b];
}

// Catmull-Rom through points of the plane: close to the spline of the contact.
function smoothed(points, closed) {
  const n = points.length;
  const at = (i) => (closed ? points[(i + n) % n] : points[Math.min(Math.max(i, 0), n - 1)]);
  const path = [];
  for (let i = 0; i < (closed ? n : n - 1); i++) {
    const [p, q, r, s] = [at(i - 1), at(i), at(i + 1), at(i + 2)];
    for (let k = 0; k < 8; k++) {
      const u = k / 8;
      path.push([0, 1].map((c) => 0.5 * (2 * q[c] + (r[c] - p[c]) * u + (2 * p[c] - 5 * q[c] + 4 * r[c] - s[c]) * u * u + (3 * q[c] - p[c] - 3 * r[c] + s[c]) * u ** 3)));
    }
  }
  return closed ? path : [...path, points[n - 1]];
}
