// Colours of the drawings; those of the page are in the style sheet. Red is kept for what failed and for what is traced.
const PALETTES = {
  light: {
    paper: "#ffffff", ink: "#1f2933", faint: "#6b7785", grid: "#e3e8ed", zero: "#b9c2cc", cursor: "#c0392b",
    ground: "#7b8794", groundFill: "#dfe4ea", steel: "#8b95a1", pin: "#ffffff", spring: "#55606d", rubber: "#49525e",
    bending: ["#2166ac", "#c9ced4", "#b2182b"],
    trail: "#c0392b", reaction: "#7a3fb0", force: "#0d8a4f", contact: "#d1495b", moment: "#b07a00", wrong: "#d62828",
    bodies: ["#6fa3d2", "#eda65d", "#6fbf9c", "#c987aa", "#a292cf", "#9fb04e", "#5fb6c4", "#d98880"],
    series: ["#2f6fab", "#d17a22", "#2e8f6a", "#a64d79", "#7a68a6", "#5c7f1a", "#1f8a9c", "#8a8f98"],
  },
  dark: {
    paper: "#171c22", ink: "#e6ebf0", faint: "#97a3b0", grid: "#2a323b", zero: "#465260", cursor: "#ff7b6b",
    ground: "#8f9cab", groundFill: "#333d48", steel: "#a4afbb", pin: "#e6ebf0", spring: "#b3bec9", rubber: "#5c6772",
    bending: ["#6db0f2", "#5c6772", "#ff7b6b"],
    trail: "#ff7b6b", reaction: "#c79bf2", force: "#5fd39b", contact: "#ff8fa0", moment: "#f0c04a", wrong: "#ff5252",
    bodies: ["#5b93c7", "#d98f43", "#56a885", "#b8739a", "#8f7dc2", "#8d9e3f", "#4aa3b2", "#c6766d"],
    series: ["#6db0f2", "#f0a14f", "#5fd0a5", "#e38dbb", "#b5a2ec", "#b5cf5a", "#58c9dc", "#b4bcc6"],
  },
};

const theme = { name: "light", colors: PALETTES.light, listeners: [] };

function applyTheme() {
  const chosen = document.documentElement.dataset.theme;
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  theme.name = dark && !matchMedia("print").matches ? "dark" : "light";
  theme.colors = PALETTES[theme.name];
  theme.listeners.forEach((listener) => listener());
}

const parsed = new Map();
function channels(hex) {
  if (!parsed.has(hex)) parsed.set(hex, [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255));
  return parsed.get(hex);
}


// What a role of the scene looks like: "body3", "steel", ...
function colorOf(role) {
  const { colors } = theme;
  if (role.startsWith("bending")) return bendingColor(Number(role.slice(7)) / BENDING_COLORS);
  if (role.startsWith("body")) return colors.bodies[Number(role.slice(4)) % colors.bodies.length];
  return colors[role];
}

function startTheme() {
  const button = byId("theme");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = theme.name === "dark" ? "light" : "dark";
    applyTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", applyTheme);
  matchMedia("print").addEventListener("change", applyTheme);
  theme.listeners.push(() => {
    button.textContent = theme.name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Change to ${theme.name === "dark" ? "light" : "dark"} colours`);
  });
  applyTheme();
}
