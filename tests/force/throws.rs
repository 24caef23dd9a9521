//! Random throws onto rigid and compliant floors: nothing passes through, nothing stops, no energy comes from nowhere, and what must
//! come to rest does. A hundredth of the counts runs in the ordinary tests, all of them with `BIELA_TEST_FULL=1`.

use crate::common::Random;
use biela::Result;
use biela::component::{Instance, Observer, StepProbe};
use biela::model::{Expose, Model};

/// What is thrown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Four corners, in the plane.
    Square,
    /// Two ends, in the plane.
    Rod,
    /// A disc above a flight of stairs, in the plane.
    Ball,
    /// Eight corners, in space.
    Cube,
}

/// A thrown body, or two joined by a pin, as a model text, and what is needed to judge its motion.
pub struct Throw {
    pub text: String,
    pub rigid: bool,
    /// Length of the body (m).
    pub size: f64,
    /// Mass of all bodies (kg).
    pub mass: f64,
    /// Restitution (rigid only).
    pub restitution: f64,
    /// Friction coefficient.
    pub friction: f64,
    /// Stiffness of each compliant contact (N/m).
    pub stiffness: f64,
    contacts: Vec<String>,
    /// Communication step (s).
    interval: f64,
}

const FORMULATIONS: [&str; 5] = ["absolute", "relative", "hybrid", "topological", "global"];
/// Length of a run (s).
const STOP: f64 = 4.0;

