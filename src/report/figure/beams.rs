//! Beams: every element is a curve between the frames of its nodes, in short pieces with the section of the beam.
//!
//! ```text
//!   p(s) = (1 − u) p₀ + u p₁ + s (1 − s)² L t₀ − s² (1 − s) L t₁,    u = s² (3 − 2 s)      cubic with the tangents of its ends
//! ```

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion};

use super::{DrawnElement, Figure, PartPlacement, PartPose, Poses, Solid, V3};
use crate::model::{Beam, SectionOutline};
use crate::report::figure::pose::Moment;

/// Pieces of an element; of a beam with many elements at most so many in all.
const PIECES: usize = 4;
const MOST_PIECES: usize = 400;
/// Smallest size of a section over that of the mechanism: thinner ones would not be seen.
const THINNEST: f64 = 0.004;
/// Corners of a round section.
const ROUND: usize = 12;

impl Figure {
    pub(super) fn add_beam(&mut self, beam: &Beam, color: [u8; 3]) {
        let least = THINNEST * (self.extent[1] - self.extent[0]).norm();
        let (sizes, solid) = match beam.section.drawn_outline() {
            SectionOutline::Rectangle(sizes) => {
                let center = V3::new(0.5, 0.0, 0.0);
                (sizes, Solid::cuboid(V3::repeat(1.0), center))
            }
            SectionOutline::Circle(d) | SectionOutline::Tube([d, _]) => {
                ([d, d], Solid::tube([V3::zeros(), V3::x()], [0.5; 2], ROUND))
            }
        };
        let sizes = sizes.map(|size| size.max(least));
        let pieces = (MOST_PIECES / beam.elements).clamp(1, PIECES);
        for k in 0..beam.elements {
            let element = DrawnElement {
                nodes: beam.element_nodes(k),
                end: beam.end_orientation(k),
            };
            for i in 0..pieces {
                let shares = [i, i + 1].map(|i| i as f64 / pieces as f64);
                let placement = PartPlacement::BeamPiece {
                    element,
                    shares,
                    sizes,
                };
                let name = format!("{}.{k}", beam.name);
                self.part(&name, solid.clone(), color, placement);
            }
        }
    }
}

impl Poses<'_> {
    /// A piece of a beam.
    pub(super) fn of_beam_piece(
        &self,
        element: &DrawnElement,
        shares: [f64; 2],
        sizes: [f64; 2],
        at: Moment,
    ) -> PartPose {
        let [a, b] = element.nodes.map(|node| self.of_body(Some(node), at));
        let [w, x, y, z] = element.end;
        let end = b.rotation * UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let [p0, p1] = [a.translation.vector, b.translation.vector];
        let length = (p1 - p0).norm();
        let [t0, t1] = [a.rotation, end].map(|turn| turn * V3::x() * length);
        let point = |s: f64| {
            let u = s * s * (3.0 - 2.0 * s);
            p0 * (1.0 - u) + p1 * u + t0 * (s * (1.0 - s).powi(2)) - t1 * (s * s * (1.0 - s))
        };
        let [from, to] = shares.map(point);
        // Never quite zero: a matrix without an inverse is no pose.
        let along = to - from;
        let span = along.norm().max(1e-9 * length.max(1e-9));
        let middle = 0.5 * (shares[0] + shares[1]);
        let second = (a.rotation * V3::y()) * (1.0 - middle) + (end * V3::y()) * middle;
        PartPose {
            position: from,
            orientation: frame_along(&along, &second),
            scale: V3::new(span, sizes[0], sizes[1]),
        }
    }
}

/// The rotation that takes x to `along` and y near to `second`.
fn frame_along(along: &V3, second: &V3) -> UnitQuaternion<f64> {
    let across = along.cross(second);
    if along.norm() == 0.0 || across.norm() <= 1e-9 * along.norm() {
        return UnitQuaternion::rotation_between(&V3::x(), along).unwrap_or_default();
    }
    let (x, z) = (along.normalize(), across.normalize());
    let axes = Matrix3::from_columns(&[x, z.cross(&x), z]);
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes))
}
