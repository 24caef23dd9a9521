// The picture: painter, labels, scales and its buttons. It is painted when something changed, once for each frame at most.
const SHOWN = [
  ["joints", "joints"], ["springs", "springs, actuators"], ["contacts", "contacts, wheels"], ["contactForces", "contact forces"],
  ["forces", "forces"], ["reactions", "reactions"], ["moments", "moments"], ["bending", "bending of beams"], ["trails", "trails"], ["axes", "axes"],
  ["ground", "grid"], ["names", "names"],
];

class Stage {
  constructor() {
    this.stage = byId("stage");
    // Faces painted from far to near are right for a planar mechanism seen straight on; all else wants a depth buffer.
    this.webgl = null;
    if (!planar && !this.webglAvailable()) detail = scene.bodies.length > 30 ? 12 : 18;
    this.mechanism = new Mechanism();
    this.camera = new Camera(this.mechanism);
    this.frames = 0;
    this.share = 1;
    this.choosePainter();
    this.addButtons();
    this.addLabels();
    startControls(this.stage, this.camera, () => this.changed());
    new ResizeObserver(() => this.resize()).observe(this.stage);
    theme.listeners.push(() => this.changed());
    this.resize();
    this.camera.fit();
  }

  webglAvailable() {
    this.webgl ??= webglAvailable();
    return this.webgl;
  }

  choosePainter() {
    const straight = planar && Math.abs(Math.cos(this.camera.yaw) * Math.cos(this.camera.pitch)) > 0.9999;
    const Kind = !straight && this.webglAvailable() ? WebglPainter : CanvasPainter;
    if (this.painter instanceof Kind) return;
    byId("scene")?.remove();
    const canvas = element("canvas", { id: "scene", role: "img", "aria-label": `Picture of the mechanism ${summary.name}` });
    this.stage.prepend(canvas);
    this.painter = new Kind(canvas);
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    this.painter.resize(width, height, pixelRatio());
  }

  resize() {
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    if (!width || !height) return;
    this.camera.size = [width, height];
    if (!this.touched) this.camera.fit();
    this.painter.resize(width, height, pixelRatio());
    this.paint();
  }

  // Fewer pixels while playing where frames take long; all of them again when it stands still.
  keepPace(milliseconds) {
    this.average = milliseconds === null ? 0 : 0.8 * (this.average ?? 0) + 0.2 * milliseconds;
    const share = milliseconds === null ? 1 : this.average > 40 ? Math.max(0.5, 0.8 * this.share) : this.share;
    if (share === this.share) return;
    this.share = share;
    this.average = 0;
    this.painter.resize(...this.camera.size, pixelRatio() * share);
    this.changed();
  }

  changed() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  seek(t) {
    this.mechanism.update(t);
    this.changed();
  }

  paint() {
    this.choosePainter();
    this.painter.paint(this.mechanism, this.camera);
    this.frames += 1;
    this.placeLabels();
    this.placeScales();
  }

  addButtons() {
    const views = planar ? ["front", "back", "iso"] : ["iso", "front", "back", "left", "right", "top", "bottom"];
    const bar = byId("views");
    const use = (act) => () => { act(); this.changed(); };
    bar.append(element("button", { type: "button", onclick: use(() => { this.touched = false; this.camera.fit(); }), title: "Whole run in the picture (F)" }, "Fit"));
    views.forEach((name, i) => {
      const title = `View: ${name} (${i + 1})`;
      bar.append(element("button", { type: "button", title, "data-view": name, onclick: use(() => this.view(name)) }, name[0].toUpperCase() + name.slice(1)));
    });
    for (const [text, by, title] of [["+", 1 / 1.25, "Zoom in (+)"], ["\u2212", 1.25, "Zoom out (-)"]]) {
      bar.append(element("button", { type: "button", title, "aria-label": title, onclick: use(() => this.camera.zoom(by)) }, text));
    }
    if (!planar) {
      bar.append(element("button", { type: "button", title: "With or without perspective", onclick: use(() => { this.camera.perspective = !this.camera.perspective; this.camera.fit(); }) }, "Persp."));
    }
    const list = byId("shown");
    const present = new Set([...this.mechanism.nodes, ...this.mechanism.lines, ...this.mechanism.labels].map((item) => item.group));
    if (this.mechanism.bending) present.add("bending");
    for (const [group, text] of SHOWN) {
      if (!present.has(group)) continue;
      const box = element("input", { type: "checkbox", checked: show[group], "data-group": group });
      box.addEventListener("change", () => { show[group] = box.checked; this.mechanism.update(this.mechanism.time); this.changed(); });
      list.append(element("label", {}, box, ` ${text}`));
    }
    const factor = element("input", { type: "range", min: -1, max: 1, step: 0.05, value: 0, "aria-label": "Length of the arrows" });
    factor.addEventListener("input", () => {
      this.mechanism.arrows.factor = 10 ** Number(factor.value);
      this.mechanism.update(this.mechanism.time);
      this.changed();
    });
    if (this.mechanism.arrows.list.length) list.append(element("label", {}, "arrow length ", factor));
    this.stage.addEventListener("pointerdown", () => { this.touched = true; });
    this.stage.addEventListener("wheel", () => { this.touched = true; }, { passive: true });
  }

