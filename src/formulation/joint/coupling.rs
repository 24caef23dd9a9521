//! Couples the coordinates of other joints: Φ = c_b − F(c_a), or Φ = c_b − Σ r_k c_k for many. Ratios are relative to the initial pose:
//! c_b − c_b⁰ = Σ r_k (c_k − c_k⁰).
//!
//! The reaction of a coupling is its force on `bodies[1]` of the second joint, at the point of that joint: for revolute joints the
//! moment τ about the axis. On the first joint it acts with −F' τ, so that no power is lost.

use super::{JointEquations, coordinate, initial_value};
use crate::error::Result;
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::function::Function;
use crate::model::{Coupling, CouplingLaw, JointCoordinate, Model};

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
    let summand =
        |(of, ratio): &(JointCoordinate, f64)| Ok((*ratio, coordinate(model, joints, *of, name)?));
    let summands = (coupling.summands.iter().map(summand)).collect::<Result<Vec<_>>>()?;
    let law = match &coupling.law {
        CouplingLaw::Ratio(ratio) => {
            let [from, to] = [0, 1].map(|k| initial_value::<W, N>(&coordinates[k], q));
            let sum = |sum: f64, (ratio, c): &(f64, W::RelativeCoordinate)| {
                sum + ratio * initial_value::<W, N>(c, q)
            };
            let constant = to - summands.iter().fold(ratio * from, sum);
            Function::Polynomial(vec![constant, *ratio])
        }
        CouplingLaw::Curve(curve) => Function::new(curve),
    };
    Ok(ConstraintPart::coupled_sum(
        coordinates,
        law,
        summands,
        slots,
    ))
}
