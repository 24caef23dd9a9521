//! Multipliers of the tree joints from the equilibrium of the bodies: a joint carries the sum of all other forces on its subtree.
//!
//! ```text
//!   R = M a − f + G_closureᵀ λ_closure,      W_b = R_b + Σ Xᵀ W_child,      G_bᵀ λ_b = −W_b
//! ```
//!
//! W_b has no component along the joint coordinates if the equations of motion are satisfied; otherwise least squares ignore it.

use super::joint_map::JointMap;
use super::tree::Branch;
use super::{Relative, RelativeCache};
use crate::formulation::absolute::Absolute;
use crate::formulation::{Evaluated, EvaluationContext, FullConstraintSet, MotionPoint, System};

/// The constraints of a tree joint on its child.
#[derive(Clone, Debug)]
pub(super) struct TreeReactions {
    /// Constraints in absolute coordinates.
    rows: std::ops::Range<usize>,
    /// (entry of the Jacobian, constraint from the first, coordinate of the body)
    entries: Vec<(u32, u8, u8)>,
}

/// Returns the first constraint of the part to which a row belongs; ascending in the order of the entries.
fn part_of<W: JointMap<N>, const N: usize>(inner: &Absolute<W, N>, row: u32) -> usize {
    let after = inner
        .constraints
        .partition_point(|owned| owned.first <= row as usize);
    inner.constraints[after - 1].first
}

/// Largest number of constraints of a joint.
const MAX_CONSTRAINTS: usize = 6;

impl TreeReactions {
    pub fn new<W: JointMap<N>, const N: usize>(
        inner: &Absolute<W, N>,
        branch: &Branch<W::Link>,
    ) -> Self {
        let Some(joint) = branch.joint else {
            return Self {
                rows: 0..0,
                entries: vec![],
            };
        };
        let parts = &inner.constraints[inner.joints[joint].constraints.clone()];
        let first = parts.first().map_or(0, |owned| owned.first);
        let last = parts
            .last()
            .map_or(0, |owned| owned.first + owned.part.count());
        let own = branch.body * (N / 2)..(branch.body + 1) * (N / 2);
        // Entries are in the order of their parts.
        let jacobian = &inner.sparsity.jacobian;
        let from = jacobian.partition_point(|(row, _)| part_of(inner, *row) < first);
        let entries = (jacobian.iter().enumerate().skip(from))
            .take_while(|(_, (row, _))| (*row as usize) < last)
            .filter(|(_, (_, column))| own.contains(&(*column as usize)))
            .map(|(slot, (row, column))| {
                let (i, j) = (*row as usize - first, *column as usize - own.start);
                (slot as u32, i as u8, j as u8)
            })
            .collect();
        Self {
            rows: first..last,
            entries,
        }
    }

    /// Solves Gᵀ λ = −load over the coordinates of the body by least squares with a weight for each coordinate.
    fn solve<const N: usize>(&self, g: &[f64], load: &[f64], weight: &[f64], lambda: &mut [f64]) {
        let (m, width) = (self.rows.len().min(MAX_CONSTRAINTS), N / 2);
        let mut rows = [[0.0; N]; MAX_CONSTRAINTS];
        for &(slot, i, j) in &self.entries {
            rows[i as usize][j as usize] += g[slot as usize];
        }
        let mut a = [[0.0; MAX_CONSTRAINTS]; MAX_CONSTRAINTS];
        let mut x = [0.0; MAX_CONSTRAINTS];
        for i in 0..m {
            for k in 0..width {
                x[i] -= rows[i][k] * weight[k] * load[k];
                for j in 0..=i {
                    a[i][j] += rows[i][k] * weight[k] * rows[j][k];
                }
            }
        }
        cholesky(&mut a, &mut x, m);
        lambda[self.rows.clone()].copy_from_slice(&x[..m]);
    }
}

