//! Difference approximations against callbacks that give the same derivatives.

use super::*;
use crate::formulation::derivative_check::{DerivativeCheck, check};
use crate::formulation::{Dimensions, MotionPoint, Sparsity, TangentWeights};
use crate::linalg::norm::weighted_rms;

/// Two coupled angles and a displacement, without zero derivatives:
///
/// ```text
///   M = [2 + cos q₂, ¼ sin q₁, 0;  ¼ sin q₁, 1 + q₁², 0;  0, 0, 3]
///   f = (−sin q₁ − ½ v₁ v₂ + u,  p q₁ q₂ − v₂³,  −4 q₃ − 0.1 v₃ + q₁²)
///   Φ = (q₁² + sin q₂ − q₃ − cos(2 t) − u q₁,  q₂ q₃ − t²)
/// ```
struct TestEquations {
    absent: Vec<Callback>,
}

impl UserEquations for TestEquations {
    fn has(&self, callback: Callback) -> bool {
        let given = matches!(
            callback,
            Callback::Mass
                | Callback::MassTimes
                | Callback::Force
                | Callback::ForceByQ
                | Callback::ForceByV
                | Callback::InertiaByQ
                | Callback::ReactionByQ
                | Callback::Constraint
                | Callback::Jacobian
                | Callback::ConstraintRate
                | Callback::Convective
        );
        given && !self.absent.contains(&callback)
    }

    fn evaluate(
        &self,
        callback: Callback,
        at: &CallbackArguments,
        out: &mut [f64],
    ) -> CallbackResult {
        let [q1, q2, q3] = [at.q[0], at.q[1], at.q[2]];
        let (t, u, p) = (at.cx.t, at.cx.u[0], at.cx.p[0]);
        let (u1, u2) = (at.cx.u_dot[0], at.cx.u_ddot[0]);
        let off = 0.25 * q1.sin();
        let fill = |out: &mut [f64], rows: [[f64; 3]; 3]| out.copy_from_slice(rows.as_flattened());
        let at_v = || [at.v[0], at.v[1], at.v[2]];
        match callback {
            Callback::Mass => fill(
                out,
                [
                    [2.0 + q2.cos(), off, 0.0],
                    [off, 1.0 + q1 * q1, 0.0],
                    [0.0, 0.0, 3.0],
                ],
            ),
            Callback::MassTimes => {
                let a = at.a;
                out[0] = (2.0 + q2.cos()) * a[0] + off * a[1];
                out[1] = off * a[0] + (1.0 + q1 * q1) * a[1];
                out[2] = 3.0 * a[2];
            }
            Callback::InertiaByQ => {
                let (a, c) = (at.a, 0.25 * q1.cos());
                fill(
                    out,
                    [
                        [c * a[1], -q2.sin() * a[0], 0.0],
                        [c * a[0] + 2.0 * q1 * a[1], 0.0, 0.0],
                        [0.0; 3],
                    ],
                );
            }
            Callback::Force => {
                let [v1, v2, v3] = at_v();
                out[0] = -q1.sin() - 0.5 * v1 * v2 + u;
                out[1] = p * q1 * q2 - v2.powi(3);
                out[2] = -4.0 * q3 - 0.1 * v3 + q1 * q1;
            }
            Callback::ForceByQ => fill(
                out,
                [
                    [-q1.cos(), 0.0, 0.0],
                    [p * q2, p * q1, 0.0],
                    [2.0 * q1, 0.0, -4.0],
                ],
            ),
            Callback::ForceByV => {
                let [v1, v2, _] = at_v();
                fill(
                    out,
                    [
                        [-0.5 * v2, -0.5 * v1, 0.0],
                        [0.0, -3.0 * v2 * v2, 0.0],
                        [0.0, 0.0, -0.1],
                    ],
                );
            }
            Callback::Constraint => {
                out[0] = q1 * q1 + q2.sin() - q3 - (2.0 * t).cos() - u * q1;
                out[1] = q2 * q3 - t * t;
            }
            Callback::Jacobian => {
                out.copy_from_slice(&[2.0 * q1 - u, q2.cos(), -1.0, 0.0, q3, q2]);
            }
            Callback::ReactionByQ => {
                let l = at.lambda;
                fill(
                    out,
                    [
                        [2.0 * l[0], 0.0, 0.0],
                        [0.0, -q2.sin() * l[0], l[1]],
                        [0.0, l[1], 0.0],
                    ],
                );
            }
            Callback::ConstraintRate => {
                out[0] = 2.0 * (2.0 * t).sin() - u1 * q1;
                out[1] = -2.0 * t;
            }
            Callback::Convective => {
                let [v1, v2, v3] = at_v();
                out[0] = 2.0 * v1 * v1 - q2.sin() * v2 * v2 - 2.0 * u1 * v1 + 4.0 * (2.0 * t).cos()
                    - u2 * q1;
                out[1] = 2.0 * v2 * v3 - 2.0;
            }
            _ => unreachable!("{callback:?} is not given"),
        }
        0
    }
}

