//! Position, orientation and velocities of a body in ground axes, for planar and spatial mechanisms alike (a planar one lies in
//! z = 0). With derivatives under q → q ∘ w:
//!
//! ```text
//!   r → r + w_r,      R → R exp(w_φ),      ω = R ω_body
//! ```

use super::dual::{Dual, Scalar, Vector3Of, cross, dot, minus, plus};
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::planar::{self, PlanarGeometry};
use crate::formulation::absolute::spatial::{self, SpatialGeometry};
use crate::model::BodyRef;

/// Position and velocity of a body.
#[derive(Clone, Copy, Debug)]
pub struct BodyFrame<T> {
    /// Position of the centre of mass.
    pub r: Vector3Of<T>,
    /// Rotation from body axes to ground axes, by rows.
    pub rotation: [Vector3Of<T>; 3],
    /// Velocity of the centre of mass.
    pub v: Vector3Of<T>,
    /// Angular velocity, ground axes.
    pub w: Vector3Of<T>,
    /// Angle of a planar body, full turns counted; zero in space.
    pub angle: T,
}

impl BodyFrame<f64> {
    /// A body at the origin, at rest.
    pub const ORIGIN: Self = Self {
        r: [0.0; 3],
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        v: [0.0; 3],
        w: [0.0; 3],
        angle: 0.0,
    };
}

impl<T: Scalar> BodyFrame<T> {
    /// Transforms a vector from body axes to ground axes.
    #[inline]
    pub fn to_ground(&self, s: &Vector3Of<T>) -> Vector3Of<T> {
        [0, 1, 2].map(|i| dot(&self.rotation[i], s))
    }

    /// Transforms a vector from ground axes to body axes.
    #[inline]
    pub fn to_body(&self, d: &Vector3Of<T>) -> Vector3Of<T> {
        [0, 1, 2].map(|j| dot(&[0, 1, 2].map(|i| self.rotation[i][j]), d))
    }

    /// Returns a vector that is constant in body axes, in ground axes.
    #[inline]
    pub fn fixed_vector(&self, s: &[f64; 3]) -> Vector3Of<T> {
        [0, 1, 2].map(|i| T::combination(&self.rotation[i], s))
    }

    /// Returns the position of a point of the body, s relative to the centre of mass.
    #[inline]
    pub fn point_position(&self, s: &[f64; 3]) -> Vector3Of<T> {
        plus(&self.r, &self.fixed_vector(s))
    }

    /// Returns the velocity of the material point of the body at a position.
    #[inline]
    pub fn velocity_at(&self, position: &Vector3Of<T>) -> Vector3Of<T> {
        plus(&self.v, &cross(&self.w, &minus(position, &self.r)))
    }
}

/// A geometry whose bodies can be represented as [`BodyFrame`]s.
pub trait BodyView<const N: usize>: Geometry<N> {
    /// Returns a point of a body relative to its centre of mass.
    fn point_offset(point: &Self::BodyPoint) -> [f64; 3];

    /// Returns the point of a body at an offset from its centre of mass.
    fn point_at_offset(body: BodyRef, offset: [f64; 3]) -> Self::BodyPoint;

    /// Returns the frames of two bodies.
    fn frames(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2], v: &[f64]) -> [BodyFrame<f64>; 2];

    /// Returns the frames of two bodies with zero velocities, for potential energies.
    fn frames_at_rest(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2]) -> [BodyFrame<f64>; 2];

    /// Returns the frames of two bodies with derivatives; with zero velocities if `v` is empty.
    fn frames_with_derivatives(
        poses: &mut Self::Poses<'_>,
        bodies: [BodyRef; 2],
        v: &[f64],
    ) -> [BodyFrame<Dual<N>>; 2];

    /// Writes the generalised force of a force on the body and a moment about its centre of mass, both in ground axes.
    fn generalised_force<T: Scalar>(
        frame: &BodyFrame<T>,
        force: &Vector3Of<T>,
        moment: &Vector3Of<T>,
        out: &mut [T],
    );
}

const GROUND: BodyFrame<f64> = BodyFrame {
    r: [0.0; 3],
    rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    v: [0.0; 3],
    w: [0.0; 3],
    angle: 0.0,
};

/// Returns a frame with zero derivatives.
fn without_derivatives<const N: usize>(frame: &BodyFrame<f64>) -> BodyFrame<Dual<N>> {
    BodyFrame {
        r: frame.r.map(Dual::constant),
        rotation: frame.rotation.map(|row| row.map(Dual::constant)),
        v: frame.v.map(Dual::constant),
        w: frame.w.map(Dual::constant),
        angle: Dual::constant(frame.angle),
    }
}

impl BodyView<6> for PlanarGeometry {
    fn point_offset(point: &Self::BodyPoint) -> [f64; 3] {
        [point.s.x, point.s.y, 0.0]
    }

    fn point_at_offset(body: BodyRef, offset: [f64; 3]) -> Self::BodyPoint {
        planar::pose::PlanarPoint {
            body,
            s: planar::planar_part(offset),
        }
    }

