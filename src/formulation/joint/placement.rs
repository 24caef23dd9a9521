//! Where a joint sits in its two bodies, from either way of writing it.

use std::f64::consts::TAU;

use crate::error::{Error, Result};
use crate::formulation::absolute::geometry::Geometry;
use crate::formulation::absolute::planar::pose::{
    PlanarPoint as FlatPoint, PlanarPoses as FlatPoses, Vec2,
};
use crate::formulation::absolute::planar::{PlanarGeometry, planar_part as plane_vector};
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::pose::{
    SpatialPoint as DeepPoint, SpatialPoses as DeepPoses,
};
use crate::linalg::rotation::Vec3;
use crate::model::{self, JointFrame, JointKind, JointPlacement, Model};

/// Below this length a direction is none; directions are unit vectors.
pub const NO_DIRECTION: f64 = 1e-9;

/// A joint of the plane in body axes, seen from the centres of mass.
#[derive(Clone, Copy, Debug)]
pub struct PlanarPlacement {
    /// The joint points.
    pub points: [FlatPoint; 2],
    /// The joint's direction in each body's axes as written: not normalised, zero where there is none in the plane.
    pub axes: [Vec2; 2],
    /// φ₁ − φ₀ at start.
    pub initial_angle: f64,
    /// The joint was drawn in the ground frame at start, so the start pose is the geometry.
    pub in_initial_pose: bool,
}

impl PlanarPlacement {
    /// φ₁ − φ₀ of a joint that keeps it. Drawn in the ground frame it is that of the start; in body frames the directions at
    /// `references` fall together, which fixes the angle up to whole turns, and the turn nearest to the start pose is meant.
    pub fn fixed_angle(&self, references: [f64; 2]) -> f64 {
        if self.in_initial_pose {
            return self.initial_angle;
        }
        let turned = references[0] - references[1];
        turned + TAU * ((self.initial_angle - turned) / TAU).round()
    }
}

/// A joint of space in body axes, seen from the centres of mass.
#[derive(Clone, Copy, Debug)]
pub struct SpatialPlacement {
    /// The joint points.
    pub points: [DeepPoint; 2],
    /// Across, axis x across, axis in each body's axes: e, f, n.
    pub frames: [[Vec3; 3]; 2],
}

/// Both frames of a joint of the plane in body axes.
pub fn planar(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<PlanarPlacement> {
    two_bodies(model, joint)?;
    let poses = &mut FlatPoses::new(q);
    let pose = joint.bodies.map(|body| poses.get(body));
    let located = |k: usize| -> (FlatPoint, Vec2) {
        match &joint.frame {
            JointPlacement::InitialPose(JointFrame { point, axis, .. }) => {
                let s = pose[k].to_body(plane_vector(*point) - pose[k].r);
                let body = joint.bodies[k];
                (FlatPoint { body, s }, pose[k].to_body(plane_vector(*axis)))
            }
            JointPlacement::BodyFrames(frames) => (
                PlanarGeometry::point(model, joint.bodies[k], frames[k].point),
                plane_vector(frames[k].axis),
            ),
            JointPlacement::None => (PlanarGeometry::point(model, None, [0.0; 3]), Vec2::zeros()),
        }
    };
    let ((p0, a0), (p1, a1)) = (located(0), located(1));
    finite(
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

/// Both frames of a joint of space in body axes.
pub fn spatial(model: &Model, joint: &model::Joint, q: &[f64]) -> Result<SpatialPlacement> {
    two_bodies(model, joint)?;
    let poses = &mut DeepPoses::new(q);
    let pose = joint.bodies.map(|body| poses.get(body));
    let mut points = joint.bodies.map(|body| DeepPoint {
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
    finite(model, joint, numbers.flat_map(|x| [x.x, x.y, x.z]))?;
    Ok(SpatialPlacement { points, frames })
}

/// e, f, n of a frame. Without `across` the x axis made perpendicular to the axis (y where x lies along it); without an
/// axis (balls, fixed joints) n is z. Of a universal joint `across` is the axis of `bodies[1]`, so there it is kept and the
/// other made perpendicular to it.
fn triad(frame: &JointFrame, kind: JointKind, side: usize) -> [Vec3; 3] {
    let (axis, across) = (
        Vec3::from(frame.axis),
        Vec3::from(frame.reference_direction),
    );
    let (first, second) = if kind == JointKind::Universal && side == 1 {
        (across, axis)
    } else {
        (axis, across)
    };
    let first = match first.norm() {
        length if length < NO_DIRECTION => Vec3::z(),
        length => first / length,
    };
    let perpendicular = |x: &Vec3| x - first * first.dot(x);
    let second = [second, Vec3::x(), Vec3::y()]
        .iter()
        .map(perpendicular)
        // A quarter: x and y cannot both be that close to the axis.
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

fn two_bodies(model: &Model, joint: &model::Joint) -> Result<()> {
    if joint.bodies[0] == joint.bodies[1] {
        return Err(refuse(model, joint, "joins a body to itself"));
    }
    Ok(())
}

fn finite(
    model: &Model,
    joint: &model::Joint,
    mut numbers: impl Iterator<Item = f64>,
) -> Result<()> {
    if numbers.all(f64::is_finite) {
        return Ok(());
    }
    Err(refuse(
        model,
        joint,
        "has a point or an axis that is not finite",
    ))
}

/// An error at the joint's place in the text.
pub fn refuse(model: &Model, joint: &model::Joint, why: &str) -> Error {
    Error::Model {
        origin: model.origin.clone(),
        line: joint.place.line,
        column: joint.place.column,
        message: format!("joint \"{}\" {why}", joint.name),
    }
}
