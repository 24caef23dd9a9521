//! Spatial bodies by a point and three directions, each a vector or the difference of two points. With D the matrix of the directions in
//! body axes,
//!
//! ```text
//!   A = [d₁ d₂ d₃] D⁻¹,      r = e₀ − A s₀,      d = e or e − e₀
//! ```
//!
//! The pose is the rotation nearest to A. Its angular velocity is ω to first order near a rotation.

use super::body_map::{BodyBasis, BodyMap, MapEntry, RotationRows};
use super::shared_points::{BodyItem, ItemKind};
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::spatial::SpatialGeometry;
use crate::formulation::absolute::spatial::coordinate::SpatialCoordinate;
use crate::formulation::absolute::spatial::pose::SpatialPoint;
use crate::formulation::prescribed_motion::PrescribedMotion;
use crate::linalg::rotation::{self, Mat3, Quaternion, Vec3};

/// Smallest sine of the angle between a direction of the basis and the previous ones.
const FLAT: f64 = 0.2;
/// Iterations for the nearest rotation: the remaining angle is squared in each.
const ROUNDS: usize = 12;

/// ω from half the skew-symmetric part: for each axis, the two columns that it rotates.
const TABLE: [RotationRows; 18] = {
    let mut table = [(0, 0, 0, 0.0); 18];
    let mut at = 0;
    let mut k = 0;
    while k < 3 {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let mut c = 0;
        while c < 3 {
            // ω_k = ½ (a_j · ȧ_i − a_i · ȧ_j)
            table[at] = (3 * j + c, 3 * i + c, k, 0.5);
            table[at + 1] = (3 * i + c, 3 * j + c, k, -0.5);
            at += 2;
            c += 1;
        }
        k += 1;
    }
    table
};

fn columns(y: &[f64]) -> Mat3 {
    Mat3::from_column_slice(&y[3..12])
}

fn skew(m: &Mat3) -> Vec3 {
    Vec3::new(
        m[(2, 1)] - m[(1, 2)],
        m[(0, 2)] - m[(2, 0)],
        m[(1, 0)] - m[(0, 1)],
    )
}

/// Returns the unit quaternion of a matrix near a rotation, by its largest component.
fn quaternion(m: &Mat3) -> Quaternion {
    let (xx, yy, zz) = (m[(0, 0)], m[(1, 1)], m[(2, 2)]);
    let squares = [
        1.0 + xx + yy + zz,
        1.0 + xx - yy - zz,
        1.0 - xx + yy - zz,
        1.0 - xx - yy + zz,
    ];
    let largest = (0..4).fold(0, |k, i| if squares[i] > squares[k] { i } else { k });
    let s = skew(m);
    let (xy, xz, yz) = (
        m[(0, 1)] + m[(1, 0)],
        m[(0, 2)] + m[(2, 0)],
        m[(1, 2)] + m[(2, 1)],
    );
    let q = match largest {
        0 => [squares[0], s.x, s.y, s.z],
        1 => [s.x, squares[1], xy, xz],
        2 => [s.y, xy, squares[2], yz],
        _ => [s.z, xz, yz, squares[3]],
    };
    rotation::normalized(&q)
}

/// Returns the rotation nearest to a matrix.
fn nearest(a: &Mat3) -> Quaternion {
    let mut q = quaternion(a);
    for _ in 0..ROUNDS {
        let s = rotation::matrix(&q).tr_mul(a);
        let system = Mat3::from_diagonal_element(s.trace()) - 0.5 * (s + s.transpose());
        let Some(inverse) = system.try_inverse() else {
            break;
        };
        let w = inverse * skew(&s);
        q = rotation::normalized(&rotation::product(&q, &rotation::exp(&w)));
        // The remaining angle is the square of it, or rounding.
        if !(w.norm_squared() > 1e-16) {
            break;
        }
    }
    q
}

impl BodyMap<12> for SpatialGeometry {
    const ITEMS: usize = 4;
    const COLUMNS: usize = 3;
    const SPIN: &'static [RotationRows] = &TABLE;

