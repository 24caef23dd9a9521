// Head, failure, statistics, parameters, model text.
function addHead() {
  byId("name").textContent = summary.name || summary.file;
  const steps = Object.fromEntries((summary.statistics ?? []).map(([name, value]) => [name, value]));
  const setting = Object.fromEntries(summary.settings);
  const facts = [
    [`${number(run.times[0], 6)} \u2026 ${number(summary.reached, 6)} s`, "simulated"],
    [`${steps.steps ?? 0}`, "steps"], [`${(steps.rejected ?? 0) + (steps.newton_failures ?? 0)}`, "rejected"],
    [number(setting.tolerance), "tolerance"],
  ];
  if (steps.events) facts.push([`${steps.events}`, "events"]);
  if (steps.energy_drift !== undefined) facts.push([`${number(steps.energy_drift, 2)} J`, "energy drift"]);
  byId("facts").append(...facts.map(([value, what]) => element("span", {}, element("b", {}, value), ` ${what}`)));
  byId("program").textContent = `${summary.file ? `${summary.file} \u00b7 ` : ""}${summary.program}`;
}

// What the text says to people about the model.
function addAbout() {
  const { description, author, version, license } = summary;
  const from = [author && `by ${author}`, version && `version ${version}`, license && `licence ${license}`].filter(Boolean);
  if (!description && !from.length) { byId("about").remove(); return; }
  if (description) byId("about").append(element("p", {}, description));
  if (from.length) byId("about").append(element("p", { class: "from" }, from.join(" \u00b7 ")));
  byId("about").hidden = false;
}

function addFailure(player) {
  const { failure } = summary;
  const box = byId("failure");
  if (!failure) { box.remove(); return; }
  box.hidden = false;
  const where = failure.time === null ? "before the start" : `at t = ${number(failure.time, 7)} s`;
  box.append(element("h2", {}, `${failure.what} ${where}`), element("p", { class: "sentence" }, failure.sentence));
  const list = element("dl", {});
  const entry = (term, ...content) => list.append(element("dt", {}, term), element("dd", {}, ...content));
  if (failure.time !== null) {
    entry("When", element("button", { type: "button", class: "link", onclick: () => player.seek(failure.time) }, `t = ${number(failure.time, 9)} s`),
      ` of ${number(summary.stop, 6)} s; the rows up to there are shown`);
  }
  if (failure.culprits.length) {
    const items = failure.elements.map((e) => element("a", { href: `#line${e.line}` }, `${e.kind} ${e.name}`, ` (line ${e.line})`));
    entry("Which", failure.culprits.join(", "), ...items.flatMap((item) => ["; ", item]));
  }
  if (failure.tried.length) {
    const rows = failure.tried.map((t) => element("tr", {}, ...[`${number(t.time, 9)} s`, `${number(t.step, 3)} s`, t.error === null ? "" : number(t.error, 3), t.reason, t.name].map((c) => element("td", {}, c))));
    entry("Tried", element("div", { class: "scroll" }, element("table", {},
      element("thead", {}, element("tr", {}, ...["from", "step", "error / tolerance", "reason", "worst in"].map((h) => element("th", { scope: "col" }, h)))), element("tbody", {}, ...rows))));
  }
  if (failure.advice.length) entry("What to change", element("ul", {}, ...failure.advice.map((a) => element("li", {}, ...withCode(a)))));
  box.append(list);
}

// Text with `names` as code.
const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part));

