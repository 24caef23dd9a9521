//! Random mechanisms: a seed gives one, the same everywhere.
//!
//! One to six bodies in the plane or in space, a tree of joints of all types, perhaps closed loops, springs and dampers over six
//! decades, masses over four, prescribed motions, gravity, and velocities that the assembly makes consistent. Numbers have six
//! digits: the mechanism does not depend on the last bit of a logarithm, and its file can be read.

use serde_json::{Map, Value, json};

use crate::common::Random;

/// Highest circular frequency of a spring and highest rate of a damper on the bodies it joins (1/s): stiffness and damping are
/// drawn over six decades and cut there, so that the references of a second take seconds and not hours.
const HIGHEST_FREQUENCY: f64 = 1e3;
const HIGHEST_RATE: f64 = 1e4;
/// Speed that a spring may give to the bodies it joins (m/s, rad/s): stiff springs start near their rest length. Three springs in
/// ten start anywhere, and are no stiffer than [`WILD_STIFFNESS`] (N/m).
const HIGHEST_SPEED: f64 = 5.0;
const WILD_STIFFNESS: f64 = 1e4;

/// What a mechanism has, for the log.
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// 2 or 3.
    pub dimension: usize,
    /// Bodies.
    pub bodies: usize,
    /// Joints that close a loop.
    pub loops: usize,
    /// Degrees of freedom by counting constraints.
    pub freedoms: i64,
    /// Whether a joint is driven.
    pub driven: bool,
}

/// The mechanism of a seed, as a model in JSON.
pub fn random_mechanism(seed: u64) -> (Value, Features) {
    draw(seed, false)
}

/// An odd mechanism: bodies fixed to each other and to the ground, loops between them that restrict nothing, more constraints
/// than degrees of freedom, all joints driven. Some cannot move, some contradict themselves; none may panic.
pub fn odd_mechanism(seed: u64) -> (Value, Features) {
    draw(seed, true)
}

fn draw(seed: u64, odd: bool) -> (Value, Features) {
    let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x0062_6965_6c61);
    let dimension = 2 + random.below(2) as usize;
    let bodies = pick(&mut random, &[1, 2, 2, 3, 3, 4, 5, 6]);
    let mut draft = Draft {
        random,
        odd,
        features: Features {
            dimension,
            bodies,
            ..Features::default()
        },
        names: vec!["ground".to_string()],
        centres: vec![vec![0.0; dimension]],
        inertias: vec![(f64::INFINITY, 1.0)],
        bodies: Vec::new(),
        joints: Vec::new(),
        forces: Vec::new(),
        motions: Vec::new(),
    };
    for i in 0..bodies {
        draft.add_body(i);
    }
    draft.close_loops();
    draft.add_springs();
    draft.drive_a_joint();
    draft.model(seed)
}

/// Constraints of a joint in plane and in space.
fn constraints(kind: &str, dimension: usize) -> i64 {
    let (plane, space) = match kind {
        "fixed" => (3, 6),
        "revolute" | "prismatic" => (2, 5),
        "point_on_line" => (1, 2),
        "distance" => (1, 1),
        "cylindrical" | "universal" => (0, 4),
        "spherical" | "planar" => (0, 3),
        "screw" => (0, 5),
        other => unreachable!("joint {other}"),
    };
    if dimension == 2 { plane } else { space }
}

/// A mechanism under construction. Body 0 is the ground.
struct Draft {
    random: Random,
    odd: bool,
    features: Features,
    names: Vec<String>,
    centres: Vec<Vec<f64>>,
    /// Mass (kg) and radius of gyration (m).
    inertias: Vec<(f64, f64)>,
    bodies: Vec<Value>,
    joints: Vec<Value>,
    forces: Vec<Value>,
    motions: Vec<Value>,
}

impl Draft {
    /// A vector of random direction and a length between the bounds.
    fn vector(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        loop {
            // Uniform in the cube, kept inside the sphere: every direction is as likely.
            let v: Vec<f64> = (0..n).map(|_| self.random.between(-1.0, 1.0)).collect();
            let size = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (0.05..1.0).contains(&size) {
                let length = self.random.between(low, high);
                return v.iter().map(|x| digits(x * length / size)).collect();
            }
        }
    }

    fn size(&mut self, low: f64, high: f64) -> Vec<f64> {
        self.vector(self.features.dimension, low, high)
    }