    fn local(point: &SpatialPoint) -> [f64; 3] {
        point.s.into()
    }

    /// Two scalar products of one direction of the first body with two perpendicular directions of the second.
    fn axis(parts: [&ConstraintPart<Self, 12>; 2]) -> Option<[BodyItem; 2]> {
        let dot = |part: &ConstraintPart<Self, 12>| match part {
            ConstraintPart::Prescribed(held) => match (&held.coordinate, &held.motion) {
                (SpatialCoordinate::DirectionProduct(dot), PrescribedMotion::Fixed(0.0)) => {
                    Some(dot.clone())
                }
                _ => None,
            },
            _ => None,
        };
        let (first, second) = (dot(parts[0])?, dot(parts[1])?);
        let [n, e] = first.directions;
        let [m, f] = second.directions;
        if first.bodies != second.bodies || (n - m).norm() > 1e-12 || e.dot(&f).abs() > 1e-12 {
            return None;
        }
        let spot = |body, at: Vec3| BodyItem {
            body,
            sort: ItemKind::Vector,
            at: at.into(),
        };
        Some([
            spot(first.bodies[0], n),
            spot(first.bodies[1], e.cross(&f).normalize()),
        ])
    }

    /// Takes the first point, then repeatedly the direction with the largest component normal to those already taken.
    fn choose(spots: &[(ItemKind, [f64; 3])], small: f64) -> Vec<BodyBasis> {
        let origin = spots.iter().position(|(sort, _)| *sort == ItemKind::Point);
        let mut chosen = vec![match origin {
            Some(k) => BodyBasis::Had(k),
            None => BodyBasis::Own(ItemKind::Point, [0.0; 3]),
        }];
        let from = origin.map_or(Vec3::zeros(), |k| spots[k].1.into());
        let direction = |k: usize| {
            let (sort, at) = spots[k];
            let d = match sort {
                ItemKind::Vector => Vec3::from(at),
                ItemKind::Point => Vec3::from(at) - from,
            };
            let far = sort == ItemKind::Vector || d.norm() > small;
            (Some(k) != origin && far).then(|| d.normalize())
        };
        let mut taken: Vec<Vec3> = Vec::new();
        while chosen.len() < Self::ITEMS {
            let left = |d: &Vec3| (taken.iter()).fold(*d, |d, t| d - t * t.dot(&d));
            let found = (0..spots.len())
                .filter_map(|k| direction(k).map(|d| (k, left(&d))))
                .fold((FLAT, None), |(least, best), (k, d)| {
                    if d.norm() > least {
                        (d.norm(), Some((k, d.normalize())))
                    } else {
                        (least, best)
                    }
                });
            let (item, d) = match found.1 {
                Some((k, d)) => (BodyBasis::Had(k), d),
                None => {
                    let axes = [Vec3::x(), Vec3::y(), Vec3::z()].map(|d| left(&d));
                    let longest = axes.iter().fold(Vec3::zeros(), |best, d| {
                        if d.norm() > best.norm() { *d } else { best }
                    });
                    let d = longest.normalize();
                    (BodyBasis::Own(ItemKind::Vector, d.into()), d)
                }
            };
            chosen.push(item);
            taken.push(d);
        }
        chosen
    }

