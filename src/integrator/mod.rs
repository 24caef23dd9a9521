//! One step of a method: HHT with its error estimate and step-size controller.

use crate::error::Result;
use crate::formulation::System;

/// The inputs as functions of time, known up to the next communication point.
pub trait Signals {
    /// u, du/dt and d²u/dt² at `t`.
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]);
}

/// What stays the same during a step but may change between steps.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Inputs.
    pub signals: &'a dyn Signals,
    /// Parameters.
    pub parameters: &'a [f64],
}

/// Everything the future of a run depends on. Saving is a clone; `copy_from` restores without allocating.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// s
    pub t: f64,
    /// Stored coordinates.
    pub q: Vec<f64>,
    /// Rates.
    pub v: Vec<f64>,
    /// True accelerations at t.
    pub acc: Vec<f64>,
    /// Multipliers at t.
    pub lambda: Vec<f64>,
    /// Discrete modes.
    pub modes: Vec<i32>,
    /// Work taken out by dampers since start (J).
    pub dissipated: f64,
    /// Work brought in since start (J).
    pub supplied: f64,
    /// Counters.
    pub statistics: Statistics,
    // ... the integrator's own memory follows
}

/// Counters since start, each counted where the work happens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: u64,
    /// Attempts refused by the estimate.
    pub rejected: u64,
    /// Attempts in which Newton did not converge.
    pub newton_failures: u64,
    /// Newton iterations.
    pub newton_iterations: u64,
    /// Equilibrium residuals evaluated by Newton.
    pub residuals: u64,
    /// Force evaluations of any kind.
    pub evaluations: u64,
    /// Matrix factorisations.
    pub factorizations: u64,
    /// Back-substitutions.
    pub solves: u64,
    /// Events handled.
    pub events: u64,
    /// s; infinite before the first step.
    pub smallest_step: f64,
    /// s
    pub largest_step: f64,
    /// s, the last accepted step
    pub step_size: f64,
    /// Estimated error of the last accepted step over the tolerance.
    pub error: f64,
    /// Largest of them.
    pub worst_error: f64,
}

/// What the start had to change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartReport {
    /// Largest closure error of the pose as given, relative to its scale.
    pub closure_before: f64,
    /// Displacement of the assembly in the error norm.
    pub moved: f64,
    /// Change of the velocities in the error norm (1/s).
    pub velocity_changed: f64,
    /// Names of constraints that follow from the others (one possible set).
    pub redundant: Vec<String>,
}

/// An accepted substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accepted {
    /// Size (s).
    pub h: f64,
    /// An event fired at its end.
    pub event: bool,
}

/// A point between two accepted steps, on the constraints, with its own accelerations and multipliers.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Sample {
    pub t: f64,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub acc: Vec<f64>,
    pub lambda: Vec<f64>,
    pub dissipated: f64,
    pub supplied: f64,
}

/// The method with its settings and work space. Holds nothing the future depends on: that is [`State`].
pub struct Integrator {}

impl Integrator {
    /// Checks the settings and sizes the work space.
    pub fn new(_system: &dyn System, _settings: &crate::model::Solver) -> Result<Self> {
        unimplemented!()
    }

    /// Assembles the pose, makes velocities and accelerations consistent, chooses the first step size.
    pub fn start(
        &mut self,
        _system: &dyn System,
        _env: &Environment,
        _t: f64,
        _q: &[f64],
        _v: &[f64],
        _state: &mut State,
    ) -> Result<StartReport> {
        unimplemented!()
    }

    /// One accepted substep towards `t_end`, landing on it exactly by the stretch rule. On an error the state is the last
    /// accepted one.
    pub fn advance(
        &mut self,
        _system: &dyn System,
        _env: &Environment,
        _state: &mut State,
        _t_end: f64,
    ) -> Result<Accepted> {
        unimplemented!()
    }

    /// Inputs or parameters have changed at the present time: the jump rule.
    pub fn jump(
        &mut self,
        _system: &dyn System,
        _env: &Environment,
        _state: &mut State,
    ) -> Result<()> {
        unimplemented!()
    }

    /// A point inside the last accepted step.
    pub fn interpolate(
        &mut self,
        _system: &dyn System,
        _env: &Environment,
        _state: &State,
        _t: f64,
        _out: &mut Sample,
    ) -> Result<()> {
        unimplemented!()
    }
}
