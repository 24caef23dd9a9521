//! Planar and spatial geometry behind one interface: coordinates of a body, and relative coordinates of two bodies. Everything in
//! absolute coordinates is written once over [`Geometry`].
//!
//! ```text
//!   c(q),     g = ∂c/∂w,     H = ∂g/∂w      under q → q ∘ w,      ċ = g·v,     c̈ = g·a + vᵀ H v
//! ```
//!
//! `N` is the number of velocities of two bodies: 6 in the plane, 12 in space. With rotations H is not symmetric:
//! `H[i][j]` is the change of `g[i]` along `w[j]`.

use std::fmt::Debug;

use super::sparsity::SparsityBuilder;
use crate::error::Result;
use crate::formulation::EvaluationContext;
use crate::formulation::driven_value::DrivenValues;
use crate::formulation::force::contact::curvature::BodySpeeds;
use crate::model::{self, BodyRef, Model};

/// Gradient over two bodies.
pub type Gradient<const N: usize> = [f64; N];

/// Derivative of a gradient over two bodies.
pub type Hessian<const N: usize> = [[f64; N]; N];

/// Force and moment in ground axes; components out of the plane are zero for planar mechanisms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// N
    pub force: [f64; 3],
    /// N m
    pub moment: [f64; 3],
}

/// Motion of a point fixed in a body, and rotation of the body, in ground axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointMotion {
    /// m
    pub position: [f64; 3],
    /// m/s
    pub velocity: [f64; 3],
    /// m/s²
    pub acceleration: [f64; 3],
    /// rad, planar only
    pub angle: f64,
    /// rad/s
    pub angular_velocity: [f64; 3],
    /// rad/s²
    pub angular_acceleration: [f64; 3],
}

