//! Absolute coordinates in the plane: (x, y, angle) of each body's centre of mass. They are a vector, so `retract` is addition,
//! and the angle counts its own turns.

#[cfg(test)]
pub(crate) mod example;
pub mod inertia;
pub mod measure;
pub mod meet;
pub mod pose;
#[cfg(test)]
mod tests;

use super::world::{Load, PointMotion, World};
use crate::model::{self, BodyRef, Model};
use pose::{Point, Pose, Poses, Vec2, perp, twist};

/// The plane.
#[derive(Clone, Copy, Debug)]
pub struct Plane;

/// The first two of three.
#[inline]
pub fn flat(x: [f64; 3]) -> Vec2 {
    Vec2::new(x[0], x[1])
}

impl World<6> for Plane {
    const DIMENSION: usize = 2;
    const STORED: usize = 3;
    const ROTATES: bool = false;

    type Poses<'a> = Poses<'a>;
    type Point = Point;
    type Inertia = inertia::Inertia;
    type Measure = measure::Measure;
    type Meet = meet::Meet;

    #[inline]
    fn poses(q: &[f64]) -> Poses<'_> {
        Poses::new(q)
    }

    fn start(body: &model::Body, q: &mut [f64], v: &mut [f64]) {
        let (angle, w) = (body.angle, body.angular_velocity[2]);
        let d = Pose::new(0.0, 0.0, angle).turn(flat(body.center_of_mass));
        let r = flat(body.position) + d;
        let r_dot = flat(body.velocity) + w * perp(d);
        q.copy_from_slice(&[r.x, r.y, angle]);
        v.copy_from_slice(&[r_dot.x, r_dot.y, w]);
    }

    fn point(model: &Model, body: BodyRef, at: [f64; 3]) -> Point {
        let center = body.map_or([0.0; 3], |b| model.bodies[b].center_of_mass);
        Point {
            body,
            s: flat(at) - flat(center),
        }
    }

    fn place(poses: &mut Poses, point: &Point) -> [f64; 3] {
        let pose = poses.get(point.body);
        let p = pose.r + pose.turn(point.s);
        [p.x, p.y, 0.0]
    }

    fn motion(poses: &mut Poses, point: &Point, v: &[f64], a: &[f64]) -> PointMotion {
        let pose = poses.get(point.body);
        let d = pose.turn(point.s);
        let deep = |x: Vec2| [x.x, x.y, 0.0];
        PointMotion {
            position: deep(pose.r + d),
            velocity: deep(point.velocity(d, v)),
            acceleration: deep(point.acceleration(d, v, a)),
            angle: pose.angle,
            angular_velocity: [0.0, 0.0, twist(v, point.body).w],
            angular_acceleration: [0.0, 0.0, twist(a, point.body).w],
        }
    }

    fn quaternion(poses: &mut Poses, point: &Point) -> [f64; 4] {
        let half = 0.5 * poses.get(point.body).angle;
        [half.cos(), 0.0, 0.0, half.sin()]
    }

    fn load(poses: &mut Poses, point: &Point, f: &[f64]) -> Load {
        let d = poses.get(point.body).turn(point.s);
        let force = Vec2::new(f[0], f[1]);
        Load {
            force: [force.x, force.y, 0.0],
            moment: [0.0, 0.0, f[2] - perp(d).dot(&force)],
        }
    }

    fn generalised(poses: &mut Poses, point: &Point, load: &Load, out: &mut [f64]) {
        let d = poses.get(point.body).turn(point.s);
        let force = flat(load.force);
        out[0] = force.x;
        out[1] = force.y;
        out[2] = load.moment[2] + perp(d).dot(&force);
    }

    fn relative_quaternion(poses: &mut Poses, bodies: [BodyRef; 2]) -> [f64; 4] {
        let [angle0, angle1] = bodies.map(|b| poses.get(b).angle);
        let half = 0.5 * (angle1 - angle0);
        [half.cos(), 0.0, 0.0, half.sin()]
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
    fn turned(q: &[f64]) -> f64 {
        q[2].abs()
    }
}