fn dense(n: u32, m: u32) -> Vec<(u32, u32)> {
    (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).collect()
}

fn shape() -> UserSystemShape {
    UserSystemShape {
        size: Dimensions {
            nq: 3,
            nv: 3,
            nc: 2,
            inputs: 1,
            parameters: 1,
            ..Dimensions::default()
        },
        pattern: Sparsity {
            tangent: dense(3, 3),
            jacobian: dense(2, 3),
        },
        weights: vec![1.0; 3],
        q: vec![0.3, -0.4, 0.7],
        inputs: vec![0.5],
        parameters: vec![1.5],
        ..UserSystemShape::default()
    }
}

fn system_without(absent: &[Callback]) -> UserSystem<TestEquations> {
    let absent = absent.to_vec();
    UserSystem::new(TestEquations { absent }, shape()).unwrap()
}

const CX: EvaluationContext = EvaluationContext {
    t: 0.8,
    u: &[0.5],
    u_dot: &[-0.7],
    u_ddot: &[1.1],
    p: &[1.5],
    modes: &[],
    integrals: &[],
};
const Q: [f64; 3] = [0.3, -0.4, 0.7];
const V: [f64; 3] = [1.2, -0.8, 0.5];
const A: [f64; 3] = [-2.0, 3.0, 1.0];
const L: [f64; 2] = [4.0, -5.0];

fn tangent(system: &UserSystem<TestEquations>, [mass, damping, stiffness]: [f64; 3]) -> Vec<f64> {
    let weights = TangentWeights {
        mass,
        damping,
        stiffness,
        theta: &[],
    };
    let mut out = vec![0.0; 9];
    (system.tangent(
        &CX,
        &MotionPoint {
            q: &Q,
            v: &V,
            a: &A,
            lambda: &L,
        },
        &weights,
        &mut out,
    ))
    .expect("the callbacks never fail");
    out
}

fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |d, (a, b)| d.max((a - b).abs()))
}

