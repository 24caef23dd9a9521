// Forces and moments as arrows: reactions of joints, forces of elements, contacts. Their length is proportional to them.
class Arrows {
  constructor(mechanism) {
    this.mechanism = mechanism;
    this.factor = 1;
    this.list = [];
    const columns = new Map(summary.loads.map((name, i) => [name, i]));
    const pick = (name, fields) => fields.map((f) => columns.get(`${name}.${f}`) ?? -1);
    for (const joint of scene.joints) {
      const at = () => mechanism.worldPoint(joint.bodies[1], joint.frames[1].point);
      this.vector(pick(joint.name, ["fx", "fy", "fz"]), at, "reactions", "reaction", joint.name);
      this.vector(pick(joint.name, ["mx", "my", "mz"]), at, "moments", "moment", joint.name);
    }
    for (const force of scene.forces) this.addForce(force, pick);
    this.scales = { force: this.scaleOf((a) => a.group !== "moments"), moment: this.scaleOf((a) => a.group === "moments") };
  }

  addForce(force, pick) {
    const { mechanism } = this;
    const [scalar] = pick(force.name, ["torque", "force"]).filter((c) => c >= 0);
    if (force.joint !== undefined) {
      const joint = scene.joints[force.joint];
      const at = () => mechanism.worldPoint(joint.bodies[1], joint.frames[1].point);
      const sign = ["actuator", "pid", "servo"].includes(force.kind) ? 1 : -1;
      const along = () => scaled(turned(mechanism.matrixOf(joint.bodies[0]), unit(joint.frames[0].axis)), sign);
      if (scalar !== undefined) this.scalar(scalar, at, along, force.turns ? "moments" : "forces", force.turns ? "moment" : "force", force.name);
      return;
    }
    if (!force.bodies) return;
    const end = (side) => mechanism.worldPoint(force.bodies[side], force.points[side]);
    const group = force.contact || force.tyre ? "contacts" : "forces";
    const radius = force.contact?.radius ?? force.tyre?.radius ?? 0;
    // On a ball or wheel the force acts where it touches: its radius against the force from the centre.
    const at = radius > 0 ? (f) => sub(end(1), scaled(unit(f), radius)) : () => end(1);
    const components = pick(force.name, ["fx", "fy", "fz"]);
    if (components.some((c) => c >= 0)) this.vector(components, at, group === "contacts" ? "contactForces" : group, group === "contacts" ? "contact" : "force", force.name);
    const moments = pick(force.name, ["mx", "my", "mz"]);
    if (moments.some((c) => c >= 0)) this.vector(moments, () => end(1), "moments", "moment", force.name);
    if (scalar !== undefined && components.every((c) => c < 0)) {
      const sign = ["actuator", "pid", "servo"].includes(force.kind) ? 1 : -1;
      const along = () => (force.direction
        ? scaled(turned(mechanism.matrixOf(force.bodies[0]), force.direction), sign)
        : scaled(unit(sub(end(1), end(0))), sign));
      this.scalar(scalar, () => end(1), along, "forces", "force", force.name);
    }
  }

  vector(components, at, group, role, name) {
    if (components.every((c) => c < 0)) return;
    const value = (place) => components.map((c) => (c < 0 ? 0 : mix(run.loads[c], place)));
    const largest = run.loadTimes.length ? sizes(components.filter((c) => c >= 0)) : [];
    this.push({ value, at, group, role, name, largest });
  }

  scalar(column, at, along, group, role, name) {
    const value = (place) => scaled(along(), mix(run.loads[column], place));
    this.push({ value, at, group, role, name, largest: sizes([column]) });
  }

  push(arrow) {
    const { mechanism } = this;
    arrow.shaft = mechanism.node(tubeMesh([0, 0, 0], [0, 0, 1], 1, 1, 8, false), arrow.role, identity(), arrow.group, { flat: true });
    arrow.head = mechanism.node(tubeMesh([0, 0, 0], [0, 0, 1], 1, 0, 12, false), arrow.role, identity(), arrow.group, { flat: true });
    if (arrow.group === "moments" && planar) arrow.arc = mechanism.line([[0, 0, 0], [0, 0, 0]], "moment", 2, "moments", { changes: true, most: 32 });
    this.list.push(arrow);
  }

  // A round amount that is drawn as a sixth of the mechanism; rare peaks may be longer.
  scaleOf(wanted) {
    const all = this.list.filter(wanted).flatMap((a) => a.largest).filter((x) => x > 0).sort((a, b) => a - b);
    if (!all.length) return null;
    return { amount: roundUp(all[Math.floor(0.9 * (all.length - 1))]), length: mechanismShare };
  }

  update(t) {
    const { size } = this.mechanism;
    const place = run.loadTimes.length ? locate(run.loadTimes, t) : [0, 0];
    for (const arrow of this.list) {
      const scale = this.scales[arrow.group === "moments" ? "moment" : "force"];
      const f = scale && show[arrow.group] ? arrow.value(place) : [0, 0, 0];
      const length = Math.min(scale ? this.factor * size * scale.length * norm(f) / scale.amount : 0, 0.9 * size);
      arrow.hidden = !(length > 0.004 * size);
      arrow.shaft.hidden = arrow.head.hidden = arrow.hidden || Boolean(arrow.arc);
      if (arrow.arc) arrow.arc.hidden = arrow.hidden;
      if (arrow.hidden) continue;
      const from = add(arrow.at(f), planar ? [0, 0, 0.07 * size] : [0, 0, 0]);
      if (arrow.arc) { arrow.arc.points = arcArrow(from, length * 0.5, Math.sign(f[2])); continue; }
      const direction = unit(f);
      const head = Math.min(0.045 * size, 0.5 * length);
      const neck = add(from, scaled(direction, length - head));
      setBetween(arrow.shaft.matrix, from, neck, 0.0055 * size);
      setBetween(arrow.head.matrix, neck, add(from, scaled(direction, length)), 0.016 * size * Math.min(1, head / (0.03 * size)));
    }
  }
}

const mechanismShare = 0.16;

// What can be shown and hidden.
const show = {
  bodies: true, joints: true, springs: true, contacts: true, contactForces: true, forces: false, reactions: false,
  moments: false, bending: false, trails: true, axes: true, ground: true, names: false,
};

// Magnitudes of a vector given by columns, at some rows.
function sizes(columns) {
  const count = run.loads[columns[0]]?.length ?? 0;
  const step = Math.max(1, Math.floor(count / 200));
  const found = [];
  for (let i = 0; i < count; i += step) found.push(Math.hypot(...columns.map((c) => run.loads[c][i])));
  return found;
}

// Three quarters of a circle with a head, for a moment about z.
function arcArrow(center, r, sign) {
  const path = Array.from({ length: 28 }, (_, i) => {
    const s = sign * 1.5 * Math.PI * i / 27;
    return add(center, [r * Math.cos(s), r * Math.sin(s), 0]);
  });
  const [end, s] = [path.at(-1), sign * 1.5 * Math.PI];
  const tangent = [-sign * Math.sin(s), sign * Math.cos(s), 0];
  const out = [Math.cos(s), Math.sin(s), 0];
  const h = 0.35 * r;
  return [...path, add(end, add(scaled(tangent, -h), scaled(out, h * 0.6))), end, add(end, add(scaled(tangent, -h), scaled(out, -h * 0.6)))];
}
