//! Points of the motion at which quantities are evaluated: the present one, one inside the last substep, or a perturbed one.

use super::energy::EnergyAccount;
use super::input::InputState;
use super::instance::{Instance, InstanceScratch, SignalValues};
use super::instance_state::InstanceState;
use crate::error::Result;
use crate::formulation::{EvaluationContext, Mechanism, MotionPoint};
use crate::integrator::{Environment, Sample, Signals, State, Statistics};
use crate::model::quantity::{EnergyField, Quantity};

/// Inputs and parameters as the integrator takes them.
#[inline]
pub(super) fn environment(inputs: &InputState) -> Environment<'_> {
    Environment {
        signals: inputs,
        parameters: &inputs.parameters,
    }
}

/// Multipliers at the present point.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Multipliers {
    /// Those of the state: redundant constraints have none.
    OfState,
    /// Those of [`Instance::compute_reactions`], distributed over redundant constraints.
    MinimumNorm,
}

impl Instance {
    /// Computes the minimum-norm reactions at the present point, for [`Multipliers::MinimumNorm`].
    pub(super) fn compute_reactions(&mut self) -> Result<()> {
        let env = environment(&self.state.applied);
        let reactions = &mut self.scratch.reactions;
        self.integrator
            .reactions(&*self.mechanism, &env, &self.state.motion, reactions)
    }

    /// The present point with the applied inputs and parameters.
    #[inline]
    pub(super) fn present_point(
        &mut self,
        multipliers: Multipliers,
    ) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let state = &self.state.motion;
        let InstanceScratch {
            signals, reactions, ..
        } = &mut self.scratch;
        let motion = MotionPoint {
            q: &state.q,
            v: &state.v,
            a: &state.acc,
            lambda: match multipliers {
                Multipliers::OfState => &state.lambda,
                Multipliers::MinimumNorm => reactions,
            },
        };
        let work = (state.dissipated, state.supplied);
        let inputs = &self.state.applied;
        let point = QuantityPoint::new(&self.state, inputs, state.t, motion, work, signals);
        (point, &*self.mechanism)
    }

    /// The point of `scratch.sample`, inside the last substep, with the applied inputs and parameters.
    pub(super) fn sampled_point(&mut self) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let InstanceScratch {
            signals, sample, ..
        } = &mut self.scratch;
        let inputs = &self.state.applied;
        let point = QuantityPoint::of_sample(&self.state, inputs, sample, signals);
        (point, &*self.mechanism)
    }

    /// The point of `scratch.sample`, inside the last substep, in the modes of that substep. An event at its end may have
    /// changed them, and a piecewise law must not be evaluated outside the piece that was active.
    pub(super) fn sampled_in_step(&mut self) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let InstanceScratch {
            signals, sample, ..
        } = &mut self.scratch;
        let inputs = &self.state.applied;
        let mut point = QuantityPoint::of_sample(&self.state, inputs, sample, signals);
        point.cx.modes = self.integrator.step_modes();
        point.cx.integrals = self.integrator.step_integrals();
        (point, &*self.mechanism)
    }

    /// The point of `scratch.sample` with the inputs and parameters of `scratch.perturbed`.
    pub(super) fn perturbed_point(&mut self) -> (QuantityPoint<'_>, &dyn Mechanism) {
        let InstanceScratch {
            signals,
            sample,
            perturbed,
            ..
        } = &mut self.scratch;
        let point = QuantityPoint::of_sample(&self.state, perturbed, sample, signals);
        (point, &*self.mechanism)
    }

    /// Kinetic energy at the present point (J).
    pub(super) fn kinetic_energy(&mut self) -> f64 {
        let (point, mechanism) = self.present_point(Multipliers::OfState);
        point.energy_account(mechanism).field(EnergyField::Kinetic)
    }

    /// Kinetic + potential energy at the present point with the applied inputs and parameters (J).
    pub(super) fn total_energy(&mut self) -> f64 {
        let (point, mechanism) = self.present_point(Multipliers::OfState);
        point.energy_account(mechanism).total()
    }
}

/// Quantities that are read together, and their values.
#[derive(Default)]
pub(super) struct ComputedOutputs {
    pub quantities: Vec<Quantity>,
    pub values: Vec<f64>,
}

impl ComputedOutputs {
    pub fn with_capacity(capacity: usize) -> Self {
        Self {
            quantities: Vec::with_capacity(capacity),
            values: Vec::with_capacity(capacity),
        }
    }

    /// Computes the values at a point.
    pub fn evaluate(&mut self, point: &QuantityPoint, mechanism: &dyn Mechanism) {
        self.values.resize(self.quantities.len(), 0.0);
        point.values(mechanism, &self.quantities, &mut self.values);
    }
}

