//! What one step costs, over a bare factorisation and back-substitution: `cargo bench --bench step`.
//!
//! ```text
//!   ratio = time of one accepted step / ( time of Factor::factor + time of one Factor::solve )
//! ```
//!
//! The denominator takes the very matrix [S Gᵀ; G −E] of Newton's iteration at the point the steps start from, already
//! loaded and regularised; evaluating and scattering its entries, right-hand sides, norms, projections and the error
//! estimate are in the numerator only. Both are timed in turns in the same run, the same steps from the same saved state
//! each time, and the smallest of the repeats is taken. `docs/performance.md` explains the tables and keeps a run.
//!
//! `-- --one CASE STEPS [--auto]` only makes so many steps, `-- --bare CASE TIMES` only factors and solves so often, for
//! counting instructions, and `-- --bodies CASE` says how many bodies it has (`benches/instructions.sh`).

use biela::constraint::factorization::Factorization;
use biela::constraint::matrix::SaddleMatrix;
use biela::constraint::regularisation::REGULARISATION;
use biela::constraint::sparsity::{Backend, SaddleSparsity};
use biela::formulation::absolute::PlanarAbsolute;
use biela::formulation::{EvaluationContext, Mechanism, MotionPoint, System, TangentWeights};
use biela::integrator::{Environment, Hht, Integrator, State};
use biela::model::{
    Body, Corrector, Joint, JointFrame, JointKind, JointPlacement, Model, TextPosition,
};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// A mechanism with its fixed step.
struct Case {
    name: String,
    model: Model,
    h: f64,
}

fn file(name: &str, h: f64) -> Case {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/{name}.toml"));
    let model = Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
    let name = name.into();
    Case { name, model, h }
}

/// `n` uniform bars of 1 m and 1 kg in a row, hung up at one end and released 0.3 rad from the vertical. The stiffest
/// transverse motion is that of the uppermost bar, about 2 sqrt(n g) rad/s: the step follows it, h ω ≈ 0.2 for any n.
fn chain(n: usize) -> Case {
    let mut model = file("pendulum", 0.0).model;
    let angle = -std::f64::consts::FRAC_PI_2 + 0.3;
    let (x, y) = (angle.cos(), angle.sin());
    let text_position = TextPosition::default();
    model.bodies = (0..n)
        .map(|k| Body {
            name: format!("bar{k}"),
            mass: 1.0,
            inertia: [0.0, 0.0, 1.0 / 12.0, 0.0, 0.0, 0.0],
            position: [(k as f64 + 0.5) * x, (k as f64 + 0.5) * y, 0.0],
            angle,
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            center_of_mass: [0.0; 3],
            text_position,
            ..Body::default()
        })
        .collect();
    model.joints = (0..n)
        .map(|k| Joint {
            name: format!("pin{k}"),
            kind: JointKind::Revolute,
            bodies: [k.checked_sub(1), Some(k)],
            frame: JointPlacement::InitialPose(JointFrame {
                point: [k as f64 * x, k as f64 * y, 0.0],
                ..JointFrame::default()
            }),
            text_position,
            ..Joint::default()
        })
        .collect();
    model.forces.clear();
    model.sensors.clear();
    model.inputs.clear();
    model.outputs.clear();
    model.parameters.clear();
    model.gravity = [0.0, -9.81, 0.0];
    Case {
        name: format!("chain{n}"),
        model,
        h: 0.03 / (n as f64).sqrt(),
    }
}

fn case(name: &str) -> Case {
    match name {
        "oscillator" => file(name, 1e-2),
        "double_pendulum" | "double_four_bar" => file(name, 2e-3),
        _ => {
            let n = name.strip_prefix("chain").and_then(|n| n.parse().ok());
            chain(n.unwrap_or_else(|| panic!("no case \"{name}\"")))
        }
    }
}

