//! Builds the friction and the limits of joint coordinates.

use std::sync::Arc;

use super::along_coordinate::CoordinateForceElement;
use super::build::{ConstraintList, ForceBuildContext};
use super::friction::{Friction, speeds};
use super::group::ForceGroup;
use super::joint_limit::CompliantLimit;
use super::{ForceElement, ForceGeometry, ScalarLaw};
use crate::error::{Error, Result};
use crate::formulation::absolute::geometry::RelativeCoordinate as _;
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::joint;
use crate::model::{self, JointCoordinate, JointNumber, LimitLaw, Target};

/// A force element in a coordinate of a joint.
pub struct JointForce<W: ForceGeometry<N>, const N: usize> {
    /// The coordinate.
    pub coordinate: usize,
    /// Friction, rather than a limit.
    pub is_friction: bool,
    /// The element.
    pub element: Arc<dyn ForceElement<W, N>>,
}

/// Builds the friction and the limits in the coordinates of joint `index`.
pub fn joint_forces<W: ForceGeometry<N>, const N: usize>(
    context: &ForceBuildContext<W, N>,
    index: usize,
    constraints: &mut ConstraintList<W, N>,
    slots: &mut SparsityBuilder,
) -> Result<Vec<JointForce<W, N>>> {
    let joint = &context.model.joints[index];
    let at = |k: usize| JointCoordinate {
        joint: index,
        index: k,
    };
    let number = |k: usize, number: JointNumber, written: f64| {
        (context.values).get(Target::Joint(index, k, number), written)
    };
    let along = |c: W::RelativeCoordinate, law: Arc<dyn ScalarLaw>, slots: &mut SparsityBuilder| {
        Arc::new(CoordinateForceElement::<W, N>::new(c, law, slots))
    };
    let mut all: Vec<JointForce<W, N>> = Vec::new();
    for (k, friction) in joint.friction.iter().enumerate() {
        let Some(friction) = friction else { continue };
        let (stiction_velocity, stribeck_velocity) = speeds(friction);
        let law = Friction {
            kinetic: number(k, JointNumber::Kinetic, friction.kinetic),
            r#static: number(k, JointNumber::Static, friction.r#static),
            stiction_velocity,
            stribeck_velocity,
            viscous: number(k, JointNumber::Viscous, friction.viscous),
        };
        for c in joint::acting(context.model, context.joints, at(k), &joint.name)? {
            all.push(JointForce {
                coordinate: k,
                is_friction: true,
                element: along(c, Arc::new(law), slots),
            });
        }
    }
    for (k, limits) in joint.limits.iter().enumerate() {
        let Some(limits) = limits else { continue };
        let coordinate = joint::coordinate(context.model, context.joints, at(k), &joint.name)?;
        let element: Arc<dyn ForceElement<W, N>> = match limits.stop {
            LimitLaw::Compliant { stiffness, damping } => {
                let law = CompliantLimit {
                    range: limits.range,
                    stiffness: number(k, JointNumber::Stiffness, stiffness),
                    damping: number(k, JointNumber::Damping, damping),
                };
                along(coordinate, Arc::new(law), slots)
            }
            LimitLaw::Rigid(rigid) => {
                let restitution = number(k, JointNumber::Restitution, rigid.restitution);
                let impact = (&rigid, restitution);
                rigid_limits(
                    context,
                    joint,
                    (coordinate, limits.range),
                    impact,
                    constraints,
                    slots,
                )?
            }
        };
        all.push(JointForce {
            coordinate: k,
            is_friction: false,
            element,
        });
    }
    Ok(all)
}

/// Builds the unilateral constraints of the finite ends of a range.
fn rigid_limits<W: ForceGeometry<N>, const N: usize>(
    context: &ForceBuildContext<W, N>,
    joint: &model::Joint,
    (coordinate, range): (W::RelativeCoordinate, [f64; 2]),
    impact: (&model::RigidImpact, DrivenValue),
    constraints: &mut ConstraintList<W, N>,
    slots: &mut SparsityBuilder,
) -> Result<Arc<dyn ForceElement<W, N>>> {
    let mut group = ForceGroup::default();
    for (bound, sign) in [(range[0], 1.0), (range[1], -1.0)] {
        if !bound.is_finite() {
            continue;
        }
        let bounded = (coordinate.clone(), bound, sign);
        let limit = context.unilateral(bounded, impact, &joint.name, constraints, slots);
        if let Some(depth) = context.overlap(&limit) {
            let model = context.model;
            return Err(beyond_limits::<W, N>(model, joint, depth, &coordinate));
        }
        group.push(Arc::new(limit), &joint.name);
    }
    Ok(Arc::new(group))
}

fn beyond_limits<W: ForceGeometry<N>, const N: usize>(
    model: &model::Model,
    joint: &model::Joint,
    depth: f64,
    coordinate: &W::RelativeCoordinate,
) -> Error {
    let unit = if coordinate.is_angle() { "rad" } else { "m" };
    Error::Model {
        origin: model.origin.clone(),
        line: joint.text_position.line,
        column: joint.text_position.column,
        message: format!(
            "joint \"{}\" begins {depth:.3} {unit} beyond its limits, whose stops are rigid",
            joint.name
        ),
    }
}
