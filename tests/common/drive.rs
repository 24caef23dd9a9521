//! The integrator driven without a component: a system, its state and signals in one place; and a life with everything in
//! it for the tests of allocation and determinism.

use std::path::Path;

use biela::constraint::sparsity::Backend;
use biela::formulation::{EvaluationContext, EvaluationFailure, System, build};
use biela::integrator::{
    Accepted, Environment, Integrator, Sample, Signals, StartReport, State, Statistics,
};
use biela::model::{Model, SolverSettings};

use super::systems::andrews::{self, Andrews};
use super::systems::bounce::Bounce;
use super::systems::chain::Chain;
use super::systems::driven_pendulum::DrivenPendulum;
use super::systems::fragile::{Break, Fragile};
use super::systems::heavy_top::HeavyTop;
use super::systems::impact::Impact;
use super::systems::oscillator::Oscillator;
use super::systems::pendulum::Pendulum;
use super::systems::relative::{DoublePendulum, Loop};

/// All inputs are offset + amplitude sin ωt.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sine {
    pub offset: f64,
    pub amplitude: f64,
    pub omega: f64,
}

impl Signals for Sine {
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        let (s, c) = (self.omega * t).sin_cos();
        u.fill(self.offset + self.amplitude * s);
        u_dot.fill(self.amplitude * self.omega * c);
        u_ddot.fill(-self.amplitude * self.omega * self.omega * s);
    }
}

/// A run in progress.
pub struct Run<S: System + ?Sized> {
    pub system: Box<S>,
    pub integrator: Integrator,
    pub state: State,
    pub report: StartReport,
    pub signals: Sine,
    pub parameters: Vec<f64>,
}

impl<S: System> Run<S> {
    /// A system of its own.
    pub fn new(system: S, settings: &SolverSettings, q: &[f64], v: &[f64]) -> biela::Result<Self> {
        let at = (q, v);
        Self::begin(
            Box::new(system),
            settings,
            Backend::Auto,
            at,
            vec![],
            Sine::default(),
        )
    }
}

impl Run<dyn System> {
    /// A mechanism with the settings of its model.
    pub fn model(model: &Model, backend: Backend) -> biela::Result<Self> {
        let mechanism = build(model)?;
        let size = mechanism.dimensions();
        let (mut q, mut v) = (vec![0.0; size.nq], vec![0.0; size.nv]);
        mechanism.initial_state(&mut q, &mut v);
        let parameters = model.parameters.iter().map(|p| p.start).collect();
        let system: Box<dyn System> = mechanism;
        Self::begin(
            system,
            &model.solver,
            backend,
            (&q, &v),
            parameters,
            Sine::default(),
        )
    }
}

impl<S: System + ?Sized> Run<S>
where
    Box<S>: AsSystem,
{
    pub fn begin(
        system: Box<S>,
        settings: &SolverSettings,
        backend: Backend,
        (q, v): (&[f64], &[f64]),
        parameters: Vec<f64>,
        signals: Sine,
    ) -> biela::Result<Self> {
        let mut integrator = Integrator::with_backend(system.get(), settings, backend)?;
        let mut state = State::default();
        let env = Environment {
            signals: &signals,
            parameters: &parameters,
        };
        let report = integrator.start(system.get(), &env, 0.0, q, v, &mut state)?;
        Ok(Self {
            system,
            integrator,
            state,
            report,
            signals,
            parameters,
        })
    }

    /// One accepted substep.
    pub fn advance(&mut self, t_end: f64) -> biela::Result<Accepted> {
        let env = Environment {
            signals: &self.signals,
            parameters: &self.parameters,
        };
        self.integrator
            .advance(self.system.get(), &env, &mut self.state, t_end)
    }

    /// Substeps up to `t_end`.
    pub fn to(&mut self, t_end: f64) -> biela::Result<()> {
        while self.state.t < t_end {
            self.advance(t_end)?;
        }
        Ok(())
    }

    /// The inputs have changed.
    pub fn jump(&mut self) -> biela::Result<bool> {
        let env = Environment {
            signals: &self.signals,
            parameters: &self.parameters,
        };
        self.integrator
            .apply_input_jump(self.system.get(), &env, &mut self.state)
    }

    /// A point of the last substep.
    pub fn look(&mut self, t: f64, sample: &mut Sample) -> biela::Result<()> {
        let env = Environment {
            signals: &self.signals,
            parameters: &self.parameters,
        };
        self.integrator
            .interpolate(self.system.get(), &env, t, sample)
    }

    /// Largest closure error of all rows that hold, those left out included, over its scale.
    pub fn closure(&self) -> f64 {
        let system = self.system.get();
        let size = system.dimensions();
        let (mut u, mut u_dot, mut u_ddot) = (
            vec![0.0; size.inputs],
            vec![0.0; size.inputs],
            vec![0.0; size.inputs],
        );
        self.signals
            .sample(self.state.t, &mut u, &mut u_dot, &mut u_ddot);
        let cx = EvaluationContext {
            t: self.state.t,
            u: &u,
            u_dot: &u_dot,
            u_ddot: &u_ddot,
            p: &self.parameters,
            modes: &self.state.modes,
            integrals: &[],
        };
        let (mut phi, mut on) = (vec![0.0; size.nc], vec![true; size.nc]);
        system.constraint(&cx, &self.state.q, &mut phi);
        system.active_constraints(&self.state.modes, &mut on);
        let held = phi.iter().enumerate().filter(|(i, _)| on[*i]);
        held.map(|(i, phi)| phi.abs() / system.constraint_scale(i))
            .fold(0.0, f64::max)
    }
}

