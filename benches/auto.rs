//! What `formulation = "auto"` is decided by: `cargo bench --bench auto [-- WORD ...]`, models whose name has one of the words.
//!
//! ```text
//!   CPU time of absolute and of relative coordinates at the same error, default settings
//! ```
//!
//! Every case is run with tolerances from 1e-3 to 1e-7 in both, in turns, the smallest time of the rounds counting. Its error is the
//! largest distance of a body at eight times from the mean of both programs' finest runs (tolerance 1e-9), and the time at an error
//! is interpolated on logarithmic scales. `steps` are those at 1e-6.

#[path = "../src/bin/biela/cpu_time.rs"]
mod cpu_time;

use biela::formulation::{EvaluationContext, Mechanism, MotionPoint, build};
use biela::integrator::{Environment, Integrator, State};
use biela::model::quantity::{BodyField, Quantity};
use biela::model::{Body, FormulationName, Joint, JointFrame, JointKind, JointPlacement, Model};
use cpu_time::CpuClock;

const TOLERANCES: [f64; 5] = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7];
const FINEST: f64 = 1e-9;
const BOTH: [FormulationName; 2] = [FormulationName::Absolute, FormulationName::Relative];
const LOOKS: usize = 8;

fn bar(k: usize, middle: [f64; 3], angle: f64) -> Body {
    Body {
        name: format!("bar{k}"),
        mass: 1.0,
        inertia: [1e-3, 1.0 / 12.0, 1.0 / 12.0, 0.0, 0.0, 0.0],
        position: middle,
        angle,
        orientation: [(0.5 * angle).cos(), 0.0, 0.0, (0.5 * angle).sin()],
        ..Body::default()
    }
}

fn joint(
    model: &mut Model,
    kind: JointKind,
    bodies: [Option<usize>; 2],
    point: [f64; 3],
    axis: [f64; 3],
) {
    let frame = JointFrame {
        point,
        axis,
        reference_direction: [0.0; 3],
    };
    model.joints.push(Joint {
        name: format!("joint{}", model.joints.len()),
        kind,
        bodies,
        frame: JointPlacement::InitialPose(frame),
        ..Joint::default()
    });
}

fn empty(name: String, dimension: usize, stop: f64) -> Model {
    let mut model = Model {
        name,
        dimension,
        gravity: [0.0, -9.81, 0.0],
        ..Model::default()
    };
    model.experiment.stop = stop;
    model
}

/// Bars hanging on bars, each released at 0.6 rad from the vertical to alternate sides. Pins in space turn about axes at right angles.
fn hanging(dimension: usize, branches: usize, kind: JointKind, n: usize) -> Model {
    let name = match (branches, kind) {
        (1, JointKind::Revolute) => "chain of pins",
        (1, _) => "chain of balls",
        _ => "tree of pins",
    };
    let mut model = empty(format!("{name} {dimension}D {n}"), dimension, 1.0);
    let mut ends: Vec<[f64; 2]> = Vec::new();
    for k in 0..n {
        let parent = (k > 0).then(|| (k - 1) / branches);
        let [x, y] = parent.map_or([0.0; 2], |p| ends[p]);
        let side = if (k % 2 == 0) == (branches > 1) {
            -0.6
        } else {
            0.6
        };
        let angle = -std::f64::consts::FRAC_PI_2 + side;
        let (s, c) = angle.sin_cos();
        ends.push([x + c, y + s]);
        model
            .bodies
            .push(bar(k, [x + 0.5 * c, y + 0.5 * s, 0.0], angle));
        let axis = if dimension == 3 && k % 2 == 1 {
            [1.0, 0.0, 0.0]
        } else {
            [0.0, 0.0, 1.0]
        };
        joint(&mut model, kind, [parent, Some(k)], [x, y, 0.0], axis);
    }
    model
}

/// Four-bars in a row, leaning so that no pose in the first half second is singular.
fn loops(dimension: usize, m: usize) -> Model {
    let mut model = empty(format!("row of {m} four-bars {dimension}D"), dimension, 0.5);
    let angle = std::f64::consts::FRAC_PI_2 - 0.4;
    let (s, c) = angle.sin_cos();
    let z = [0.0, 0.0, 1.0];
    for k in 0..=m {
        let x = k as f64;
        model
            .bodies
            .push(bar(k, [x + 0.5 * c, 0.5 * s, 0.0], angle));
        joint(
            &mut model,
            JointKind::Revolute,
            [None, Some(k)],
            [x, 0.0, 0.0],
            z,
        );
    }
    for k in 0..m {
        let x = k as f64 + c;
        let coupler = model.bodies.len();
        model.bodies.push(bar(coupler, [x + 0.5, s, 0.0], 0.0));
        for end in [k, k + 1] {
            let point = [end as f64 + c, s, 0.0];
            joint(
                &mut model,
                JointKind::Revolute,
                [Some(end), Some(coupler)],
                point,
                z,
            );
        }
    }
    model
}

fn cases() -> Vec<Model> {
    let mut cases = Vec::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    for file in files {
        let Ok(model) = Model::from_file(&file) else {
            continue;
        };
        // Inputs would need somebody to drive them.
        if model.system.is_none() && model.inputs.is_empty() && model.bodies.len() > 1 {
            cases.push(model);
        }
    }
    for n in [2, 4, 8, 16, 32] {
        cases.push(hanging(2, 1, JointKind::Revolute, n));
        cases.push(hanging(2, 2, JointKind::Revolute, n));
        cases.push(hanging(3, 1, JointKind::Revolute, n));
        cases.push(hanging(3, 2, JointKind::Revolute, n));
        cases.push(hanging(3, 1, JointKind::Spherical, n));
        cases.push(loops(2, n));
        cases.push(loops(3, n));
    }
    cases
}

