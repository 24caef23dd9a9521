//! From one communication point to the next by as many substeps as the error asks for.
//!
//! The host says where it is and how far to go, and both are doubles that went through its own arithmetic: `t = k H`,
//! or a sum, or text with twelve digits. The instance takes the host's word for the end: after `step(t, h)` its time
//! is the double `t + h`. So the two clocks meet again at every call, nothing accumulates between them, and what has to be
//! forgiven is one call's rounding only.

use std::sync::atomic::Ordering;

use super::Instance;
use super::log::{LogCategory, LogLevel};
use super::values::{environment, same_length};
use super::variables::VariableSource;
use crate::error::{Error, Result};
use crate::integrator::{EventMemory, RejectedStep, Statistics};

/// How far, as part of the step, the host's time may be from the instance's. A host that means another time is off by
/// a good part of a step; a millionth is the rounding of a clock kept in text or in ticks, and changes the step by as much.
const CLOCK_SLIP: f64 = 1e-6;

/// The same for steps that are tiny against the time itself: the rounding of a few additions and products, relative to
/// the largest time that took part.
const CLOCK_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// How far past the stop time a step may end, relative to the largest time that took part: a host that adds up 10⁶ steps
/// is off by up to 10⁶ roundings at the end, 10⁻¹⁰.
const STOP_ROUNDING: f64 = 1e-9;

/// Refused attempts at one substep that are worth a warning: the controller is wrong by a factor now and then, three
/// times in a row means that something sudden has happened.
const BURST: u64 = 3;

/// Follows a run from inside: called after each accepted substep and able to look between steps.
pub trait Observer {
    /// A substep has been accepted. `probe` reads the instance at any time of that substep. An error ends the step; the
    /// instance stays at this substep's end.
    fn accepted(&mut self, probe: &mut StepProbe) -> Result<()>;
}

/// Reads outputs at a time within the last accepted substep.
pub struct StepProbe<'a> {
    pub(super) instance: &'a mut Instance,
    start: f64,
}

impl StepProbe<'_> {
    /// Start of the substep (s).
    pub fn start(&self) -> f64 {
        self.start
    }

    /// End of the substep (s).
    pub fn end(&self) -> f64 {
        self.instance.time()
    }

    /// The instance at the substep's end.
    pub fn instance(&self) -> &Instance {
        self.instance
    }

    /// The trial steps rejected since the last call; see [`Instance::record_rejected_steps`].
    pub fn take_rejected_steps(&mut self) -> Vec<RejectedStep> {
        self.instance.take_rejected_steps()
    }

    /// Names of the events at the substep's end: contacts that close or separate, joint limits, switching forces.
    pub fn events(&self) -> Vec<String> {
        let handled = self.instance.life.state.event_memory.iter().enumerate();
        handled
            .filter(|(_, what)| **what != EventMemory::Nothing)
            .map(|(i, _)| self.instance.mechanism.event_name(i))
            .collect()
    }

    /// Refuses a time outside the substep.
    pub(super) fn require_inside(&self, t: f64) -> Result<()> {
        let (start, end) = (self.start, self.end());
        if start <= t && t <= end {
            return Ok(());
        }
        Err(Error::Argument {
            name: "t".to_string(),
            value: t.to_string(),
            expected: format!("a time of the last substep, {start} to {end}"),
        })
    }

    /// Values of the variables at `t`, start <= t <= end, interpolated on the constraints; at the end exactly those that
    /// `get_real` gives. Counters (`solver.*`) are those at the end. On failure `values` is unchanged.
    pub fn values(&mut self, t: f64, references: &[u32], values: &mut [f64]) -> Result<()> {
        if t == self.end() {
            return self.instance.get_real(references, values);
        }
        same_length(references.len(), values.len())?;
        self.require_inside(t)?;
        let instance = &mut *self.instance;
        let mut least = false;
        for &reference in references {
            if let VariableSource::Output(quantity) = instance.catalogue.source(reference)? {
                least |= quantity.is_reaction();
            }
        }
        let env = environment(&instance.life.seen);
        let sample = &mut instance.scratch.sample;
        instance
            .integrator
            .interpolate(&*instance.mechanism, &env, t, sample)?;
        if least {
            instance
                .integrator
                .sample_reactions(&*instance.mechanism, &env, sample)?;
        }
        instance.scratch.values.clear();
        for &reference in references {
            let value = match instance.catalogue.source(reference)? {
                VariableSource::Input(i) => instance.life.seen.inputs[i].at(t)[0],
                VariableSource::Parameter(i) => instance.life.seen.parameters[i],
                VariableSource::Output(quantity) => {
                    let (point, mechanism) = instance.sampled_in_step();
                    point.value(mechanism, quantity)
                }
            };
            instance.scratch.values.push(value);
        }
        instance.hand_out(references, t, values)
    }
}

/// Sees nothing.
struct NoObserver;

impl Observer for NoObserver {
    fn accepted(&mut self, _probe: &mut StepProbe) -> Result<()> {
        Ok(())
    }
}

impl Instance {
    /// Keeps the trial steps that are rejected from now on, for [`Instance::take_rejected_steps`].
    pub fn record_rejected_steps(&mut self, on: bool) {
        self.integrator.record_rejected_steps(on);
    }

