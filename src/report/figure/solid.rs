//! Solids as triangles with a normal at each corner.

use super::V3;
use super::pose::turn_z_to;
use crate::linalg::elementary::{cos, hypot, sin};
use crate::model::mesh_file::TriangleMesh;

/// Triangles; every corner has its own normal, so that edges are sharp and round surfaces smooth.
#[derive(Clone, Debug, Default)]
pub struct Solid {
    /// Corners (m).
    pub points: Vec<V3>,
    /// Outward unit normal at each corner.
    pub normals: Vec<V3>,
    /// Corners of each triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Solid {
    /// Adds a convex face, counter-clockwise seen from outside.
    fn face(&mut self, corners: &[V3], normals: &[V3]) {
        let base = self.points.len() as u32;
        self.points.extend(corners);
        self.normals.extend(normals);
        for k in 2..corners.len() as u32 {
            self.triangles.push([base, base + k - 1, base + k]);
        }
    }

    fn flat(&mut self, corners: &[V3]) {
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let normals = vec![normal.normalize(); corners.len()];
        self.face(corners, &normals);
    }

    /// Everything of another solid.
    pub fn take(mut self, other: &Self) -> Self {
        let base = self.points.len() as u32;
        self.points.extend(&other.points);
        self.normals.extend(&other.normals);
        (self.triangles).extend(other.triangles.iter().map(|t| t.map(|i| i + base)));
        self
    }

    /// The triangles of a mesh, each flat.
    pub fn of_triangles(mesh: &TriangleMesh) -> Self {
        let mut solid = Self::default();
        for triangle in &mesh.triangles {
            let corners = triangle.map(|i| V3::from(mesh.points[i as usize]));
            let area = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
            if area.norm() > 0.0 {
                solid.flat(&corners);
            }
        }
        solid
    }

    /// A box with these edges along x, y, z.
    pub fn cuboid(edges: V3, center: V3) -> Self {
        let mut solid = Self::default();
        let half = edges / 2.0;
        for axis in 0..3 {
            for sign in [-1.0, 1.0] {
                let (mut n, mut u) = (V3::zeros(), V3::zeros());
                (n[axis], u[(axis + 1) % 3]) = (sign, 1.0);
                let v = n.cross(&u);
                let corner = |a: f64, b: f64| center + (n + a * u + b * v).component_mul(&half);
                solid.flat(&[
                    corner(-1.0, -1.0),
                    corner(1.0, -1.0),
                    corner(1.0, 1.0),
                    corner(-1.0, 1.0),
                ]);
            }
        }
        solid
    }

    /// A tube from a to b with these radii at its ends, closed; a radius of zero makes a cone.
    pub fn tube([a, b]: [V3; 2], [r0, r1]: [f64; 2], corners: usize) -> Self {
        let mut solid = Self::default();
        let length = (b - a).norm();
        if !(length > 0.0) {
            return solid;
        }
        let turn = turn_z_to(&(b - a));
        let slope = (r0 - r1) / length;
        let spoke = |i: usize| {
            let s = std::f64::consts::TAU * (i % corners) as f64 / corners as f64;
            V3::new(cos(s), sin(s), 0.0)
        };
        let out = |i: usize| turn * (spoke(i) + V3::z() * slope).normalize();
        for i in 0..corners {
            let (p, q) = (turn * spoke(i), turn * spoke(i + 1));
            let normals = [out(i), out(i + 1), out(i + 1), out(i)];
            let quad = [a + p * r0, a + q * r0, b + q * r1, b + p * r1];
            // A cone ends in one point: a triangle.
            match (r0 > 0.0, r1 > 0.0) {
                (true, true) => solid.face(&quad, &normals),
                (true, false) => solid.face(&quad[..3], &normals[..3]),
                _ => solid.face(&quad[1..], &normals[1..]),
            }
        }
        let ring = |center: V3, r: f64, back: bool| -> Vec<V3> {
            (0..corners)
                .map(|i| if back { corners - i } else { i })
                .map(|i| center + turn * spoke(i) * r)
                .collect()
        };
        for (center, r, back) in [(a, r0, true), (b, r1, false)] {
            if r > 0.0 {
                let z = turn * V3::z() * if back { -1.0 } else { 1.0 };
                solid.face(&ring(center, r, back), &vec![z; corners]);
            }
        }
        solid
    }

