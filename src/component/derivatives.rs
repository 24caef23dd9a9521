//! Derivatives of outputs in time along the motion, and with respect to inputs and parameters at the present point.
//!
//! ```text
//!   in time    x → v → a exactly; otherwise differences of points t ± kε on the Taylor polynomial of the motion
//!                y'  = [y₋₂ − 8 y₋₁ + 8 y₁ − y₂] / 12 ε                      error ε⁴
//!                y'' = [−y₋₂ + 16 y₋₁ − 30 y₀ + 16 y₁ − y₂] / 12 ε²          error ε⁴
//!   in u, p    A [q̈; λ] = [f(q, v, u ± kε s, p ± kε s); −γ] at fixed q, v;  the first formula
//! ```
//!
//! The points in time are q₀ ∘ (ε v + ε²/2 a), v₀ + ε a (+ ε²/2 j for y''), projected onto the constraints, with accelerations and
//! multipliers computed there. The omitted terms of the polynomial are of odd order in ε or of a degree that the formulas
//! annihilate, so they keep their order. The state does not change.

use super::Instance;
use super::input::Extrapolation;
use super::log::LogCategory;
use super::quantity_point::{Multipliers, QuantityPoint, environment};
use super::values::same_length;
use super::variables::VariableSource;
use crate::error::{Error, Result};
use crate::formulation::Mechanism;
use crate::model::quantity::{
    BodyField, EnergyField, ForceField, JointField, MotionField, Quantity,
};

/// Highest time derivative of an output.
pub const HIGHEST_OUTPUT_DERIVATIVE: u32 = 2;

/// ε of the first derivative as part of the next substep h, which resolves the motion (ω h < 1): with rounding and closure of
/// 1e-14 its accuracy is about 1e-9 of y/h.
const FIRST_STEP: f64 = 0.02;
/// ε of the second derivative: its accuracy is about 1e-7 of y/h².
const SECOND_STEP: f64 = 0.1;
/// Smallest ε over the rounding of t.
const RESOLVED_TIME: f64 = 1e4;

/// ε of derivatives with respect to inputs and parameters, relative to their size. Exact to rounding (1e-12) for linear
/// dependence; otherwise the error is 1e-12 of the fifth derivative.
const PERTURBATION: f64 = 1e-3;

/// Points in units of ε and weights of the first derivative times ε.
const FIRST_DERIVATIVE: [(f64, f64); 4] = [
    (-2.0, 1.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (1.0, 8.0 / 12.0),
    (2.0, -1.0 / 12.0),
];
/// Points in units of ε and weights of the second derivative times ε².
const SECOND_DERIVATIVE: [(f64, f64); 5] = [
    (-2.0, -1.0 / 12.0),
    (-1.0, 16.0 / 12.0),
    (0.0, -30.0 / 12.0),
    (1.0, 16.0 / 12.0),
    (2.0, -1.0 / 12.0),
];

/// A function of the motion that is differentiated numerically.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DifferentiatedQuantity {
    Constant(f64),
    Quantity(Quantity),
    /// Power dissipated by dampers and friction.
    DissipatedPower,
    /// Power supplied by drives and moving constraints.
    SuppliedPower,
}

/// A derivative: a function of the motion and how many times it is still to be differentiated.
type Derived = (DifferentiatedQuantity, u32);
const ZERO: Derived = (DifferentiatedQuantity::Constant(0.0), 0);

