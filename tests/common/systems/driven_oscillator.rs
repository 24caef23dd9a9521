//! The linear oscillator with an input: q'' + ω² q = u.

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};

/// ω² (1/s²)
pub struct DrivenOscillator {
    pub omega_squared: f64,
}

impl DrivenOscillator {
    /// (q, v) after a time `t` with constant u.
    pub fn exact(&self, (q0, v0): (f64, f64), u: f64, t: f64) -> (f64, f64) {
        let w = self.omega_squared.sqrt();
        let middle = u / self.omega_squared;
        let (s, c) = (w * t).sin_cos();
        (
            middle + (q0 - middle) * c + v0 / w * s,
            v0 * c - (q0 - middle) * w * s,
        )
    }
}

impl System for DrivenOscillator {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 1,
            nv: 1,
            inputs: 1,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            linear: true,
            does_work: true,
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

    fn force(&self, cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = cx.u[0] - self.omega_squared * q[0];
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

    fn power(&self, cx: &EvaluationContext, _q: &[f64], v: &[f64]) -> Power {
        Power {
            dissipated: 0.0,
            supplied: cx.u[0] * v[0],
        }
    }

    /// The plain size, as in the first paper's notes.
    fn norm(&self, _cx: &EvaluationContext, _q: &[f64], _scale: &[f64], e: &[f64]) -> f64 {
        e[0].abs()
    }
}

impl ConfigurationSpace for DrivenOscillator {}

impl HybridSystem for DrivenOscillator {}
