//! Every force element against differences, in the plane and in space: forces, their derivatives by q and v, the rates of
//! event functions, and the power against the rate of the energy.

use biela::formulation::absolute::{PlanarAbsolute, SpatialAbsolute};
use biela::formulation::derivative_check::{DerivativeCheck, check};
use biela::formulation::{EvaluationContext, Mechanism, MotionPoint};
use biela::linalg::random::Random;
use biela::model::Model;

const PLANE: &str = r#"format = 1
name = "plane"
dimension = 2
gravity = [0.3, -9.81]
[[body]]
name = "a"
mass = 1.5
inertia = 0.3
position = [0.1, 0.2]
angle = 0.3
center_of_mass = [0.1, -0.05]
[[body]]
name = "b"
mass = 0.7
inertia = 0.2
position = [0.9, 0.4]
angle = -0.6
center_of_mass = [-0.07, 0.02]
[[joint]]
name = "pin"
type = "revolute"
bodies = ["a", "b"]
point = [0.5, 0.3]
"#;

const SPACE: &str = r#"format = 1
name = "space"
gravity = [0.3, -0.2, -9.81]
[[body]]
name = "a"
mass = 1.5
inertia = [0.3, 0.4, 0.5]
position = [0.1, 0.2, -0.1]
rotation = { axis = [1, 2, -1], angle = 0.7 }
center_of_mass = [0.1, -0.05, 0.2]
[[body]]
name = "b"
mass = 0.7
inertia = [0.2, 0.25, 0.3]
position = [0.9, 0.4, 0.3]
rotation = { axis = [-1, 0.5, 1], angle = 0.5 }
center_of_mass = [-0.07, 0.02, 0.05]
[[joint]]
name = "pin"
type = "cylindrical"
bodies = ["a", "b"]
point = [0.5, 0.3, 0.1]
axis = [0.2, 0.1, 1]
"#;