impl Instance {
    /// Time derivatives (order 1 or 2; per s, per s²) of outputs at the present time, along the motion with the inputs as set; on
    /// failure `values` is unchanged. No bit of the results that follow changes.
    ///
    /// Positions, speeds and lengths have exact first derivatives, positions exact second ones; supplied and dissipated energies
    /// have exact first ones, the powers. All others are finite differences: relative accuracy about 1e-8 for order 1 and 1e-6
    /// for order 2, relative to the quantity over the time scale of the motion. `energy.balance` is constant on the exact motion.
    /// Counters (`solver.*`) have no derivative: an error.
    pub fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[u32],
        values: &mut [f64],
    ) -> Result<()> {
        let outcome = self.differentiate(references, orders, values);
        self.log_failure(LogCategory::Step, &outcome);
        outcome
    }

    fn differentiate(
        &mut self,
        references: &[u32],
        orders: &[u32],
        values: &mut [f64],
    ) -> Result<()> {
        same_length(references.len(), values.len())?;
        same_length(references.len(), orders.len())?;
        let mut differences = 0;
        for (&reference, &order) in references.iter().zip(orders) {
            let (_, times) = self.derived(reference, order)?;
            differences = differences.max(times);
        }
        self.require_running("reading a derivative")?;
        self.apply_pending_inputs()?;
        self.scratch.values.clear();
        self.scratch.values.resize(references.len(), 0.0);
        for (i, (&reference, &order)) in references.iter().zip(orders).enumerate() {
            if let (function, 0) = self.derived(reference, order)? {
                let (mut point, mechanism) = self.present_point(Multipliers::OfState);
                self.scratch.values[i] = function.at(&mut point, mechanism);
            }
        }
        // Large enough to change t.
        let state = &self.state.motion;
        let (h, smallest) = (state.next_h, RESOLVED_TIME * f64::EPSILON * state.t.abs());
        self.scratch.jerk.fill(0.0);
        if differences >= 1 {
            let e = smallest.max(FIRST_STEP * h);
            for (k, w) in FIRST_DERIVATIVE {
                self.add_point_in_time(references, orders, 1, k * e, w / e)?;
            }
        }
        if differences >= 2 {
            let e = smallest.max(SECOND_STEP * h);
            for (k, w) in SECOND_DERIVATIVE {
                self.add_point_in_time(references, orders, 2, k * e, w / (e * e))?;
            }
        }
        self.copy_finite_values(references, self.time(), values)
    }

    /// Adds the point at t + `s` with weight `w` to all derivatives that need `times` differences. The points of the first
    /// derivative also give the jerk for those of the second.
    fn add_point_in_time(
        &mut self,
        references: &[u32],
        orders: &[u32],
        times: u32,
        s: f64,
        w: f64,
    ) -> Result<()> {
        let Self {
            state,
            mechanism,
            integrator,
            scratch,
            ..
        } = self;
        let (state, applied) = (&state.motion, &state.applied);
        let sample = &mut scratch.sample;
        sample.t = state.t + s;
        // `sample.acc` holds the displacement until the accelerations are computed.
        let shift = &mut sample.acc;
        for i in 0..shift.len() {
            let (v, a, j) = (state.v[i], state.acc[i], scratch.jerk[i]);
            shift[i] = s * (v + 0.5 * s * a);
            sample.v[i] = v + s * (a + if times == 2 { 0.5 * s * j } else { 0.0 });
        }
        mechanism.retract(&state.q, shift, &mut sample.q);
        sample.acc.copy_from_slice(&state.acc);
        sample.lambda.copy_from_slice(&state.lambda);
        (sample.dissipated, sample.supplied) = (state.dissipated, state.supplied);
        let env = environment(applied);
        integrator.consistent_at(&**mechanism, &env, state, sample)?;
        integrator.reactions_near(&**mechanism, &env, state, sample)?;
        self.compute_reactions()?;
        let Self { scratch, .. } = self;
        let sample = &scratch.sample;
        if times == 1 {
            for (j, a) in scratch.jerk.iter_mut().zip(&sample.acc) {
                *j += w * a;
            }
        }
        for (i, (&reference, &order)) in references.iter().zip(orders).enumerate() {
            let (function, needed) = self.derived(reference, order)?;
            if needed == times {
                // The weights add up to zero: a constant contributes exactly nothing.
                let (mut point, mechanism) = self.present_point(Multipliers::MinimumNorm);
                let now = function.at(&mut point, mechanism);
                let (mut point, mechanism) = self.sampled_point();
                let perturbed = function.at(&mut point, mechanism);
                self.scratch.values[i] += w * (perturbed - now);
            }
        }
        Ok(())
    }

    /// The derivative of an output as a function of the motion.
    fn derived(&self, reference: u32, order: u32) -> Result<Derived> {
        let quantity = self.output_quantity(reference, "an output to differentiate in time")?;
        let invalid = |name: String, value: String, expected: String| {
            Err(Error::Argument {
                name,
                value,
                expected,
            })
        };
        let name = self.catalogue.name(reference);
        if !(1..=HIGHEST_OUTPUT_DERIVATIVE).contains(&order) {
            return invalid(
                format!("order of the derivative of \"{name}\""),
                order.to_string(),
                format!("1 to {HIGHEST_OUTPUT_DERIVATIVE}"),
            );
        }
        if quantity.is_discrete() {
            return invalid(
                "output to differentiate in time".to_string(),
                format!("\"{name}\""),
                "a quantity of the motion: counters and modes are not continuous".to_string(),
            );
        }
        Ok(derived(quantity, order))
    }

    /// The quantity of an output.
    fn output_quantity(&self, reference: u32, expected: &str) -> Result<Quantity> {
        match self.catalogue.source(reference)? {
            VariableSource::Output(quantity) => Ok(quantity),
            _ => Err(Error::Argument {
                name: "reference".to_string(),
                value: format!("{reference} (\"{}\")", self.catalogue.name(reference)),
                expected: expected.to_string(),
            }),
        }
    }

    /// `sensitivities[i]` = Σ_j ∂unknown_i/∂known_j `seed[j]` at the present time with positions and velocities fixed: the change
    /// of the outputs right after setting inputs or parameters. Unknowns are outputs, knowns are inputs or parameters;
    /// accelerations, reactions and forces have direct feedthrough, positions and velocities only if an input prescribes them. On
    /// failure `sensitivities` is unchanged. No bit of the results that follow changes.
    ///
    /// Outputs that are states of the linear model ([`Instance::linearize`]) may be knowns too, with the other states fixed: with
    /// outputs for all states and their derivatives this gives A and C, and inputs as knowns B and D.
    ///
    /// Exact to rounding for knowns that act linearly (forces, gravity), and to about 1e-10 relative for masses, stiffnesses and
    /// the like.
    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivities: &mut [f64],
    ) -> Result<()> {
        let outcome = self.sensitivity(unknowns, knowns, seed, sensitivities);
        self.log_failure(LogCategory::Step, &outcome);
        outcome
    }

    fn sensitivity(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivities: &mut [f64],
    ) -> Result<()> {
        same_length(unknowns.len(), sensitivities.len())?;
        same_length(knowns.len(), seed.len())?;
        for &unknown in unknowns {
            self.output_quantity(unknown, "an output as unknown")?;
        }
        let (mut largest, mut has_state): (f64, bool) = (0.0, false);
        for (&known, &seed) in knowns.iter().zip(seed) {
            if !seed.is_finite() {
                return Err(Error::NotFinite {
                    name: format!("seed of \"{}\"", self.catalogue.name(known)),
                    value: seed.to_string(),
                });
            }
            let size = match self.catalogue.source(known)? {
                VariableSource::Input(i) => self.state.pending.at(i, self.time())[0].abs().max(1.0),
                VariableSource::Parameter(i) if self.sets_definition(i) => {
                    return Err(Error::NotSettable {
                        name: self.catalogue.name(known).to_string(),
                        reason: "it sets a definition; derivatives by it are not known".to_string(),
                    });
                }
                VariableSource::Parameter(i) => match self.state.pending.parameters[i].abs() {
                    0.0 => 1.0,
                    size => size,
                },
                VariableSource::Output(_) => {
                    has_state = true;
                    continue;
                }
                _ => {
                    return Err(Error::Argument {
                        name: "reference".to_string(),
                        value: format!("{known} (\"{}\")", self.catalogue.name(known)),
                        expected: "an input, a parameter or a state as known".to_string(),
                    });
                }
            };
            largest = largest.max(seed.abs() / size);
        }
        self.require_running("a directional derivative")?;
        self.apply_pending_inputs()?;
        self.scratch.values.clear();
        self.scratch.values.resize(unknowns.len(), 0.0);
        if largest > 0.0 && !unknowns.is_empty() {
            let e = PERTURBATION / largest;
            let moves =
                (knowns.iter()).any(|&known| self.dependency_table().prescribes_motion(known));
            for (k, w) in FIRST_DERIVATIVE {
                self.perturb(knowns, seed, moves, k * e)?;
                self.add_perturbed_point(unknowns, w / e)?;
            }
        }
        if has_state {
            self.add_state_sensitivity(unknowns, knowns, seed)?;
        }
        self.copy_finite_values(unknowns, self.time(), sensitivities)
    }

    /// Adds C seed of the knowns that are states of the linear model.
    fn add_state_sensitivity(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
    ) -> Result<()> {
        let values = std::mem::take(&mut self.scratch.values);
        let linear = self.linearize()?;
        self.scratch.values = values;
        let refused = |reference: u32, expected: String| Error::Argument {
            name: "reference".to_string(),
            value: format!("{reference} (\"{}\")", self.catalogue.name(reference)),
            expected,
        };
        for (&known, seed) in knowns.iter().zip(seed) {
            let VariableSource::Output(_) = self.catalogue.source(known)? else {
                continue;
            };
            let source = &self.catalogue.variables[known as usize].source;
            let Some(column) = linear.states.iter().position(|state| state == source) else {
                let states = linear.states.join(", ");
                let expected = format!(
                    "an input or a parameter, or a state of the linear model ({states}), as known"
                );
                return Err(refused(known, expected));
            };
            for (i, &unknown) in unknowns.iter().enumerate() {
                let name = self.catalogue.name(unknown);
                let Some(row) = linear.outputs.iter().position(|output| output == name) else {
                    let expected = "an output of the linear model as unknown".to_string();
                    return Err(refused(unknown, expected));
                };
                self.scratch.values[i] += seed * linear.c[row * linear.states.len() + column];
            }
        }
        Ok(())
    }

    /// Computes the point with inputs and parameters changed by `s` times the seed, in `scratch.sample`. Positions and velocities
    /// are projected if a known `moves` them.
    fn perturb(&mut self, knowns: &[u32], seed: &[f64], moves: bool, s: f64) -> Result<()> {
        let Self {
            state,
            mechanism,
            integrator,
            scratch,
            catalogue,
            ..
        } = self;
        let now = state.motion.t;
        scratch.perturbed.copy_from(&state.applied);
        for (&known, &seed) in knowns.iter().zip(seed) {
            match catalogue.source(known)? {
                VariableSource::Input(i) => {
                    let taylor = state.taylor_after_change(i, now, s * seed);
                    scratch.perturbed.continue_from(i, now, taylor);
                }
                VariableSource::Parameter(i) => scratch.perturbed.parameters[i] += s * seed,
                // A state of the linear model; nothing else is a known.
                _ => {}
            }
        }
        let env = environment(&scratch.perturbed);
        // From the last value set to the present one an extrapolated position may jump far: the same assembly as when it is set.
        let mut jumped = None;
        if moves && state.extrapolation != Extrapolation::Hold {
            let mut copy = state.motion.clone();
            let outcome = integrator.apply_input_jump(&**mechanism, &env, &mut copy);
            integrator.forget();
            outcome?;
            jumped = Some(copy);
        }
        let state = jumped.as_ref().unwrap_or(&state.motion);
        let sample = &mut scratch.sample;
        sample.t = state.t;
        sample.q.copy_from_slice(&state.q);
        sample.v.copy_from_slice(&state.v);
        sample.acc.copy_from_slice(&state.acc);
        sample.lambda.copy_from_slice(&state.lambda);
        (sample.dissipated, sample.supplied) = (state.dissipated, state.supplied);
        match moves {
            true => integrator.consistent_at(&**mechanism, &env, state, sample)?,
            false => integrator.balance_at(&**mechanism, &env, state, sample)?,
        }
        integrator.reactions_near(&**mechanism, &env, state, sample)
    }

    /// Adds the outputs at the perturbed point with weight `w`.
    fn add_perturbed_point(&mut self, unknowns: &[u32], w: f64) -> Result<()> {
        self.compute_reactions()?;
        for (i, &unknown) in unknowns.iter().enumerate() {
            let VariableSource::Output(quantity) = self.catalogue.source(unknown)? else {
                unreachable!("only outputs are unknowns");
            };
            if let Some(quantity) = immediate_quantity(quantity) {
                let (point, mechanism) = self.present_point(Multipliers::MinimumNorm);
                let now = point.value(mechanism, quantity);
                let (point, mechanism) = self.perturbed_point();
                let perturbed = point.value(mechanism, quantity);
                self.scratch.values[i] += w * (perturbed - now);
            }
        }
        Ok(())
    }
}

