//! What a step costs for each body as mechanisms grow: `cargo bench --bench scale`.
//!
//! ```text
//!   balls N     a chain of N bars in space joined by balls, swinging
//!   loops N     a row of four-bars in the plane with N bars in all
//!   space N     the same row drawn in space: each loop has three rows too many
//!   beam2 N     a clamped beam of N - 1 elements in the plane, falling; corrector off, as beams have it
//!   beam3 N     the same in space
//! ```
//!
//! For each the time to set up (equations, elimination order, assembly, rank) and the time of one step, corrector on, over the
//! number of bodies, the smallest of a few repeats of the same steps, and the back-substitutions of a step. `-- --one CASE N STEPS` only makes so many steps, for counting
//! instructions (`benches/scale.sh`). `-- LARGEST CASE` measures one case up to so many bodies.

use biela::formulation::{Mechanism, build};
use biela::integrator::{Environment, Integrator, State};
use biela::model::{Body, Joint, JointFrame, JointKind, JointPlacement, Model};
use std::time::Instant;

const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// A slender bar of 1 m and 1 kg, its x axis at an angle to the ground's in the xy plane.
fn bar(name: String, middle: [f64; 3], angle: f64) -> Body {
    Body {
        name,
        mass: 1.0,
        inertia: [1e-3, 1.0 / 12.0, 1.0 / 12.0, 0.0, 0.0, 0.0],
        position: middle,
        angle,
        orientation: [(0.5 * angle).cos(), 0.0, 0.0, (0.5 * angle).sin()],
        ..Body::default()
    }
}

fn joint(name: String, kind: JointKind, bodies: [Option<usize>; 2], point: [f64; 3]) -> Joint {
    let frame = JointFrame {
        point,
        axis: Z,
        reference_direction: [0.0; 3],
    };
    Joint {
        name,
        kind,
        bodies,
        frame: JointPlacement::InitialPose(frame),
        ..Joint::default()
    }
}

fn empty(dimension: usize, h: f64) -> Model {
    let mut model = Model {
        dimension,
        gravity: [0.0, -9.81, 0.0],
        ..Model::default()
    };
    model.solver.step = Some(h);
    model
}

/// Let go 0.3 rad from the vertical with a swing across; the step follows the stiffest motion, as in `benches/step.rs`.
fn balls(n: usize) -> Model {
    let mut model = empty(3, 0.03 / (n as f64).sqrt());
    let angle = -std::f64::consts::FRAC_PI_2 + 0.3;
    let (x, y) = (angle.cos(), angle.sin());
    for k in 0..n {
        let (near, middle) = (k as f64, k as f64 + 0.5);
        let mut body = bar(format!("bar{k}"), [middle * x, middle * y, 0.0], angle);
        // The chain turns as one about the x axis.
        body.angular_velocity = [0.2, 0.0, 0.0];
        body.velocity = [0.0, 0.0, 0.2 * middle * y];
        model.bodies.push(body);
        let point = [near * x, near * y, 0.0];
        let bodies = [k.checked_sub(1), Some(k)];
        let kind = JointKind::Spherical;
        model
            .joints
            .push(joint(format!("ball{k}"), kind, bodies, point));
    }
    model
}

/// Four-bars in a row, upright and moving to the right: 2 m + 1 bars for m of them.
fn loops(n: usize, dimension: usize) -> Model {
    let m = (n - 1) / 2;
    let mut model = empty(dimension, 2e-3);
    for k in 0..=m {
        let x = k as f64;
        let mut body = bar(
            format!("bar{k}"),
            [x, 0.5, 0.0],
            std::f64::consts::FRAC_PI_2,
        );
        (body.velocity, body.angular_velocity) = ([0.5, 0.0, 0.0], [0.0, 0.0, -1.0]);
        model.bodies.push(body);
        let kind = JointKind::Revolute;
        model
            .joints
            .push(joint(format!("A{k}"), kind, [None, Some(k)], [x, 0.0, 0.0]));
    }
    for k in 0..m {
        let mut body = bar(format!("coupler{k}"), [k as f64 + 0.5, 1.0, 0.0], 0.0);
        body.velocity = [1.0, 0.0, 0.0];
        model.bodies.push(body);
        for end in [k, k + 1] {
            let bodies = [Some(end), Some(m + 1 + k)];
            let point = [end as f64, 1.0, 0.0];
            model.joints.push(joint(
                format!("B{k}_{end}"),
                JointKind::Revolute,
                bodies,
                point,
            ));
        }
    }
    model
}

