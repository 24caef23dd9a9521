//! The axis of a beam at rest: a polyline or an arc, with the frames of its sections.
//!
//! Section axis 1 is along the beam, axis 2 = axis 3 x axis 1. From one segment of a polyline to the next the frame turns by the
//! least rotation that takes the one direction to the other; the corner itself is rigid.

use crate::linalg::elementary::{atan2, rotation_about, sin};
use nalgebra::{Matrix3, Rotation3, Unit, UnitQuaternion, Vector3};

type V3 = Vector3<f64>;

/// Largest rotation from one end of an element to the other (rad): at half a turn the logarithm has no value.
const MAX_ELEMENT_ROTATION: f64 = 3.0;

/// Distance of points, relative to the size of the line, that is taken for zero.
const COINCIDENT: f64 = 1e-9;
/// Error of an arc, relative to its radius, that rounded digits explain.
const ROUNDED: f64 = 1e-6;

/// The axis of a beam at rest.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model) enum BeamLine {
    /// Straight segments through these points.
    Polyline(Vec<[f64; 3]>),
    /// From a point about an axis through the centre, by an angle.
    Arc {
        start: [f64; 3],
        center: [f64; 3],
        axis: [f64; 3],
        angle: f64,
    },
}

/// Nodes of a beam: poses of the section frames, lengths of the elements, and the ends of elements in corners.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::model) struct BeamNodes {
    pub positions: Vec<[f64; 3]>,
    pub orientations: Vec<[f64; 4]>,
    /// Angles in the plane, turns included.
    pub angles: Vec<f64>,
    pub lengths: Vec<f64>,
    pub corners: Vec<(usize, [f64; 4])>,
}

impl BeamNodes {
    fn push(&mut self, position: V3, frame: &Rotation3<f64>, angle: f64) {
        self.positions.push(position.into());
        self.orientations.push(quaternion(frame));
        self.angles.push(angle);
    }
}

fn quaternion(frame: &Rotation3<f64>) -> [f64; 4] {
    let q = UnitQuaternion::from_rotation_matrix(frame);
    [q.w, q.i, q.j, q.k]
}

/// Rotation about section axis 1.
fn twisted(frame: &Rotation3<f64>, angle: f64) -> Rotation3<f64> {
    frame * rotation_about(&V3::x_axis(), angle).to_rotation_matrix()
}

impl BeamLine {
    /// Nodes at equal distances, of each segment at least. `orientation` is the direction of section axis 3 at the start, `twist`
    /// the rotation of the sections about the axis from the start to the end. Fails with a sentence.
    pub fn nodes(
        &self,
        elements: usize,
        orientation: [f64; 3],
        twist: f64,
    ) -> Result<BeamNodes, String> {
        match self {
            Self::Polyline(points) => polyline(points, elements, orientation, twist),
            Self::Arc {
                start,
                center,
                axis,
                angle,
            } => {
                let arc = Arc {
                    start: V3::from(*start),
                    center: V3::from(*center),
                    axis: V3::from(*axis),
                    angle: *angle,
                };
                arc.nodes(elements, orientation, twist)
            }
        }
    }

    /// The axis of the arc that ends in `end`, if it is not given: perpendicular to the plane of the arc.
    pub fn axis_to(
        start: [f64; 3],
        center: [f64; 3],
        end: [f64; 3],
        angle: f64,
    ) -> Option<[f64; 3]> {
        let [from, to] = [start, end].map(|p| V3::from(p) - V3::from(center));
        let normal = from.cross(&to);
        let size = from.norm() * to.norm();
        // Beyond half a turn the arc goes the other way round than the shortest rotation.
        let sign = if sin(angle) < 0.0 { -1.0 } else { 1.0 };
        (normal.norm() > COINCIDENT * size).then(|| (sign * normal.normalize()).into())
    }
}

/// The section frame with axis 1 along `tangent` and axis 3 nearest to `orientation`.
fn frame(tangent: &V3, orientation: [f64; 3]) -> Result<Rotation3<f64>, String> {
    let wanted = V3::from(orientation);
    let across = wanted - tangent * tangent.dot(&wanted);
    if !(across.norm() > 1e-6 * wanted.norm()) {
        return Err(
            "orientation must not be along the beam: it is the direction of section axis 3".into(),
        );
    }
    // Twice: the first pass leaves the rounding error of a direction near the axis.
    let third = across.normalize();
    let third = (third - tangent * tangent.dot(&third)).normalize();
    let second = third.cross(tangent);
    Ok(Rotation3::from_matrix_unchecked(Matrix3::from_columns(&[
        *tangent, second, third,
    ])))
}

