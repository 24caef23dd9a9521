//! Quantities in independent coordinates: those of the inner system, with the multipliers of the loops for reaction forces.
//!
//! ```text
//!   J_dᵀ λ = −[ Bᵀ (M z̈ − f + G_ownᵀ λ_own) ]_d          solved constraints only
//! ```
//!
//! Reactions of redundant constraints are distributed: minimum norm of all multipliers of the mechanism, those of the tree included, each
//! times the scale of its constraint (`constraint/reactions.rs`).

use super::kinematics::{CoordinateKind, CoordinateLayout};
use super::{Topological, TopologicalCache};
use crate::formulation::relative::closure::ClosureConstraints;
use crate::formulation::{
    BodyAssembly, Evaluated, EvaluationContext, FullConstraintSet, Mechanism, MotionPoint, System,
};
use crate::linalg::dense_lu::DenseLu;
use crate::model::quantity::{JointField, Quantity};

/// Scratch for the distribution of reactions of redundant constraints.
#[derive(Clone, Debug, Default)]
pub(super) struct MinimumNormReactions {
    /// Loop constraints that are not solved.
    redundant: Vec<usize>,
    /// All multipliers, and their change with a unit multiplier of each redundant constraint.
    all: Vec<f64>,
    changed: Vec<Vec<f64>>,
    /// Scale of each constraint.
    scale: Vec<f64>,
    normal: DenseLu,
    share: Vec<f64>,
    /// Each redundant constraint as a combination of the solved ones.
    combination: Vec<Vec<f64>>,
}

impl MinimumNormReactions {
    pub fn new(inner: &dyn ClosureConstraints, l: &CoordinateLayout) -> Self {
        let count = l.rows.len() - l.rank;
        let Some(whole) = inner.full_constraints().filter(|_| count > 0) else {
            return Self::default();
        };
        let (system, nc) = (whole.system(), whole.system().dimensions().nc);
        Self {
            redundant: Vec::with_capacity(count),
            all: vec![0.0; nc],
            changed: vec![vec![0.0; nc]; count],
            scale: (0..nc).map(|k| system.constraint_scale(k)).collect(),
            normal: DenseLu::new(count),
            share: vec![0.0; count],
            combination: vec![vec![0.0; l.rank]; count],
        }
    }
}

impl Topological {
    /// Writes z̈ into `z[1]`, M z̈ − f + G_ownᵀλ_own into `z[2]`, all multipliers of the inner system into `lambda`. The cache holds the
    /// velocities.
    pub(super) fn balance(
        &self,
        cx: &EvaluationContext,
        work: &mut TopologicalCache,
        a: &[f64],
        own: &[f64],
    ) -> Evaluated {
        let l = &self.layout;
        work.accelerate(l, a);
        work.spread(l, own);
        let [scratch, z_ddot, left, _] = &mut work.z;
        let (z, rates) = (work.here.z(l), &work.here.rates);
        let outcome = self.inner.force(cx, z, &rates.z_dot, scratch);
        (self.inner).constraint_friction(cx, z, &rates.z_dot, &work.lambda, scratch);
        self.inner.mass_times(cx, z, z_ddot, left);
        for (left, f) in left.iter_mut().zip(&*scratch) {
            *left -= f;
        }
        for (entry, g) in l.entries.iter().zip(&work.here.g) {
            if let CoordinateKind::Own(row, column) = entry {
                left[*column as usize] += g * own[*row as usize];
            }
        }
        scratch.copy_from_slice(left);
        work.here.off_joints(l, scratch);
        let [lambda, _] = &mut work.rows;
        work.here
            .solve_multipliers(l, scratch, &mut work.column, lambda);
        for (&row, lambda) in l.rows.iter().zip(lambda) {
            work.lambda[row] = *lambda;
        }
        outcome
    }