impl DifferentiatedQuantity {
    fn at(self, point: &mut QuantityPoint, mechanism: &dyn Mechanism) -> f64 {
        match self {
            Self::Constant(x) => x,
            Self::Quantity(quantity) => point.value(mechanism, quantity),
            Self::DissipatedPower => point.dissipated_power(mechanism),
            Self::SuppliedPower => point.supplied_power(mechanism),
        }
    }
}

/// The derivative of this order, exact as far as there is a quantity for it.
fn derived(quantity: Quantity, order: u32) -> Derived {
    match quantity {
        Quantity::Time if order == 1 => (DifferentiatedQuantity::Constant(1.0), 0),
        Quantity::Time => ZERO,
        // Constant on the exact motion.
        Quantity::Energy(EnergyField::Balance | EnergyField::Numerical) => ZERO,
        Quantity::Energy(EnergyField::Dissipated) => {
            (DifferentiatedQuantity::DissipatedPower, order - 1)
        }
        // The power, not the difference of the other energies, which may be far larger.
        Quantity::Energy(EnergyField::Supplied) => {
            (DifferentiatedQuantity::SuppliedPower, order - 1)
        }
        _ => {
            let (mut quantity, mut remaining) = (quantity, order);
            while let (Some(rate), 1..) = (rate_of(quantity), remaining) {
                (quantity, remaining) = (rate, remaining - 1);
            }
            (DifferentiatedQuantity::Quantity(quantity), remaining)
        }
    }
}