/// A cantilever of elements of 1 m that its weight bends.
fn beam(n: usize, dimension: usize) -> Model {
    let elements = n - 1;
    let (zero, gravity, section) = match dimension {
        2 => (
            "",
            "[0, -9.81]",
            "[1e5, 1e5, 1e3], mass_per_length = 1, inertia_per_length = 1e-2",
        ),
        _ => (
            ", 0",
            "[0, 0, -9.81]",
            "[1e5, 1e5, 1e5, 1e3, 1e3, 1e3], mass_per_length = 1, inertia_per_length = [2e-2, 1e-2, 1e-2]",
        ),
    };
    let text = format!(
        "format = 1\ndimension = {dimension}\ngravity = {gravity}\n[solver]\nstep = 1e-3\n\
         [[beam]]\nname = \"rod\"\npoints = [[0, 0{zero}], [{elements}, 0{zero}]]\nelements = {elements}\nstart = \"ground\"\n\
         section = {{ stiffness = {section} }}\n"
    );
    Model::from_text(&text, "beam").unwrap_or_else(|e| panic!("{e}"))
}

fn case(name: &str, n: usize) -> Model {
    match name {
        "balls" => balls(n),
        "loops" => loops(n, 2),
        "space" => loops(n, 3),
        "beam2" => beam(n, 2),
        "beam3" => beam(n, 3),
        _ => panic!("no case \"{name}\""),
    }
}

struct Run {
    mechanism: Box<dyn Mechanism>,
    integrator: Integrator,
    state: State,
}

const ENVIRONMENT: Environment = Environment {
    signals: &(),
    parameters: &[],
};

impl Run {
    /// Built, ordered, started; with the seconds each took.
    fn new(model: &Model) -> (Self, [f64; 3]) {
        let fail = |e| -> ! { panic!("{e}") };
        let begin = Instant::now();
        let mechanism = build(model).unwrap_or_else(|e| fail(e));
        let built = begin.elapsed().as_secs_f64();
        let mut integrator =
            Integrator::new(&*mechanism, &model.solver).unwrap_or_else(|e| fail(e));
        let ordered = begin.elapsed().as_secs_f64();
        let size = mechanism.dimensions();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        mechanism.initial_state(&mut q, &mut v);
        let mut state = State::default();
        (integrator.start(&*mechanism, &ENVIRONMENT, 0.0, &q, &v, &mut state))
            .unwrap_or_else(|e| fail(e));
        let started = begin.elapsed().as_secs_f64();
        let run = Self {
            mechanism,
            integrator,
            state,
        };
        (run, [built, ordered - built, started - ordered])
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            (self.integrator)
                .advance(
                    &*self.mechanism,
                    &ENVIRONMENT,
                    &mut self.state,
                    f64::INFINITY,
                )
                .unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let ["--one", name, n, steps] = words[..] {
        let (n, steps) = (n.parse().unwrap(), steps.parse().unwrap());
        return Run::new(&case(name, n)).0.steps(steps);
    }
    let largest: usize = words.first().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    println!(
        "{:<8}{:>8} |{:>10}{:>10}{:>10} s |{:>12}{:>16}{:>16}",
        "case", "bodies", "build", "order", "start", "us/step", "ns/step/body", "solves/step"
    );
    let only = words.get(1).copied();
    for name in ["balls", "loops", "space", "beam2", "beam3"]
        .into_iter()
        .filter(|name| only.is_none_or(|only| only == *name))
    {
        for n in [10, 100, 1000, 10_000]
            .into_iter()
            .filter(|n| *n <= largest)
        {
            let model = case(name, n);
            let bodies = model.bodies.len();
            let (mut run, [built, ordered, started]) = Run::new(&model);
            run.steps(3);
            let saved = run.state.clone();
            let solves = |s: &State| s.statistics.solves;
            let count = (2_000 / bodies).clamp(3, 100);
            let mut best = f64::INFINITY;
            for _ in 0..5 {
                run.state.copy_from(&saved);
                run.integrator.forget();
                let begin = Instant::now();
                run.steps(count);
                best = best.min(begin.elapsed().as_secs_f64() / count as f64);
            }
            println!(
                "{name:<8}{bodies:>8} |{built:>10.4}{ordered:>10.4}{started:>10.4}   |{:>12.1}{:>16.0}{:>16.1}",
                1e6 * best,
                1e9 * best / bodies as f64,
                (solves(&run.state) - solves(&saved)) as f64 / count as f64
            );
        }
    }
}