    /// Returns the motion of the inner system with all multipliers. The cache holds the velocities.
    pub(super) fn expand<'a>(
        &self,
        cx: &EvaluationContext,
        work: &'a mut TopologicalCache,
        at: &MotionPoint,
    ) -> MotionPoint<'a> {
        // Without forces the reactions are unknown.
        if self.balance(cx, work, at.a, at.lambda).is_err() {
            work.lambda.fill(f64::NAN);
        }
        motion(work, &self.layout)
    }

    /// Returns the motion with the reactions of redundant constraints distributed.
    fn with_distributed_reactions<'a>(
        &self,
        cx: &EvaluationContext,
        work: &'a mut TopologicalCache,
        at: &MotionPoint,
    ) -> MotionPoint<'a> {
        let l = &self.layout;
        self.expand(cx, work, at);
        let mut least = std::mem::take(&mut work.least);
        if let Some(whole) = self
            .inner
            .full_constraints()
            .filter(|_| !least.combination.is_empty())
        {
            self.distribute_reactions(cx, whole, work, &mut least);
        }
        work.least = least;
        motion(work, l)
    }

    fn distribute_reactions(
        &self,
        cx: &EvaluationContext,
        whole: &dyn FullConstraintSet,
        work: &mut TopologicalCache,
        least: &mut MinimumNormReactions,
    ) {
        let (l, n) = (&self.layout, self.layout.looped.len());
        let MinimumNormReactions {
            redundant,
            all,
            changed,
            scale,
            normal,
            share,
            combination,
        } = least;
        let place = &work.here;
        redundant.clear();
        redundant.extend((0..l.rows.len()).filter(|k| !place.solved.contains(k)));
        if whole.multipliers(cx, &motion(work, l), all).is_err() {
            return;
        }
        for ((&row, changed), combination) in
            redundant.iter().zip(&mut *changed).zip(&mut *combination)
        {
            let place = &work.here;
            for (x, &k) in combination.iter_mut().zip(&place.dependent) {
                *x = -place.j[row * n + k] / l.weight[l.looped[k]];
            }
            place.factor.solve_transposed(combination);
            for (x, &solved) in combination.iter_mut().zip(&place.solved) {
                *x /= l.scale[solved];
            }
            let turn = |work: &mut TopologicalCache, sign: f64| {
                work.lambda[l.rows[row]] += sign;
                for (x, &solved) in combination.iter().zip(&work.here.solved) {
                    work.lambda[l.rows[solved]] += sign * x;
                }
            };
            turn(work, 1.0);
            let known = whole.multipliers(cx, &motion(work, l), changed).is_ok();
            turn(work, -1.0);
            if !known {
                return;
            }
            for (x, all) in changed.iter_mut().zip(&*all) {
                *x -= all;
            }
        }
        let count = redundant.len();
        let a = normal.cleared();
        let dot = |x: &[f64], y: &[f64]| -> f64 {
            (x.iter().zip(y).zip(scale.iter()))
                .map(|((x, y), s)| x * y * s * s)
                .sum()
        };
        for i in 0..count {
            for j in 0..count {
                a[i * count + j] = dot(&changed[i], &changed[j]);
            }
            share[i] = -dot(&changed[i], all);
        }
        if normal.factor_above(0.0).is_err() {
            return;
        }
        normal.solve(share);
        for ((&row, combination), share) in redundant.iter().zip(&*combination).zip(&*share) {
            work.lambda[l.rows[row]] += share;
            for (x, &solved) in combination.iter().zip(&work.here.solved) {
                work.lambda[l.rows[solved]] += share * x;
            }
        }
    }
}

/// Returns the motion in the cache.
fn motion<'a>(work: &'a TopologicalCache, l: &CoordinateLayout) -> MotionPoint<'a> {
    MotionPoint {
        q: work.here.z(l),
        v: &work.here.rates.z_dot,
        a: &work.z[1],
        lambda: &work.lambda,
    }
}

impl Mechanism for Topological {
    fn body_assembly(&self) -> Option<&dyn BodyAssembly> {
        self.inner
            .body_assembly()
            .map(|_| self as &dyn BodyAssembly)
    }

    fn initial_state(&self, q: &mut [f64], v: &mut [f64]) {
        let l = &self.layout;
        let mut z_dot = vec![0.0; l.inner.nv];
        self.inner.initial_state(&mut q[l.joints()], &mut z_dot);
        self.settle(&self.first, &z_dot, q, v);
    }

    fn evaluate(&self, cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64 {
        let Some(mut guard) = self.moving(at.q, at.v) else {
            return f64::NAN;
        };
        let (l, work) = (&self.layout, &mut *guard);
        let reaction = matches!(
            quantity,
            Quantity::Joint(_, JointField::Force(_) | JointField::Moment(_))
        );
        if reaction {
            let motion = self.with_distributed_reactions(cx, work, at);
            return self.inner.evaluate(cx, quantity, &motion);
        }
        work.accelerate(l, at.a);
        work.spread(l, at.lambda);
        self.inner.evaluate(cx, quantity, &motion(work, l))
    }
}

impl BodyAssembly for Topological {
    fn bodies(&self) -> &dyn Mechanism {
        match self.inner.body_assembly() {
            Some(assembly) => assembly.bodies(),
            None => self,
        }
    }

    fn coordinates_from_bodies(
        &self,
        poses: &[f64],
        rates: &[f64],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Option<String> {
        let l = &self.layout;
        let mut z_dot = vec![0.0; l.inner.nv];
        let z = &mut q[l.joints()];
        let off = (self.inner.body_assembly())
            .and_then(|r| r.coordinates_from_bodies(poses, rates, z, &mut z_dot));
        self.settle(&self.first, &z_dot, q, v);
        off
    }
}

impl FullConstraintSet for Topological {
    fn system(&self) -> &dyn System {
        self.inner
            .full_constraints()
            .map_or(self, |whole| whole.system())
    }

    fn constraint_rows(&self) -> &[usize] {
        &self.whole_rows
    }

    fn configuration(&self, (q, v): (&[f64], &[f64]), poses: &mut [f64], rates: &mut [f64]) {
        match (self.inner.full_constraints(), self.moving(q, v)) {
            (Some(whole), Some(work)) => {
                let at = (work.here.z(&self.layout), &work.here.rates.z_dot[..]);
                whole.configuration(at, poses, rates);
            }
            _ => {
                poses.fill(f64::NAN);
                rates.fill(f64::NAN);
            }
        }
    }

    fn multipliers(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        lambda: &mut [f64],
    ) -> Evaluated {
        let (Some(whole), Some(mut guard)) =
            (self.inner.full_constraints(), self.moving(at.q, at.v))
        else {
            lambda.fill(f64::NAN);
            return Ok(());
        };
        let work = &mut *guard;
        self.balance(cx, work, at.a, at.lambda)?;
        whole.multipliers(cx, &motion(work, &self.layout), lambda)
    }
}
