//! From one communication point to the next by as many substeps as the error asks for.
//!
//! The host says where it is and how far to go, and both are doubles that went through its own arithmetic: `t = k H`,
//! or a sum, or text with twelve digits. The instance takes the host's word for the end: after `step(t, h)` its time
//! is the double `t + h`. So the two clocks meet again at every call, nothing accumulates between them, and what has to be
//! forgiven is one call's rounding only.

use std::sync::atomic::Ordering;

use super::Instance;
use super::value::{environment, same_length};
use super::variables::Source;
use crate::error::{Error, Result};

/// How far, as part of the step, the host's time may be from the instance's. A host that means another time is off by
/// a good part of a step; a millionth is the rounding of a clock kept in text or in ticks, and changes the step by as much.
const CLOCK_SLIP: f64 = 1e-6;

/// The same for steps that are tiny against the time itself: the rounding of a few additions and products, relative to
/// the largest time that took part.
const CLOCK_ROUNDING: f64 = 16.0 * f64::EPSILON;

/// How far past the stop time a step may end, relative to the largest time that took part: a host that adds up 10⁶ steps
/// is off by up to 10⁶ roundings at the end, 10⁻¹⁰.
const STOP_ROUNDING: f64 = 1e-9;

/// Follows a run from inside: called after each accepted substep and able to look between steps.
pub trait Observer {
    /// A substep has been accepted. `probe` reads the instance at any time of that substep. An error ends the step; the
    /// instance stays at this substep's end.
    fn accepted(&mut self, probe: &mut Probe) -> Result<()>;
}

/// Reads outputs at a time within the last accepted substep.
pub struct Probe<'a> {
    instance: &'a mut Instance,
    start: f64,
}

impl Probe<'_> {
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

    /// Values of the variables at `t`, start <= t <= end, interpolated on the constraints; at the end exactly those that
    /// `get_real` gives. Counters (`solver.*`) are those at the end. On failure `values` is unchanged.
    pub fn values(&mut self, t: f64, references: &[u32], values: &mut [f64]) -> Result<()> {
        let (start, end) = (self.start, self.end());
        if t == end {
            return self.instance.get_real(references, values);
        }
        same_length(references.len(), values.len())?;
        if !(start <= t && t < end) {
            return Err(Error::Argument {
                name: "t".to_string(),
                value: t.to_string(),
                expected: format!("a time of the last substep, {start} to {end}"),
            });
        }
        let instance = &mut *self.instance;
        for &reference in references {
            instance.catalogue.source(reference)?;
        }
        let env = environment(&instance.life.seen);
        let sample = &mut instance.scratch.sample;
        instance.integrator.interpolate(
            &*instance.mechanism,
            &env,
            &instance.life.state,
            t,
            sample,
        )?;
        instance.scratch.values.clear();
        for &reference in references {
            let value = match instance.catalogue.source(reference)? {
                Source::Input(i) => instance.life.seen.inputs[i].at(t)[0],
                Source::Parameter(i) => instance.life.seen.parameters[i],
                Source::Output(quantity) => {
                    let (point, mechanism) = instance.sampled();
                    point.value(mechanism, quantity)
                }
            };
            instance.scratch.values.push(value);
        }
        instance.hand_out(references, t, values)
    }
}

/// Sees nothing.
struct Blind;

impl Observer for Blind {
    fn accepted(&mut self, _probe: &mut Probe) -> Result<()> {
        Ok(())
    }
}

impl Instance {
    /// Advances from `t` to `t + h` by substeps. `t` is the instance's own time but for rounding; afterwards that time is
    /// the double `t + h`. A step of zero is legal and changes nothing. On failure the instance stays at the last accepted
    /// substep, and [`Instance::time`] says where that is.
    pub fn step(&mut self, t: f64, h: f64) -> Result<()> {
        self.step_observed(t, h, &mut Blind)
    }

    /// The same with an observer.
    pub fn step_observed(&mut self, t: f64, h: f64, observer: &mut dyn Observer) -> Result<()> {
        self.must_run("step")?;
        let Some(end) = self.destination(t, h)? else {
            return Ok(());
        };
        self.apply_sets()?;
        let mut substeps = 0;
        while self.time() < end {
            if self.cancel.swap(false, Ordering::Relaxed) {
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
            let env = environment(&self.life.seen);
            self.integrator
                .advance(&*self.mechanism, &env, &mut self.life.state, end)?;
            substeps += 1;
            self.track_drift();
            observer.accepted(&mut Probe {
                instance: self,
                start,
            })?;
        }
        Ok(())
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