function addStatistics(parent) {
  if (measured.length) {
    const total = measured.reduce((sum, [, s]) => sum + s, 0) || 1;
    const bars = measured.map(([what, seconds]) => {
      const bar = element("i", { class: "bar" });
      bar.style.width = `${(100 * seconds / total).toFixed(2)}%`;
      return element("tr", {}, element("td", {}, what), element("td", { class: "num" }, `${number(1000 * seconds, 3)} ms`), element("td", { class: "wide" }, bar));
    });
    parent.append(element("h3", {}, "Where the time went"), element("table", { class: "times" }, element("tbody", {}, ...bars)));
    const integrating = measured.find(([what]) => what === "integrating")?.[1];
    if (integrating > 0) {
      const factor = (summary.reached - summary.start) / integrating;
      parent.append(element("p", { class: "empty" }, `The integration took ${number(1000 * integrating, 3)} ms of processor time: ${number(factor, 3)} times real time.`));
    }
  }
  const rows = (summary.statistics ?? []).map(([name, value, meaning]) => element("tr", {}, element("td", {}, meaning), element("td", { class: "num" }, number(value, 6)), element("td", { class: "code" }, name)));
  if (rows.length) parent.append(element("h3", {}, "Counters"), element("table", {}, element("tbody", {}, ...rows)));
  const settings = summary.settings.map(([name, value]) => element("tr", {}, element("td", { class: "code" }, name), element("td", { class: "num" }, typeof value === "number" ? number(value, 6) : String(value))));
  parent.append(element("h3", {}, "Settings"), element("table", {}, element("tbody", {}, ...settings)));
  if (summary.notes.length) parent.append(element("h3", {}, "Notes"), element("ul", {}, ...summary.notes.map((n) => element("li", {}, n))));
}

// The description of a variable; without one it is the name of what it stands for.
const words = (v) => (v.description && v.description !== v.source ? v.description : "");

// Descriptions of bodies, joints, motions, forces and sensors.
function addDescribed(parent) {
  const entries = Object.entries(summary.described ?? {});
  if (!entries.length) { parent.remove(); return; }
  parent.append(element("h3", {}, "Elements"), element("table", {}, element("tbody", {}, ...entries.map(([name, text]) =>
    element("tr", {}, element("td", { class: "code" }, name), element("td", {}, text))))));
}

// Smallest, largest and typical value of a variable, as far as the model says them.
function bounds({ min, max, nominal }) {
  const known = (x) => x !== null && x !== undefined;
  const range = known(min) && known(max) ? `${min} .. ${max}` : known(min) ? `≥ ${min}` : known(max) ? `≤ ${max}` : "";
  return [range, ...(known(nominal) ? [`about ${nominal}`] : [])].filter(Boolean).join(", ");
}

function addVariables(parent) {
  addDescribed(byId("described"));
  const [said, bounded] = [summary.variables.some(words), summary.variables.some(bounds)];
  const rows = summary.variables.map((v) => element("tr", {}, element("td", {}, v.name), element("td", { class: "num" }, number(v.value, 8)),
    element("td", {}, v.unit), element("td", { class: "code" }, v.source), element("td", {}, `${v.kind}${v.set ? ", set for this run" : ""}`),
    ...(bounded ? [element("td", {}, bounds(v))] : []), ...(said ? [element("td", {}, words(v))] : [])));
  if (!rows.length) { parent.append(element("p", { class: "empty" }, "The model declares no parameters and no inputs.")); return; }
  const heads = ["name", "value", "unit", "stands for", "kind", ...(bounded ? ["range"] : []), ...(said ? ["description"] : [])];
  parent.append(element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads.map((h) => element("th", { scope: "col" }, h)))), element("tbody", {}, ...rows))));
}

function addText(parent) {
  const wrong = new Set((summary.failure?.elements ?? []).map((e) => e.line));
  const lines = summary.text.replace(/\n$/, "").split("\n").map((text, i) => {
    const [, code, comment] = /^((?:[^#"']|"[^"]*"|'[^']*')*)(#.*)?$/.exec(text) ?? [null, text, ""];
    const head = /^\s*\[/.test(code) && /\]\s*$/.test(code);
    return element("li", { id: `line${i + 1}`, class: wrong.has(i + 1) ? "wrong" : null },
      element("code", { class: head ? "table" : null }, code), ...(comment ? [element("code", { class: "comment" }, comment)] : []));
  });
  parent.append(element("ol", { class: "text" }, ...lines));
}
