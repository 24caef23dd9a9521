//! The plane and space behind one set of words. Everything in absolute coordinates is written once over a [`World`]: what a
//! body's coordinates are, and what can be measured between two bodies.
//!
//! ```text
//!   c(q),     g = ∂c/∂w,     H = ∂g/∂w      under q → q ∘ w,      ċ = g·v,     c̈ = g·a + vᵀ H v
//! ```
//!
//! `N` is the number of tangent coordinates of two bodies: 6 in the plane, 12 in space. On a group H is not symmetric:
//! `H[i][j]` is the change of `g[i]` along `w[j]`.

use std::fmt::Debug;

use super::sparsity::SparsityBuilder;
use crate::error::Result;
use crate::formulation::EvaluationContext;
use crate::formulation::driven_value::DrivenValues;
use crate::model::{self, BodyRef, Model};

/// Gradient over two bodies.
pub type Gradient<const N: usize> = [f64; N];

/// Change of a gradient over two bodies.
pub type Hessian<const N: usize> = [[f64; N]; N];

/// Force and moment in ground axes; what lies outside the plane is zero in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// N
    pub force: [f64; 3],
    /// N m
    pub moment: [f64; 3],
}

/// Motion of a point of a body and of the body, ground axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointMotion {
    /// m
    pub position: [f64; 3],
    /// m/s
    pub velocity: [f64; 3],
    /// m/s²
    pub acceleration: [f64; 3],
    /// rad, in the plane
    pub angle: f64,
    /// rad/s
    pub angular_velocity: [f64; 3],
    /// rad/s²
    pub angular_acceleration: [f64; 3],
}

