//! Set and get. A set is only noted down; the mechanism hears of it before the next step, or before the next read of
//! an output, by the jump rule: accelerations and reactions follow the new value at once,
//!
//! ```text
//!   M a + Gᵀ λ = f(q, v, t, u_new, p_new),     q and v as they were.
//! ```

use super::energy::Account;
use super::input::{Course, Drive};
use super::state::{Life, Phase};
use super::variables::Source;
use super::{Instance, Scratch};
use crate::error::{Error, Result};
use crate::formulation::{Context, Mechanism, Motion};
use crate::integrator::{Environment, Signals, State, Statistics};
use crate::model::quantity::{Quantity, SolverField};

impl Instance {
    /// Sets inputs and parameters, each from the present time on; on failure nothing is set. An input is held at the
    /// value, derivatives given earlier end. Setting what is already there changes nothing, not a bit of what follows.
    ///
    /// While the instance runs, the energy that a changed parameter brings in counts as supplied.
    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        for (&reference, &value) in references.iter().zip(values) {
            self.catalogue.settable(reference, value)?;
        }
        let now = self.time();
        for (&reference, &value) in references.iter().zip(values) {
            match self.catalogue.source(reference)? {
                Source::Input(i) => self.life.set_course(i, Course::hold(now, value)),
                Source::Parameter(i) => self.life.set_parameter(i, value),
                Source::Output(_) => unreachable!("outputs are not settable"),
            }
        }
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
        same_length(references.len(), values.len())?;
        same_length(references.len(), orders.len())?;
        for i in 0..references.len() {
            (self.catalogue).derivable(references[i], orders[i], values[i])?;
        }
        let now = self.time();
        for i in 0..references.len() {
            let input = (self.catalogue).derivable(references[i], orders[i], values[i])?;
            let course = self.life.wanted.inputs[input];
            let course = course.with_derivative(now, orders[i] as usize, values[i]);
            self.life.set_course(input, course);
        }
        Ok(())
    }

    /// Reads variables; on failure `values` is unchanged. Outputs exist from `initialize` on and follow a set at once.
    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Result<()> {
        same_length(references.len(), values.len())?;
        let mut outputs = false;
        for &reference in references {
            outputs |= matches!(self.catalogue.source(reference)?, Source::Output(_));
        }
        if outputs {
            self.must_run("reading an output")?;
            self.apply_sets()?;
        }
        self.scratch.values.clear();
        for &reference in references {
            let value = match self.catalogue.source(reference)? {
                Source::Input(i) => self.life.wanted.inputs[i].at(self.time())[0],
                Source::Parameter(i) => self.life.wanted.parameters[i],
                Source::Output(quantity) => {
                    let (point, mechanism) = self.here();
                    point.value(mechanism, quantity)
                }
            };
            self.scratch.values.push(value);
        }
        self.hand_out(references, self.time(), values)
    }

    /// Gives the values in the scratch to the caller, if all of them are numbers.
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
    pub(super) fn apply_sets(&mut self) -> Result<()> {
        if self.life.wanted == self.life.seen {
            return Ok(());
        }
        let before = self.total_energy();
        let trial = &mut self.scratch.trial;
        trial.copy_from(&self.life.state);
        let env = environment(&self.life.wanted);
        self.integrator.jump(&*self.mechanism, &env, trial)?;
        std::mem::swap(trial, &mut self.life.state);
        self.life.seen.copy_from(&self.life.wanted);
        // Work done from outside: by stretching a spring's rest length, say.
        self.life.state.supplied += self.total_energy() - before;
        Ok(())
    }

    /// Kinetic + potential energy now, with the inputs and parameters the integrator knows (J).
    pub(super) fn total_energy(&mut self) -> f64 {
        let (point, mechanism) = self.here();
        point.account(mechanism).total()
    }

    /// The present point of the motion, with the inputs and parameters the integrator knows.
    pub(super) fn here(&mut self) -> (Point<'_>, &dyn Mechanism) {
        let state = &self.life.state;
        let motion = Motion {
            q: &state.q,
            v: &state.v,
            a: &state.acc,
            lambda: &state.lambda,
        };
        let work = (state.dissipated, state.supplied);
        let Scratch {
            u, u_dot, u_ddot, ..
        } = &mut self.scratch;
        let point = Point::new(&self.life, state.t, motion, work, u, u_dot, u_ddot);
        (point, &*self.mechanism)
    }

    /// The point in `scratch.sample`, inside the last substep.
    pub(super) fn sampled(&mut self) -> (Point<'_>, &dyn Mechanism) {
        let Scratch {
            u,
            u_dot,
            u_ddot,
            sample,
            ..
        } = &mut self.scratch;
        let motion = Motion {
            q: &sample.q,
            v: &sample.v,
            a: &sample.acc,
            lambda: &sample.lambda,
        };
        let work = (sample.dissipated, sample.supplied);
        let point = Point::new(&self.life, sample.t, motion, work, u, u_dot, u_ddot);
        (point, &*self.mechanism)
    }
}

