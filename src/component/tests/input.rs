//! Inputs as functions of time.

use crate::component::input::*;
use crate::integrator::Signals;

/// An instance's inputs with one of them.
fn one(input: InputPolynomial) -> InputState {
    InputState {
        inputs: vec![input],
        ..InputState::default()
    }
}

/// The input from `t` on with its derivative of `order` replaced.
fn with_derivative(input: InputPolynomial, t: f64, order: usize, value: f64) -> InputPolynomial {
    let mut state = one(input);
    let mut taylor = state.at(0, t);
    taylor[order] = value;
    state.continue_from(0, t, taylor);
    state.inputs[0]
}

#[test]
fn a_held_input_keeps_its_bits_for_ever() {
    let input = InputPolynomial::hold(-1e308, 0.1);
    for t in [-1e308, 0.0, 1e-300, 1e308, f64::INFINITY] {
        assert_eq!(input.at(t), [0.1, 0.0, 0.0], "t = {t}");
    }
}

#[test]
fn derivatives_continue_the_input_as_a_parabola() {
    let input = with_derivative(InputPolynomial::hold(2.0, 1.0), 2.0, 1, 3.0);
    let input = with_derivative(input, 2.0, 2, 4.0);
    // 1 + 3 s + 2 s² at s = 0.5, all exact in binary.
    assert_eq!(input.at(2.5), [3.0, 5.0, 4.0]);
}

#[test]
fn a_new_derivative_leaves_value_and_other_derivatives_where_they_are_then() {
    let input = InputPolynomial {
        since: 0.0,
        taylor: [1.0, 2.0, 4.0],
        ..InputPolynomial::default()
    };
    let turned = with_derivative(input, 0.5, 1, -1.0);
    assert_eq!(turned.since, 0.5);
    assert_eq!(turned.taylor, [2.5, -1.0, 4.0]);
}

#[test]
fn extrapolation_reproduces_polynomials_of_its_order() {
    // u = 1 + 2 t − 3 t² at times that are not equally far apart.
    let u = |t: f64| 1.0 + 2.0 * t - 3.0 * t * t;
    let mut history = InputHistory::default();
    history.add(0.0, u(0.0));
    assert_eq!(history.taylor(Extrapolation::Quadratic), [1.0, 0.0, 0.0]);
    history.add(0.5, u(0.5));
    // The line through two points, also where a parabola is asked for.
    let chord = (u(0.5) - u(0.0)) / 0.5;
    for order in [Extrapolation::Linear, Extrapolation::Quadratic] {
        assert_eq!(history.taylor(order), [u(0.5), chord, 0.0]);
    }
    history.add(0.75, u(0.75));
    let input = InputPolynomial {
        since: 0.75,
        taylor: history.taylor(Extrapolation::Quadratic),
        ..InputPolynomial::default()
    };
    // Exact in binary.
    assert_eq!(input.at(2.0), [u(2.0), 2.0 - 12.0, -6.0]);
    assert_eq!(history.taylor(Extrapolation::Hold), [u(0.75), 0.0, 0.0]);
}

#[test]
fn the_last_word_at_a_time_counts() {
    let mut history = InputHistory::default();
    history.add(0.0, 1.0);
    history.add(1.0, 7.0);
    history.add(1.0, 2.0);
    assert_eq!(history.count, 2);
    assert_eq!(history.taylor(Extrapolation::Linear), [2.0, 1.0, 0.0]);
}

#[test]
fn values_too_close_for_a_slope_are_held() {
    let mut history = InputHistory::default();
    history.add(0.0, -1e300);
    history.add(1e-300, 1e300);
    assert_eq!(history.taylor(Extrapolation::Linear), [1e300, 0.0, 0.0]);
}

#[test]
fn values_set_before_the_start_count_from_the_start() {
    let mut inputs = one(InputPolynomial {
        since: 0.0,
        taylor: [1.0, 2.0, 0.0],
        ..InputPolynomial::default()
    });
    inputs.start_at(10.0);
    let (mut u, mut u_dot, mut u_ddot) = ([0.0], [0.0], [0.0]);
    inputs.sample(11.0, &mut u, &mut u_dot, &mut u_ddot);
    assert_eq!((u, u_dot, u_ddot), ([3.0], [2.0], [0.0]));
}

#[test]
fn a_speed_and_an_acceleration_are_integrated_from_where_the_motion_was() {
    for order in [1, 2] {
        let first = InputPolynomial {
            since: 1.0,
            taylor: [2.0, -1.0, 3.0],
            order,
            position_and_speed: [0.5, 0.25],
            piece: None,
        };
        assert_eq!(first.at(1.5), [1.875, 0.5, 3.0]);
        // Set again at 1.5: the motion goes on from there, the input jumps.
        let mut second = one(first);
        second.continue_from(0, 1.5, [-4.0, 0.0, 0.0]);
        let second = second.inputs[0];
        let (end, begin) = (first.motion_law(1.5), second.motion_law(1.5));
        for k in 0..usize::from(order) {
            assert_eq!(
                end[k].to_bits(),
                begin[k].to_bits(),
                "order {order}, derivative {k}"
            );
        }
        assert_eq!(begin[usize::from(order)], -4.0);
        // Each is the derivative of the one before. Central differences: exact for parabolas, e²/6 u'' beyond.
        for input in [first, second] {
            let (t, e) = (1.7, 1e-3);
            let (low, mid, high) = (
                input.motion_law(t - e),
                input.motion_law(t),
                input.motion_law(t + e),
            );
            for k in 0..2 {
                let slope = (high[k] - low[k]) / (2.0 * e);
                assert!(
                    (slope - mid[k + 1]).abs() < 1e-6,
                    "order {order}, derivative {k}"
                );
            }
        }
    }
    // 0.5 + 0.25 τ + τ² − τ³/6 + τ⁴/8 at τ = 0.5 by hand.
    let input = InputPolynomial {
        since: 1.0,
        taylor: [2.0, -1.0, 3.0],
        order: 2,
        position_and_speed: [0.5, 0.25],
        piece: None,
    };
    let expected = 0.5 + 0.125 + 0.25 - 0.125 / 6.0 + 0.0625 / 8.0;
    assert!((input.motion_law(1.5)[0] - expected).abs() < 1e-15);
}
