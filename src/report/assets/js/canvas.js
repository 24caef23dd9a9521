// Draws the mechanism where there is no WebGL: faces and lines projected and painted from far to near. Everything that is
// made again for each picture stands in arrays that are kept, and small round parts are painted as thick lines and discs.
const SMALL = 7;            // a rod or ball of fewer pixels in radius is painted without faces
const SHADES = 32;          // steps of brightness; each is one text for the canvas
const [POLYGON, LINE, DISC] = [0, 1, 2];

class CanvasPainter {
  constructor(canvas) {
    this.canvas = canvas;
    // Painted by the processor: this painter is for where there is no graphics card, or little to paint.
    this.context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    this.x = new Float64Array(1024);
    this.y = new Float64Array(1024);
    this.depth = new Float64Array(1024);
    this.things = [];
    this.looks = new Map();
  }

  resize(width, height, ratio) {
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.ratio = ratio;
  }

  paint(mechanism, camera) {
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = theme.colors.paper;
    context.fillRect(0, 0, ...camera.size);
    context.lineJoin = "round";
    this.view = camera.view();
    this.lights = lightsOf(this.view);
    this.points = this.used = 0;
    for (const line of mechanism.lines) {
      if (line.hidden || !show[line.group] || !line.behind) continue;
      this.collectLine(line);
    }
    for (let i = 0; i < this.used; i++) this.draw(this.things[i]);
    this.points = this.used = 0;
    for (const line of mechanism.lines) {
      if (!line.hidden && show[line.group] && !line.behind) this.collectLine(line);
    }
    for (const node of mechanism.nodes) {
      if (!node.hidden && show[node.group]) this.collectNode(node);
    }
    const things = this.things.slice(0, this.used).sort((a, b) => a.depth - b.depth);
    for (const thing of things) this.draw(thing);
    context.globalAlpha = 1;
  }

  // The next thing to draw; objects are used again for every picture.
  thing(kind, first, count, depth) {
    const thing = this.things[this.used] ?? (this.things[this.used] = {});
    this.used += 1;
    thing.kind = kind; thing.first = first; thing.count = count; thing.depth = depth;
    thing.fill = thing.stroke = thing.inner = thing.outer = null; thing.width = 0; thing.alpha = 1; thing.indices = null;
    return thing;
  }

  // Projects a point of a frame; its number.
  project(m, p, q, r) {
    const i = this.points++;
    if (i >= this.x.length) for (const name of ["x", "y", "depth"]) { const wide = new Float64Array(2 * i); wide.set(this[name]); this[name] = wide; }
    const { right, up, out, target, scale, distance, perspective, middle } = this.view;
    const a = m[0] * p + m[4] * q + m[8] * r + m[12] - target[0];
    const b = m[1] * p + m[5] * q + m[9] * r + m[13] - target[1];
    const c = m[2] * p + m[6] * q + m[10] * r + m[14] - target[2];
    const depth = a * out[0] + b * out[1] + c * out[2];
    const s = perspective ? scale * distance / Math.max(distance - depth, 1e-3 * distance) : scale;
    this.x[i] = middle[0] + s * (a * right[0] + b * right[1] + c * right[2]);
    this.y[i] = middle[1] - s * (a * up[0] + b * up[1] + c * up[2]);
    this.depth[i] = depth;
    return i;
  }

  // Long lines in pieces, so that each has a depth of its own.
  collectLine(line) {
    const count = Math.min(line.points.length, line.upto === undefined ? Infinity : line.upto + 1);
    if (count < 2) return;
    const first = this.points;
    for (let i = 0; i < count; i++) { const p = line.points[i]; this.project(line.matrix, p[0], p[1], p[2]); }
    const piece = planar || line.behind ? count : 12;
    for (let i = 0; i + 1 < count; i += piece) {
      const length = Math.min(piece + 1, count - i);
      const thing = this.thing(LINE, first + i, length, this.meanDepth(first + i, length) + 1e-3);
      thing.stroke = colorOfLine(line.role);
      thing.width = line.width;
      thing.alpha = line.alpha ?? 1;
    }
  }

  meanDepth(first, count) {
    let sum = 0;
    for (let i = first; i < first + count; i++) sum += this.depth[i];
    return sum / count;
  }

