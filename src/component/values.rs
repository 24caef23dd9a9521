//! Set and get. A set is only noted down; the mechanism hears of it before the next step, or before the next read of
//! an output, by the jump rule: accelerations and reactions follow the new value at once,
//!
//! ```text
//!   M a + Gᵀ λ = f(q, v, t, u_new, p_new),     q and v as they were.
//! ```

use super::energy::EnergyAccount;
use super::input::{Extrapolation, History, InputState};
use super::instance_state::{InstancePhase, InstanceState};
use super::log::{LogCategory, LogLevel};
use super::variables::VariableSource;
use super::{ExternalSignals, Instance, InstanceScratch};
use crate::error::{Error, Result};
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint};
use crate::integrator::{Environment, Signals, State, Statistics};
use crate::model::quantity::Quantity;

impl Instance {
    /// Sets inputs and parameters, each from the present time on; on failure nothing is set. An input is held at the
    /// value (or continued as [`Instance::set_extrapolation`] says), derivatives given earlier end. Setting what is
    /// already there changes nothing, not a bit of what follows.
    ///
    /// While the instance runs, the energy that a changed parameter brings in counts as supplied.
    #[inline]
    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        let outcome = self.note_values(references, values);
        self.tell(LogCategory::Input, &outcome);
        outcome
    }

    #[inline]
    fn note_values(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        for (&reference, &value) in references.iter().zip(values) {
            self.catalogue.settable(reference, value)?;
        }
        let now = self.time();
        for (&reference, &value) in references.iter().zip(values) {
            match self.catalogue.source(reference)? {
                VariableSource::Input(i) => {
                    let taylor = self.life.continued(i, now, value);
                    self.life.set_course(i, taylor);
                }
                VariableSource::Parameter(i) => self.life.set_parameter(i, value),
                VariableSource::Output(_) => unreachable!("outputs are not settable"),
            }
        }
        self.scratch.known.forget();
        Ok(())
    }

    /// Sets derivatives of inputs (order 1 or 2; per s, per s²) from the present time on; on failure nothing is set.
    /// The value and the derivatives not named continue from where they are: set the value first, if it is to change.
    pub fn set_input_derivatives(
        &mut self,
        references: &[u32],
        orders: &[u32],
        values: &[f64],
    ) -> Result<()> {
        let outcome = self.note_derivatives(references, orders, values);
        self.tell(LogCategory::Input, &outcome);
        outcome
    }

    fn note_derivatives(
        &mut self,
        references: &[u32],
        orders: &[u32],
        values: &[f64],
    ) -> Result<()> {
        same_length(references.len(), values.len())?;
        same_length(references.len(), orders.len())?;
        for i in 0..references.len() {
            (self.catalogue).derivable(references[i], orders[i], values[i])?;
        }
        let now = self.time();
        for i in 0..references.len() {
            let input = (self.catalogue).derivable(references[i], orders[i], values[i])?;
            let mut taylor = self.life.wanted.inputs[input].at(now);
            taylor[orders[i] as usize] = values[i];
            self.life.set_course(input, taylor);
        }
        self.scratch.known.forget();
        Ok(())
    }

    /// How inputs go on from a value that is set from now on: held (the default), or along the line or parabola through
    /// the host's own last values, as far as there are any yet. An input that is not set again goes on along its line or
    /// parabola for ever. Derivatives given by [`Instance::set_input_derivatives`] replace those of the same order. Part
    /// of the saved state; a reset brings the default back.
    pub fn set_extrapolation(&mut self, extrapolation: Extrapolation) {
        let now = self.time();
        let InstanceState {
            wanted, history, ..
        } = &mut self.life;
        for (history, course) in history.iter_mut().zip(&wanted.inputs) {
            *history = History::default();
            if extrapolation != Extrapolation::Hold {
                history.note(now, course.at(now)[0]);
            }
        }
        self.life.extrapolation = extrapolation;
    }

    /// The one in use.
    pub fn extrapolation(&self) -> Extrapolation {
        self.life.extrapolation
    }

    /// Reads variables; on failure `values` is unchanged. Outputs exist from `initialize` on and follow a set at once.
    #[inline]
    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        if self.scratch.known.give(references, values) {
            return Ok(());
        }
        let outcome = self.read(references, values);
        self.tell(LogCategory::Step, &outcome);
        if outcome.is_ok() {
            self.scratch.known.keep(references, values);
        }
        outcome
    }

    fn read(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        let (mut outputs, mut least) = (false, false);
        for &reference in references {
            if let VariableSource::Output(quantity) = self.catalogue.source(reference)? {
                outputs = true;
                least |= quantity.is_reaction();
            }
        }
        if outputs {
            self.must_run("reading an output")?;
            self.apply_sets()?;
        }
        if least {
            self.find_reactions()?;
        }
        self.scratch.values.clear();
        for &reference in references {
            let value = match self.catalogue.source(reference)? {
                VariableSource::Input(i) => self.life.wanted.inputs[i].at(self.time())[0],
                VariableSource::Parameter(i) => self.life.wanted.parameters[i],
                VariableSource::Output(quantity) => {
                    let (point, mechanism) = self.present(least);
                    point.value(mechanism, quantity)
                }
            };
            self.scratch.values.push(value);
        }
        self.hand_out(references, self.time(), values)
    }

    /// Gives the values in the scratch to the caller, if all of them are numbers.
    #[inline]
    pub(super) fn hand_out(&self, references: &[u32], t: f64, values: &mut [f64]) -> Result<()> {
        for (&reference, value) in references.iter().zip(&self.scratch.values) {
            if !value.is_finite() {
                return Err(Error::Evaluation {
                    time: t,
                    culprit: self.catalogue.name(reference).to_string(),
                });
            }
        }
        values.copy_from_slice(&self.scratch.values);
        Ok(())
    }

    /// Lets the mechanism hear of what has been set since the last step. On failure it stays due.
    #[inline]
    pub(super) fn apply_sets(&mut self) -> Result<()> {
        if self.life.wanted == self.life.seen {
            return Ok(());
        }
        let before = self.total_energy();
        let counters = self.life.state.statistics;
        let env = environment(&self.life.wanted);
        let state = &mut self.life.state;
        let moved = match self
            .integrator
            .apply_input_jump(&*self.mechanism, &env, state)
        {
            Ok(moved) => moved,
            Err(error) => {
                self.life.state.statistics = counters;
                return Err(error);
            }
        };
        if moved {
            self.life.state.statistics.events += 1;
            self.log(
                LogLevel::Warning,
                LogCategory::Input,
                format_args!(
                    "an input has moved a position by a jump; the mechanism was assembled again"
                ),
            );
        } else if self.hears(LogLevel::Debug, LogCategory::Input) {
            let names = self.changed_names();
            self.log(
                LogLevel::Debug,
                LogCategory::Input,
                format_args!("set: {names}"),
            );
        }
        self.life.seen.copy_from(&self.life.wanted);
        self.scratch.known.forget();
        // Work done from outside: by stretching a spring's rest length, say.
        self.life.state.supplied += self.total_energy() - before;
        Ok(())
    }

    /// Inputs and parameters that differ from what the integrator knows.
    fn changed_names(&self) -> String {
        let InstanceState { wanted, seen, .. } = &self.life;
        let inputs = (wanted.inputs.iter().zip(&seen.inputs)).map(|(a, b)| a != b);
        let parameters = (wanted.parameters.iter().zip(&seen.parameters)).map(|(a, b)| a != b);
        let inputs = inputs.zip(self.model.inputs.iter().map(|i| &i.name));
        let parameters = parameters.zip(self.model.parameters.iter().map(|p| &p.name));
        let names = inputs.chain(parameters).filter(|(changed, _)| *changed);
        let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
        names.join(", ")
    }

    /// Kinetic + potential energy now, with the inputs and parameters the integrator knows (J).
    pub(super) fn total_energy(&mut self) -> f64 {
        let (point, mechanism) = self.here();
        point.account(mechanism).total()
    }

    /// Shares the multipliers out over redundant rows, for [`Instance::present`].
    pub(super) fn find_reactions(&mut self) -> Result<()> {
        let env = environment(&self.life.seen);
        let reactions = &mut self.scratch.reactions;
        self.integrator
            .reactions(&*self.mechanism, &env, &self.life.state, reactions)
    }

    /// The present point of the motion, with the inputs and parameters the integrator knows.
    #[inline]
    pub(super) fn here(&mut self) -> (QuantityPoint<'_>, &dyn Mechanism) {
        self.present(false)
    }

    /// The same, on demand with the reactions that [`Instance::find_reactions`] found.
    pub(super) fn present(&mut self, least: bool) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let state = &self.life.state;
        let InstanceScratch {
            around, reactions, ..
        } = &mut self.scratch;
        let motion = MotionPoint {
            q: &state.q,
            v: &state.v,
            a: &state.acc,
            lambda: if least { reactions } else { &state.lambda },
        };
        let work = (state.dissipated, state.supplied);
        let drive = &self.life.seen;
        let point = QuantityPoint::new(&self.life, drive, state.t, motion, work, around);
        (point, &*self.mechanism)
    }

    /// The point in `scratch.sample`, inside the last substep, in the modes of that substep. An event at its end may have
    /// changed them, and a piecewise law must not be evaluated outside the piece that was active.
    pub(super) fn sampled_in_step(&mut self) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let InstanceScratch { around, sample, .. } = &mut self.scratch;
        let motion = MotionPoint {
            q: &sample.q,
            v: &sample.v,
            a: &sample.acc,
            lambda: &sample.lambda,
        };
        let work = (sample.dissipated, sample.supplied);
        let drive = &self.life.seen;
        let mut point = QuantityPoint::new(&self.life, drive, sample.t, motion, work, around);
        point.cx.modes = self.integrator.step_modes();
        (point, &*self.mechanism)
    }

    /// The point in `scratch.sample`, near the present one.
    pub(super) fn sampled(&mut self) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let InstanceScratch { around, sample, .. } = &mut self.scratch;
        let motion = MotionPoint {
            q: &sample.q,
            v: &sample.v,
            a: &sample.acc,
            lambda: &sample.lambda,
        };
        let work = (sample.dissipated, sample.supplied);
        let drive = &self.life.seen;
        let point = QuantityPoint::new(&self.life, drive, sample.t, motion, work, around);
        (point, &*self.mechanism)
    }

    /// The same with the inputs and parameters in `scratch.drive`.
    pub(super) fn imagined(&mut self) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let InstanceScratch {
            around,
            sample,
            drive,
            ..
        } = &mut self.scratch;
        let motion = MotionPoint {
            q: &sample.q,
            v: &sample.v,
            a: &sample.acc,
            lambda: &sample.lambda,
        };
        let work = (sample.dissipated, sample.supplied);
        let point = QuantityPoint::new(&self.life, drive, sample.t, motion, work, around);
        (point, &*self.mechanism)
    }
}