/// A run in the middle, ready to be repeated.
struct Run {
    system: PlanarAbsolute,
    integrator: Integrator,
    parameters: Vec<f64>,
    h: f64,
    bodies: usize,
    state: State,
    saved: State,
}

impl Run {
    fn new(case: &Case, corrector: Corrector) -> Self {
        let mut settings = case.model.solver;
        settings.step = Some(case.h);
        settings.corrector = corrector;
        let fail = |e| -> ! { panic!("{}: {e}", case.name) };
        let system = PlanarAbsolute::new(&case.model).unwrap_or_else(|e| fail(e));
        let mut integrator = Integrator::new(&system, &settings).unwrap_or_else(|e| fail(e));
        let size = system.dimensions();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        system.initial_state(&mut q, &mut v);
        let parameters: Vec<f64> = case.model.parameters.iter().map(|p| p.start).collect();
        let mut state = State::default();
        let env = Environment {
            signals: &(),
            parameters: &parameters,
        };
        integrator
            .start(&system, &env, 0.0, &q, &v, &mut state)
            .unwrap_or_else(|e| fail(e));
        Self {
            bodies: case.model.bodies.len(),
            h: case.h,
            saved: state.clone(),
            system,
            integrator,
            parameters,
            state,
        }
    }

    fn steps(&mut self, n: usize) {
        let env = Environment {
            signals: &(),
            parameters: &self.parameters,
        };
        for _ in 0..n {
            self.integrator
                .advance(&self.system, &env, &mut self.state, f64::INFINITY)
                .unwrap_or_else(|e| panic!("{e}"));
        }
    }

    fn save(&mut self) {
        self.saved.copy_from(&self.state);
    }

    fn restore(&mut self) {
        self.state.copy_from(&self.saved);
    }

    fn bare(&self) -> Bare {
        let (s, size) = (&self.saved, self.system.dimensions());
        let pattern = self.system.sparsity();
        let st = SaddleSparsity::new(size.nv, size.nc, &pattern, Backend::Auto);
        let mut matrix = SaddleMatrix::new(&st);
        let cx = EvaluationContext {
            t: s.t,
            u: &[],
            u_dot: &[],
            u_ddot: &[],
            p: &self.parameters,
            modes: &s.modes,
            integrals: &[],
        };
        let m = Hht::new(biela::model::SolverSettings::default().alpha);
        let weights = TangentWeights {
            mass: 1.0 / (1.0 - m.alpha),
            damping: m.gamma * self.h,
            stiffness: m.beta * self.h * self.h,
            theta: &[],
        };
        let mut values = vec![0.0; pattern.tangent.len()];
        self.system
            .tangent(
                &cx,
                &MotionPoint {
                    q: &s.q,
                    v: &s.v,
                    a: &s.acc,
                    lambda: &s.lambda,
                },
                &weights,
                &mut values,
            )
            .expect("planar systems are defined everywhere");
        matrix.load_tangent(&st, &values);
        let mut values = vec![0.0; pattern.jacobian.len()];
        self.system.jacobian(&cx, &s.q, &mut values);
        matrix.load_jacobian(&st, &values);
        let mut diagonal = vec![0.0; size.nv];
        matrix.tangent_diagonal(&st, &mut diagonal);
        matrix.regularise(&st, &diagonal, REGULARISATION);
        Bare {
            factor: Factorization::new(&st),
            x: vec![0.0; size.nv],
            l: vec![0.0; size.nc],
            acc: s.acc.clone(),
            st,
            matrix,
        }
    }
}

/// The matrix of a step, to be factored and solved for one right-hand side.
struct Bare {
    st: SaddleSparsity,
    matrix: SaddleMatrix,
    factor: Factorization,
    x: Vec<f64>,
    l: Vec<f64>,
    acc: Vec<f64>,
}