    fn frames_at_rest(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2]) -> [BodyFrame<f64>; 2] {
        bodies.map(|body| {
            let pose = poses.get(body);
            let (c, s) = (pose.cos, pose.sin);
            BodyFrame {
                r: [pose.r.x, pose.r.y, 0.0],
                rotation: [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]],
                angle: pose.angle,
                ..GROUND
            }
        })
    }

    fn frames(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2], v: &[f64]) -> [BodyFrame<f64>; 2] {
        let mut frames = Self::frames_at_rest(poses, bodies);
        for (frame, body) in frames.iter_mut().zip(bodies) {
            let rate = planar::pose::twist(v, body);
            frame.v = [rate.v.x, rate.v.y, 0.0];
            frame.w = [0.0, 0.0, rate.w];
        }
        frames
    }

    fn frames_with_derivatives(
        poses: &mut Self::Poses<'_>,
        bodies: [BodyRef; 2],
        v: &[f64],
    ) -> [BodyFrame<Dual<6>>; 2] {
        let frames = match v {
            [] => Self::frames_at_rest(poses, bodies),
            _ => Self::frames(poses, bodies, v),
        };
        [0, 1].map(|side| {
            let mut frame = without_derivatives(&frames[side]);
            if bodies[side].is_none() {
                return frame;
            }
            let first = 3 * side;
            for k in 0..2 {
                frame.r[k].q[first + k] = 1.0;
                frame.v[k].v[first + k] = 1.0;
            }
            frame.angle.q[first + 2] = 1.0;
            frame.w[2].v[first + 2] = 1.0;
            let [c, s] = [frames[side].rotation[0][0], frames[side].rotation[1][0]];
            for (i, j, slope) in [(0, 0, -s), (0, 1, -c), (1, 0, c), (1, 1, -s)] {
                frame.rotation[i][j].q[first + 2] = slope;
            }
            frame
        })
    }

    #[inline]
    fn generalised_force<T: Scalar>(
        _frame: &BodyFrame<T>,
        force: &Vector3Of<T>,
        moment: &Vector3Of<T>,
        out: &mut [T],
    ) {
        out[0] = force[0];
        out[1] = force[1];
        out[2] = moment[2];
    }
}

impl BodyView<12> for SpatialGeometry {
    fn point_offset(point: &Self::BodyPoint) -> [f64; 3] {
        [point.s.x, point.s.y, point.s.z]
    }

    fn point_at_offset(body: BodyRef, offset: [f64; 3]) -> Self::BodyPoint {
        spatial::pose::SpatialPoint {
            body,
            s: offset.into(),
        }
    }

    fn frames_at_rest(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2]) -> [BodyFrame<f64>; 2] {
        bodies.map(|body| {
            let pose = poses.get(body);
            BodyFrame {
                r: [pose.r.x, pose.r.y, pose.r.z],
                rotation: [0, 1, 2].map(|i| [0, 1, 2].map(|j| pose.rotation[(i, j)])),
                ..GROUND
            }
        })
    }

    fn frames(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2], v: &[f64]) -> [BodyFrame<f64>; 2] {
        let mut frames = Self::frames_at_rest(poses, bodies);
        for (frame, body) in frames.iter_mut().zip(bodies) {
            let rate = spatial::pose::twist(v, body);
            let w = poses.get(body).to_ground(&rate.w);
            frame.v = [rate.v.x, rate.v.y, rate.v.z];
            frame.w = [w.x, w.y, w.z];
        }
        frames
    }

    fn frames_with_derivatives(
        poses: &mut Self::Poses<'_>,
        bodies: [BodyRef; 2],
        v: &[f64],
    ) -> [BodyFrame<Dual<12>>; 2] {
        let frames = match v {
            [] => Self::frames_at_rest(poses, bodies),
            _ => Self::frames(poses, bodies, v),
        };
        [0, 1].map(|side| {
            let mut frame = without_derivatives(&frames[side]);
            if bodies[side].is_none() {
                return frame;
            }
            let (first, rotation_first) = (6 * side, 6 * side + 3);
            for k in 0..3 {
                frame.r[k].q[first + k] = 1.0;
                frame.v[k].v[first + k] = 1.0;
            }
            // ∂R/∂w_k = R e_k~: column j of e_k~ is e_k × e_j.
            let rotation = &frames[side].rotation;
            for i in 0..3 {
                for k in 0..3 {
                    let (after, before) = ((k + 1) % 3, (k + 2) % 3);
                    frame.rotation[i][after].q[rotation_first + k] = rotation[i][before];
                    frame.rotation[i][before].q[rotation_first + k] = -rotation[i][after];
                }
            }
            let omega = match v {
                [] => [0.0; 3],
                _ => spatial::pose::twist(v, bodies[side]).w.into(),
            };
            let mut body_rate = omega.map(Dual::constant);
            for k in 0..3 {
                body_rate[k].v[rotation_first + k] = 1.0;
            }
            frame.w = frame.to_ground(&body_rate);
            frame
        })
    }

    #[inline]
    fn generalised_force<T: Scalar>(
        frame: &BodyFrame<T>,
        force: &Vector3Of<T>,
        moment: &Vector3Of<T>,
        out: &mut [T],
    ) {
        out[..3].copy_from_slice(force);
        out[3..6].copy_from_slice(&frame.to_body(moment));
    }
}
