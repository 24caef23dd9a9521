//! A driven force between two points, or a driven force or torque in a joint. Positive increases the length or the coordinate:
//!
//! ```text
//!   F = −E,      supplied = E ċ
//! ```
//!
//! Between coinciding points there is no direction and no force.

use super::{Law, Pull};
use crate::formulation::value::Value;
use crate::formulation::{Context, Power};

/// The drive.
#[derive(Clone, Copy, Debug)]
pub struct Actuator {
    /// E (N or N m)
    pub effort: Value,
}

impl Law for Actuator {
    fn pull(&self, cx: &Context, _length: f64, _rate: f64) -> Pull {
        Pull {
            force: -self.effort.get(cx),
            ..Pull::default()
        }
    }

    fn shown(&self, pull: &Pull) -> f64 {
        -pull.force
    }

    fn depends_on_length(&self) -> bool {
        false
    }

    fn depends_on_rate(&self) -> bool {
        false
    }

    fn drives(&self) -> bool {
        true
    }

    fn power(&self, cx: &Context, _length: f64, rate: f64) -> Power {
        Power {
            dissipated: 0.0,
            supplied: self.effort.get(cx) * rate,
        }
    }
}
