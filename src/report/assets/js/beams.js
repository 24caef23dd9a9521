// Beams: every element is a curve between the frames of its nodes, drawn in short pieces with the section of the beam. On request the
// colour is that of the bending moment.
const BEAM_PIECES = 4;          // of an element, fewer where there are many elements
const BEAM_NODES = 400;         // pieces of one beam at most, if its elements allow it
const BENDING_COLORS = 16;      // on either side of zero

const isNode = (index) => scene.beams.some((beam) => index >= beam.first && index <= beam.first + beam.elements);

Object.assign(Mechanism.prototype, {
  addBeam(beam, number) {
    const pieces = Math.max(1, Math.min(BEAM_PIECES, Math.floor(BEAM_NODES / beam.elements)));
    const wrong = this.wrong.has(beam.name);
    const role = wrong ? "wrong" : `body${beam.first}`;
    const least = 0.004 * this.whole;
    const round = beam.section.circle !== undefined;
    const [b, h] = (beam.section.rectangle ?? [beam.section.circle, beam.section.circle]).map((size) => Math.max(size, least));
    const layer = planar ? this.layers[beam.first] * 0.016 * this.size : 0;
    const mesh = planar ? prismMesh([[0, -0.5], [1, -0.5], [1, 0.5], [0, 0.5]], layer, layer + 0.012 * this.size, { edges: false })
      : round ? tubeMesh([0, 0, 0], [0, 0, 1], 0.5, 0.5, 10, false) : boxMesh([1, 1, 1], [0, 0, 0.5]);
    const columns = this.bendingColumns(beam);
    const all = this.beamPieces[number] = [];
    for (let k = 0; k < beam.elements; k++) {
      const nodes = Array.from({ length: pieces }, () => this.node(mesh, role, identity(), "bodies"));
      all.push(...nodes);
      this.moving.push((_, t) => {
        const curve = this.elementCurve(beam, k, pieces);
        nodes.forEach((node, i) => {
          const [from, to] = [curve[i], curve[i + 1]];
          const along = sub(to.point, from.point);
          if (planar) setFrame(node.matrix, along, scaled(unit([-along[1], along[0], 0]), b), [0, 0, 1], from.point);
          else setFrame(node.matrix, scaled(from.second, b), scaled(unit(cross(along, from.second)), h), along, from.point);
          node.role = wrong || !show.bending || !columns ? role : this.bendingRole(columns[k], t);
        });
      });
    }
  },

  // Points of an element and the second section axis there: a cubic with the tangents of its ends.
  elementCurve(beam, k, pieces) {
    const [a, b] = [beam.first + k, beam.first + k + 1].map((i) => this.bodyMatrices[i]);
    const corner = beam.corners[k] ?? [1, 0, 0, 0];
    const end = (axis) => turned(b, rotate(corner, axis));
    const [from, to] = [[a[12], a[13], a[14]], [b[12], b[13], b[14]]];
    const length = norm(sub(to, from));
    const [ta, tb] = [scaled(turned(a, [1, 0, 0]), length), scaled(end([1, 0, 0]), length)];
    const [ya, yb] = [turned(a, [0, 1, 0]), end([0, 1, 0])];
    return Array.from({ length: pieces + 1 }, (_, i) => {
      const s = i / pieces;
      const [u, v] = [s * s * (3 - 2 * s), s * (1 - s) * (1 - s)];
      const point = add(add(scaled(from, 1 - u), scaled(to, u)), add(scaled(ta, v), scaled(tb, -s * s * (1 - s))));
      return { point, second: unit(add(scaled(ya, 1 - s), scaled(yb, s))) };
    });
  },

  // Columns of the bending moments of each element; null where they were not recorded.
  bendingColumns(beam) {
    const index = new Map(summary.loads.map((name, i) => [name, i]));
    const columns = Array.from({ length: beam.elements }, (_, k) => ["m2", "m3"].map((m) => index.get(`${beam.name}.${k}.${m}`)).filter((c) => c !== undefined));
    if (columns.some((found) => !found.length)) return null;
    const largest = Math.max(...columns.flatMap((found) => sizes(found)));
    this.bending = Math.max(this.bending ?? 0, largest);
    return columns;
  },

  // In the plane with its sign, in space by its size.
  bendingRole(columns, t) {
    const place = locate(run.loadTimes, t);
    const values = columns.map((c) => mix(run.loads[c], place));
    const moment = values.length === 1 ? values[0] : Math.hypot(...values);
    return `bending${Math.round(BENDING_COLORS * Math.max(-1, Math.min(1, moment / (this.bending || 1))))}`;
  },
});

// From negative over zero to positive moments.
function bendingColor(share) {
  const [negative, zero, positive] = theme.colors.bending.map(channels);
  const end = share < 0 ? negative : positive;
  const color = zero.map((c, i) => c + (end[i] - c) * Math.abs(share));
  return `#${color.map((c) => Math.round(255 * c).toString(16).padStart(2, "0")).join("")}`;
}
