//! Relative coordinates of two bodies in space: distance, displacement, product of two directions, angle. Each has a gradient and its
//! derivative over the twelve velocities (ṙ, ω of the first body, then of the second).
//!
//! ```text
//!   distance           c = |p₁ − p₀|                   g = Eᵀ u,  E = ∂(p₁ − p₀)/∂w,  u along the line
//!   slide              c = A·(p₁ − r₀),  A = R₀ a      g = [−A, a × e | A, s₁ × R₁ᵀA],  e = R₀ᵀ(p₁ − r₀)
//!   direction product  c = (R₀ a)·(R₁ b)               g = [0, a × R₀ᵀR₁ b | 0, b × R₁ᵀR₀ a]
//!   angle              c = atan2(sine, cosine)         of two direction products
//!   arc sine           c = asin(sine)                  of a direction product
//!   spin               ċ = b·(ω₁ − R₁ᵀR₀ ω₀)           a rate without a coordinate
//! ```

mod arc_sine;
mod direction_product;
mod spin;

pub use arc_sine::SpatialArcSine;
pub use direction_product::DirectionProduct;
pub use spin::SpatialSpin;

use std::f64::consts::TAU;

use super::SpatialGeometry;
use super::pose::{SpatialPoint, SpatialPoses};
use crate::formulation::absolute::geometry;
use crate::formulation::force::contact::curvature::BodySpeeds;
use crate::formulation::force::contact::slip::SlipDirection;
use crate::linalg::elementary::atan2;
use crate::linalg::rotation::{Mat3, Vec3, cross};
use crate::model::BodyRef;

/// Gradient over two bodies.
pub type SpatialGradient = geometry::Gradient<12>;

/// Derivative of a gradient over two bodies.
pub type SpatialHessian = geometry::Hessian<12>;

// First index of position and rotation of each body in a gradient.
const R0: usize = 0;
const PHI0: usize = 3;
const R1: usize = 6;
const PHI1: usize = 9;

/// A relative coordinate of two bodies in space.
#[derive(Clone, Debug)]
pub enum SpatialCoordinate {
    /// Distance of two points.
    Distance(SpatialDistance),
    /// Displacement of a point along a direction fixed in the first body.
    Slide(SpatialSlide),
    /// Scalar product of a direction of each body.
    DirectionProduct(DirectionProduct),
    /// Angle about an axis, turns included.
    Angle(SpatialAngle),
    /// Angle between a direction and a plane.
    ArcSine(SpatialArcSine),
    /// A rate only: a component of the relative angular velocity.
    Spin(SpatialSpin),
    /// Slip of a contact: a gradient without a value.
    Slip(Box<SlipDirection>),
}

impl geometry::RelativeCoordinate<12, SpatialGeometry> for SpatialCoordinate {
    #[inline]
    fn bodies(&self) -> [BodyRef; 2] {
        match self {
            Self::Distance(m) => m.points.map(|p| p.body),
            Self::Slide(m) => [m.body, m.point.body],
            Self::DirectionProduct(m) => m.bodies,
            Self::Angle(m) => m.sine.bodies,
            Self::ArcSine(m) => m.sine.bodies,
            Self::Spin(m) => m.bodies,
            Self::Slip(m) => m.geometry.bodies,
        }
    }

    #[inline]
    fn value(&self, poses: &mut SpatialPoses) -> (f64, SpatialGradient) {
        match self {
            Self::Distance(m) => m.value(poses),
            Self::Slide(m) => m.value(poses),
            Self::DirectionProduct(m) => m.value(poses),
            Self::Angle(m) => m.value(poses),
            Self::ArcSine(m) => m.value(poses),
            Self::Spin(m) => m.value(poses),
            Self::Slip(m) => (0.0, m.gradient::<SpatialGeometry, 12>(poses)),
        }
    }

