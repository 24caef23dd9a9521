//! Loop-closure constraints for coordinate partitioning: those of cut joints and of couplings. They depend on the configuration only,
//! not on time or inputs.

use super::joint_map::JointMap;
use super::{ClosureConstraint, Relative};
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::{EvaluationContext, Mechanism};

/// A context for constraints that do not depend on time, inputs or modes.
pub const NOWHERE: EvaluationContext<'static> = EvaluationContext {
    t: 0.0,
    u: &[],
    u_dot: &[],
    u_ddot: &[],
    p: &[],
    modes: &[],
    integrals: &[],
};

/// A mechanism in joint coordinates with closed loops.
pub trait ClosureConstraints: Mechanism {
    /// Returns the constraints that are always active, do not depend on time and restrict coordinates, ascending.
    fn loop_rows(&self) -> Vec<usize>;

    /// Returns the rotations on the group: first stored and first tangent coordinate of each.
    fn turning(&self) -> Vec<(usize, usize)>;

    /// Writes Φ of these constraints.
    fn close(&self, z: &[f64], phi: &mut [f64]);

    /// Writes (G ż)_z ż of these constraints.
    fn bend(&self, z: &[f64], z_dot: &[f64], gamma: &mut [f64]);

    /// Writes the displacement of the bodies per unit of each coordinate, relative to the characteristic length: makes angles comparable
    /// with displacements.
    fn reach(&self, z: &[f64], out: &mut [f64]);
}

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    /// Returns the number of parts of joints and couplings; they come first.
    fn joint_parts(&self) -> usize {
        (self.inner.joints.iter())
            .map(|joint| joint.constraints.end)
            .max()
            .unwrap_or(0)
    }

    /// Whether coordinate partitioning can use a closure, one of `parts` parts of joints: it does not depend on time or modes, and a
    /// coordinate moves its bodies relative to each other. Between bodies that are fixed to each other it has no coordinate to eliminate.
    fn eliminates(
        &self,
        parts: usize,
        part: &ConstraintPart<W, N>,
        closure: &ClosureConstraint,
    ) -> bool {
        let moves = |&branch: &usize| self.tree.branches[branch].moved.1 > 0;
        closure.part < parts
            && !part.is_moving()
            && !part.has_modes()
            && closure.path.iter().any(moves)
    }
}

impl<W: JointMap<N>, const N: usize> ClosureConstraints for Relative<W, N> {
    fn loop_rows(&self) -> Vec<usize> {
        let parts = self.joint_parts();
        (self.closures.iter())
            .filter(|closure| {
                let part = &self.inner.constraints[closure.part].part;
                self.eliminates(parts, part, closure)
            })
            .flat_map(|closure| closure.rows.clone())
            .collect()
    }

    fn turning(&self) -> Vec<(usize, usize)> {
        self.rotations().collect()
    }

    fn close(&self, z: &[f64], phi: &mut [f64]) {
        let (work, parts) = (&mut *self.at(z), self.joint_parts());
        let poses = &mut W::poses(&work.q);
        let mut at = 0;
        self.each_closure(|part, closure| {
            if self.eliminates(parts, part, closure) {
                part.constraint(&NOWHERE, poses, &mut phi[at..]);
                at += part.count();
            }
        });
    }

    fn bend(&self, z: &[f64], z_dot: &[f64], gamma: &mut [f64]) {
        let (work, parts) = (&mut *self.moving(z, z_dot), self.joint_parts());
        self.load_closures(&NOWHERE, work);
        work.joints.fill(0.0);
        (self.tree).accelerate(&work.geometry, &work.joints, &work.bias, &mut work.y);
        let poses = &mut W::poses(&work.q);
        let mut at = 0;
        self.each_closure(|part, closure| {
            if self.eliminates(parts, part, closure) {
                part.acceleration_bias(&NOWHERE, poses, &work.v, &mut gamma[at..]);
                for slot in closure.slots.clone() {
                    let (row, column) = self.inner.sparsity.jacobian[slot];
                    gamma[at + row as usize - closure.inner] +=
                        work.g[slot] * work.y[column as usize];
                }
                at += part.count();
            }
        });
    }

    fn reach(&self, z: &[f64], out: &mut [f64]) {
        let work = &mut *self.at(z);
        let length = self.inner.length;
        for i in 0..out.len() {
            work.joints.fill(0.0);
            work.joints[i] = 1.0;
            (self.tree).carry(&work.geometry, &work.joints, &mut work.y);
            let mut sum = 0.0;
            for body in work.y.chunks_exact(Self::WIDTH) {
                let (far, turned) = body.split_at(W::DIMENSION);
                sum += far.iter().map(|x| x * x).sum::<f64>() / (length * length);
                sum += turned.iter().map(|x| x * x).sum::<f64>();
            }
            out[i] = sum.sqrt();
        }
    }
}
