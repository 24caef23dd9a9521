//! Relative coordinates of two bodies in the plane: distance, angle, displacement, height. Joint coordinates, joint constraints and
//! lengths of force elements are of this kind. Each coordinate c(q) has a gradient and a Hessian:
//!
//! ```text
//!   ċ = g·v,     c̈ = g·a + vᵀ H v,     ∂ċ/∂q = H v,        g = ∂c/∂q,   H = ∂²c/∂q²
//! ```
//!
//! over the six coordinates (x, y, angle of the first body, then of the second).

use super::PlanarGeometry;
use super::pose::{PlanarPoint, PlanarPoses, Vec2, perp};
use crate::formulation::absolute::geometry;
use crate::formulation::force::contact::curvature::BodySpeeds;
use crate::formulation::force::contact::outline::SmoothCurve;
use crate::formulation::force::contact::slip::SlipDirection;
use crate::formulation::force::dual::{Dual, Scalar as _};
use crate::model::BodyRef;

/// Gradient over two bodies.
pub type PlanarGradient = geometry::Gradient<6>;

/// Hessian over two bodies, symmetric.
pub type PlanarHessian = geometry::Hessian<6>;

/// A relative coordinate of two bodies in the plane.
#[derive(Clone, Debug)]
pub enum PlanarCoordinate {
    /// Distance of two points.
    Distance(PlanarDistance),
    /// Angle of the second body relative to the first.
    Angle(PlanarAngle),
    /// Displacement of a point along a direction fixed in the first body.
    Slide(PlanarSlide),
    /// Height of a point above a smooth outline of the first body.
    Height(Box<PlanarHeight>),
    /// Slip of a contact: a gradient without a value.
    Slip(Box<SlipDirection>),
}

impl geometry::RelativeCoordinate<6, PlanarGeometry> for PlanarCoordinate {
    #[inline]
    fn bodies(&self) -> [BodyRef; 2] {
        match self {
            Self::Distance(m) => [m.points[0].body, m.points[1].body],
            Self::Angle(m) => m.bodies,
            Self::Slide(m) => [m.body, m.point.body],
            Self::Height(m) => [m.body, m.point.body],
            Self::Slip(m) => m.geometry.bodies,
        }
    }

    #[inline]
    fn value(&self, poses: &mut PlanarPoses) -> (f64, PlanarGradient) {
        match self {
            Self::Distance(m) => m.value(poses),
            Self::Angle(m) => m.value(poses),
            Self::Slide(m) => m.value(poses),
            Self::Height(m) => m.value(poses),
            Self::Slip(m) => (0.0, m.gradient::<PlanarGeometry, 6>(poses)),
        }
    }

    fn hessian(&self, poses: &mut PlanarPoses) -> PlanarHessian {
        match self {
            Self::Distance(m) => m.hessian(poses),
            Self::Angle(_) => [[0.0; 6]; 6],
            Self::Slide(m) => m.hessian(poses),
            Self::Height(m) => m.hessian(poses),
            Self::Slip(m) => m.hessian::<PlanarGeometry, 6>(poses),
        }
    }

    fn curvature(&self, poses: &mut PlanarPoses, v: &PlanarGradient) -> f64 {
        match self {
            Self::Distance(m) => geometry::quadratic(&m.hessian(poses), v),
            Self::Angle(_) => 0.0,
            Self::Slide(m) => m.curvature(poses, v),
            Self::Height(m) => geometry::quadratic(&m.hessian(poses), v),
            Self::Slip(_) => geometry::quadratic(&self.hessian(poses), v),
        }
    }

    fn depends_on(&self, k: usize) -> bool {
        match self {
            Self::Distance(_) | Self::Slide(_) | Self::Height(_) | Self::Slip(_) => true,
            Self::Angle(_) => k % 3 == 2,
        }
    }

    fn has_curvature(&self, i: usize, j: usize) -> bool {
        match self {
            Self::Distance(_) | Self::Height(_) | Self::Slip(_) => true,
            Self::Angle(_) => false,
            Self::Slide(_) => PlanarSlide::has_curvature(i, j),
        }
    }

    /// Of a distance there is none: the points may pass close by each other.
    fn acceleration_bound(&self, poses: &mut PlanarPoses, speeds: &[BodySpeeds; 2]) -> f64 {
        match self {
            Self::Angle(_) => BodySpeeds::angle_bound(speeds),
            Self::Slide(m) => {
                let (_, e, _) = m.parts(poses);
                BodySpeeds::slide_bound(speeds, m.point.s.norm(), e.norm())
            }
            Self::Distance(_) | Self::Height(_) | Self::Slip(_) => f64::NAN,
        }
    }

