//! What a step works with: the equations at a point of time, the two saddle-point matrices, and scratch vectors.

use super::controller::StepControl;
use super::full_constraints::FullConstraints;
use super::hht::Hht;
use super::singular_accelerations::SidePoint;
use super::state::{State, Statistics};
pub(super) use super::trial::{Culprit, StepFailure, Trial};
use super::{Environment, Signals};
use crate::constraint::augmented_lagrangian::ConstraintHandling;
use crate::constraint::factorization::{Backend, Pivots, SaddleSparsity};
use crate::constraint::saddle_point::{LinearAlgebraCounts, SaddlePoint};
use crate::formulation::{Dimensions, EvaluationContext, FullConstraintSet, Properties, System};
use crate::model::{FormulationName, SolverSettings};

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
    pub counts: LinearAlgebraCounts,
    /// Factors that serve more than one step.
    pub factor_cache: FactorCache,
    /// Rows that hold in the modes but are left out because they follow from the others: watched, not closed.
    pub redundant: Vec<bool>,
    /// A point beside a singular position.
    pub side_point: SidePoint,
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

/// Factors of a linear system are good for every step of equal size. What is really there is work space and may be lost
/// (another instance's history after a restore); what counts as a factorisation is decided by what the state's own past
/// has made, so that counters repeat with the motion.
#[derive(Default)]
pub(super) struct FactorCache {
    /// The system is linear and has no modes: M, C, K and G depend on parameters at most.
    constant: bool,
    /// Parameters of the factors that are there.
    parameters: Vec<f64>,
    /// Step size of the factor in `newton`, and whether its position was regular.
    newton: Option<(f64, bool)>,
    /// What the factorisation of `mass` found, if there is one.
    mass: Option<Pivots>,
    /// The same, as the state's past has it: step size of the last factor, zero for none.
    pub counted_step: f64,
    /// The state's past has factorised M.
    pub counted_mass: bool,
}

impl FactorCache {
    fn new(system: &dyn System) -> Self {
        let size = system.dimensions();
        Self {
            constant: system.properties().linear && size.modes == 0,
            parameters: vec![f64::NAN; size.parameters],
            ..Self::default()
        }
    }

    /// Drops everything: the next step makes and counts it anew.
    pub fn drop_all(&mut self) {
        (self.newton, self.mass) = (None, None);
        (self.counted_step, self.counted_mass) = (0.0, false);
    }

    /// Drops what is there, not what has been counted: the next step makes it anew without counting it again.
    pub fn drop_factors(&mut self) {
        (self.newton, self.mass) = (None, None);
    }

    /// Something else is in the place of M.
    pub fn drop_mass(&mut self) {
        self.mass = None;
    }

    /// Drops what is there if it was made with other parameters.
    fn look_at(&mut self, parameters: &[f64]) {
        if self.parameters != parameters {
            self.parameters.copy_from_slice(parameters);
            (self.newton, self.mass) = (None, None);
        }
    }

    /// The factor for steps of size h, if it is there. In any case the state's past has it from now on; true if it is to
    /// be counted.
    pub fn newton(&mut self, h: f64, parameters: &[f64]) -> (Option<bool>, bool) {
        if !self.constant {
            return (None, true);
        }
        self.look_at(parameters);
        let count = self.counted_step != h;
        self.counted_step = h;
        let there = self.newton.filter(|(step, _)| *step == h);
        // Until the new one is made there is none.
        self.newton = there;
        (there.map(|(_, regular)| regular), count)
    }

    /// The factor for steps of size h has been made.
    pub fn keep_newton(&mut self, h: f64, regular: bool) {
        self.newton = self.constant.then_some((h, regular));
    }

    /// The same of `mass`: what was found, if it is there.
    pub fn mass(&mut self, parameters: &[f64]) -> (Option<Pivots>, bool) {
        if !self.constant {
            return (None, true);
        }
        self.look_at(parameters);
        let count = !self.counted_mass;
        self.counted_mass = true;
        (self.mass.take(), count)
    }

    /// `mass` has been factorised.
    pub fn keep_mass(&mut self, pivots: Pivots) {
        self.mass = self.constant.then_some(pivots);
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
        let handling = match settings.formulation {
            FormulationName::Hybrid | FormulationName::Global => ConstraintHandling::Augmented {
                penalty: settings.penalty,
            },
            _ => ConstraintHandling::Multipliers,
        };
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
            counts: LinearAlgebraCounts::default(),
            factor_cache: FactorCache::new(system),
            redundant: vec![false; size.nc],
            friction: FrictionWorkspace::new(&system.properties(), &size),
            side_point: SidePoint::new(&size),
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

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: Pivots = Pivots {
        smallest_constraint: 0.5,
        corrected: 0,
        used_lu: false,
    };

    fn constant() -> FactorCache {
        FactorCache {
            constant: true,
            parameters: vec![f64::NAN],
            ..FactorCache::default()
        }
    }

    #[test]
    fn equal_steps_share_a_factor_and_count_it_once() {
        let mut kept = constant();
        assert_eq!(kept.newton(0.1, &[1.0]), (None, true));
        kept.keep_newton(0.1, false);
        assert_eq!(kept.newton(0.1, &[1.0]), (Some(false), false));
        assert_eq!(kept.newton(0.2, &[1.0]), (None, true));
        kept.keep_newton(0.2, true);
        assert_eq!(kept.newton(0.1, &[1.0]), (None, true));
        assert_eq!(kept.mass(&[1.0]), (None, true));
        kept.keep_mass(FOUND);
        assert_eq!(kept.mass(&[1.0]), (Some(FOUND), false));
    }

    #[test]
    fn a_factor_made_with_other_parameters_is_not_used() {
        let mut kept = constant();
        kept.newton(0.1, &[1.0]);
        kept.keep_newton(0.1, true);
        kept.mass(&[1.0]);
        kept.keep_mass(FOUND);
        // Another past that counts the same step has been restored: nothing to count, yet everything to make.
        assert_eq!(kept.newton(0.1, &[2.0]), (None, false));
        assert_eq!(kept.mass(&[2.0]), (None, false));
    }

    #[test]
    fn a_factor_that_failed_is_not_there() {
        let mut kept = constant();
        kept.mass(&[1.0]);
        kept.newton(0.1, &[1.0]);
        assert_eq!(kept.mass(&[1.0]).0, None);
        assert_eq!(kept.newton(0.1, &[1.0]).0, None);
    }

    #[test]
    fn what_changes_is_made_and_counted_every_time() {
        let mut kept = FactorCache::default();
        for _ in 0..2 {
            assert_eq!(kept.newton(0.1, &[]), (None, true));
            kept.keep_newton(0.1, true);
            assert_eq!(kept.mass(&[]), (None, true));
            kept.keep_mass(FOUND);
        }
    }
}
