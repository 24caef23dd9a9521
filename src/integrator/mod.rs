//! Time integration of a [`System`]: HHT with its corrector, or VSA23; error control, events, singular positions.
//!
//! Read `step` first: the loop of planning, trying and accepting a step. Its parts:
//!
//! ```text
//!   method           what the loop asks of a method: hht (newton, closure, projections, corrector, error_estimate), vsa23
//!   trial            a trial step, its plan, and why it failed         controller   error test and next step size
//!   event            events inside a step, impacts                     singularity  steps near singular positions
//!   redundancy       which constraints are redundant                   repartition  other independent coordinates
//!   start            consistent initial values, restarts               interpolation, evaluate, reactions   results
//! ```

mod accelerations;
mod closure;
mod controller;
mod corrector;
mod corrector_pass;
mod error_estimate;
mod evaluate;
mod event;
mod factor_cache;
mod friction_coupling;
mod full_constraints;
mod hermite;
mod hermite_polynomial;
mod hht;
mod hht_step;
mod interpolation;
mod method;
mod motion_time;
mod newton;
mod projection;
mod reactions;
mod redundancy;
mod rejection;
mod repartition;
mod singular_accelerations;
mod singularity;
mod smooth;
pub mod start;
mod state;
mod step;
mod tolerances;
mod trial;
pub mod vsa23;
mod workspace;

pub use hht::Hht;
pub use rejection::{REJECTION_REASONS, RejectedStep};
pub use state::{
    Accepted, EventMemory, EventSide, Sample, SampleLevel, StartReport, State, StateVisitor,
    Statistics,
};

use self::event::{ContactSet, EventDetector, ImpactSolver};
use self::interpolation::Segment;
use self::method::Method;
use self::trial::Trial;
use self::workspace::Workspace;
use crate::constraint::sparsity::Backend;
use crate::error::Result;
use crate::formulation::system::System;
use crate::model::{IntegratorName, SolverSettings};

/// The inputs as functions of time, given up to the next communication point and continued smoothly beyond it.
pub trait Signals {
    /// u, du/dt and d²u/dt² at `t`.
    fn sample(&self, t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]);
}

/// No inputs, or inputs that are zero.
impl Signals for () {
    fn sample(&self, _t: f64, u: &mut [f64], u_dot: &mut [f64], u_ddot: &mut [f64]) {
        u.fill(0.0);
        u_dot.fill(0.0);
        u_ddot.fill(0.0);
    }
}

/// Inputs and parameters: constant during a step, they may change between steps.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Inputs.
    pub signals: &'a dyn Signals,
    /// Parameters.
    pub parameters: &'a [f64],
}

/// A method with its settings and workspace. Holds nothing the future of a run depends on: that is [`State`].
pub struct Integrator {
    work: Workspace,
    method: Box<dyn Method>,
    trial: Trial,
    /// The last accepted step, for interpolation.
    segment: Segment,
    events: EventDetector,
    impacts: ImpactSolver,
    contact_set: ContactSet,
    /// Modes of the step.
    modes: Vec<i32>,
    /// Modes after an event at its end.
    modes_after: Vec<i32>,
    /// The state before the step, where it is changed before the step is known to succeed.
    backup: State,
    has_backup: bool,
    /// The system may choose other independent coordinates after a step.
    repartitions: bool,
    /// Rejected trial steps, where they are recorded.
    rejected_steps: Option<Vec<RejectedStep>>,
}

impl Integrator {
    /// Validates the settings and allocates the workspace.
    pub fn new(system: &dyn System, settings: &SolverSettings) -> Result<Self> {
        Self::with_backend(system, settings, Backend::Auto)
    }

    /// The same with a chosen linear algebra (for tests and benches).
    pub fn with_backend(
        system: &dyn System,
        settings: &SolverSettings,
        backend: Backend,
    ) -> Result<Self> {
        settings.validate()?;
        let (work, method) = method::build(system, settings, backend)?;
        let size = system.dimensions();
        Ok(Self {
            work,
            method,
            trial: Trial::new(&size),
            segment: Segment::new(&size, settings.integrator == IntegratorName::Auto),
            events: EventDetector::new(&size),
            impacts: ImpactSolver::new(&size),
            contact_set: ContactSet::new(system, &size),
            modes: vec![0; size.modes],
            modes_after: vec![0; size.modes],
            // Without events it is used only where redundancy is updated, which allocates anyway.
            backup: if size.ne > 0 {
                State::sized(&size)
            } else {
                State::default()
            },
            has_backup: false,
            repartitions: system.partitioning().is_some(),
            rejected_steps: None,
        })
    }

    /// Sets the tolerance of the steps that follow.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.work.set_tolerance(tolerance);
    }
}