fn polyline(
    points: &[[f64; 3]],
    elements: usize,
    orientation: [f64; 3],
    twist: f64,
) -> Result<BeamNodes, String> {
    let points: Vec<V3> = points.iter().map(|p| V3::from(*p)).collect();
    let sides: Vec<V3> = points.windows(2).map(|p| p[1] - p[0]).collect();
    let lengths: Vec<f64> = sides.iter().map(V3::norm).collect();
    let total: f64 = lengths.iter().sum();
    if let Some(k) = lengths.iter().position(|l| !(*l > COINCIDENT * total)) {
        return Err(format!("points[{k}] and points[{}] are the same", k + 1));
    }
    if elements < sides.len() {
        return Err(format!(
            "elements must be at least {}, one for each side of the polyline, found {elements}",
            sides.len()
        ));
    }
    let counts = elements_of_sides(&lengths, elements);
    let mut nodes = BeamNodes::default();
    let (mut before, mut angle, mut done) = (None, 0.0, 0.0);
    let mut own = Rotation3::identity();
    for (k, side) in sides.iter().enumerate() {
        let tangent = side / lengths[k];
        match before {
            None => {
                own = frame(&tangent, orientation)?;
                angle = atan2(tangent.y, tangent.x);
            }
            Some(last) => {
                let turn = turn_of(&last, &tangent)
                    .ok_or_else(|| format!("the beam turns back on itself at points[{k}]"))?;
                let ends = twisted(&own, twist * done / total);
                own = turn * own;
                angle += atan2(last.cross(&tangent).z, last.dot(&tangent));
                let begins = twisted(&own, twist * done / total);
                let corner = quaternion(&(begins.inverse() * ends));
                if tangent != last {
                    nodes.corners.push((nodes.lengths.len() - 1, corner));
                }
            }
        }
        for i in 0..counts[k] {
            let part = i as f64 / counts[k] as f64;
            let along = (done + part * lengths[k]) / total;
            nodes.push(
                points[k] + part * side,
                &twisted(&own, twist * along),
                angle,
            );
            nodes.lengths.push(lengths[k] / counts[k] as f64);
        }
        done += lengths[k];
        before = Some(tangent);
    }
    nodes.push(points[points.len() - 1], &twisted(&own, twist), angle);
    check_rotations(twist.abs() * longest(&nodes.lengths) / total)?;
    Ok(nodes)
}

fn longest(lengths: &[f64]) -> f64 {
    lengths.iter().fold(0.0, |most: f64, l| most.max(*l))
}

/// The least rotation from one direction to another; none if they are opposite.
fn turn_of(from: &V3, to: &V3) -> Option<Rotation3<f64>> {
    if from == to {
        return Some(Rotation3::identity());
    }
    let axis = from.cross(to);
    let (sine, cosine) = (axis.norm(), from.dot(to));
    if cosine < 0.0 && sine < 1e-6 {
        return None;
    }
    match Unit::try_new(axis, 1e-300) {
        Some(axis) => Some(rotation_about(&axis, atan2(sine, cosine)).to_rotation_matrix()),
        None => Some(Rotation3::identity()),
    }
}

/// Numbers of elements, as equal in length as whole numbers allow: each side gets one, the others go where elements are longest.
fn elements_of_sides(lengths: &[f64], elements: usize) -> Vec<usize> {
    let total: f64 = lengths.iter().sum();
    let spare = elements - lengths.len();
    // Most of them at once, rounded down; then one by one.
    let mut counts: Vec<usize> = (lengths.iter())
        .map(|l| 1 + (spare as f64 * l / total) as usize)
        .collect();
    while counts.iter().sum::<usize>() > elements {
        let most = (0..counts.len())
            .max_by_key(|k| counts[*k])
            .expect("a side");
        counts[most] -= 1;
    }
    while counts.iter().sum::<usize>() < elements {
        let size = |k: usize| lengths[k] / counts[k] as f64;
        let mut longest = 0;
        for k in 1..counts.len() {
            // Of equal ones the first, whatever the last digits of their lengths.
            if size(k) > size(longest) * (1.0 + 1e-9) {
                longest = k;
            }
        }
        counts[longest] += 1;
    }
    counts
}

fn check_rotations(rotation: f64) -> Result<(), String> {
    if rotation < MAX_ELEMENT_ROTATION {
        return Ok(());
    }
    Err(format!(
        "each element turns by {rotation:.3} rad from end to end: give more elements, at most {MAX_ELEMENT_ROTATION} rad are possible"
    ))
}

struct Arc {
    start: V3,
    center: V3,
    axis: V3,
    angle: f64,
}

