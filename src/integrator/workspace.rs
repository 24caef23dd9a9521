//! Workspace of the integrator: the equations at a time, the two saddle-point matrices, and the vectors of each routine.

use super::accelerations::AccelerationWorkspace;
use super::closure::ClosureWorkspace;
use super::controller::StepControl;
use super::corrector::ErrorVectors;
use super::corrector_pass::EndBeforePass;
use super::factor_cache::FactorCache;
use super::friction_coupling::FrictionCoupling;
use super::full_constraints::FullConstraints;
use super::hht::Hht;
use super::newton::NewtonWorkspace;
use super::projection::ProjectionWorkspace;
use super::singular_accelerations::SideWorkspace;
use super::singularity::TrialPolynomial;
use super::state::{State, Statistics};
use super::{Environment, Signals};
use crate::constraint::saddle_point::{LinearAlgebraCounts, SaddlePoint};
use crate::constraint::sparsity::{Backend, SaddleSparsity};
use crate::formulation::system::{
    ContactFriction, Dimensions, EvaluationContext, FullConstraintSet, IntegralMemory, Properties,
    System,
};
use crate::model::{IntegratorName, SolverSettings};

/// Diagonal of M over the largest one below which a coordinate is massless, where rigid bodies are described by constraints.
const MASSLESS: f64 = 1e-10;

/// The system with all that is constant during a step.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub system: &'a dyn System,
    pub env: Environment<'a>,
    pub modes: &'a [i32],
}

/// Sampled inputs: the slices of an [`EvaluationContext`].
#[derive(Default)]
pub(super) struct Inputs {
    u: Vec<f64>,
    u_dot: Vec<f64>,
    u_ddot: Vec<f64>,
    /// Integrals at the start of the step.
    integrals: Vec<IntegralMemory>,
}

impl Inputs {
    fn new(size: &Dimensions) -> Self {
        let n = size.inputs;
        Self {
            u: vec![0.0; n],
            u_dot: vec![0.0; n],
            u_ddot: vec![0.0; n],
            integrals: Vec::with_capacity(size.integrals),
        }
    }

    fn set_integrals(&mut self, integrals: &[IntegralMemory]) {
        self.integrals.clear();
        self.integrals.extend_from_slice(integrals);
    }

    /// Inputs, parameters, modes and integrals at time `t`.
    pub fn at<'a>(&'a mut self, p: &Problem<'a>, t: f64) -> EvaluationContext<'a> {
        let signals: &dyn Signals = p.env.signals;
        signals.sample(t, &mut self.u, &mut self.u_dot, &mut self.u_ddot);
        EvaluationContext {
            t,
            u: &self.u,
            u_dot: &self.u_dot,
            u_ddot: &self.u_ddot,
            p: p.env.parameters,
            modes: p.modes,
            integrals: &self.integrals,
        }
    }
}

/// A time, a position and a velocity.
#[derive(Clone, Copy)]
pub(super) struct PhasePoint<'a> {
    pub t: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
}

/// Vectors of one evaluation of the equations at a point near the trial. No value is kept from one routine to another.
pub(super) struct EvaluationVectors {
    pub q: Vec<f64>,
    /// Displacement that leads to q.
    pub displacement: Vec<f64>,
    pub v: Vec<f64>,
    pub acc: Vec<f64>,
    pub force: Vec<f64>,
    /// M q̈ + Gᵀλ
    pub inertia: Vec<f64>,
    /// γ, or Φ_t
    pub bias: Vec<f64>,
    /// G q̈
    pub product: Vec<f64>,
}

impl EvaluationVectors {
    fn new(size: &Dimensions) -> Self {
        let (nv, nc) = (|| vec![0.0; size.nv], || vec![0.0; size.nc]);
        Self {
            q: vec![0.0; size.nq],
            displacement: nv(),
            v: nv(),
            acc: nv(),
            force: nv(),
            inertia: nv(),
            bias: nc(),
            product: nc(),
        }
    }
}

