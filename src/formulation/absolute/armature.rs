//! Armature: inertia of a joint coordinate, that of a rotor which turns with it.
//!
//! ```text
//!   T = ½ J ċ²,      J c̈ g on the side of M a,      c̈ = g·a + vᵀ H v
//! ```
//!
//! Of the derivatives of J c̈ g along the motion, that of vᵀ H v is left out of K: it vanishes for the coordinates of pins, and Newton's
//! iteration converges without it.

use std::sync::Arc;

use super::geometry::{Geometry, RelativeCoordinate as _, transposed_times};
use super::sparsity::{PairSlots, SparsityBuilder, gather, pick, scatter};
use super::{Absolute, MechanismGeometry};
use crate::error::Result;
use crate::formulation::joint::{self, JointEquations};
use crate::model::{JointCoordinate, Model};

/// The inertia J of a relative coordinate.
#[derive(Debug)]
pub(in crate::formulation) struct Armature<W: Geometry<N>, const N: usize> {
    coordinate: W::RelativeCoordinate,
    /// J (kg m² or kg)
    inertia: f64,
    slots: PairSlots<N>,
}

/// The armatures of the joints of a model.
pub(super) fn armatures<W: Geometry<N>, const N: usize>(
    model: &Model,
    joints: &[JointEquations<W, N>],
    slots: &mut SparsityBuilder,
) -> Result<Vec<Arc<Armature<W, N>>>> {
    let mut all = vec![];
    for (index, written) in model.joints.iter().enumerate() {
        for (k, &inertia) in written.armature.iter().enumerate() {
            if inertia == 0.0 {
                continue;
            }
            let of = JointCoordinate {
                joint: index,
                index: k,
            };
            for coordinate in joint::acting(model, joints, of, &written.name)? {
                let slots = slots.body_pair(coordinate.bodies(), |i, j| {
                    coordinate.has_curvature(i, j)
                        || coordinate.depends_on(i) && coordinate.depends_on(j)
                });
                all.push(Arc::new(Armature {
                    coordinate,
                    inertia,
                    slots,
                }));
            }
        }
    }
    Ok(all)
}

impl<W: MechanismGeometry<N>, const N: usize> Absolute<W, N> {
    /// out += J g (g·x) of all armatures, x the sum of vectors with factors.
    pub(in crate::formulation) fn add_armature_times(
        &self,
        q: &[f64],
        x: &[(f64, &[f64])],
        out: &mut [f64],
    ) {
        if self.armatures.is_empty() {
            return;
        }
        let poses = &mut W::poses(q);
        for armature in &self.armatures {
            let bodies = armature.coordinate.bodies();
            let (_, g) = armature.coordinate.value(poses);
            for (factor, x) in x {
                let product = factor * armature.inertia * gather(bodies, &g, x);
                scatter(bodies, product, &g, out);
            }
        }
    }

    /// out −= J g vᵀ H v
    pub(super) fn add_armature_force(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        if self.armatures.is_empty() {
            return;
        }
        let poses = &mut W::poses(q);
        for armature in &self.armatures {
            let bodies = armature.coordinate.bodies();
            let (_, g) = armature.coordinate.value(poses);
            let bias = armature.coordinate.curvature(poses, &pick(bodies, v));
            scatter(bodies, -armature.inertia * bias, &g, out);
        }
    }

    /// out += mass J g gᵀ + damping J g ((H + Hᵀ) v)ᵀ
    pub(super) fn add_armature_tangent(
        &self,
        (q, v): (&[f64], &[f64]),
        mass: f64,
        damping: f64,
        out: &mut [f64],
    ) {
        if self.armatures.is_empty() {
            return;
        }
        let poses = &mut W::poses(q);
        for armature in &self.armatures {
            let (_, g) = armature.coordinate.value(poses);
            let mut row = g.map(|g| mass * armature.inertia * g);
            if damping != 0.0 {
                let h = armature.coordinate.hessian(poses);
                let v = pick(armature.coordinate.bodies(), v);
                let hv = transposed_times(&h, &v);
                for i in 0..N {
                    let vh: f64 = (0..N).map(|j| h[i][j] * v[j]).sum();
                    row[i] += damping * armature.inertia * (hv[i] + vh);
                }
            }
            armature.slots.add_outer(&g, &row, out);
        }
    }

    /// out += stiffness J (c̈ H + g (Hᵀ a)ᵀ)
    pub(super) fn add_armature_stiffness(
        &self,
        (q, v, a): (&[f64], &[f64], &[f64]),
        stiffness: f64,
        out: &mut [f64],
    ) {
        if self.armatures.is_empty() || stiffness == 0.0 {
            return;
        }
        let poses = &mut W::poses(q);
        for armature in &self.armatures {
            let bodies = armature.coordinate.bodies();
            let (_, g) = armature.coordinate.value(poses);
            let h = armature.coordinate.hessian(poses);
            let (v, own) = (pick(bodies, v), pick(bodies, a));
            let change = gather(bodies, &g, a) + armature.coordinate.curvature(poses, &v);
            let factor = stiffness * armature.inertia;
            armature.slots.add_matrix(factor * change, &h, out);
            let row = transposed_times(&h, &own).map(|x| factor * x);
            armature.slots.add_outer(&g, &row, out);
        }
    }

    /// ½ Σ J ċ²
    pub(super) fn armature_energy(&self, q: &[f64], v: &[f64]) -> f64 {
        let poses = &mut W::poses(q);
        let of_one = |armature: &Arc<Armature<W, N>>| {
            let (_, g) = armature.coordinate.value(poses);
            let rate = gather(armature.coordinate.bodies(), &g, v);
            0.5 * armature.inertia * rate * rate
        };
        self.armatures.iter().map(of_one).sum()
    }
}
