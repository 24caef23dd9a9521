//! Derivatives of outputs.

use super::*;
use crate::component::Instance;
use crate::error::Error;

fn derivative(instance: &mut Instance, reference: u32, order: u32) -> f64 {
    let mut value = [f64::NAN];
    let done = instance.output_derivatives(&[reference], &[order], &mut value);
    done.unwrap();
    value[0]
}

/// m x'' + c x' + k x = u with m = 1, k = 4 and u = u₀ + u₁ s + u₂ s²/2: everything follows from x and x'.
#[test]
fn derivatives_of_the_oscillator_are_those_of_its_equation() {
    let mut instance = running();
    instance
        .set_input_derivatives(&[PUSH, PUSH], &[1, 2], &[3.0, -2.0])
        .unwrap();
    instance.step(0.0, 0.7).unwrap();
    let (c, k) = (DAMPING, 4.0);
    let (x, v) = (get(&mut instance, X), get(&mut instance, V));
    let u = get(&mut instance, PUSH);
    let (u_dot, u_ddot) = (3.0 - 2.0 * 0.7, -2.0);
    let a = u - c * v - k * x;
    let jerk = u_dot - c * a - k * v;
    let snap = u_ddot - c * jerk - k * a;
    let before = format!("{:?}", instance.save().unwrap());
    for (reference, order, exact, bound) in [
        (X, 1, v, 0.0),
        (X, 2, a, 1e-15),
        (V, 1, a, 1e-15),
        (V, 2, jerk, 1e-8),
        (A, 1, jerk, 1e-8),
        (A, 2, snap, 1e-6),
        (TIME, 1, 1.0, 0.0),
        (TIME, 2, 0.0, 0.0),
        (BALANCE, 1, 0.0, 0.0),
        (SUPPLIED, 1, u * v, 1e-15),
        (SUPPLIED, 2, u_dot * v + u * a, 1e-8),
    ] {
        let found = derivative(&mut instance, reference, order);
        // Rounding of a sum of terms of the size of k x.
        let bound = bound * (exact.abs() + k * x.abs());
        assert!(
            (found - exact).abs() <= bound,
            "{reference} order {order}: {found} {exact}"
        );
    }
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
}

#[test]
fn what_has_no_derivative_is_refused_by_name_and_nothing_is_written() {
    let mut instance = running();
    for (reference, order) in [(X, 0), (X, 3), (STEPS, 1), (PUSH, 1), (MASS, 1)] {
        let mut values = [7.0, 7.0];
        let error = instance
            .output_derivatives(&[X, reference], &[1, order], &mut values)
            .unwrap_err();
        assert!(matches!(error, Error::Argument { .. }), "{error}");
        assert_eq!(values, [7.0, 7.0]);
    }
    let error = oscillator().output_derivatives(&[X], &[1], &mut [0.0]);
    assert!(matches!(error, Err(Error::CallOrder { .. })));
    instance.output_derivatives(&[], &[], &mut []).unwrap();
}

#[test]
fn a_derivative_that_is_no_number_is_an_error_by_its_name() {
    let mut instance = running();
    let error = instance.output_derivatives(&[NAN], &[1], &mut [0.0]);
    let culprit = "nan".to_string();
    assert_eq!(error, Err(Error::Evaluation { time: 0.0, culprit }));
}

#[test]
fn directional_derivatives_are_those_of_the_equation() {
    let mut instance = running();
    instance.step(0.0, 0.7).unwrap();
    instance.set_real(&[MASS], &[2.0]).unwrap();
    let (x, a) = (get(&mut instance, X), get(&mut instance, A));
    let before = format!("{:?}", instance.save().unwrap());
    // a = (u − c v − k x)/m
    let unknowns = [X, V, A, SUPPLIED, BALANCE, TIME, STEPS];
    let knowns = [PUSH, STIFFNESS, MASS];
    let potential = 0.5 * x * x;
    let v = get(&mut instance, V);
    let kinetic = 0.5 * v * v;
    for (j, (by, energy)) in [(0.5, 0.0), (-x / 2.0, potential), (-a / 2.0, kinetic)]
        .into_iter()
        .enumerate()
    {
        let mut seed = [0.0; 3];
        seed[j] = 3.0;
        let mut found = [f64::NAN; 7];
        instance
            .directional_derivative(&unknowns, &knowns, &seed, &mut found)
            .unwrap();
        let exact = [0.0, 0.0, 3.0 * by, 3.0 * energy, 0.0, 0.0, 0.0];
        for i in 0..7 {
            // Rounding over ε = 1e-3, with numbers of size one.
            assert!(
                (found[i] - exact[i]).abs() < 1e-11,
                "unknown {i} by known {j}: {} {}",
                found[i],
                exact[i]
            );
        }
    }
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
}

#[test]
fn wrong_kinds_and_lengths_are_refused_and_nothing_is_written() {
    let mut instance = running();
    let mut out = [7.0];
    for (unknown, known, seed) in [
        (PUSH, PUSH, 1.0),
        (X, A, 1.0),
        (X, PUSH, f64::NAN),
        (X, COUNT, 1.0),
        (COUNT, PUSH, 1.0),
    ] {
        instance
            .directional_derivative(&[unknown], &[known], &[seed], &mut out)
            .unwrap_err();
    }
    instance
        .directional_derivative(&[X], &[PUSH], &[], &mut out)
        .unwrap_err();
    assert_eq!(out, [7.0]);
    instance
        .directional_derivative(&[A], &[PUSH], &[0.0], &mut out)
        .unwrap();
    assert_eq!(out, [0.0]);
}