/// Settings, matrices and vectors of the integrator. Nothing in it outlives a step, except factorisations of linear systems.
pub(super) struct Workspace {
    pub method: Hht,
    pub control: StepControl,
    pub settings: SolverSettings,
    pub newton_tolerance: f64,
    pub size: Dimensions,
    pub character: Properties,
    /// Scale of the residual of each constraint.
    pub closure_scale: Vec<f64>,
    pub sparsity: SaddleSparsity,
    /// [S Gᵀ; G −E] of Newton's iteration, at the predicted end of the step.
    pub step_matrix: SaddlePoint,
    /// [M Gᵀ; G −E] at the end of the step, factorised only on demand.
    pub mass_matrix: SaddlePoint,
    /// Friction of closed contacts in the solves with the step matrix and with the mass matrix.
    pub step_coupling: FrictionCoupling,
    pub mass_coupling: FrictionCoupling,
    /// Inputs at the end of the step.
    pub inputs: Inputs,
    /// Inputs at a point near it.
    pub nearby: Inputs,
    pub newton: NewtonWorkspace,
    pub closure: ClosureWorkspace,
    pub projection: ProjectionWorkspace,
    pub accelerations: AccelerationWorkspace,
    pub errors: ErrorVectors,
    pub before_pass: EndBeforePass,
    pub evaluation: EvaluationVectors,
    pub counts: LinearAlgebraCounts,
    /// Factorisations that serve more than one step.
    pub factor_cache: FactorCache,
    /// Constraints that are active in the modes and redundant: their residual is watched, they are not enforced.
    pub redundant: Vec<bool>,
    /// A point beside a singular position.
    pub side: SideWorkspace,
    /// A trial that is interpolated back.
    pub trial_polynomial: TrialPolynomial,
    /// The full constraint set of a system that eliminates some constraints by its coordinates, once it is needed.
    pub full_constraints: Option<Box<FullConstraints>>,
}

/// Newton increment accepted, in the error norm.
fn newton_tolerance(settings: &SolverSettings) -> f64 {
    (settings.newton_tolerance).unwrap_or(1e-3 * settings.tolerance)
}

