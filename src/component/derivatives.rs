//! Derivatives of outputs: in time along the motion, and by inputs and parameters at the present point.
//!
//! ```text
//!   in time    x → v → a exactly; beyond that differences of points t ± kε on the motion's own Taylor polynomial
//!                y'  = [y₋₂ − 8 y₋₁ + 8 y₁ − y₂] / 12 ε                      error ε⁴
//!                y'' = [−y₋₂ + 16 y₋₁ − 30 y₀ + 16 y₁ − y₂] / 12 ε²          error ε⁴
//!   by u, p    A [q̈; λ] = [f(q, v, u ± kε s, p ± kε s); −γ] at fixed q, v;  the first formula
//! ```
//!
//! The points in time are q₀ ∘ (ε v + ε²/2 a), v₀ + ε a (+ ε²/2 j for y''), put onto the constraints, with accelerations
//! and multipliers solved there. What the short polynomial leaves out is of odd order in ε or of a degree that the
//! formulas annihilate, so it does not spoil their order. Nothing of the state is touched.

use super::Instance;
use super::log::LogCategory;
use super::values::{QuantityPoint, environment, same_length};
use super::variables::VariableSource;
use crate::error::{Error, Result};
use crate::formulation::Mechanism;
use crate::model::quantity::{
    BodyField, EnergyField, ForceField, JointField, MotionField, Quantity,
};

/// The highest time derivative of an output that is offered.
pub const HIGHEST_OUTPUT_DERIVATIVE: u32 = 2;

/// ε of the first and of the second derivative as part of the next substep. That substep resolves the motion, ω h < 1;
/// with rounding and closure at 1e-14 the first is good to about 1e-9, the second to 1e-7, of the size of y/h and y/h².
const FIRST: f64 = 0.02;
const SECOND: f64 = 0.1;

/// ε of derivatives by inputs and parameters, as part of their own size. Exact to rounding (1e-12) where the motion
/// depends on them linearly; 1e-12 of the fifth derivative elsewhere.
const NUDGE: f64 = 1e-3;

/// Points in units of ε and their weights: first derivative times ε.
const SLOPE: [(f64, f64); 4] = [
    (-2.0, 1.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (1.0, 8.0 / 12.0),
    (2.0, -1.0 / 12.0),
];
/// Second derivative times ε².
const BEND: [(f64, f64); 5] = [
    (-2.0, -1.0 / 12.0),
    (-1.0, 16.0 / 12.0),
    (0.0, -30.0 / 12.0),
    (1.0, 16.0 / 12.0),
    (2.0, -1.0 / 12.0),
];

/// Something that changes along the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DifferentiatedPath {
    Constant(f64),
    Quantity(Quantity),
    /// Power taken out by dampers.
    Dissipation,
    /// Power brought in by drives and moving constraints.
    Supply,
}

/// A derivative as a curve that is still to be differentiated so many times.
type Derived = (DifferentiatedPath, u32);
const NOTHING: Derived = (DifferentiatedPath::Constant(0.0), 0);