/// The throw with this number.
pub fn throw(shape: Shape, rigid: bool, number: u64) -> Throw {
    let mut random = Random(0x7_4117 + 1000 * number + 7 * shape as u64 + u64::from(rigid));
    let r = &mut random;
    let planar = shape != Shape::Cube;
    let size = 10f64.powf(r.between(-1.3, 0.0));
    let restitution = if r.below(4) == 0 {
        0.0
    } else {
        r.between(0.0, 0.95)
    };
    let friction = if r.below(4) == 0 {
        0.0
    } else {
        r.between(0.0, 1.0)
    };
    let stiffness = 10f64.powf(r.between(4.0, 6.0));
    let joined = shape != Shape::Ball && r.below(4) == 0;
    let mass = size * size * if planar { 10.0 } else { 100.0 * size };
    // A compliant contact is damped at a part of its critical damping.
    let damping = r.between(0.02, 0.5) * 2.0 * (stiffness * mass).sqrt();
    let mut law = if rigid {
        format!("restitution = {restitution}\n")
    } else {
        format!("stiffness = {stiffness}\ndamping = {damping}\n")
    };
    if friction > 0.0 {
        // Rigid contacts with even numbers stick; the others creep, as all compliant ones do.
        law += &if rigid && number.is_multiple_of(2) {
            format!("friction = {{ kinetic = {friction} }}\n")
        } else {
            format!(
                "friction = {{ kinetic = {friction}, stiction_velocity = {} }}\n",
                0.01 * (9.81 * size).sqrt()
            )
        };
    }
    let formulation = FORMULATIONS[r.below(FORMULATIONS.len() as u64) as usize];
    let mut text = format!(
        "format = 1\nname = \"throw\"\ndimension = {}\ngravity = {}\n[solver]\nformulation = \"{formulation}\"\n",
        if planar { 2 } else { 3 },
        if planar {
            "[0, -9.81]"
        } else {
            "[0, 0, -9.81]"
        },
    );
    let height = size * r.between(1.2, 4.0);
    let speed = (9.81 * size).sqrt();
    let mut contacts = Vec::new();
    let count = if joined { 2 } else { 1 };
    let spin = r.between(-50.0, 50.0);
    let angle = r.between(-3.1, 3.1);
    let axis: [f64; 3] = std::array::from_fn(|_| r.between(-1.0, 1.0));
    let rates: [f64; 3] = std::array::from_fn(|_| r.between(-28.0, 28.0));
    let velocity: [f64; 3] = std::array::from_fn(|_| speed * r.between(-2.0, 2.0));
    for body in 0..count {
        let name = ["box", "other"][body];
        let x = body as f64 * 2.0 * size;
        text += &match shape {
            Shape::Cube => format!(
                "[[body]]\nname = \"{name}\"\nmass = {mass}\ninertia = [{0}, {0}, {0}]\nposition = [{x}, 0, {height}]\n\
                 rotation = {{ axis = {axis:?}, angle = {angle} }}\nvelocity = {velocity:?}\nangular_velocity = {rates:?}\n",
                mass * size * size / 6.0
            ),
            _ => format!(
                "[[body]]\nname = \"{name}\"\nmass = {mass}\ninertia = {}\nposition = [{x}, {}]\nangle = {}\n\
                 velocity = [{}, {}]\nangular_velocity = {spin}\n",
                mass * size * size / if shape == Shape::Rod { 12.0 } else { 6.0 },
                if shape == Shape::Ball {
                    6.0 * size + height
                } else {
                    height
                },
                if shape == Shape::Ball { 0.0 } else { angle },
                velocity[0],
                velocity[1],
            ),
        };
        let half = 0.5 * size;
        let points: Vec<Vec<f64>> = match shape {
            Shape::Square => vec![
                vec![-half, -half],
                vec![half, -half],
                vec![half, half],
                vec![-half, half],
            ],
            Shape::Rod => vec![vec![-half, 0.0], vec![half, 0.0]],
            Shape::Ball => vec![vec![0.0, 0.0]],
            Shape::Cube => (0..8)
                .map(|k| {
                    (0..3)
                        .map(|i| if k >> i & 1 == 1 { half } else { -half })
                        .collect()
                })
                .collect(),
        };
        for (k, point) in points.iter().enumerate() {
            let contact = format!("c{body}{k}");
            let surface = match shape {
                Shape::Ball => {
                    // Steps twice as wide and as high as the disc.
                    let mut stairs = vec![[-1000.0 * size, 6.0 * size], [1.0 * size, 6.0 * size]];
                    for step in 1..=3 {
                        let y = (6.0 - 2.0 * step as f64) * size;
                        stairs.push([(2.0 * step as f64 - 1.0) * size, y]);
                        stairs.push([
                            (2.0 * step as f64 + if step == 3 { 1000.0 } else { 1.0 }) * size,
                            y,
                        ]);
                    }
                    format!("curve = {{ points = {stairs:?} }}\nradius = {half}\n")
                }
                Shape::Cube => "plane = { normal = [0, 0, 1] }\n".to_owned(),
                _ => "plane = { normal = [0, 1] }\n".to_owned(),
            };
            text += &format!(
                "[[force]]\nname = \"{contact}\"\ntype = \"contact\"\nbodies = [\"ground\", \"{name}\"]\n\
                 point = {point:?}\n{surface}{law}"
            );
            contacts.push(contact);
        }
    }
    if joined {
        let kind = if planar { "revolute" } else { "spherical" };
        let at = if planar {
            format!("[{size}, {height}]")
        } else {
            format!("[{size}, 0, {height}]")
        };
        text += &format!(
            "[[joint]]\nname = \"pin\"\ntype = \"{kind}\"\nbodies = [\"box\", \"other\"]\npoint = {at}\n"
        );
    }
    Throw {
        text,
        rigid,
        size,
        mass: count as f64 * mass,
        restitution,
        friction,
        stiffness,
        contacts,
        interval: [STOP, STOP, 0.1, 0.01][r.below(4) as usize],
    }
}

/// What a throw did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Why it stopped, if it did.
    pub stopped: Option<String>,
    /// Greatest depth over what is allowed, and its time (s).
    pub depth: (f64, f64),
    /// Greatest energy balance over the energy turned over, in tolerances: what came from nowhere.
    pub balance: f64,
    /// Greatest rise of the total energy above the lowest so far, in tolerances of the turnover.
    pub gain: f64,
    /// Kinetic energy at the end over the turnover.
    pub kinetic: f64,
    /// Energy turned over (J).
    pub turnover: f64,
    pub steps: u64,
    pub events: u64,
}

/// Looks at every accepted step, at its end and inside it.
struct Watch<'a> {
    throw: &'a Throw,
    references: Vec<u32>,
    values: Vec<f64>,
    tolerance: f64,
    turnover: f64,
    lowest: f64,
    allowed: f64,
    outcome: Outcome,
}