    fn hessian(&self, poses: &mut SpatialPoses) -> SpatialHessian {
        match self {
            Self::Distance(m) => m.hessian(poses),
            Self::Slide(m) => m.hessian(poses),
            Self::DirectionProduct(m) => m.hessian(poses),
            Self::Angle(m) => m.hessian(poses),
            Self::ArcSine(m) => m.hessian(poses),
            Self::Spin(m) => m.hessian(poses),
            Self::Slip(m) => m.hessian::<SpatialGeometry, 12>(poses),
        }
    }

    fn curvature(&self, poses: &mut SpatialPoses, v: &SpatialGradient) -> f64 {
        match self {
            Self::Distance(m) => m.curvature(poses, v),
            Self::Slide(m) => m.curvature(poses, v),
            Self::DirectionProduct(m) => m.curvature(poses, v),
            Self::Angle(m) => m.curvature(poses, v),
            Self::ArcSine(m) => m.curvature(poses, v),
            Self::Spin(m) => m.curvature(poses, v),
            Self::Slip(_) => geometry::quadratic(&self.hessian(poses), v),
        }
    }

    fn value_near(&self, poses: &mut SpatialPoses, value: f64) -> f64 {
        match self {
            Self::Angle(m) => m.near(poses, value),
            _ => self.value(poses).0,
        }
    }

    fn depends_on(&self, k: usize) -> bool {
        match self {
            Self::Distance(_) | Self::Slide(_) | Self::Slip(_) => true,
            _ => k % 6 >= 3,
        }
    }

    fn has_curvature(&self, i: usize, j: usize) -> bool {
        let is_rotation = |k: usize| k % 6 >= 3;
        let first = |k: usize| matches!(self, Self::Slide(_)) && (PHI0..R1).contains(&k);
        matches!(self, Self::Distance(_) | Self::Slip(_))
            || (is_rotation(i) && is_rotation(j))
            || first(i)
            || first(j)
    }

    fn acceleration_bound(&self, poses: &mut SpatialPoses, speeds: &[BodySpeeds; 2]) -> f64 {
        match self {
            Self::Slide(m) => {
                let (pose0, pose1) = (poses.get(m.body), poses.get(m.point.body));
                let apart = (pose1.r - pose0.r + pose1.to_ground(&m.point.s)).norm();
                BodySpeeds::slide_bound(speeds, m.point.s.norm(), apart)
            }
            Self::Angle(m) if m.turns_about_axis(poses) => BodySpeeds::angle_bound(speeds),
            // Of a distance there is none: the points may pass close by each other.
            _ => f64::NAN,
        }
    }

    fn is_angle(&self) -> bool {
        !matches!(self, Self::Distance(_) | Self::Slide(_) | Self::Slip(_))
    }

    fn coincidence_gradients(&self, poses: &mut SpatialPoses) -> Option<[SpatialGradient; 3]> {
        match self {
            Self::Distance(m) => m.coincidence_gradients(poses),
            _ => None,
        }
    }

    fn slip_axis(&self) -> Option<usize> {
        match self {
            Self::Slip(m) => Some(m.axis),
            _ => None,
        }
    }

    fn turn_counter(&self) -> Option<usize> {
        match self {
            Self::Angle(m) => m.counter,
            _ => None,
        }
    }
}

/// Three entries of a gradient.
#[inline]
fn block(v: &SpatialGradient, at: usize) -> Vec3 {
    Vec3::new(v[at], v[at + 1], v[at + 2])
}

#[inline]
fn put(g: &mut SpatialGradient, at: usize, x: &Vec3) {
    g[at..at + 3].copy_from_slice(x.as_slice());
}

#[inline]
fn put_block(h: &mut SpatialHessian, row: usize, column: usize, block: &Mat3) {
    for i in 0..3 {
        for j in 0..3 {
            h[row + i][column + j] += block[(i, j)];
        }
    }
}