impl Bare {
    fn run(&mut self, n: usize) {
        for _ in 0..n {
            let pivots = self.factor.factor(&self.st, black_box(&self.matrix));
            black_box(pivots.is_ok());
            self.x.copy_from_slice(&self.acc);
            self.l.fill(0.0);
            self.factor
                .solve(&self.st, black_box(&mut self.x), black_box(&mut self.l));
        }
    }
}

/// Microseconds of one of `n`.
fn time(n: usize, work: impl FnOnce(usize)) -> f64 {
    let begin = Instant::now();
    work(n);
    begin.elapsed().as_secs_f64() * 1e6 / n as f64
}

/// Steps made before the ones that are timed: the memory of the method has filled by then.
const WARM_UP: usize = 10;

fn table(corrector: Corrector, names: &[&str], budget: f64) {
    println!(
        "{:<17}{:>8} |{:>11}{:>11}{:>8} |{:>9}{:>9} |{:>7}{:>7}{:>7}",
        "case",
        "unknowns",
        "us/step",
        "ns/unkn.",
        "ratio",
        "factor+s",
        "us/body",
        "fact.",
        "resid",
        "solves"
    );
    for name in names {
        let mut run = Run::new(&case(name), corrector);
        run.steps(WARM_UP);
        run.save();
        let size = run.system.dimensions();
        let unknowns = size.nv + size.nc;
        let n = (50_000 / unknowns).clamp(10, 40);
        let mut bare = run.bare();
        let (mut step, mut floor) = (f64::INFINITY, f64::INFINITY);
        let begin = Instant::now();
        let mut repeats = 0;
        while repeats < 3 || begin.elapsed().as_secs_f64() < budget {
            run.restore();
            step = step.min(time(n, |n| run.steps(n)));
            floor = floor.min(time(n, |n| bare.run(n)));
            repeats += 1;
        }
        let (a, b) = (&run.saved.statistics, &run.state.statistics);
        let each = |a: u64, b: u64| (b - a) as f64 / n as f64;
        println!(
            "{name:<17}{unknowns:>8} |{step:>11.2}{:>11.1}{:>8.2} |{floor:>9.2}{:>9.3} |{:>7.2}{:>7.2}{:>7.2}",
            1e3 * step / unknowns as f64,
            step / floor,
            step / run.bodies as f64,
            each(a.factorizations, b.factorizations),
            each(a.residuals, b.residuals),
            each(a.solves, b.solves),
        );
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let has = |word: &str| words.iter().any(|w| w == word);
    let after = |word: &str| {
        let at = words.iter().position(|w| w == word)?;
        Some((
            words.get(at + 1)?.as_str(),
            words.get(at + 2)?.parse().ok()?,
        ))
    };
    let corrector = if has("--auto") {
        Corrector::Auto
    } else {
        Corrector::Off
    };
    if let Some(at) = words.iter().position(|w| w == "--bodies") {
        println!("{}", case(&words[at + 1]).model.bodies.len());
        return;
    }
    if let Some((name, n)) = after("--one") {
        let mut run = Run::new(&case(name), corrector);
        run.steps(n);
        black_box(&run.state);
        return;
    }
    if let Some((name, n)) = after("--bare") {
        let mut run = Run::new(&case(name), corrector);
        run.steps(WARM_UP);
        run.save();
        run.bare().run(n);
        return;
    }
    // `cargo bench` says so; `cargo test --benches` only wants to see it run.
    let quick = !has("--bench");
    let budget = if quick { 0.0 } else { 1.0 };
    let mut names = vec![
        "oscillator",
        "double_pendulum",
        "double_four_bar",
        "chain1",
        "chain10",
        "chain100",
    ];
    if !quick {
        names.extend(["chain1000", "chain10000", "chain20000"]);
    }
    for (title, corrector) in [
        ("corrector off", Corrector::Off),
        ("corrector auto", Corrector::Auto),
    ] {
        println!("Fixed steps, {title}");
        table(corrector, &names, budget);
        println!();
    }
}
