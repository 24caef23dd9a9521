//! Error bars: what a run knows about its own error.
//!
//! ```text
//!   run        ──o────o───o─────o────o──|      delivered, tolerance τ; the same bits as without error bars
//!   companion  ──────o───────o─────────o|      100 τ, its own steps; compared within them, at events and at communication points
//! ```
//!
//! The difference of the two is the error of the looser one, and a safe bar for the other. Neither sees what both do wrong alike.

mod accuracy;
mod bars;
mod companion;
mod events;
mod serialization;

use std::fmt;

use super::Instance;
use super::instance_state::InstanceState;
use super::log::{LogCategory, LogLevel};
use crate::error::{Error, Result};

pub(super) use accuracy::first_tolerance;
pub(super) use bars::ErrorBars;
use bars::OutputBar;
pub use companion::COMPANION_RATIO;
pub(super) use companion::{Companion, RunSubstep};
use events::EventTimes;
pub(super) use serialization::visit_companion;

/// State of the companion and of the bars: all that their future depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompanionState {
    pub state: InstanceState,
    pub bars: ErrorBars,
}

impl CompanionState {
    pub fn copy_from(&mut self, companion: &Companion) {
        self.state.copy_from(&companion.instance.state);
        self.bars.copy_from(&companion.bars);
    }
}

/// What the error bars of a run say as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorBarSummary {
    /// Largest error bar over the range of its output.
    pub worst: f64,
    /// The output with it.
    pub worst_output: Option<String>,
    /// Largest difference of the times of an event (s): the bar in time of values that jump.
    pub event_time: f64,
    /// Time from which on an output is not determined (s): its bar is more than a tenth of its range.
    pub undetermined_after: Option<f64>,
    /// The output that is lost first.
    pub undetermined_output: Option<String>,
    /// Time at which the companion run stopped (s), and why; the error bars are infinite from there on.
    pub stopped: Option<(f64, String)>,
    /// Outputs without an error bar: counters, modes, time, the energy balance.
    pub left_out: Vec<String>,
    /// Outputs that jump: between the times at which the two runs jump they are not compared.
    pub jumping: Vec<String>,
    /// The accuracy asked for.
    pub accuracy: Option<f64>,
    /// Whether the worst error bar is within it; true if none was asked for.
    pub kept: bool,
}

impl fmt::Display for ErrorBarSummary {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut sentences = Vec::new();
        if let Some((time, why)) = &self.stopped {
            sentences.push(format!(
                "the companion run stopped at t = {time} s ({why}): nothing is known of the error from there on"
            ));
        }
        if let (Some(time), Some(output)) = (self.undetermined_after, &self.undetermined_output) {
            let time = significant(time);
            sentences.push(format!(
                "{output} is not determined beyond t = {time} s: the motion parts from that of a run a hundred times looser"
            ));
        }
        if !self.jumping.is_empty() {
            let (names, time) = (self.jumping.join(", "), significant(self.event_time));
            sentences.push(format!(
                "jumps of {names} are at their times within {time} s; between the two they are not compared"
            ));
        }
        if !self.left_out.is_empty() {
            let names = self.left_out.join(", ");
            sentences.push(format!("without an error bar: {names}"));
        }
        f.write_str(&sentences.join("\n"))
    }
}

/// A number with two or three digits.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-2..1e4).contains(&size) => {
            let text = format!("{value:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_string()
        }
        _ => format!("{value:.1e}"),
    }
}

impl Instance {
    /// Turns error bars on before `initialize`, as `error_bars = true` of `[solver]` does: `<output>.error` is added to the
    /// variables.
    pub fn use_error_bars(&mut self) -> Result<()> {
        if self.companion.is_some() {
            return Ok(());
        }
        if self.is_running() {
            return Err(Error::CallOrder {
                call: "turning error bars on",
                reason: "it is done before initialize",
            });
        }
        let mut model = self.model.clone();
        model.solver.error_bars = true;
        let mut changed = Self::from_model(model)?;
        changed.state.pending.copy_from(&self.state.pending);
        changed.state.applied.copy_from(&self.state.applied);
        if let Some(companion) = &mut changed.companion {
            let state = &mut companion.instance.state;
            state.pending.copy_from(&self.state.pending);
            state.applied.copy_from(&self.state.applied);
        }
        changed.set_extrapolation(self.extrapolation());
        changed.cancel = self.cancel.clone();
        changed.logger = self.logger.take();
        *self = changed;
        Ok(())
    }

