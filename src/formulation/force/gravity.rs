//! Weight: f = m g at the centre of mass, V = −m g·r.

use crate::formulation::Context;
use crate::formulation::planar::pose::Vec2;
use crate::formulation::value::{Value, Values};
use crate::model::{Model, Target};

/// The field.
#[derive(Clone, Copy, Debug)]
pub struct Gravity {
    g: [Value; 2],
}

impl Gravity {
    /// From the model.
    pub fn new(model: &Model, values: &Values) -> Self {
        Self {
            g: [0, 1].map(|k| values.get(Target::Gravity(k), model.gravity[k])),
        }
    }

    /// g (m/s²)
    pub fn get(&self, cx: &Context) -> Vec2 {
        Vec2::new(self.g[0].get(cx), self.g[1].get(cx))
    }

    /// ∂g/∂t (m/s³), where it is driven.
    pub fn rate(&self, cx: &Context) -> Vec2 {
        Vec2::new(self.g[0].rate(cx), self.g[1].rate(cx))
    }
}
