// Draws the mechanism where there is no WebGL: faces and lines projected and painted from far to near.
class CanvasPainter {
  constructor(canvas) {
    this.canvas = canvas;
    // Painted by the processor: this painter is for where there is no graphics card, or little to paint.
    this.context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
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
    context.lineJoin = context.lineCap = "round";
    const project = camera.projector();
    const axes = camera.axes();
    const eye = camera.perspective ? add(camera.target, scaled(axes.out, camera.distance())) : null;
    const things = [];
    for (const line of mechanism.lines) {
      if (line.hidden || !show[line.group]) continue;
      const points = line.points.slice(0, line.upto === undefined ? undefined : line.upto + 1)
        .map((p) => project(transformed(line.matrix, p)));
      if (line.behind) this.polyline(points, line);
      else this.collectLine(things, points, line);
    }
    const lights = lightsOf(axes);
    for (const node of mechanism.nodes) {
      if (!node.hidden && show[node.group]) this.collectFaces(things, node, project, axes.out, eye, lights);
    }
    things.sort((a, b) => a.depth - b.depth);
    for (const thing of things) thing.draw();
  }

  polyline(points, { role, width, alpha = 1 }) {
    const { context } = this;
    if (points.length < 2) return;
    context.globalAlpha = alpha;
    context.strokeStyle = colorOfLine(role);
    context.lineWidth = width;
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
    context.globalAlpha = 1;
  }

  // Long lines in pieces, so that each has a depth of its own.
  collectLine(things, points, line) {
    const piece = planar ? points.length : 12;
    for (let i = 0; i + 1 < points.length; i += piece) {
      const part = points.slice(i, i + piece + 1);
      const depth = part.reduce((sum, p) => sum + p[2], 0) / part.length;
      things.push({ depth: depth + 1e-3, draw: () => this.polyline(part, line) });
    }
  }

  collectFaces(things, node, project, out, eye, lights) {
    const { mesh, matrix } = node;
    const world = mesh.points.map((p) => transformed(matrix, p));
    const screen = world.map(project);
    const base = lookOf(node);
    const edge = css(lookOf(node, 0.55));
    for (const face of mesh.faces) {
      const [a, b, c] = [world[face.at[0]], world[face.at[1]], world[face.at[2]]];
      let normal = face.at.length > 4 ? turned(matrix, face.normal) : cross(sub(b, a), sub(c, a));
      if (face.at.length === 4 && norm(normal) < 1e-14) normal = turned(matrix, face.normal);
      normal = unit(normal);
      if (dot(normal, eye ? sub(eye, a) : out) <= 1e-9) continue;
      const light = node.flat ? 1 : 0.46 + 0.5 * Math.max(dot(normal, lights.key), 0) + 0.16 * Math.max(dot(normal, lights.fill), 0);
      const fill = css(base.map((x) => x * light));
      const points = face.at.map((i) => screen[i]);
      const depth = points.reduce((sum, p) => sum + p[2], 0) / points.length;
      const stroke = node.edge && !face.normals ? edge : fill;
      things.push({ depth, draw: () => this.polygon(points, fill, stroke, stroke === fill ? 0.5 : 1.3) });
    }
  }

  polygon(points, fill, stroke, width) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = stroke;
    context.lineWidth = width;
    context.stroke();
  }
}

const css = (color) => `rgb(${color.map((c) => Math.round(255 * Math.min(1, c))).join(",")})`;
