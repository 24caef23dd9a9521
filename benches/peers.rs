//! Biela's half of the comparison with another program, driven by `benches/peers.py` (see `benches/peers.sh`): reads one request a
//! line, answers with one line.
//!
//! ```text
//!   PROBLEM N FORMULATION tolerance|step VALUE auto|off time|watch
//!
//!   P1, P2    a row of N four-bars, 10 s                 P4    Bricard's mechanism, 10 s
//!   P3        Andrews' mechanism, 0.03 s                 P6    a chain of N rods on balls, 1 s
//!
//!   ok CPU STEPS DRIFT ERROR                             or    failed WHY
//! ```
//!
//! CPU (s) is the time this thread needs for elimination order, start and all steps, without building the equations. With `watch`
//! nothing is timed; the energy is looked at after every step: DRIFT is the largest |E − E0| (J). ERROR is the largest relative error of
//! the seven angles in P3, and the distance of the first tip from where it should be in P1 and P2 (m).

#[path = "../src/bin/biela/cpu_time.rs"]
mod cpu_time;

use biela::formulation::{EvaluationContext, Mechanism, build};
use biela::integrator::{Environment, Integrator, State};
use biela::linalg::rotation::{Mat3, Vec3};
use biela::model::quantity::{BodyField, Quantity};
use biela::model::{
    Body, Corrector, FormulationName, Joint, JointFrame, JointKind, JointPlacement, Model,
};
use cpu_time::CpuClock;
use std::io::{BufRead, Write};

const G: f64 = 9.81;
const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// A prism of this length and square section, its axis from one point to another.
fn prism(name: String, from: [f64; 3], to: [f64; 3], mass: f64, width: f64) -> Body {
    let (from, to) = (Vec3::from(from), Vec3::from(to));
    let axis = to - from;
    let across = mass * (axis.norm_squared() + width * width) / 12.0;
    let along = mass * width * width / 6.0;
    // Diagonal in ground axes, which are the body's: rods lie along them.
    let e = axis.normalize();
    let inertia: Mat3 = Mat3::identity() * across + e * e.transpose() * (along - across);
    Body {
        name,
        mass,
        inertia: [
            inertia[(0, 0)],
            inertia[(1, 1)],
            inertia[(2, 2)],
            inertia[(0, 1)],
            inertia[(0, 2)],
            inertia[(1, 2)],
        ],
        position: ((from + to) * 0.5).into(),
        ..Body::default()
    }
}

fn joint(
    name: String,
    kind: JointKind,
    bodies: [Option<usize>; 2],
    point: [f64; 3],
    axis: [f64; 3],
) -> Joint {
    Joint {
        name,
        kind,
        bodies,
        frame: JointPlacement::InitialPose(JointFrame {
            point,
            axis,
            reference_direction: [0.0; 3],
        }),
        ..Joint::default()
    }
}

/// N four-bars in a row: bars of 1 m and 1 kg upright on the ground, their tips, joined by couplers, moving with 1 m/s.
fn four_bars(n: usize) -> Model {
    let mut model = Model {
        dimension: 2,
        gravity: [0.0, -G, 0.0],
        ..Model::default()
    };
    let bar = |name: String, x: f64, y: f64, angle: f64| Body {
        name,
        mass: 1.0,
        inertia: [0.0, 0.0, 1.0 / 12.0, 0.0, 0.0, 0.0],
        position: [x, y, 0.0],
        angle,
        velocity: [y, 0.0, 0.0],
        ..Body::default()
    };
    let pin = |name, bodies, x, y| joint(name, JointKind::Revolute, bodies, [x, y, 0.0], Z);
    for k in 0..=n {
        let x = k as f64;
        let mut post = bar(format!("post{k}"), x, 0.5, std::f64::consts::FRAC_PI_2);
        post.angular_velocity = [0.0, 0.0, -1.0];
        model.bodies.push(post);
        model
            .joints
            .push(pin(format!("A{k}"), [None, Some(k)], x, 0.0));
    }
    for k in 0..n {
        let coupler = model.bodies.len();
        model
            .bodies
            .push(bar(format!("coupler{k}"), k as f64 + 0.5, 1.0, 0.0));
        for end in [k, k + 1] {
            let bodies = [Some(end), Some(coupler)];
            model
                .joints
                .push(pin(format!("B{k}_{end}"), bodies, end as f64, 1.0));
        }
    }
    model
}

