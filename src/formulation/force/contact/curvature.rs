//! Bounds of |δ''| of a contact from the speeds and accelerations of its bodies, whatever their directions. With ρ the distance of a
//! point from the centre of mass of its body:
//!
//! ```text
//!   point of a body        |p'| ≤ |v| + |ω| ρ,      |p''| ≤ |a| + (|α| + |ω|²) ρ
//!   plane of body 0        |δ''| ≤ |p''| + |a₀| + 2 |ω₀| (|p'| + |v₀|) + (|α₀| + |ω₀|²) |p − r₀|
//!   angle about an axis    |c''| ≤ |α₀| + |α₁| + |ω₀| (|ω₀| + |ω₁|)
//!   spheres                |δ''| ≤ |p''| + |p₀''| + (|p'| + |p₀'|)²/R            R the sum of the radii
//! ```

use super::super::dual::{dot, minus};
use super::surface::ContactSurface;
use crate::formulation::MotionPoint;
use crate::formulation::absolute::sparsity::pick;
use crate::model::BodyRef;

/// In joint coordinates body speeds between two points of a step are not those of a polynomial: part by which they may be larger.
const SAFETY: f64 = 1.1;

/// Magnitudes of the velocities and accelerations of a body.
#[derive(Clone, Copy, Debug, Default)]
pub struct BodySpeeds {
    v: f64,
    w: f64,
    a: f64,
    alpha: f64,
}

impl BodySpeeds {
    /// Returns those of two bodies at a point of the motion.
    pub fn of<const N: usize>(bodies: [BodyRef; 2], at: &MotionPoint) -> [Self; 2] {
        let (v, a): ([f64; N], [f64; N]) = (pick(bodies, at.v), pick(bodies, at.a));
        let width = N / 2;
        let translations = if width == 3 { 2 } else { 3 };
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        [0, width].map(|first| {
            let (turn, end) = (first + translations, first + width);
            Self {
                v: norm(&v[first..turn]),
                w: norm(&v[turn..end]),
                a: norm(&a[first..turn]),
                alpha: norm(&a[turn..end]),
            }
        })
    }

    /// Bound of |c''| of an angle about an axis that is perpendicular to the direction it turns.
    pub fn angle_bound([a, b]: &[Self; 2]) -> f64 {
        SAFETY * (a.alpha + b.alpha + a.w * (a.w + b.w))
    }

    /// Bound of |c''| of the displacement of a point of body 1, at the distance `rho` from its centre of mass, along a direction fixed in
    /// body 0; `apart` is the distance of that point from the centre of mass of body 0.
    pub fn slide_bound([a, b]: &[Self; 2], rho: f64, apart: f64) -> f64 {
        let across = 2.0 * a.w * (b.speed(rho) + a.v) + (a.alpha + a.w * a.w) * apart;
        SAFETY * (b.acceleration(rho) + a.a + across)
    }

    /// Speed of a point at the distance `rho` from the centre of mass.
    fn speed(&self, rho: f64) -> f64 {
        self.v + self.w * rho
    }

    /// Acceleration of that point.
    fn acceleration(&self, rho: f64) -> f64 {
        self.a + (self.alpha + self.w * self.w) * rho
    }
}

impl ContactSurface {
    /// Returns the bounds for the depth and for the margins of a sphere about the point `center` of body 1; `apart` is the distance
    /// of that point from the centre of mass of body 0. NaN for a smooth outline.
    pub fn depth_curvature(
        &self,
        [a, b]: &[BodySpeeds; 2],
        (center, radius): (&[f64; 3], f64),
        apart: f64,
    ) -> [f64; 2] {
        let rho = dot(center, center).sqrt();
        let (speed, acceleration) = (b.speed(rho), b.acceleration(rho));
        let plane = BodySpeeds::slide_bound(&[*a, *b], rho, apart);
        let sphere = |point: &[f64; 3], r0: f64| {
            let rho = dot(point, point).sqrt();
            let closing = speed + a.speed(rho);
            acceleration + a.acceleration(rho) + closing * closing / (r0 + radius)
        };
        match self {
            Self::Plane { .. } | Self::Segment { .. } => [plane; 2],
            Self::Sphere { point, radius } => [SAFETY * sphere(point, *radius), plane],
            // A point meets a corner only from beside it.
            Self::Corner { point, .. } if radius > 0.0 => [SAFETY * sphere(point, 0.0), plane],
            Self::Corner { .. } | Self::Smooth(_) => [f64::NAN; 2],
        }
    }
}

/// Distance of a point from another.
pub fn distance(p: &[f64; 3], q: &[f64; 3]) -> f64 {
    let e = minus(p, q);
    dot(&e, &e).sqrt()
}
