//! Direct dependencies of outputs on inputs, from which a co-simulation master finds algebraic loops.
//!
//! ```text
//!   M a + Gᵀ λ = f(q, v, u, p)      an input in f changes a and λ of all unknowns coupled by M and G
//!   Φ(q, u) = 0                     an input in Φ changes q and v too
//!   y = y(q, v, a, λ, u, p)         an output depends on an input that changes one of its arguments or is one
//! ```
//!
//! The structure is found by evaluation: at a few random points one argument is changed and the result compared. That works for
//! every formulation, joint and force, and costs a few evaluations. Coordinates and constraints are divided into groups coupled
//! by the entries of M and G: unknowns of one group depend on each other, whatever the values.

use super::Instance;
use super::dependency_probe::{DependencyProbe, Influence};
use super::derivatives::immediate_quantity;
use super::variables::{Causality, Variability, VariableSource};
use crate::model::quantity::{EnergyField, Quantity};

/// Number of random points: one would do, were it not for points where a derivative happens to be zero.
const POINTS: u64 = 3;

/// Direct dependencies of each variable, as ascending value references.
#[derive(Debug)]
pub(super) struct Dependencies {
    /// On inputs.
    on_inputs: Vec<Vec<u32>>,
    /// On inputs and parameters, after `initialize`.
    initial: Vec<Vec<u32>>,
    /// Whether each variable enters Φ or its rate.
    prescribes_motion: Vec<bool>,
}

impl Dependencies {
    /// Whether this input or parameter prescribes positions or velocities.
    pub fn prescribes_motion(&self, reference: u32) -> bool {
        (self.prescribes_motion.get(reference as usize)).is_some_and(|p| *p)
    }
}

impl Instance {
    /// The inputs on which an output depends directly, ascending: reading it right after setting one of them gives another value.
    /// Empty for variables that are not computed. Structural: independent of the present position and parameters.
    pub fn dependencies(&self, reference: u32) -> &[u32] {
        let all = &self.dependency_table().on_inputs;
        all.get(reference as usize).map_or(&[], Vec::as_slice)
    }

