//! Bushing: springs and dampers between a frame of each body, along and about the axes of the first frame.
//!
//! ```text
//!   d = A₀ᵀ(p₁ − p₀),   θ = log(A₀ᵀA₁)          displacement and rotation vector, in the first frame's axes
//!   F = −A₀ (K d + D ḋ),      C = −A₀ (T(θ)⁻ᵀ K_θ θ + D_θ ω)
//!   V = ½ dᵀK d + ½ θᵀK_θ θ,      dissipated = ḋᵀD ḋ + ωᵀD_θ ω
//! ```
//!
//! with A the axes of the frames in ground axes, ω the relative angular velocity in the axes of the first frame and θ̇ = T⁻¹ω. F acts
//! at p₁ on both bodies. In the plane θ is the angle, full turns counted; in space it is defined below half a turn.

use super::ForceQuantities;
use super::body_frame::BodyFrame;
use super::dual::{Scalar, Vector3Of, cross, dot, minus, plus, times};
use super::spatial_force::{AppliedWrench, SpatialForce};
use crate::formulation::driven_value::DrivenValue;
use crate::formulation::{EvaluationContext, Power};
use crate::linalg::elementary::{acos, sin_cos};

/// A bushing.
#[derive(Clone, Debug)]
pub struct Bushing {
    /// Stiffness along x, y, z, then about them.
    pub stiffness: [DrivenValue; 6],
    /// Damping in the same order.
    pub damping: [DrivenValue; 6],
    /// Origins of the frames, relative to the centres of mass.
    pub offsets: [[f64; 3]; 2],
    /// Axes x, y, z of the frames in body axes.
    pub axes: [[[f64; 3]; 3]; 2],
    /// In the plane, where the angle is a coordinate: φ₁ − φ₀ for parallel frames.
    pub planar_angle: Option<f64>,
}

/// Displacement, rotation vector and their rates, in the axes of the first frame; `axes` are those axes, `point` is p₁.
struct BushingDeformation<T> {
    axes: [Vector3Of<T>; 3],
    point: Vector3Of<T>,
    d: Vector3Of<T>,
    d_dot: Vector3Of<T>,
    theta: Vector3Of<T>,
    w: Vector3Of<T>,
}

/// Returns a / sin a as a function of cos a: the factor of the rotation vector.
fn rotation_vector_factor<T: Scalar>(cosine: T) -> T {
    let c = cosine.value();
    let u = 1.0 - c;
    if u < 1e-3 {
        // Series in u = 1 − cos a; the next term is below 1e-15.
        let y = 1.0 + u * (1.0 / 3.0 + u * (2.0 / 15.0 + u * (2.0 / 35.0 + u * (8.0 / 315.0))));
        let slope =
            1.0 / 3.0 + u * (4.0 / 15.0 + u * (6.0 / 35.0 + u * (32.0 / 315.0 + u * 40.0 / 693.0)));
        return cosine.chain(y, -slope);
    }
    let sine_squared = (1.0 - c * c).max(f64::MIN_POSITIVE);
    let y = acos(c.clamp(-1.0, 1.0)) / sine_squared.sqrt();
    cosine.chain(y, (c * y - 1.0) / sine_squared)
}

/// Returns 1/a² − (1 + cos a)/(2 a sin a) as a function of a²: the last factor of T⁻¹.
fn tangent_inverse_factor<T: Scalar>(squared: T) -> T {
    let s = squared.value();
    if s < 1e-2 {
        let y = 1.0 / 12.0
            + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1209600.0 + s / 47900160.0)));
        let slope = 1.0 / 720.0 + s * (1.0 / 15120.0 + s * (1.0 / 403200.0 + s / 11975040.0));
        return squared.chain(y, slope);
    }
    let a = s.sqrt();
    let (sin, cos) = sin_cos(a);
    // (1 + cos)/sin = cot(a/2)
    let cot = (1.0 + cos) / sin;
    let y = 1.0 / s - cot / (2.0 * a);
    let slope = -1.0 / (s * s) + cot / (4.0 * a * s) + (1.0 + cot * cot) / (8.0 * s);
    squared.chain(y, slope)
}

