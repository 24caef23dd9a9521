// Puts the page together and offers it to scripts as `window.biela`.
const indexOf = (list, name) => {
  const i = list.findIndex((item) => item.name === name);
  if (i < 0) throw new Error(`there is no "${name}"; there are: ${list.map((item) => item.name).join(", ")}`);
  return i;
};

const biela = {
  player: null,
  stage: null,
};

window.biela = {
  time: () => biela.player?.time ?? summary.start,
  seek: (t) => biela.player.seek(t),
  bodies: () => scene.bodies.map((body) => body.name),
  pose: (name) => poseAt(indexOf(scene.bodies, name), locate(run.times, biela.player.time)),
  beam: (name) => biela.stage.mechanism.beamPieces[indexOf(scene.beams, name)].map(({ matrix, role }) => ({ start: [...matrix.slice(12, 15)], color: colorOf(role) })),
  outputs: () => summary.outputs.map((output) => output.name),
  value: (name) => mix(run.outputs[indexOf(summary.outputs, name)], locate(run.times, biela.player.time)),
  ready: null,
};

function follow(player) {
  player.listeners.push((t) => { for (const plot of plots) plot.move(t); });
  if (biela.stage) player.listeners.push((t) => biela.stage.seek(t));
  theme.listeners.push(() => plots.forEach((plot) => plot.restyle()));
  byId("zoomed").addEventListener("click", () => setRange(player.first, player.last));
}

const PAPER = 680;          // pixels across a page

// Plots that were never seen are made for paper.
function startPrinting(player) {
  addEventListener("beforeprint", () => {
    for (const plot of plots) { plot.visible = true; plot.make(); plot.resize(); plot.move(player.time); }
    document.querySelectorAll("details").forEach((d) => { if (!d.closest("#stage, footer") && !("long" in d.dataset)) d.open = true; });
    // The picture keeps its size in pixels and is scaled to the paper, with all that is placed on it.
    const stage = byId("stage");
    for (const [name, value] of [["width", stage.clientWidth], ["height", stage.clientHeight]]) stage.style.setProperty(`--${name}`, `${value}px`);
    stage.style.setProperty("--zoom", Math.min(1, PAPER / (stage.clientWidth || PAPER)));
  });
}

async function start() {
  await decode();
  startTheme();
  const player = new Player();
  biela.player = player;
  [range.low, range.high] = [player.first, player.last > player.first ? player.last : player.first + 1];
  addHead();
  addAbout();
  addFailure(player);
  if (scene.bodies.length) biela.stage = player.stage = new Stage();
  else byId("view").classList.add("nothing");
  addOutputs(byId("outputPlots"), player);
  addSolver(byId("solverPlots"), player);
  addRejected(byId("solverLists"), player);
  addEvents(byId("solverLists"), player);
  addEnergy(byId("energyPlots"), player);
  addStatistics(byId("statisticsTables"));
  addVariables(byId("variableTable"));
  addText(byId("textLines"));
  follow(player);
  startPrinting(player);
  addEventListener("hashchange", () => { if (addressed("t")) player.seek(addressed("t")); });
  document.documentElement.dataset.ready = "yes";
  // A run that failed opens at its failure, also when it is watched.
  const failed = Boolean(summary.failure && summary.failure.time !== null);
  if (!restoreChoices(player) || failed) player.seek(addressed("t") ?? (failed ? player.last : player.first));
  performance.mark("biela usable");
  if (live) followServer(player);
}

window.biela.ready = start();