/// Points of a step that are looked at.
const LOOKS: usize = 4;

impl Watch<'_> {
    fn look(&mut self, t: f64) {
        let [kinetic, total, balance] = [self.values[0], self.values[1], self.values[2]];
        let outcome = &mut self.outcome;
        self.lowest = self.lowest.min(total);
        outcome.balance = outcome
            .balance
            .max(balance / self.turnover / self.tolerance);
        outcome.gain = (outcome.gain).max((total - self.lowest) / self.turnover / self.tolerance);
        outcome.kinetic = kinetic / self.turnover;
        let mut note = |depth: f64| {
            if depth / self.allowed > outcome.depth.0 {
                outcome.depth = (depth / self.allowed, t);
            }
        };
        if self.throw.contacts.len() == 1 {
            note(self.throw.below_stairs([self.values[3], self.values[4]]));
        } else {
            self.values[3..].iter().for_each(|&depth| note(depth));
        }
    }
}

impl Observer for Watch<'_> {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        let (start, end) = (probe.start(), probe.end());
        for k in 1..=LOOKS {
            let t = if k == LOOKS {
                end
            } else {
                start + (end - start) * k as f64 / LOOKS as f64
            };
            probe.values(t, &self.references, &mut self.values)?;
            self.look(t);
        }
        Ok(())
    }
}

/// Runs a throw and looks at every step.
pub fn run(throw: &Throw) -> Outcome {
    let mut model =
        Model::from_text(&throw.text, "throw").unwrap_or_else(|e| panic!("{e}\n{}", throw.text));
    model.expose = Expose::All;
    let tolerance = model.solver.tolerance;
    let mut instance =
        Instance::from_model(model).unwrap_or_else(|e| panic!("{e}\n{}", throw.text));
    instance
        .initialize(0.0, f64::INFINITY, 0.0)
        .unwrap_or_else(|e| panic!("{e}\n{}", throw.text));
    let mut names: Vec<String> = ["kinetic", "total", "balance"]
        .map(|name| format!("energy.{name}"))
        .into();
    if throw.contacts.len() == 1 {
        names.extend(["box.x".to_owned(), "box.y".to_owned()]);
    } else {
        names.extend(throw.contacts.iter().map(|name| format!("{name}.length")));
    }
    let references: Vec<u32> = (names.iter())
        .map(|name| instance.find(name).unwrap_or_else(|e| panic!("{e}")))
        .collect();
    let mut values = vec![0.0; references.len()];
    instance.get_real(&references, &mut values).unwrap();
    // The potential energy is zero at the floor: no throw turns over more than it starts with.
    let turnover = values[0] + values[1].abs();
    let mut watch = Watch {
        throw,
        references,
        tolerance,
        turnover,
        lowest: values[1],
        values,
        allowed: if throw.rigid {
            1e-6 * throw.size
        } else {
            // All of the energy in one spring.
            (2.0 * turnover / throw.stiffness).sqrt()
        },
        outcome: Outcome::default(),
    };
    while STOP - instance.time() > 1e-9 {
        let t = instance.time();
        let h = throw.interval.min(STOP - t);
        if let Err(e) = instance.step_observed(t, h, &mut watch) {
            watch.outcome.stopped = Some(e.to_string());
            break;
        }
    }
    let mut outcome = watch.outcome;
    let statistics = instance.statistics();
    outcome.turnover = turnover;
    outcome.steps = statistics.steps;
    outcome.events = statistics.events;
    outcome
}

impl Throw {
    /// How far the disc with this centre reaches into the stairs.
    fn below_stairs(&self, [x, y]: [f64; 2]) -> f64 {
        // Tread k lies between 2k − 1 and 2k + 1 sizes. The disc stands over one of them; beyond an edge it may be lower.
        let tread = ((x / self.size + 1.0) / 2.0).floor().clamp(0.0, 3.0);
        let floor = (6.0 - 2.0 * tread) * self.size;
        floor + 0.5 * self.size - y
    }
}