/// The elements of the plane: text and by how much bodies are moved from the drawing.
const IN_PLANE: &[(&str, &str)] = &[
    (
        "spring with laws",
        r#"type = "spring_damper"
bodies = ["a", "b"]
points = [[0.1, 0.2], [0.0, 0.3]]
stiffness = { polynomial = [1.0, 30.0, -4.0, 200.0] }
damping = { table = [[-2, -9], [-0.5, -1], [0.7, 2], [3, 11]] }
length = 0.4
preload = 3.0"#,
    ),
    (
        "rope",
        r#"type = "spring_damper"
bodies = ["ground", "b"]
points = [[0.1, -2.0], [0.0, 0.3]]
stiffness = 50
damping = 0.2
length = 0.3
only = "tension""#,
    ),
    (
        "one-axis spring in pieces",
        r#"type = "spring_damper"
bodies = ["a", "b"]
points = [[0.1, 0.2], [0.0, 0.3]]
direction = [1, 2]
stiffness = { pieces = [{ below = 0.1, polynomial = [0, 40, 3] }, { polynomial = [3, 60] }] }
damping = { pieces = [{ below = 0, polynomial = [0, 2] }, { polynomial = [0, 5, 1] }] }
length = 0.1"#,
    ),
    (
        "actuator between points",
        r#"type = "actuator"
bodies = ["a", "b"]
points = [[0.1, 0.2], [0.0, 0.3]]
force = 7.0"#,
    ),
    (
        "actuator in a joint",
        r#"type = "actuator"
joint = "pin"
torque = 3.0"#,
    ),
    (
        "torsion spring",
        r#"type = "torsion_spring"
joint = "pin"
stiffness = { polynomial = [0, 3, 0, 2] }
damping = 0.4
angle = 7.0"#,
    ),
    (
        "servo",
        r#"type = "servo"
joint = "pin"
control = 0.7
gain = 4.0
bias = [0.5, -3.0, -0.8]
control_limits = [-2.0, 2.0]
limits = [-30.0, 30.0]"#,
    ),
    (
        "force in ground axes",
        r#"type = "force"
body = "b"
point = [0.2, 0.4]
force = [3, -2]"#,
    ),
    (
        "force in body axes",
        r#"type = "force"
body = "b"
point = [0.2, 0.4]
force = [3, -2]
frame = "body""#,
    ),
    (
        "torque",
        r#"type = "torque"
body = "b"
torque = 3"#,
    ),
    (
        "bushing",
        r#"type = "bushing"
bodies = ["a", "b"]
point = [0.6, 0.4]
axis = [1, 1]
stiffness = [40, 70, 5]
damping = [2, 1, 0.3]"#,
    ),
    (
        "bushing in frames",
        r#"type = "bushing"
bodies = ["a", "b"]
at = [{ point = [0.1, 0.2], axis = [1, 0.5] }, { point = [-0.2, 0.1] }]
stiffness = [40, 70, 5]
damping = [2, 1, 0.3]"#,
    ),
    (
        "tyre",
        r#"type = "tyre"
body = "b"
point = [0.1, 0.1]
radius = 2.5
stiffness = 300
damping = 4
profile = { polynomial = [0.1, 0.2, -0.3] }
speed = 1.5
height = 0.1"#,
    ),
    (
        "tyre on pieces on a body",
        r#"type = "tyre"
road = "a"
body = "b"
point = [0.1, 0.1]
radius = 2.5
stiffness = { polynomial = [0, 300, 50] }
damping = 4
up = [0, 1]
profile = { pieces = [{ below = 0.2, polynomial = [0.1, 0.2, -0.3] }, { polynomial = [0.5] }] }"#,
    ),
    (
        "contact with a plane",
        r#"type = "contact"
bodies = ["a", "b"]
plane = { point = [0.1, 0.3], normal = [0.2, 1] }
point = [0.1, 0.05]
radius = 2.4
stiffness = 300
damping = 6
friction = { kinetic = 0.3, static = 0.4, stiction_velocity = 0.5, viscous = 0.1 }"#,
    ),
    (
        "discs after Hunt and Crossley",
        r#"type = "contact"
bodies = ["a", "b"]
sphere = { point = [0.1, 0.3], radius = 1.0 }
point = [0.1, 0.05]
radius = 2.0
law = "hunt_crossley"
stiffness = 300
damping = 0.1
friction = { kinetic = 0.3, stiction_velocity = 0.5 }"#,
    ),
    (
        "disc on a smooth outline",
        r#"type = "contact"
bodies = ["a", "b"]
curve = { points = [[-4, -1.0], [-2, -0.3], [0, 0], [2, -0.4], [4, -1.1]], smooth = true, depth = 4 }
point = [0.1, 0.05]
radius = 2.5
stiffness = 300
damping = 0.1
friction = { kinetic = 0.3, stiction_velocity = 0.5 }"#,
    ),
    (
        "disc in a corner",
        r#"type = "contact"
bodies = ["a", "b"]
curve = { points = [[-4, 1.5], [0, 0], [4, 1]], depth = 4 }
point = [0.1, 0.05]
radius = 2.5
stiffness = 300
damping = 0.1
friction = { kinetic = 0.3, stiction_velocity = 0.5 }"#,
    ),
];