    fn decade(&mut self, low: f64, high: f64) -> f64 {
        digits(10f64.powf(self.random.between(low, high)))
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        digits(self.random.between(low, high))
    }

    /// A body joined to the ground or to one of the last two bodies.
    fn add_body(&mut self, i: usize) {
        let dimension = self.features.dimension;
        let mut parents = vec![0];
        parents.extend((1..=i).rev().take(2));
        let parent = pick(&mut self.random, &parents);
        let point = if parent == 0 {
            self.size(0.0, 1.0)
        } else {
            let lever = self.size(0.2, 1.0);
            sum(&self.centres[parent], &lever)
        };
        let lever = self.size(0.2, 1.0);
        let centre = sum(&point, &lever);
        let kinds: &[&str] = match dimension {
            2 => &[
                "revolute",
                "revolute",
                "revolute",
                "revolute",
                "prismatic",
                "fixed",
                "point_on_line",
            ],
            _ => &[
                "revolute",
                "revolute",
                "revolute",
                "revolute",
                "revolute",
                "prismatic",
                "fixed",
                "spherical",
                "universal",
                "cylindrical",
                "screw",
                "planar",
            ],
        };
        let mut kind = pick(&mut self.random, kinds);
        if kind == "fixed" && self.features.bodies == 1 {
            kind = "revolute";
        }
        if self.odd && self.random.unit() < 0.4 {
            kind = "fixed";
        }
        let body = self.body(i, &centre);
        self.bodies.push(body);
        self.names.push(format!("b{i}"));
        self.centres.push(centre);
        let joint = self.joint(kind, &format!("j{i}"), [parent, i + 1], &point);
        self.joints.push(joint);
        let free = if dimension == 2 { 3 } else { 6 };
        self.features.freedoms += free - constraints(kind, dimension);
    }

    fn body(&mut self, i: usize, centre: &[f64]) -> Value {
        let mass = self.decade(-2.0, 2.0);
        let gyration = self.decade(-1.3, 0.0);
        let moment = mass * gyration * gyration;
        self.inertias.push((mass, gyration));
        let velocity = self.size(0.0, 3.0);
        let mut body = json!({"name": format!("b{i}"), "mass": mass, "position": centre, "velocity": velocity});
        if self.features.dimension == 2 {
            body["inertia"] = json!(digits(moment));
            body["angle"] = json!(self.between(-3.0, 3.0));
            body["angular_velocity"] = json!(self.between(-5.0, 5.0));
        } else {
            // Second moments of a body along its axes: their sums satisfy the triangle inequality.
            let [a, b, c] = [0; 3].map(|_| moment * self.random.between(0.05, 1.0));
            body["inertia"] = json!([digits(b + c), digits(a + c), digits(a + b)]);
            body["orientation"] = json!(self.vector(4, 1.0, 1.0));
            body["angular_velocity"] = json!(self.vector(3, 0.0, 5.0));
        }
        body
    }

    fn joint(&mut self, kind: &str, name: &str, bodies: [usize; 2], point: &[f64]) -> Value {
        let dimension = self.features.dimension;
        let mut joint =
            json!({"name": name, "type": kind, "bodies": bodies.map(|i| self.names[i].clone())});
        if kind == "distance" {
            let offset = self.size(0.0, 0.3);
            let first = if bodies[0] == 0 {
                sum(point, &offset)
            } else {
                offset
            };
            joint["points"] = json!([first, self.size(0.0, 0.3)]);
            return joint;
        }
        joint["point"] = json!(point);
        let axis = self.size(1.0, 1.0);
        match kind {
            "universal" => {
                let other = self.vector(3, 1.0, 1.0);
                joint["axes"] = json!([axis, cross(&axis, &other)]);
            }
            "prismatic" | "cylindrical" | "planar" | "screw" | "point_on_line" => {
                joint["axis"] = json!(axis);
            }
            "revolute" if dimension == 3 => joint["axis"] = json!(axis),
            _ => {}
        }
        if kind == "screw" {
            let sign = pick(&mut self.random, &[-1.0, 1.0]);
            joint["pitch"] = json!(sign * self.decade(-2.0, 0.0));
        }
        joint
    }

    /// Two different bodies; the ground comes first.
    fn pair(&mut self) -> [usize; 2] {
        let n = self.names.len();
        let a = self.random.below(n as u64) as usize;
        let b = (a + 1 + self.random.below(n as u64 - 1) as usize) % n;
        if b == 0 { [b, a] } else { [a, b] }
    }

