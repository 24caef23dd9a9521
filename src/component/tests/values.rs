//! Setting and reading variables.

use super::*;
use crate::error::Error;

#[test]
fn before_the_start_inputs_and_parameters_have_their_start_values_or_what_was_set() {
    let mut instance = oscillator();
    assert_eq!(get(&mut instance, PUSH), 0.5);
    assert_eq!(get(&mut instance, STIFFNESS), 4.0);
    instance.set_real(&[PUSH, MASS], &[2.0, 3.0]).unwrap();
    assert_eq!(get(&mut instance, PUSH), 2.0);
    assert_eq!(get(&mut instance, MASS), 3.0);
    let mut value = [7.0];
    let error = instance.get_real(&[X], &mut value).unwrap_err();
    assert!(matches!(error, Error::CallOrder { .. }), "{error}");
    assert_eq!(value, [7.0]);
    // What was set is what the motion starts with: (u - k x) / m.
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    let a = get(&mut instance, A);
    let expected = (2.0 - 4.0) / 3.0;
    assert!((a - expected).abs() <= 2.0 * f64::EPSILON, "{a} {expected}");
}

#[test]
fn an_acceleration_follows_a_set_at_once() {
    let mut instance = running();
    instance.step(0.0, 0.25).unwrap();
    let (x, v) = (get(&mut instance, X), get(&mut instance, V));
    instance.set_real(&[PUSH], &[10.0]).unwrap();
    let a = get(&mut instance, A);
    let expected = 10.0 - DAMPING * v - 4.0 * x;
    assert!(
        (a - expected).abs() <= 4.0 * f64::EPSILON * 10.0,
        "{a} {expected}"
    );
    instance.set_real(&[MASS], &[2.0]).unwrap();
    let a = get(&mut instance, A);
    assert!(
        (a - 0.5 * expected).abs() <= 4.0 * f64::EPSILON * 10.0,
        "{a} {expected}"
    );
    assert_eq!((x, v), (get(&mut instance, X), get(&mut instance, V)));
}

