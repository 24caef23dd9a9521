//! Save and restore. All of an instance that changes during its life is one struct, [`Life`]: saving copies it out,
//! restoring copies it in, and neither allocates when the target already has the size.

use std::sync::Arc;

use super::Instance;
use super::input::{Extrapolation, History, InputPolynomial, InputState};
use super::log::{LogCategory, LogLevel};
use crate::error::{Error, Result};
use crate::integrator::{Integrator, StartReport, State, Statistics};
use crate::model::{Model, SolverSettings};

/// Where in its life an instance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InstancePhase {
    /// Inputs and parameters may be set; there is no motion yet.
    Created,
    /// Assembled and consistent; can be stepped.
    Running,
}

/// Everything the future of an instance depends on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InstanceState {
    pub phase: InstancePhase,
    /// s; the model's before the start.
    pub start: f64,
    /// s; may be infinite.
    pub stop: f64,
    /// The one in use.
    pub tolerance: f64,
    /// How inputs go on between the host's values.
    pub extrapolation: Extrapolation,
    /// What the outside has set.
    pub wanted: InputState,
    /// What the integrator knows. Different from `wanted` between a set and the next step or get: the jump rule is due.
    pub seen: InputState,
    /// The host's last values of each input; kept only where inputs are extrapolated.
    pub history: Vec<History>,
    /// Kinetic + potential energy at start (J).
    pub total_at_start: f64,
    /// Energy balance of largest magnitude over all accepted substeps, signed (J).
    pub drift: f64,
    /// Shared, because copying names would allocate.
    pub report: Option<Arc<StartReport>>,
    pub state: State,
}

impl InstanceState {
    /// The beginning: start values, nothing assembled.
    pub fn new(model: &Model) -> Self {
        let start = model.experiment.start;
        let drive = InputState {
            inputs: model
                .inputs
                .iter()
                .map(|input| InputPolynomial::of(model, input))
                .collect(),
            parameters: model.parameters.iter().map(|p| p.start).collect(),
        };
        Self {
            phase: InstancePhase::Created,
            start,
            stop: f64::INFINITY,
            tolerance: model.solver.tolerance,
            extrapolation: Extrapolation::Hold,
            history: vec![History::default(); model.inputs.len()],
            wanted: drive.clone(),
            seen: drive,
            total_at_start: 0.0,
            drift: 0.0,
            report: None,
            state: State {
                t: start,
                statistics: Statistics {
                    smallest_step: f64::INFINITY,
                    ..Statistics::default()
                },
                ..State::default()
            },
        }
    }

    /// Takes over `other`; allocates only if the sizes differ.
    fn copy_from(&mut self, other: &Self) {
        self.phase = other.phase;
        self.start = other.start;
        self.stop = other.stop;
        self.tolerance = other.tolerance;
        self.extrapolation = other.extrapolation;
        self.wanted.copy_from(&other.wanted);
        self.seen.copy_from(&other.seen);
        self.history.clone_from(&other.history);
        self.total_at_start = other.total_at_start;
        self.drift = other.drift;
        self.report.clone_from(&other.report);
        self.state.copy_from(&other.state);
    }
}

/// A state of an instance, to go back to: the motion, the integrator's memory, the inputs and parameters with what is
/// still due from setting them, the phase of life. It fits any instance of an equal model.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedState {
    pub(super) fingerprint: u64,
    pub(super) life: InstanceState,
}

impl SavedState {
    /// Time of the state (s).
    pub fn time(&self) -> f64 {
        self.life.state.t
    }
}

impl Instance {
    /// The present state.
    pub fn save(&self) -> Result<SavedState> {
        Ok(SavedState {
            fingerprint: self.fingerprint,
            life: self.life.clone(),
        })
    }

    /// Saves into an existing state without allocating.
    pub fn save_into(&self, state: &mut SavedState) -> Result<()> {
        state.fingerprint = self.fingerprint;
        state.life.copy_from(&self.life);
        Ok(())
    }

    /// Back to a saved state of this model, whatever has happened since. What follows has the bits it had the first
    /// time. Allocates only where the state was reached with another tolerance than the one in use.
    pub fn restore(&mut self, state: &SavedState) -> Result<()> {
        if state.fingerprint != self.fingerprint {
            let error = Error::ForeignState {
                reason: format!("it was saved by another model than \"{}\"", self.model.name),
            };
            let refused = Err(error);
            self.tell(LogCategory::State, &refused);
            return refused;
        }
        let usable = self.use_tolerance(state.life.tolerance);
        self.tell(LogCategory::State, &usable);
        usable?;
        let left = self.time();
        self.life.copy_from(&state.life);
        self.integrator.forget();
        self.scratch.known.forget();
        let now = self.time();
        self.log(
            LogLevel::Debug,
            LogCategory::State,
            format_args!("back from t = {left} s to t = {now} s"),
        );
        Ok(())
    }

    /// Makes the integrator work to `tolerance`.
    pub(super) fn use_tolerance(&mut self, tolerance: f64) -> Result<()> {
        if self.integrator_tolerance != tolerance {
            let settings = SolverSettings {
                tolerance,
                ..self.model.solver
            };
            self.integrator = Integrator::new(&*self.mechanism, &settings)?;
            self.integrator_tolerance = tolerance;
        }
        Ok(())
    }
}