/// Distance between a point of each body: c = |p₁ − p₀|.
///
/// Gradient and Hessian of coincident points (closer than `coincidence_distance`) are zero, so that a force along the line vanishes
/// instead of becoming NaN.
#[derive(Clone, Debug)]
pub struct SpatialDistance {
    /// The points.
    pub points: [SpatialPoint; 2],
    /// Distance below which the points coincide (m).
    pub coincidence_distance: f64,
}

/// Sign of each point in p₁ − p₀.
const SIGN: [f64; 2] = [-1.0, 1.0];

impl SpatialDistance {
    #[inline]
    fn difference(&self, poses: &mut SpatialPoses) -> Vec3 {
        let [p0, p1] = [0, 1].map(|k| {
            let pose = poses.get(self.points[k].body);
            (pose.r, pose.to_ground(&self.points[k].s))
        });
        p1.0 - p0.0 + p1.1 - p0.1
    }

    /// u · ∂(p₁ − p₀)/∂w for a fixed u.
    #[inline]
    fn along(&self, poses: &mut SpatialPoses, u: &Vec3) -> SpatialGradient {
        let mut g = [0.0; 12];
        for k in 0..2 {
            let point = &self.points[k];
            let moment = point.s.cross(&poses.get(point.body).to_body(u));
            put(&mut g, 6 * k, &(SIGN[k] * u));
            put(&mut g, 6 * k + 3, &(SIGN[k] * moment));
        }
        g
    }

    #[inline]
    fn value(&self, poses: &mut SpatialPoses) -> (f64, SpatialGradient) {
        let e = self.difference(poses);
        let length = e.norm();
        if length < self.coincidence_distance {
            return (length, [0.0; 12]);
        }
        (length, self.along(poses, &(e / length)))
    }

    /// Eᵀ (I − u uᵀ) E / c + ∂(Eᵀ u)/∂w with u fixed
    fn hessian(&self, poses: &mut SpatialPoses) -> SpatialHessian {
        let e = self.difference(poses);
        let length = e.norm();
        let mut h = [[0.0; 12]; 12];
        if length < self.coincidence_distance {
            return h;
        }
        let u = e / length;
        // I − u uᵀ = d dᵀ + (u × d)(u × d)ᵀ for a unit vector d perpendicular to u.
        let d = perpendicular(&u);
        for d in [d, u.cross(&d)] {
            let x = self.along(poses, &d);
            for i in 0..12 {
                for j in 0..12 {
                    h[i][j] += x[i] * x[j] / length;
                }
            }
        }
        for k in 0..2 {
            let point = &self.points[k];
            let back = poses.get(point.body).to_body(&u);
            let block = SIGN[k] * cross(&point.s) * cross(&back);
            put_block(&mut h, 6 * k + 3, 6 * k + 3, &block);
        }
        h
    }

    /// (|ė|² − ċ²)/c + u·(R₁ ω₁×(ω₁×s₁) − R₀ ω₀×(ω₀×s₀)),  e = p₁ − p₀
    fn curvature(&self, poses: &mut SpatialPoses, v: &SpatialGradient) -> f64 {
        let e = self.difference(poses);
        let length = e.norm();
        if length < self.coincidence_distance {
            return 0.0;
        }
        let u = e / length;
        let (mut rate, mut centripetal) = (Vec3::zeros(), Vec3::zeros());
        for k in 0..2 {
            let (pose, s) = (poses.get(self.points[k].body), &self.points[k].s);
            let w = block(v, 6 * k + 3);
            let s_dot = w.cross(s);
            rate += SIGN[k] * (block(v, 6 * k) + pose.to_ground(&s_dot));
            centripetal += SIGN[k] * pose.to_ground(&w.cross(&s_dot));
        }
        let along = u.dot(&rate);
        (rate.norm_squared() - along * along) / length + u.dot(&centripetal)
    }