    /// Up to two joints more, as long as a degree of freedom remains.
    fn close_loops(&mut self) {
        let dimension = self.features.dimension;
        let mut count = pick(&mut self.random, &[0, 0, 1, 1, 2]);
        if self.odd {
            count += 1;
        }
        for k in 0..count {
            let bodies = self.pair();
            let kinds: &[&str] = match dimension {
                2 => &["revolute", "revolute", "point_on_line", "distance"],
                _ => &[
                    "spherical",
                    "distance",
                    "point_on_line",
                    "universal",
                    "cylindrical",
                    "planar",
                    "revolute",
                ],
            };
            let mut kind = pick(&mut self.random, kinds);
            if self.features.freedoms - constraints(kind, dimension) < 1 && !self.odd {
                kind = "distance";
            }
            if !self.odd && self.features.freedoms - constraints(kind, dimension) < 1 {
                continue;
            }
            let middle: Vec<f64> = (self.centres[bodies[0]].iter())
                .zip(&self.centres[bodies[1]])
                .map(|(a, b)| 0.5 * (a + b))
                .collect();
            let lever = self.size(0.2, 1.0);
            let joint = self.joint(kind, &format!("loop{k}"), bodies, &sum(&middle, &lever));
            self.joints.push(joint);
            self.features.freedoms -= constraints(kind, dimension);
            self.features.loops += 1;
        }
    }

    /// Stiffness and damping on an inertia (kg or kg m²); half of the springs have no damper.
    fn stiffness_and_damping(&mut self, inertia: f64) -> (f64, f64) {
        let stiffness = self.decade(0.0, 6.0);
        let damping = self.decade(-3.0, 3.0) * pick(&mut self.random, &[0.0, 1.0]);
        (
            digits(stiffness.min(inertia * HIGHEST_FREQUENCY.powi(2))),
            digits(damping.min(inertia * HIGHEST_RATE)),
        )
    }

    /// What a free body opposes to a force on a lever (kg).
    fn inertia(&self, (body, lever): (usize, &Vec<f64>)) -> f64 {
        let (mass, gyration) = self.inertias[body];
        let square: f64 = lever.iter().map(|x| x * x).sum();
        mass / (1.0 + square / (gyration * gyration))
    }

    /// Where a point of a body is at the start.
    fn place(&self, (body, lever): (usize, &Vec<f64>)) -> Vec<f64> {
        if body == 0 {
            return lever.clone();
        }
        let description = &self.bodies[body - 1];
        let turned = if self.features.dimension == 2 {
            let (sin, cos) = description["angle"].as_f64().unwrap_or(0.0).sin_cos();
            vec![
                cos * lever[0] - sin * lever[1],
                sin * lever[0] + cos * lever[1],
            ]
        } else {
            let q: Vec<f64> = (description["orientation"].as_array().into_iter().flatten())
                .filter_map(Value::as_f64)
                .collect();
            // x + 2 u × (u × x + w x) with the quaternion (w, u).
            let u = &q[1..4];
            let inner: Vec<f64> = (cross(u, lever).iter().zip(lever))
                .map(|(c, x)| c + q[0] * x)
                .collect();
            (cross(u, &inner).iter().zip(lever))
                .map(|(c, x)| x + 2.0 * c)
                .collect()
        };
        sum(&self.centres[body], &turned)
    }

