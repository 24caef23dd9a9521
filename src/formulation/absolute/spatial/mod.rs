//! Absolute coordinates in space: the centre of mass and a unit quaternion for each body, rates (ṙ in ground axes, ω in body
//! axes). M is constant, and a step moves on the group:
//!
//! ```text
//!   q ∘ w = (r + w_r, R exp(w_φ)),      [x, y] = (0, ω_x × ω_y)
//! ```
//!
//! A quaternion does not count turns: each angle of a joint has a stored coordinate of its own behind those of the bodies, in
//! which `retract` keeps the angle continuous.

pub mod coincidence;
pub mod coordinate;
pub mod inertia;
pub mod pose;
#[cfg(test)]
mod tests;

use super::geometry::{Geometry, PointMotion, Wrench};
use crate::linalg::rotation::{self, Quaternion, Vec3};
use crate::model::{self, BodyRef, Model};
use pose::{SpatialPoint, SpatialPoses, twist};

/// Space.
#[derive(Clone, Copy, Debug)]
pub struct SpatialGeometry;

fn array(x: Vec3) -> [f64; 3] {
    [x.x, x.y, x.z]
}

#[inline]
fn quaternion(q: &[f64]) -> Quaternion {
    [q[3], q[4], q[5], q[6]]
}

#[inline]
fn rotation(w: &[f64]) -> Vec3 {
    Vec3::new(w[3], w[4], w[5])
}

impl Geometry<12> for SpatialGeometry {
    const DIMENSION: usize = 3;
    const STORED: usize = 7;
    const HAS_ROTATIONS: bool = true;

    type Poses<'a> = SpatialPoses<'a>;
    type BodyPoint = SpatialPoint;
    type Inertia = inertia::SpatialInertia;
    type RelativeCoordinate = coordinate::SpatialCoordinate;
    type CoincidentPoints = coincidence::SpatialCoincidence;

    #[inline]
    fn poses(q: &[f64]) -> SpatialPoses<'_> {
        SpatialPoses::new(q)
    }

    fn initial_state(body: &model::Body, q: &mut [f64], v: &mut [f64]) {
        let turned = rotation::normalized(&body.orientation);
        let w = Vec3::from(body.angular_velocity);
        let d = rotation::matrix(&turned) * Vec3::from(body.center_of_mass);
        let r = Vec3::from(body.position) + d;
        let r_dot = Vec3::from(body.velocity) + w.cross(&d);
        let w = rotation::matrix(&turned).tr_mul(&w);
        q[..3].copy_from_slice(r.as_slice());
        q[3..].copy_from_slice(&turned);
        v[..3].copy_from_slice(r_dot.as_slice());
        v[3..].copy_from_slice(w.as_slice());
    }

    fn point(model: &Model, body: BodyRef, at: [f64; 3]) -> SpatialPoint {
        let center = body.map_or([0.0; 3], |b| model.bodies[b].center_of_mass);
        SpatialPoint {
            body,
            s: Vec3::from(at) - Vec3::from(center),
        }
    }

    fn position(poses: &mut SpatialPoses, point: &SpatialPoint) -> [f64; 3] {
        let pose = poses.get(point.body);
        array(pose.r + pose.to_ground(&point.s))
    }

    fn motion(poses: &mut SpatialPoses, point: &SpatialPoint, v: &[f64], a: &[f64]) -> PointMotion {
        let pose = poses.get(point.body);
        let (rate, acc) = (twist(v, point.body), twist(a, point.body));
        let (s, w) = (&point.s, &rate.w);
        PointMotion {
            position: array(pose.r + pose.to_ground(s)),
            velocity: array(rate.v + pose.to_ground(&w.cross(s))),
            acceleration: array(acc.v + pose.to_ground(&(acc.w.cross(s) + w.cross(&w.cross(s))))),
            angle: 0.0,
            angular_velocity: array(pose.to_ground(w)),
            // d(R ω)/dt = R ω', since ω × ω = 0
            angular_acceleration: array(pose.to_ground(&acc.w)),
        }
    }

    fn quaternion(poses: &mut SpatialPoses, point: &SpatialPoint) -> [f64; 4] {
        poses.quaternion(point.body)
    }

    fn wrench(poses: &mut SpatialPoses, point: &SpatialPoint, f: &[f64]) -> Wrench {
        let pose = poses.get(point.body);
        let force = Vec3::new(f[0], f[1], f[2]);
        let about_center = pose.to_ground(&rotation(f));
        Wrench {
            force: array(force),
            moment: array(about_center - pose.to_ground(&point.s).cross(&force)),
        }
    }

    fn relative_quaternion(poses: &mut SpatialPoses, bodies: [BodyRef; 2]) -> [f64; 4] {
        let [q0, q1] = bodies.map(|b| poses.quaternion(b));
        rotation::product(&rotation::conjugate(&q0), &q1)
    }

    #[inline]
    fn retract(q: &[f64], w: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = q[i] + w[i];
        }
        let turned = rotation::product(&quaternion(q), &rotation::exp(&rotation(w)));
        out[3..7].copy_from_slice(&rotation::normalized(&turned));
    }

    #[inline]
    fn difference(q0: &[f64], q1: &[f64], w: &mut [f64]) {
        for i in 0..3 {
            w[i] = q1[i] - q0[i];
        }
        let turned = rotation::product(&rotation::conjugate(&quaternion(q0)), &quaternion(q1));
        w[3..6].copy_from_slice(rotation::log(&turned).as_slice());
    }

    #[inline]
    fn bracket(x: &[f64], y: &[f64], out: &mut [f64]) {
        out[..3].fill(0.0);
        out[3..6].copy_from_slice(rotation(x).cross(&rotation(y)).as_slice());
    }

    #[inline]
    fn tangent_inverse(theta: &[f64]) -> [[f64; 3]; 3] {
        let t = rotation::tangent_inverse(&rotation(theta));
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| t[(i, j)]))
    }
}
