// Draws the mechanism with WebGL, through OGL. All solids are one buffer, all lines another: a vertex knows the number of its
// node, and the matrix and colour of each node stand in a texture that is written for each frame. So a picture is a few
// draw calls, however many bodies there are.
const NODE_LOOKUP = `
uniform sampler2D nodes;
mat4 modelOf(int i) {
  return mat4(texelFetch(nodes, ivec2(0, i), 0), texelFetch(nodes, ivec2(1, i), 0), texelFetch(nodes, ivec2(2, i), 0), texelFetch(nodes, ivec2(3, i), 0));
}`;
const SOLID_VERTEX = `#version 300 es
in vec3 position;
in vec3 normal;
in float node;
uniform mat4 camera;
out vec3 n;
out vec4 color;
${NODE_LOOKUP}
void main() {
  int i = int(node + 0.5);
  mat4 model = modelOf(i);
  mat3 m = mat3(model);
  vec3 s = vec3(dot(m[0], m[0]), dot(m[1], m[1]), dot(m[2], m[2]));
  n = m * (normal / max(s, vec3(1e-30)));
  color = texelFetch(nodes, ivec2(4, i), 0);
  gl_Position = camera * model * vec4(position, 1.0);
}`;
const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 n;
in vec4 color;
uniform vec3 key, fill;
out vec4 result;
void main() {
  vec3 u = normalize(n);
  float light = 0.46 + 0.5 * max(dot(u, key), 0.0) + 0.16 * max(dot(u, fill), 0.0);
  result = vec4(color.rgb * mix(1.0, light, color.a), 1.0);
}`;
// A segment becomes a quad that is some pixels wide on the screen.
const LINE_VERTEX = `#version 300 es
in vec3 a;
in vec3 b;
in vec3 corner;
in float node;
uniform mat4 camera;
uniform vec2 screen;
uniform float ratio;
out vec4 color;
${NODE_LOOKUP}
void main() {
  int i = int(node + 0.5);
  mat4 model = modelOf(i);
  vec4 look = texelFetch(nodes, ivec2(5, i), 0);
  color = texelFetch(nodes, ivec2(4, i), 0);
  vec4 p = camera * model * vec4(a, 1.0);
  vec4 q = camera * model * vec4(b, 1.0);
  vec2 d = (q.xy / q.w - p.xy / p.w) * screen;
  d = length(d) > 1e-6 ? normalize(d) : vec2(1.0, 0.0);
  if (corner.z >= look.y) { gl_Position = vec4(0.0); return; }
  vec4 r = corner.x < 0.5 ? p : q;
  vec2 offset = 0.5 * vec2(-d.y, d.x) * corner.y + d * (corner.x - 0.5) * 0.6;
  r.xy += offset * look.x * ratio / screen * r.w;
  gl_Position = r;
}`;
const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 color;
out vec4 result;
void main() { result = color; }`;
const TEXELS = 6;          // of a node: four columns of the matrix, colour, width and number of segments

// Where WebGL is computed by the processor, the canvas is several times faster. `#webgl` and `#canvas` at the end of the
// page's address choose.
function webglAvailable() {
  if (addressed("canvas")) return false;
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl || addressed("webgl")) return Boolean(gl);
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

class WebglPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new OGL.Renderer({ canvas, antialias: true, alpha: false, preserveDrawingBuffer: true, dpr: 1 });
    const { gl } = this.renderer;
    this.gl = gl;
    const uniforms = (names) => Object.fromEntries(names.map((name) => [name, { value: null }]));
    this.solid = new OGL.Program(gl, {
      vertex: SOLID_VERTEX, fragment: SOLID_FRAGMENT, cullFace: gl.BACK, uniforms: uniforms(["camera", "key", "fill", "nodes"]),
    });
    this.stroke = new OGL.Program(gl, {
      vertex: LINE_VERTEX, fragment: LINE_FRAGMENT, cullFace: false, transparent: true, depthWrite: false,
      uniforms: uniforms(["camera", "screen", "ratio", "nodes"]),
    });
  }

  resize(width, height, ratio) {
    this.renderer.dpr = ratio;
    this.renderer.setSize(width, height);
    this.canvas.style.width = this.canvas.style.height = "";
    this.ratio = ratio;
  }

  paint(mechanism, camera) {
    const { gl, renderer } = this;
    if (!this.layers) this.build(mechanism);
    renderer.bindFramebuffer();
    renderer.setViewport(gl.canvas.width, gl.canvas.height);
    renderer.enable(gl.DEPTH_TEST);
    renderer.setDepthMask(true);
    gl.clearColor(...channels(theme.colors.paper), 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const lights = lightsOf(camera.axes());
    const values = { camera: camera.matrix(), ...lights, screen: [gl.canvas.width / 2, gl.canvas.height / 2], ratio: this.ratio };
    for (const program of [this.solid, this.stroke]) {
      for (const name of Object.keys(program.uniforms)) if (name in values) program.uniforms[name].value = values[name];
    }
    const { behind, solids, edges, lines } = this.layers;
    this.draw(behind);
    // Solids are drawn a little further away, so that the lines on them are in front.
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(1, 2);
    this.draw(solids);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    this.draw(edges);
    this.draw(lines);
  }

  draw(layer) {
    if (!layer.mesh) return;
    layer.items.forEach((item, i) => {
      const at = 4 * TEXELS * i;
      const { data } = layer;
      if (item.hidden || !show[item.group]) { data.fill(0, at, at + 16); return; }
      data.set(item.matrix, at);
      data.set(layer.look(item), at + 16);
      data[at + 20] = item.width ?? 1.4;
      data[at + 21] = item.upto ?? 1e9;
      if (item.changes) this.refresh(layer, item);
    });
    layer.texture.needsUpdate = true;
    layer.mesh.program.uniforms.nodes.value = layer.texture;
    layer.mesh.draw();
  }

  build(mechanism) {
    const solidLook = (node) => [...lookOf(node), node.flat ? 0.25 : 1];
    const lineLook = (line) => [...channels(colorOfLine(line.role)), line.alpha ?? 1];
    const edged = mechanism.nodes.filter((node) => node.edge && node.mesh.edges.length);
    const edgePairs = ({ mesh }) => mesh.edges.map(([a, b]) => [mesh.points[a], mesh.points[b]]);
    const moving = mechanism.lines.filter((line) => !line.behind);
    const still = mechanism.lines.filter((line) => line.behind);
    this.layers = {
      behind: this.layer(still, lineLook, this.lineMesh(still, (line) => pairsOf(line.points))),
      solids: this.layer(mechanism.nodes, solidLook, this.solidMesh(mechanism.nodes)),
      edges: this.layer(edged, (node) => [...lookOf(node, 0.55), 1], this.lineMesh(edged, edgePairs)),
      lines: this.layer(moving, lineLook, this.lineMesh(moving, (line) => pairsOf(line.points))),
    };
  }

  layer(items, look, mesh) {
    const data = new Float32Array(4 * TEXELS * Math.max(1, items.length));
    const { gl } = this;
    const texture = new OGL.Texture(gl, {
      image: data, width: TEXELS, height: Math.max(1, items.length), type: gl.FLOAT, format: gl.RGBA, internalFormat: gl.RGBA32F,
      generateMipmaps: false, minFilter: gl.NEAREST, magFilter: gl.NEAREST, flipY: false,
    });
    return { items, look, data, texture, mesh };
  }

  solidMesh(nodes) {
    const [position, normal, node] = [[], [], []];
    nodes.forEach(({ mesh }, i) => {
      for (const face of mesh.faces) {
        for (const corner of triangles(mesh.points, face).flat()) {
          position.push(...mesh.points[face.at[corner]]);
          normal.push(...(face.normals ? face.normals[corner] : face.normal));
          node.push(i);
        }
      }
    });
    if (!node.length) return null;
    const attribute = (size, data) => ({ size, data: new Float32Array(data) });
    const geometry = new OGL.Geometry(this.gl, { position: attribute(3, position), normal: attribute(3, normal), node: attribute(1, node) });
    return new OGL.Mesh(this.gl, { geometry, program: this.solid, frustumCulled: false });
  }

  // Each line has its range of the buffer; one that changes has as many segments as it may ever need.
  lineMesh(lines, pairs) {
    const all = [];
    lines.forEach((line, i) => {
      line.first = all.length;
      const own = pairs(line);
      line.room = Math.max(own.length, line.most ?? 0);
      for (let k = 0; k < line.room; k++) all.push([...(own[k] ?? own[0] ?? [[0, 0, 0], [0, 0, 0]]), i, k]);
    });
    if (!all.length) return null;
    const data = lineData(all);
    const { gl } = this;
    const geometry = new OGL.Geometry(gl, {
      a: { size: 3, data: data.a, usage: gl.DYNAMIC_DRAW }, b: { size: 3, data: data.b, usage: gl.DYNAMIC_DRAW },
      corner: { size: 3, data: data.corner }, node: { size: 1, data: data.node }, index: { data: data.index },
    });
    return new OGL.Mesh(gl, { geometry, program: this.stroke, frustumCulled: false });
  }

  // Segments that move; those that are not needed shrink to a point.
  refresh(layer, line) {
    const { a, b } = layer.mesh.geometry.attributes;
    const pairs = pairsOf(line.points);
    const point = line.points[0];
    for (let k = 0; k < line.room; k++) {
      const [p, q] = pairs[k] ?? [point, point];
      for (let c = 0; c < 4; c++) { a.data.set(p, 12 * (line.first + k) + 3 * c); b.data.set(q, 12 * (line.first + k) + 3 * c); }
    }
    a.needsUpdate = b.needsUpdate = true;
  }
}

function lineData(pairs) {
  const n = pairs.length;
  const [a, b, corner, node, index] = [new Float32Array(12 * n), new Float32Array(12 * n), new Float32Array(12 * n), new Float32Array(4 * n), new Uint32Array(6 * n)];
  pairs.forEach(([p, q, number, k], i) => {
    for (let c = 0; c < 4; c++) { a.set(p, 12 * i + 3 * c); b.set(q, 12 * i + 3 * c); }
    corner.set([0, 1, k, 0, -1, k, 1, -1, k, 1, 1, k], 12 * i);
    node.fill(number, 4 * i, 4 * i + 4);
    index.set([0, 1, 2, 0, 2, 3].map((c) => 4 * i + c), 6 * i);
  });
  return { a, b, corner, node, index };
}

const pairsOf = (points) => points.slice(1).map((q, i) => [points[i], q]);

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
