//! Inertia in the plane: M = diag(m, m, I), I about the centre of mass.

use crate::error::Result;
use crate::formulation::EvaluationContext;
use crate::formulation::absolute::geometry;
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::driven_value::{DrivenValue, DrivenValues};
use crate::model::{Model, Target};

/// m and I of a body.
#[derive(Clone, Debug)]
pub struct PlanarInertia {
    mass: DrivenValue,
    inertia: DrivenValue,
    /// The diagonal.
    slots: [u32; 3],
}

impl geometry::BodyInertia for PlanarInertia {
    fn new(
        model: &Model,
        b: usize,
        values: &DrivenValues,
        slots: &mut SparsityBuilder,
    ) -> Result<Self> {
        let body = &model.bodies[b];
        Ok(Self {
            mass: values.get(Target::BodyMass(b), body.mass),
            inertia: values.get(Target::BodyInertia(b), body.inertia[2]),
            slots: [0, 1, 2].map(|k| slots.slot(3 * b + k, 3 * b + k)),
        })
    }

    #[inline]
    fn mass(&self, cx: &EvaluationContext) -> f64 {
        self.mass.get(cx)
    }

    fn mass_rate(&self, cx: &EvaluationContext) -> f64 {
        self.mass.rate(cx)
    }

    #[inline]
    fn times(&self, cx: &EvaluationContext, a: &[f64], out: &mut [f64]) {
        let m = self.mass.get(cx);
        out[0] = m * a[0];
        out[1] = m * a[1];
        out[2] = self.inertia.get(cx) * a[2];
    }

    fn driven_power(&self, cx: &EvaluationContext, v: &[f64]) -> f64 {
        let (m, i) = (self.mass.rate(cx), self.inertia.rate(cx));
        0.5 * (m * (v[0] * v[0] + v[1] * v[1]) + i * v[2] * v[2])
    }

    #[inline]
    fn add_tangent(
        &self,
        cx: &EvaluationContext,
        _v: &[f64],
        mass: f64,
        _damping: f64,
        out: &mut [f64],
    ) {
        let m = mass * self.mass.get(cx);
        out[self.slots[0] as usize] += m;
        out[self.slots[1] as usize] += m;
        out[self.slots[2] as usize] += mass * self.inertia.get(cx);
    }
}
