//! A driven force between two points, or a driven force or torque in a joint. Positive increases the length or the coordinate:
//!
//! ```text
//!   F = −E,      supplied = E ċ
//! ```
//!
//! Between coinciding points there is no direction and no force.

use super::{ScalarForce, ScalarLaw};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{EvaluationContext, Power};

/// The drive.
#[derive(Clone, Copy, Debug)]
pub struct Actuator {
    /// E (N or N m)
    pub effort: DrivenValue,
}

impl ScalarLaw for Actuator {
    fn force(&self, cx: &EvaluationContext, _length: f64, _rate: f64) -> ScalarForce {
        ScalarForce {
            force: -self.effort.get(cx),
            ..ScalarForce::default()
        }
    }

    fn reported_force(&self, pull: &ScalarForce) -> f64 {
        -pull.force
    }

    fn depends_on_length(&self) -> bool {
        false
    }

    fn depends_on_rate(&self) -> bool {
        false
    }

    fn supplies_energy(&self) -> bool {
        true
    }

    fn power(&self, cx: &EvaluationContext, _length: f64, rate: f64) -> Power {
        Power {
            dissipated: 0.0,
            supplied: self.effort.get(cx) * rate,
        }
    }
}
