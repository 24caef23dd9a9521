//! Communication steps.

use std::sync::atomic::Ordering;

use super::*;
use crate::component::{Instance, Observer, StepProbe};
use crate::error::{Error, Result};

fn refusal(instance: &mut Instance, t: f64, h: f64) -> String {
    let before = format!("{:?}", instance.save().unwrap());
    let error = instance.step(t, h).unwrap_err();
    assert!(matches!(error, Error::Argument { .. }), "{error}");
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
    error.to_string()
}

#[test]
fn steps_that_cannot_be_meant_are_refused_and_change_nothing() {
    let mut instance = oscillator();
    instance.initialize(1.0, 2.0, 0.0).unwrap();
    for h in [-1.0, -f64::MIN_POSITIVE, f64::NAN, f64::INFINITY] {
        assert!(
            refusal(&mut instance, 1.0, h).starts_with("step size = "),
            "{h}"
        );
    }
    for t in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(refusal(&mut instance, t, 0.1).starts_with("t = "), "{t}");
    }
    // Not the instance's time; also for a step of zero.
    for (t, h) in [(0.0, 0.1), (1.1, 0.1), (1.0 + 1e-6, 0.1), (1.0 + 1e-9, 0.0)] {
        assert!(refusal(&mut instance, t, h).starts_with("t = "), "{t}");
    }
    assert!(refusal(&mut instance, 1.0, 1.0 + 1e-5).contains("stop time"));
    assert!(refusal(&mut instance, 1.0, 1e300).contains("stop time"));
    assert!(refusal(&mut instance, 1.0, 1e-17).contains("rounding"));
}

#[test]
fn an_end_beyond_all_numbers_is_refused() {
    let mut instance = running();
    instance.state.motion.t = 1e308; // No mechanism gets there.
    assert!(refusal(&mut instance, 1e308, 1e308).contains("finite"));
}

#[test]
fn a_step_of_zero_changes_nothing_not_even_a_counter() {
    let mut instance = running();
    instance.step(0.0, 0.5).unwrap();
    instance.set_real(&[PUSH], &[3.0]).unwrap();
    instance.cancel_flag().store(true, Ordering::Relaxed);
    let before = format!("{:?}", instance.save().unwrap());
    instance.step(0.5, 0.0).unwrap();
    instance.step(0.5, -0.0).unwrap();
    assert_eq!(before, format!("{:?}", instance.save().unwrap()));
    assert!(instance.cancel_flag().load(Ordering::Relaxed));
}

#[test]
fn the_time_reached_is_the_double_the_host_computes() {
    let h = 0.01;
    let mut products = running();
    let mut sums = running();
    let mut t = 0.0;
    for k in 0..1000 {
        let start = f64::from(k) * h;
        products.step(start, h).unwrap();
        assert_eq!(products.time(), start + h);
        sums.step(t, h).unwrap();
        t += h;
        assert_eq!(sums.time(), t);
    }
}

#[test]
fn the_rounding_of_the_hosts_clock_is_forgiven() {
    let mut instance = oscillator();
    instance.initialize(0.0, 3.0, 0.0).unwrap();
    instance.step(0.0, 1.0).unwrap();
    let t = 1.0 + 4.0 * f64::EPSILON;
    instance.step(t, 0.5).unwrap();
    assert_eq!(instance.time(), t + 0.5);
    // Twelve digits of text.
    let t = 1.500000000001;
    instance.step(t, 0.01).unwrap();
    assert_eq!(instance.time(), t + 0.01);
    // Nor is the end of the last step exactly the stop time.
    let t = instance.time();
    instance.step(t, (3.0 - t) * (1.0 + 1e-10)).unwrap();
    assert!(instance.time() > 3.0);
}

#[test]
fn the_smallest_step_time_can_resolve_is_taken() {
    let mut instance = oscillator();
    instance.initialize(1.0, 2.0, 0.0).unwrap();
    instance.step(1.0, f64::EPSILON).unwrap();
    assert_eq!(instance.time(), 1.0 + f64::EPSILON);
    assert!(get(&mut instance, A).is_finite());
    instance.step(instance.time(), 0.5).unwrap();
    let mut whole = oscillator();
    whole.initialize(1.0, 2.0, 0.0).unwrap();
    whole.step(1.0, 0.5).unwrap();
    // The tiny step must not have spoiled the history: both runs to the same tolerance 1e-6 per step, some ten steps.
    assert!((get(&mut instance, X) - get(&mut whole, X)).abs() < 1e-4);
    let steps = get(&mut instance, STEPS) - get(&mut whole, STEPS);
    assert!(steps.abs() <= 20.0, "{steps} more steps after a tiny one");
}

#[test]
fn more_substeps_than_allowed_end_the_step_where_it_got_to() {
    let mut model = model();
    model.solver.max_substeps = 3;
    let mut instance = of(model);
    instance.initialize(0.0, 100.0, 0.0).unwrap();
    let error = instance.step(0.0, 100.0).unwrap_err();
    let t = instance.time();
    assert!(
        matches!(&error, Error::TooManySubsteps { time, limit: 3, fastest: Some(_) } if *time == t),
        "{error}"
    );
    assert_eq!(instance.statistics().steps, 3);
    assert!(0.0 < t && t < 100.0);
    // And can go on from there.
    assert_eq!(get(&mut instance, TIME), t);
    let error = instance.step(t, 100.0 - t).unwrap_err();
    assert!(matches!(error, Error::TooManySubsteps { .. }));
    assert_eq!(instance.statistics().steps, 6);
}