#[test]
fn setting_what_is_already_there_changes_no_bit_of_what_follows() {
    let run = |set: bool| {
        let mut instance = running();
        for k in 0..20 {
            if set {
                let now = [get(&mut instance, PUSH), 4.0];
                instance.set_real(&[PUSH, STIFFNESS], &now).unwrap();
            }
            instance.step(f64::from(k) * 0.125, 0.125).unwrap();
        }
        format!("{:?}", instance.save().unwrap())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn setting_the_same_course_again_is_no_jump() {
    let run = |set: bool| {
        let mut instance = running();
        instance
            .set_input_derivatives(&[PUSH, PUSH], &[1, 2], &[0.3, 0.7])
            .unwrap();
        for k in 0..20 {
            if set {
                let [u, u_dot, _] = instance.state.applied.inputs[0].at(instance.time());
                // As a master does it: first the value, which ends the derivatives, then those again.
                if k > 0 {
                    instance.set_real(&[PUSH], &[u]).unwrap();
                    instance
                        .set_input_derivatives(&[PUSH, PUSH], &[1, 2], &[u_dot, 0.7])
                        .unwrap();
                }
            }
            instance.step(f64::from(k) * 0.125, 0.125).unwrap();
        }
        format!("{:?}", instance.save().unwrap())
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn a_set_taken_back_before_anyone_looked_never_happened() {
    let mut instance = running();
    instance.step(0.0, 0.5).unwrap();
    let before = format!("{:?}", instance.save().unwrap());
    instance.set_real(&[PUSH, MASS], &[3.0, 3.0]).unwrap();
    assert_ne!(before, format!("{:?}", instance.save().unwrap()));
    instance.set_real(&[PUSH, MASS], &[0.5, 1.0]).unwrap();
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
}

#[test]
fn a_set_with_one_bad_value_sets_nothing() {
    let mut instance = running();
    let before = format!("{:?}", instance.save().unwrap());
    let attempts: [(&[u32], &[f64]); 5] = [
        (&[PUSH, MASS], &[1.0, f64::NAN]),
        (&[PUSH, MASS], &[1.0, -1.0]),
        (&[PUSH, X], &[1.0, 1.0]),
        (&[PUSH, COUNT], &[1.0, 1.0]),
        (&[PUSH, MASS], &[1.0]),
    ];
    for (references, values) in attempts {
        instance.set_real(references, values).unwrap_err();
        assert_eq!(
            before,
            format!("{:?}", instance.save().unwrap()),
            "{references:?}"
        );
    }
    let orders = [1, 1];
    instance
        .set_input_derivatives(&[PUSH, X], &orders, &[1.0, 1.0])
        .unwrap_err();
    instance
        .set_input_derivatives(&[PUSH], &orders, &[1.0])
        .unwrap_err();
    instance
        .set_input_derivatives(&[PUSH], &[1], &[1.0, 2.0])
        .unwrap_err();
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
}

#[test]
fn an_output_that_is_no_number_is_an_error_by_its_name() {
    let mut instance = running();
    let mut values = [1.0, 2.0];
    let error = instance.get_real(&[X, NAN], &mut values).unwrap_err();
    let expected = Error::Evaluation {
        time: 0.0,
        culprit: "nan".to_string(),
    };
    assert_eq!(error, expected);
    assert_eq!(values, [1.0, 2.0]);
}

#[test]
fn a_jump_that_fails_leaves_the_motion_and_stays_due() {
    let mut instance = running();
    instance.step(0.0, 0.5).unwrap();
    let state = format!("{:?}", instance.state());
    instance.set_real(&[STIFFNESS], &[BROKEN]).unwrap();
    for _ in 0..2 {
        let error = instance.get_real(&[X], &mut [0.0]).unwrap_err();
        assert!(
            matches!(error, Error::Callback { code: 7, .. }),
            "{error:?}"
        );
        let error = instance.step(0.5, 0.5).unwrap_err();
        assert!(
            matches!(error, Error::Callback { code: 7, .. }),
            "{error:?}"
        );
    }
    assert_eq!(state, format!("{:?}", instance.state()));
    instance.set_real(&[STIFFNESS], &[4.0]).unwrap();
    instance.step(0.5, 0.5).unwrap();
    let mut smooth = running();
    smooth.step(0.0, 0.5).unwrap();
    smooth.step(0.5, 0.5).unwrap();
    assert_eq!(get(&mut smooth, X), get(&mut instance, X));
}

#[test]
fn the_energy_of_a_changed_parameter_counts_as_supplied() {
    let mut instance = running();
    instance.step(0.0, 0.5).unwrap();
    let (x, balance) = (get(&mut instance, X), get(&mut instance, BALANCE));
    let supplied = get(&mut instance, SUPPLIED);
    instance.set_real(&[STIFFNESS], &[40.0]).unwrap();
    let brought = 0.5 * (40.0 - 4.0) * x * x;
    let rounding = 8.0 * f64::EPSILON * 40.0;
    assert!((get(&mut instance, SUPPLIED) - supplied - brought).abs() <= rounding);
    assert!((get(&mut instance, BALANCE) - balance).abs() <= rounding);
}

#[test]
fn an_input_with_derivatives_moves_between_communication_points() {
    let mut instance = running();
    instance
        .set_input_derivatives(&[PUSH, PUSH], &[1, 2], &[2.0, 4.0])
        .unwrap();
    instance.step(0.0, 0.5).unwrap();
    assert_eq!(get(&mut instance, PUSH), 0.5 + 2.0 * 0.5 + 4.0 * 0.125);
    // Setting the value ends the derivatives.
    instance.set_real(&[PUSH], &[1.0]).unwrap();
    instance.step(0.5, 0.5).unwrap();
    assert_eq!(get(&mut instance, PUSH), 1.0);
}

#[test]
fn a_ramp_acts_on_the_motion_as_a_ramp() {
    // By superposition, the difference d of two runs that differ by the ramp alone solves d'' + c d' + k d = u₁ t with
    // d(0) = d'(0) = 0 (m = 1). With ω² = k − c²/4:
    //   d = u₁/k [t − c/k + e^(−ct/2) ((c/k) cos ωt + (c²/(2k) − 1)/ω sin ωt)]
    let mut model = model();
    model.solver.tolerance = 1e-9;
    let run = |slope: f64| {
        let mut instance = of(model.clone());
        instance
            .set_input_derivatives(&[PUSH], &[1], &[slope])
            .unwrap();
        instance.initialize(0.0, 2.0, 0.0).unwrap();
        instance.step(0.0, 2.0).unwrap();
        get(&mut instance, X)
    };
    let (u1, c, k, t) = (3.0, DAMPING, 4.0, 2.0);
    let omega: f64 = f64::sqrt(k - 0.25 * c * c);
    let (sin, cos) = (omega * t).sin_cos();
    let decay = f64::exp(-0.5 * c * t);
    let exact =
        u1 / k * (t - c / k + decay * (c / k * cos + (0.5 * c * c / k - 1.0) / omega * sin));
    let difference = run(u1) - run(0.0);
    // Error per step 1e-9; some 1e3 steps at most add up to 1e-6. The ramp itself moves x by about one.
    assert!((difference - exact).abs() < 1e-6, "{difference} {exact}");
}
