//! The linear oscillator: q'' + ω² q = 0.

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};

/// ω² (1/s²)
pub struct Oscillator {
    pub omega_squared: f64,
}

impl Default for Oscillator {
    fn default() -> Self {
        Self {
            omega_squared: 100.0,
        }
    }
}

impl Oscillator {
    /// (q, v) at `t` after a start from (q0, v0).
    pub fn exact(&self, q0: f64, v0: f64, t: f64) -> (f64, f64) {
        let w = self.omega_squared.sqrt();
        let (s, c) = (w * t).sin_cos();
        (q0 * c + v0 / w * s, v0 * c - q0 * w * s)
    }
}

impl System for Oscillator {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 1,
            nv: 1,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            linear: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0)],
            jacobian: vec![],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out[0] = a[0];
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = -self.omega_squared * q[0];
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        _at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        out[0] = weights.mass + weights.stiffness * self.omega_squared;
        Ok(())
    }

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * v[0] * v[0],
            potential: 0.5 * self.omega_squared * q[0] * q[0],
        }
    }
}

impl ConfigurationSpace for Oscillator {}

impl HybridSystem for Oscillator {}