impl InstanceState {
    /// Value and derivatives of input `i` when the host says `value` at `now`.
    #[inline]
    fn continued(&mut self, i: usize, now: f64, value: f64) -> [f64; 3] {
        if self.extrapolation == Extrapolation::Hold {
            return [value, 0.0, 0.0];
        }
        self.history[i].note(now, value);
        self.history[i].taylor(self.extrapolation)
    }

    /// A motion begins: what was set before counts from its start.
    pub fn begin_histories(&mut self, start: f64) {
        for (history, course) in self.history.iter_mut().zip(&self.wanted.inputs) {
            *history = History::default();
            if self.extrapolation != Extrapolation::Hold {
                history.note(start, course.taylor[0]);
            }
        }
    }

    /// Input `i` has this value and these derivatives from now on.
    #[inline]
    fn set_course(&mut self, i: usize, taylor: [f64; 3]) {
        let now = self.state.t;
        let (wanted, seen) = (&mut self.wanted.inputs[i], &self.seen.inputs[i]);
        match self.phase {
            // The same value and derivatives: the old course goes on, with its own rounding.
            InstancePhase::Running if seen.is_at(now, taylor) => wanted.clone_from(seen),
            InstancePhase::Running => wanted.go_on(now, taylor),
            InstancePhase::Created => (wanted.since, wanted.taylor) = (now, taylor),
        }
    }