    /// A ball.
    pub fn ball(center: V3, r: f64, corners: usize) -> Self {
        let mut solid = Self::default();
        let rows = (corners / 2).max(3);
        let at = |i: usize, k: usize| {
            let u = std::f64::consts::PI * i as f64 / rows as f64;
            let v = std::f64::consts::TAU * (k % corners) as f64 / corners as f64;
            V3::new(sin(u) * cos(v), sin(u) * sin(v), cos(u))
        };
        for i in 0..rows {
            for k in 0..corners {
                let mut around = vec![at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
                // The poles have triangles.
                if i == 0 {
                    around.pop();
                } else if i + 1 == rows {
                    around.remove(2);
                }
                let points: Vec<V3> = around.iter().map(|n| center + n * r).collect();
                solid.face(&points, &around);
            }
        }
        solid
    }

    /// A polygon of the plane z = 0 (counter-clockwise, not necessarily convex) between two heights.
    pub fn prism(polygon: &[[f64; 2]], low: f64, high: f64) -> Self {
        let mut solid = Self::default();
        let n = polygon.len();
        for (z, up) in [(low, false), (high, true)] {
            let base = solid.points.len() as u32;
            solid
                .points
                .extend(polygon.iter().map(|[x, y]| V3::new(*x, *y, z)));
            let normal = if up { V3::z() } else { -V3::z() };
            solid.normals.extend(std::iter::repeat_n(normal, n));
            for [a, b, c] in ears(polygon) {
                let [b, c] = if up { [b, c] } else { [c, b] };
                solid.triangles.push([a, b, c].map(|i| base + i as u32));
            }
        }
        for i in 0..n {
            let ([x0, y0], [x1, y1]) = (polygon[i], polygon[(i + 1) % n]);
            if hypot(x1 - x0, y1 - y0) > 0.0 {
                solid.flat(&[
                    V3::new(x0, y0, low),
                    V3::new(x1, y1, low),
                    V3::new(x1, y1, high),
                    V3::new(x0, y0, high),
                ]);
            }
        }
        solid
    }

    /// A ring about an axis.
    pub fn ring(center: V3, axis: V3, radius: f64, thickness: f64, corners: usize) -> Self {
        let mut solid = Self::default();
        let turn = turn_z_to(&axis);
        let around = 12;
        let at = |i: usize, k: usize| {
            let s = std::f64::consts::TAU * (i % corners) as f64 / corners as f64;
            let v = std::f64::consts::TAU * (k % around) as f64 / around as f64;
            let spoke = V3::new(cos(s), sin(s), 0.0);
            let n = spoke * cos(v) + V3::z() * sin(v);
            (center + turn * (spoke * radius + n * thickness), turn * n)
        };
        for i in 0..corners {
            for k in 0..around {
                let quad = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
                solid.face(&quad.map(|c| c.0), &quad.map(|c| c.1));
            }
        }
        solid
    }

    /// A coil along z from 0 to 1 with radius 1 and straight ends, for stretching. Its wire is thin along z.
    pub fn coil(turns: usize) -> Self {
        const WIRE: f64 = 0.16;
        const ALONG: f64 = 0.012;
        let mut solid = Self::default();
        let (steps, around) = (turns * 12, 6);
        let at = |i: usize, k: usize| {
            let s = std::f64::consts::TAU * turns as f64 * i as f64 / steps as f64;
            let v = std::f64::consts::TAU * (k % around) as f64 / around as f64;
            let spoke = V3::new(cos(s), sin(s), 0.0);
            let n = spoke * cos(v) + V3::z() * sin(v);
            let center = spoke + V3::z() * (0.1 + 0.8 * i as f64 / steps as f64);
            (center + n.component_mul(&V3::new(WIRE, WIRE, ALONG)), n)
        };
        for i in 0..steps {
            for k in 0..around {
                let quad = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
                solid.face(&quad.map(|c| c.0), &quad.map(|c| c.1));
            }
        }
        for ends in [[0.0, 0.1], [0.9, 1.0]] {
            let ends = ends.map(|z| V3::z() * z);
            solid = solid.take(&Self::tube(ends, [WIRE; 2], 6));
        }
        solid
    }
}

/// Triangles of a polygon by cutting ears.
fn ears(polygon: &[[f64; 2]]) -> Vec<[usize; 3]> {
    let turn = |a: usize, b: usize, c: usize| {
        let ([ax, ay], [bx, by], [cx, cy]) = (polygon[a], polygon[b], polygon[c]);
        (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    };
    let mut left: Vec<usize> = (0..polygon.len()).collect();
    let mut found = Vec::new();
    while left.len() > 3 {
        let n = left.len();
        let is_ear = |i: usize| {
            let [a, b, c] = [left[(i + n - 1) % n], left[i], left[(i + 1) % n]];
            turn(a, b, c) > 0.0
                && !(left.iter()).any(|&p| {
                    ![a, b, c].contains(&p)
                        && turn(a, b, p) >= 0.0
                        && turn(b, c, p) >= 0.0
                        && turn(c, a, p) >= 0.0
                })
        };
        // Without an ear the polygon crosses itself: any corner is cut.
        let i = (0..n).find(|i| is_ear(*i)).unwrap_or(0);
        found.push([left[(i + n - 1) % n], left[i], left[(i + 1) % n]]);
        left.remove(i);
    }
    if left.len() == 3 {
        found.push([left[0], left[1], left[2]]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem: right only for closed surfaces with outward triangles.
    fn volume(solid: &Solid) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| solid.points[i as usize]);
            a.dot(&b.cross(&c)) / 6.0
        };
        solid.triangles.iter().map(of).sum()
    }

    #[test]
    fn solids_are_closed_and_face_outwards() {
        let center = V3::new(3.0, -2.0, 1.0);
        // A regular polygon of n corners has the share n/(2π) sin(2π/n) of the circle.
        let share = |n: f64| n / std::f64::consts::TAU * (std::f64::consts::TAU / n).sin();
        let disc = std::f64::consts::PI * share(24.0);
        let ends = [center, center + V3::new(0.0, 3.0, 4.0)];
        let u_shape = [
            [0.0, 0.0],
            [3.0, 0.0],
            [3.0, 2.0],
            [2.0, 2.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 2.0],
            [0.0, 2.0],
        ];
        for (solid, expected, tolerance) in [
            (Solid::cuboid(V3::new(1.0, 2.0, 3.0), center), 6.0, 1e-12),
            (Solid::tube(ends, [2.0, 2.0], 24), disc * 4.0 * 5.0, 1e-12),
            (
                Solid::tube(ends, [2.0, 0.0], 24),
                disc * 4.0 * 5.0 / 3.0,
                1e-12,
            ),
            (
                Solid::tube(ends, [0.0, 2.0], 24),
                disc * 4.0 * 5.0 / 3.0,
                1e-12,
            ),
            (Solid::prism(&u_shape, -1.0, 1.0), 10.0, 1e-12),
            // Polyhedra inside the ball and the ring: smaller by the square of a corner's angle.
            (
                Solid::ball(center, 2.0, 48),
                32.0 / 3.0 * std::f64::consts::PI,
                0.02,
            ),
            (
                Solid::ring(center, V3::x(), 2.0, 0.5, 64),
                std::f64::consts::PI.powi(2),
                0.05,
            ),
        ] {
            let found = volume(&solid);
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{found} {expected}"
            );
            for (triangle, corner) in solid.triangles.iter().flat_map(|t| t.map(|i| (t, i))) {
                let [a, b, c] = triangle.map(|i| solid.points[i as usize]);
                let outward = (b - a).cross(&(c - a));
                let normal = solid.normals[corner as usize];
                assert!((normal.norm() - 1.0).abs() < 1e-12);
                assert!(outward.dot(&normal) > 0.0);
            }
        }
    }
}
