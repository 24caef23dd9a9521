//! Andrews' squeezing mechanism: seven bodies in seven angles q = (β, Θ, γ, Φ, δ, Ω, ε), six loop rows. Data and equations of the
//! "Test Set for IVP Solvers", problem Andrews.
//!
//! Its equations have three repeated shapes, each written once here:
//!
//! ```text
//!   pair (o, i):  M_oo ∋ 2P(q_i),  M_oi ∋ P(q_i);   f_o ∋ −P' v_i (2 v_o + v_i),   f_i ∋ P' v_o²
//!   spring:       V = ½ c₀ (L(γ) − l₀)²
//!   loop rows:    sums of A cos(angle) and A sin(angle), angle = the sum of one or two coordinates
//! ```

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};
use nalgebra::Vector2;

use super::full;

/// Masses (kg) and moments of inertia (kg m²) of the seven bodies.
const M: [f64; 7] = [
    0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498,
];
const I: [f64; 7] = [
    2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5,
];
/// Fixed points (m): loops are closed at B and A, the spring is tied to C.
const A: [f64; 2] = [-0.06934, -0.00227];
const B: [f64; 2] = [-0.03635, 0.03273];
const C: [f64; 2] = [0.014, 0.072];
/// Lengths (m).
const D: f64 = 0.028;
const DA: f64 = 0.0115;
const E: f64 = 0.02;
const EA: f64 = 0.01421;
const RR: f64 = 0.007;
const RA: f64 = 0.00092;
const SS: f64 = 0.035;
const SA: f64 = 0.01874;
const SB: f64 = 0.01043;
const SC: f64 = 0.018;
const SD: f64 = 0.02;
const TA: f64 = 0.02308;
const TB: f64 = 0.00916;
const U: f64 = 0.04;
const UA: f64 = 0.01228;
const UB: f64 = 0.00449;
const ZF: f64 = 0.02;
const ZT: f64 = 0.04;
const FA: f64 = 0.01421;
/// Drive (N m), stiffness (N/m), unloaded length (m).
pub const DRIVE: f64 = 0.033;
const STIFFNESS: f64 = 4530.0;
const UNLOADED: f64 = 0.07785;

/// Consistent start.
pub const START: [f64; 7] = [
    -0.06171389001427645,
    0.0,
    0.45527981916307037,
    0.22266839016588588,
    0.48736497954384256,
    -0.22266839016588588,
    1.2305474445498212,
];

const GAMMA: usize = 2;

/// The mechanism.
#[derive(Default)]
pub struct Andrews;

/// Two angles in a row: the inner one turns on the outer body.
struct Coupled {
    outer: usize,
    inner: usize,
    /// P, P', P'' at the inner angle.
    p: [f64; 3],
}

fn coupled(q: &[f64]) -> [Coupled; 3] {
    let cosine = |a: f64, x: f64| [a * x.cos(), -a * x.sin(), -a * x.cos()];
    let sine = |a: f64, x: f64| [a * x.sin(), a * x.cos(), -a * x.sin()];
    let pair = |outer, inner, p| Coupled { outer, inner, p };
    [
        pair(0, 1, cosine(-M[1] * DA * RR, q[1])),
        pair(4, 3, sine(M[3] * ZT * (E - EA), q[3])),
        pair(6, 5, sine(-M[5] * U * (ZF - FA), q[5])),
    ]
}

/// The part of M that does not change.
fn constant_mass() -> [[f64; 7]; 7] {
    let mut m = [[0.0; 7]; 7];
    let inner = [
        M[1] * DA * DA + I[1],
        M[3] * (E - EA) * (E - EA) + I[3],
        M[5] * (ZF - FA) * (ZF - FA) + I[5],
    ];
    let outer = [
        M[0] * RA * RA + M[1] * RR * RR + I[0],
        M[3] * ZT * ZT + M[4] * (TA * TA + TB * TB) + I[4],
        M[5] * U * U + M[6] * (UA * UA + UB * UB) + I[6],
    ];
    for (k, (o, i)) in [(0, 1), (4, 3), (6, 5)].into_iter().enumerate() {
        m[o][o] = outer[k] + inner[k];
        m[o][i] = inner[k];
        m[i][o] = inner[k];
        m[i][i] = inner[k];
    }
    m[GAMMA][GAMMA] = M[2] * (SA * SA + SB * SB) + I[2];
    m
}

fn mass(q: &[f64]) -> [[f64; 7]; 7] {
    let mut m = constant_mass();
    for Coupled { outer, inner, p } in coupled(q) {
        m[outer][outer] += 2.0 * p[0];
        m[outer][inner] += p[0];
        m[inner][outer] += p[0];
    }
    m
}

/// Length of the spring and its first two derivatives by γ.
fn spring(q: &[f64]) -> [f64; 3] {
    let (s, c) = q[GAMMA].sin_cos();
    let arm = Vector2::new(SD * c + SC * s, SD * s - SC * c);
    let span = arm + Vector2::from(B) - Vector2::from(C);
    let turned = Vector2::new(-arm.y, arm.x);
    let length = span.norm();
    let first = span.dot(&turned) / length;
    let second = (turned.norm_squared() - span.dot(&arm)) / length - first * first / length;
    [length, first, second]
}

/// A term of a loop row: amplitude x sine or cosine of a sum of coordinates.
struct Term {
    amplitude: f64,
    cosine: bool,
    angles: &'static [usize],
}

