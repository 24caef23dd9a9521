//! A system with one small fault, to see whether a test notices.

use biela::formulation::{
    ConfigurationSpace, Dimensions, Energy, Evaluated, EvaluationContext, HybridSystem,
    MotionPoint, Power, Properties, Sparsity, System, TangentWeights,
};

/// Which part is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Retract,
    Difference,
    Bracket,
    TangentInverse,
    MassTimes,
    Force,
    Tangent,
    Constraint,
    Jacobian,
    ConstraintRate,
    Convective,
    Kinetic,
    Potential,
    Power,
    Events,
    Pattern,
    Character,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 17] = [
        Part::Retract,
        Part::Difference,
        Part::Bracket,
        Part::TangentInverse,
        Part::MassTimes,
        Part::Force,
        Part::Tangent,
        Part::Constraint,
        Part::Jacobian,
        Part::ConstraintRate,
        Part::Convective,
        Part::Kinetic,
        Part::Potential,
        Part::Power,
        Part::Events,
        Part::Pattern,
        Part::Character,
    ];
}

/// Size of the fault relative to the value: a hundred times what differences can resolve.
const FAULT: f64 = 1e-6;

/// `system` with a fault in `part`.
pub struct Mutant<'a> {
    pub system: &'a dyn System,
    pub part: Part,
}

impl Mutant<'_> {
    /// Spoils the last entry, which is one of a rotation where there are any.
    fn spoil(&self, part: Part, out: &mut [f64]) {
        if let (true, Some(x)) = (part == self.part, out.last_mut()) {
            *x += FAULT * (1.0 + x.abs());
        }
    }

    /// Spoils in proportion to something that changes, so that derivatives are wrong too.
    fn spoil_by(&self, part: Part, by: f64, out: &mut [f64]) {
        if let (true, Some(x)) = (part == self.part, out.last_mut()) {
            *x += FAULT * by.sin();
        }
    }
}

impl System for Mutant<'_> {
    fn dimensions(&self) -> Dimensions {
        self.system.dimensions()
    }

    fn properties(&self) -> Properties {
        let mut character = self.system.properties();
        if self.part == Part::Character {
            character.velocity_forces = false;
            character.moving_constraints = false;
        }
        character
    }

    fn sparsity(&self) -> Sparsity {
        let mut pattern = self.system.sparsity();
        if self.part == Part::Pattern {
            pattern.tangent[0] = (0, 1);
        }
        pattern
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        self.system.mass_times(cx, q, a, out);
        self.spoil_by(Part::MassTimes, a[a.len() - 1], out);
    }

    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        self.system.force(cx, q, v, out)?;
        self.spoil_by(Part::Force, q[0], out);
        Ok(())
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        self.system.tangent(cx, at, weights, out)?;
        self.spoil(Part::Tangent, out);
        Ok(())
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        self.system.constraint(cx, q, phi);
        self.spoil_by(Part::Constraint, q[0], phi);
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        self.system.jacobian(cx, q, out);
        self.spoil(Part::Jacobian, out);
    }

    fn constraint_rate(&self, cx: &EvaluationContext, q: &[f64], phi_t: &mut [f64]) {
        self.system.constraint_rate(cx, q, phi_t);
        self.spoil(Part::ConstraintRate, phi_t);
    }

    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        self.system.constraint_acceleration_bias(cx, q, v, gamma);
        self.spoil(Part::Convective, gamma);
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let mut energy = self.system.energy(cx, q, v);
        if self.part == Part::Kinetic {
            energy.kinetic *= 1.0 + FAULT;
        }
        if self.part == Part::Potential {
            energy.potential *= 1.0 + FAULT;
        }
        energy
    }

    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        let mut power = self.system.power(cx, q, v);
        if self.part == Part::Power {
            power.supplied *= 1.0 + 10.0 * FAULT;
        }
        power
    }
}

impl ConfigurationSpace for Mutant<'_> {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        self.system.retract(q, w, out);
        self.spoil_by(Part::Retract, w[w.len() - 1], out);
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        self.system.difference(q0, q1, w);
        self.spoil(Part::Difference, w);
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        self.system.bracket(x, y, out);
        self.spoil(Part::Bracket, out);
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        self.system.tangent_inverse(theta, y);
        self.spoil(Part::TangentInverse, y);
    }
}

impl HybridSystem for Mutant<'_> {
    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        self.system.event_functions(cx, at, phi, rate);
        self.spoil(Part::Events, rate);
    }
}
