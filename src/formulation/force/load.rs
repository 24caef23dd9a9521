//! Applied load: a force at a point of one body, or a torque on it, in ground axes or in body axes:
//!
//! ```text
//!   F = (Fx, Fy, Fz)  or  R (Fx, Fy, Fz),      supplied = F·ṗ + C·ω
//! ```

use super::ForceQuantities;
use super::body_frame::BodyFrame;
use super::dual::{Scalar, Vector3Of, dot};
use super::spatial_force::{AppliedWrench, SpatialForce};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{EvaluationContext, Power};
use crate::model::{LoadDefinition, LoadFrame};

/// A force or a torque applied to one body.
#[derive(Clone, Debug)]
pub struct AppliedLoad {
    /// A force or a torque.
    pub kind: LoadDefinition,
    /// N or N m
    pub components: [DrivenValue; 3],
    /// The axes of the components.
    pub frame: LoadFrame,
    /// Point of application, relative to the centre of mass.
    pub offset: [f64; 3],
}

impl AppliedLoad {
    /// Returns the force or torque in ground axes.
    fn vector<T: Scalar>(&self, cx: &EvaluationContext, body: &BodyFrame<T>) -> Vector3Of<T> {
        let components = (self.components).map(|x| T::time_dependent(x.get(cx), x.rate(cx)));
        match self.frame {
            LoadFrame::Ground => components,
            LoadFrame::Body => body.to_ground(&components),
        }
    }
}

impl SpatialForce for AppliedLoad {
    fn depends_on_rate(&self) -> bool {
        false
    }

    fn does_work(&self) -> bool {
        true
    }

    fn wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        [_, body]: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        let vector = self.vector(cx, body);
        match self.kind {
            LoadDefinition::Force => {
                AppliedWrench::at_point(vector, body.point_position(&self.offset))
            }
            LoadDefinition::Torque => AppliedWrench {
                couple: vector,
                ..AppliedWrench::zero()
            },
        }
    }

    fn power(&self, cx: &EvaluationContext, [_, body]: &[BodyFrame<f64>; 2]) -> Power {
        let vector = self.vector(cx, body);
        let rate = match self.kind {
            LoadDefinition::Force => body.velocity_at(&body.point_position(&self.offset)),
            LoadDefinition::Torque => body.w,
        };
        Power {
            dissipated: 0.0,
            supplied: dot(&vector, &rate),
        }
    }

    fn quantities(
        &self,
        cx: &EvaluationContext,
        [_, body]: &[BodyFrame<f64>; 2],
    ) -> ForceQuantities {
        let vector = self.vector(cx, body);
        ForceQuantities {
            force: dot(&vector, &vector).sqrt(),
            ..ForceQuantities::default()
        }
    }
}
