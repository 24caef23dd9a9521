// Draws the mechanism with WebGL, through OGL.
const SOLID_VERTEX = `#version 300 es
in vec3 position;
in vec3 normal;
uniform mat4 model, camera;
out vec3 n;
void main() {
  mat3 m = mat3(model);
  vec3 s = vec3(dot(m[0], m[0]), dot(m[1], m[1]), dot(m[2], m[2]));
  n = m * (normal / max(s, vec3(1e-30)));
  gl_Position = camera * model * vec4(position, 1.0);
}`;
const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 n;
uniform vec3 color, key, fill;
uniform float shading;
out vec4 result;
void main() {
  vec3 u = normalize(n);
  float light = 0.46 + 0.5 * max(dot(u, key), 0.0) + 0.16 * max(dot(u, fill), 0.0);
  result = vec4(color * mix(1.0, light, shading), 1.0);
}`;
// A segment becomes a quad that is `width` pixels wide on the screen, a little in front of what it lies on.
const LINE_VERTEX = `#version 300 es
in vec3 a;
in vec3 b;
in vec2 corner;
uniform mat4 model, camera;
uniform vec2 screen;
uniform float width, lift;
void main() {
  vec4 p = camera * model * vec4(a, 1.0);
  vec4 q = camera * model * vec4(b, 1.0);
  vec2 d = (q.xy / q.w - p.xy / p.w) * screen;
  d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);
  vec4 r = corner.x < 0.5 ? p : q;
  vec2 offset = vec2(-d.y, d.x) * corner.y + d * (corner.x - 0.5) * 0.6;
  r.xy += offset * width / screen * r.w;
  r.z -= lift * r.w;
  gl_Position = r;
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
uniform vec3 color;
uniform float alpha;
out vec4 result;
void main() { result = vec4(color, alpha); }`;

function webglAvailable() {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: false }));
  } catch {
    return false;
  }
}

class WebglPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new OGL.Renderer({ canvas, antialias: true, alpha: false, preserveDrawingBuffer: true, dpr: 1 });
    const { gl } = this.renderer;
    this.gl = gl;
    const uniforms = (names) => Object.fromEntries(names.map((name) => [name, { value: null }]));
    this.solid = new OGL.Program(gl, {
      vertex: SOLID_VERTEX, fragment: SOLID_FRAGMENT, cullFace: gl.BACK,
      uniforms: uniforms(["model", "camera", "color", "key", "fill", "shading"]),
    });
    this.stroke = new OGL.Program(gl, {
      vertex: LINE_VERTEX, fragment: LINE_FRAGMENT, cullFace: false, transparent: true, depthWrite: false,
      uniforms: uniforms(["model", "camera", "screen", "width", "lift", "color", "alpha"]),
    });
    this.solids = new WeakMap();
    this.edges = new WeakMap();
    this.merged = null;
  }

  resize(width, height, ratio) {
    this.renderer.dpr = ratio;
    this.renderer.setSize(width, height);
    this.canvas.style.width = this.canvas.style.height = "";
    this.ratio = ratio;
  }

  paint(mechanism, camera) {
    const { gl, renderer } = this;
    const set = (program, name, value) => { program.uniforms[name].value = value; };
    const matrix = camera.matrix();
    const axes = camera.axes();
    const paper = channels(theme.colors.paper);
    renderer.bindFramebuffer();
    renderer.setViewport(gl.canvas.width, gl.canvas.height);
    renderer.enable(gl.DEPTH_TEST);
    renderer.setDepthMask(true);
    gl.clearColor(...paper, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const lights = lightsOf(axes);
    set(this.solid, "camera", matrix);
    set(this.solid, "key", lights.key);
    set(this.solid, "fill", lights.fill);
    set(this.stroke, "camera", matrix);
    set(this.stroke, "screen", [gl.canvas.width / 2, gl.canvas.height / 2]);
    this.paintLines(mechanism, true);
    for (const node of mechanism.nodes) {
      if (node.hidden || !show[node.group]) continue;
      set(this.solid, "model", node.matrix);
      set(this.solid, "color", lookOf(node));
      set(this.solid, "shading", node.flat ? 0.25 : 1);
      this.solidOf(node.mesh).draw();
    }
    for (const node of mechanism.nodes) {
      if (node.hidden || !node.edge || !show[node.group] || !node.mesh.edges.length) continue;
      this.paintStroke(this.edgesOf(node.mesh), node.matrix, lookOf(node, 0.55), 1.3, 1, 0.0004);
    }
    this.paintLines(mechanism, false);
  }

  paintLines(mechanism, behind) {
    this.merged ??= mergeLines(mechanism.lines);
    for (const line of this.merged) {
      if (Boolean(line.behind) !== behind || line.hidden?.() || !show[line.group]) continue;
      if (line.source.changes) this.refresh(line);
      line.mesh ??= this.lineMesh(line.pairs());
      if (line.source.upto !== undefined) line.mesh.geometry.setDrawRange(0, 6 * line.source.upto);
      this.paintStroke(line.mesh, line.source.matrix, channels(colorOfLine(line.role)), line.width, line.alpha ?? 1, behind ? 0 : 0.0002);
    }
  }

  paintStroke(mesh, matrix, color, width, alpha, lift) {
    const { uniforms } = this.stroke;
    uniforms.model.value = matrix;
    uniforms.color.value = color;
    uniforms.width.value = width * this.ratio;
    uniforms.alpha.value = alpha;
    uniforms.lift.value = lift;
    mesh.draw();
  }

  // Lines whose points move.
  refresh(line) {
    const pairs = line.pairs();
    if (!line.mesh || line.count !== pairs.length) {
      line.mesh?.geometry.remove();
      line.mesh = this.lineMesh(pairs);
      line.count = pairs.length;
      return;
    }
    const data = lineData(pairs);
    for (const name of ["a", "b"]) {
      const attribute = line.mesh.geometry.attributes[name];
      attribute.data.set(data[name]);
      attribute.needsUpdate = true;
    }
  }

  solidOf(mesh) {
    if (!this.solids.has(mesh)) {
      const [positions, normals] = [[], []];
      for (const face of mesh.faces) {
        for (const corner of triangles(mesh.points, face).flat()) {
          positions.push(...mesh.points[face.at[corner]]);
          normals.push(...(face.normals ? face.normals[corner] : face.normal));
        }
      }
      const geometry = new OGL.Geometry(this.gl, {
        position: { size: 3, data: new Float32Array(positions) },
        normal: { size: 3, data: new Float32Array(normals) },
      });
      this.solids.set(mesh, new OGL.Mesh(this.gl, { geometry, program: this.solid, frustumCulled: false }));
    }
    return this.solids.get(mesh);
  }

  edgesOf(mesh) {
    if (!this.edges.has(mesh)) {
      this.edges.set(mesh, this.lineMesh(mesh.edges.map(([a, b]) => [mesh.points[a], mesh.points[b]])));
    }
    return this.edges.get(mesh);
  }

  lineMesh(pairs) {
    const data = lineData(pairs);
    const geometry = new OGL.Geometry(this.gl, {
      a: { size: 3, data: data.a, usage: this.gl.DYNAMIC_DRAW },
      b: { size: 3, data: data.b, usage: this.gl.DYNAMIC_DRAW },
      corner: { size: 2, data: data.corner },
      index: { data: data.index },
    });
    return new OGL.Mesh(this.gl, { geometry, program: this.stroke, frustumCulled: false });
  }
}

function lineData(pairs) {
  const n = pairs.length;
  const [a, b, corner, index] = [new Float32Array(12 * n), new Float32Array(12 * n), new Float32Array(8 * n), new Uint32Array(6 * n)];
  pairs.forEach(([p, q], i) => {
    for (let k = 0; k < 4; k++) { a.set(p, 12 * i + 3 * k); b.set(q, 12 * i + 3 * k); }
    corner.set([0, 1, 0, -1, 1, -1, 1, 1], 8 * i);
    index.set([0, 1, 2, 0, 2, 3].map((k) => 4 * i + k), 6 * i);
  });
  return { a, b, corner, index };
}

const pairsOf = (points) => points.slice(1).map((q, i) => [points[i], q]);

// Lines that look the same and stay where they are, in one.
function mergeLines(lines) {
  const groups = new Map();
  for (const line of lines) {
    const alone = line.changes || line.upto !== undefined;
    const key = alone ? line : `${line.role}|${line.width}|${line.group}|${line.alpha ?? 1}|${Boolean(line.behind)}`;
    const found = groups.get(key);
    if (found && found.source.matrix === line.matrix) found.members.push(line);
    else groups.set(found ? line : key, { ...line, source: line, members: [line] });
  }
  return [...groups.values()].map((group) => ({
    ...group, hidden: () => group.source.hidden, pairs: () => group.members.flatMap((line) => pairsOf(line.points)),
  }));
}

const AXIS_COLORS = { axisX: "#d64541", axisY: "#2e9e5b", axisZ: "#3d7edb" };
const colorOfLine = (role) => AXIS_COLORS[role] ?? colorOf(role);

// Colour of a solid as three numbers: shaded towards black, or tinted towards the paper.
function lookOf(node, shade = node.shade ?? 1) {
  const paper = channels(theme.colors.paper);
  const tint = node.tint ?? 0;
  return channels(colorOf(node.role)).map((c, k) => (c * (1 - tint) + paper[k] * tint) * shade);
}

// Light from the upper left behind the viewer, and a weaker one from the right.
function lightsOf({ right, up, out }) {
  return {
    key: unit(add(scaled(out, 0.8), add(scaled(up, 0.55), scaled(right, -0.35)))),
    fill: unit(add(scaled(out, 0.3), add(scaled(up, -0.2), scaled(right, 0.9)))),
  };
}
