//! The double pendulum of point masses in natural coordinates x₁, y₁, x₂, y₂: index 3 with two rods,
//! Φ = ((|r₁|² − 1)/2, (|r₂ − r₁|² − 1)/2), masses of 1 kg, rods of 1 m. Its error norm is the plain rms, that of the first paper's
//! notes.

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};

use super::full;

/// m/s²
const G: f64 = 9.81;

/// See the module.
pub struct NaturalDoublePendulum;

/// r₂ − r₁, or its rate.
fn bar(q: &[f64]) -> [f64; 2] {
    [q[2] - q[0], q[3] - q[1]]
}

impl System for NaturalDoublePendulum {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 4,
            nv: 4,
            nc: 2,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: full(4, 4),
            jacobian: full(2, 4),
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out.copy_from_slice(&[0.0, -G, 0.0, -G]);
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { lambda, .. } = *at;
        let [l1, l2] = [lambda[0], lambda[1]].map(|l| weights.stiffness * l);
        out.fill(0.0);
        for i in 0..2 {
            out[5 * i] = weights.mass + l1 + l2;
            out[5 * (i + 2)] = weights.mass + l2;
            out[4 * i + i + 2] = -l2;
            out[4 * (i + 2) + i] = -l2;
        }
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        let [x, y] = bar(q);
        phi[0] = 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0);
        phi[1] = 0.5 * (x * x + y * y - 1.0);
    }

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let [x, y] = bar(q);
        out.copy_from_slice(&[q[0], q[1], 0.0, 0.0, -x, -y, x, y]);
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let [x, y] = bar(v);
        gamma[0] = v[0] * v[0] + v[1] * v[1];
        gamma[1] = x * x + y * y;
    }

    fn norm(&self, _cx: &EvaluationContext, _q: &[f64], _scale: &[f64], e: &[f64]) -> f64 {
        (e.iter().map(|e| e * e).sum::<f64>() / e.len() as f64).sqrt()
    }

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * v.iter().map(|v| v * v).sum::<f64>(),
            potential: G * (q[1] + q[3]),
        }
    }
}

impl ConfigurationSpace for NaturalDoublePendulum {}

impl HybridSystem for NaturalDoublePendulum {}