    fn is_angle(&self) -> bool {
        matches!(self, Self::Angle(_))
    }

    fn coincidence_gradients(&self, poses: &mut PlanarPoses) -> Option<[PlanarGradient; 3]> {
        match self {
            Self::Distance(m) => m
                .coincidence_gradients(poses)
                .map(|[x, y]| [x, y, [0.0; 6]]),
            Self::Angle(_) | Self::Slide(_) | Self::Height(_) | Self::Slip(_) => None,
        }
    }

    fn slip_axis(&self) -> Option<usize> {
        match self {
            Self::Slip(m) => Some(m.axis),
            _ => None,
        }
    }
}

/// Distance between a point of each body: c = |p₁ − p₀|.
///
/// Gradient and Hessian of coincident points (closer than `coincidence_distance`) are zero, so that a force along the line vanishes
/// instead of becoming NaN.
#[derive(Clone, Debug)]
pub struct PlanarDistance {
    /// The points.
    pub points: [PlanarPoint; 2],
    /// Distance below which the points coincide (m).
    pub coincidence_distance: f64,
}

impl PlanarDistance {
    /// d₀, d₁ and p₁ − p₀.
    #[inline]
    fn difference(&self, poses: &mut PlanarPoses) -> (Vec2, Vec2, Vec2) {
        let (pose0, pose1) = (
            poses.get(self.points[0].body),
            poses.get(self.points[1].body),
        );
        let (d0, d1) = (
            pose0.to_ground(self.points[0].s),
            pose1.to_ground(self.points[1].s),
        );
        (d0, d1, pose1.r - pose0.r + d1 - d0)
    }

    #[inline]
    fn value(&self, poses: &mut PlanarPoses) -> (f64, PlanarGradient) {
        let (d0, d1, e) = self.difference(poses);
        let length = e.norm();
        if length < self.coincidence_distance {
            return (length, [0.0; 6]);
        }
        (length, along(e / length, d0, d1))
    }

    fn hessian(&self, poses: &mut PlanarPoses) -> PlanarHessian {
        let (d0, d1, e) = self.difference(poses);
        let length = e.norm();
        if length < self.coincidence_distance {
            return [[0.0; 6]; 6];
        }
        let u = e / length;
        let w = along(perp(u), d0, d1);
        let mut h: PlanarHessian =
            std::array::from_fn(|i| std::array::from_fn(|j| w[i] * w[j] / length));
        h[2][2] += u.dot(&d0);
        h[5][5] -= u.dot(&d1);
        h
    }

    /// ∂(p₁ − p₀)/∂q if the points coincide, by rows.
    pub fn coincidence_gradients(&self, poses: &mut PlanarPoses) -> Option<[PlanarGradient; 2]> {
        let (d0, d1, e) = self.difference(poses);
        (e.norm() < self.coincidence_distance).then(|| {
            [
                along(Vec2::new(1.0, 0.0), d0, d1),
                along(Vec2::new(0.0, 1.0), d0, d1),
            ]
        })
    }
}

/// u · ∂(p₁ − p₀)/∂q for a fixed u.
#[inline]
fn along(u: Vec2, d0: Vec2, d1: Vec2) -> PlanarGradient {
    [-u.x, -u.y, -u.dot(&perp(d0)), u.x, u.y, u.dot(&perp(d1))]
}

/// Angle of the second body relative to the first: c = φ₁ − φ₀ + offset, turns included.
#[derive(Clone, Debug)]
pub struct PlanarAngle {
    /// The bodies.
    pub bodies: [BodyRef; 2],
    /// rad
    pub offset: f64,
}

impl PlanarAngle {
    /// The constant gradient.
    pub const GRADIENT: PlanarGradient = [0.0, 0.0, -1.0, 0.0, 0.0, 1.0];

    #[inline]
    fn value(&self, poses: &mut PlanarPoses) -> (f64, PlanarGradient) {
        let (pose0, pose1) = (poses.get(self.bodies[0]), poses.get(self.bodies[1]));
        (pose1.angle - pose0.angle + self.offset, Self::GRADIENT)
    }
}

/// Displacement of a point of the second body along a direction b fixed in the first:
///
/// ```text
///   c = b·(p₁ − r₀) + offset,     b = R₀ b₀
/// ```
///
/// A reference point p₀ of the first body enters through the offset, since b·(p₀ − r₀) is constant.
#[derive(Clone, Debug)]
pub struct PlanarSlide {
    /// The first body.
    pub body: BodyRef,
    /// Direction in its axes, unit vector.
    pub direction: Vec2,
    /// The point of the second body.
    pub point: PlanarPoint,
    /// m
    pub offset: f64,
}