/// Six pins whose axes follow the edges of a cube, five rods between them.
fn bricard() -> Model {
    let points = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, -1.0, 0.0],
        [1.0, -1.0, 1.0],
        [0.0, -1.0, 1.0],
        [0.0, 0.0, 1.0],
    ];
    let axes = [[0.0, 1.0, 0.0], Z, [1.0, 0.0, 0.0]];
    let mut model = Model {
        dimension: 3,
        gravity: [0.0, -G, 0.0],
        ..Model::default()
    };
    for k in 0..5 {
        let (from, to) = (points[k], points[k + 1]);
        model
            .bodies
            .push(prism(format!("rod{k}"), from, to, 1.0, 0.1));
    }
    for (k, point) in points.into_iter().enumerate() {
        let bodies = [k.checked_sub(1), (k < 5).then_some(k)];
        let name = format!("R{k}");
        model
            .joints
            .push(joint(name, JointKind::Revolute, bodies, point, axes[k % 3]));
    }
    model
}

/// N rods of 0.1 m and 0.1 kg on balls, straight along x, the whole turning about y with 1 rad/s.
fn chain(n: usize) -> Model {
    let mut model = Model {
        dimension: 3,
        gravity: [0.0, -G, 0.0],
        ..Model::default()
    };
    for k in 0..n {
        let [near, far] = [k, k + 1].map(|k| [0.1 * k as f64, 0.0, 0.0]);
        let mut rod = prism(format!("rod{k}"), near, far, 0.1, 0.02);
        rod.angular_velocity = [0.0, 1.0, 0.0];
        rod.velocity = [0.0, 0.0, -rod.position[0]];
        model.bodies.push(rod);
        let bodies = [k.checked_sub(1), Some(k)];
        let name = format!("ball{k}");
        model
            .joints
            .push(joint(name, JointKind::Spherical, bodies, near, Z));
    }
    model
}

/// Angles of Andrews' mechanism at 0.03 s: theory.md and `tests/reference/andrews.csv` say how good they are.
const ANDREWS: [f64; 7] = [
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
];

/// A problem, when it ends, and where the tip of the first bar should be then.
fn problem(name: &str, n: usize) -> Result<(Model, f64, Option<[f64; 2]>), String> {
    let tip = |n: usize| match n {
        2 => Some([0.3284581115, 0.9445185382]),
        160 => Some([0.1745087641, (1.0_f64 - 0.1745087641 * 0.1745087641).sqrt()]),
        _ => None,
    };
    Ok(match name {
        "P1" | "P2" => (four_bars(n), 10.0, tip(n)),
        "P3" => {
            let text = include_str!("../models/andrews.toml");
            let model = Model::from_text(text, "andrews.toml").map_err(|e| e.to_string())?;
            (model, 0.03, None)
        }
        "P4" => (bricard(), 10.0, None),
        "P6" => (chain(n), 1.0, None),
        _ => return Err(format!("no problem {name}")),
    })
}

struct Watch<'a> {
    mechanism: &'a dyn Mechanism,
}