/// A number that differs (but for a chance of 2⁻⁶⁴) between models with different meaning. Where the text came from
/// and how it is laid out does not count. The same in every process and on every machine: FNV-1a over the model's
/// fields as `Debug` writes them, which is exact for numbers.
pub(super) fn fingerprint(model: &Model) -> u64 {
    fnv(format!("{:?}", model.without_text_positions()).as_bytes())
}

/// 64-bit FNV-1a (Fowler, Noll, Vo). A single changed byte always changes it.
pub(super) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use crate::model::TextPosition;

    #[test]
    fn the_hash_is_fnv_1a() {
        // The test vector published with the algorithm.
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn where_a_model_was_written_does_not_count_but_what_it_says_does() {
        let plain = fingerprint(&model());
        let mut moved = model();
        moved.origin = "elsewhere.toml".to_string();
        moved.bodies[0].place = TextPosition { line: 7, column: 1 };
        moved.outputs[3].place = TextPosition { line: 9, column: 9 };
        assert_eq!(fingerprint(&moved), plain);
        let mut heavier = model();
        heavier.bodies[0].mass = 1.0 + f64::EPSILON;
        assert_ne!(fingerprint(&heavier), plain);
        let mut looser = model();
        looser.solver.alpha = 0.1;
        assert_ne!(fingerprint(&looser), plain);
    }

    #[test]
    fn a_foreign_state_is_refused_and_changes_nothing() {
        let mut other = model();
        other.parameters[0].start = 5.0;
        let foreign = of(other).save().unwrap();
        let mut instance = running();
        let before = format!("{:?}", instance.save().unwrap());
        let error = instance.restore(&foreign).unwrap_err();
        assert!(matches!(error, Error::ForeignState { .. }), "{error}");
        assert_eq!(before, format!("{:?}", instance.save().unwrap()));
    }

    #[test]
    fn a_set_not_yet_heard_of_survives_saving() {
        let mut instance = running();
        instance.step(0.0, 0.5).unwrap();
        instance.set_real(&[PUSH, STIFFNESS], &[3.0, 5.0]).unwrap();
        let saved = instance.save().unwrap();
        instance.step(0.5, 0.5).unwrap();
        let first = format!("{:?}", instance.save().unwrap());
        instance.restore(&saved).unwrap();
        assert_eq!(get(&mut instance, PUSH), 3.0);
        instance.step(0.5, 0.5).unwrap();
        assert_eq!(first, format!("{:?}", instance.save().unwrap()));
    }

    #[test]
    fn a_state_fits_an_instance_in_any_phase_of_life() {
        let mut origin = oscillator();
        origin.initialize(-1.0, 10.0, 1e-5).unwrap();
        origin.step(-1.0, 0.7).unwrap();
        let t = origin.time();
        let saved = origin.save().unwrap();
        origin.step(t, 2.0).unwrap();
        let expected = format!("{:?}", origin.save().unwrap());

        let created = oscillator();
        let mut failed = running();
        failed.set_real(&[STIFFNESS], &[BROKEN]).unwrap();
        failed.step(0.0, 1.0).unwrap_err();
        let mut reset = running();
        reset.reset();
        for mut instance in [created, failed, reset, running()] {
            instance.restore(&saved).unwrap();
            assert_eq!(instance.time(), t);
            assert_eq!(instance.start_report(), origin.start_report());
            instance.step(t, 2.0).unwrap();
            assert_eq!(expected, format!("{:?}", instance.save().unwrap()));
            // The stop time came with it.
            assert!(instance.step(instance.time(), 20.0).is_err());
        }
    }

    #[test]
    fn going_back_before_the_start_is_possible() {
        let mut instance = oscillator();
        instance.set_real(&[PUSH], &[2.0]).unwrap();
        let saved = instance.save().unwrap();
        instance.initialize(0.0, 1.0, 1e-4).unwrap();
        instance.step(0.0, 1.0).unwrap();
        instance.restore(&saved).unwrap();
        assert!(!instance.is_running());
        assert_eq!(get(&mut instance, PUSH), 2.0);
        assert!(instance.step(0.0, 1.0).is_err());
        instance.initialize(0.0, 1.0, 0.0).unwrap();
    }

    #[test]
    fn saving_into_an_old_state_is_the_same_as_saving() {
        let mut instance = running();
        let mut slot = oscillator().save().unwrap();
        for k in 0..5 {
            instance.set_real(&[PUSH], &[f64::from(k)]).unwrap();
            instance.step(f64::from(k), 1.0).unwrap();
            instance.save_into(&mut slot).unwrap();
            let fresh = instance.save().unwrap();
            assert_eq!(format!("{slot:?}"), format!("{fresh:?}"));
        }
    }

    #[test]
    fn a_reset_instance_is_as_just_created_and_repeats_itself() {
        let mut instance = oscillator();
        let created = format!("{:?}", instance.save().unwrap());
        let mut life = || {
            instance.set_real(&[PUSH, MASS], &[2.0, 1.5]).unwrap();
            instance.initialize(0.5, 9.0, 1e-7).unwrap();
            instance.step(0.5, 3.0).unwrap();
            let end = format!("{:?}", instance.save().unwrap());
            instance.reset();
            (end, format!("{:?}", instance.save().unwrap()))
        };
        let (first, second) = (life(), life());
        assert_eq!(first, second);
        assert_eq!(first.1, created);
    }
}
