//! Where a joint sits in its two bodies, from either way of writing it.

use crate::error::{Error, Result};
use crate::formulation::planar::pose::{Point, Pose, Vec2};
use crate::model::{self, Frame, JointPlace, Model};

/// A joint in body axes, seen from the centres of mass.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    /// The joint points.
    pub points: [Point; 2],
    /// The joint's direction in each body's axes as written: not normalised, zero where there is none in the plane.
    pub axes: [Vec2; 2],
    /// φ₁ − φ₀ at start.
    pub turned: f64,
    /// The joint was drawn in the ground frame at start, so the start pose is the geometry.
    pub drawn: bool,
}

/// Both joint frames in body axes.
pub fn locate(model: &Model, joint: &model::Joint, start: &[Pose]) -> Result<Located> {
    let [first, second] = joint.bodies;
    if first == second {
        return Err(refuse(model, joint, "joins a body to itself"));
    }
    let pose = joint
        .bodies
        .map(|body| body.map_or(Pose::GROUND, |b| start[b]));
    let plane = |x: [f64; 3]| Vec2::new(x[0], x[1]);
    let center = joint
        .bodies
        .map(|body| body.map_or(Vec2::zeros(), |b| plane(model.bodies[b].center_of_mass)));
    let located = |k: usize| -> (Point, Vec2) {
        let (s, axis) = match &joint.frame {
            JointPlace::Ground(Frame { point, axis }) => (
                pose[k].turn_back(plane(*point) - pose[k].r),
                pose[k].turn_back(plane(*axis)),
            ),
            JointPlace::Bodies(frames) => {
                (plane(frames[k].point) - center[k], plane(frames[k].axis))
            }
        };
        let point = Point {
            body: joint.bodies[k],
            s,
        };
        (point, axis)
    };
    let ((p0, a0), (p1, a1)) = (located(0), located(1));
    if ![p0.s, p1.s, a0, a1]
        .iter()
        .all(|x| x.x.is_finite() && x.y.is_finite())
    {
        return Err(refuse(
            model,
            joint,
            "has a point or an axis that is not finite",
        ));
    }
    Ok(Located {
        points: [p0, p1],
        axes: [a0, a1],
        turned: pose[1].angle - pose[0].angle,
        drawn: matches!(joint.frame, JointPlace::Ground(_)),
    })
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
