// A page of `biela watch`: it asks the server for changes, loads itself again after a run and keeps time and view, and shows
// what is wrong with the model file until it is mended. A page from disk does none of this.
const live = document.documentElement.dataset.live;
const KEPT = "biela.kept";
const PAUSE = 700;          // ms until a server that does not answer is asked again

// Everything that a reader has chosen.
function keepChoices(player) {
  const { camera, touched, stage } = biela.stage ?? {};
  const kept = {
    time: player.time, playing: player.playing, speed: player.speed, loop: player.loop, scroll: scrollY, show: { ...show },
    theme: document.documentElement.dataset.theme ?? null, arrows: biela.stage?.mechanism.arrows.factor,
    range: byId("zoomed").hidden ? null : [range.low, range.high],
    camera: camera && { yaw: camera.yaw, pitch: camera.pitch, perspective: camera.perspective, touched: Boolean(touched), tilted: stage.dataset.tilted, target: camera.target, height: camera.height },
  };
  sessionStorage.setItem(KEPT, JSON.stringify(kept));
}

// False if nothing was kept.
function restoreChoices(player) {
  const kept = live && JSON.parse(sessionStorage.getItem(KEPT));
  if (!kept) return false;
  sessionStorage.removeItem(KEPT);
  if (kept.theme) { document.documentElement.dataset.theme = kept.theme; applyTheme(); }
  player.setSpeed(kept.speed);
  player.loop = byId("loop").checked = kept.loop;
  if (biela.stage && kept.camera) biela.stage.restore(kept);
  if (kept.range) setRange(...kept.range);
  player.set(kept.time);
  if (kept.playing) player.play();
  requestAnimationFrame(() => scrollTo(0, kept.scroll));
  return true;
}

function showProblem(problem) {
  byId("problem")?.remove();
  if (!problem) return;
  const places = problem.places.map(({ line, column, message, text }) => element("li", {},
    element("b", {}, `line ${line}, column ${column}`), `: ${message}`,
    element("pre", {}, text, "\n", " ".repeat(Math.max(0, column - 1)), "^")));
  const content = places.length ? element("ul", {}, ...places) : element("p", { class: "sentence" }, problem.sentence);
  const note = element("p", { class: "lead" }, problem.shown ? "Below is the last run; this goes away when the file is mended." : "The mechanism appears when the file is mended.");
  document.querySelector("main").before(element("section", { id: "problem", class: "failure", role: "alert" }, element("h2", {}, problem.title), content, note));
}

function showServer(text) {
  const badge = byId("live") ?? element("span", { id: "live", role: "status" });
  if (!badge.parentNode) byId("facts").append(badge);
  if (badge.textContent !== text) badge.textContent = text;
}

async function followServer(player) {
  let serial = 0;
  for (;;) {
    const state = await fetch(`state?after=${serial}`, { cache: "no-store" }).then((answer) => answer.json(), () => null).catch(() => null);
    if (!state) {
      showServer("the server has stopped");
      await new Promise((done) => { setTimeout(done, PAUSE); });
      serial = 0;
      continue;
    }
    serial = state.serial;
    if (state.version !== live) { keepChoices(player); location.reload(); return; }
    showProblem(state.problem);
    showServer(state.running ? "running \u2026" : state.problem ? "waiting for the file" : "watching");
  }
}