const IN_SPACE: &[(&str, &str)] = &[
    (
        "spring with laws",
        r#"type = "spring_damper"
bodies = ["a", "b"]
points = [[0.1, 0.2, 0.0], [0.0, 0.3, -0.2]]
stiffness = { polynomial = [1.0, 30.0, -4.0, 200.0] }
damping = { table = [[-2, -9], [-0.5, -1], [0.7, 2], [3, 11]] }
length = 0.4
preload = 3.0"#,
    ),
    (
        "one-axis buffer",
        r#"type = "spring_damper"
bodies = ["a", "b"]
points = [[0.1, 0.2, 0.1], [0.0, 0.3, 0.3]]
direction = [1, 2, -1]
stiffness = { pieces = [{ below = 0.1, polynomial = [0, 40, 3] }, { polynomial = [3, 60] }] }
damping = { pieces = [{ below = 0, polynomial = [0, 2] }, { polynomial = [0, 5, 1] }] }
length = 3.0
only = "compression""#,
    ),
    (
        "actuator between points",
        r#"type = "actuator"
bodies = ["a", "b"]
points = [[0.1, 0.2, 0.3], [0.0, 0.3, -0.1]]
force = 7.0"#,
    ),
    (
        "torsion spring",
        r#"type = "torsion_spring"
joint = "pin.position1"
stiffness = { polynomial = [0, 3, 0, 2] }
damping = 0.4
angle = 7.0"#,
    ),
    (
        "spring along a joint",
        r#"type = "spring_damper"
joint = "pin.position2"
stiffness = 40
damping = 3"#,
    ),
    (
        "force in ground axes",
        r#"type = "force"
body = "b"
point = [0.2, 0.4, 0.1]
force = [3, -2, 1]"#,
    ),
    (
        "force in body axes",
        r#"type = "force"
body = "b"
point = [0.2, 0.4, 0.1]
force = [3, -2, 1]
frame = "body""#,
    ),
    (
        "torque in ground axes",
        r#"type = "torque"
body = "b"
torque = [3, -1, 2]"#,
    ),
    (
        "torque in body axes",
        r#"type = "torque"
body = "b"
torque = [3, -1, 2]
frame = "body""#,
    ),
    (
        "bushing",
        r#"type = "bushing"
bodies = ["a", "b"]
point = [0.6, 0.4, 0.1]
axis = [1, 1, 0]
across = [0, 0, 1]
stiffness = [40, 70, 55, 5, 7, 9]
damping = [2, 1, 3, 0.3, 0.1, 0.2]"#,
    ),
    (
        "bushing in frames",
        r#"type = "bushing"
bodies = ["a", "b"]
at = [{ point = [0.1, 0.2, 0], axis = [1, 0.5, 0] }, { point = [-0.2, 0.1, 0.1] }]
stiffness = [40, 70, 55, 5, 7, 9]
damping = [2, 1, 3, 0.3, 0.1, 0.2]"#,
    ),
    (
        "tyre",
        r#"type = "tyre"
body = "b"
point = [0.1, 0.1, 0]
radius = 2.5
stiffness = 300
damping = 4
profile = { polynomial = [0.1, 0.2, -0.3] }
speed = 1.5
height = 0.1"#,
    ),
    (
        "tyre on a body",
        r#"type = "tyre"
road = "a"
body = "b"
point = [0.1, 0.1, 0.1]
radius = 3.5
stiffness = { polynomial = [0, 300, 50] }
damping = 4
up = [0, 0.2, 1]
forward = [1, 1, 0]
profile = { table = [[-3, 0.1], [-1, 0], [0.5, 0.3], [2, 0.2], [4, 0]] }"#,
    ),
    (
        "contact with a plane",
        r#"type = "contact"
bodies = ["a", "b"]
plane = { point = [0.1, 0.3, 0.2], normal = [0.2, 1, -0.3] }
point = [0.1, 0.05, 0]
radius = 3.4
stiffness = 300
damping = 6
friction = { kinetic = 0.3, static = 0.4, stiction_velocity = 0.5, viscous = 0.1 }"#,
    ),
    (
        "balls after Hunt and Crossley",
        r#"type = "contact"
bodies = ["a", "b"]
sphere = { point = [0.1, 0.3, 0.1], radius = 1.0 }
point = [0.1, 0.05, 0]
radius = 2.5
law = "hunt_crossley"
exponent = 1.8
stiffness = 300
damping = 0.1
friction = { kinetic = 0.3, stiction_velocity = 0.5 }"#,
    ),
    (
        "ball on the ground",
        r#"type = "contact"
bodies = ["ground", "b"]
plane = { normal = [0, 0, 1] }
radius = 3.0
stiffness = 300
damping = 6
friction = { kinetic = 0.3, stiction_velocity = 0.5 }"#,
    ),
];

