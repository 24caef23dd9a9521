//! Every illegal call in every phase of life: an error that names the culprit, and nothing changed.

use crate::common::{bits, now, references, slider_crank, slider_crank_model};
use biela::Error;
use biela::component::{Causality, Instance, LogLevel, Logger};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The phases an instance can be in, by name.
fn phases() -> Vec<(&'static str, Instance)> {
    let created = slider_crank();

    let mut initialized = slider_crank();
    initialized.initialize(0.0, 2.0, 0.0).unwrap();

    let mut stepped = slider_crank();
    stepped.initialize(0.0, 2.0, 0.0).unwrap();
    stepped.step(0.0, 0.25).unwrap();

    let mut due = slider_crank();
    due.initialize(0.0, 2.0, 0.0).unwrap();
    due.step(0.0, 0.25).unwrap();
    let tau = references(&due, Causality::Input)[0];
    due.set_real(&[tau], &[0.125]).unwrap();

    let mut reset = slider_crank();
    reset.initialize(0.0, 2.0, 0.0).unwrap();
    reset.step(0.0, 0.25).unwrap();
    reset.reset();

    vec![
        ("created", created),
        ("initialized", initialized),
        ("stepped", stepped),
        ("set, not yet stepped", due),
        ("failed", failed()),
        ("reset", reset),
    ]
}

/// In the middle of a step that was too long for its substeps.
fn failed() -> Instance {
    let mut model = slider_crank_model();
    model.solver.max_substeps = 2;
    let mut failed = Instance::from_model(model).unwrap();
    failed.initialize(0.0, 2.0, 0.0).unwrap();
    let error = failed.step(0.0, 2.0).unwrap_err();
    assert!(
        matches!(error, Error::TooManySubsteps { limit: 2, .. }),
        "{error}"
    );
    failed
}

/// Calls, expects a refusal of the kind, and checks that nothing has changed.
fn refuse(
    phase: &str,
    instance: &mut Instance,
    call: impl FnOnce(&mut Instance) -> biela::Result<()>,
    kind: impl FnOnce(&Error) -> bool,
) {
    let before = now(instance);
    let error = call(instance).expect_err(phase);
    assert!(kind(&error), "{phase}: {error:?}");
    assert_eq!(before, now(instance), "{phase}: {error}");
}

#[test]
fn calls_in_the_wrong_order_are_refused() {
    for (phase, mut instance) in phases() {
        let order = |e: &Error| matches!(e, Error::CallOrder { .. });
        if instance.is_running() {
            refuse(phase, &mut instance, |i| i.initialize(0.0, 1.0, 0.0), order);
            assert!(instance.start_report().is_some());
        } else {
            refuse(phase, &mut instance, |i| i.step(0.0, 0.1), order);
            refuse(phase, &mut instance, |i| i.step(0.0, 0.0), order);
            let outputs = references(&instance, Causality::Output);
            assert!(!outputs.is_empty());
            for output in outputs {
                let mut value = [7.0];
                let call = |i: &mut Instance| i.get_real(&[output], &mut value);
                refuse(phase, &mut instance, call, order);
                assert_eq!(value, [7.0]);
            }
            assert!(instance.start_report().is_none());
            assert_eq!(instance.statistics().steps, 0);
            assert_eq!(instance.energy_drift(), 0.0);
        }
    }
}