struct Outcome {
    cpu: f64,
    steps: u64,
    places: Vec<f64>,
}

fn places(mechanism: &dyn Mechanism, parameters: &[f64], bodies: usize, s: &State) -> Vec<f64> {
    let cx = EvaluationContext {
        t: s.t,
        u: &[],
        u_dot: &[],
        u_ddot: &[],
        p: parameters,
        modes: &s.modes,
        integrals: &[],
    };
    let motion = MotionPoint {
        q: &s.q,
        v: &s.v,
        a: &s.acc,
        lambda: &s.lambda,
    };
    (0..3 * bodies)
        .map(|i| Quantity::Body(i / 3, BodyField::Position(i % 3)))
        .map(|quantity| mechanism.evaluate(&cx, quantity, &motion))
        .collect()
}

fn run(model: &Model, formulation: FormulationName, tolerance: f64) -> Result<Outcome, String> {
    let mut model = model.clone();
    (model.solver.formulation, model.solver.tolerance) = (formulation, tolerance);
    let said = |e: biela::Error| e.to_string();
    let parameters: Vec<f64> = model.parameters.iter().map(|p| p.start).collect();
    let env = Environment {
        signals: &(),
        parameters: &parameters,
    };
    let mechanism = build(&model).map_err(said)?;
    let size = mechanism.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    mechanism.initial_state(&mut q, &mut v);
    let mut state = State::default();
    let mut cpu = 0.0;
    let mut seen = Vec::new();
    let begin = CpuClock::Thread.now();
    let mut integrator = Integrator::new(&*mechanism, &model.solver).map_err(said)?;
    (integrator.start(&*mechanism, &env, 0.0, &q, &v, &mut state)).map_err(said)?;
    cpu += (CpuClock::Thread.now() - begin).as_secs_f64();
    let stop = model.experiment.stop.min(2.0);
    for look in 1..=LOOKS {
        let end = stop * look as f64 / LOOKS as f64;
        let begin = CpuClock::Thread.now();
        while state.t < end {
            (integrator.advance(&*mechanism, &env, &mut state, end)).map_err(said)?;
        }
        cpu += (CpuClock::Thread.now() - begin).as_secs_f64();
        seen.extend(places(&*mechanism, &parameters, model.bodies.len(), &state));
    }
    Ok(Outcome {
        cpu,
        steps: state.statistics.steps,
        places: seen,
    })
}

/// Time at an error: between neighbouring tolerances, on logarithmic scales; not a number outside of them.
fn at(points: &[(f64, f64)], error: f64) -> f64 {
    for pair in points.windows(2) {
        let [(e0, c0), (e1, c1)] = [pair[0], pair[1]];
        if e0 >= error && error > e1 {
            let part = (e0 / error).ln() / (e0 / e1).ln();
            return (c0.ln() + part * (c1.ln() - c0.ln())).exp();
        }
    }
    f64::NAN
}

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    // `cargo test --benches` only wants to see it run.
    if !std::env::args().any(|a| a == "--bench") {
        return println!("run it with cargo bench --bench auto");
    }
    println!(
        "{:<26}{:>7}{:>7} |{:>10}{:>10}{:>10} |{:>8}{:>8}{:>8} |{:>9}",
        "relative over absolute",
        "bodies",
        "joints",
        "1e-4",
        "1e-6",
        "1e-8",
        "steps a",
        "steps r",
        "",
        "apart"
    );
    let known = |name: &str| words.is_empty() || words.iter().any(|w| name.contains(w.as_str()));
    for model in cases().iter().filter(|m| known(&m.name)) {
        match row(model) {
            Ok(row) => println!("{row}"),
            Err(why) => println!("{:<26}{why}", model.name),
        }
    }
}

fn row(model: &Model) -> Result<String, String> {
    let fine = [run(model, BOTH[0], FINEST)?, run(model, BOTH[1], FINEST)?];
    let mean: Vec<f64> = (fine[0].places.iter().zip(&fine[1].places))
        .map(|(a, b)| 0.5 * (a + b))
        .collect();
    let far = |x: &[f64]| (x.iter().zip(&mean)).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    let size = mean.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(1e-9);
    let rounds = if fine[0].cpu > 0.5 { 2 } else { 5 };
    let mut points = [vec![], vec![]];
    let mut steps = [0; 2];
    for tolerance in TOLERANCES {
        let mut best = [(0.0, f64::INFINITY); 2];
        for _ in 0..rounds {
            for k in 0..2 {
                let outcome = run(model, BOTH[k], tolerance)?;
                best[k] = (far(&outcome.places) / size, best[k].1.min(outcome.cpu));
                if tolerance == 1e-6 {
                    steps[k] = outcome.steps;
                }
            }
        }
        for k in 0..2 {
            points[k].push(best[k]);
        }
    }
    let ratio = |error: f64| at(&points[1], error) / at(&points[0], error);
    Ok(format!(
        "{:<26}{:>7}{:>7} |{:>10.2}{:>10.2}{:>10.2} |{:>8}{:>8}{:>8} |{:>9.1e}",
        model.name,
        model.bodies.len(),
        model.joints.len(),
        ratio(1e-4),
        ratio(1e-6),
        ratio(1e-8),
        steps[0],
        steps[1],
        "",
        far(&fine[0].places) / size
    ))
}