impl Term {
    /// Value, first and second derivative by the angle.
    fn at(&self, q: &[f64]) -> [f64; 3] {
        let (s, c) = self.sum(q).sin_cos();
        let a = self.amplitude;
        if self.cosine {
            [a * c, -a * s, -a * c]
        } else {
            [a * s, a * c, -a * s]
        }
    }

    fn sum(&self, x: &[f64]) -> f64 {
        self.angles.iter().map(|&k| x[k]).sum()
    }
}

/// The rows in pairs (x, y): where each ends, and its terms (those of amplitude zero fill up).
fn rows() -> [(f64, [Term; 4]); 6] {
    let cos = |amplitude, angles| Term {
        amplitude,
        cosine: true,
        angles,
    };
    let sin = |amplitude, angles| Term {
        amplitude,
        cosine: false,
        angles,
    };
    let none = || sin(0.0, &[]);
    let x = |third, fourth| [cos(RR, &[0]), cos(-D, &[0, 1]), third, fourth];
    let y = |third, fourth| [sin(RR, &[0]), sin(-D, &[0, 1]), third, fourth];
    [
        (B[0], x(sin(-SS, &[2]), none())),
        (B[1], y(cos(SS, &[2]), none())),
        (A[0], x(sin(-E, &[3, 4]), cos(-ZT, &[4]))),
        (A[1], y(cos(E, &[3, 4]), sin(-ZT, &[4]))),
        (A[0], x(cos(-ZF, &[5, 6]), sin(-U, &[6]))),
        (A[1], y(sin(-ZF, &[5, 6]), cos(U, &[6]))),
    ]
}

impl System for Andrews {
    fn dimensions(&self) -> Dimensions {
        Dimensions {
            nq: 7,
            nv: 7,
            nc: 6,
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
            tangent: full(7, 7),
            jacobian: full(6, 7),
        }
    }

    fn mass_times(&self, _cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        for (out, row) in out.iter_mut().zip(mass(q)) {
            *out = row.iter().zip(a).map(|(m, a)| m * a).sum();
        }
    }

    fn force(&self, _cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        out.fill(0.0);
        out[0] = DRIVE;
        let [length, first, _] = spring(q);
        out[GAMMA] = -STIFFNESS * (length - UNLOADED) * first;
        for Coupled { outer, inner, p } in coupled(q) {
            out[outer] -= p[1] * v[inner] * (2.0 * v[outer] + v[inner]);
            out[inner] += p[1] * v[outer] * v[outer];
        }
        Ok(())
    }

    fn tangent(
        &self,
        _cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, a, lambda } = *at;
        let (c, k) = (weights.damping, weights.stiffness);
        for (i, row) in mass(q).iter().enumerate() {
            for j in 0..7 {
                out[7 * i + j] = weights.mass * row[j];
            }
        }
        let mut add = |i: usize, j: usize, x: f64| out[7 * i + j] += x;
        for Coupled {
            outer: o,
            inner: i,
            p,
        } in coupled(q)
        {
            add(o, o, c * 2.0 * p[1] * v[i]);
            add(o, i, c * 2.0 * p[1] * (v[o] + v[i]));
            add(i, o, -c * 2.0 * p[1] * v[o]);
            add(o, i, k * p[1] * (2.0 * a[o] + a[i]));
            add(i, i, k * p[1] * a[o]);
            add(o, i, k * p[2] * v[i] * (2.0 * v[o] + v[i]));
            add(i, i, -k * p[2] * v[o] * v[o]);
        }
        let [length, first, second] = spring(q);
        let slope = first * first + (length - UNLOADED) * second;
        add(GAMMA, GAMMA, k * STIFFNESS * slope);
        for ((_, terms), lambda) in rows().iter().zip(lambda) {
            for term in terms {
                let second = term.at(q)[2];
                for &i in term.angles {
                    for &j in term.angles {
                        add(i, j, k * lambda * second);
                    }
                }
            }
        }
        Ok(())
    }

    fn constraint(&self, _cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        for (phi, (end, terms)) in phi.iter_mut().zip(rows()) {
            *phi = terms.iter().map(|t| t.at(q)[0]).sum::<f64>() - end;
        }
    }

    fn jacobian(&self, _cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (out, (_, terms)) in out.chunks_mut(7).zip(rows()) {
            for term in &terms {
                for &i in term.angles {
                    out[i] += term.at(q)[1];
                }
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
        for (gamma, (_, terms)) in gamma.iter_mut().zip(rows()) {
            *gamma = terms.iter().map(|t| t.at(q)[2] * t.sum(v).powi(2)).sum();
        }
    }

    fn constraint_scale(&self, _row: usize) -> f64 {
        ZT
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let mut momentum = [0.0; 7];
        self.mass_times(cx, q, v, &mut momentum);
        let stretch = spring(q)[0] - UNLOADED;
        Energy {
            kinetic: 0.5 * momentum.iter().zip(v).map(|(p, v)| p * v).sum::<f64>(),
            potential: 0.5 * STIFFNESS * stretch * stretch,
        }
    }

    fn power(&self, _cx: &EvaluationContext, _q: &[f64], v: &[f64]) -> Power {
        Power {
            dissipated: 0.0,
            supplied: DRIVE * v[0],
        }
    }
}

impl ConfigurationSpace for Andrews {}

impl HybridSystem for Andrews {}