    fn coincidence_gradients(&self, poses: &mut SpatialPoses) -> Option<[SpatialGradient; 3]> {
        (self.difference(poses).norm() < self.coincidence_distance)
            .then(|| [Vec3::x(), Vec3::y(), Vec3::z()].map(|u| self.along(poses, &u)))
    }
}

/// A unit vector perpendicular to u: u × the axis of its smallest component.
pub fn perpendicular(u: &Vec3) -> Vec3 {
    let mut axis = Vec3::zeros();
    axis[u.iamin()] = 1.0;
    u.cross(&axis).normalize()
}

/// Displacement of a point of the second body along a direction a fixed in the first:
///
/// ```text
///   c = A·(p₁ − r₀) + offset,     A = R₀ a
/// ```
///
/// A reference point p₀ of the first body enters through the offset, since A·(p₀ − r₀) is constant.
#[derive(Clone, Debug)]
pub struct SpatialSlide {
    /// The first body.
    pub body: BodyRef,
    /// Direction in its axes, unit vector.
    pub direction: Vec3,
    /// The point of the second body.
    pub point: SpatialPoint,
    /// m
    pub offset: f64,
}

impl SpatialSlide {
    #[inline]
    fn value(&self, poses: &mut SpatialPoses) -> (f64, SpatialGradient) {
        let (pose0, pose1) = (poses.get(self.body), poses.get(self.point.body));
        let a = &self.direction;
        let along = pose0.to_ground(a);
        let e = pose1.r - pose0.r + pose1.to_ground(&self.point.s);
        let mut g = [0.0; 12];
        put(&mut g, R0, &-along);
        put(&mut g, PHI0, &a.cross(&pose0.to_body(&e)));
        put(&mut g, R1, &along);
        put(&mut g, PHI1, &self.point.s.cross(&pose1.to_body(&along)));
        (along.dot(&e) + self.offset, g)
    }

    /// Ä·e + 2 Ȧ·ė + A·R₁ ω₁×(ω₁×s₁)
    fn curvature(&self, poses: &mut SpatialPoses, v: &SpatialGradient) -> f64 {
        let (pose0, pose1) = (poses.get(self.body), poses.get(self.point.body));
        let (a, s) = (&self.direction, &self.point.s);
        let (w0, w1) = (block(v, PHI0), block(v, PHI1));
        let (a_dot, s_dot) = (w0.cross(a), w1.cross(s));
        let e = pose1.r - pose0.r + pose1.to_ground(s);
        let e_dot = block(v, R1) - block(v, R0) + pose1.to_ground(&s_dot);
        pose0.to_ground(&w0.cross(&a_dot)).dot(&e)
            + 2.0 * pose0.to_ground(&a_dot).dot(&e_dot)
            + pose0.to_ground(a).dot(&pose1.to_ground(&w1.cross(&s_dot)))
    }

    fn hessian(&self, poses: &mut SpatialPoses) -> SpatialHessian {
        let (pose0, pose1) = (poses.get(self.body), poses.get(self.point.body));
        let (a, s) = (cross(&self.direction), cross(&self.point.s));
        let along = pose0.to_ground(&self.direction);
        let e = pose0.to_body(&(pose1.r - pose0.r + pose1.to_ground(&self.point.s)));
        let mut h = [[0.0; 12]; 12];
        let turned = pose0.rotation * a;
        put_block(&mut h, R0, PHI0, &turned);
        put_block(&mut h, PHI0, R0, &turned.transpose());
        put_block(&mut h, R1, PHI0, &-turned);
        put_block(&mut h, PHI0, R1, &-turned.transpose());
        put_block(&mut h, PHI0, PHI0, &(a * cross(&e)));
        let mixed = -a * pose0.rotation.transpose() * pose1.rotation * s;
        put_block(&mut h, PHI0, PHI1, &mixed);
        put_block(&mut h, PHI1, PHI0, &mixed.transpose());
        put_block(&mut h, PHI1, PHI1, &(s * cross(&pose1.to_body(&along))));
        h
    }
}

