//! A column of J and how it changes: what the motion of the bodies gains when one joint coordinate is varied. In ground axes
//! coordinate j moves everything that hangs on it like one rigid body, about an axis W through the joint point P and along U:
//!
//! ```text
//!   Y = ( U + W × (r_b − P),  Wᵇ )                            U, W fixed in the parent or in the body; ᵇ: axes of body b
//!   δq_b = Y δz
//!   δv_b = Y δż + V δz                 V = Ẏ + [v_b, Y]
//!   δa_b = Y δz̈ + B δż + A δz          B = 2 Ẏ + [v_b, Y],      A = Ÿ + [a_b, Y] + [v_b, Ẏ]
//! ```
//!
//! [·,·] is the bracket of the body's coordinates (ω × of the rotations). A rotation of the joint on the group has a bracket of
//! its own, see [`of_group`].

use super::joint_map::JointMap;
use crate::linalg::rotation::{Mat3, Vec3, cross};

/// Motion of a body in ground axes.
#[derive(Clone, Copy, Debug)]
pub struct BodyMotion {
    /// Centre of mass, its velocity and acceleration.
    pub r: [Vec3; 3],
    /// Body axes to ground axes.
    pub rotation: Mat3,
    /// Angular velocity and acceleration.
    pub w: [Vec3; 2],
}

/// What a joint coordinate does, ground axes.
#[derive(Clone, Copy, Debug)]
pub struct JointAxis {
    /// Travel, a direction of the parent.
    pub u: Vec3,
    /// Axis of rotation.
    pub w: Vec3,
    /// The axis is fixed in the body rather than in the parent.
    pub in_body: bool,
}

/// A vector with its first two derivatives.
type AxisMotion = [Vec3; 3];

/// A direction fixed in a body.
fn fixed(x: Vec3, body: &BodyMotion) -> AxisMotion {
    let [w, w1] = body.w;
    let x1 = w.cross(&x);
    [x, x1, w1.cross(&x) + w.cross(&x1)]
}

/// A point of a body, from its centre of mass in its own axes.
fn point(s: &Vec3, body: &BodyMotion) -> AxisMotion {
    let course = fixed(body.rotation * s, body);
    [0, 1, 2].map(|k| body.r[k] + course[k])
}

/// One coordinate at one instant.
#[derive(Clone, Copy, Debug)]
pub struct MotionVariation {
    u: AxisMotion,
    w: AxisMotion,
    p: AxisMotion,
}

/// Y, V, B, A of a body, each N/2 long.
pub type FourVectors<'a> = [&'a mut [f64]; 4];

impl MotionVariation {
    /// Coordinate `axis` of a joint whose point on the body that hangs is `pivot`.
    pub fn new(axis: &JointAxis, pivot: &Vec3, parent: &BodyMotion, child: &BodyMotion) -> Self {
        Self {
            u: fixed(axis.u, parent),
            w: fixed(axis.w, if axis.in_body { child } else { parent }),
            p: point(pivot, child),
        }
    }

    /// What it does to body b.
    pub fn on<W: JointMap<N>, const N: usize>(&self, b: &BodyMotion, out: FourVectors) {
        let Self { u, w, p } = self;
        let d = [0, 1, 2].map(|k| b.r[k] - p[k]);
        let y = [
            u[0] + w[0].cross(&d[0]),
            u[1] + w[1].cross(&d[0]) + w[0].cross(&d[1]),
            u[2] + w[2].cross(&d[0]) + 2.0 * w[1].cross(&d[1]) + w[0].cross(&d[2]),
        ];
        // In the axes of the body: d(Rᵀx)/dt = Rᵀ(ẋ − ω × x).
        let [o, o1] = b.w;
        let first = w[1] - o.cross(&w[0]);
        let second = w[2] - o1.cross(&w[0]) - 2.0 * o.cross(&w[1]) + o.cross(&o.cross(&w[0]));
        let back = |x: Vec3| b.rotation.tr_mul(&x);
        let s = [back(w[0]), back(first), back(second)];
        let [spin, spin1] = [back(o), back(o1)];
        let [of_q, of_v, of_rate, of_a] = out;
        W::write(&y[0], &s[0], of_q);
        W::write(&y[1], &(s[1] + spin.cross(&s[0])), of_v);
        W::write(&(2.0 * y[1]), &(2.0 * s[1] + spin.cross(&s[0])), of_rate);
        W::write(
            &y[2],
            &(s[2] + spin1.cross(&s[0]) + spin.cross(&s[1])),
            of_a,
        );
    }
}

/// Rates of a rotation on the group do not stay when the rotation is varied by w: δω = ẇ + ω × w. With δz = w, δż = u, δz̈ = n
/// of such a joint, ẇ = u − ω~ w and ẅ = n − α~ w − ω~ ẇ:
///
/// ```text
///   V := V − Y ω~        B := B − Y ω~        A := A − Y α~ − B ω~       with the new B
/// ```
///
/// Returns (ω~, α~).
pub fn of_group(omega: &[f64], alpha: &[f64]) -> (Mat3, Mat3) {
    let [omega, alpha] = [omega, alpha].map(|x| Vec3::new(x[0], x[1], x[2]));
    (cross(&omega), cross(&alpha))
}