/// Whether friction and losses must have brought it to rest.
pub fn must_rest(shape: Shape, throw: &Throw, outcome: &Outcome) -> bool {
    // Bouncing ends after 2 v/(g (1 − e)), sliding after v/(μ g), with all of the energy in one speed v.
    let speed = (2.0 * outcome.turnover / throw.mass).sqrt();
    let bouncing = 2.0 * speed / (1.0 - if throw.rigid { throw.restitution } else { 0.8 });
    shape != Shape::Ball
        && throw.friction > 0.05
        && (bouncing + speed / throw.friction) / 9.81 < STOP
}

/// What is wrong with an outcome.
pub fn faults(shape: Shape, throw: &Throw, outcome: &Outcome) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(why) = &outcome.stopped {
        faults.push(format!("stopped: {why}"));
    }
    if outcome.depth.0 > 1.0 {
        faults.push(format!(
            "depth {:.1e} of the allowed at {:.4} s",
            outcome.depth.0, outcome.depth.1
        ));
    }
    if outcome.gain > 10.0 {
        faults.push(format!("energy gained: {:.1e} tolerances", outcome.gain));
    }
    if outcome.stopped.is_none() && must_rest(shape, throw, outcome) && outcome.kinetic > 1e-4 {
        faults.push(format!("not at rest: {:.1e}", outcome.kinetic));
    }
    faults
}

/// Whether the counts the requirements state are run.
fn full() -> bool {
    std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1")
}

/// First number and count of the throws to run instead, as in `BIELA_THROWS=100,50`. Throws with faults are written to `target/tmp`.
fn window() -> Option<(u64, u64)> {
    let text = std::env::var("BIELA_THROWS").ok()?;
    let (first, count) = text.split_once(',')?;
    Some((first.parse().ok()?, count.parse().ok()?))
}

fn all_hold(shape: Shape, rigid: bool) {
    let count = if full() { 1000 } else { 10 };
    let (first, count) = window().unwrap_or((0, count));
    let mut failed = Vec::new();
    for number in first..first + count {
        let throw = throw(shape, rigid, number);
        let outcome = run(&throw);
        let faults = faults(shape, &throw, &outcome);
        if !faults.is_empty() {
            failed.push(format!("{number}: {}", faults.join("; ")));
            let file = format!("{shape:?}_{rigid}_{number}.toml").to_lowercase();
            let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
            std::fs::write(path, &throw.text).unwrap();
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {count} {shape:?}, rigid {rigid}:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn squares_thrown_on_a_rigid_floor_stay_above_it_and_come_to_rest() {
    all_hold(Shape::Square, true);
}

#[test]
fn rods_thrown_on_a_rigid_floor_stay_above_it_and_come_to_rest() {
    all_hold(Shape::Rod, true);
}

#[test]
fn balls_thrown_down_rigid_stairs_stay_above_them() {
    all_hold(Shape::Ball, true);
}

#[test]
fn cubes_thrown_on_a_rigid_floor_stay_above_it_and_come_to_rest() {
    all_hold(Shape::Cube, true);
}

#[test]
fn squares_thrown_on_a_compliant_floor_are_carried_by_it() {
    all_hold(Shape::Square, false);
}

#[test]
fn rods_thrown_on_a_compliant_floor_are_carried_by_it() {
    all_hold(Shape::Rod, false);
}

#[test]
fn balls_thrown_down_compliant_stairs_are_carried_by_them() {
    all_hold(Shape::Ball, false);
}

#[test]
fn cubes_thrown_on_a_compliant_floor_are_carried_by_it() {
    all_hold(Shape::Cube, false);
}

#[test]
fn what_bounces_by_poisson_stays_above_the_floor_and_gains_no_energy() {
    let count = if full() { 200 } else { 4 };
    for shape in [Shape::Square, Shape::Rod, Shape::Cube] {
        for number in 0..count {
            let mut throw = throw(shape, true, number);
            let law = "restitution_law = \"poisson\"\nrestitution = ";
            throw.text = throw.text.replace("restitution = ", law);
            let outcome = run(&throw);
            let faults = faults(shape, &throw, &outcome);
            assert!(
                faults.is_empty(),
                "{shape:?} {number}: {}\n{}",
                faults.join("; "),
                throw.text
            );
        }
    }
}