/// Looks at a system at some configurations near its start.
fn look<S: Mechanism>(name: &str, system: &S, rounds: usize, seed: u64) {
    look_in(name, system, rounds, seed, false);
}

/// The same with every one-sided row held, whatever its gap.
fn look_held<S: Mechanism>(name: &str, system: &S, rounds: usize, seed: u64) {
    look_in(name, system, rounds, seed, true);
}

fn look_in<S: Mechanism>(name: &str, system: &S, rounds: usize, seed: u64, held: bool) {
    let size = system.dimensions();
    let mut random = Random::new(seed);
    let (mut start, mut v0) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    system.initial_state(&mut start, &mut v0);
    for round in 0..rounds {
        let mut q = start.clone();
        system.retract(&start, &random.vector(size.nv, 0.3), &mut q);
        let v = random.vector(size.nv, 1.0);
        let mut modes = vec![0; size.modes];
        let still = EvaluationContext {
            t: 0.3,
            u: &[],
            u_dot: &[],
            u_ddot: &[],
            p: &[],
            modes: &[],
            integrals: &[],
        };
        if held {
            modes.fill(1);
        } else {
            system.initial_modes(&still, &q, &v, &mut modes);
        }
        let cx = EvaluationContext {
            modes: &modes,
            ..still
        };
        let (a, lambda) = (random.vector(size.nv, 3.0), random.vector(size.nc, 3.0));
        let at = MotionPoint {
            q: &q,
            v: &v,
            a: &a,
            lambda: &lambda,
        };
        if let Err(text) = check(system, &cx, &at, &DerivativeCheck::default()) {
            panic!("{name}, round {round}, modes {modes:?}:\n{text}");
        }
        look_at_bounds(name, system, &cx, &at);
    }
}

/// The second derivatives of event functions along the motion, as differences of their rates, against the bounds that are stated.
fn look_at_bounds<S: Mechanism>(name: &str, system: &S, cx: &EvaluationContext, at: &MotionPoint) {
    let size = system.dimensions();
    let mut bound = vec![0.0; size.ne];
    system.event_curvature(cx, at, &mut bound);
    let e = 1e-5;
    let rates = [1.0, -1.0].map(|sign: f64| {
        let (mut q, mut phi, mut rate) = (at.q.to_vec(), vec![0.0; size.ne], vec![0.0; size.ne]);
        let way = |k: usize| e * (sign * at.v[k] + 0.5 * e * at.a[k]);
        let way: Vec<f64> = (0..size.nv).map(way).collect();
        system.retract(at.q, &way, &mut q);
        let v: Vec<f64> = (0..size.nv).map(|k| at.v[k] + sign * e * at.a[k]).collect();
        let there = MotionPoint {
            q: &q,
            v: &v,
            ..*at
        };
        let cx = EvaluationContext {
            t: cx.t + sign * e,
            ..*cx
        };
        system.event_functions(&cx, &there, &mut phi, &mut rate);
        rate
    });
    for i in 0..size.ne {
        let second = (rates[0][i] - rates[1][i]) / (2.0 * e);
        // The difference is good to e² and to rounding over e.
        if bound[i].is_finite() && second.is_finite() {
            assert!(
                second.abs() <= bound[i] + 1e-6,
                "{name}, event {i}: {second} > {}",
                bound[i]
            );
        }
    }
}