impl Arc {
    fn nodes(
        &self,
        elements: usize,
        orientation: [f64; 3],
        twist: f64,
    ) -> Result<BeamNodes, String> {
        let axis = Unit::new_normalize(self.axis);
        let arm = self.start - self.center;
        let radius = arm.norm();
        if !(radius > 0.0) {
            return Err("the centre of the arc must not be its start".into());
        }
        if arm.dot(&axis).abs() > ROUNDED * radius {
            return Err("the centre of the arc must be in the plane through the start that is perpendicular to the axis".into());
        }
        // Exactly in that plane.
        let arm = arm - axis.into_inner() * arm.dot(&axis);
        if !(self.angle != 0.0) {
            return Err("the angle of an arc must not be zero".into());
        }
        let n = elements as f64;
        check_rotations((self.angle * self.angle + twist * twist).sqrt() / n)?;
        let tangent = axis.cross(&arm).normalize() * self.angle.signum();
        let first = frame(&tangent, orientation)?;
        let angle = atan2(tangent.y, tangent.x);
        let mut nodes = BeamNodes::default();
        for k in 0..=elements {
            let part = k as f64 / n;
            let turn = rotation_about(&axis, self.angle * part).to_rotation_matrix();
            let position = self.start - arm + turn * arm;
            // In the plane the axis is z or −z.
            let about_z = self.angle * axis.z.signum();
            nodes.push(
                position,
                &twisted(&(turn * first), twist * part),
                angle + about_z * part,
            );
        }
        nodes.lengths = vec![radius * self.angle.abs() / n; elements];
        Ok(nodes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Z: [f64; 3] = [0.0, 0.0, 1.0];

    #[test]
    fn elements_are_shared_by_length_and_no_side_is_without() {
        assert_eq!(elements_of_sides(&[1.0, 1.0], 8), [4, 4]);
        assert_eq!(elements_of_sides(&[3.0, 1.0], 8), [6, 2]);
        assert_eq!(elements_of_sides(&[1000.0, 1e-3, 1.0], 5), [3, 1, 1]);
        assert_eq!(elements_of_sides(&[1.0; 3], 4), [2, 1, 1]);
    }

    #[test]
    fn a_corner_is_rigid_and_its_sides_are_straight() {
        let line = BeamLine::Polyline(vec![[0.0; 3], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0]]);
        let nodes = line.nodes(4, Z, 0.0).unwrap();
        assert_eq!(nodes.positions[2], [2.0, 0.0, 0.0]);
        assert_eq!(nodes.lengths, [1.0; 4]);
        let half = std::f64::consts::FRAC_PI_2;
        for (angle, expected) in nodes.angles.iter().zip([0.0, 0.0, half, half, half]) {
            assert!((angle - expected).abs() < 1e-15);
        }
        // The end of element 1 is turned by −90 degrees in the frame of node 2.
        let (element, [w, _, _, z]) = nodes.corners[0];
        assert_eq!((nodes.corners.len(), element), (1, 1));
        assert!((2.0 * z.atan2(w) + half).abs() < 1e-15);
    }

    #[test]
    fn an_arc_ends_where_it_should_with_axis_three_kept() {
        let angle = std::f64::consts::FRAC_PI_4;
        let arc = BeamLine::Arc {
            start: [0.0; 3],
            center: [0.0, 100.0, 0.0],
            axis: Z,
            angle,
        };
        let nodes = arc.nodes(8, Z, 0.0).unwrap();
        let end = nodes.positions[8];
        assert!((end[0] - 100.0 * angle.sin()).abs() < 1e-12);
        assert!((end[1] - 100.0 * (1.0 - angle.cos())).abs() < 1e-12);
        let [w, x, y, z] = nodes.orientations[8];
        assert!(x.abs() + y.abs() < 1e-15 && (2.0 * z.atan2(w) - angle).abs() < 1e-14);
        assert!((nodes.lengths.iter().sum::<f64>() - 100.0 * angle).abs() < 1e-12);
        let to = BeamLine::axis_to([0.0; 3], [0.0, 100.0, 0.0], end, angle).unwrap();
        assert!((to[2] - 1.0).abs() < 1e-12);
        let back = BeamLine::axis_to(
            [0.0; 3],
            [0.0, 100.0, 0.0],
            end,
            angle - 2.0 * std::f64::consts::PI,
        );
        assert!((back.unwrap()[2] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_has_no_shape_is_refused() {
        let line = |points: &[[f64; 3]]| BeamLine::Polyline(points.to_vec());
        let (a, b) = ([0.0; 3], [1.0, 0.0, 0.0]);
        for (line, elements, orientation, twist, fragment) in [
            (
                line(&[a, a]),
                2,
                Z,
                0.0,
                "points[0] and points[1] are the same",
            ),
            (
                line(&[a, b, a]),
                2,
                Z,
                0.0,
                "turns back on itself at points[1]",
            ),
            (line(&[a, b, Z]), 1, Z, 0.0, "at least 2"),
            (line(&[a, b]), 1, b, 0.0, "orientation must not be along"),
            (line(&[a, b]), 2, Z, 7.0, "give more elements"),
        ] {
            let why = line.nodes(elements, orientation, twist).unwrap_err();
            assert!(why.contains(fragment), "{why}");
        }
    }
}