impl Watch<'_> {
    fn context<'s>(&self, state: &'s State, parameters: &'s [f64]) -> EvaluationContext<'s> {
        EvaluationContext {
            t: state.t,
            u: &[],
            u_dot: &[],
            u_ddot: &[],
            p: parameters,
            modes: &state.modes,
            integrals: &[],
        }
    }

    /// Kinetic and potential energy less what was put in.
    fn energy(&self, state: &State, parameters: &[f64]) -> f64 {
        let cx = self.context(state, parameters);
        let e = self.mechanism.energy(&cx, &state.q, &state.v);
        e.kinetic + e.potential - state.supplied + state.dissipated
    }

    fn body(&self, state: &State, parameters: &[f64], body: usize, field: BodyField) -> f64 {
        let cx = self.context(state, parameters);
        let motion = biela::formulation::MotionPoint {
            q: &state.q,
            v: &state.v,
            a: &state.acc,
            lambda: &state.lambda,
        };
        self.mechanism
            .evaluate(&cx, Quantity::Body(body, field), &motion)
    }
}

fn run(words: &[&str]) -> Result<String, String> {
    let [name, n, formulation, kind, value, corrector, how] = words else {
        return Err("seven words are expected".into());
    };
    let number = |word: &str| word.parse::<f64>().map_err(|e| format!("{word}: {e}"));
    let (mut model, end, tip) = problem(name, number(n)? as usize)?;
    model.solver.formulation = match *formulation {
        "auto" => FormulationName::Auto,
        "absolute" => FormulationName::Absolute,
        "relative" => FormulationName::Relative,
        "hybrid" => FormulationName::Hybrid,
        other => return Err(format!("no formulation {other}")),
    };
    match *kind {
        "tolerance" => model.solver.tolerance = number(value)?,
        "step" => model.solver.step = Some(number(value)?),
        other => return Err(format!("neither tolerance nor step: {other}")),
    }
    if *corrector == "off" {
        model.solver.corrector = Corrector::Off;
    }
    let parameters: Vec<f64> = model.parameters.iter().map(|p| p.start).collect();
    let env = Environment {
        signals: &(),
        parameters: &parameters,
    };
    let said = |e: biela::Error| e.to_string();
    let mechanism = build(&model).map_err(said)?;
    let size = mechanism.dimensions();
    let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
    mechanism.initial_state(&mut q, &mut v);
    let watch = (*how == "watch").then_some(Watch {
        mechanism: &*mechanism,
    });
    let mut state = State::default();
    let begin = CpuClock::Thread.now();
    let mut integrator = Integrator::new(&*mechanism, &model.solver).map_err(said)?;
    (integrator.start(&*mechanism, &env, 0.0, &q, &v, &mut state)).map_err(said)?;
    let before = (watch.as_ref()).map_or(0.0, |w| w.energy(&state, &parameters));
    let mut drift = 0.0_f64;
    while state.t < end {
        (integrator.advance(&*mechanism, &env, &mut state, end)).map_err(said)?;
        if let Some(watch) = &watch {
            drift = drift.max((watch.energy(&state, &parameters) - before).abs());
        }
    }
    let cpu = (CpuClock::Thread.now() - begin).as_secs_f64();
    let mut error = f64::NAN;
    if let Some(watch) = &watch {
        let of = |body, field| watch.body(&state, &parameters, body, field);
        if let Some([x, y]) = tip {
            let [dx, dy] = [
                2.0 * of(0, BodyField::Position(0)) - x,
                2.0 * of(0, BodyField::Position(1)) - y,
            ];
            error = dx.hypot(dy);
        }
        if *name == "P3" {
            let a: Vec<f64> = (0..7).map(|b| of(b, BodyField::Angle)).collect();
            let angles = [
                a[0],
                a[1] - a[0],
                a[2],
                a[3] - a[4],
                a[4],
                a[5] - a[6],
                a[6],
            ];
            error = (angles.iter().zip(ANDREWS)).fold(0.0, |m, (x, r)| m.max((x / r - 1.0).abs()));
        }
    }
    let steps = state.statistics.steps;
    Ok(format!("ok {cpu:e} {steps} {drift:e} {error:e}"))
}

fn main() {
    if !std::env::args().any(|word| word == "--serve") {
        println!("driven by benches/peers.sh");
        return;
    }
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = run(&words).unwrap_or_else(|why| format!("failed {why}"));
        if writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .is_err()
        {
            return;
        }
    }
}
