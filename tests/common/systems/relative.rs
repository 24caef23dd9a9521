//! The double pendulum of point masses in its two absolute angles from the downward vertical: a system with M(q), and with
//! a loop that is cut at the tip.
//!
//! ```text
//!   M = | A    B c |     A = (m₁ + m₂) l₁²,   B = m₂ l₁ l₂,   D = m₂ l₂²,     c, s = cos, sin (θ₁ − θ₂)
//!       | B c  D   |
//!   f = (−B s ω₂² − (m₁ + m₂) g l₁ sin θ₁,   B s ω₁² − m₂ g l₂ sin θ₂)
//!   Φ = (|tip − P|² − l₃²)/(2 l₃)
//! ```

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};
use nalgebra::Vector2;

use super::full;

/// The rod that closes the loop from the tip to the ground.
pub struct Loop {
    /// P (m)
    pub pivot: [f64; 2],
    /// l₃ (m)
    pub rod: f64,
}

/// A double pendulum, pivot at the origin, gravity along −y.
pub struct DoublePendulum {
    /// kg
    pub mass: [f64; 2],
    /// m
    pub length: [f64; 2],
    /// m/s²
    pub gravity: f64,
    /// None: an open chain.
    pub closed: Option<Loop>,
}

impl Default for DoublePendulum {
    fn default() -> Self {
        Self {
            mass: [1.0, 1.0],
            length: [1.0, 1.0],
            gravity: 9.81,
            closed: None,
        }
    }
}

impl DoublePendulum {
    /// A, B, D.
    fn inertia(&self) -> [f64; 3] {
        let ([m1, m2], [l1, l2]) = (self.mass, self.length);
        [(m1 + m2) * l1 * l1, m2 * l1 * l2, m2 * l2 * l2]
    }

    /// Weights times levers, (m₁ + m₂) g l₁ and m₂ g l₂.
    fn weight(&self) -> [f64; 2] {
        let ([m1, m2], [l1, l2]) = (self.mass, self.length);
        [(m1 + m2) * self.gravity * l1, m2 * self.gravity * l2]
    }

    /// The tip.
    pub fn tip(&self, q: &[f64]) -> Vector2<f64> {
        self.bars(q)[0] + self.bars(q)[1]
    }

    /// Each bar as a vector.
    fn bars(&self, q: &[f64]) -> [Vector2<f64>; 2] {
        [0, 1].map(|i| self.length[i] * Vector2::new(q[i].sin(), -q[i].cos()))
    }

    /// Its derivative by its angle.
    fn levers(&self, q: &[f64]) -> [Vector2<f64>; 2] {
        [0, 1].map(|i| self.length[i] * Vector2::new(q[i].cos(), q[i].sin()))
    }

    /// ∂²Φ/∂q².
    fn curvature(&self, q: &[f64], closed: &Loop) -> [[f64; 2]; 2] {
        let e = self.tip(q) - Vector2::from(closed.pivot);
        let (bars, levers) = (self.bars(q), self.levers(q));
        let mut h = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                h[i][j] = levers[i].dot(&levers[j]) / closed.rod;
            }
            h[i][i] -= e.dot(&bars[i]) / closed.rod;
        }
        h
    }
}

impl System for DoublePendulum {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 2,
            nv: 2,
            nc: self.closed.is_some().into(),
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            velocity_forces: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        Sparsity {
            tangent: full(2, 2),
            jacobian: full(self.dimensions().nc, 2),
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, q: &[f64], x: &[f64], out: &mut [f64]) {
        let [a, b, d] = self.inertia();
        let c = (q[0] - q[1]).cos();
        out[0] = a * x[0] + b * c * x[1];
        out[1] = b * c * x[0] + d * x[1];
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        let ([_, b, _], weight) = (self.inertia(), self.weight());
        let s = (q[0] - q[1]).sin();
        out[0] = -b * s * v[1] * v[1] - weight[0] * q[0].sin();
        out[1] = b * s * v[0] * v[0] - weight[1] * q[1].sin();
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint {
            q,
            v,
            a: acc,
            lambda,
        } = *at;
        let ([a, b, d], weight) = (self.inertia(), self.weight());
        let (s, c) = (q[0] - q[1]).sin_cos();
        let mass = [a, b * c, b * c, d];
        let damping = [0.0, 2.0 * b * s * v[1], -2.0 * b * s * v[0], 0.0];
        // By the difference θ₁ − θ₂ first, then the weights.
        let by_difference = [
            b * (c * v[1] * v[1] - s * acc[1]),
            b * (-c * v[0] * v[0] - s * acc[0]),
        ];
        let mut stiffness = [
            by_difference[0] + weight[0] * q[0].cos(),
            -by_difference[0],
            by_difference[1],
            -by_difference[1] + weight[1] * q[1].cos(),
        ];
        if let Some(closed) = &self.closed {
            let h = self.curvature(q, closed);
            for k in 0..4 {
                stiffness[k] += lambda[0] * h[k / 2][k % 2];
            }
        }
        for k in 0..4 {
            out[k] = weights.mass * mass[k]
                + weights.damping * damping[k]
                + weights.stiffness * stiffness[k];
        }
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        if let Some(closed) = &self.closed {
            let e = self.tip(q) - Vector2::from(closed.pivot);
            phi[0] = (e.norm_squared() - closed.rod * closed.rod) / (2.0 * closed.rod);
        }
    }

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        if let Some(closed) = &self.closed {
            let e = self.tip(q) - Vector2::from(closed.pivot);
            let levers = self.levers(q);
            out[0] = e.dot(&levers[0]) / closed.rod;
            out[1] = e.dot(&levers[1]) / closed.rod;
        }
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        if let Some(closed) = &self.closed {
            let h = self.curvature(q, closed);
            gamma[0] = h[0][0] * v[0] * v[0] + 2.0 * h[0][1] * v[0] * v[1] + h[1][1] * v[1] * v[1];
        }
    }

    fn constraint_scale(&self, _row: usize) -> f64 {
        self.length[0] + self.length[1]
    }

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let ([a, b, d], weight) = (self.inertia(), self.weight());
        let c = (q[0] - q[1]).cos();
        Energy {
            kinetic: 0.5 * (a * v[0] * v[0] + d * v[1] * v[1]) + b * c * v[0] * v[1],
            potential: -weight[0] * q[0].cos() - weight[1] * q[1].cos(),
        }
    }
}

impl ConfigurationSpace for DoublePendulum {}

impl HybridSystem for DoublePendulum {}