/// Angle by its sine and cosine, both direction products: c = sign atan2(sine, cosine) + offset + whole turns.
///
/// With e, f = n × e fixed in the first body and d in the second, sine = f·d and cosine = e·d give the angle of d about n.
#[derive(Clone, Debug)]
pub struct SpatialAngle {
    /// f·d
    pub sine: DirectionProduct,
    /// e·d
    pub cosine: DirectionProduct,
    /// 1 or −1: sense of rotation.
    pub sign: f64,
    /// rad
    pub offset: f64,
    /// Index of the stored coordinate with the last value, from which the turns follow.
    pub counter: Option<usize>,
}

/// Multiple of 2π nearest to an angle.
fn whole_turns(angle: f64) -> f64 {
    TAU * (angle / TAU).round()
}

impl SpatialAngle {
    /// Whether its direction is perpendicular to the axis, as joints keep it.
    fn turns_about_axis(&self, poses: &mut SpatialPoses) -> bool {
        let (s, c) = (self.sine.value_only(poses), self.cosine.value_only(poses));
        (s * s + c * c - 1.0).abs() < 1e-6
    }

    fn value(&self, poses: &mut SpatialPoses) -> (f64, SpatialGradient) {
        let (s, by_s) = self.sine.value(poses);
        let (c, by_c) = self.cosine.value(poses);
        let squared = s * s + c * c;
        let (s1, c1) = (self.sign * s / squared, self.sign * c / squared);
        let g = std::array::from_fn(|k| c1 * by_s[k] - s1 * by_c[k]);
        let angle = self.sign * atan2(s, c) + self.offset;
        let turns = match self.counter {
            Some(counter) => whole_turns(poses.stored(counter) - angle),
            None => 0.0,
        };
        (angle + turns, g)
    }

    fn near(&self, poses: &mut SpatialPoses, value: f64) -> f64 {
        let (s, c) = (self.sine.value_only(poses), self.cosine.value_only(poses));
        let angle = self.sign * atan2(s, c) + self.offset;
        angle + whole_turns(value - angle)
    }

    fn curvature(&self, poses: &mut SpatialPoses, v: &SpatialGradient) -> f64 {
        let (s, by_s) = self.sine.value(poses);
        let (c, by_c) = self.cosine.value(poses);
        let (s_dot, c_dot) = (geometry::dot(&by_s, v), geometry::dot(&by_c, v));
        let squared = s * s + c * c;
        let second_order = c * self.sine.curvature(poses, v) - s * self.cosine.curvature(poses, v);
        let mixed = s * c * (c_dot * c_dot - s_dot * s_dot) + (s * s - c * c) * s_dot * c_dot;
        self.sign * (second_order + 2.0 * mixed / squared) / squared
    }

    /// atan2 has the second derivatives (ss, sc, cc) = (−2sc, s² − c², 2sc)/ρ⁴.
    fn hessian(&self, poses: &mut SpatialPoses) -> SpatialHessian {
        let (s, by_s) = self.sine.value(poses);
        let (c, by_c) = self.cosine.value(poses);
        let (h_s, h_c) = (self.sine.hessian(poses), self.cosine.hessian(poses));
        let squared = s * s + c * c;
        let (s1, c1) = (self.sign * s / squared, self.sign * c / squared);
        let fourth = self.sign / (squared * squared);
        let (ss, sc) = (-2.0 * s * c * fourth, (s * s - c * c) * fourth);
        let mut h = [[0.0; 12]; 12];
        for i in 0..12 {
            for j in 0..12 {
                h[i][j] = c1 * h_s[i][j] - s1 * h_c[i][j]
                    + ss * (by_s[i] * by_s[j] - by_c[i] * by_c[j])
                    + sc * (by_s[i] * by_c[j] + by_c[i] * by_s[j]);
            }
        }
        h
    }
}

#[cfg(test)]
mod tests;