fn model(head: &str, element: &str) -> Model {
    let text = format!("{head}\n[[force]]\nname = \"element\"\n{element}\n");
    Model::from_text(&text, "element").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[test]
fn every_force_of_the_plane_has_the_derivatives_and_the_energy_it_says() {
    for (k, (name, element)) in IN_PLANE.iter().enumerate() {
        let model = model(PLANE, element);
        model.validate().unwrap();
        look(name, &PlanarAbsolute::new(&model).unwrap(), 4, 3 + k as u64);
    }
}

#[test]
fn every_force_of_space_has_the_derivatives_and_the_energy_it_says() {
    for (k, (name, element)) in IN_SPACE.iter().enumerate() {
        let model = model(SPACE, element);
        model.validate().unwrap();
        look(
            name,
            &SpatialAbsolute::new(&model).unwrap(),
            4,
            5 + k as u64,
        );
    }
}

/// Rigid contacts: their constraints, gaps and Coulomb friction while closed.
#[test]
fn rigid_contacts_and_joint_limits_have_the_derivatives_they_say() {
    let rest = "restitution = 0.5\nfriction = { kinetic = 0.3, static = 0.4, stiction_velocity = 0.5, viscous = 0.1 }";
    let circle: Vec<String> = (0..12)
        .map(|k| (0.52 * f64::from(k)).sin_cos())
        .map(|(s, c)| format!("[{:.3}, {:.3}]", 0.3 * c, 0.2 * s))
        .collect();
    let outline = format!(
        "curve = {{ points = [{}], closed = true, smooth = true }}",
        circle.join(", ")
    );
    let plane = [
        "plane = { point = [0.1, -4.0], normal = [0.2, 1] }\nradius = 0.1",
        "sphere = { point = [0.1, 0.3], radius = 0.1 }\npoint = [0.1, 0.05]",
        &outline,
    ];
    let space = [
        "plane = { point = [0.1, 0.3, -4.0], normal = [0.2, -0.3, 1] }\nradius = 0.1",
        "sphere = { point = [0.1, 0.3, 0.1], radius = 0.1 }\npoint = [0.1, 0.05, 0]",
    ];
    for (k, surface) in plane.iter().enumerate() {
        let element = format!("type = \"contact\"\nbodies = [\"a\", \"b\"]\n{surface}\n{rest}");
        let model = model(PLANE, &element);
        look_held(
            surface,
            &PlanarAbsolute::new(&model).unwrap(),
            4,
            31 + k as u64,
        );
    }
    for (k, surface) in space.iter().enumerate() {
        let element = format!("type = \"contact\"\nbodies = [\"a\", \"b\"]\n{surface}\n{rest}");
        let model = model(SPACE, &element);
        look_held(
            surface,
            &SpatialAbsolute::new(&model).unwrap(),
            4,
            41 + k as u64,
        );
    }
    let text = PLANE.to_owned() + "limits = [-2, 3]\nrestitution = 0.5\n";
    let plane = Model::from_text(&text, "plane").unwrap_or_else(|e| panic!("{e}"));
    look_held(
        "rigid stops of a pin",
        &PlanarAbsolute::new(&plane).unwrap(),
        4,
        51,
    );
    let text = SPACE.to_owned() + "limits = [[], [-2, 3]]\nrestitution = 0.5\n";
    let space = Model::from_text(&text, "space").unwrap_or_else(|e| panic!("{e}"));
    look_held(
        "rigid stops of a cylinder",
        &SpatialAbsolute::new(&space).unwrap(),
        4,
        52,
    );
}

#[test]
fn friction_and_limits_in_joints_have_the_derivatives_and_the_energy_they_say() {
    let of_one = r#"limits = [-0.2, 0.1]
stiffness = 50
damping = 2
friction = { kinetic = 2, static = 3, stiction_velocity = 0.5, viscous = 0.2 }
"#;
    let of_two = r#"limits = [[], [-0.05, 0.02]]
stiffness = 50
damping = 2
friction = [{ kinetic = 2, static = 3, stiction_velocity = 0.5, viscous = 0.2 }, {}]
"#;
    let text = PLANE.to_owned() + of_one;
    let plane = Model::from_text(&text, "plane").unwrap_or_else(|e| panic!("{e}"));
    look(
        "a pin of the plane",
        &PlanarAbsolute::new(&plane).unwrap(),
        8,
        7,
    );
    let text = SPACE.to_owned() + of_two;
    let space = Model::from_text(&text, "space").unwrap_or_else(|e| panic!("{e}"));
    look(
        "a cylindrical joint",
        &SpatialAbsolute::new(&space).unwrap(),
        8,
        9,
    );
}
