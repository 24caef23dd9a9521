//! Placement of a joint in its two bodies, from either form in the model: in the ground frame at the initial pose, or in body frames.

use std::f64::consts::TAU;

use crate::error::{Error, Result};
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::planar::pose::{PlanarPoint, PlanarPoses, Vec2};
use crate::formulation::absolute::planar::{PlanarGeometry, planar_part};
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::pose::{SpatialPoint, SpatialPoses};
use crate::linalg::rotation::Vec3;
use crate::model::{self, JointFrame, JointKind, JointPlacement, Model};

/// Length below which a vector has no direction; directions in the model are about unit vectors.
pub const NO_DIRECTION: f64 = 1e-9;

/// Planar joint in body axes, relative to the centres of mass.
#[derive(Clone, Copy, Debug)]
pub struct PlanarPlacement {
    /// The joint points.
    pub points: [PlanarPoint; 2],
    /// Joint axis in each body's axes as written: not normalised, zero if it has no component in the plane.
    pub axes: [Vec2; 2],
    /// φ₁ − φ₀ in the initial pose.
    pub initial_angle: f64,
    /// The joint is given in the ground frame: its geometry is taken from the initial pose.
    pub in_initial_pose: bool,
}

impl PlanarPlacement {
    /// φ₁ − φ₀ of a joint without rotation. Given in the ground frame, it is that of the initial pose; given in body frames, the
    /// directions at angles `references` coincide, and the number of turns is the one nearest to the initial pose.
    pub fn fixed_angle(&self, references: [f64; 2]) -> f64 {
        if self.in_initial_pose {
            return self.initial_angle;
        }
        let turned = references[0] - references[1];
        turned + TAU * ((self.initial_angle - turned) / TAU).round()
    }
}

/// Spatial joint in body axes, relative to the centres of mass.
#[derive(Clone, Copy, Debug)]
pub struct SpatialPlacement {
    /// The joint points.
    pub points: [SpatialPoint; 2],
    /// Reference direction e, f = n × e and axis n in each body's axes.
    pub frames: [[Vec3; 3]; 2],
}

/// Both frames of a planar joint in body axes.
pub fn planar(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<PlanarPlacement> {
    require_two_bodies(model, joint)?;
    let poses = &mut PlanarPoses::new(q);
    let pose = joint.bodies.map(|body| poses.get(body));
    let frame_of = |k: usize| -> (PlanarPoint, Vec2) {
        match &joint.frame {
            JointPlacement::InitialPose(JointFrame { point, axis, .. }) => {
                let s = pose[k].to_body(planar_part(*point) - pose[k].r);
                let body = joint.bodies[k];
                (PlanarPoint { body, s }, pose[k].to_body(planar_part(*axis)))
            }
            JointPlacement::BodyFrames(frames) => (
                PlanarGeometry::point(model, joint.bodies[k], frames[k].point),
                planar_part(frames[k].axis),
            ),
            JointPlacement::None => (PlanarGeometry::point(model, None, [0.0; 3]), Vec2::zeros()),
        }
    };
    let ((p0, a0), (p1, a1)) = (frame_of(0), frame_of(1));
    require_finite(
        model,
        joint,
        [p0.s, p1.s, a0, a1].iter().flat_map(|x| [x.x, x.y]),
    )?;
    Ok(PlanarPlacement {
        points: [p0, p1],
        axes: [a0, a1],
        initial_angle: pose[1].angle - pose[0].angle,
        in_initial_pose: matches!(joint.frame, JointPlacement::InitialPose(_)),
    })
}

/// Both frames of a spatial joint in body axes.
pub fn spatial(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<SpatialPlacement> {
    require_two_bodies(model, joint)?;
    let poses = &mut SpatialPoses::new(q);
    let pose = joint.bodies.map(|body| poses.get(body));
    let mut points = joint.bodies.map(|body| SpatialPoint {
        body,
        s: Vec3::zeros(),
    });
    let mut frames = [[Vec3::zeros(); 3]; 2];
    match &joint.frame {
        JointPlacement::InitialPose(frame) => {
            let triad = triad(frame, joint.kind, 0);
            for k in 0..2 {
                points[k].s = pose[k].to_body(&(Vec3::from(frame.point) - pose[k].r));
                frames[k] = triad.map(|x| pose[k].to_body(&x));
            }
        }
        JointPlacement::BodyFrames(given) => {
            for k in 0..2 {
                points[k] = SpatialGeometry::point(model, joint.bodies[k], given[k].point);
                frames[k] = triad(&given[k], joint.kind, k);
            }
        }
        JointPlacement::None => {}
    }
    let numbers = (points.iter().map(|p| p.s)).chain(frames.iter().flatten().copied());
    require_finite(model, joint, numbers.flat_map(|x| [x.x, x.y, x.z]))?;
    Ok(SpatialPlacement { points, frames })
}

/// e, f, n of a frame. Without a reference direction, e is the x axis made perpendicular to the joint axis (y if x is nearly parallel
/// to it); without an axis (spherical and fixed joints) n is z. The reference direction of a universal joint is the axis of
/// `bodies[1]`: there it is kept, and the joint axis is made perpendicular to it.
fn triad(frame: &JointFrame, kind: JointKind, side: usize) -> [Vec3; 3] {
    let (axis, reference_direction) = (
        Vec3::from(frame.axis),
        Vec3::from(frame.reference_direction),
    );
    let (first, second) = if kind == JointKind::Universal && side == 1 {
        (reference_direction, axis)
    } else {
        (axis, reference_direction)
    };
    let first = match first.norm() {
        length if length < NO_DIRECTION => Vec3::z(),
        length => first / length,
    };
    let perpendicular = |x: &Vec3| x - first * first.dot(x);
    let second = [second, Vec3::x(), Vec3::y()]
        .iter()
        .map(perpendicular)
        // x and y cannot both have perpendicular components below a quarter.
        .zip([NO_DIRECTION, 0.25, NO_DIRECTION])
        .find(|(x, least)| x.norm() > *least)
        .map_or(Vec3::x(), |(x, _)| x.normalize());
    let (n, e) = if kind == JointKind::Universal && side == 1 {
        (second, first)
    } else {
        (first, second)
    };
    [e, n.cross(&e), n]
}

fn require_two_bodies(model: &Model, joint: &model::Joint) -> Result<()> {
    if joint.bodies[0] == joint.bodies[1] {
        return Err(error(model, joint, "joins a body to itself"));
    }
    Ok(())
}

fn require_finite(
    model: &Model,
    joint: &model::Joint,
    mut numbers: impl Iterator<Item = f64>,
) -> Result<()> {
    if numbers.all(f64::is_finite) {
        return Ok(());
    }
    Err(error(
        model,
        joint,
        "has a point or an axis that is not finite",
    ))
}

/// Error at the position of the joint in the model file.
pub fn error(model: &Model, joint: &model::Joint, reason: &str) -> Error {
    Error::Model {
        origin: model.origin.clone(),
        line: joint.text_position.line,
        column: joint.text_position.column,
        message: format!("joint \"{}\" {reason}", joint.name),
    }
}