/// A point of the motion with everything that quantities depend on.
pub(super) struct QuantityPoint<'a> {
    cx: EvaluationContext<'a>,
    motion: MotionPoint<'a>,
    dissipated: f64,
    supplied: f64,
    total_at_start: f64,
    statistics: &'a Statistics,
    /// Workspace for Φ_t.
    constraint_rate: &'a mut [f64],
}

impl<'a> QuantityPoint<'a> {
    fn new(
        state: &'a InstanceState,
        inputs: &'a InputState,
        t: f64,
        motion: MotionPoint<'a>,
        (dissipated, supplied): (f64, f64),
        signals: &'a mut SignalValues,
    ) -> Self {
        let SignalValues {
            u,
            u_dot,
            u_ddot,
            constraint_rate,
        } = signals;
        inputs.sample(t, u, u_dot, u_ddot);
        let State {
            modes,
            integrals,
            statistics,
            ..
        } = &state.motion;
        let cx = EvaluationContext {
            t,
            u,
            u_dot,
            u_ddot,
            p: &inputs.parameters,
            modes,
            integrals,
        };
        Self {
            cx,
            motion,
            dissipated,
            supplied,
            total_at_start: state.total_at_start,
            statistics,
            constraint_rate,
        }
    }

    fn of_sample(
        state: &'a InstanceState,
        inputs: &'a InputState,
        sample: &'a Sample,
        signals: &'a mut SignalValues,
    ) -> Self {
        let motion = MotionPoint {
            q: &sample.q,
            v: &sample.v,
            a: &sample.acc,
            lambda: &sample.lambda,
        };
        let work = (sample.dissipated, sample.supplied);
        Self::new(state, inputs, sample.t, motion, work, signals)
    }

    /// The energy account.
    pub fn energy_account(&self, mechanism: &dyn Mechanism) -> EnergyAccount {
        EnergyAccount {
            energy: mechanism.energy(&self.cx, self.motion.q, self.motion.v),
            dissipated: self.dissipated,
            supplied: self.supplied,
            total_at_start: self.total_at_start,
        }
    }

    /// Power dissipated by dampers and friction (W).
    pub fn dissipated_power(&self, mechanism: &dyn Mechanism) -> f64 {
        let MotionPoint { q, v, lambda, .. } = self.motion;
        let mut friction = 0.0;
        if mechanism.properties().has_constraint_friction {
            let mut force = vec![0.0; v.len()];
            mechanism.constraint_friction(&self.cx, q, v, lambda, &mut force);
            friction = -force.iter().zip(v).map(|(f, v)| f * v).sum::<f64>();
        }
        mechanism.power(&self.cx, q, v).dissipated + friction
    }

    /// Power supplied by drives and moving constraints, −λᵀG v = λᵀΦ_t of these (W).
    pub fn supplied_power(&mut self, mechanism: &dyn Mechanism) -> f64 {
        let MotionPoint { q, v, lambda, .. } = self.motion;
        let mut supplied = mechanism.power(&self.cx, q, v).supplied;
        if mechanism.properties().moving_constraints {
            mechanism.constraint_rate(&self.cx, q, self.constraint_rate);
            let work = lambda.iter().zip(&*self.constraint_rate);
            supplied += work.map(|(lambda, rate)| lambda * rate).sum::<f64>();
        }
        supplied
    }

    /// The values of quantities.
    pub fn values(&self, mechanism: &dyn Mechanism, quantities: &[Quantity], values: &mut [f64]) {
        mechanism.evaluate_all(&self.cx, quantities, &self.motion, values);
        let mut account = None;
        for (quantity, value) in quantities.iter().zip(values) {
            match *quantity {
                Quantity::Energy(field) => {
                    *value = account
                        .get_or_insert_with(|| self.energy_account(mechanism))
                        .field(field);
                }
                Quantity::Solver(_) | Quantity::Time => *value = self.value(mechanism, *quantity),
                _ => {}
            }
        }
    }

    /// The value of a quantity.
    pub fn value(&self, mechanism: &dyn Mechanism, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Body(..)
            | Quantity::Sensor(..)
            | Quantity::Joint(..)
            | Quantity::Motion(..)
            | Quantity::Force(..)
            | Quantity::Beam(..)
            | Quantity::Coordinate(_)
            | Quantity::Rate(_)
            | Quantity::Acceleration(_)
            | Quantity::Multiplier(_) => mechanism.evaluate(&self.cx, quantity, &self.motion),
            Quantity::Energy(field) => self.energy_account(mechanism).field(field),
            Quantity::Solver(index) => index.value(self.statistics),
            Quantity::Time => self.cx.t,
        }
    }
}