    fn add_springs(&mut self) {
        let count = pick(&mut self.random, &[0, 1, 1, 2, 3]);
        for k in 0..count {
            let bodies = self.pair();
            let first = match bodies[0] {
                0 => self.size(0.5, 2.0),
                _ => self.size(0.0, 0.5),
            };
            let second = self.size(0.0, 0.5);
            let [a, b] = [(bodies[0], &first), (bodies[1], &second)];
            let lightest = self.inertia(a).min(self.inertia(b));
            let (mut stiffness, damping) = self.stiffness_and_damping(lightest);
            let length = if self.random.unit() < 0.3 {
                stiffness = stiffness.min(WILD_STIFFNESS);
                self.between(0.0, 1.0)
            } else {
                let stretch = 0.5f64.min(HIGHEST_SPEED / (stiffness / lightest).sqrt());
                let distance = (self.place(a).iter().zip(&self.place(b)))
                    .map(|(x, y)| (x - y) * (x - y))
                    .sum::<f64>()
                    .sqrt();
                digits((distance + stretch * self.random.between(-1.0, 1.0)).max(0.0))
            };
            self.forces.push(json!({
                "name": format!("s{k}"), "type": "spring_damper", "bodies": bodies.map(|i| self.names[i].clone()),
                "points": [first, second], "stiffness": stiffness, "damping": damping, "length": length,
            }));
        }
        let turning = self.joint_names(|kind, _| kind == "revolute");
        if !turning.is_empty() && self.random.unit() < 0.4 {
            let joint = pick(&mut self.random, &turning);
            let moments = (self.inertias.iter()).map(|(mass, gyration)| mass * gyration.powi(2));
            let lightest = moments.fold(f64::INFINITY, f64::min);
            let (stiffness, damping) = self.stiffness_and_damping(lightest);
            let turn = 1f64.min(HIGHEST_SPEED / (stiffness / lightest).sqrt());
            let angle = self.between(-turn, turn);
            self.forces.push(json!({
                "name": "torsion", "type": "torsion_spring", "joint": joint,
                "stiffness": stiffness, "damping": damping, "angle": angle,
            }));
        }
    }

    fn drive_a_joint(&mut self) {
        let drivable = self.joint_names(|kind, name| {
            name.starts_with('j') && (kind == "revolute" || kind == "prismatic")
        });
        if self.odd {
            for joint in drivable {
                if self.random.unit() < 0.6 {
                    self.drive(&[joint]);
                }
            }
            return;
        }
        if drivable.is_empty() || self.features.freedoms < 2 || self.random.unit() >= 0.35 {
            return;
        }
        self.drive(&drivable);
    }

    /// Drives one of these joints.
    fn drive(&mut self, joints: &[String]) {
        let law = pick(
            &mut self.random,
            &["harmonic", "constant_speed", "polynomial"],
        );
        let joint = pick(&mut self.random, joints);
        let name = format!("drive_{joint}");
        let mut motion = json!({"name": name, "joint": joint, "law": law});
        match law {
            "harmonic" => {
                motion["amplitude"] = json!(self.between(0.05, 0.5));
                motion["frequency"] = json!(self.decade(-0.5, 1.0));
            }
            "constant_speed" => motion["speed"] = json!(self.between(-5.0, 5.0)),
            _ => {
                let coefficients = [0.0, self.between(-1.0, 1.0), self.between(-2.0, 2.0)];
                motion["coefficients"] = json!(coefficients);
            }
        }
        self.motions.push(motion);
        self.features.driven = true;
        self.features.freedoms -= 1;
    }

    fn joint_names(&self, wanted: impl Fn(&str, &str) -> bool) -> Vec<String> {
        let text = |joint: &Value, key: &str| joint[key].as_str().unwrap_or_default().to_string();
        (self.joints.iter())
            .map(|joint| (text(joint, "type"), text(joint, "name")))
            .filter(|(kind, name)| wanted(kind, name))
            .map(|(_, name)| name)
            .collect()
    }

    fn model(mut self, seed: u64) -> (Value, Features) {
        let dimension = self.features.dimension;
        let gravity = if self.random.unit() < 0.8 {
            self.size(9.81, 9.81)
        } else {
            vec![0.0; dimension]
        };
        let stop = pick(&mut self.random, &[0.3, 0.6, 1.0]);
        let mut model = Map::new();
        model.insert("format".into(), json!(1));
        let kind = if self.odd { "odd" } else { "random" };
        model.insert("name".into(), json!(format!("{kind}{seed}")));
        model.insert("dimension".into(), json!(dimension));
        model.insert("gravity".into(), json!(gravity));
        model.insert("experiment".into(), json!({ "stop": stop }));
        for (key, table) in [
            ("body", self.bodies),
            ("joint", self.joints),
            ("force", self.forces),
            ("motion", self.motions),
        ] {
            if !table.is_empty() {
                model.insert(key.into(), Value::from(table));
            }
        }
        (Value::from(model), self.features)
    }
}

/// One of a list.
pub fn pick<T: Clone>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize].clone()
}

/// Six significant digits.
pub fn digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().expect("a number")
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(x, y)| digits(x + y)).collect()
}

fn cross(a: &[f64], b: &[f64]) -> Vec<f64> {
    vec![
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
