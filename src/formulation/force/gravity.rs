//! Gravity: f = m g at the centre of mass, V = −m g·r.

use crate::formulation::EvaluationContext;
use crate::formulation::driven_value::{DrivenValue, DrivenValues};
use crate::model::{Model, Target};

/// A uniform gravitational field.
#[derive(Clone, Copy, Debug)]
pub struct Gravity {
    g: [DrivenValue; 3],
}

impl Gravity {
    /// Reads the field from the model.
    pub fn new(model: &Model, values: &DrivenValues) -> Self {
        Self {
            g: [0, 1, 2].map(|k| values.get(Target::Gravity(k), model.gravity[k])),
        }
    }

    /// Returns g (m/s²).
    pub fn get(&self, cx: &EvaluationContext) -> [f64; 3] {
        self.g.map(|g| g.get(cx))
    }

    /// Returns ∂g/∂t of a driven field (m/s³).
    pub fn rate(&self, cx: &EvaluationContext) -> [f64; 3] {
        self.g.map(|g| g.rate(cx))
    }
}