impl Workspace {
    /// Sets the tolerance of the steps that follow.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.settings.tolerance = tolerance;
        self.newton_tolerance = newton_tolerance(&self.settings);
    }

    pub fn new(system: &dyn System, settings: &SolverSettings, backend: Backend) -> Self {
        let size = system.dimensions();
        let pattern = system.sparsity();
        let lift = system.descriptor_form();
        let (nv, nc) = (lift.as_ref()).map_or((size.nv, size.nc), |lift| lift.dimensions());
        let mut switched = switched_constraints(system, &size);
        if let (Some(lift), false) = (&lift, switched.is_empty()) {
            let mut all = vec![false; nc];
            for (&row, switched) in lift.constraint_rows().iter().zip(&switched) {
                all[row as usize] = *switched;
            }
            switched = all;
        }
        let mut sparsity = SaddleSparsity::with_switched(nv, nc, &pattern, backend, &switched);
        if nc > 0 {
            sparsity = sparsity.with_characteristic_lengths(|i| system.characteristic_length(i));
            if system
                .full_constraints()
                .is_some_and(FullConstraintSet::multipliers_hidden)
            {
                sparsity = sparsity.with_massless_threshold(MASSLESS);
            }
        }
        let handling = system.properties().constraint_handling;
        let saddle = || {
            let own = (size.nv, size.nc);
            let (tangent, jacobian) = (pattern.tangent.len(), pattern.jacobian.len());
            SaddlePoint::with_descriptor_form(&sparsity, tangent, jacobian, own, lift.clone())
                .with_handling(handling)
        };
        let (step_matrix, mass_matrix) = (saddle(), saddle());
        Self {
            method: Hht::new(settings.alpha),
            control: StepControl::new(settings),
            settings: *settings,
            newton_tolerance: newton_tolerance(settings),
            size,
            character: system.properties(),
            closure_scale: (0..size.nc)
                .map(|row| system.constraint_scale(row))
                .collect(),
            step_matrix,
            mass_matrix,
            step_coupling: FrictionCoupling::new(&size, &system.properties()),
            mass_coupling: FrictionCoupling::new(&size, &system.properties()),
            inputs: Inputs::new(&size),
            nearby: Inputs::new(&size),
            newton: NewtonWorkspace::new(system, &size),
            projection: ProjectionWorkspace::new(&size),
            accelerations: AccelerationWorkspace::new(&system.properties(), &size),
            errors: ErrorVectors::new(&size),
            before_pass: EndBeforePass::new(&size, settings.integrator == IntegratorName::Auto),
            evaluation: EvaluationVectors::new(&size),
            closure: ClosureWorkspace::new(&size),
            counts: LinearAlgebraCounts::default(),
            factor_cache: FactorCache::new(system),
            redundant: vec![false; size.nc],
            side: SideWorkspace::new(&size),
            trial_polynomial: TrialPolynomial::new(&size),
            full_constraints: None,
            sparsity,
        }
    }

    /// Moves the counters of the linear algebra into the statistics.
    pub fn collect(&mut self, stats: &mut Statistics) {
        stats.factorizations += self.counts.factorizations;
        stats.solves += self.counts.solves;
        self.counts = LinearAlgebraCounts::default();
    }

    /// Factorisations in the history of the state: step size (zero for none), and M.
    pub fn counted(&self) -> (f64, bool) {
        (
            self.factor_cache.counted_step,
            self.factor_cache.counted_mass,
        )
    }

    /// Sets the integrals at the start of the step that is evaluated; none before the start of a run.
    pub fn set_integrals(&mut self, integrals: &[IntegralMemory]) {
        self.inputs.set_integrals(integrals);
        self.nearby.set_integrals(integrals);
    }

    /// Brings the integrals of a state to its present time, position and velocity. A step starts there.
    pub fn update_integrals(&mut self, p: &Problem, s: &mut State) {
        if self.size.integrals > 0 {
            let cx = self.inputs.at(p, s.t);
            p.system.integrals(&cx, &s.q, &s.v, &mut s.integrals);
            self.set_integrals(&s.integrals);
        }
    }

    /// The same after a jump: what was before it says nothing about what follows.
    pub fn restart_integrals(&mut self, p: &Problem, s: &mut State) {
        self.update_integrals(p, s);
        s.integrals
            .iter_mut()
            .for_each(IntegralMemory::forget_previous);
        self.set_integrals(&s.integrals);
    }

    /// Sets the integrals of a state to those of the model.
    pub fn start_integrals(&mut self, p: &Problem, s: &mut State) {
        self.set_integrals(&[]);
        self.update_integrals(p, s);
    }

    /// Activates the constraints of the state's modes in both matrices, without the redundant ones; takes its integrals.
    pub fn select_active(&mut self, system: &dyn System, s: &State) {
        self.set_integrals(&s.integrals);
        self.step_matrix
            .select_active(system, &s.modes, &s.redundant);
        self.mass_matrix
            .select_active(system, &s.modes, &s.redundant);
        if self.size.nc > 0 {
            system.active_constraints(&s.modes, &mut self.redundant);
            for (row, dropped) in self.redundant.iter_mut().zip(&s.redundant) {
                *row &= dropped;
            }
        }
    }
}

/// The constraints that are active only while contacts are closed; empty if there are none.
fn switched_constraints(system: &dyn System, size: &Dimensions) -> Vec<bool> {
    let open = vec![0; size.modes];
    let mut closed = open.clone();
    for i in 0..size.ne {
        system.activate_unilateral(i, &mut closed);
        system.set_contact_friction(i, ContactFriction::Stick([true; 2]), &mut closed);
    }
    if closed == open {
        return Vec::new();
    }
    let [with, without] = [&closed, &open].map(|modes| {
        let mut active = vec![false; size.nc];
        system.active_constraints(modes, &mut active);
        active
    });
    (with.iter().zip(&without))
        .map(|(with, without)| *with && !without)
        .collect()
}

/// First entry that is NaN or infinite.
pub(super) fn first_not_finite(x: &[f64]) -> Option<usize> {
    x.iter().position(|x| !x.is_finite())
}