#[test]
fn bad_references_and_values_are_refused() {
    for (phase, mut instance) in phases() {
        let count = instance.variables().len() as u32;
        let tau = references(&instance, Causality::Input)[0];
        let output = references(&instance, Causality::Output)[0];
        let unknown = |e: &Error| matches!(e, Error::UnknownReference { .. });
        for reference in [count, u32::MAX] {
            refuse(
                phase,
                &mut instance,
                |i| i.set_real(&[tau, reference], &[1.0, 1.0]),
                unknown,
            );
            let mut values = [7.0; 2];
            let call = |i: &mut Instance| i.get_real(&[tau, reference], &mut values);
            refuse(phase, &mut instance, call, unknown);
            assert_eq!(values, [7.0; 2]);
            let call = |i: &mut Instance| i.set_input_derivatives(&[reference], &[1], &[1.0]);
            refuse(phase, &mut instance, call, unknown);
        }
        let not_settable = |e: &Error| matches!(e, Error::NotSettable { .. });
        refuse(
            phase,
            &mut instance,
            |i| i.set_real(&[tau, output], &[1.0, 1.0]),
            not_settable,
        );
        for bad in [NAN, INF, -INF] {
            let not_finite = |e: &Error| matches!(e, Error::NotFinite { .. });
            refuse(
                phase,
                &mut instance,
                |i| i.set_real(&[tau], &[bad]),
                not_finite,
            );
            let call = |i: &mut Instance| i.set_input_derivatives(&[tau], &[1], &[bad]);
            refuse(phase, &mut instance, call, not_finite);
        }
        let argument = |e: &Error| matches!(e, Error::Argument { .. });
        refuse(phase, &mut instance, |i| i.set_real(&[tau], &[]), argument);
        refuse(
            phase,
            &mut instance,
            |i| i.get_real(&[tau], &mut []),
            argument,
        );
        refuse(
            phase,
            &mut instance,
            |i| i.set_input_derivatives(&[tau], &[3], &[0.0]),
            argument,
        );
        let name = instance.variables()[tau as usize].name.clone();
        assert_eq!(instance.find(&name), Ok(tau));
        let error = instance.find(&format!("{name}x")).unwrap_err();
        assert!(
            error.to_string().contains(&format!("\"{name}\"?")),
            "{error}"
        );
    }
}

#[test]
fn bad_steps_are_refused() {
    for (phase, mut instance) in phases() {
        if !instance.is_running() {
            continue;
        }
        let t = instance.time();
        let bad = [
            (t, -0.1),
            (t, NAN),
            (t, INF),
            (NAN, 0.1),
            (INF, 0.1),
            (-INF, 0.1),
            (t + 0.01, 0.01),
            (t - 0.01, 0.01),
            (t - 0.01, 0.0),
            (t, 2.1),
        ];
        for (t, h) in bad {
            let argument = |e: &Error| matches!(e, Error::Argument { .. });
            refuse(phase, &mut instance, |i| i.step(t, h), argument);
        }
    }
}

#[test]
fn bad_starts_are_refused() {
    for (phase, mut instance) in phases() {
        if instance.is_running() {
            continue;
        }
        for (start, stop, tolerance) in [
            (NAN, 1.0, 0.0),
            (INF, INF, 0.0),
            (1.0, 0.0, 0.0),
            (0.0, NAN, 0.0),
            (0.0, 1.0, NAN),
        ] {
            let argument = |e: &Error| matches!(e, Error::Argument { .. });
            let call = |i: &mut Instance| i.initialize(start, stop, tolerance);
            refuse(phase, &mut instance, call, argument);
        }
    }
}

#[test]
fn a_state_of_another_model_is_refused_in_every_phase() {
    let mut model = slider_crank_model();
    model.bodies[0].mass *= 2.0;
    let foreign = Instance::from_model(model).unwrap().save().unwrap();
    for (phase, mut instance) in phases() {
        let foreign_state = |e: &Error| matches!(e, Error::ForeignState { .. });
        refuse(phase, &mut instance, |i| i.restore(&foreign), foreign_state);
    }
}

#[test]
fn every_phase_can_be_reset() {
    let mut fresh = slider_crank();
    fresh.initialize(0.0, 2.0, 0.0).unwrap();
    fresh.step(0.0, 0.002).unwrap();
    let expected = bits(&mut fresh);
    for (phase, mut instance) in phases() {
        instance.reset();
        assert!(!instance.is_running(), "{phase}");
        instance.initialize(0.0, 2.0, 0.0).unwrap();
        instance.step(0.0, 0.002).unwrap();
        assert_eq!(bits(&mut instance), expected, "{phase}");
    }
}

#[test]
fn an_instance_goes_on_after_a_failed_step() {
    let mut instance = failed();
    let t = instance.time();
    assert!(0.0 < t && t < 2.0);
    bits(&mut instance);
    let saved = instance.save().unwrap();
    let small = instance.statistics().step_size;
    instance.step(t, small).unwrap();
    let end = bits(&mut instance);
    instance.restore(&saved).unwrap();
    instance.step(t, small).unwrap();
    assert_eq!(bits(&mut instance), end);
    assert_eq!(instance.time(), t + small);
}