  collectNode(node) {
    const look = this.lookOf(node);
    const { matrix: m, mesh } = node;
    if (mesh.simple && this.collectSimple(node, look)) return;
    const first = this.points;
    for (const p of mesh.points) this.project(m, p[0], p[1], p[2]);
    const { x, y, depth } = this;
    const s = [0, 4, 8].map((k) => 1 / Math.max(m[k] * m[k] + m[k + 1] * m[k + 1] + m[k + 2] * m[k + 2], 1e-30));
    for (const face of mesh.faces) {
      const { at } = face;
      let [area, sum] = [0, 0];
      for (let i = 0, j = at.length - 1; i < at.length; j = i++) {
        const [a, b] = [first + at[j], first + at[i]];
        area += x[a] * y[b] - x[b] * y[a];
        sum += depth[b];
      }
      // On the screen y points down: a face that is seen runs clockwise.
      if (!(area < -0.02)) continue;
      const thing = this.thing(POLYGON, first, at.length, sum / at.length);
      thing.indices = at;
      thing.fill = node.flat ? look.plain : look.shade(this.lightOn(m, s, face.normal));
      if (node.edge && !face.normals) { thing.stroke = look.edge; thing.width = 1.3; }
      // Closes the seam to the next face; of small ones only where they are many.
      else if (area < -60 || mesh.dense) { thing.stroke = thing.fill; thing.width = 0.5; }
    }
  }

  // Rods and balls that are small on the screen; false if they are not.
  collectSimple(node, look) {
    const { matrix: m, mesh } = node;
    const wide = Math.hypot(m[0], m[1], m[2]);
    const { scale, distance, perspective, out } = this.view;
    const pixels = wide * scale * (perspective ? distance / Math.max(distance - this.depthOf(m), 0.1 * distance) : 1);
    if (mesh.simple.some(({ r }) => r * pixels > SMALL)) return false;
    for (const { a, b, r } of mesh.simple) {
      const first = this.project(m, ...a);
      const width = 2 * r * pixels;
      const thing = this.thing(DISC, first, 1, this.depth[first]);
      thing.fill = node.flat ? look.plain : look.shade(this.lightAlong(out));
      thing.width = width;
      if (node.edge) thing.stroke = look.edge;
      if (!b) continue;
      const last = this.project(m, ...b);
      thing.depth = (this.depth[first] + this.depth[last]) / 2;
      // Seen along its axis it stays a disc.
      if (Math.hypot(this.x[last] - this.x[first], this.y[last] - this.y[first]) < 0.5 * width) continue;
      thing.kind = LINE;
      thing.count = 2;
      const axis = unit(turned(m, sub(b, a)));
      const facing = sub(out, scaled(axis, dot(out, axis)));
      thing.stroke = thing.inner = node.flat ? look.plain : look.shade(this.lightAlong(facing));
      thing.outer = node.edge ? look.edge : null;
    }
    return true;
  }

  depthOf(m) {
    const { out, target } = this.view;
    return (m[12] - target[0]) * out[0] + (m[13] - target[1]) * out[1] + (m[14] - target[2]) * out[2];
  }

  lightAlong(normal) {
    const u = unit(normal);
    return 0.46 + 0.5 * Math.max(dot(u, this.lights.key), 0) + 0.16 * Math.max(dot(u, this.lights.fill), 0);
  }

  // On a face whose normal is given in a frame that may be stretched.
  lightOn(m, s, n) {
    const [a, b, c] = [n[0] * s[0], n[1] * s[1], n[2] * s[2]];
    return this.lightAlong([m[0] * a + m[4] * b + m[8] * c, m[1] * a + m[5] * b + m[9] * c, m[2] * a + m[6] * b + m[10] * c]);
  }

  // Texts of the colours of a node, made once for each theme.
  lookOf(node) {
    const key = `${theme.name}|${node.role}|${node.tint ?? 0}|${node.shade ?? 1}`;
    let look = this.looks.get(key);
    if (!look) {
      const base = lookOf(node);
      const texts = [];
      look = {
        plain: css(base), edge: css(lookOf(node, 0.55)),
        shade: (light) => { const k = Math.round(light * SHADES); return texts[k] ??= css(base.map((c) => c * k / SHADES)); },
      };
      this.looks.set(key, look);
    }
    return look;
  }

  draw(thing) {
    const { context, x, y } = this;
    const { kind, first, count, indices } = thing;
    context.globalAlpha = thing.alpha;
    context.beginPath();
    if (kind === DISC) {
      context.arc(x[first], y[first], Math.max(thing.width / 2, 0.3), 0, 2 * Math.PI);
      context.fillStyle = thing.fill;
      context.fill();
      if (thing.stroke) { context.strokeStyle = thing.stroke; context.lineWidth = 1; context.stroke(); }
      return;
    }
    for (let i = 0; i < count; i++) {
      const k = first + (indices ? indices[i] : i);
      if (i) context.lineTo(x[k], y[k]); else context.moveTo(x[k], y[k]);
    }
    if (kind === POLYGON) {
      context.closePath();
      context.fillStyle = thing.fill;
      context.fill();
    }
    if (!thing.stroke) return;
    if (thing.outer) {
      context.lineCap = "square";
      context.strokeStyle = thing.outer;
      context.lineWidth = thing.width + 2;
      context.stroke();
    }
    context.lineCap = thing.inner ? "butt" : "round";
    context.strokeStyle = thing.stroke;
    context.lineWidth = thing.width;
    context.stroke();
  }
}

const css = (color) => `rgb(${color.map((c) => Math.round(255 * Math.min(1, c))).join(",")})`;