    /// The inputs and parameters on which an output depends right after `initialize`, ascending.
    pub fn initial_dependencies(&self, reference: u32) -> &[u32] {
        let all = &self.dependency_table().initial;
        all.get(reference as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn dependency_table(&self) -> &Dependencies {
        self.dependencies.get_or_init(|| {
            if self.model.user_system.is_some() {
                self.assume_dependencies()
            } else {
                self.find_dependencies()
            }
        })
    }

    fn find_dependencies(&self) -> Dependencies {
        let count = self.catalogue.variables.len();
        let source = |i: usize| {
            let source = self.catalogue.source(i as u32);
            source.expect("references below the count exist")
        };
        let mut found = Dependencies {
            on_inputs: vec![vec![]; count],
            initial: vec![vec![]; count],
            prescribes_motion: vec![false; count],
        };
        for seed in 1..=POINTS {
            let mut probe = DependencyProbe::new(&self.model, &*self.mechanism, seed);
            let influence: Vec<Vec<Influence>> = (0..count)
                .map(|known| probe.influence(source(known)))
                .collect();
            for known in 0..count {
                found.prescribes_motion[known] |=
                    influence[known].iter().any(|i| i.prescribes_motion());
            }
            let affected: Vec<usize> = (0..probe.groups())
                .filter(|&g| influence.iter().any(|i| i[g] != Influence::default()))
                .collect();
            for unknown in 0..count {
                let VariableSource::Output(quantity) = source(unknown) else {
                    continue;
                };
                let Some(changing) = immediate_quantity(quantity) else {
                    continue;
                };
                let arguments = probe.arguments(changing, &affected);
                for known in 0..count {
                    let depends = (influence[known].iter().zip(&arguments))
                        .any(|(influence, argument)| influence.changes(argument))
                        || probe.enters(changing, source(known));
                    if !depends {
                        continue;
                    }
                    if let VariableSource::Input(_) = source(known) {
                        insert(&mut found.on_inputs[unknown], known as u32);
                    }
                    // No energy has been supplied at the start.
                    if quantity != Quantity::Energy(EnergyField::Supplied) {
                        insert(&mut found.initial[unknown], known as u32);
                    }
                }
            }
        }
        self.add_definitions(&mut found);
        found
    }

    /// Whatever is computed may depend on the definitions that parameters set.
    fn add_definitions(&self, found: &mut Dependencies) {
        let source = |i: usize| self.catalogue.source(i as u32);
        let fixed = (self.catalogue.variables.iter().enumerate())
            .filter(|(_, v)| v.variability == Variability::Fixed)
            .map(|(i, _)| i as u32);
        for known in fixed {
            for (i, initial) in found.initial.iter_mut().enumerate() {
                if let Ok(VariableSource::Output(quantity)) = source(i)
                    && immediate_quantity(quantity).is_some()
                {
                    insert(initial, known);
                }
            }
        }
    }

    /// All dependencies that are possible. User callbacks are not evaluated at random points, where they may not be defined.
    fn assume_dependencies(&self) -> Dependencies {
        let variables = &self.catalogue.variables;
        let of = |causality: Causality| {
            let all = variables.iter().enumerate();
            let all = all.filter(move |(_, v)| v.causality == causality);
            all.map(|(i, _)| i as u32).collect::<Vec<u32>>()
        };
        let (inputs, parameters) = (of(Causality::Input), of(Causality::Parameter));
        let both: Vec<u32> = inputs.iter().chain(&parameters).copied().collect();
        let moving = self.mechanism.properties().moving_constraints;
        let constrained = self.mechanism.dimensions().nc > 0;
        let mut on_inputs = vec![vec![]; variables.len()];
        let mut initial = on_inputs.clone();
        for i in 0..variables.len() {
            let Ok(VariableSource::Output(quantity)) = self.catalogue.source(i as u32) else {
                continue;
            };
            let (by_inputs, by_parameters) = match immediate_quantity(quantity) {
                None => (false, false),
                // Positions and velocities: only through the constraints.
                Some(Quantity::Coordinate(_) | Quantity::Rate(_)) => (moving, constrained),
                Some(_) => (true, true),
            };
            if by_inputs {
                on_inputs[i].clone_from(&inputs);
            }
            if quantity != Quantity::Energy(EnergyField::Supplied) {
                initial[i] = match (by_inputs, by_parameters) {
                    (true, true) => both.clone(),
                    (true, false) => inputs.clone(),
                    (false, true) => parameters.clone(),
                    (false, false) => vec![],
                };
            }
        }
        let prescribes_motion = (variables.iter())
            .map(|v| match v.causality {
                Causality::Input => moving,
                Causality::Parameter => constrained,
                _ => false,
            })
            .collect();
        Dependencies {
            on_inputs,
            initial,
            prescribes_motion,
        }
    }
}

fn insert(sorted: &mut Vec<u32>, x: u32) {
    if let Err(at) = sorted.binary_search(&x) {
        sorted.insert(at, x);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::*;

    #[test]
    fn the_dependencies_of_the_oscillator_are_those_of_its_equation() {
        let instance = oscillator();
        for (reference, on_inputs, initial) in [
            (X, &[][..], &[][..]),
            (V, &[], &[]),
            (A, &[PUSH], &[PUSH, STIFFNESS, MASS]),
            (BALANCE, &[], &[]),
            // A parameter changed later supplies energy, an input force does not.
            (SUPPLIED, &[], &[]),
            (TIME, &[], &[]),
            (STEPS, &[], &[]),
            (PUSH, &[], &[]),
            (MASS, &[], &[]),
            (COUNT, &[], &[]),
        ] {
            assert_eq!(instance.dependencies(reference), on_inputs, "{reference}");
            assert_eq!(
                instance.initial_dependencies(reference),
                initial,
                "{reference}"
            );
        }
    }

    #[test]
    fn a_nan_output_depends_on_everything() {
        let instance = oscillator();
        assert_eq!(instance.dependencies(NAN), [PUSH]);
        assert_eq!(instance.initial_dependencies(NAN), [PUSH, STIFFNESS, MASS]);
    }
}
