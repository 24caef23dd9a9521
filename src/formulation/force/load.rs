//! A force at a point of one body, or a torque on it, along ground axes or along the body's own:
//!
//! ```text
//!   F = (Fx, Fy, Fz)  or  R (Fx, Fy, Fz),      supplied = F·ṗ + C·ω
//! ```

use super::ForceQuantities;
use super::body_frame::BodyFrame;
use super::dual::{Scalar, Vector3Of, dot};
use super::spatial_force::{BodyWrenches, SpatialForce};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{EvaluationContext, Power};
use crate::model::{LoadDefinition as What, LoadFrame};

/// The load.
#[derive(Clone, Debug)]
pub struct AppliedLoad {
    /// A force or a torque.
    pub what: What,
    /// N or N m
    pub components: [DrivenValue; 3],
    /// Whose axes.
    pub frame: LoadFrame,
    /// Where, seen from the centre of mass.
    pub lever: [f64; 3],
}

impl AppliedLoad {
    /// In ground axes.
    fn vector<T: Scalar>(&self, cx: &EvaluationContext, body: &BodyFrame<T>) -> Vector3Of<T> {
        let components = (self.components).map(|x| T::timed(x.get(cx), x.rate(cx)));
        match self.frame {
            LoadFrame::Ground => components,
            LoadFrame::Body => body.turn(&components),
        }
    }
}

impl SpatialForce for AppliedLoad {
    fn depends_on_rate(&self) -> bool {
        false
    }

    fn works(&self) -> bool {
        true
    }

    fn act<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        [_, body]: &[BodyFrame<T>; 2],
    ) -> BodyWrenches<T> {
        let vector = self.vector(cx, body);
        match self.what {
            What::Force => BodyWrenches::force(vector, body.place(&self.lever)),
            What::Torque => BodyWrenches {
                couple: vector,
                ..BodyWrenches::none()
            },
        }
    }

    fn power(&self, cx: &EvaluationContext, [_, body]: &[BodyFrame<f64>; 2]) -> Power {
        let vector = self.vector(cx, body);
        let rate = match self.what {
            What::Force => body.velocity(&body.place(&self.lever)),
            What::Torque => body.w,
        };
        Power {
            dissipated: 0.0,
            supplied: dot(&vector, &rate),
        }
    }

    fn shown(&self, cx: &EvaluationContext, [_, body]: &[BodyFrame<f64>; 2]) -> ForceQuantities {
        let vector = self.vector(cx, body);
        ForceQuantities {
            force: dot(&vector, &vector).sqrt(),
            ..ForceQuantities::default()
        }
    }
}