/// x := a⁻¹ x, a by its lower triangle.
fn cholesky(
    a: &mut [[f64; MAX_CONSTRAINTS]; MAX_CONSTRAINTS],
    x: &mut [f64; MAX_CONSTRAINTS],
    m: usize,
) {
    for j in 0..m {
        for k in 0..j {
            for i in j..m {
                a[i][j] -= a[i][k] * a[j][k];
            }
        }
        let pivot = a[j][j].sqrt();
        for i in j..m {
            a[i][j] /= pivot;
        }
    }
    for i in 0..m {
        for k in 0..i {
            x[i] -= a[i][k] * x[k];
        }
        x[i] /= a[i][i];
    }
    for i in (0..m).rev() {
        for k in i + 1..m {
            x[i] -= a[k][i] * x[k];
        }
        x[i] /= a[i][i];
    }
}

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    /// Writes all multipliers in absolute coordinates into `work.lambda` and the accelerations of the bodies into `work.y`. The cache holds
    /// the velocities.
    pub(super) fn balance(
        &self,
        cx: &EvaluationContext,
        work: &mut RelativeCache,
        a: &[f64],
        lambda: &[f64],
    ) -> Evaluated {
        let width = N / 2;
        (self.tree).accelerate(&work.geometry, a, &work.bias, &mut work.y);
        let force = &mut work.tangent.inertia;
        self.inner.mass_times(cx, &work.q, &work.y, &mut work.x);
        let outcome = self.inner.force(cx, &work.q, &work.v, force);
        for (k, &row) in self.rows.iter().enumerate() {
            work.lambda[row] = lambda[k];
        }
        self.inner
            .constraint_friction(cx, &work.q, &work.v, &work.lambda, force);
        for (x, f) in work.x.iter_mut().zip(force) {
            *x -= *f;
        }
        self.inner.jacobian(cx, &work.q, &mut work.g);
        for closure in &self.closures {
            for slot in closure.slots.clone() {
                let (row, column) = self.inner.sparsity.jacobian[slot];
                work.x[column as usize] += work.g[slot] * work.lambda[row as usize];
            }
        }
        let mut weight = [1.0; N];
        weight[W::DIMENSION..width].fill(1.0 / (self.inner.length * self.inner.length));
        for (k, branch) in self.tree.branches.iter().enumerate().rev() {
            let own = width * branch.body..width * (branch.body + 1);
            self.tree_reactions[k].solve::<N>(&work.g, &work.x[own], &weight, &mut work.lambda);
            self.tree.hand_on(k, &work.geometry, &mut work.x);
        }
        outcome
    }

    /// Returns the motion of the bodies with all multipliers. The cache holds the velocities.
    pub(super) fn lifted<'a>(
        &self,
        cx: &EvaluationContext,
        work: &'a mut RelativeCache,
        at: &MotionPoint,
    ) -> MotionPoint<'a> {
        // Without forces the reactions are unknown.
        if self.balance(cx, work, at.a, at.lambda).is_err() {
            work.lambda.fill(f64::NAN);
        }
        MotionPoint {
            q: &work.q,
            v: &work.v,
            a: &work.y,
            lambda: &work.lambda,
        }
    }
}

impl<W: JointMap<N>, const N: usize> FullConstraintSet for Relative<W, N> {
    fn system(&self) -> &dyn System {
        &self.inner
    }

    fn constraint_rows(&self) -> &[usize] {
        &self.rows
    }

    fn configuration(&self, (z, z_dot): (&[f64], &[f64]), q: &mut [f64], v: &mut [f64]) {
        let work = self.moving(z, z_dot);
        q.copy_from_slice(&work.q);
        v.copy_from_slice(&work.v);
    }

    fn multipliers(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        lambda: &mut [f64],
    ) -> Evaluated {
        let work = &mut *self.moving(at.q, at.v);
        self.balance(cx, work, at.a, at.lambda)?;
        lambda.copy_from_slice(&work.lambda);
        Ok(())
    }
}