/// The plane or space.
pub trait Geometry<const N: usize>: Copy + Debug + Send + Sync + 'static {
    /// 2 or 3.
    const DIMENSION: usize;
    /// Stored coordinates of a body; tangent coordinates are N/2.
    const STORED: usize;
    /// Rotations do not add: `retract` and its company are not addition.
    const HAS_ROTATIONS: bool;

    /// The poses of one configuration, worked out when asked for.
    type Poses<'a>;
    /// A point fixed in a body, seen from its centre of mass.
    type BodyPoint: Copy + Debug + Send + Sync;
    /// Mass and inertia of a body.
    type Inertia: BodyInertia;
    /// A number measured between two bodies.
    type RelativeCoordinate: RelativeCoordinate<N, Self>;
    /// Two points that stay in one place.
    type CoincidentPoints: CoincidentPoints<N, Self>;

    /// The poses of a configuration.
    fn poses(q: &[f64]) -> Self::Poses<'_>;

    /// Start pose and rates of a body's centre of mass, in its stored and tangent coordinates.
    fn initial_state(body: &model::Body, q: &mut [f64], v: &mut [f64]);

    /// A point given in a body's own frame.
    fn point(model: &Model, body: BodyRef, at: [f64; 3]) -> Self::BodyPoint;

    /// Where a point is, ground frame.
    fn position(poses: &mut Self::Poses<'_>, point: &Self::BodyPoint) -> [f64; 3];

    /// Motion of a point and its body.
    fn motion(
        poses: &mut Self::Poses<'_>,
        point: &Self::BodyPoint,
        v: &[f64],
        a: &[f64],
    ) -> PointMotion;

    /// The rotation of a point's body, w, x, y, z.
    fn quaternion(poses: &mut Self::Poses<'_>, point: &Self::BodyPoint) -> [f64; 4];

    /// The generalised force of one body (N/2 long) as force and moment at a point of it.
    fn wrench(poses: &mut Self::Poses<'_>, point: &Self::BodyPoint, generalised: &[f64]) -> Wrench;

    /// Orientation of the second body seen from the first, w, x, y, z.
    fn relative_quaternion(poses: &mut Self::Poses<'_>, bodies: [BodyRef; 2]) -> [f64; 4];

    /// out = q ∘ w of one body.
    fn retract(q: &[f64], w: &[f64], out: &mut [f64]);

    /// w with q0 ∘ w = q1, of one body.
    fn difference(q0: &[f64], q1: &[f64], w: &mut [f64]);

    /// Lie bracket of one body.
    fn bracket(_x: &[f64], _y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
    }

    /// T(θ)⁻¹ of the rotation of one body, rows; only where the world rotates.
    fn tangent_inverse(_theta: &[f64]) -> [[f64; 3]; 3] {
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    }

    /// How large an angle coordinate of one body is, where turns are counted in it.
    fn angle_magnitude(_q: &[f64]) -> f64 {
        0.0
    }
}

/// Mass and inertia of a body. Slices are those of the body alone unless said.
pub trait BodyInertia: Clone + Debug + Send + Sync + Sized {
    /// Body `b` of the model; asks for the slots of its own block.
    fn new(
        model: &Model,
        b: usize,
        values: &DrivenValues,
        slots: &mut SparsityBuilder,
    ) -> Result<Self>;

    /// kg
    fn mass(&self, cx: &EvaluationContext) -> f64;

    /// Rate of the mass where it is driven (kg/s).
    fn mass_rate(&self, cx: &EvaluationContext) -> f64;

    /// out = M a
    fn times(&self, cx: &EvaluationContext, a: &[f64], out: &mut [f64]);

    /// ½ vᵀ (∂M/∂t) v where the inertia is driven (W).
    fn driven_power(&self, cx: &EvaluationContext, v: &[f64]) -> f64;

    /// out += velocity-dependent inertia forces
    fn add_gyroscopic_force(&self, _cx: &EvaluationContext, _v: &[f64], _out: &mut [f64]) {}

    /// out += mass M + damping C in the whole tangent matrix, C of the velocity-dependent inertia forces.
    fn add_tangent(
        &self,
        cx: &EvaluationContext,
        v: &[f64],
        mass: f64,
        damping: f64,
        out: &mut [f64],
    );
}

/// A number measured between two bodies.
pub trait RelativeCoordinate<const N: usize, W: Geometry<N>>: Clone + Debug + Send + Sync {
    /// The two bodies.
    fn bodies(&self) -> [BodyRef; 2];

    /// c and its gradient.
    fn value(&self, poses: &mut W::Poses<'_>) -> (f64, Gradient<N>);

    /// c, with the whole turns that bring it nearest to a value; whatever its counter says.
    fn value_near(&self, poses: &mut W::Poses<'_>, _value: f64) -> f64 {
        self.value(poses).0
    }

    /// H
    fn hessian(&self, poses: &mut W::Poses<'_>) -> Hessian<N>;

    /// vᵀ H v for the rates of the two bodies.
    fn curvature(&self, poses: &mut W::Poses<'_>, v: &Gradient<N>) -> f64 {
        quadratic(&self.hessian(poses), v)
    }

    /// Whether the gradient can have an entry at k.
    fn depends_on(&self, k: usize) -> bool;

    /// Whether H can have an entry at (i, j).
    fn has_curvature(&self, i: usize, j: usize) -> bool;

    /// An angle (rad) rather than a length (m).
    fn is_angle(&self) -> bool;

    /// Where two points of a distance coincide: the rows ∂(p₁ − p₀)/∂w, else nothing.
    fn coincidence_gradients(&self, _poses: &mut W::Poses<'_>) -> Option<[Gradient<N>; 3]> {
        None
    }

    /// The stored coordinate in which its whole turns are counted, where one is needed.
    fn turn_counter(&self) -> Option<usize> {
        None
    }
}

/// Two points that stay in one place: as many rows as there are dimensions, Φ = p₀ − p₁, so that λ is the force on the second
/// body.
pub trait CoincidentPoints<const N: usize, W: Geometry<N>>: Clone + Debug + Send + Sync {
    /// With the slots of its geometric stiffness.
    fn new(points: [W::BodyPoint; 2], slots: &mut SparsityBuilder) -> Self;

    /// The two points.
    fn points(&self) -> [W::BodyPoint; 2];

    /// The two bodies.
    fn bodies(&self) -> [BodyRef; 2];

    /// Places of the Jacobian, rows from 0, columns in the whole matrix.
    fn sparsity(&self, push: &mut dyn FnMut(usize, usize));

    /// Φ
    fn constraint(&self, poses: &mut W::Poses<'_>, phi: &mut [f64]);

    /// Values of G in the order of `pattern`; returns how many.
    fn jacobian(&self, poses: &mut W::Poses<'_>, out: &mut [f64]) -> usize;

    /// out += Gᵀ λ over the two bodies.
    fn add_constraint_force(&self, poses: &mut W::Poses<'_>, lambda: &[f64], out: &mut Gradient<N>);

    /// (G v)_q v
    fn acceleration_bias(&self, poses: &mut W::Poses<'_>, v: &[f64], gamma: &mut [f64]);

    /// out += factor ∂(Gᵀλ)/∂q in the whole tangent matrix.
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

/// Hᵀ x: the change of ċ = g·x along each coordinate.
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