impl Life {
    fn set_course(&mut self, i: usize, course: Course) {
        let now = self.state.t;
        self.wanted.inputs[i] = match self.phase {
            // The same value and derivatives: the old course goes on, with its own rounding.
            Phase::Running if self.seen.inputs[i].at(now) == course.at(now) => self.seen.inputs[i],
            _ => course,
        };
    }

    fn set_parameter(&mut self, i: usize, value: f64) {
        self.wanted.parameters[i] = value;
    }
}

/// What the integrator is told about the outside.
pub(super) fn environment(drive: &Drive) -> Environment<'_> {
    Environment {
        signals: drive,
        parameters: &drive.parameters,
    }
}

/// A point of the motion with all that quantities are made of.
pub(super) struct Point<'a> {
    cx: Context<'a>,
    motion: Motion<'a>,
    dissipated: f64,
    supplied: f64,
    total_at_start: f64,
    statistics: &'a Statistics,
}

impl<'a> Point<'a> {
    fn new(
        life: &'a Life,
        t: f64,
        motion: Motion<'a>,
        (dissipated, supplied): (f64, f64),
        u: &'a mut [f64],
        u_dot: &'a mut [f64],
        u_ddot: &'a mut [f64],
    ) -> Self {
        life.seen.sample(t, u, u_dot, u_ddot);
        let State {
            modes, statistics, ..
        } = &life.state;
        let cx = Context {
            t,
            u,
            u_dot,
            u_ddot,
            p: &life.seen.parameters,
            modes,
        };
        Self {
            cx,
            motion,
            dissipated,
            supplied,
            total_at_start: life.total_at_start,
            statistics,
        }
    }

    /// The energy account here.
    pub fn account(&self, mechanism: &dyn Mechanism) -> Account {
        Account {
            energy: mechanism.energy(&self.cx, self.motion.q, self.motion.v),
            dissipated: self.dissipated,
            supplied: self.supplied,
            total_at_start: self.total_at_start,
        }
    }

    /// The value of any quantity here.
    pub fn value(&self, mechanism: &dyn Mechanism, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Body(..)
            | Quantity::Sensor(..)
            | Quantity::Joint(..)
            | Quantity::Force(..) => mechanism.evaluate(&self.cx, quantity, &self.motion),
            Quantity::Energy(field) => self.account(mechanism).field(field),
            Quantity::Solver(field) => counter(self.statistics, field),
            Quantity::Time => self.cx.t,
        }
    }
}

fn counter(statistics: &Statistics, field: SolverField) -> f64 {
    match field {
        SolverField::Steps => statistics.steps as f64,
        SolverField::Rejected => statistics.rejected as f64,
        SolverField::NewtonIterations => statistics.newton_iterations as f64,
        SolverField::Residuals => statistics.residuals as f64,
        SolverField::Factorizations => statistics.factorizations as f64,
        SolverField::Solves => statistics.solves as f64,
        SolverField::StepSize => statistics.step_size,
        SolverField::Error => statistics.error,
    }
}

/// References and values come in pairs.
pub(super) fn same_length(references: usize, values: usize) -> Result<()> {
    if references == values {
        return Ok(());
    }
    Err(Error::Argument {
        name: "number of values".to_string(),
        value: values.to_string(),
        expected: format!("{references}, one for each value reference"),
    })
}