    #[inline]
    fn set_parameter(&mut self, i: usize, value: f64) {
        self.wanted.parameters[i] = value;
    }
}

/// What the integrator is told about the outside.
#[inline]
pub(super) fn environment(drive: &InputState) -> Environment<'_> {
    Environment {
        signals: drive,
        parameters: &drive.parameters,
    }
}

/// A point of the motion with all that quantities are made of.
pub(super) struct QuantityPoint<'a> {
    cx: EvaluationContext<'a>,
    motion: MotionPoint<'a>,
    dissipated: f64,
    supplied: f64,
    total_at_start: f64,
    statistics: &'a Statistics,
    /// Room for Φ_t.
    rates: &'a mut [f64],
}

impl<'a> QuantityPoint<'a> {
    fn new(
        life: &'a InstanceState,
        drive: &'a InputState,
        t: f64,
        motion: MotionPoint<'a>,
        (dissipated, supplied): (f64, f64),
        around: &'a mut ExternalSignals,
    ) -> Self {
        let ExternalSignals {
            u,
            u_dot,
            u_ddot,
            rates,
        } = around;
        drive.sample(t, u, u_dot, u_ddot);
        let State {
            modes, statistics, ..
        } = &life.state;
        let cx = EvaluationContext {
            t,
            u,
            u_dot,
            u_ddot,
            p: &drive.parameters,
            modes,
        };
        Self {
            cx,
            motion,
            dissipated,
            supplied,
            total_at_start: life.total_at_start,
            statistics,
            rates,
        }
    }

