//! Planar absolute coordinates: (x, y, angle) of each body's centre of mass. They form a vector space: `retract` is addition, and
//! the angle includes its turns.

pub mod coincidence;
pub mod coordinate;
#[cfg(test)]
pub(crate) mod example;
pub mod inertia;
pub mod pose;
#[cfg(test)]
mod tests;

use super::geometry::{Geometry, PointMotion, Wrench};
use crate::linalg::elementary::{cos, sin};
use crate::model::{self, BodyRef, Model};
use pose::{PlanarPoint, PlanarPose, PlanarPoses, Vec2, perp, twist};

/// Planar geometry.
#[derive(Clone, Copy, Debug)]
pub struct PlanarGeometry;

/// The first two components.
#[inline]
pub fn planar_part(x: [f64; 3]) -> Vec2 {
    Vec2::new(x[0], x[1])
}

impl Geometry<6> for PlanarGeometry {
    const DIMENSION: usize = 2;
    const STORED: usize = 3;
    const HAS_ROTATIONS: bool = false;

    type Poses<'a> = PlanarPoses<'a>;
    type BodyPoint = PlanarPoint;
    type Inertia = inertia::PlanarInertia;
    type RelativeCoordinate = coordinate::PlanarCoordinate;
    type CoincidentPoints = coincidence::PlanarCoincidence;

    #[inline]
    fn poses(q: &[f64]) -> PlanarPoses<'_> {
        PlanarPoses::new(q)
    }

    fn initial_state(body: &model::Body, q: &mut [f64], v: &mut [f64]) {
        let (angle, w) = (body.angle, body.angular_velocity[2]);
        let d = PlanarPose::new(0.0, 0.0, angle).to_ground(planar_part(body.center_of_mass));
        let r = planar_part(body.position) + d;
        let r_dot = planar_part(body.velocity) + w * perp(d);
        q.copy_from_slice(&[r.x, r.y, angle]);
        v.copy_from_slice(&[r_dot.x, r_dot.y, w]);
    }

    fn point(model: &Model, body: BodyRef, at: [f64; 3]) -> PlanarPoint {
        let center = body.map_or([0.0; 3], |b| model.bodies[b].center_of_mass);
        PlanarPoint {
            body,
            s: planar_part(at) - planar_part(center),
        }
    }

    fn position(poses: &mut PlanarPoses, point: &PlanarPoint) -> [f64; 3] {
        let pose = poses.get(point.body);
        let p = pose.r + pose.to_ground(point.s);
        [p.x, p.y, 0.0]
    }

    fn motion(poses: &mut PlanarPoses, point: &PlanarPoint, v: &[f64], a: &[f64]) -> PointMotion {
        let pose = poses.get(point.body);
        let d = pose.to_ground(point.s);
        let spatial = |x: Vec2| [x.x, x.y, 0.0];
        PointMotion {
            position: spatial(pose.r + d),
            velocity: spatial(point.velocity(d, v)),
            acceleration: spatial(point.acceleration(d, v, a)),
            angle: pose.angle,
            angular_velocity: [0.0, 0.0, twist(v, point.body).w],
            angular_acceleration: [0.0, 0.0, twist(a, point.body).w],
        }
    }

    fn quaternion(poses: &mut PlanarPoses, point: &PlanarPoint) -> [f64; 4] {
        let half = 0.5 * poses.get(point.body).angle;
        [cos(half), 0.0, 0.0, sin(half)]
    }

    fn wrench(poses: &mut PlanarPoses, point: &PlanarPoint, f: &[f64]) -> Wrench {
        let d = poses.get(point.body).to_ground(point.s);
        let force = Vec2::new(f[0], f[1]);
        Wrench {
            force: [force.x, force.y, 0.0],
            moment: [0.0, 0.0, f[2] - perp(d).dot(&force)],
        }
    }

    fn relative_quaternion(poses: &mut PlanarPoses, bodies: [BodyRef; 2]) -> [f64; 4] {
        let [angle0, angle1] = bodies.map(|b| poses.get(b).angle);
        let half = 0.5 * (angle1 - angle0);
        [cos(half), 0.0, 0.0, sin(half)]
    }

    #[inline]
    fn retract(q: &[f64], w: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = q[i] + w[i];
        }
    }

    #[inline]
    fn difference(q0: &[f64], q1: &[f64], w: &mut [f64]) {
        for i in 0..3 {
            w[i] = q1[i] - q0[i];
        }
    }

    #[inline]
    fn angle_magnitude(q: &[f64]) -> f64 {
        q[2].abs()
    }
}
