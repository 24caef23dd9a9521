//! Planar bodies by two points, or a point and a vector. With vectors as complex numbers
//!
//! ```text
//!   a = (e₁ − e₀)/(s₁ − s₀)   or   e₁/s₁,      r = e₀ − a s₀
//! ```

use super::body_map::{BodyBasis, BodyMap, MapEntry, RotationRows};
use super::shared_points::{BodyItem, ItemKind};
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::planar::PlanarGeometry;
use crate::formulation::absolute::planar::pose::PlanarPoint;
use crate::linalg::elementary::{atan2, sin_cos};
use nalgebra::Complex;

fn complex(x: [f64; 3]) -> Complex<f64> {
    Complex::new(x[0], x[1])
}

/// Returns the entries of e → z e at block (row, column).
fn block(row: u8, column: u8, z: Complex<f64>) -> [MapEntry; 4] {
    let (r, c) = (2 * row, 2 * column);
    [
        (r, c, z.re),
        (r, c + 1, -z.im),
        (r + 1, c, z.im),
        (r + 1, c + 1, z.re),
    ]
}

impl BodyMap<6> for PlanarGeometry {
    const ITEMS: usize = 2;
    const COLUMNS: usize = 1;
    const SPIN: &'static [RotationRows] = &[(0, 1, 0, 1.0), (1, 0, 0, -1.0)];

    fn local(point: &PlanarPoint) -> [f64; 3] {
        [point.s.x, point.s.y, 0.0]
    }

    fn axis(_parts: [&ConstraintPart<Self, 6>; 2]) -> Option<[BodyItem; 2]> {
        None
    }

    /// The first point and the one farthest from it.
    fn choose(spots: &[(ItemKind, [f64; 3])], small: f64) -> Vec<BodyBasis> {
        if spots.is_empty() {
            return vec![
                BodyBasis::Own(ItemKind::Point, [0.0; 3]),
                BodyBasis::Own(ItemKind::Vector, [1.0, 0.0, 0.0]),
            ];
        }
        let far = |k: usize| {
            (complex(spots[k].1) - complex(spots[0].1))
                .norm_sqr()
                .sqrt()
        };
        let second = (1..spots.len()).max_by(|&a, &b| far(a).total_cmp(&far(b)));
        let second = match second {
            Some(k) if far(k) > small => BodyBasis::Had(k),
            _ => BodyBasis::Own(ItemKind::Vector, [1.0, 0.0, 0.0]),
        };
        vec![BodyBasis::Had(0), second]
    }

    fn frame(chosen: &[(ItemKind, [f64; 3])]) -> Vec<MapEntry> {
        let [(_, s0), (sort, s1)] = [chosen[0], chosen[1]];
        let one = Complex::new(1.0, 0.0);
        let (from_first, from_second) = match sort {
            ItemKind::Point => {
                let z = one / (complex(s1) - complex(s0));
                (-z, z)
            }
            ItemKind::Vector => (Complex::new(0.0, 0.0), one / complex(s1)),
        };
        let s0 = complex(s0);
        [
            block(0, 0, one - from_first * s0),
            block(0, 1, -from_second * s0),
            block(1, 0, from_first),
            block(1, 1, from_second),
        ]
        .concat()
    }

    fn on_y(sort: ItemKind, s: [f64; 3]) -> Vec<MapEntry> {
        let mut entries = block(0, 1, complex(s)).to_vec();
        if sort == ItemKind::Point {
            entries.extend([(0, 0, 1.0), (1, 1, 1.0)]);
        }
        entries
    }

    /// Takes the angle nearest to the earlier one.
    fn settle(y: &[f64], near: &[f64], out: &mut [f64]) {
        let (sine, cosine) = sin_cos(near[2]);
        let turned = atan2(cosine * y[3] - sine * y[2], cosine * y[2] + sine * y[3]);
        out[0] = y[0];
        out[1] = y[1];
        out[2] = near[2] + turned;
    }

    fn unsettle(q: &[f64], y: &mut [f64]) {
        let (sine, cosine) = sin_cos(q[2]);
        y.copy_from_slice(&[q[0], q[1], cosine, sine]);
    }

    fn rates(q: &[f64], v: &[f64], y: &mut [f64]) {
        let (sine, cosine) = sin_cos(q[2]);
        y.copy_from_slice(&[v[0], v[1], -v[2] * sine, v[2] * cosine]);
    }

    fn shape(inertia: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
        *inertia
    }
}
