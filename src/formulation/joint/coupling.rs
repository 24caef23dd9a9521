//! Couples the coordinates of two other joints: Φ = c_b − F(c_a). A ratio is relative to the initial pose:
//! c_b − c_b⁰ = ratio (c_a − c_a⁰).
//!
//! The reaction of a coupling is its force on `bodies[1]` of the second joint, at the point of that joint: for revolute joints the
//! moment τ about the axis. On the first joint it acts with −F' τ, so that no power is lost.

use super::{JointEquations, coordinate, initial_value};
use crate::error::Result;
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::function::Function;
use crate::model::{Coupling, CouplingLaw, Model};

/// The constraint of a coupling.
pub fn part<W: Geometry<N>, const N: usize>(
    model: &Model,
    index: usize,
    coupling: &Coupling,
    joints: &[JointEquations<W, N>],
    q: &[f64],
    slots: &mut SparsityBuilder,
) -> Result<ConstraintPart<W, N>> {
    let name = &model.joints[index].name;
    let [a, b] = coupling.coordinates;
    let coordinates = [
        coordinate(model, joints, a, name)?,
        coordinate(model, joints, b, name)?,
    ];
    let law = match &coupling.law {
        CouplingLaw::Ratio(ratio) => {
            let [from, to] = [0, 1].map(|k| initial_value::<W, N>(&coordinates[k], q));
            Function::Polynomial(vec![to - ratio * from, *ratio])
        }
        CouplingLaw::Curve(curve) => Function::new(curve),
    };
    Ok(ConstraintPart::coupled(coordinates, law, slots))
}