/// Planar or spatial geometry.
pub trait Geometry<const N: usize>: Copy + Debug + Send + Sync + 'static {
    /// 2 or 3.
    const DIMENSION: usize;
    /// Stored coordinates of a body; it has N/2 velocities.
    const STORED: usize;
    /// Whether configurations contain rotations that do not add, so that `retract` is not addition.
    const HAS_ROTATIONS: bool;

    /// Poses of one configuration, computed when needed.
    type Poses<'a>;
    /// A point fixed in a body, relative to its centre of mass.
    type BodyPoint: Copy + Debug + Send + Sync;
    /// Mass and inertia of a body.
    type Inertia: BodyInertia;
    /// A relative coordinate of two bodies.
    type RelativeCoordinate: RelativeCoordinate<N, Self>;
    /// Constraint of two coincident points.
    type CoincidentPoints: CoincidentPoints<N, Self>;

    /// Poses of a configuration.
    fn poses(q: &[f64]) -> Self::Poses<'_>;

    /// Initial pose and velocities of a body at its centre of mass.
    fn initial_state(body: &model::Body, q: &mut [f64], v: &mut [f64]);

    /// The point with coordinates `at` in the body frame.
    fn point(model: &Model, body: BodyRef, at: [f64; 3]) -> Self::BodyPoint;

    /// Position of a point in the ground frame.
    fn position(poses: &mut Self::Poses<'_>, point: &Self::BodyPoint) -> [f64; 3];

    /// Motion of a point and of its body; `v` and `a` of all bodies.
    fn motion(
        poses: &mut Self::Poses<'_>,
        point: &Self::BodyPoint,
        v: &[f64],
        a: &[f64],
    ) -> PointMotion;

    /// Orientation of a point's body, w, x, y, z.
    fn quaternion(poses: &mut Self::Poses<'_>, point: &Self::BodyPoint) -> [f64; 4];

    /// Force at a point and moment equivalent to the generalised force of its body (N/2 long).
    fn wrench(poses: &mut Self::Poses<'_>, point: &Self::BodyPoint, generalised: &[f64]) -> Wrench;

    /// Orientation of the second body relative to the first, w, x, y, z.
    fn relative_quaternion(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2]) -> [f64; 4];

    /// out = q ∘ w of one body.
    fn retract(q: &[f64], w: &[f64], out: &mut [f64]);

    /// w with q0 ∘ w = q1, of one body.
    fn difference(q0: &[f64], q1: &[f64], w: &mut [f64]);

    /// Lie bracket of one body.
    fn bracket(_x: &[f64], _y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// T(θ)⁻¹ of the rotation of one body, by rows; called only if [`Geometry::HAS_ROTATIONS`].
    fn tangent_inverse(_theta: &[f64]) -> [[f64; 3]; 3] {
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    }

    /// Magnitude of the angle of one body, if its turns are counted in it.
    fn angle_magnitude(_q: &[f64]) -> f64 {
        0.0
    }
}

/// Mass and inertia of a body. Slices are those of the body alone unless stated otherwise.
pub trait BodyInertia: Clone + Debug + Send + Sync + Sized {
    /// Inertia of body `b` of the model, with the slots of its block in the tangent matrix.
    fn new(
        model: &Model,
        b: usize,
        values: &DrivenValues,
        slots: &mut SparsityBuilder,
    ) -> Result<Self>;

    /// kg
    fn mass(&self, cx: &EvaluationContext) -> f64;

    /// Rate of a driven mass (kg/s).
    fn mass_rate(&self, cx: &EvaluationContext) -> f64;

    /// out = M a
    fn times(&self, cx: &EvaluationContext, a: &[f64], out: &mut [f64]);

    /// ½ vᵀ (∂M/∂t) v of a driven inertia (W).
    fn driven_power(&self, cx: &EvaluationContext, v: &[f64]) -> f64;

    /// out += velocity-dependent inertia forces
    fn add_gyroscopic_force(&self, _cx: &EvaluationContext, _v: &[f64], _out: &mut [f64]) {}

    /// out += mass M + damping C in the values of the tangent matrix, C from the velocity-dependent inertia forces.
    fn add_tangent(
        &self,
        cx: &EvaluationContext,
        v: &[f64],
        mass: f64,
        damping: f64,
        out: &mut [f64],
    );
}

/// A relative coordinate c of two bodies: a distance, an angle, a displacement.
pub trait RelativeCoordinate<const N: usize, W: Geometry<N>>: Clone + Debug + Send + Sync {
    /// The two bodies.
    fn bodies(&self) -> [BodyRef; 2];

    /// c and its gradient.
    fn value(&self, poses: &mut W::Poses<'_>) -> (f64, Gradient<N>);

    /// c plus the whole turns that bring it nearest to `value`, regardless of its turn counter.
    fn value_near(&self, poses: &mut W::Poses<'_>, _value: f64) -> f64 {
        self.value(poses).0
    }

    /// H
    fn hessian(&self, poses: &mut W::Poses<'_>) -> Hessian<N>;

    /// vᵀ H v for the velocities of the two bodies.
    fn curvature(&self, poses: &mut W::Poses<'_>, v: &Gradient<N>) -> f64 {
        quadratic(&self.hessian(poses), v)
    }

    /// Bound of |c''| for all motions of the two bodies with these speeds; NaN where none is known.
    fn acceleration_bound(&self, _poses: &mut W::Poses<'_>, _speeds: &[BodySpeeds; 2]) -> f64 {
        f64::NAN
    }

    /// Whether g[k] can differ from zero.
    fn depends_on(&self, k: usize) -> bool;

    /// Whether `H[i][j]` can differ from zero.
    fn has_curvature(&self, i: usize, j: usize) -> bool;

    /// Whether it is an angle (rad) and not a length (m).
    fn is_angle(&self) -> bool;

    /// ∂(p₁ − p₀)/∂w of a distance whose points coincide, by rows; else `None`.
    fn coincidence_gradients(&self, _poses: &mut W::Poses<'_>) -> Option<[Gradient<N>; 3]> {
        None
    }

    /// Of the slip of a contact, which has a gradient but no value: its tangential axis.
    fn slip_axis(&self) -> Option<usize> {
        None
    }

    /// Index of the stored coordinate that counts its turns, if it needs one.
    fn turn_counter(&self) -> Option<usize> {
        None
    }
}

/// Coincident points: Φ = p₀ − p₁, one constraint for each dimension. λ is the force on the second body.
pub trait CoincidentPoints<const N: usize, W: Geometry<N>>: Clone + Debug + Send + Sync {
    /// The constraint, with the slots of its geometric stiffness.
    fn new(points: [W::BodyPoint; 2], slots: &mut SparsityBuilder) -> Self;

    /// The two points.
    fn points(&self) -> [W::BodyPoint; 2];

    /// The two bodies.
    fn bodies(&self) -> [BodyRef; 2];

    /// Entries of the Jacobian: row from 0, column in the whole matrix.
    fn sparsity(&self, push: &mut dyn FnMut(usize, usize));

    /// Φ
    fn constraint(&self, poses: &mut W::Poses<'_>, phi: &mut [f64]);

    /// Values of G in the order of `sparsity`; returns their number.
    fn jacobian(&self, poses: &mut W::Poses<'_>, out: &mut [f64]) -> usize;

    /// out += Gᵀ λ over the two bodies.
    fn add_constraint_force(&self, poses: &mut W::Poses<'_>, lambda: &[f64], out: &mut Gradient<N>);

    /// (G v)_q v
    fn acceleration_bias(&self, poses: &mut W::Poses<'_>, v: &[f64], gamma: &mut [f64]);

    /// out += factor ∂(Gᵀλ)/∂q in the values of the tangent matrix.
    fn add_stiffness(&self, poses: &mut W::Poses<'_>, lambda: &[f64], factor: f64, out: &mut [f64]);
}

/// x·y
#[inline]
pub fn dot<const N: usize>(x: &[f64; N], y: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for k in 0..N {
        sum += x[k] * y[k];
    }
    sum
}

/// xᵀ H x
#[inline]
pub fn quadratic<const N: usize>(h: &Hessian<N>, x: &[f64; N]) -> f64 {
    let mut sum = 0.0;
    for i in 0..N {
        sum += x[i] * dot(&h[i], x);
    }
    sum
}

/// Hᵀ x = ∂(g·x)/∂w
#[inline]
pub fn transposed_times<const N: usize>(h: &Hessian<N>, x: &[f64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for i in 0..N {
        for j in 0..N {
            out[j] += h[i][j] * x[i];
        }
    }
    out
}