/// Does something at the n-th substep.
struct SubstepStart<F: FnMut(&mut StepProbe) -> Result<()>>(u64, F);

impl<F: FnMut(&mut StepProbe) -> Result<()>> Observer for SubstepStart<F> {
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        if probe.instance().statistics().steps == self.0 {
            (self.1)(probe)?;
        }
        Ok(())
    }
}

#[test]
fn a_cancelled_step_stays_at_the_last_accepted_substep() {
    let mut instance = running();
    let flag = instance.cancel_flag();
    let mut observer = SubstepStart(5, |_: &mut StepProbe| {
        flag.store(true, Ordering::Relaxed);
        Ok(())
    });
    let error = instance
        .step_observed(0.0, 100.0, &mut observer)
        .unwrap_err();
    assert_eq!(instance.statistics().steps, 5);
    let t = instance.time();
    assert_eq!(error, Error::Cancelled { time: t });
    assert!(!flag.load(Ordering::Relaxed));
    instance.step(t, 1.0).unwrap();
    assert_eq!(instance.time(), t + 1.0);
}

#[test]
fn an_observers_error_ends_the_step() {
    let mut instance = running();
    let full = Error::File {
        path: "result.csv".to_string(),
        reason: "disk full".to_string(),
    };
    let mut observer = SubstepStart(2, |_: &mut StepProbe| Err(full.clone()));
    let error = instance
        .step_observed(0.0, 100.0, &mut observer)
        .unwrap_err();
    assert_eq!(error, full);
    assert_eq!(instance.statistics().steps, 2);
}

#[test]
fn substeps_join_and_the_probe_sees_the_ends_as_get_real_does() {
    const REFERENCES: [u32; 6] = [PUSH, X, V, A, BALANCE, TIME];
    struct Follow {
        t: f64,
        values: [f64; 6],
        count: u64,
    }
    impl Observer for Follow {
        fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
            assert_eq!(probe.start(), self.t);
            assert!(probe.end() > probe.start());
            let mut values = [0.0; 6];
            // At its start the substep joins the one before: same values up to the rounding of the interpolation.
            probe.values(probe.start(), &REFERENCES, &mut values)?;
            for i in 0..6 {
                let (before, after) = (self.values[i], values[i]);
                assert!((before - after).abs() < 1e-12, "{i}: {before} {after}");
            }
            // In between there is motion, and the clock is the one asked for.
            let middle = 0.5 * (probe.start() + probe.end());
            probe.values(middle, &REFERENCES, &mut values)?;
            assert_eq!(values[5], middle);
            for t in [
                probe.start() - 1e-9,
                probe.end() + 1e-9,
                f64::NAN,
                f64::INFINITY,
            ] {
                assert!(probe.values(t, &REFERENCES, &mut values).is_err());
            }
            probe.values(probe.end(), &REFERENCES, &mut values)?;
            let mut got = [0.0; 6];
            probe.instance.get_real(&REFERENCES, &mut got)?;
            assert_eq!(values, got);
            (self.t, self.values) = (probe.end(), values);
            self.count += 1;
            Ok(())
        }
    }
    let mut instance = running();
    let mut follow = Follow {
        t: 0.0,
        values: [0.0; 6],
        count: 0,
    };
    instance.get_real(&REFERENCES, &mut follow.values).unwrap();
    instance.step_observed(0.0, 3.0, &mut follow).unwrap();
    assert_eq!(follow.t, 3.0);
    assert_eq!(follow.count, instance.statistics().steps);
    assert!(follow.count > 5);
}

#[test]
fn looking_inside_a_step_does_not_disturb_it() {
    struct Look;
    impl Observer for Look {
        fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
            let mut values = [0.0; 3];
            for i in 0..=4 {
                let s = f64::from(i) / 4.0;
                let t = probe.start() * (1.0 - s) + probe.end() * s;
                let t = t.clamp(probe.start(), probe.end());
                probe.values(t, &[X, A, BALANCE], &mut values)?;
            }
            Ok(())
        }
    }
    let (mut alone, mut watched) = (running(), running());
    for k in 0..10 {
        let t = f64::from(k) * 0.3;
        alone.step(t, 0.3).unwrap();
        watched.step_observed(t, 0.3, &mut Look).unwrap();
    }
    for reference in [X, V, A, BALANCE, STEPS] {
        assert_eq!(get(&mut alone, reference), get(&mut watched, reference));
    }
}

#[test]
fn the_drift_is_the_largest_balance_of_all_substeps() {
    struct Largest(f64);
    impl Observer for Largest {
        fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
            let mut balance = [0.0];
            probe.values(probe.end(), &[BALANCE], &mut balance)?;
            if balance[0].abs() > self.0.abs() {
                self.0 = balance[0];
            }
            Ok(())
        }
    }
    let mut instance = running();
    assert_eq!(instance.energy_drift(), 0.0);
    let mut largest = Largest(0.0);
    instance.step_observed(0.0, 5.0, &mut largest).unwrap();
    assert_eq!(instance.energy_drift(), largest.0);
    assert!(largest.0 != 0.0);
}
