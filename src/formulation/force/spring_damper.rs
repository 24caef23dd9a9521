//! A linear spring with a linear damper, along a line between two points or along the coordinate of a joint.
//!
//! ```text
//!   F = k (c − c₀) + d ċ,      V = ½ k (c − c₀)²,      dissipated = d ċ²
//! ```
//!
//! Where the two points of a line coincide the direction of the force is not defined and there is no force; a spring of
//! unloaded length zero is smooth there all the same and keeps its stiffness k in both directions.

use super::{Law, Pull};
use crate::formulation::value::Value;
use crate::formulation::{Context, Power};

/// The law's numbers.
#[derive(Clone, Copy, Debug)]
pub struct SpringDamper {
    /// k (N/m or N m/rad)
    pub stiffness: Value,
    /// d (N s/m or N m s/rad)
    pub damping: Value,
    /// c₀ (m or rad)
    pub length: Value,
}

impl Law for SpringDamper {
    fn pull(&self, cx: &Context, length: f64, rate: f64) -> Pull {
        let (k, d) = (self.stiffness.get(cx), self.damping.get(cx));
        Pull {
            force: k * (length - self.length.get(cx)) + d * rate,
            by_length: k,
            by_rate: d,
        }
    }

    fn depends_on_rate(&self) -> bool {
        !self.damping.always_zero()
    }

    fn at_coincidence(&self, cx: &Context) -> f64 {
        if self.length.get(cx) == 0.0 {
            self.stiffness.get(cx)
        } else {
            0.0
        }
    }

    fn potential(&self, cx: &Context, length: f64) -> f64 {
        let x = length - self.length.get(cx);
        0.5 * self.stiffness.get(cx) * x * x
    }

    /// Driving the stiffness or the unloaded length brings energy in without any motion.
    fn power(&self, cx: &Context, length: f64, rate: f64) -> Power {
        let x = length - self.length.get(cx);
        let driven = 0.5 * self.stiffness.rate(cx) * x * x
            - self.stiffness.get(cx) * x * self.length.rate(cx);
        Power {
            dissipated: self.damping.get(cx) * rate * rate,
            supplied: driven,
        }
    }
}