impl Bushing {
    fn deformation<T: Scalar>(&self, bodies: &[BodyFrame<T>; 2]) -> BushingDeformation<T> {
        let [a, b] = bodies;
        let axes = self.axes[0].map(|x| a.fixed_vector(&x));
        let second_axes = self.axes[1].map(|x| b.fixed_vector(&x));
        let point = b.point_position(&self.offsets[1]);
        let displacement = minus(&point, &a.point_position(&self.offsets[0]));
        // In the rotating first frame: ḋ = A₀ᵀ(velocity of body 1 − velocity of body 0, both at p₁).
        let rate = minus(&b.velocity_at(&point), &a.velocity_at(&point));
        let local = |x: &Vector3Of<T>| [0, 1, 2].map(|k| dot(&axes[k], x));
        let w = local(&minus(&b.w, &a.w));
        let theta = match self.planar_angle {
            Some(parallel) => {
                let zero = T::constant(0.0);
                [zero, zero, b.angle - a.angle + (-parallel)]
            }
            // Dampers alone need no angle, which half a turn and more have not.
            None if self.stiffness[3..].iter().all(DrivenValue::always_zero) => {
                [T::constant(0.0); 3]
            }
            None => {
                // C_ij = (axis i of the first)·(axis j of the second)
                let c = |i: usize, j: usize| dot(&axes[i], &second_axes[j]);
                let cosine = (c(0, 0) + c(1, 1) + c(2, 2) + (-1.0)) * 0.5;
                let sine = [c(2, 1) - c(1, 2), c(0, 2) - c(2, 0), c(1, 0) - c(0, 1)];
                times(rotation_vector_factor(cosine) * 0.5, &sine)
            }
        };
        BushingDeformation {
            axes,
            point,
            d: local(&displacement),
            d_dot: local(&rate),
            theta,
            w,
        }
    }

    fn stiffness_of(&self, cx: &EvaluationContext, along: std::ops::Range<usize>) -> [f64; 3] {
        std::array::from_fn(|k| self.stiffness[along.start + k].get(cx))
    }

    fn damping_of(&self, cx: &EvaluationContext, along: std::ops::Range<usize>) -> [f64; 3] {
        std::array::from_fn(|k| self.damping[along.start + k].get(cx))
    }
}

fn scaled<T: Scalar>(factors: [f64; 3], x: &Vector3Of<T>) -> Vector3Of<T> {
    [0, 1, 2].map(|k| x[k] * factors[k])
}

impl SpatialForce for Bushing {
    fn depends_on_rate(&self) -> bool {
        self.damping.iter().any(|d| !d.always_zero())
    }

    fn does_work(&self) -> bool {
        self.depends_on_rate()
    }

    fn wrench<T: Scalar>(
        &self,
        cx: &EvaluationContext,
        bodies: &[BodyFrame<T>; 2],
    ) -> AppliedWrench<T> {
        let deformation = self.deformation(bodies);
        let (k, d) = (self.stiffness_of(cx, 0..3), self.damping_of(cx, 0..3));
        let elastic_force = plus(&scaled(k, &deformation.d), &scaled(d, &deformation.d_dot));
        let (k, d) = (self.stiffness_of(cx, 3..6), self.damping_of(cx, 3..6));
        let mut couple = scaled(k, &deformation.theta);
        if self.planar_angle.is_none() {
            // θ̇ = ω − ½ θ × ω + c θ × (θ × ω) with ω in the axes of the first frame; the moment takes the transpose.
            let first = cross(&deformation.theta, &couple);
            let second = times(
                tangent_inverse_factor(dot(&deformation.theta, &deformation.theta)),
                &cross(&deformation.theta, &first),
            );
            couple = plus(&plus(&couple, &first.map(|x| x * 0.5)), &second);
        }
        let couple = plus(&couple, &scaled(d, &deformation.w));
        let ground = |x: &Vector3Of<T>| {
            let [a, b, c] = [0, 1, 2].map(|k| times(-x[k], &deformation.axes[k]));
            plus(&plus(&a, &b), &c)
        };
        AppliedWrench {
            force: ground(&elastic_force),
            point: deformation.point,
            couple: ground(&couple),
        }
    }

    fn potential(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> f64 {
        let deformation = self.deformation(bodies);
        0.5 * dot(
            &scaled(self.stiffness_of(cx, 0..3), &deformation.d),
            &deformation.d,
        ) + 0.5
            * dot(
                &scaled(self.stiffness_of(cx, 3..6), &deformation.theta),
                &deformation.theta,
            )
    }

    fn power(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> Power {
        let deformation = self.deformation(bodies);
        let dissipated = dot(
            &scaled(self.damping_of(cx, 0..3), &deformation.d_dot),
            &deformation.d_dot,
        ) + dot(
            &scaled(self.damping_of(cx, 3..6), &deformation.w),
            &deformation.w,
        );
        Power {
            dissipated,
            supplied: 0.0,
        }
    }

    fn quantities(&self, cx: &EvaluationContext, bodies: &[BodyFrame<f64>; 2]) -> ForceQuantities {
        let deformation = self.deformation(bodies);
        let length = dot(&deformation.d, &deformation.d).sqrt();
        let wrench = self.wrench(cx, bodies);
        ForceQuantities {
            length,
            rate: if length > 0.0 {
                dot(&deformation.d, &deformation.d_dot) / length
            } else {
                0.0
            },
            force: dot(&wrench.force, &wrench.force).sqrt(),
            ..ForceQuantities::default()
        }
    }
}
