//! Slip of a contact: the velocity of its contact point on the second body relative to the first, along two tangential axes.
//!
//! ```text
//!   u_k = t_k·(v₁(p) − v₀(p)) = g_k·v,      t_k ⟂ n
//!   t_k = e_k − (e_k·n)/(1 + z·n) (z + n)         e₁, e₂, z: axes of the first body, z the normal in the initial pose
//! ```
//!
//! A contact that sticks has the constraint u = 0. It is one of velocities: a sphere that rolls in space has no coordinate of slip.

use super::super::body_frame::{BodyFrame, BodyView};
use super::super::dual::{Dual, Scalar, Vector3Of, dot, minus, plus, times};
use super::super::spatial_force::{AppliedWrench, generalised_forces};
use super::surface::{ContactSurface, tangential_unit_vector};
use crate::model::BodyRef;

/// A surface of body 0, a sphere of body 1 and the axes of slip.
#[derive(Clone, Debug)]
pub struct SlipGeometry {
    /// Bodies.
    pub bodies: [BodyRef; 2],
    /// Surface of body 0.
    pub surface: ContactSurface,
    /// Centre of the sphere of body 1, relative to the centre of mass.
    pub center: [f64; 3],
    /// Radius of the sphere; zero for a point.
    pub radius: f64,
    /// z, e₁ and e₂ in axes of body 0; none in the plane, where t = (−n_y, n_x).
    pub axes: Option<[[f64; 3]; 3]>,
}

/// Slip along one axis: a row of constraints.
#[derive(Clone, Debug)]
pub struct SlipDirection {
    /// The contact.
    pub geometry: SlipGeometry,
    /// Its axis, 0 or 1.
    pub axis: usize,
}

impl SlipGeometry {
    /// The contact with the axes that belong to the normal in the frames of the initial pose.
    pub fn with_axes(mut self, dimension: usize, frames: &[BodyFrame<f64>; 2]) -> Self {
        let [a, b] = frames;
        let center = b.point_position(&self.center);
        let normal = self.surface.proximity(a, &center, self.radius).normal;
        let z = a.to_body(&normal);
        let tangent = |k| tangential_unit_vector(&z, &[0.0; 3], k);
        self.axes = (dimension == 3).then(|| [z, tangent(0), tangent(1)]);
        self
    }

    /// Contact point, and the tangential axes.
    pub fn axes_at<T: Scalar>(
        &self,
        [a, b]: &[BodyFrame<T>; 2],
    ) -> (Vector3Of<T>, [Vector3Of<T>; 2]) {
        let center = b.point_position(&self.center);
        let proximity = self.surface.proximity(a, &center, self.radius);
        let n = &proximity.normal;
        let Some([z, e1, e2]) = &self.axes else {
            let zero = T::constant(0.0);
            return (proximity.point, [[-n[1], n[0], zero], [zero; 3]]);
        };
        let z = a.fixed_vector(z);
        let both = plus(&z, n);
        let scale = T::constant(1.0) / (dot(&z, n) + 1.0);
        let turned = [e1, e2].map(|e| {
            let e = a.fixed_vector(e);
            minus(&e, &times(dot(&e, n) * scale, &both))
        });
        (proximity.point, turned)
    }

    /// u
    pub fn velocity<T: Scalar>(&self, frames: &[BodyFrame<T>; 2]) -> [T; 2] {
        let (point, axes) = self.axes_at(frames);
        let [a, b] = frames;
        let u = minus(&b.velocity_at(&point), &a.velocity_at(&point));
        axes.map(|t| dot(&t, &u))
    }

    /// g_k
    pub fn gradient<W: BodyView<N>, T: Scalar, const N: usize>(
        &self,
        frames: &[BodyFrame<T>; 2],
        k: usize,
    ) -> [T; N] {
        let (point, axes) = self.axes_at(frames);
        let unit = AppliedWrench::at_point(axes[k], point);
        generalised_forces::<W, T, N>(&unit, self.bodies, frames)
    }
}

impl SlipDirection {
    /// g
    pub fn gradient<W: BodyView<N>, const N: usize>(&self, poses: &mut W::Poses<'_>) -> [f64; N] {
        let frames = W::frames_at_rest(poses, self.geometry.bodies);
        self.geometry.gradient::<W, f64, N>(&frames, self.axis)
    }

    /// ∂g/∂w
    pub fn hessian<W: BodyView<N>, const N: usize>(
        &self,
        poses: &mut W::Poses<'_>,
    ) -> [[f64; N]; N] {
        let frames = W::frames_with_derivatives(poses, self.geometry.bodies, &[]);
        let g: [Dual<N>; N] = self.geometry.gradient::<W, Dual<N>, N>(&frames, self.axis);
        g.map(|g| g.q)
    }
}
