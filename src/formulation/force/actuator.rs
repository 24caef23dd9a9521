//! Actuator: a driven force between two points, or a driven force or torque in a joint. A positive effort increases the length or the
//! joint coordinate:
//!
//! ```text
//!   F = −E,      supplied = E ċ
//! ```
//!
//! Coinciding points have no direction and no force between them.

use super::{ScalarForce, ScalarLaw};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{EvaluationContext, Power};

/// An actuator.
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

    fn reported_force(&self, force: &ScalarForce) -> f64 {
        -force.force
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
