//! Velocities of links at the start, from the rates of their joints.

use nalgebra::Vector3;

use super::frame::FramePlacement;
use super::tree::{TreeFreedom, TreeLink};

/// Motion of the frame of a link, ground axes.
#[derive(Clone, Copy, Debug)]
pub struct LinkRate {
    /// Of the origin (m/s).
    pub velocity: Vector3<f64>,
    /// rad/s
    pub spin: Vector3<f64>,
}

impl Default for LinkRate {
    fn default() -> Self {
        Self {
            velocity: Vector3::zeros(),
            spin: Vector3::zeros(),
        }
    }
}

impl LinkRate {
    /// Of a link whose parent is at `pose` and moves with `rate`.
    pub fn of(link: &TreeLink, pose: &FramePlacement, rate: &Self) -> Self {
        let mut at = pose.then(&link.free_start.unwrap_or(link.placement));
        if link.is_free {
            return Self {
                velocity: link.rate[0],
                spin: at.rotation * link.rate[1],
            };
        }
        let mut own = rate.at(pose.position, at.position);
        for joint in &link.joints {
            let anchor = at.point(joint.point);
            let axis = at.rotation * joint.axis;
            let moved = at.then(&joint.motion());
            let mut there = own.at(at.position, anchor);
            match joint.freedom {
                TreeFreedom::Hinge => there.spin += axis * joint.speed,
                TreeFreedom::Ball => there.spin += moved.rotation * joint.spin,
                TreeFreedom::Slide => {
                    // The point of the link that was at the anchor has slid along the axis.
                    there = own.at(at.position, moved.point(joint.point));
                    there.velocity += axis * joint.speed;
                }
                TreeFreedom::Plane => {}
            }
            own = there.at(moved.point(joint.point), moved.position);
            at = moved;
        }
        own
    }

    /// The velocity of another point of the same body.
    fn at(&self, from: Vector3<f64>, to: Vector3<f64>) -> Self {
        Self {
            velocity: self.velocity + self.spin.cross(&(to - from)),
            spin: self.spin,
        }
    }
}