    /// The trial steps rejected since the last call, those of a step that failed among them.
    pub fn take_rejected_steps(&mut self) -> Vec<RejectedStep> {
        self.integrator.take_rejected_steps()
    }

    /// Advances from `t` to `t + h` by substeps. `t` is the instance's own time but for rounding; afterwards that time is
    /// the double `t + h`. A step of zero is legal and changes nothing. On failure the instance stays at the last accepted
    /// substep, and [`Instance::time`] says where that is.
    pub fn step(&mut self, t: f64, h: f64) -> Result<()> {
        self.step_observed(t, h, &mut NoObserver)
    }

    /// The same with an observer.
    pub fn step_observed(&mut self, t: f64, h: f64, observer: &mut dyn Observer) -> Result<()> {
        let before = self.life.state.statistics.steps;
        let outcome = self.substeps(t, h, observer);
        self.tell(LogCategory::Step, &outcome);
        outcome?;
        let (now, steps) = (self.time(), self.life.state.statistics.steps - before);
        self.log(
            LogLevel::Debug,
            LogCategory::Step,
            format_args!("from t = {t} s to t = {now} s in {steps} substeps"),
        );
        Ok(())
    }

    fn substeps(&mut self, t: f64, h: f64, observer: &mut dyn Observer) -> Result<()> {
        self.must_run("step")?;
        let Some(end) = self.destination(t, h)? else {
            return Ok(());
        };
        self.apply_sets()?;
        let mut substeps = 0;
        while self.time() < end {
            if self.cancel.load(Ordering::Relaxed) && self.cancel.swap(false, Ordering::Relaxed) {
                return Err(Error::Cancelled { time: self.time() });
            }
            let limit = self.model.solver.max_substeps;
            if substeps == limit {
                return Err(Error::TooManySubsteps {
                    time: self.time(),
                    limit,
                });
            }
            let start = self.time();
            let before = self.life.state.statistics;
            let env = environment(&self.life.seen);
            // Counters move also where it fails.
            self.scratch.known.forget();
            self.integrator
                .advance(&*self.mechanism, &env, &mut self.life.state, end)?;
            substeps += 1;
            if self.logger.is_some() {
                self.tell_substep(start, &before);
            }
            self.track_drift();
            observer.accepted(&mut StepProbe {
                instance: self,
                start,
            })?;
        }
        Ok(())
    }

    /// Events and bursts of refused attempts of the substep from `start`.
    fn tell_substep(&mut self, start: f64, before: &Statistics) {
        let now = self.life.state.statistics;
        if now.events > before.events && self.hears(LogLevel::Info, LogCategory::Event) {
            let handled = self.life.state.event_memory.iter().enumerate();
            let names = handled.filter(|(_, what)| **what != EventMemory::Nothing);
            let names: Vec<String> = names.map(|(i, _)| self.mechanism.event_name(i)).collect();
            let t = self.time();
            let names = names.join(", ");
            let text = format_args!("event at t = {t} s: {names}");
            self.log(LogLevel::Info, LogCategory::Event, text);
        }
        let refused = now.rejected - before.rejected;
        let diverged = now.newton_failures - before.newton_failures;
        if refused + diverged >= BURST {
            let h = now.step_size;
            self.log(
                LogLevel::Warning,
                LogCategory::Step,
                format_args!(
                    "at t = {start} s {} attempts were refused ({refused} by the error estimate, {diverged} without \
                     convergence) before h = {h:.3e} s was good enough",
                    refused + diverged
                ),
            );
        }
    }

    /// Where a step from `t` over `h` has to end; `None` for a step of zero. Refuses what cannot be meant.
    fn destination(&self, t: f64, h: f64) -> Result<Option<f64>> {
        let own = self.time();
        let refused = |name: &str, value: f64, expected: String| Error::Argument {
            name: name.to_string(),
            value: value.to_string(),
            expected,
        };
        if !t.is_finite() {
            return Err(refused("t", t, format!("the instance's time, {own} s")));
        }
        if !(h >= 0.0 && h.is_finite()) {
            let expected = "a finite step of zero or more".to_string();
            return Err(refused("step size", h, expected));
        }
        let scale = own.abs().max(t.abs()).max(self.life.start.abs());
        if (t - own).abs() > CLOCK_ROUNDING * scale + CLOCK_SLIP * h {
            return Err(refused("t", t, format!("the instance's time, {own} s")));
        }
        if h == 0.0 {
            return Ok(None);
        }
        let end = t + h;
        if !end.is_finite() {
            return Err(refused("step size", h, "an end that is finite".to_string()));
        }
        let scale = scale.max(end.abs());
        if end > self.life.stop + STOP_ROUNDING * scale + CLOCK_SLIP * h {
            let expected = format!(
                "an end (here {end}) not past the stop time, {} s",
                self.life.stop
            );
            return Err(refused("step size", h, expected));
        }
        if end <= own || end <= t {
            let expected = format!("more than the rounding of time at t = {own} s");
            return Err(refused("step size", h, expected));
        }
        Ok(Some(end))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

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
        instance.life.state.t = 1e308; // No mechanism gets there.
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
        assert_eq!(error, Error::TooManySubsteps { time: t, limit: 3 });
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
}