/// A boxed system as `&dyn System`, whether its type is known or not.
pub trait AsSystem {
    fn get(&self) -> &dyn System;
}

impl<S: System> AsSystem for Box<S> {
    fn get(&self) -> &dyn System {
        &**self
    }
}

impl AsSystem for Box<dyn System> {
    fn get(&self) -> &dyn System {
        &**self
    }
}

/// Attempts at steps, whatever became of them.
pub fn attempts(s: &Statistics) -> u64 {
    s.steps + s.rejected + s.newton_failures + s.event_repeats
}

/// The state without its counters.
pub fn bare(state: &State) -> State {
    State {
        statistics: Statistics::default(),
        ..state.clone()
    }
}

/// A model of `models`.
pub fn model(file: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("models")
        .join(file);
    Model::from_file(&path).unwrap_or_else(|e| panic!("{e}"))
}

/// Every model file.
pub fn model_files() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the models are there")
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    files
}

/// All systems written by hand and all models, by name.
pub fn cases() -> Vec<String> {
    let by_hand = [
        "oscillator",
        "pendulum",
        "chain",
        "long chain",
        "double pendulum",
        "closed loop",
        "andrews",
        "driven pendulum",
        "heavy top",
        "impact",
        "bounce",
        "walls",
    ];
    let by_hand = by_hand.map(str::to_string).into_iter();
    by_hand.chain(model_files()).collect()
}

/// Starts a case.
pub fn start(case: &str, settings: &SolverSettings, backend: Backend) -> Run<dyn System> {
    let begin = |system: Box<dyn System>, q: &[f64], v: &[f64]| {
        let inputs = system.dimensions().inputs;
        let signals = Sine {
            offset: 0.0,
            amplitude: if inputs > 0 { 30.0 } else { 0.0 },
            omega: 1.3,
        };
        Run::begin(system, settings, backend, (q, v), vec![], signals)
    };
    let run = match case {
        "oscillator" => begin(Box::<Oscillator>::default(), &[1.0], &[0.0]),
        "pendulum" => begin(Box::<Pendulum>::default(), &[1.0, 0.0], &[0.0; 2]),
        "chain" | "long chain" => {
            let chain = Chain(if case == "chain" { 2 } else { 8 });
            let q = chain.horizontal();
            let v = vec![0.0; q.len()];
            begin(Box::new(chain), &q, &v)
        }
        "double pendulum" => begin(Box::<DoublePendulum>::default(), &[1.5, 1.5], &[0.0; 2]),
        "closed loop" => {
            let system = DoublePendulum {
                mass: [1.0, 2.0],
                length: [0.7, 1.1],
                closed: Some(Loop {
                    pivot: [1.5, 0.2],
                    rod: 0.9,
                }),
                ..DoublePendulum::default()
            };
            begin(Box::new(system), &[0.4, 1.2], &[0.0; 2])
        }
        "andrews" => begin(Box::new(Andrews), &andrews::START, &[0.0; 7]),
        "driven pendulum" => begin(Box::<DrivenPendulum>::default(), &[1.0, 0.0], &[0.0; 2]),
        "heavy top" => {
            let top = HeavyTop::default();
            let (q, v) = top.start();
            begin(Box::new(top), &q, &v)
        }
        "impact" => begin(Box::<Impact>::default(), &[-1.0], &[0.0]),
        "bounce" => begin(Box::<Bounce>::default(), &[0.0, 1.0], &[1.0, 0.0]),
        // No force where the motion never is, but wild predictions are.
        "walls" => begin(
            Box::new(Fragile::new(
                Chain(3),
                |_, q, _| q[0].hypot(q[1]) > 1.1,
                Break::Fault(EvaluationFailure::Recoverable(1)),
            )),
            &Chain(3).horizontal(),
            &[0.0; 6],
        ),
        file => {
            let mut model = model(file);
            model.solver = *settings;
            Run::model(&model, backend)
        }
    };
    run.unwrap_or_else(|e| panic!("{case}: {e}"))
}

/// Space for [`Run::look`].
pub fn sample(run: &Run<dyn System>) -> Sample {
    let size = run.system.dimensions();
    Sample {
        q: vec![0.0; size.nq],
        v: vec![0.0; size.nv],
        acc: vec![0.0; size.nv],
        lambda: vec![0.0; size.nc],
        ..Sample::default()
    }
}

/// One substep of a life with everything in it: too long a proposal now and then (a rejection, or no convergence), input
/// jumps, landings, a look into the middle.
pub fn live(run: &mut Run<dyn System>, k: usize, middle: &mut Sample) {
    if k % 10 == 9 {
        run.state.next_h *= if k % 30 == 29 { 100.0 } else { 4.0 };
    }
    if k % 25 == 24 {
        run.signals.offset = if run.signals.offset == 0.0 { 0.7 } else { 0.0 };
        run.jump()
            .unwrap_or_else(|e| panic!("jump at {}: {e}", run.state.t));
    }
    let t = run.state.t;
    let end = if k % 7 == 6 {
        t + 0.3 * run.state.next_h
    } else {
        f64::INFINITY
    };
    run.advance(end).unwrap_or_else(|e| panic!("step {k}: {e}"));
    run.look(0.5 * (t + run.state.t), middle)
        .unwrap_or_else(|e| panic!("look at step {k}: {e}"));
}