impl Instance {
    /// Time derivatives (order 1 or 2; per s, per s²) of outputs at the present time, along the motion that the inputs as
    /// now set would give; on failure `values` is unchanged. Nothing else changes, not a bit of what follows.
    ///
    /// Positions, speeds and lengths have exact first derivatives, positions exact second ones; energies supplied and
    /// dissipated have exact first ones, the power of drives and dampers. All others are
    /// differences on the motion: relative accuracy about 1e-8 for order 1 and 1e-6 for order 2, against the size of the
    /// quantity over the time scale of the motion. `energy.balance` is constant on the exact motion. Counters
    /// (`solver.*`) have no derivative and are refused.
    pub fn output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[u32],
        values: &mut [f64],
    ) -> Result<()> {
        let outcome = self.differentiate(references, orders, values);
        self.tell(LogCategory::Step, &outcome);
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
        let mut deepest = 0;
        for (&reference, &order) in references.iter().zip(orders) {
            let (_, times) = self.derived(reference, order)?;
            deepest = deepest.max(times);
        }
        self.must_run("reading a derivative")?;
        self.apply_sets()?;
        self.scratch.values.clear();
        self.scratch.values.resize(references.len(), 0.0);
        for (i, (&reference, &order)) in references.iter().zip(orders).enumerate() {
            if let (curve, 0) = self.derived(reference, order)? {
                let (mut point, mechanism) = self.here();
                self.scratch.values[i] = curve.at(&mut point, mechanism);
            }
        }
        // Wide enough to be seen in t.
        let state = &self.life.state;
        let (h, least) = (state.next_h, 1e4 * f64::EPSILON * state.t.abs());
        self.scratch.jerk.fill(0.0);
        if deepest >= 1 {
            let e = least.max(FIRST * h);
            for (k, w) in SLOPE {
                self.add_points(references, orders, 1, k * e, w / e)?;
            }
        }
        if deepest >= 2 {
            let e = least.max(SECOND * h);
            for (k, w) in BEND {
                self.add_points(references, orders, 2, k * e, w / (e * e))?;
            }
        }
        self.hand_out(references, self.time(), values)
    }

    /// Adds the point at t + `s` with weight `w` to all derivatives that need `times` differences. The first round also
    /// gathers the jerk for the second.
    fn add_points(
        &mut self,
        references: &[u32],
        orders: &[u32],
        times: u32,
        s: f64,
        w: f64,
    ) -> Result<()> {
        let Self {
            life,
            mechanism,
            integrator,
            scratch,
            ..
        } = self;
        let state = &life.state;
        let sample = &mut scratch.sample;
        sample.t = state.t + s;
        // Until the accelerations are solved for there is room for the displacement in their place.
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
        let env = environment(&life.seen);
        integrator.consistent_at(&**mechanism, &env, state, sample)?;
        integrator.reactions_near(&**mechanism, &env, state, sample)?;
        self.find_reactions()?;
        let Self { scratch, .. } = self;
        let sample = &scratch.sample;
        if times == 1 {
            for (j, a) in scratch.jerk.iter_mut().zip(&sample.acc) {
                *j += w * a;
            }
        }
        for (i, (&reference, &order)) in references.iter().zip(orders).enumerate() {
            let (curve, needed) = self.derived(reference, order)?;
            if needed == times {
                // The weights add up to zero: what does not change adds nothing, to the bit.
                let (mut point, mechanism) = self.present(true);
                let now = curve.at(&mut point, mechanism);
                let (mut point, mechanism) = self.sampled();
                let there = curve.at(&mut point, mechanism);
                self.scratch.values[i] += w * (there - now);
            }
        }
        Ok(())
    }

    /// What the derivative of an output is.
    fn derived(&self, reference: u32, order: u32) -> Result<Derived> {
        let quantity = self.computed(reference, "an output to differentiate in time")?;
        let refused = |name: String, value: String, expected: String| {
            Err(Error::Argument {
                name,
                value,
                expected,
            })
        };
        let name = self.catalogue.name(reference);
        if !(1..=HIGHEST_OUTPUT_DERIVATIVE).contains(&order) {
            return refused(
                format!("order of the derivative of \"{name}\""),
                order.to_string(),
                format!("1 to {HIGHEST_OUTPUT_DERIVATIVE}"),
            );
        }
        if let Quantity::Solver(_) = quantity {
            return refused(
                "output to differentiate in time".to_string(),
                format!("\"{name}\""),
                "a quantity of the motion: counters jump".to_string(),
            );
        }
        Ok(derived(quantity, order))
    }

    /// The quantity behind an output.
    fn computed(&self, reference: u32, expected: &str) -> Result<Quantity> {
        match self.catalogue.source(reference)? {
            VariableSource::Output(quantity) => Ok(quantity),
            VariableSource::Input(_) | VariableSource::Parameter(_) => Err(Error::Argument {
                name: "reference".to_string(),
                value: format!("{reference} (\"{}\")", self.catalogue.name(reference)),
                expected: expected.to_string(),
            }),
        }
    }

    /// `sensitivities[i]` = Σ_j ∂unknown_i/∂known_j `seed[j]` at the present time with positions and velocities fixed:
    /// what reading the outputs right after setting the inputs or parameters would show. Unknowns are outputs, knowns
    /// are inputs or parameters; accelerations, reactions and forces feed through, positions and velocities do not,
    /// except where an input prescribes them. On failure `sensitivities` is unchanged. Nothing else changes, not a bit of
    /// what follows.
    ///
    /// Exact to rounding in knowns that act linearly (forces, gravity), and to about 1e-10 relative in masses,
    /// stiffnesses and the like.
    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        sensitivities: &mut [f64],
    ) -> Result<()> {
        let outcome = self.sensitivity(unknowns, knowns, seed, sensitivities);
        self.tell(LogCategory::Step, &outcome);
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
            self.computed(unknown, "an output as unknown")?;
        }
        let mut largest: f64 = 0.0;
        for (&known, &seed) in knowns.iter().zip(seed) {
            if !seed.is_finite() {
                return Err(Error::NotFinite {
                    name: format!("seed of \"{}\"", self.catalogue.name(known)),
                    value: seed.to_string(),
                });
            }
            let size = match self.catalogue.source(known)? {
                VariableSource::Input(i) => {
                    self.life.wanted.inputs[i].at(self.time())[0].abs().max(1.0)
                }
                VariableSource::Parameter(i) => match self.life.wanted.parameters[i].abs() {
                    0.0 => 1.0,
                    size => size,
                },
                VariableSource::Output(_) => {
                    return Err(Error::Argument {
                        name: "reference".to_string(),
                        value: format!("{known} (\"{}\")", self.catalogue.name(known)),
                        expected: "an input or a parameter as known".to_string(),
                    });
                }
            };
            largest = largest.max(seed.abs() / size);
        }
        self.must_run("a directional derivative")?;
        self.apply_sets()?;
        self.scratch.values.clear();
        self.scratch.values.resize(unknowns.len(), 0.0);
        if largest > 0.0 && !unknowns.is_empty() {
            let e = NUDGE / largest;
            let settles = knowns.iter().any(|&known| self.found().places(known));
            for (k, w) in SLOPE {
                self.add_nudged(unknowns, knowns, seed, settles, k * e, w / e)?;
            }
        }
        self.hand_out(unknowns, self.time(), sensitivities)
    }

    /// Adds the outputs at inputs and parameters moved by `s` times the seed, with weight `w`.
    fn add_nudged(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        settles: bool,
        s: f64,
        w: f64,
    ) -> Result<()> {
        let Self {
            life,
            mechanism,
            integrator,
            scratch,
            catalogue,
            ..
        } = self;
        let state = &life.state;
        scratch.drive.copy_from(&life.seen);
        for (&known, &seed) in knowns.iter().zip(seed) {
            match catalogue.source(known)? {
                VariableSource::Input(i) => {
                    let course = &mut scratch.drive.inputs[i];
                    let value = course.at(state.t)[0];
                    *course = course.with_derivative(state.t, 0, value + s * seed);
                }
                VariableSource::Parameter(i) => scratch.drive.parameters[i] += s * seed,
                VariableSource::Output(_) => unreachable!("outputs have been refused as knowns"),
            }
        }
        let sample = &mut scratch.sample;
        sample.t = state.t;
        sample.q.copy_from_slice(&state.q);
        sample.v.copy_from_slice(&state.v);
        sample.acc.copy_from_slice(&state.acc);
        sample.lambda.copy_from_slice(&state.lambda);
        (sample.dissipated, sample.supplied) = (state.dissipated, state.supplied);
        let env = environment(&scratch.drive);
        match settles {
            true => integrator.consistent_at(&**mechanism, &env, state, sample)?,
            false => integrator.balance_at(&**mechanism, &env, state, sample)?,
        }
        integrator.reactions_near(&**mechanism, &env, state, sample)?;
        self.find_reactions()?;
        for (i, &unknown) in unknowns.iter().enumerate() {
            let VariableSource::Output(quantity) = self.catalogue.source(unknown)? else {
                unreachable!("only outputs are unknowns");
            };
            if let Some(quantity) = follows_at_once(quantity) {
                let (point, mechanism) = self.present(true);
                let now = point.value(mechanism, quantity);
                let (point, mechanism) = self.imagined();
                let there = point.value(mechanism, quantity);
                self.scratch.values[i] += w * (there - now);
            }
        }
        Ok(())
    }
}

