//! Everything that is differenced against the same thing given.

use super::*;
use crate::formulation::derivative_check::{DerivativeCheck, check};
use crate::linalg::norm::weighted_rms;

/// Two coupled angles and a slide, made to have no zero derivative anywhere:
///
/// ```text
///   M = [2 + cos q₂, ¼ sin q₁, 0;  ¼ sin q₁, 1 + q₁², 0;  0, 0, 3]
///   f = (−sin q₁ − ½ v₁ v₂ + u,  p q₁ q₂ − v₂³,  −4 q₃ − 0.1 v₃ + q₁²)
///   Φ = (q₁² + sin q₂ − q₃ − cos(2 t) − u q₁,  q₂ q₃ − t²)
/// ```
struct Made {
    absent: Vec<Callback>,
}

impl UserEquations for Made {
    fn has(&self, part: Callback) -> bool {
        let known = matches!(
            part,
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
        known && !self.absent.contains(&part)
    }

    fn evaluate(&self, part: Callback, at: &CallbackArguments, out: &mut [f64]) -> CallbackResult {
        let [q1, q2, q3] = [at.q[0], at.q[1], at.q[2]];
        let (t, u, p) = (at.cx.t, at.cx.u[0], at.cx.p[0]);
        let (u1, u2) = (at.cx.u_dot[0], at.cx.u_ddot[0]);
        let off = 0.25 * q1.sin();
        let fill = |out: &mut [f64], rows: [[f64; 3]; 3]| out.copy_from_slice(rows.as_flattened());
        let at_v = || [at.v[0], at.v[1], at.v[2]];
        match part {
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
            _ => unreachable!("{part:?} is not given"),
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

fn made(absent: &[Callback]) -> UserSystem<Made> {
    let absent = absent.to_vec();
    UserSystem::new(Made { absent }, shape()).unwrap()
}

const CX: EvaluationContext = EvaluationContext {
    t: 0.8,
    u: &[0.5],
    u_dot: &[-0.7],
    u_ddot: &[1.1],
    p: &[1.5],
    modes: &[],
};
const Q: [f64; 3] = [0.3, -0.4, 0.7];
const V: [f64; 3] = [1.2, -0.8, 0.5];
const A: [f64; 3] = [-2.0, 3.0, 1.0];
const L: [f64; 2] = [4.0, -5.0];

fn tangent(system: &UserSystem<Made>, [mass, damping, stiffness]: [f64; 3]) -> Vec<f64> {
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
    .expect("the code never refuses");
    out
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |d, (a, b)| d.max((a - b).abs()))
}

#[test]
fn the_made_system_is_right_where_it_is_given() {
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
    check(&made(&[]), &CX, &at, &options).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn each_matrix_that_is_left_out_is_differenced_to_the_accuracy_newton_needs() {
    let given = made(&[]);
    let only = |k: usize| std::array::from_fn(|i| if i == k { 1.0 } else { 0.0 });
    // M from M a and back: no difference at all.
    for absent in [Callback::Mass, Callback::MassTimes] {
        let left = made(&[absent]);
        assert_eq!(tangent(&left, only(0)), tangent(&given, only(0)));
        let [mut a, mut b] = [[0.0; 3]; 2];
        left.mass_times(&CX, &Q, &A, &mut a);
        given.mass_times(&CX, &Q, &A, &mut b);
        assert!(far(&a, &b) < 1e-15, "{a:?} {b:?}");
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
        let error = far(&tangent(&made(absent), only(k)), &tangent(&given, only(k)));
        assert!(error < 1e-9, "{absent:?}: {error:.1e}");
    }
    // A difference of a difference: 1e-12 of G over the step 6e-6.
    let both = made(&[Callback::ReactionByQ, Callback::Jacobian]);
    let error = far(&tangent(&both, only(2)), &tangent(&given, only(2)));
    assert!(error < 1e-6, "{error:.1e}");
}

#[test]
fn what_enters_the_result_is_differenced_to_ten_digits() {
    let given = made(&[]);
    let left = made(&[Callback::Jacobian]);
    let [mut a, mut b] = [[0.0; 6]; 2];
    left.jacobian(&CX, &Q, &mut a);
    given.jacobian(&CX, &Q, &mut b);
    assert!(far(&a, &b) < 3e-12, "G: {:.1e}", far(&a, &b));

    let rate = |system: &UserSystem<Made>| {
        let mut out = [0.0; 2];
        system.constraint_rate(&CX, &Q, &mut out);
        out
    };
    let error = far(&rate(&made(&[Callback::ConstraintRate])), &rate(&given));
    // ε / 1e-4
    assert!(error < 1e-11, "rate: {error:.1e}");

    let convective = |system: &UserSystem<Made>| {
        let mut out = [0.0; 2];
        system.constraint_acceleration_bias(&CX, &Q, &V, &mut out);
        out
    };
    let exact = convective(&given);
    let by_jacobian = far(&convective(&made(&[Callback::Convective])), &exact);
    assert!(by_jacobian < 1e-10, "{by_jacobian:.1e}");
    // ε / (1e-3)²
    let absent = [
        Callback::Convective,
        Callback::Jacobian,
        Callback::ConstraintRate,
    ];
    let by_position = far(&convective(&made(&absent)), &exact);
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
fn what_is_not_enough_is_refused_by_name() {
    let refusal = |absent: &[Callback], change: fn(&mut UserSystemShape)| {
        let mut shape = shape();
        change(&mut shape);
        let absent = absent.to_vec();
        match UserSystem::new(Made { absent }, shape) {
            Ok(_) => panic!("accepted"),
            Err(error) => error.to_string(),
        }
    };
    let nothing = |_: &mut UserSystemShape| {};
    assert!(refusal(&[Callback::Force], nothing).starts_with("force = NULL"));
    assert!(refusal(&[Callback::Constraint], nothing).starts_with("constraint = NULL"));
    assert!(
        refusal(&[Callback::Mass, Callback::MassTimes], nothing).starts_with("mass, mass_times")
    );
    assert!(refusal(&[], |s| s.size.ne = 1).starts_with("events = NULL"));
    assert!(refusal(&[], |s| s.size.nq = 4).starts_with("nq = 4"));
    assert!(refusal(&[], |s| s.size.nv = 0).starts_with("nv = 0"));
    let outside = refusal(&[], |s| s.pattern.jacobian[0] = (2, 0));
    assert!(outside.contains("row 2, column 0"), "{outside}");
    let twice = refusal(&[], |s| s.pattern.tangent[1] = (0, 0));
    assert!(twice.contains("row 0, column 0 twice"), "{twice}");
}

#[test]
fn the_closure_of_a_row_is_judged_against_what_its_terms_are() {
    let system = made(&[]);
    // |2 q₁ − u| + |cos q₂| + 1 and |q₃| + |q₂| at the start, all weights 1, t = 0.
    assert!((system.constraint_scale(0) - (0.1 + 0.4f64.cos() + 1.0)).abs() < 1e-15);
    assert!((system.constraint_scale(1) - 1.1).abs() < 1e-15);
    assert_eq!(
        system.norm(&CX, &Q, &[1.0; 3], &V),
        weighted_rms(&V, &[1.0; 3])
    );
}
