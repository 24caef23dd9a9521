//! Several joints of one link as one joint of the model: its type, its coordinates, its frames.

use nalgebra::{Unit, Vector3};

use super::frame::{FramePlacement, perpendicular};
use super::tree::{TreeFreedom, TreeJoint};
use crate::linalg::elementary::rotation_about;
use crate::model::{JointFrame, JointKind};

/// Joints that one joint of the model stands for at most.
pub const MOST_COMBINED: usize = 3;

/// Joints of a link that one joint of the model stands for: its type, and the index of the coordinate of each. Coordinates of the
/// joint that are not among them are held.
pub fn combined(joints: &[TreeJoint]) -> Option<(JointKind, Vec<usize>)> {
    use TreeFreedom::{Ball, Hinge, Plane, Slide};
    /// Cosine of directions that are perpendicular to all digits.
    const PERPENDICULAR: f64 = 1e-12;
    /// Largest angle (rad) of the second axis of a gimbal from where the axes are perpendicular: at a quarter turn its coordinates have no
    /// meaning, and before that they are poor by a factor of 1/cos.
    const GIMBAL: f64 = 1.5;
    let perpendicular = |a: &TreeJoint, b: &TreeJoint| a.axis.dot(&b.axis).abs() <= PERPENDICULAR;
    let at_one_point =
        (joints.iter()).all(|joint| joint.point == joints[0].point && joint.reference == 0.0);
    let kinds: Vec<TreeFreedom> = joints.iter().map(|joint| joint.freedom).collect();
    match (&kinds[..], joints) {
        ([Hinge], _) => Some((JointKind::Revolute, vec![0])),
        ([Slide], _) => Some((JointKind::Prismatic, vec![0])),
        ([Ball], _) => Some((JointKind::Spherical, vec![])),
        ([Plane], _) => Some((JointKind::Planar, vec![])),
        ([Hinge, Hinge], [a, b]) => {
            (at_one_point && perpendicular(a, b)).then(|| (JointKind::Universal, vec![0, 1]))
        }
        ([Hinge, Hinge, Hinge], [a, b, c]) => {
            let right = perpendicular(a, b) && perpendicular(b, c) && perpendicular(c, a);
            let within = |[low, high]: [f64; 2]| low > -GIMBAL && high < GIMBAL;
            (at_one_point && right && b.range.is_some_and(within))
                .then(|| (JointKind::Gimbal, vec![0, 1, 2]))
        }
        ([Slide, Slide], [a, b]) => perpendicular(a, b).then(|| (JointKind::Planar, vec![0, 1])),
        ([Slide, Hinge], [slide, hinge]) if slide.axis == hinge.axis => {
            Some((JointKind::Cylindrical, vec![1, 0]))
        }
        ([Slide, Hinge], [slide, hinge]) => {
            perpendicular(slide, hinge).then(|| (JointKind::Planar, vec![0, 2]))
        }
        ([Slide, Slide, Slide], [a, b, c]) => {
            let right = perpendicular(a, b) && perpendicular(b, c) && perpendicular(c, a);
            let order = if is_left_handed(joints) {
                [0, 2, 1]
            } else {
                [0, 1, 2]
            };
            right.then(|| (JointKind::Cartesian, order.to_vec()))
        }
        ([Slide, Slide, Hinge], [a, b, hinge]) => {
            let level = perpendicular(a, hinge) && perpendicular(b, hinge) && perpendicular(a, b);
            let second = hinge.axis.cross(&a.axis).dot(&b.axis);
            let order = if second > 0.0 { [0, 1] } else { [1, 0] };
            level.then(|| (JointKind::Planar, vec![order[0], order[1], 2]))
        }
        _ => None,
    }
}

/// Whether the third axis is opposite to the product of the first two.
pub fn is_left_handed(joints: &[TreeJoint]) -> bool {
    matches!(joints, [a, b, c] if a.axis.cross(&b.axis).dot(&c.axis) < 0.0)
}

/// The frames of a joint in its bodies; they coincide where the coordinates are zero.
pub fn joint_frames(
    joints: &[TreeJoint],
    kind: JointKind,
    indices: &[usize],
    drawn: &FramePlacement,
) -> [JointFrame; 2] {
    let last = joints.last().expect("a joint has a part");
    let axis = match (kind, indices) {
        (JointKind::Universal | JointKind::Gimbal, _) => joints[0].axis,
        (JointKind::Cartesian, [0, 2, 1]) => joints[1].axis,
        (JointKind::Planar, [0, 1]) => joints[0].axis.cross(&joints[1].axis),
        _ => last.axis,
    };
    let across = match (kind, indices) {
        (JointKind::Universal | JointKind::Gimbal, _) => joints[1].axis,
        (JointKind::Planar, [0, ..]) | (JointKind::Cartesian, _) => joints[0].axis,
        (JointKind::Planar, [1, ..]) => joints[1].axis,
        _ => perpendicular(&axis),
    };
    // A reference is the coordinate in the drawn pose: the first frame lies back by it.
    let (mut first_point, mut turned) = (last.point, across);
    for joint in joints {
        match joint.freedom {
            TreeFreedom::Hinge if joint.reference != 0.0 => {
                let axis = Unit::new_unchecked(joint.axis);
                turned = rotation_about(&axis, joint.reference) * across;
            }
            TreeFreedom::Slide => first_point -= joint.axis * joint.reference,
            _ => {}
        }
    }
    let frame = |at: &FramePlacement, point, across| {
        let point = at.point(point).into();
        let direction = |v| unit(at.rotation * v);
        match kind {
            JointKind::Spherical => JointFrame {
                point,
                ..JointFrame::default()
            },
            _ => JointFrame {
                point,
                axis: direction(axis),
                reference_direction: direction(across),
            },
        }
    };
    [
        frame(drawn, first_point, across),
        frame(&FramePlacement::default(), last.point, turned),
    ]
}

/// With length one to the last digit, and without negative zeros.
pub fn unit(v: Vector3<f64>) -> [f64; 3] {
    let v: [f64; 3] = v.normalize().into();
    v.map(|x| x + 0.0)
}
