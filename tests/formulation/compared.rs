//! The mechanisms on which formulations are compared: some of `models`, others as texts.

use std::fmt::Write;
use std::path::Path;

use biela::model::{Expose, FormulationName, Model};

/// All formulations.
pub const FORMULATIONS: [FormulationName; 5] = [
    FormulationName::Absolute,
    FormulationName::Relative,
    FormulationName::Global,
    FormulationName::Topological,
    FormulationName::Hybrid,
];

pub fn file(name: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models")
        .join(name);
    let mut model = Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    model.expose = Expose::All;
    model
}

pub fn text(text: &str) -> Model {
    let mut model = Model::from_text(text, "text").unwrap_or_else(|e| panic!("{e}\n{text}"));
    model.expose = Expose::All;
    model
}

/// A spatial chain of `n` bars with joints of the kinds in turn.
pub fn chain(kinds: &[&str], n: usize) -> String {
    let mut t = String::from("format = 1\nname = \"chain\"\ngravity = [0.0, 0.0, -9.81]\n");
    for i in 0..n {
        let x = i as f64 * 0.4 + 0.2;
        write!(
            t,
            "[[body]]\nname = \"b{i}\"\nmass = {}\ninertia = [0.01, 0.02, 0.025]\nposition = [{x}, 0.0, 0.0]\n",
            1.0 + 0.3 * i as f64
        )
        .unwrap();
    }
    for i in 0..n {
        let before = if i == 0 {
            "ground".to_string()
        } else {
            format!("b{}", i - 1)
        };
        let kind = kinds[i % kinds.len()];
        let axes = match kind {
            "universal" => "axes = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]\n",
            "spherical" => "",
            _ => "axis = [0.2, 1.0, 0.3]\n",
        };
        write!(
            t,
            "[[joint]]\nname = \"j{i}\"\ntype = \"{kind}\"\nbodies = [\"{before}\", \"b{i}\"]\npoint = [{}, 0.0, 0.0]\n{axes}",
            i as f64 * 0.4
        )
        .unwrap();
    }
    t
}

