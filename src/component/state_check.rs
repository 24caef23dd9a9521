//! Checks of a state that was read from bytes: whoever has changed them may have mended the checksum too.

use super::Instance;
use super::error_bars::{Companion, CompanionState, ErrorBars};
use super::input::InputState;
use super::instance_state::{InstancePhase, InstanceState};
use super::serialization::damaged;
use crate::error::Result;
use crate::formulation::Dimensions;
use crate::integrator::State;
use crate::model::counters::{COUNTERS, CounterValue};

impl Instance {
    /// An error unless the state can be one of this instance: lengths, ranges of numbers, modes.
    pub(super) fn check_state(&self, state: &InstanceState) -> Result<()> {
        let fresh = InstanceState::new(&self.model);
        check_lengths(state, &fresh)?;
        check_ranges(state, &fresh)?;
        let running = state.phase == InstancePhase::Running;
        let size = match running {
            true => self.mechanism.dimensions(),
            false => Dimensions::default(),
        };
        self.check_motion(&state.motion, &size)?;
        let ahead = &state.ahead;
        if !ahead.active {
            return Ok(());
        }
        for end in [&ahead.start, &ahead.end] {
            self.check_motion(end, &size)?;
        }
        let inside = ahead.start.t <= state.motion.t && state.motion.t <= ahead.end.t;
        let same = ahead.start.modes == ahead.end.modes && ahead.start.modes == state.motion.modes;
        match running && inside && same && ahead.start.t < ahead.end.t {
            true => Ok(()),
            false => Err(damaged("a step that does not contain its time")),
        }
    }

    /// An error unless this can be the state of the integrator, in a system of this size.
    fn check_motion(&self, motion: &State, size: &Dimensions) -> Result<()> {
        check_motion_lengths(motion, size)?;
        check_motion_ranges(motion)?;
        match !motion.q.is_empty() && !self.mechanism.modes_exist(&motion.modes) {
            true => Err(damaged("a mode that does not exist")),
            false => Ok(()),
        }
    }
}

/// An error unless every vector has the length of this model.
impl Companion {
    pub(super) fn check_companion(&self, read: &CompanionState) -> Result<()> {
        self.instance.check_state(&read.state)?;
        let (bars, own) = (&read.bars, &self.bars);
        let lengths = |bars: &ErrorBars| {
            let events = bars.events.events.len();
            (bars.outputs.len(), bars.magnitudes.len(), events)
        };
        if lengths(bars) != lengths(own) {
            return Err(damaged("its size is not that of this model"));
        }
        let not_negative = |numbers: &[f64]| numbers.iter().all(|x| *x >= 0.0);
        let waiting = |t: f64| u32::from(t < f64::INFINITY);
        let events = &bars.events.events;
        let pending = (events.iter()).map(|e| waiting(e.run) + waiting(e.companion));
        let fits = not_negative(&[
            bars.unseen,
            bars.kinetic_energy,
            bars.events.largest_difference,
        ]) && not_negative(&bars.magnitudes)
            && (bars.outputs.iter()).all(|bar| bar.difference >= 0.0 && !bar.smallest.is_nan())
            && events.iter().all(|event| event.last.is_finite())
            && pending.sum::<u32>() == bars.events.pending
            && !bars.stopped_at.is_nan();
        match fits {
            true => Ok(()),
            false => Err(damaged("a number outside its range")),
        }
    }
}

fn check_lengths(state: &InstanceState, fresh: &InstanceState) -> Result<()> {
    let counts = |d: &InputState| (d.inputs.len(), d.parameters.len());
    let fits = counts(&state.pending) == counts(&fresh.pending)
        && counts(&state.applied) == counts(&fresh.applied)
        && state.history.len() == fresh.history.len();
    match fits {
        true => Ok(()),
        false => Err(damaged("its size is not that of this model")),
    }
}

fn check_motion_lengths(motion: &State, size: &Dimensions) -> Result<()> {
    let lengths = |s: &State| {
        [
            s.q.len(),
            s.v.len(),
            s.acc.len(),
            s.lambda.len(),
            s.modes.len(),
            s.integrals.len(),
            s.a.len(),
            s.delta.len(),
            s.delta_dot.len(),
            s.lambda_dot.len(),
            s.jerk.len(),
            s.previous_acc.len(),
            s.previous_jerk.len(),
            s.scale.len(),
            s.redundant.len(),
            s.event_memory.len(),
            s.event_side.len(),
        ]
    };
    match lengths(motion) == lengths(&State::sized(size)) {
        true => Ok(()),
        false => Err(damaged("its size is not that of this model")),
    }
}

/// An error unless every number is in the range that it has in a state that was saved.
fn check_ranges(state: &InstanceState, fresh: &InstanceState) -> Result<()> {
    let InstanceState {
        start,
        stop,
        tolerance,
        pending,
        applied,
        history,
        total_at_start,
        energy_drift,
        ahead,
        ..
    } = state;
    let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
    let times = start.is_finite()
        && stop >= start
        && *tolerance > 0.0
        && tolerance.is_finite()
        && !ahead.not_before.is_nan();
    let energies = finite(&[*total_at_start, *energy_drift]);
    let inputs = [pending, applied].iter().all(|set| {
        let ranges = (set.inputs.iter().zip(&fresh.pending.inputs)).all(|(input, fresh)| {
            input.order == fresh.order
                && input.since.is_finite()
                && finite(&input.taylor)
                && finite(&input.position_and_speed)
        });
        ranges && finite(&set.parameters)
    });
    let histories = (history.iter()).all(|h| h.count <= 3 && finite(&h.t) && finite(&h.u));
    match times && energies && inputs && histories {
        true => Ok(()),
        false => Err(damaged("a number outside its range")),
    }
}

fn check_motion_ranges(s: &State) -> Result<()> {
    let finite = |numbers: &[f64]| numbers.iter().all(|x| x.is_finite());
    let not_negative = |numbers: &[f64]| numbers.iter().all(|x| *x >= 0.0);
    let energies = finite(&[s.dissipated, s.supplied]);
    let vectors = [
        &s.q,
        &s.v,
        &s.acc,
        &s.lambda,
        &s.a,
        &s.delta,
        &s.delta_dot,
        &s.lambda_dot,
        &s.jerk,
        &s.previous_acc,
        &s.previous_jerk,
        &s.scale,
    ];
    let integrals = (s.integrals.iter()).all(|i| {
        finite(&[i.t, i.value, i.previous_step])
            && finite(&i.integrand)
            && finite(&i.previous)
            && i.t <= s.t
            && i.previous_step >= 0.0
    });
    // The contraction is infinite if it is unknown, the pivot if there are no constraints.
    let steps = finite(&[s.t, s.h, s.factored_step])
        && not_negative(&[s.h, s.next_h, s.factored_step])
        && not_negative(&[s.newton_contraction, s.typical_pivot])
        && not_negative(&s.scale);
    let statistics = (COUNTERS.iter()).all(|counter| match (counter.value)(&s.statistics) {
        CounterValue::Real(value) => value >= 0.0,
        CounterValue::Count(_) => true,
    });
    let vectors = vectors.iter().all(|vector| finite(vector));
    match energies && vectors && integrals && steps && statistics {
        true => Ok(()),
        false => Err(damaged("a number outside its range")),
    }
}