impl DifferentiatedPath {
    fn at(self, point: &mut QuantityPoint, mechanism: &dyn Mechanism) -> f64 {
        match self {
            Self::Constant(x) => x,
            Self::Quantity(quantity) => point.value(mechanism, quantity),
            Self::Dissipation => point.dissipation(mechanism),
            Self::Supply => point.supply(mechanism),
        }
    }
}

/// The derivative of this order, taken exactly as far as there is a quantity for it.
fn derived(quantity: Quantity, order: u32) -> Derived {
    match quantity {
        Quantity::Time if order == 1 => (DifferentiatedPath::Constant(1.0), 0),
        Quantity::Time => NOTHING,
        // Constant on the exact motion.
        Quantity::Energy(EnergyField::Balance | EnergyField::Numerical) => NOTHING,
        Quantity::Energy(EnergyField::Dissipated) => (DifferentiatedPath::Dissipation, order - 1),
        // As a power, not as the rest of the other energies: they may be far larger.
        Quantity::Energy(EnergyField::Supplied) => (DifferentiatedPath::Supply, order - 1),
        _ => {
            let (mut quantity, mut left) = (quantity, order);
            while let (Some(rate), 1..) = (rate_of(quantity), left) {
                (quantity, left) = (rate, left - 1);
            }
            (DifferentiatedPath::Quantity(quantity), left)
        }
    }
}