  // As it was before the page was loaded again.
  restore({ camera, show: shown, arrows }) {
    Object.assign(show, shown);
    document.querySelectorAll("#shown [data-group]").forEach((box) => { box.checked = show[box.dataset.group]; });
    if (arrows) this.mechanism.arrows.factor = arrows;
    const { touched, tilted, target, height, ...angles } = camera;
    Object.assign(this.camera, angles);
    this.touched = touched;
    if (tilted !== undefined) this.stage.dataset.tilted = tilted;
    // A view that nobody moved fits the new run.
    if (touched) Object.assign(this.camera, { target, height }); else this.camera.fit();
  }

  view(name) {
    this.stage.dataset.tilted = planar && name !== "iso" ? "" : "yes";
    this.camera.preset(name);
    this.changed();
  }

  addLabels() {
    const box = byId("labels");
    for (const label of this.mechanism.labels) {
      label.node = element("span", { class: label.quiet ? "quiet" : "" }, label.text);
      box.append(label.node);
    }
  }

  placeLabels() {
    const project = this.camera.projector();
    for (const label of this.mechanism.labels) {
      if (label.shown !== show[label.group]) label.node.hidden = !(label.shown = show[label.group]);
      if (!label.shown) continue;
      const [x, y] = project(label.at());
      label.node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }

  // A round length, and what a force and a moment of a round amount look like.
  placeScales() {
    const pixels = this.camera.size[1] / this.camera.height;
    const length = roundUp(60 / pixels);
    const { arrows, size } = this.mechanism;
    const bar = (width, text, kind) => {
      const line = element("i", { class: kind });
      line.style.width = `${Math.min(width, 400).toFixed(1)}px`;
      return element("span", { class: "scale" }, line, text);
    };
    const state = `${pixels}|${arrows.factor}|${JSON.stringify(show)}`;
    if (state === this.scalesState) return;
    this.scalesState = state;
    const parts = [bar(length * pixels, `${number(length)} m`, "length")];
    const amount = (scale, unitName, kind) => {
      const share = roundUp(40 / pixels / (arrows.factor * size * scale.length) * scale.amount);
      parts.push(bar(arrows.factor * size * scale.length * share / scale.amount * pixels, `${number(share)} ${unitName}`, kind));
    };
    if (arrows.scales.force && ["contactForces", "forces", "reactions"].some((g) => show[g] && arrows.list.some((a) => a.group === g))) amount(arrows.scales.force, "N", "arrow");
    if (arrows.scales.moment && show.moments) amount(arrows.scales.moment, "N.m", "arrow moment");
    if (show.bending && this.mechanism.bending) {
      const shares = planar ? [-1, 0, 1] : [0, 1];
      const line = element("i", { class: "bending" });
      line.style.background = `linear-gradient(to right, ${shares.map(bendingColor).join(", ")})`;
      parts.push(element("span", { class: "scale" }, line, `${planar ? "\u00b1" : ""}${number(this.mechanism.bending)} N.m`));
    }
    byId("scales").replaceChildren(...parts);
  }
}

const pixelRatio = () => Math.min(devicePixelRatio || 1, 2);