    /// What the error bars say as a whole; `None` without error bars.
    pub fn error_bars(&self) -> Option<ErrorBarSummary> {
        let companion = self.companion.as_deref()?;
        let bars = &companion.bars;
        let name = |i: usize| {
            let reference = companion.compared[i].reference;
            self.catalogue.name(reference).to_string()
        };
        let (worst, worst_output) = bars.worst();
        let undetermined = bars.undetermined();
        let jumping = (0..bars.outputs.len()).filter(|i| bars.outputs[*i].jumps);
        let left_out = (self.outputs()).filter(|output| self.error_bar(*output).is_none());
        let accuracy = self.model.solver.accuracy;
        Some(ErrorBarSummary {
            worst,
            worst_output: worst_output.map(name),
            event_time: bars.events.largest_difference,
            undetermined_after: undetermined.map(|(time, _)| time),
            undetermined_output: undetermined.map(|(_, i)| name(i)),
            stopped: (bars.stopped()).then(|| (bars.stopped_at, bars.stopped_why.clone())),
            left_out: left_out
                .map(|output| self.catalogue.name(output).to_string())
                .collect(),
            jumping: jumping.map(name).collect(),
            accuracy,
            kept: accuracy.is_none_or(|accuracy| worst <= accuracy),
        })
    }

    /// The same; an error without error bars.
    pub fn require_error_bars(&self) -> Result<ErrorBarSummary> {
        self.error_bars().ok_or(Error::CallOrder {
            call: "reading error bars",
            reason: "turn them on first: error_bars = true in [solver]",
        })
    }

    /// Value reference of the error bar of an output, `<output>.error`; `None` if it has none.
    pub fn error_bar(&self, output: u32) -> Option<u32> {
        self.catalogue.error_bar(output)
    }

    /// The error bar of an output as a picture shows it: not larger than the range of the output. Zero if it has none.
    pub fn error_band(&self, output: u32) -> f64 {
        let Some(companion) = &self.companion else {
            return 0.0;
        };
        let mut compared = companion.compared.iter();
        let index = compared.position(|compared| compared.reference == output);
        let bars = &companion.bars;
        index.map_or(0.0, |i| bars.stated(i).min(bars.scale(i)))
    }

    /// The error bar of compared output `i`.
    pub(super) fn stated_error(&self, i: usize) -> f64 {
        self.companion.as_ref().map_or(0.0, |c| c.bars.stated(i))
    }

    /// 1 while the accuracy asked for is kept, else 0.
    pub(super) fn accuracy_kept(&self) -> f64 {
        let (Some(companion), Some(accuracy)) = (&self.companion, self.model.solver.accuracy)
        else {
            return 1.0;
        };
        f64::from(u8::from(companion.bars.worst().0 <= accuracy))
    }

    /// Does the same with the companion, at the time of the run.
    pub(super) fn with_companion(&mut self, act: impl FnOnce(&mut Instance) -> Result<()>) {
        let now = self.time();
        if let Some(companion) = &mut self.companion {
            if companion.bars.stopped() {
                return;
            }
            if companion.instance.time() > now {
                companion.land(now);
            }
            let outcome = act(&mut companion.instance);
            companion.note(outcome);
        }
    }

    /// Lets the companion follow an accepted substep.
    pub(super) fn follow_with_companion(&mut self, substep: RunSubstep) {
        if let Some(mut companion) = self.companion.take() {
            let running = !companion.bars.stopped();
            companion.follow(self, substep);
            self.companion = Some(companion);
            if running {
                self.review_accuracy(substep.target);
                self.tell_error_bars();
            }
        }
    }

    /// Lets the companion land where the run is.
    pub(super) fn land_companion(&mut self) {
        let now = self.time();
        if let Some(companion) = &mut self.companion {
            companion.land(now);
        }
    }

    /// Begins the comparison at the present time.
    pub(super) fn start_companion(&mut self, start: f64, stop: f64, tolerance: f64) {
        if let Some(mut companion) = self.companion.take() {
            companion.initialize(start, stop, tolerance);
            companion.bars.next_review = accuracy::first_review(start, stop);
            companion.compare_start(self);
            self.companion = Some(companion);
        }
    }

    /// Moves the companion to the equilibrium too, and begins the comparison there.
    pub(super) fn rest_companion(&mut self) {
        let now = self.time();
        self.with_companion(|companion| companion.equilibrium().map(drop));
        if let Some(mut companion) = self.companion.take() {
            if !companion.bars.stopped() {
                companion.bars.restart(now);
                companion.forget_substep();
                companion.compare_start(self);
            }
            self.companion = Some(companion);
        }
    }

    /// Logs, once each, that the companion stopped, or that an output has not been determined for half of the time.
    fn tell_error_bars(&mut self) {
        let (now, start) = (self.time(), self.state.start);
        let Some(companion) = &mut self.companion else {
            return;
        };
        let lost = (companion.bars.undetermined())
            .is_some_and(|(since, _)| now - start >= 2.0 * (since - start));
        let told = &mut companion.bars.told.undetermined;
        if !*told && (lost || companion.bars.stopped_at < f64::INFINITY) {
            *told = true;
            if self.is_logged(LogLevel::Warning, LogCategory::Step)
                && let Some(summary) = self.error_bars()
            {
                let text = summary.to_string();
                let sentence = text.lines().next().unwrap_or_default();
                self.log(
                    LogLevel::Warning,
                    LogCategory::Step,
                    format_args!("error bars: {sentence}"),
                );
            }
        }
    }
}
