// Where the mechanism is looked at from: a target, two angles about the upward axis, and the height that is seen.
const FIELD_OF_VIEW = 28 * Math.PI / 180;

class Camera {
  constructor(mechanism) {
    this.mechanism = mechanism;
    this.base = mechanism.up;
    this.front = planar || this.base[1] ? [0, 0, 1] : [0, -1, 0];
    if (dot(this.front, this.base)) this.front = across(this.base);
    this.side = cross(this.base, this.front);
    this.perspective = !planar;
    this.target = [0, 0, 0];
    this.height = 1;
    this.size = [1, 1];
    this.preset(planar ? "front" : "iso");
  }

  // Unit vectors to the right, up and out of the screen.
  axes() {
    const [cy, sy, cp, sp] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(this.pitch), Math.sin(this.pitch)];
    const level = add(scaled(this.front, cy), scaled(this.side, sy));
    const right = add(scaled(this.front, -sy), scaled(this.side, cy));
    const out = add(scaled(level, cp), scaled(this.base, sp));
    return { right, up: cross(out, right), out };
  }

  distance() { return this.height / 2 / Math.tan(FIELD_OF_VIEW / 2); }

  // View and projection in one matrix, by columns.
  matrix() {
    const { right, up, out } = this.axes();
    const d = this.distance();
    const reach = 4 * this.mechanism.whole + norm(sub(this.target, scaled(add(this.mechanism.box.low, this.mechanism.box.high), 0.5)));
    const far = d + reach;
    const near = this.perspective ? Math.max(d / 50, d - reach) : d - reach;
    const eye = add(this.target, scaled(out, d));
    const rows = [right, up, out].map((v) => [...v, -dot(v, eye)]);
    const [sx, sy] = [2 / (this.height * this.aspect()), 2 / this.height];
    let p;
    if (this.perspective) {
      // Depth z runs from -near to -far in front of the eye.
      p = [rows[0].map((c) => c * sx * d), rows[1].map((c) => c * sy * d),
        rows[2].map((c, i) => -(far + near) / (far - near) * c - (i === 3 ? 2 * far * near / (far - near) : 0)),
        rows[2].map((c) => -c)];
    } else {
      p = [rows[0].map((c) => c * sx), rows[1].map((c) => c * sy),
        rows[2].map((c, i) => -2 * c / (far - near) - (i === 3 ? (far + near) / (far - near) : 0)), [0, 0, 0, 1]];
    }
    const m = new Float32Array(16);
    for (let row = 0; row < 4; row++) for (let column = 0; column < 4; column++) m[4 * column + row] = p[row][column];
    return m;
  }

  aspect() { return this.size[0] / this.size[1]; }

  // What a projection onto the screen needs; `scale` is in pixels for a metre at the target.
  view() {
    const [width, height] = this.size;
    return {
      ...this.axes(), target: this.target, perspective: this.perspective, distance: this.distance(), scale: height / this.height,
      middle: [width / 2, height / 2],
    };
  }

  // A function from points to [x, y] in pixels.
  projector() {
    const { right, up, out, target, scale, distance: d, middle } = this.view();
    return (p) => {
      const r = sub(p, target);
      const s = this.perspective ? scale * d / Math.max(d - dot(r, out), 1e-3 * d) : scale;
      return [middle[0] + s * dot(r, right), middle[1] - s * dot(r, up)];
    };
  }

  orbit(dx, dy) {
    this.yaw -= dx;
    this.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, this.pitch + dy));
  }

  // By pixels.
  pan(dx, dy) {
    const { right, up } = this.axes();
    const s = this.height / this.size[1];
    this.target = add(this.target, add(scaled(right, -dx * s), scaled(up, dy * s)));
  }

  // About a point of the screen, so that what lies there stays there.
  zoom(by, x = this.size[0] / 2, y = this.size[1] / 2) {
    const limit = this.mechanism.whole;
    const height = Math.max(limit / 500, Math.min(limit * 50, this.height * by));
    const applied = height / this.height;
    const [dx, dy] = [x - this.size[0] / 2, y - this.size[1] / 2];
    this.pan(-dx * (1 - applied), -dy * (1 - applied));
    this.height = height;
  }

  preset(name) {
    const quarter = Math.PI / 2;
    const views = {
      front: [0, 0], back: [2 * quarter, 0], right: [quarter, 0], left: [-quarter, 0],
      top: [0, quarter], bottom: [0, -quarter], iso: [0.62, 0.42],
    };
    [this.yaw, this.pitch] = views[name];
    this.fit();
  }

  // The whole run in the picture.
  fit() {
    const { right, up, out } = this.axes();
    const { low, high } = this.mechanism.box;
    const corners = [];
    for (let i = 0; i < 8; i++) corners.push([0, 1, 2].map((k) => ((i >> k) & 1 ? high[k] : low[k])));
    const range = (axis) => {
      const s = corners.map((c) => dot(c, axis));
      return [Math.min(...s), Math.max(...s)];
    };
    const [r, u, o] = [range(right), range(up), range(out)];
    const middle = ([a, b]) => (a + b) / 2;
    this.target = add(scaled(right, middle(r)), add(scaled(up, middle(u)), scaled(out, middle(o))));
    const margin = 0.06 * this.mechanism.whole + 0.04 * this.mechanism.size;
    const height = Math.max(u[1] - u[0] + 2 * margin, (r[1] - r[0] + 2 * margin) / this.aspect());
    this.height = (this.perspective ? height + 0.35 * (o[1] - o[0]) : height) * 1.06;
  }
}

// Mouse, pen, fingers and keys on the picture.
function startControls(stage, camera, changed) {
  const held = new Map();
  const turns = (event) => !(event.shiftKey || event.button === 2 || event.button === 1) && !(planar && !stage.dataset.tilted);
  let mode = "orbit";
  stage.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button, input, select, label, details")) return;
    stage.setPointerCapture(event.pointerId);
    held.set(event.pointerId, [event.clientX, event.clientY]);
    mode = turns(event) ? "orbit" : "pan";
    stage.focus({ preventScroll: true });
  });
  stage.addEventListener("pointermove", (event) => {
    const last = held.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    if (held.size === 2) {
      const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
      const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
      const box = stage.getBoundingClientRect();
      camera.zoom(span(last) / span([event.clientX, event.clientY]), other[0] - box.left, other[1] - box.top);
      camera.pan(dx / 2, dy / 2);
    } else if (mode === "orbit") camera.orbit(dx * 0.008, dy * 0.008);
    else camera.pan(dx, dy);
    held.set(event.pointerId, [event.clientX, event.clientY]);
    changed();
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => held.delete(event.pointerId));
  stage.addEventListener("contextmenu", (event) => event.preventDefault());
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = stage.getBoundingClientRect();
    camera.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
    changed();
  }, { passive: false });
  const keys = {
    w: () => camera.orbit(0, 0.1), s: () => camera.orbit(0, -0.1), a: () => camera.orbit(-0.1, 0), d: () => camera.orbit(0.1, 0),
    i: () => camera.pan(0, 30), k: () => camera.pan(0, -30), j: () => camera.pan(30, 0), l: () => camera.pan(-30, 0),
    "+": () => camera.zoom(1 / 1.2), "=": () => camera.zoom(1 / 1.2), "-": () => camera.zoom(1.2),
  };
  stage.addEventListener("keydown", (event) => {
    const act = keys[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey || event.target !== stage) return;
    if ("wsad".includes(event.key.toLowerCase())) stage.dataset.tilted = "yes";
    act();
    event.preventDefault();
    changed();
  });
}