impl PlanarSlide {
    /// b, p₁ − r₀ and d₁.
    #[inline]
    fn parts(&self, poses: &mut PlanarPoses) -> (Vec2, Vec2, Vec2) {
        let (pose0, pose1) = (poses.get(self.body), poses.get(self.point.body));
        let d1 = pose1.to_ground(self.point.s);
        (pose0.to_ground(self.direction), pose1.r - pose0.r + d1, d1)
    }

    /// c and its gradient.
    #[inline]
    pub fn value(&self, poses: &mut PlanarPoses) -> (f64, PlanarGradient) {
        let (b, e, d1) = self.parts(poses);
        let gradient = [-b.x, -b.y, perp(b).dot(&e), b.x, b.y, b.dot(&perp(d1))];
        (b.dot(&e) + self.offset, gradient)
    }

    /// vᵀ H v
    #[inline]
    pub fn curvature(&self, poses: &mut PlanarPoses, v: &PlanarGradient) -> f64 {
        let (b, e, d1) = self.parts(poses);
        let (w0, w1) = (v[2], v[5]);
        let dv = Vec2::new(v[3] - v[0], v[4] - v[1]);
        2.0 * w0 * perp(b).dot(&dv) + (2.0 * w0 - w1) * w1 * b.dot(&d1) - w0 * w0 * b.dot(&e)
    }

    /// H
    pub fn hessian(&self, poses: &mut PlanarPoses) -> PlanarHessian {
        let (b, e, d1) = self.parts(poses);
        let n = perp(b);
        let mut h = [[0.0; 6]; 6];
        let mut both = |i: usize, j: usize, x: f64| {
            h[i][j] = x;
            h[j][i] = x;
        };
        both(0, 2, -n.x);
        both(1, 2, -n.y);
        both(3, 2, n.x);
        both(4, 2, n.y);
        both(2, 5, b.dot(&d1));
        both(2, 2, -b.dot(&e));
        both(5, 5, -b.dot(&d1));
        h
    }

    /// Whether `H[i][j]` can differ from zero.
    pub fn has_curvature(i: usize, j: usize) -> bool {
        i == 2 || j == 2 || (i == 5 && j == 5)
    }
}

/// Height of a point of the second body above a smooth outline of the first, along the normal at the nearest point:
///
/// ```text
///   c = h(x),     x = R₀ᵀ(p₁ − r₀),     ∇h = n,     ∇∇h = k t tᵀ
/// ```
///
/// Its gradient is that of the displacement along n; its Hessian is that of this displacement plus the rotation of n.
#[derive(Clone, Debug)]
pub struct PlanarHeight {
    /// The first body.
    pub body: BodyRef,
    /// Relative to its centre of mass, in its axes.
    pub outline: SmoothCurve,
    /// The point of the second body.
    pub point: PlanarPoint,
}

impl PlanarHeight {
    /// h, and n with its derivatives ∂n/∂x.
    fn nearest(&self, poses: &mut PlanarPoses) -> (f64, [Dual<2>; 2]) {
        let (pose0, pose1) = (poses.get(self.body), poses.get(self.point.body));
        let e = pose1.r - pose0.r + pose1.to_ground(self.point.s);
        let x = pose0.to_body(e);
        let mut c = [Dual::<2>::constant(x.x), Dual::constant(x.y)];
        (c[0].q[0], c[1].q[1]) = (1.0, 1.0);
        let found = self.outline.nearest(&c);
        (found.height.x, found.normal)
    }

    fn slide(&self, direction: Vec2) -> PlanarSlide {
        PlanarSlide {
            body: self.body,
            direction,
            point: self.point,
            offset: 0.0,
        }
    }

    fn value(&self, poses: &mut PlanarPoses) -> (f64, PlanarGradient) {
        let (height, normal) = self.nearest(poses);
        let along = self.slide(Vec2::new(normal[0].x, normal[1].x));
        (height, along.value(poses).1)
    }