/// The quantity that is the time derivative of another, where there is one.
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

/// What has to be looked at to see how a quantity follows a set; `None`: it does not. What a set brings into the total
/// energy counts as supplied, so the balance stays.
pub(super) fn follows_at_once(quantity: Quantity) -> Option<Quantity> {
    match quantity {
        Quantity::Solver(_) | Quantity::Time => None,
        Quantity::Energy(EnergyField::Supplied) => Some(Quantity::Energy(EnergyField::Total)),
        Quantity::Energy(
            EnergyField::Dissipated | EnergyField::Balance | EnergyField::Numerical,
        ) => None,
        _ => Some(quantity),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    fn derivative(instance: &mut Instance, reference: u32, order: u32) -> f64 {
        let mut value = [f64::NAN];
        let done = instance.output_derivatives(&[reference], &[order], &mut value);
        done.unwrap();
        value[0]
    }

    /// m x'' + c x' + k x = u with m = 1, k = 4 and u = u₀ + u₁ s + u₂ s²/2: everything follows from x and x'.
    #[test]
    fn derivatives_of_the_oscillator_are_those_of_its_equation() {
        let mut instance = running();
        instance
            .set_input_derivatives(&[PUSH, PUSH], &[1, 2], &[3.0, -2.0])
            .unwrap();
        instance.step(0.0, 0.7).unwrap();
        let (c, k) = (DAMPING, 4.0);
        let (x, v) = (get(&mut instance, X), get(&mut instance, V));
        let u = get(&mut instance, PUSH);
        let (u_dot, u_ddot) = (3.0 - 2.0 * 0.7, -2.0);
        let a = u - c * v - k * x;
        let jerk = u_dot - c * a - k * v;
        let snap = u_ddot - c * jerk - k * a;
        let before = format!("{:?}", instance.save().unwrap());
        for (reference, order, exact, bound) in [
            (X, 1, v, 0.0),
            (X, 2, a, 1e-15),
            (V, 1, a, 1e-15),
            (V, 2, jerk, 1e-8),
            (A, 1, jerk, 1e-8),
            (A, 2, snap, 1e-6),
            (TIME, 1, 1.0, 0.0),
            (TIME, 2, 0.0, 0.0),
            (BALANCE, 1, 0.0, 0.0),
            (SUPPLIED, 1, u * v, 1e-15),
            (SUPPLIED, 2, u_dot * v + u * a, 1e-8),
        ] {
            let found = derivative(&mut instance, reference, order);
            // Rounding of a sum of terms of the size of k x.
            let bound = bound * (exact.abs() + k * x.abs());
            assert!(
                (found - exact).abs() <= bound,
                "{reference} order {order}: {found} {exact}"
            );
        }
        assert_eq!(before, format!("{:?}", instance.save().unwrap()));
    }

    #[test]
    fn what_has_no_derivative_is_refused_by_name_and_nothing_is_written() {
        let mut instance = running();
        for (reference, order) in [(X, 0), (X, 3), (STEPS, 1), (PUSH, 1), (MASS, 1)] {
            let mut values = [7.0, 7.0];
            let error = instance
                .output_derivatives(&[X, reference], &[1, order], &mut values)
                .unwrap_err();
            assert!(matches!(error, Error::Argument { .. }), "{error}");
            assert_eq!(values, [7.0, 7.0]);
        }
        let error = oscillator().output_derivatives(&[X], &[1], &mut [0.0]);
        assert!(matches!(error, Err(Error::CallOrder { .. })));
        instance.output_derivatives(&[], &[], &mut []).unwrap();
    }

    #[test]
    fn a_derivative_that_is_no_number_is_an_error_by_its_name() {
        let mut instance = running();
        let error = instance.output_derivatives(&[NAN], &[1], &mut [0.0]);
        let culprit = "nan".to_string();
        assert_eq!(error, Err(Error::Evaluation { time: 0.0, culprit }));
    }

    #[test]
    fn directional_derivatives_are_those_of_the_equation() {
        let mut instance = running();
        instance.step(0.0, 0.7).unwrap();
        instance.set_real(&[MASS], &[2.0]).unwrap();
        let (x, a) = (get(&mut instance, X), get(&mut instance, A));
        let before = format!("{:?}", instance.save().unwrap());
        // a = (u − c v − k x)/m
        let unknowns = [X, V, A, SUPPLIED, BALANCE, TIME, STEPS];
        let knowns = [PUSH, STIFFNESS, MASS];
        let potential = 0.5 * x * x;
        let v = get(&mut instance, V);
        let kinetic = 0.5 * v * v;
        for (j, (by, energy)) in [(0.5, 0.0), (-x / 2.0, potential), (-a / 2.0, kinetic)]
            .into_iter()
            .enumerate()
        {
            let mut seed = [0.0; 3];
            seed[j] = 3.0;
            let mut found = [f64::NAN; 7];
            instance
                .directional_derivative(&unknowns, &knowns, &seed, &mut found)
                .unwrap();
            let exact = [0.0, 0.0, 3.0 * by, 3.0 * energy, 0.0, 0.0, 0.0];
            for i in 0..7 {
                // Rounding over ε = 1e-3, with numbers of size one.
                assert!(
                    (found[i] - exact[i]).abs() < 1e-11,
                    "unknown {i} by known {j}: {} {}",
                    found[i],
                    exact[i]
                );
            }
        }
        assert_eq!(before, format!("{:?}", instance.save().unwrap()));
    }

    #[test]
    fn wrong_kinds_and_lengths_are_refused_and_nothing_is_written() {
        let mut instance = running();
        let mut out = [7.0];
        for (unknown, known, seed) in [
            (PUSH, PUSH, 1.0),
            (X, V, 1.0),
            (X, PUSH, f64::NAN),
            (X, COUNT, 1.0),
            (COUNT, PUSH, 1.0),
        ] {
            instance
                .directional_derivative(&[unknown], &[known], &[seed], &mut out)
                .unwrap_err();
        }
        instance
            .directional_derivative(&[X], &[PUSH], &[], &mut out)
            .unwrap_err();
        assert_eq!(out, [7.0]);
        instance
            .directional_derivative(&[A], &[PUSH], &[0.0], &mut out)
            .unwrap();
        assert_eq!(out, [0.0]);
    }
}
