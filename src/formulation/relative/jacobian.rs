//! A column of J and its derivatives: the variation of the motion of the bodies with one joint coordinate. In ground axes a coordinate
//! moves its subtree as one rigid body, about an axis W through the joint point P and along U:
//!
//! ```text
//!   Y = ( U + W × (r_b − P),  Wᵇ )                            U, W fixed in the parent or in the body; ᵇ: axes of body b
//!   δq_b = Y δz
//!   δv_b = Y δż + V δz                 V = Ẏ + [v_b, Y]
//!   δa_b = Y δz̈ + B δż + A δz          B = 2 Ẏ + [v_b, Y],      A = Ÿ + [a_b, Y] + [v_b, Ẏ]
//! ```
//!
//! [·,·] is the Lie bracket of body coordinates (ω × of the rotations). A rotation on the group has further terms, see [`of_group`].

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

/// Direction and axis of a joint coordinate, ground axes.
#[derive(Clone, Copy, Debug)]
pub struct JointAxis {
    /// Direction of translation, fixed in the parent.
    pub u: Vec3,
    /// Axis of rotation.
    pub w: Vec3,
    /// Whether the axis is fixed in the child rather than in the parent.
    pub in_body: bool,
}

/// A vector with its first two derivatives.
type AxisMotion = [Vec3; 3];

/// Returns a direction fixed in a body, with its derivatives.
fn fixed(x: Vec3, body: &BodyMotion) -> AxisMotion {
    let [w, w1] = body.w;
    let x1 = w.cross(&x);
    [x, x1, w1.cross(&x) + w.cross(&x1)]
}

/// Returns a point of a body with its derivatives; `s` is in body axes, relative to the centre of mass.
fn point(s: &Vec3, body: &BodyMotion) -> AxisMotion {
    let axis = fixed(body.rotation * s, body);
    [0, 1, 2].map(|k| body.r[k] + axis[k])
}

/// U, W and P of one coordinate, with their derivatives.
#[derive(Clone, Copy, Debug)]
pub struct MotionVariation {
    u: AxisMotion,
    w: AxisMotion,
    p: AxisMotion,
}

/// Y, V, B, A of a body, each N/2 long.
pub type FourVectors<'a> = [&'a mut [f64]; 4];

impl MotionVariation {
    /// Returns the variation of a coordinate with this axis; `pivot` is the joint point on the child.
    pub fn new(axis: &JointAxis, pivot: &Vec3, parent: &BodyMotion, child: &BodyMotion) -> Self {
        Self {
            u: fixed(axis.u, parent),
            w: fixed(axis.w, if axis.in_body { child } else { parent }),
            p: point(pivot, child),
        }
    }

    /// Writes Y, V, B, A of body b.
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

/// Returns (ω~, α~) for the terms of a rotation on the group. Its velocity changes when the rotation is varied by w: δω = ẇ + ω × w. With
/// δz = w, δż = u, δz̈ = n of such a joint, ẇ = u − ω~ w and ẅ = n − α~ w − ω~ ẇ:
///
/// ```text
///   V := V − Y ω~        B := B − Y ω~        A := A − Y α~ − B ω~       with the new B
/// ```
pub fn of_group(omega: &[f64], alpha: &[f64]) -> (Mat3, Mat3) {
    let [omega, alpha] = [omega, alpha].map(|x| Vec3::new(x[0], x[1], x[2]));
    (cross(&omega), cross(&alpha))
}