/// The quantity that is the time derivative of another, if there is one.
fn rate_of(quantity: Quantity) -> Option<Quantity> {
    let point = |field: BodyField| match field {
        BodyField::Position(k) => Some(BodyField::Velocity(k)),
        BodyField::Velocity(k) => Some(BodyField::Acceleration(k)),
        BodyField::Angle => Some(BodyField::AngularVelocity(2)),
        BodyField::AngularVelocity(k) => Some(BodyField::AngularAcceleration(k)),
        _ => None,
    };
    match quantity {
        Quantity::Body(i, field) => Some(Quantity::Body(i, point(field)?)),
        Quantity::Sensor(i, field) => Some(Quantity::Sensor(i, point(field)?)),
        Quantity::Joint(i, JointField::Position(k)) => {
            Some(Quantity::Joint(i, JointField::Speed(k)))
        }
        Quantity::Joint(i, JointField::Speed(k)) => {
            Some(Quantity::Joint(i, JointField::Acceleration(k)))
        }
        Quantity::Motion(i, MotionField::Position) => Some(Quantity::Motion(i, MotionField::Speed)),
        Quantity::Motion(i, MotionField::Speed) => {
            Some(Quantity::Motion(i, MotionField::Acceleration))
        }
        Quantity::Force(i, ForceField::Length) => Some(Quantity::Force(i, ForceField::Rate)),
        Quantity::Coordinate(i) => Some(Quantity::Rate(i)),
        Quantity::Rate(i) => Some(Quantity::Acceleration(i)),
        _ => None,
    }
}

/// The quantity whose change is that of `quantity` when inputs are set; `None` if it does not change. A change of the total energy
/// counts as supplied, so the balance is constant.
pub(super) fn immediate_quantity(quantity: Quantity) -> Option<Quantity> {
    match quantity {
        Quantity::Time => None,
        // A mode changes at an event, not when an input is set.
        _ if quantity.is_discrete() => None,
        Quantity::Energy(EnergyField::Supplied) => Some(Quantity::Energy(EnergyField::Total)),
        Quantity::Energy(
            EnergyField::Dissipated | EnergyField::Balance | EnergyField::Numerical,
        ) => None,
        _ => Some(quantity),
    }
}