/// A crank that drives a rocker through a rod with balls at both ends, in space.
pub const RSSR: &str = r#"
format = 1
name = "rssr"
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "crank"
mass = 1.0
inertia = [0.01, 0.01, 0.01]
position = [0.1, 0.0, 0.0]
angular_velocity = [0.0, 0.0, 4.0]
velocity = [0.0, 0.4, 0.0]
[[body]]
name = "rod"
mass = 0.7
inertia = [0.02, 0.02, 0.02]
position = [0.5, 0.2, 0.2]
[[body]]
name = "rocker"
mass = 1.3
inertia = [0.02, 0.02, 0.02]
position = [0.9, 0.4, 0.2]
[[joint]]
name = "drive"
type = "revolute"
bodies = ["ground", "crank"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "first"
type = "spherical"
bodies = ["crank", "rod"]
point = [0.2, 0.0, 0.0]
[[joint]]
name = "second"
type = "universal"
bodies = ["rod", "rocker"]
point = [0.8, 0.4, 0.4]
axes = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
[[joint]]
name = "hinge"
type = "revolute"
bodies = ["ground", "rocker"]
point = [1.0, 0.4, 0.0]
axis = [0.0, 1.0, 0.0]
"#;

/// A slider-crank whose rod has no mass: the loop says how it moves.
pub fn massless() -> Model {
    let mut model = file("slider_crank.toml");
    let rod = model
        .bodies
        .iter_mut()
        .find(|body| body.name == "rod")
        .unwrap();
    (rod.mass, rod.inertia) = (0.0, [0.0; 6]);
    model
}

/// A tree with a slide, a screw, a planar and a cylindrical joint, a spring and a damper, a motor.
pub const BRANCHES: &str = r#"
format = 1
name = "branches"
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "base"
mass = 5.0
inertia = [0.2, 0.2, 0.2]
position = [0.0, 0.0, 0.5]
angular_velocity = [0.0, 0.0, 1.0]
[[body]]
name = "nut"
mass = 1.0
inertia = [0.02, 0.03, 0.04]
position = [0.3, 0.0, 0.5]
[[body]]
name = "sleeve"
mass = 0.8
inertia = [0.02, 0.03, 0.04]
position = [0.0, 0.4, 0.5]
[[body]]
name = "plate"
mass = 0.8
inertia = [0.02, 0.03, 0.04]
position = [0.0, -0.4, 0.6]
[[joint]]
name = "post"
type = "revolute"
bodies = ["base", "ground"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "thread"
type = "screw"
bodies = ["base", "nut"]
point = [0.25, 0.0, 0.5]
axis = [0.0, 0.0, 1.0]
pitch = 0.5
[[joint]]
name = "guide"
type = "cylindrical"
bodies = ["base", "sleeve"]
point = [0.0, 0.3, 0.5]
axis = [0.0, 1.0, 0.2]
[[joint]]
name = "table"
type = "planar"
bodies = ["plate", "base"]
point = [0.0, -0.3, 0.6]
axis = [0.1, 0.0, 1.0]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["base", "sleeve"]
points = [[0.0, 0.0, 0.1], [0.0, 0.0, 0.0]]
stiffness = 200.0
damping = 3.0
length = 0.4
[[force]]
name = "tie"
type = "spring_damper"
bodies = ["base", "plate"]
points = [[0.0, 0.0, 0.1], [0.0, 0.1, 0.0]]
stiffness = 150.0
damping = 1.0
length = 0.3
"#;

/// A parallelogram in space: four pins with parallel axes leave rows that follow from others.
pub const REDUNDANT: &str = r#"
format = 1
name = "parallelogram"
gravity = [0.0, -9.81, 0.0]
[[body]]
name = "left"
mass = 1.0
inertia = [0.01, 0.08, 0.08]
position = [0.3, 0.4, 0.0]
angular_velocity = [0.0, 0.0, 1.0]
velocity = [-0.4, 0.3, 0.0]
[[body]]
name = "right"
mass = 1.0
inertia = [0.01, 0.08, 0.08]
position = [1.3, 0.4, 0.0]
angular_velocity = [0.0, 0.0, 1.0]
velocity = [-0.4, 0.3, 0.0]
[[body]]
name = "top"
mass = 2.0
inertia = [0.01, 0.1, 0.1]
position = [1.1, 0.8, 0.0]
velocity = [-0.8, 0.6, 0.0]
[[joint]]
name = "a"
type = "revolute"
bodies = ["ground", "left"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "b"
type = "revolute"
bodies = ["ground", "right"]
point = [1.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "c"
type = "revolute"
bodies = ["left", "top"]
point = [0.6, 0.8, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "d"
type = "revolute"
bodies = ["top", "right"]
point = [1.6, 0.8, 0.0]
axis = [0.0, 0.0, 1.0]
"#;

/// A crank driven at constant speed, a rod and a slider; a free body on a spring beside it.
pub const DRIVEN: &str = r#"
format = 1
name = "driven"
dimension = 2
gravity = [0.0, -9.81]
[[body]]
name = "crank"
mass = 1.0
inertia = 0.01
position = [0.1, 0.0]
[[body]]
name = "rod"
mass = 1.0
inertia = 0.05
position = [0.5, 0.0]
[[body]]
name = "slider"
mass = 0.5
inertia = 0.01
position = [0.8, 0.0]
[[body]]
name = "bob"
mass = 0.5
inertia = 0.01
position = [0.5, -0.5]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "crank"]
point = [0.0, 0.0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["crank", "rod"]
point = [0.2, 0.0]
[[joint]]
name = "wrist"
type = "revolute"
bodies = ["rod", "slider"]
point = [0.8, 0.0]
[[joint]]
name = "guide"
type = "prismatic"
bodies = ["ground", "slider"]
point = [0.8, 0.0]
axis = [1.0, 0.0]
[[force]]
name = "spring"
type = "spring_damper"
bodies = ["rod", "bob"]
points = [[0.0, 0.0], [0.05, 0.0]]
stiffness = 50.0
damping = 0.5
length = 0.4
[[motion]]
name = "drive"
joint = "pivot"
law = "constant_speed"
speed = 6.0
"#;

/// A heavy body on a ball, spinning.
pub const TOP: &str = r#"
format = 1
name = "top"
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "rotor"
mass = 2.0
inertia = [0.02, 0.02, 0.03]
position = [0.2, 0.0, 0.3]
orientation = [0.9, 0.0, 0.43588989435406733, 0.0]
angular_velocity = [3.0, 0.0, 20.0]
[[joint]]
name = "ball"
type = "spherical"
bodies = ["ground", "rotor"]
point = [0.0, 0.0, 0.0]
"#;

/// Two hinges of which one would do, on a slanting axis: in joint coordinates the rows of the second are rounding.
pub const DOOR: &str = r#"
format = 1
name = "door"
gravity = [0.0, 2.0, -9.81]
[[body]]
name = "door"
mass = 10.0
inertia = [1.0, 2.0, 1.5]
position = [0.5, 0.0, 0.0]
[[joint]]
name = "upper"
type = "revolute"
bodies = ["ground", "door"]
point = [0.06, 0.12, 0.6]
axis = [0.1, 0.2, 1.0]
[[joint]]
name = "lower"
type = "revolute"
bodies = ["ground", "door"]
point = [-0.05, -0.1, -0.5]
axis = [0.1, 0.2, 1.0]
"#;

/// A slider-crank drawn in space with pins: three rows too many; what the drive pushes with is shared out too.
pub const SPATIAL_DRIVEN: &str = r#"
format = 1
name = "driven_in_space"
gravity = [0.0, -9.81, 0.0]
[[body]]
name = "crank"
mass = 1.0
inertia = [0.001, 0.01, 0.01]
position = [0.1, 0.0, 0.0]
[[body]]
name = "rod"
mass = 1.0
inertia = [0.001, 0.05, 0.05]
position = [0.5, 0.0, 0.0]
[[body]]
name = "slider"
mass = 0.5
inertia = [0.01, 0.01, 0.01]
position = [0.8, 0.0, 0.0]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "crank"]
point = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["crank", "rod"]
point = [0.2, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "wrist"
type = "revolute"
bodies = ["rod", "slider"]
point = [0.8, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
[[joint]]
name = "guide"
type = "prismatic"
bodies = ["ground", "slider"]
point = [0.8, 0.0, 0.0]
axis = [1.0, 0.0, 0.0]
[[motion]]
name = "drive"
joint = "pivot"
law = "constant_speed"
speed = 6.0
"#;

/// Two bars that fall; the end of the second one touches down and slides.
pub const ARM: &str = r#"
format = 1
name = "arm"
dimension = 2
gravity = [0.0, -9.81]
[[body]]
name = "upper"
mass = 1.0
inertia = 0.08
position = [0.5, 0.0]
[[body]]
name = "lower"
mass = 0.5
inertia = 0.04
position = [1.5, 0.0]
[[joint]]
name = "shoulder"
type = "revolute"
bodies = ["ground", "upper"]
point = [0.0, 0.0]
[[joint]]
name = "elbow"
type = "revolute"
bodies = ["upper", "lower"]
point = [1.0, 0.0]
[[force]]
name = "floor"
type = "contact"
bodies = ["ground", "lower"]
plane = { point = [0.0, -1.2], normal = [0.0, 1.0] }
point = [0.5, 0.0]
radius = 0.05
stiffness = 4000.0
damping = 20.0
friction = { kinetic = 0.2, stiction_velocity = 0.1 }
"#;

/// A spinning ball falls on a floor that gives way and hops on.
pub const BALL: &str = r#"
format = 1
name = "ball"
gravity = [0.0, 0.0, -9.81]
[[body]]
name = "ball"
mass = 1.0
inertia = [0.004, 0.005, 0.006]
position = [0.0, 0.0, 0.6]
velocity = [0.5, 0.2, 0.0]
angular_velocity = [3.0, 8.0, -2.0]
[[force]]
name = "floor"
type = "contact"
bodies = ["ground", "ball"]
plane = { point = [0.0, 0.0, 0.0], normal = [0.0, 0.1, 1.0] }
radius = 0.1
stiffness = 5000.0
damping = 10.0
friction = { kinetic = 0.3, stiction_velocity = 0.1 }
"#;

/// The four-bar with end stops and friction in the pin of its rocker.
pub fn stopped() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/four_bar.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let at = text.find("name = \"D\"").expect("the rocker's pin");
    let (before, after) = text.split_at(at);
    format!(
        "{before}limits = [1.75, 1.95]\nstiffness = 500.0\ndamping = 2.0\nfriction = {{ kinetic = 0.5, stiction_velocity = 0.2 }}\n{after}"
    )
}

pub fn mechanisms() -> Vec<(&'static str, Model)> {
    vec![
        ("pendulum", file("pendulum.toml")),
        ("double pendulum", file("double_pendulum.toml")),
        ("four-bar", file("four_bar.toml")),
        ("slider-crank", file("slider_crank.toml")),
        (
            "chain of pins and balls",
            text(&chain(&["revolute", "spherical"], 4)),
        ),
        ("chain of crosses", text(&chain(&["universal"], 3))),
        ("crank and rocker in space", text(RSSR)),
        ("rod without mass", massless()),
        ("branches", text(BRANCHES)),
        ("redundant parallelogram", text(REDUNDANT)),
        ("driven slider-crank and a free body", text(DRIVEN)),
        ("top", text(TOP)),
        ("door on two hinges", text(DOOR)),
        ("redundant driven slider-crank", text(SPATIAL_DRIVEN)),
        (
            "slider and ball in space",
            file("spatial_slider_crank.toml"),
        ),
        ("cam and follower in contact", file("cam_follower.toml")),
        ("arm that hits the floor", text(ARM)),
        ("ball on the floor", text(BALL)),
        ("four-bar against its stops", text(&stopped())),
    ]
}
