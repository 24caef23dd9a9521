//! Inertia in space: M = diag(m I, J) with J about the centre of mass in body axes, and the gyroscopic moment.
//!
//! ```text
//!   f = (0, −ω × J ω),      C = −∂f/∂ω = ω~ J − (J ω)~
//! ```

use crate::error::Result;
use crate::formulation::EvaluationContext;
use crate::formulation::absolute::geometry;
use crate::formulation::absolute::sparsity::SparsityBuilder;
use crate::formulation::driven_value::{DrivenValue, DrivenValues};
use crate::linalg::rotation::{Mat3, Vec3, cross};
use crate::model::{Model, Target};

/// m and J of a body.
#[derive(Clone, Debug)]
pub struct SpatialInertia {
    mass: DrivenValue,
    j: Mat3,
    /// The diagonal of the translations.
    translation: [u32; 3],
    /// The block of the rotation, row by row.
    rotation: [u32; 9],
}

/// J from Ixx, Iyy, Izz, Ixy, Ixz, Iyz.
pub fn tensor([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Mat3 {
    Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
}

#[inline]
fn spin(v: &[f64]) -> Vec3 {
    Vec3::new(v[3], v[4], v[5])
}

impl geometry::BodyInertia for SpatialInertia {
    fn new(
        model: &Model,
        b: usize,
        values: &DrivenValues,
        slots: &mut SparsityBuilder,
    ) -> Result<Self> {
        let body = &model.bodies[b];
        Ok(Self {
            mass: values.get(Target::BodyMass(b), body.mass),
            j: tensor(body.inertia),
            translation: [0, 1, 2].map(|k| slots.slot(6 * b + k, 6 * b + k)),
            rotation: std::array::from_fn(|k| slots.slot(6 * b + 3 + k / 3, 6 * b + 3 + k % 3)),
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
        let moment = self.j * spin(a);
        for k in 0..3 {
            out[k] = m * a[k];
            out[3 + k] = moment[k];
        }
    }

    fn driven_power(&self, cx: &EvaluationContext, v: &[f64]) -> f64 {
        0.5 * self.mass.rate(cx) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    }

    #[inline]
    fn add_gyroscopic_force(&self, _cx: &EvaluationContext, v: &[f64], out: &mut [f64]) {
        let w = spin(v);
        let moment = w.cross(&(self.j * w));
        for k in 0..3 {
            out[3 + k] -= moment[k];
        }
    }

    fn add_tangent(
        &self,
        cx: &EvaluationContext,
        v: &[f64],
        mass: f64,
        damping: f64,
        out: &mut [f64],
    ) {
        let m = mass * self.mass.get(cx);
        for slot in self.translation {
            out[slot as usize] += m;
        }
        let mut block = mass * self.j;
        if damping != 0.0 {
            let w = spin(v);
            block += damping * (cross(&w) * self.j - cross(&(self.j * w)));
        }
        for (at, slot) in self.rotation.iter().enumerate() {
            out[*slot as usize] += block[(at / 3, at % 3)];
        }
    }
}
