//! What a step works with: the equations at a point of time, the two saddle-point matrices, and scratch vectors.

use super::closure::ClosureWorkspace;
use super::controller::StepControl;
use super::factor_cache::FactorCache;
use super::full_constraints::FullConstraints;
use super::hht::Hht;
use super::singular_accelerations::{ProjectedWorkspace, SideWorkspace};
use super::singularity::TrialPolynomial;
use super::state::{State, Statistics};
pub(super) use super::trial::{Culprit, StepFailure, Trial};
use super::{Environment, Signals};
use crate::constraint::factorization::{Backend, SaddleSparsity};
use crate::constraint::saddle_point::{LinearAlgebraCounts, SaddlePoint};
use crate::formulation::system::{
    Dimensions, EvaluationContext, FullConstraintSet, Properties, System,
};
use crate::model::SolverSettings;

/// Diagonals, as part of the largest, that bodies without mass have where their rigidity is a matter of rows.
const NEARLY_NONE: f64 = 1e-10;

/// The system with everything that stays fixed during a step.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    pub system: &'a dyn System,
    pub env: Environment<'a>,
    pub modes: &'a [i32],
}

/// Sampled inputs: owns the slices a [`Context`] points to.
#[derive(Default)]
pub(super) struct Inputs {
    u: Vec<f64>,
    u_dot: Vec<f64>,
    u_ddot: Vec<f64>,
}

impl Inputs {
    fn new(n: usize) -> Self {
        Self {
            u: vec![0.0; n],
            u_dot: vec![0.0; n],
            u_ddot: vec![0.0; n],
        }
    }

    /// The surroundings of the equations at time `t`.
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
        }
    }
}

/// Scratch vectors, by length.
pub(super) struct Scratch {
    pub q: Vec<f64>,
    pub v: [Vec<f64>; 5],
    pub c: [Vec<f64>; 3],
    /// Constraint rows of a right-hand side; its coordinates are the last of `v`.
    pub row: Vec<f64>,
}

/// The method with its settings, matrices and scratch space.
pub(super) struct Workspace {
    pub method: Hht,
    pub control: StepControl,
    pub settings: SolverSettings,
    pub newton_tolerance: f64,
    pub size: Dimensions,
    pub character: Properties,
    /// Against which the closure of each row is judged.
    pub closure_scale: Vec<f64>,
    pub sparsity: SaddleSparsity,
    /// [S Gᵀ; G −E] at the predicted end of the step.
    pub step_matrix: SaddlePoint,
    /// [M Gᵀ; G −E] at the end of the step; its factor is made only where it is needed.
    pub mass_matrix: SaddlePoint,
    /// Inputs at the point in work, and at points near it.
    pub inputs: Inputs,
    pub nearby: Inputs,
    pub scratch: Scratch,
    pub closure: ClosureWorkspace,
    pub counts: LinearAlgebraCounts,
    /// Factors that serve more than one step.
    pub factor_cache: FactorCache,
    /// Rows that hold in the modes but are left out because they follow from the others: watched, not closed.
    pub redundant: Vec<bool>,
    /// A point beside a singular position.
    pub side: SideWorkspace,
    pub projected: ProjectedWorkspace,
    pub trial_polynomial: TrialPolynomial,
    /// All rows of a system that holds some by its coordinates, once they are needed.
    pub full_constraints: Option<Box<FullConstraints>>,
    /// Where rows rub.
    pub friction: FrictionWorkspace,
}

/// Right-hand sides to which friction of the rows is added, and the multipliers before.
#[derive(Default)]
pub(super) struct FrictionWorkspace {
    pub force: Vec<f64>,
    pub row: Vec<f64>,
    pub before: Vec<f64>,
}

impl FrictionWorkspace {
    fn new(character: &Properties, size: &Dimensions) -> Self {
        if !character.has_constraint_friction {
            return Self::default();
        }
        Self {
            force: vec![0.0; size.nv],
            row: vec![0.0; size.nc],
            before: vec![0.0; size.nc],
        }
    }
}

impl Workspace {
    pub fn new(system: &dyn System, settings: &SolverSettings, backend: Backend) -> Self {
        let size = system.dimensions();
        let pattern = system.sparsity();
        let lift = system.descriptor_form();
        let (nv, nc) = (lift.as_ref()).map_or((size.nv, size.nc), |lift| lift.dimensions());
        let mut sparsity = SaddleSparsity::new(nv, nc, &pattern, backend);
        if nc > 0 {
            sparsity = sparsity.with_characteristic_lengths(|i| system.characteristic_length(i));
            if system
                .full_constraints()
                .is_some_and(FullConstraintSet::multipliers_hidden)
            {
                sparsity = sparsity.with_massless_threshold(NEARLY_NONE);
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
            newton_tolerance: settings
                .newton_tolerance
                .unwrap_or(1e-3 * settings.tolerance),
            size,
            character: system.properties(),
            closure_scale: (0..size.nc)
                .map(|row| system.constraint_scale(row))
                .collect(),
            step_matrix,
            mass_matrix,
            inputs: Inputs::new(size.inputs),
            nearby: Inputs::new(size.inputs),
            scratch: Scratch {
                q: vec![0.0; size.nq],
                v: std::array::from_fn(|_| vec![0.0; size.nv]),
                c: std::array::from_fn(|_| vec![0.0; size.nc]),
                row: vec![0.0; size.nc],
            },
            closure: ClosureWorkspace::new(&size),
            counts: LinearAlgebraCounts::default(),
            factor_cache: FactorCache::new(system),
            redundant: vec![false; size.nc],
            friction: FrictionWorkspace::new(&system.properties(), &size),
            side: SideWorkspace::new(&size),
            projected: ProjectedWorkspace::new(&size),
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

    /// What the state's past has factorised: step size (zero for none), and M.
    pub fn counted(&self) -> (f64, bool) {
        (
            self.factor_cache.counted_step,
            self.factor_cache.counted_mass,
        )
    }

    /// Prepares both matrices for the rows that hold in the state's modes.
    pub fn select(&mut self, system: &dyn System, s: &State) {
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

/// First entry that is NaN or infinite.
pub(super) fn first_not_finite(x: &[f64]) -> Option<usize> {
    x.iter().position(|x| !x.is_finite())
}