    fn frame(chosen: &[(ItemKind, [f64; 3])]) -> Vec<MapEntry> {
        let s0 = Vec3::from(chosen[0].1);
        let directions = [1, 2, 3].map(|k| {
            let (sort, at) = chosen[k];
            match sort {
                ItemKind::Vector => Vec3::from(at),
                ItemKind::Point => Vec3::from(at) - s0,
            }
        });
        // The basis is chosen so that the directions are far from coplanar.
        let inverse = Mat3::from_columns(&directions)
            .try_inverse()
            .unwrap_or_else(Mat3::zeros);
        // Row m of y over the items: the columns of A first, r from them.
        let mut l = [[0.0; 4]; 4];
        for j in 0..3 {
            for k in 0..3 {
                l[1 + j][1 + k] = inverse[(k, j)];
                if chosen[1 + k].0 == ItemKind::Point {
                    l[1 + j][0] -= inverse[(k, j)];
                }
            }
        }
        l[0][0] = 1.0;
        for k in 0..4 {
            for j in 0..3 {
                l[0][k] -= s0[j] * l[1 + j][k];
            }
        }
        let mut entries = Vec::with_capacity(48);
        for (m, row) in l.iter().enumerate() {
            for (k, value) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                entries.extend((0..3).map(|c| ((3 * m + c) as u8, (3 * k + c) as u8, *value)));
            }
        }
        entries
    }

    fn on_y(sort: ItemKind, s: [f64; 3]) -> Vec<MapEntry> {
        let mut entries = Vec::with_capacity(12);
        for c in 0..3u8 {
            if sort == ItemKind::Point {
                entries.push((c, c, 1.0));
            }
            for j in 0..3u8 {
                entries.push((c, 3 + 3 * j + c, s[j as usize]));
            }
        }
        entries
    }

    fn settle(y: &[f64], near: &[f64], out: &mut [f64]) {
        out[..3].copy_from_slice(&y[..3]);
        let mut q = nearest(&columns(y));
        let side: f64 = (0..4).map(|k| q[k] * near[3 + k]).sum();
        if side < 0.0 {
            q = q.map(|x| -x);
        }
        out[3..7].copy_from_slice(&q);
    }

    fn unsettle(q: &[f64], y: &mut [f64]) {
        y[..3].copy_from_slice(&q[..3]);
        y[3..].copy_from_slice(rotation::matrix(&[q[3], q[4], q[5], q[6]]).as_slice());
    }

    fn rates(q: &[f64], v: &[f64], y: &mut [f64]) {
        y[..3].copy_from_slice(&v[..3]);
        let turning = rotation::matrix(&[q[3], q[4], q[5], q[6]])
            * rotation::cross(&Vec3::new(v[3], v[4], v[5]));
        y[3..].copy_from_slice(turning.as_slice());
    }

    /// tr(J)/2 I − J
    fn shape(inertia: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
        let half = 0.5 * (inertia[0][0] + inertia[1][1] + inertia[2][2]);
        let mut shape = inertia.map(|row| row.map(|x| -x));
        for k in 0..3 {
            shape[k][k] += half;
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    /// The polar decomposition by singular values gives the same rotation.
    #[test]
    fn the_pose_is_the_nearest_rotation() {
        let mut random = Random::new(7);
        for _ in 0..200 {
            let w: Vec3 = Vec3::from_fn(|_, _| 3.0 * random.signed());
            let strain = Mat3::from_fn(|_, _| 0.15 * random.signed());
            let a = rotation::matrix(&rotation::exp(&w)) + strain;
            let svd = a.svd(true, true);
            let expected = svd.u.unwrap() * svd.v_t.unwrap();
            let found = rotation::matrix(&nearest(&a));
            // Rounding of both, some ten operations each.
            assert!((found - expected).norm() < 1e-13, "{found} {expected}");
        }
    }

    #[test]
    fn directions_are_well_apart_and_what_is_missing_is_made_up() {
        let spots = [
            (ItemKind::Point, [0.0; 3]),
            (ItemKind::Vector, [0.0, 0.0, 1.0]),
            (ItemKind::Point, [0.0, 1e-3, 2.0]),
            (ItemKind::Point, [1.0, 0.0, 1.0]),
        ];
        let chosen = SpatialGeometry::choose(&spots, 1e-3);
        assert_eq!(
            chosen[..3],
            [BodyBasis::Had(0), BodyBasis::Had(1), BodyBasis::Had(3)]
        );
        assert!(matches!(chosen[3], BodyBasis::Own(ItemKind::Vector, d) if d[1].abs() > 0.99));
    }
}