#[test]
fn the_stop_time_can_be_reached_and_not_passed() {
    let mut instance = slider_crank();
    instance.initialize(0.0, 0.3, 0.0).unwrap();
    // 0.1 + 0.1 + 0.1 is more than 0.3 by rounding.
    let mut t = 0.0;
    for _ in 0..3 {
        instance.step(t, 0.1).unwrap();
        t += 0.1;
    }
    assert!(t > 0.3);
    assert_eq!(instance.time(), t);
    refuse(
        "at the stop time",
        &mut instance,
        |i| i.step(t, 0.001),
        |e| matches!(e, Error::Argument { .. }),
    );
    instance.step(t, 0.0).unwrap();
}

#[test]
fn empty_lists_are_legal_in_every_phase() {
    for (phase, mut instance) in phases() {
        let before = now(&instance);
        instance.set_real(&[], &[]).unwrap();
        instance.get_real(&[], &mut []).unwrap();
        instance.set_input_derivatives(&[], &[], &[]).unwrap();
        assert_eq!(before, now(&instance), "{phase}");
    }
}

/// Cancels after so many substeps.
struct Canceller {
    left: u32,
    flag: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl biela::component::Observer for Canceller {
    fn accepted(&mut self, _probe: &mut biela::component::StepProbe) -> biela::Result<()> {
        self.left -= 1;
        if self.left == 0 {
            self.flag.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    }
}

#[test]
fn a_cancelled_step_and_one_that_ran_out_of_substeps_stop_at_the_same_state() {
    for limit in [1, 2, 7, 40] {
        let mut model = slider_crank_model();
        model.solver.max_substeps = u64::from(limit);
        let mut limited = Instance::from_model(model).unwrap();
        limited.initialize(0.0, INF, 0.0).unwrap();
        let error = limited.step(0.0, 100.0).unwrap_err();
        assert!(matches!(error, Error::TooManySubsteps { .. }), "{error}");

        let mut cancelled = slider_crank();
        cancelled.initialize(0.0, INF, 0.0).unwrap();
        let mut canceller = Canceller {
            left: limit,
            flag: cancelled.cancel_flag(),
        };
        let error = cancelled
            .step_observed(0.0, 100.0, &mut canceller)
            .unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{error}");

        assert_eq!(cancelled.statistics().steps, u64::from(limit));
        assert_eq!(bits(&mut cancelled), bits(&mut limited), "{limit} substeps");
        // The flag is used up, and the run goes on.
        let t = cancelled.time();
        cancelled.step(t, 0.01).unwrap();
    }
}

/// A rod on a pin with a motor whose torque is an input.
const DRIVEN_ROD: &str = "format = 1\ndimension = 2\n[solver]\nmax_substeps = 20000\n\
    [[body]]\nname = \"rod\"\nmass = 1\ninertia = 0.1\nposition = [0.5, 0]\n\
    [[joint]]\nname = \"pin\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rod\"]\npoint = [0, 0]\n\
    [[force]]\nname = \"motor\"\ntype = \"actuator\"\njoint = \"pin\"\ntorque = 0\n\
    [[input]]\nname = \"tau\"\ntarget = \"motor.torque\"\n\
    [[output]]\nname = \"angle\"\nsource = \"pin.position\"\n";

#[test]
fn a_run_away_names_the_body_its_speed_and_the_input_in_log_and_error() {
    use std::sync::{Arc, Mutex};
    for (torque, absurd) in [(1e6, false), (1e10, true)] {
        let mut rod = Instance::from_text(DRIVEN_ROD, None).unwrap();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = log.clone();
        rod.set_logger(Some(Logger::new(LogLevel::Warning, move |message| {
            sink.lock().unwrap().push(message.text.to_owned());
        })));
        rod.initialize(0.0, 1e6, 0.0).unwrap();
        let tau = rod.find("tau").unwrap();
        rod.set_real(&[tau], &[torque]).unwrap();
        let error = rod.step(0.0, 1e6).unwrap_err();
        let sentence = error.to_string();
        assert_eq!(matches!(error, Error::RunAway { .. }), absurd, "{sentence}");
        for part in ["\"rod\"", "rad/s", "\"tau\" = 1.000e"] {
            assert!(sentence.contains(part), "{part}: {sentence}");
        }
        let told = log.lock().unwrap();
        let last = told.last().unwrap();
        assert!(
            last.contains("\"rod\"") && last.contains("\"tau\""),
            "{last}"
        );
        if !absurd {
            assert!(
                told[0].starts_with("10000 substeps in one call"),
                "{told:?}"
            );
        }
        // The state is that of the last substep, and may be read.
        assert!(rod.time() > 0.0);
    }
}
