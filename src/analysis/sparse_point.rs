//! The equations of a large system at a point, with the sparse factorisation of the integrator:
//!
//! ```text
//!   [ m M + c C + k K   Gᵀ ] [ x ]   [ b ]
//!   [ G                 0  ] [ μ ] = [ c ]
//! ```

use super::linearization::OperatingPoint;
use crate::constraint::saddle_point::{LinearAlgebraCounts, SaddlePoint};
use crate::constraint::sparsity::{Backend, SaddleSparsity};
use crate::formulation::system::{MotionPoint, System, TangentWeights};

/// Relative residual of the solutions.
const SOLUTION: f64 = 1e-14;

/// A factorised saddle-point matrix.
pub(super) struct SparseSaddle {
    sparsity: SaddleSparsity,
    saddle: SaddlePoint,
    counts: LinearAlgebraCounts,
}

impl SparseSaddle {
    /// Storage for the matrix of a system.
    pub fn empty(system: &dyn System) -> Self {
        let size = system.dimensions();
        let pattern = system.sparsity();
        let form = system.descriptor_form();
        let (nv, nc) = (form.as_ref()).map_or((size.nv, size.nc), |form| form.dimensions());
        let mut sparsity = SaddleSparsity::new(nv, nc, &pattern, Backend::Auto);
        if nc > 0 {
            sparsity = sparsity.with_characteristic_lengths(|i| system.characteristic_length(i));
        }
        let (tangent, jacobian) = (pattern.tangent.len(), pattern.jacobian.len());
        let own = (size.nv, size.nc);
        let saddle = SaddlePoint::with_descriptor_form(&sparsity, tangent, jacobian, own, form);
        Self {
            sparsity,
            saddle,
            counts: LinearAlgebraCounts::default(),
        }
    }

    /// The matrix of these weights, without the constraints that are `redundant`. `None` where it is singular or not defined.
    pub fn new(
        system: &dyn System,
        at: &OperatingPoint,
        redundant: &[bool],
        [mass, damping, stiffness]: [f64; 3],
    ) -> Option<Self> {
        let mut new = Self::empty(system);
        new.factor(system, at, redundant, [mass, damping, stiffness])?;
        Some(new)
    }

    /// Factorises the matrix of these weights in the same storage.
    pub fn factor(
        &mut self,
        system: &dyn System,
        at: &OperatingPoint,
        redundant: &[bool],
        [mass, damping, stiffness]: [f64; 3],
    ) -> Option<()> {
        let weights = TangentWeights {
            mass,
            damping,
            stiffness,
            theta: &[],
        };
        let Self {
            sparsity,
            saddle,
            counts,
        } = self;
        saddle.select_active(system, at.cx.modes, redundant);
        saddle
            .load_tangent(sparsity, system, &at.cx, &at.motion, &weights)
            .ok()?;
        if sparsity.nc() > 0 {
            saddle.load_jacobian(sparsity, system, &at.cx, at.motion.q);
        }
        saddle.factorise(sparsity, counts).ok().map(|_| ())
    }

    /// [x; mu] := A⁻¹ [x; mu]
    pub fn solve(&mut self, x: &mut [f64], mu: &mut [f64]) {
        let Self {
            sparsity,
            saddle,
            counts,
        } = self;
        saddle.solve_exact(sparsity, SOLUTION, x, mu, counts);
    }
}

/// Which active constraints of a large system are redundant at a point.
pub fn redundant_constraints(system: &dyn System, at: &OperatingPoint) -> Option<Vec<bool>> {
    let mut redundant = vec![false; system.dimensions().nc];
    if redundant.is_empty() {
        return Some(redundant);
    }
    let SparseSaddle {
        sparsity,
        mut saddle,
        ..
    } = SparseSaddle::empty(system);
    saddle.select_active(system, at.cx.modes, &redundant);
    let MotionPoint { q, .. } = at.motion;
    let mass = TangentWeights {
        mass: 1.0,
        damping: 0.0,
        stiffness: 0.0,
        theta: &[],
    };
    saddle
        .load_tangent(&sparsity, system, &at.cx, &at.motion, &mass)
        .ok()?;
    saddle.load_jacobian(&sparsity, system, &at.cx, q);
    for row in saddle.redundant_constraints(&sparsity) {
        redundant[row] = true;
    }
    Some(redundant)
}

/// Accelerations and multipliers of a large system at a point: M a + Gᵀλ = f, G a = −γ.
pub fn balance(
    system: &dyn System,
    at: &OperatingPoint,
    redundant: &[bool],
) -> Option<(Vec<f64>, Vec<f64>)> {
    let size = system.dimensions();
    let (mut a, mut lambda) = (vec![0.0; size.nv], vec![0.0; size.nc]);
    let MotionPoint { q, v, .. } = at.motion;
    system.force(&at.cx, q, v, &mut a).ok()?;
    system.constraint_acceleration_bias(&at.cx, q, v, &mut lambda);
    lambda.iter_mut().for_each(|gamma| *gamma = -*gamma);
    SparseSaddle::new(system, at, redundant, [1.0, 0.0, 0.0])?.solve(&mut a, &mut lambda);
    let finite = a.iter().chain(&lambda).all(|x| x.is_finite());
    finite.then_some((a, lambda))
}
