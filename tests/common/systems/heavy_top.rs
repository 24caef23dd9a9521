//! The heavy top: one body in space held by a ball joint at the origin. Coordinates (r, unit quaternion w x y z), rates
//! (ṙ in ground axes, ω in body axes), q ∘ w = (r + w_r, R exp(w_φ)).
//!
//! ```text
//!   M = diag(m I, J),   f = (m g, −ω × J ω),   Φ = r + R s,    G = (I, −R s~),    γ = R (ω × (ω × s))
//!   C_ωω = ω~ J − (J ω)~,      K_φφ = s~ (Rᵀλ)~
//!   T⁻¹ = I + ½ θ~ + (1 − (a/2) cot(a/2))/a² θ~²,      a = |θ|
//! ```

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Properties, Sparsity, System, TangentWeights,
};
use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

/// A top.
pub struct HeavyTop {
    /// kg
    pub mass: f64,
    /// Principal moments about the centre of mass (kg m²).
    pub inertia: Vector3<f64>,
    /// The centre of mass seen from the fixed point, body axes (m).
    pub center: Vector3<f64>,
    /// m/s², ground axes.
    pub gravity: Vector3<f64>,
}

impl Default for HeavyTop {
    /// The common benchmark data.
    fn default() -> Self {
        Self {
            mass: 15.0,
            inertia: Vector3::new(0.234375, 0.46875, 0.234375),
            center: Vector3::new(0.0, 1.0, 0.0),
            gravity: Vector3::new(0.0, 0.0, -9.81),
        }
    }
}

/// ω at the start of the benchmark (rad/s).
pub const OMEGA: [f64; 3] = [0.0, 150.0, -4.61538];

/// A 3-vector of a slice.
pub fn vector(x: &[f64]) -> Vector3<f64> {
    Vector3::new(x[0], x[1], x[2])
}

/// The rotation in stored coordinates.
pub fn rotation(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6]))
}

fn hat(x: Vector3<f64>) -> Matrix3<f64> {
    x.cross_matrix()
}

/// T(θ)⁻¹
fn inverse(theta: Vector3<f64>) -> Matrix3<f64> {
    let a = theta.norm();
    // (1 − (a/2) cot(a/2))/a² = 1/12 + a²/720 + a⁴/30240 + ...
    let factor = if a < 1e-2 {
        1.0 / 12.0 + a * a / 720.0
    } else {
        (1.0 - 0.5 * a / (0.5 * a).tan()) / (a * a)
    };
    Matrix3::identity() + 0.5 * hat(theta) + factor * hat(theta) * hat(theta)
}

impl HeavyTop {
    /// The benchmark's start: upright frame, spinning.
    pub fn start(&self) -> (Vec<f64>, Vec<f64>) {
        let omega = vector(&OMEGA);
        let v = omega.cross(&self.center);
        let r = self.center;
        (
            vec![r.x, r.y, r.z, 1.0, 0.0, 0.0, 0.0],
            vec![v.x, v.y, v.z, omega.x, omega.y, omega.z],
        )
    }

    fn tensor(&self) -> Matrix3<f64> {
        Matrix3::from_diagonal(&self.inertia)
    }

    /// The joint point seen from the centre of mass, body axes.
    fn joint(&self) -> Vector3<f64> {
        -self.center
    }
}

impl System for HeavyTop {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 7,
            nv: 6,
            nc: 3,
            ..Dimensions::default()
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            rotations: true,
            velocity_forces: true,
            ..Properties::default()
        }
    }

    fn sparsity(&self) -> Sparsity {
        let mut tangent = vec![(0, 0), (1, 1), (2, 2)];
        let mut jacobian = vec![(0, 0), (1, 1), (2, 2)];
        for i in 0..3 {
            for j in 3..6 {
                tangent.push((i + 3, j));
                jacobian.push((i, j));
            }
        }
        Sparsity { tangent, jacobian }
    }

    fn mass_times(&self, _cx: &EvaluationContext, _q: &[f64], a: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = self.mass * a[i];
            out[3 + i] = self.inertia[i] * a[3 + i];
        }
    }

    fn force(&self, _cx: &EvaluationContext, _q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        let omega = vector(&v[3..]);
        out[..3].copy_from_slice((self.mass * self.gravity).as_slice());
        let torque = -omega.cross(&self.inertia.component_mul(&omega));
        out[3..].copy_from_slice(torque.as_slice());
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, lambda, .. } = *at;
        let omega = vector(&v[3..]);
        out[..3].fill(weights.mass * self.mass);
        let gyroscopic = hat(omega) * self.tensor() - hat(self.inertia.component_mul(&omega));
        let mut block = weights.mass * self.tensor() + weights.damping * gyroscopic;
        if !weights.theta.is_empty() {
            block *= inverse(vector(&weights.theta[3..]));
        }
        let pull = rotation(q).inverse() * vector(lambda);
        block += weights.stiffness * hat(self.joint()) * hat(pull);
        for i in 0..3 {
            for j in 0..3 {
                out[3 + 3 * i + j] = block[(i, j)];
            }
        }
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        phi.copy_from_slice((vector(q) + rotation(q) * self.joint()).as_slice());
    }

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let lever = -(rotation(q).to_rotation_matrix().matrix() * hat(self.joint()));
        out[..3].fill(1.0);
        for i in 0..3 {
            for j in 0..3 {
                out[3 + 3 * i + j] = lever[(i, j)];
            }
        }
    }

    fn constraint_acceleration_bias(
        &self,
        _cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let omega = vector(&v[3..]);
        let inward = rotation(q) * omega.cross(&omega.cross(&self.joint()));
        gamma.copy_from_slice(inward.as_slice());
    }

    fn energy(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let omega = vector(&v[3..]);
        let spin = omega.dot(&self.inertia.component_mul(&omega));
        Energy {
            kinetic: 0.5 * (self.mass * vector(v).norm_squared() + spin),
            potential: -self.mass * self.gravity.dot(&vector(q)),
        }
    }
}

impl ConfigurationSpace for HeavyTop {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        for i in 0..3 {
            out[i] = q[i] + w[i];
        }
        let turned = rotation(q) * UnitQuaternion::from_scaled_axis(vector(&w[3..]));
        let turned = turned.into_inner().normalize();
        out[3..].copy_from_slice(&[turned.w, turned.i, turned.j, turned.k]);
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        for i in 0..3 {
            w[i] = q1[i] - q0[i];
        }
        let turn = (rotation(q0).inverse() * rotation(q1)).scaled_axis();
        w[3..].copy_from_slice(turn.as_slice());
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        out[..3].fill(0.0);
        out[3..].copy_from_slice(vector(&x[3..]).cross(&vector(&y[3..])).as_slice());
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        let turned = inverse(vector(&theta[3..])) * vector(&y[3..]);
        y[3..].copy_from_slice(turned.as_slice());
    }
}

impl HybridSystem for HeavyTop {}