    fn hessian(&self, poses: &mut PlanarPoses) -> PlanarHessian {
        let (_, normal) = self.nearest(poses);
        let mut h = (self.slide(Vec2::new(normal[0].x, normal[1].x))).hessian(poses);
        // ∂x/∂q: gradients of the displacements along the axes of the first body.
        let by_q = [Vec2::x(), Vec2::y()].map(|axis| self.slide(axis).value(poses).1);
        for a in 0..2 {
            for b in 0..2 {
                let curvature = normal[a].q[b];
                // The centre of curvature has no nearest point: zero is better than infinity.
                let curvature = if curvature.is_finite() {
                    curvature
                } else {
                    0.0
                };
                for i in 0..6 {
                    for j in 0..6 {
                        h[i][j] += curvature * by_q[a][i] * by_q[b][j];
                    }
                }
            }
        }
        h
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulation::absolute::geometry::RelativeCoordinate as _;
    use crate::linalg::random::Random;

    fn coordinates() -> Vec<PlanarCoordinate> {
        let point = |body, x, y| PlanarPoint {
            body,
            s: Vec2::new(x, y),
        };
        let mut all = Vec::new();
        for (i, j) in [(Some(0), Some(1)), (None, Some(1)), (Some(1), None)] {
            all.push(PlanarCoordinate::Distance(PlanarDistance {
                points: [point(i, 0.3, -0.2), point(j, -0.5, 0.9)],
                coincidence_distance: 1e-12,
            }));
            all.push(PlanarCoordinate::Angle(PlanarAngle {
                bodies: [i, j],
                offset: 0.4,
            }));
            all.push(PlanarCoordinate::Slide(PlanarSlide {
                body: i,
                direction: Vec2::new(0.6, 0.8),
                point: point(j, -0.5, 0.9),
                offset: 0.4,
            }));
        }
        all
    }

    /// Central differences of fourth order with e = 1e-3: truncation 1e-12, rounding 1e-13, both times a factor of order ten.
    const TOLERANCE: f64 = 1e-10;

    fn difference(f: impl Fn(f64) -> f64) -> f64 {
        let e = 1e-3;
        (8.0 * (f(e) - f(-e)) - (f(2.0 * e) - f(-2.0 * e))) / (12.0 * e)
    }

    #[test]
    fn gradients_and_hessians_agree_with_differences() {
        let mut random = Random::new(7);
        for coordinate in coordinates() {
            for _ in 0..5 {
                let q: Vec<f64> = (0..6).map(|_| 2.0 * random.signed()).collect();
                let (_, g) = coordinate.value(&mut PlanarPoses::new(&q));
                let h = coordinate.hessian(&mut PlanarPoses::new(&q));
                for (side, body) in coordinate.bodies().iter().enumerate() {
                    let Some(b) = *body else { continue };
                    for k in 0..3 {
                        let (at, c) = (3 * b + k, 3 * side + k);
                        let displaced = |x: f64| {
                            let mut q = q.clone();
                            q[at] += x;
                            coordinate.value(&mut PlanarPoses::new(&q))
                        };
                        let slope = difference(|x| displaced(x).0);
                        assert!(
                            (slope - g[c]).abs() < TOLERANCE,
                            "{coordinate:?} gradient {c}"
                        );
                        for r in 0..6 {
                            let slope = difference(|x| displaced(x).1[r]);
                            assert!(
                                (slope - h[r][c]).abs() < 10.0 * TOLERANCE,
                                "{coordinate:?} hessian {r} {c}: {slope} {}",
                                h[r][c]
                            );
                            assert!(h[r][c] == 0.0 || coordinate.has_curvature(r, c));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn curvature_of_a_slide_is_the_quadratic_form_of_its_hessian() {
        let mut random = Random::new(3);
        for coordinate in coordinates() {
            let PlanarCoordinate::Slide(slide) = &coordinate else {
                continue;
            };
            let q: Vec<f64> = (0..6).map(|_| random.signed()).collect();
            let v: [f64; 6] = std::array::from_fn(|_| random.signed());
            let poses = &mut PlanarPoses::new(&q);
            let full = geometry::quadratic(&slide.hessian(poses), &v);
            assert!((slide.curvature(poses, &v) - full).abs() < 1e-14);
        }
    }

    #[test]
    fn coincident_points_have_zero_gradient() {
        let distance = PlanarDistance {
            points: [PlanarPoint {
                body: Some(0),
                s: Vec2::new(1.0, 0.0),
            }; 2],
            coincidence_distance: 1e-12,
        };
        let q = [0.3, 0.4, 0.5];
        let (length, g) = distance.value(&mut PlanarPoses::new(&q));
        assert_eq!((length, g), (0.0, [0.0; 6]));
        assert_eq!(distance.hessian(&mut PlanarPoses::new(&q)), [[0.0; 6]; 6]);
        assert!(
            distance
                .coincidence_gradients(&mut PlanarPoses::new(&q))
                .is_some()
        );
    }
}
