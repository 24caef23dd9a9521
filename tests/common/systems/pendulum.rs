//! The point pendulum in natural coordinates x, y: Φ = (|r|² − l²)/(2l), scaled to a length.

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};

/// A point mass on a rod, pivot at the origin, gravity along −y.
pub struct Pendulum {
    /// kg
    pub mass: f64,
    /// m
    pub length: f64,
    /// m/s²
    pub gravity: f64,
}

impl Default for Pendulum {
    fn default() -> Self {
        Self {
            mass: 1.0,
            length: 1.0,
            gravity: 9.81,
        }
    }
}

impl System for Pendulum {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 2,
            nv: 2,
            nc: 1,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties::default()
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: vec![(0, 0), (1, 1)],
            jacobian: vec![(0, 0), (0, 1)],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out[0] = self.mass * a[0];
        out[1] = self.mass * a[1];
    }

    fn force(&self, _cx: &EvaluationContext, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out[0] = 0.0;
        out[1] = -self.mass * self.gravity;
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
        let diagonal = weights.mass * self.mass + weights.stiffness * lambda[0] / self.length;
        out.fill(diagonal);
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        let l = self.length;
        phi[0] = (q[0] * q[0] + q[1] * q[1] - l * l) / (2.0 * l);
    }

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        out[0] = q[0] / self.length;
        out[1] = q[1] / self.length;
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        _q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        gamma[0] = (v[0] * v[0] + v[1] * v[1]) / self.length;
    }

    fn constraint_scale(&self, _row: usize) -> f64 {
        self.length
    }

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * self.mass * (v[0] * v[0] + v[1] * v[1]),
            potential: self.mass * self.gravity * q[1],
        }
    }
}

impl ConfigurationSpace for Pendulum {}

impl HybridSystem for Pendulum {}