    /// The energy account here.
    pub fn account(&self, mechanism: &dyn Mechanism) -> EnergyAccount {
        EnergyAccount {
            energy: mechanism.energy(&self.cx, self.motion.q, self.motion.v),
            dissipated: self.dissipated,
            supplied: self.supplied,
            total_at_start: self.total_at_start,
        }
    }

    /// Rate at which dampers take energy out here (W).
    pub fn dissipation(&self, mechanism: &dyn Mechanism) -> f64 {
        let MotionPoint { q, v, lambda, .. } = self.motion;
        let mut rubbed = 0.0;
        if mechanism.properties().has_constraint_friction {
            let mut force = vec![0.0; v.len()];
            mechanism.constraint_friction(&self.cx, q, v, lambda, &mut force);
            rubbed = -force.iter().zip(v).map(|(f, v)| f * v).sum::<f64>();
        }
        mechanism.power(&self.cx, q, v).dissipated + rubbed
    }

    /// Rate at which drives and moving constraints bring energy in here, −λᵀG v = λᵀΦ_t of these (W).
    pub fn supply(&mut self, mechanism: &dyn Mechanism) -> f64 {
        let MotionPoint { q, v, lambda, .. } = self.motion;
        let mut supply = mechanism.power(&self.cx, q, v).supplied;
        if mechanism.properties().moving_constraints {
            mechanism.constraint_rate(&self.cx, q, self.rates);
            let work = lambda.iter().zip(&*self.rates);
            supply += work.map(|(lambda, rate)| lambda * rate).sum::<f64>();
        }
        supply
    }

    /// The value of any quantity here.
    pub fn value(&self, mechanism: &dyn Mechanism, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Body(..)
            | Quantity::Sensor(..)
            | Quantity::Joint(..)
            | Quantity::Motion(..)
            | Quantity::Force(..)
            | Quantity::Coordinate(_)
            | Quantity::Rate(_)
            | Quantity::Acceleration(_)
            | Quantity::Multiplier(_) => mechanism.evaluate(&self.cx, quantity, &self.motion),
            Quantity::Energy(field) => self.account(mechanism).field(field),
            Quantity::Solver(index) => index.value(self.statistics),
            Quantity::Time => self.cx.t,
        }
    }
}

/// References and values come in pairs.
#[inline]
pub(super) fn same_length(references: usize, values: usize) -> Result<()> {
    match references == values {
        true => Ok(()),
        false => Err(not_in_pairs(references, values)),
    }
}

#[cold]
fn not_in_pairs(references: usize, values: usize) -> Error {
    Error::Argument {
        name: "number of values".to_string(),
        value: values.to_string(),
        expected: format!("{references}, one for each value reference"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

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
                    let [u, u_dot, _] = instance.life.seen.inputs[0].at(instance.time());
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
}
