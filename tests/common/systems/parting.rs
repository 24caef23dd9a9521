//! Two rows that are the same at first and part later. A point (x, y, z) travels along x at 1 m/s; the rows are
//!
//! ```text
//!   floor   z = 0
//!   rail    z + s(x) y − c(t) = 0,      s = strength max(0, x − 1)³,   c = lift max(0, t − 1)³
//! ```
//!
//! Up to x = 1 the rail says what the floor says. From there on it holds y = 0 against a force k (x − 1)⁴ (with `strength`), or
//! contradicts the floor (with `lift`).

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};

/// The point and its rail.
pub struct Parting {
    /// 1/m³
    pub strength: f64,
    /// m/s³
    pub lift: f64,
    /// k (N/m⁴)
    pub push: f64,
}

/// max(0, x − 1)ⁿ and its first two derivatives.
fn late(x: f64, n: i32) -> [f64; 3] {
    let d = (x - 1.0).max(0.0);
    let f = f64::from(n);
    [d.powi(n), f * d.powi(n - 1), f * (f - 1.0) * d.powi(n - 2)]
}

impl System for Parting {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 3,
            nv: 3,
            nc: 2,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            moving_constraints: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: super::full(3, 3),
            jacobian: vec![(0, 2), (1, 0), (1, 1), (1, 2)],
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        out.copy_from_slice(a);
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], _v: &[f64], out: &mut [f64]) -> Evaluated {
        out.copy_from_slice(&[0.0, self.push * late(q[0], 4)[0], 0.0]);
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, lambda, .. } = *at;
        let k = weights.stiffness;
        let [_, s1, s2] = late(q[0], 3).map(|s| self.strength * s);
        let l = lambda[1];
        out.fill(0.0);
        out[0] = weights.mass + k * l * s2 * q[1];
        out[1] = k * l * s1;
        out[3] = k * (l * s1 - self.push * late(q[0], 4)[1]);
        out[4] = weights.mass;
        out[8] = weights.mass;
        Ok(())
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        phi[0] = q[2];
        phi[1] = q[2] + self.strength * late(q[0], 3)[0] * q[1] - self.lift * late(cx.t, 3)[0];
    }

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let [s, s1, _] = late(q[0], 3).map(|s| self.strength * s);
        out.copy_from_slice(&[1.0, s1 * q[1], s, 1.0]);
    }

    fn constraint_rate(&self, cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        phi_t[0] = 0.0;
        phi_t[1] = -self.lift * late(cx.t, 3)[1];
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let [_, s1, s2] = late(q[0], 3).map(|s| self.strength * s);
        gamma[0] = 0.0;
        gamma[1] = s2 * q[1] * v[0] * v[0] + 2.0 * s1 * v[0] * v[1] - self.lift * late(cx.t, 3)[2];
    }

    fn energy(&self, _cx: &EvaluationContext, _q: &[f64], v: &[f64]) -> Energy {
        Energy {
            kinetic: 0.5 * v.iter().map(|v| v * v).sum::<f64>(),
            potential: 0.0,
        }
    }

    fn power(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        Power {
            dissipated: 0.0,
            supplied: self.push * late(q[0], 4)[0] * v[1],
        }
    }

    fn constraint_name(&self, row: usize) -> String {
        ["floor", "rail"][row].into()
    }
}

impl ConfigurationSpace for Parting {}

impl HybridSystem for Parting {}