#[test]
fn the_callbacks_agree_with_differences() {
    let at = MotionPoint {
        q: &Q,
        v: &V,
        a: &A,
        lambda: &L,
    };
    let options = DerivativeCheck {
        energy: false,
        ..DerivativeCheck::default()
    };
    check(&system_without(&[]), &CX, &at, &options).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn matrices_without_callback_are_as_accurate_as_newton_needs() {
    let given = system_without(&[]);
    let only = |k: usize| std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
    // M from M a and back: no difference at all.
    for absent in [Callback::Mass, Callback::MassTimes] {
        let differenced = system_without(&[absent]);
        assert_eq!(tangent(&differenced, only(0)), tangent(&given, only(0)));
        let [mut a, mut b] = [[0.0; 3]; 2];
        differenced.mass_times(&CX, &Q, &A, &mut a);
        given.mass_times(&CX, &Q, &A, &mut b);
        assert!(max_difference(&a, &b) < 1e-15, "{a:?} {b:?}");
    }
    // ε^(2/3) = 4e-11 times derivatives of order ten.
    let cases: [(usize, &[Callback]); 6] = [
        (1, &[Callback::ForceByV]),
        (2, &[Callback::ForceByQ]),
        (2, &[Callback::InertiaByQ]),
        (2, &[Callback::InertiaByQ, Callback::MassTimes]),
        (2, &[Callback::ReactionByQ]),
        (
            2,
            &[
                Callback::ForceByQ,
                Callback::InertiaByQ,
                Callback::ReactionByQ,
            ],
        ),
    ];
    for (k, absent) in cases {
        let error = max_difference(
            &tangent(&system_without(absent), only(k)),
            &tangent(&given, only(k)),
        );
        assert!(error < 1e-9, "{absent:?}: {error:.1e}");
    }
    // A difference of a difference: 1e-12 of G over the step 6e-6.
    let both = system_without(&[Callback::ReactionByQ, Callback::Jacobian]);
    let error = max_difference(&tangent(&both, only(2)), &tangent(&given, only(2)));
    assert!(error < 1e-6, "{error:.1e}");
}

#[test]
fn derivatives_that_affect_the_result_have_ten_digits() {
    let given = system_without(&[]);
    let differenced = system_without(&[Callback::Jacobian]);
    let [mut a, mut b] = [[0.0; 6]; 2];
    differenced.jacobian(&CX, &Q, &mut a);
    given.jacobian(&CX, &Q, &mut b);
    assert!(
        max_difference(&a, &b) < 3e-12,
        "G: {:.1e}",
        max_difference(&a, &b)
    );

    let rate = |system: &UserSystem<TestEquations>| {
        let mut out = [0.0; 2];
        system.constraint_rate(&CX, &Q, &mut out);
        out
    };
    let error = max_difference(
        &rate(&system_without(&[Callback::ConstraintRate])),
        &rate(&given),
    );
    // ε / 1e-4
    assert!(error < 1e-11, "rate: {error:.1e}");

    let bias = |system: &UserSystem<TestEquations>| {
        let mut out = [0.0; 2];
        system.constraint_acceleration_bias(&CX, &Q, &V, &mut out);
        out
    };
    let exact = bias(&given);
    let by_jacobian = max_difference(&bias(&system_without(&[Callback::Convective])), &exact);
    assert!(by_jacobian < 1e-10, "{by_jacobian:.1e}");
    // ε / (1e-3)²
    let absent = [
        Callback::Convective,
        Callback::Jacobian,
        Callback::ConstraintRate,
    ];
    let by_position = max_difference(&bias(&system_without(&absent)), &exact);
    assert!(by_position < 1e-8, "{by_position:.1e}");
}

#[test]
fn columns_that_share_no_row_are_displaced_together() {
    let n = 50;
    let chain: Vec<(u32, u32)> = (0..n as u32)
        .flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n as u32)).map(move |j| (i, j)))
        .collect();
    let columns = ColumnGroups::new(n, n, &chain);
    assert_eq!(columns.groups(), 3);
    let mut seen = vec![0; chain.len()];
    for g in 0..columns.groups() {
        let mut rows = vec![false; n];
        for &j in columns.group(g) {
            for &(k, i) in columns.column(j) {
                assert_eq!(chain[k as usize], (i, j));
                assert!(!std::mem::replace(&mut rows[i as usize], true));
                seen[k as usize] += 1;
            }
        }
    }
    assert!(seen.iter().all(|&times| times == 1));
    assert_eq!(ColumnGroups::new(4, 4, &dense(4, 4)).groups(), 4);
    assert_eq!(ColumnGroups::new(0, 3, &[]).groups(), 0);
}

#[test]
fn missing_callbacks_and_wrong_dimensions_are_named() {
    let message = |absent: &[Callback], change: fn(&mut UserSystemShape)| {
        let mut shape = shape();
        change(&mut shape);
        let absent = absent.to_vec();
        match UserSystem::new(TestEquations { absent }, shape) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.to_string(),
        }
    };
    let nothing = |_: &mut UserSystemShape| {};
    assert!(message(&[Callback::Force], nothing).starts_with("force = NULL"));
    assert!(message(&[Callback::Constraint], nothing).starts_with("constraint = NULL"));
    assert!(
        message(&[Callback::Mass, Callback::MassTimes], nothing).starts_with("mass, mass_times")
    );
    assert!(message(&[], |s| s.size.ne = 1).starts_with("events = NULL"));
    assert!(message(&[], |s| s.size.nq = 4).starts_with("nq = 4"));
    assert!(message(&[], |s| s.size.nv = 0).starts_with("nv = 0"));
    let outside = message(&[], |s| s.pattern.jacobian[0] = (2, 0));
    assert!(outside.contains("row 2, column 0"), "{outside}");
    let twice = message(&[], |s| s.pattern.tangent[1] = (0, 0));
    assert!(twice.contains("row 0, column 0 twice"), "{twice}");
}

#[test]
fn constraints_are_scaled_by_the_magnitude_of_their_terms() {
    let system = system_without(&[]);
    // |2 q₁ − u| + |cos q₂| + 1 and |q₃| + |q₂| at the start, all weights 1, t = 0.
    assert!((system.constraint_scale(0) - (0.1 + 0.4f64.cos() + 1.0)).abs() < 1e-15);
    assert!((system.constraint_scale(1) - 1.1).abs() < 1e-15);
    assert_eq!(
        system.norm(&CX, &Q, &[1.0; 3], &V),
        weighted_rms(&V, &[1.0; 3])
    );
}
