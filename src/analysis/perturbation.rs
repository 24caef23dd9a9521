//! Derivatives of functions of a motion along a perturbation, by central differences of order four:
//!
//! ```text
//!   f' = [ 8 (f₁ − f₋₁) − (f₂ − f₋₂) ] / 12 ε,     f_k at q ∘ kεw, v + kε δv, a + kε δa, λ + kε δλ, u + kε δu
//! ```
//!
//! They serve functions without exact derivatives: γ(q, v) along q, coordinates with a meaning, outputs. With ε w of 7e-4 body
//! lengths the error of the formula is 1e-14 and that of rounding some 1e-13 of f. Functions that are quadratic along a perturbation
//! need two points.

use super::linearization::OperatingPoint;
use crate::formulation::system::{
    Dimensions, EvaluationContext, IntegralMemory, MotionPoint, System,
};

/// Points in units of ε and weights times ε.
pub(super) type Stencil = [(f64, f64)];
/// Exact for polynomials of degree four.
pub(super) const SMOOTH: &Stencil = &[
    (-2.0, 1.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (1.0, 8.0 / 12.0),
    (2.0, -1.0 / 12.0),
];
/// Exact for polynomials of degree two.
pub(super) const QUADRATIC: &Stencil = &[(-1.0, -0.5), (1.0, 0.5)];
/// Size of ε w in the error norm (body lengths or radians), and of ε δu and ε δv relative to their size.
const PERTURBATION: f64 = 7e-4;

/// Part of the distance to a singular position, which the smallest pivot of the constraints measures, that ε w may have.
const PART_OF_PIVOT: f64 = 0.05;

/// A perturbation of a point of a motion.
#[derive(Clone, Debug, Default)]
pub(super) struct Perturbation {
    /// q ∘ w
    pub w: Vec<f64>,
    pub dv: Vec<f64>,
    pub da: Vec<f64>,
    pub dlambda: Vec<f64>,
    pub du: Vec<f64>,
    pub du_dot: Vec<f64>,
    pub du_ddot: Vec<f64>,
    /// Of the integrals along the motion.
    pub integrals: Vec<f64>,
}

impl Perturbation {
    pub fn new(size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        let u = || vec![0.0; size.inputs];
        Self {
            w: v(),
            dv: v(),
            da: v(),
            dlambda: vec![0.0; size.nc],
            du: u(),
            du_dot: u(),
            du_ddot: u(),
            integrals: vec![0.0; size.integrals],
        }
    }

    /// Whether inputs or integrals change.
    pub fn has_input(&self) -> bool {
        let all = [&self.du, &self.du_dot, &self.du_ddot, &self.integrals];
        all.iter().any(|du| du.iter().any(|x| *x != 0.0))
    }

    /// Copies the change of the inputs and integrals of another perturbation.
    pub fn copy_inputs(&mut self, other: &Self) {
        self.du.copy_from_slice(&other.du);
        self.du_dot.copy_from_slice(&other.du_dot);
        self.du_ddot.copy_from_slice(&other.du_ddot);
        self.integrals.copy_from_slice(&other.integrals);
    }

    pub fn clear(&mut self) {
        let Self {
            w,
            dv,
            da,
            dlambda,
            du,
            du_dot,
            du_ddot,
            integrals,
        } = self;
        for x in [w, dv, da, dlambda, du, du_dot, du_ddot, integrals] {
            x.fill(0.0);
        }
    }
}

/// Perturbed points.
pub(super) struct PerturbedPoint {
    q: Vec<f64>,
    shift: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    lambda: Vec<f64>,
    u: Vec<f64>,
    u_dot: Vec<f64>,
    u_ddot: Vec<f64>,
    integrals: Vec<IntegralMemory>,
    /// Size of ε w.
    size: f64,
}

impl PerturbedPoint {
    pub fn new(size: &Dimensions) -> Self {
        let v = || vec![0.0; size.nv];
        let u = || vec![0.0; size.inputs];
        Self {
            q: vec![0.0; size.nq],
            shift: v(),
            v: v(),
            a: v(),
            lambda: vec![0.0; size.nc],
            u: u(),
            u_dot: u(),
            u_ddot: u(),
            integrals: vec![IntegralMemory::default(); size.integrals],
            size: PERTURBATION,
        }
    }

    /// Sets the smallest pivot of the constraints at the point.
    pub fn set_pivot(&mut self, pivot: f64) {
        self.size = PERTURBATION.min(PART_OF_PIVOT * pivot);
    }

    /// Calls `add(weight, context, point)` for each point of the stencil; the weighted sum of a function is its derivative.
    pub fn differentiate(
        &mut self,
        system: &dyn System,
        at: &OperatingPoint,
        (along, stencil): (&Perturbation, &Stencil),
        mut add: impl FnMut(f64, &EvaluationContext, &MotionPoint),
    ) {
        let e = self.size * step(system, at, along);
        for &(k, weight) in stencil {
            self.move_to(system, at, along, k * e);
            let cx = EvaluationContext {
                u: &self.u,
                u_dot: &self.u_dot,
                u_ddot: &self.u_ddot,
                integrals: &self.integrals[..at.cx.integrals.len()],
                ..at.cx
            };
            let point = MotionPoint {
                q: &self.q,
                v: &self.v,
                a: &self.a,
                lambda: &self.lambda,
            };
            add(weight / e, &cx, &point);
        }
    }

    fn move_to(&mut self, system: &dyn System, at: &OperatingPoint, along: &Perturbation, s: f64) {
        scaled_sum(&[], s, &along.w, &mut self.shift);
        system.retract(at.motion.q, &self.shift, &mut self.q);
        scaled_sum(at.motion.v, s, &along.dv, &mut self.v);
        scaled_sum(at.motion.a, s, &along.da, &mut self.a);
        scaled_sum(at.motion.lambda, s, &along.dlambda, &mut self.lambda);
        scaled_sum(at.cx.u, s, &along.du, &mut self.u);
        scaled_sum(at.cx.u_dot, s, &along.du_dot, &mut self.u_dot);
        scaled_sum(at.cx.u_ddot, s, &along.du_ddot, &mut self.u_ddot);
        for (i, memory) in at.cx.integrals.iter().enumerate() {
            self.integrals[i] = IntegralMemory {
                value: memory.value + s * along.integrals[i],
                ..*memory
            };
        }
    }
}

/// out = x + s y; an empty x is zero.
fn scaled_sum(x: &[f64], s: f64, y: &[f64], out: &mut [f64]) {
    for i in 0..out.len() {
        out[i] = x.get(i).copied().unwrap_or(0.0) + s * y[i];
    }
}

/// ε of a perturbation over the size of ε w.
fn step(system: &dyn System, at: &OperatingPoint, along: &Perturbation) -> f64 {
    let norm = |x: &[f64]| system.norm(&at.cx, at.motion.q, at.scale, x);
    let mut size = norm(&along.w);
    for (u, du) in [
        (at.cx.u, &along.du),
        (at.cx.u_dot, &along.du_dot),
        (at.cx.u_ddot, &along.du_ddot),
    ] {
        for (u, du) in u.iter().zip(du) {
            size = size.max(du.abs() / u.abs().max(1.0));
        }
    }
    for (memory, change) in at.cx.integrals.iter().zip(&along.integrals) {
        size = size.max(change.abs() / memory.value.abs().max(1.0));
    }
    if size == 0.0 {
        // Functions of the velocity: their scale is the speed of the mechanism, at least a body length per second.
        size = norm(&along.dv) / norm(at.motion.v).max(1.0);
    }
    if size > 0.0 && size.is_finite() {
        1.0 / size
    } else {
        1.0
    }
}
