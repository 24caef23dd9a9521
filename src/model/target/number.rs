//! Values of targets: read, written, and set by name.

use super::Target;
use crate::error::{Error, Result};
use crate::model::expression::{Expression, PhysicalDimension, dimension_of};
use crate::model::settings::numeric_settings;
use crate::model::suggest::{did_you_mean, nearest};
use crate::model::validate::refused;
use crate::model::{Expose, FormulationName, InitialPosition, JointNumber, Model, MotionLaw};

impl Model {
    /// Whether the model has this target; an actuator, say, has no stiffness.
    pub(in crate::model) fn has_target(&self, target: Target) -> bool {
        match target {
            Target::BodyMass(i) => self.bodies.get(i).is_some_and(|b| !b.prescribed),
            Target::BodyInertia(i) => {
                self.dimension == 2 && self.bodies.get(i).is_some_and(|b| !b.prescribed)
            }
            Target::ForceStiffness(_)
            | Target::ForceDamping(_)
            | Target::ForceLength(_)
            | Target::ForceEffort(_)
            | Target::Force(..)
            | Target::Joint(..) => self.element_number(target).is_some(),
            Target::Gravity(axis) => self.system.is_none() && axis < self.dimension,
            Target::Motion(i) => {
                (self.motions.get(i)).is_some_and(|m| matches!(m.law, MotionLaw::Input { .. }))
            }
            Target::MotionSpeed(i) => (self.motions.get(i))
                .is_some_and(|m| matches!(m.law, MotionLaw::ConstantSpeed { .. })),
            Target::Definition(i) => i < self.definitions.len(),
            Target::Equilibrium => true,
            Target::SystemForce(i) => (self.system.as_ref()).is_some_and(|s| i < s.force.len()),
        }
    }

    /// Writes the number. The model must have the target.
    pub(in crate::model) fn write_number(&mut self, target: Target, value: f64) {
        if target == Target::Equilibrium {
            self.experiment.initial = InitialPosition::from_number(value);
        } else {
            *self.number_mut(target) = value;
        }
    }

    /// The number. The model must have the target.
    fn number_mut(&mut self, target: Target) -> &mut f64 {
        match target {
            Target::BodyMass(i) => &mut self.bodies[i].mass,
            Target::BodyInertia(i) => &mut self.bodies[i].inertia[2],
            Target::Gravity(axis) => &mut self.gravity[axis],
            Target::Definition(i) => &mut self.definitions[i].value,
            Target::Equilibrium => unreachable!("write_number writes it"),
            Target::Motion(i) | Target::MotionSpeed(i) => match &mut self.motions[i].law {
                MotionLaw::Input { start, .. } => start,
                MotionLaw::ConstantSpeed { speed } => speed,
                _ => unreachable!("targets come from resolve_target or passed has_target"),
            },
            Target::SystemForce(i) => match &mut self.system {
                Some(system) => &mut std::sync::Arc::make_mut(&mut system.force)[i],
                None => unreachable!("targets come from resolve_target or passed has_target"),
            },
            Target::ForceStiffness(_)
            | Target::ForceDamping(_)
            | Target::ForceLength(_)
            | Target::ForceEffort(_)
            | Target::Force(..)
            | Target::Joint(..) => match self.element_number_mut(target) {
                Some(number) => number,
                None => unreachable!("targets come from resolve_target or passed has_target"),
            },
        }
    }

    /// A number of a force or of a joint's friction and limits.
    fn element_number_mut(&mut self, target: Target) -> Option<&mut f64> {
        match target {
            Target::ForceStiffness(i) => self.forces.get_mut(i)?.kind.stiffness_mut(),
            Target::ForceDamping(i) => self.forces.get_mut(i)?.kind.damping_mut(),
            Target::ForceLength(i) => self.forces.get_mut(i)?.kind.length_mut(),
            Target::ForceEffort(i) => self.forces.get_mut(i)?.kind.effort_mut(),
            Target::Force(i, number) => self.forces.get_mut(i)?.kind.number_mut(number),
            Target::Joint(i, k, number) => self.joints.get_mut(i)?.number_mut(k, number),
            _ => None,
        }
    }

    /// The same, read only.
    fn element_number(&self, target: Target) -> Option<f64> {
        match target {
            Target::Joint(i, k, number) => {
                let joint = self.joints.get(i)?;
                let (friction, limits) = (
                    joint.friction.get(k).copied().flatten(),
                    joint.limits.get(k).copied().flatten(),
                );
                match number {
                    JointNumber::Kinetic => friction.map(|f| f.kinetic),
                    JointNumber::Static => friction.map(|f| f.r#static),
                    JointNumber::Viscous => friction.map(|f| f.viscous),
                    JointNumber::Stiffness | JointNumber::Damping | JointNumber::Restitution => {
                        limits?.number_mut(number).copied()
                    }
                }
            }
            Target::ForceStiffness(i)
            | Target::ForceDamping(i)
            | Target::ForceLength(i)
            | Target::ForceEffort(i)
            | Target::Force(i, _) => {
                let mut kind = self.forces.get(i)?.kind.clone();
                let number = match target {
                    Target::ForceStiffness(_) => kind.stiffness_mut(),
                    Target::ForceDamping(_) => kind.damping_mut(),
                    Target::ForceLength(_) => kind.length_mut(),
                    Target::ForceEffort(_) => kind.effort_mut(),
                    Target::Force(_, number) => kind.number_mut(number),
                    _ => None,
                };
                number.copied()
            }
            _ => None,
        }
    }

    /// The value in the model; NaN if the model does not have the target.
    pub fn value_of_target(&self, target: Target) -> f64 {
        match target {
            Target::BodyMass(i) => self.bodies.get(i).map(|b| b.mass),
            Target::BodyInertia(i) => self.bodies.get(i).map(|b| b.inertia[2]),
            Target::Gravity(axis) => self.gravity.get(axis).copied(),
            Target::Definition(i) => self.definitions.get(i).map(|d| d.value),
            Target::Equilibrium => Some(match self.experiment.initial {
                InitialPosition::Given => 0.0,
                InitialPosition::Equilibrium => 1.0,
            }),
            Target::Motion(i) | Target::MotionSpeed(i) => {
                self.motions.get(i).and_then(|motion| match motion.law {
                    MotionLaw::Input { start, .. } => Some(start),
                    MotionLaw::ConstantSpeed { speed } => Some(speed),
                    _ => None,
                })
            }
            Target::SystemForce(i) => {
                (self.system.as_ref()).and_then(|system| system.force.get(i).copied())
            }
            Target::ForceStiffness(_)
            | Target::ForceDamping(_)
            | Target::ForceLength(_)
            | Target::ForceEffort(_)
            | Target::Force(..)
            | Target::Joint(..) => self.element_number(target),
        }
        .unwrap_or(f64::NAN)
    }

    /// Sets a number of the model, and the start value of the input or parameter declared on it. The ranges are those
    /// of the file; on failure nothing changes.
    pub fn set_target(&mut self, target: Target, value: f64) -> Result<()> {
        if !self.has_target(target) {
            return Err(Error::NotSettable {
                name: format!("{target:?}"),
                reason: "the model has no such target".to_owned(),
            });
        }
        target.range().check(|| self.target_name(target), value)?;
        if let Target::Definition(index) = target {
            *self = self.with_definitions(&[(index, value)])?;
        }
        self.write_number(target, value);
        for input in self.inputs.iter_mut().filter(|i| i.target == target) {
            input.start = value;
        }
        for parameter in self.parameters.iter_mut().filter(|p| p.target == target) {
            parameter.start = value;
        }
        Ok(())
    }

    /// Sets what is a word: a setting of the solver, `solver.<key>`, `expose` or `experiment.initial`; or a number by an expression
    /// such as `30 deg`.
    pub fn set_word(&mut self, name: &str, word: &str) -> Result<()> {
        if let Some(key) = name.strip_prefix("solver.")
            && let Some(result) = self.solver.set_word(key, word)
        {
            result?;
            if self.system.is_some() && self.solver.formulation != FormulationName::Auto {
                self.solver.formulation = FormulationName::Auto;
                let expected = "auto: a linear system has its own coordinates";
                return Err(refused(name, &word, expected));
            }
            return Ok(());
        }
        let chosen = |choices: &[&str]| {
            (choices.iter().position(|other| *other == word)).ok_or_else(|| {
                let near = did_you_mean(word, choices);
                refused(name, &word, &format!("one of {}{near}", choices.join(", ")))
            })
        };
        match name {
            "expose" => {
                self.expose = Expose::ALL[chosen(&Expose::NAMES)?].1;
                return Ok(());
            }
            "experiment.initial" => {
                let index = chosen(&InitialPosition::NAMES)?;
                self.experiment.initial = InitialPosition::ALL[index].1;
                return Ok(());
            }
            _ => {}
        }
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !is_plain && let Some(value) = self.expression_for(name, word)? {
            return self.set(name, value);
        }
        // The error of a name that no number has either, or a number is expected.
        let mut copy = self.clone();
        match copy.set(name, f64::NAN) {
            Err(error @ (Error::UnknownVariable { .. } | Error::NotSettable { .. })) => Err(error),
            _ => Err(refused(name, &word, "a finite number")),
        }
    }

    /// The value of an expression in the unit of a number of the model; `None` if there is no such number.
    fn expression_for(&self, name: &str, text: &str) -> Result<Option<f64>> {
        let declared = (self.inputs.iter().map(|i| (&i.name, i.target)))
            .chain(self.parameters.iter().map(|p| (&p.name, p.target)))
            .find(|(declared, _)| *declared == name)
            .map(|(_, target)| target);
        let unit = match declared.or_else(|| self.target(name).ok()) {
            Some(target) => self.unit_of_target(target),
            None if name.starts_with("solver.") => "?",
            None => return Ok(None),
        };
        let definition = |name: &str| self.definition_value(name);
        let found = Expression::parse(text, &|name| definition(name).is_some())
            .and_then(|expression| expression.evaluate(&definition))
            .map_err(|e| refused(name, &text, &format!("column {}: {}", e.at + 1, e.message)))?;
        let wanted = dimension_of(unit);
        let fits = found.dimension == PhysicalDimension::NONE
            || wanted.is_none_or(|wanted| found.dimension.fits(wanted));
        match fits {
            true => Ok(Some(found.value)),
            false => {
                let expected = format!("a value in {unit}, it is {}", found.dimension.words());
                Err(refused(name, &text, &expected))
            }
        }
    }

    /// Sets a declared parameter or input, any target by its dotted name, or a numeric setting `solver.<key>`.
    pub fn set(&mut self, name: &str, value: f64) -> Result<()> {
        let declared = (self.inputs.iter().map(|i| (&i.name, i.target)))
            .chain(self.parameters.iter().map(|p| (&p.name, p.target)))
            .find(|(declared, _)| *declared == name)
            .map(|(_, target)| target);
        if let Some(target) = declared {
            target.range().check(|| name.to_owned(), value)?;
            return self.set_target(target, value);
        }
        if let Some(key) = name.strip_prefix("solver.")
            && let Some(result) = self.solver.set(key, value)
        {
            return result;
        }
        if let Ok(target) = self.target(name) {
            return self.set_target(target, value);
        }
        if self.outputs.iter().any(|output| output.name == name) {
            return Err(Error::NotSettable {
                name: name.to_owned(),
                reason: "it is an output".to_owned(),
            });
        }
        if self.quantity(name).is_ok() {
            return Err(Error::NotSettable {
                name: name.to_owned(),
                reason: "it is computed".to_owned(),
            });
        }
        let settable = (self.inputs.iter().map(|i| i.name.clone()))
            .chain(self.parameters.iter().map(|p| p.name.clone()))
            .chain(self.targets().into_iter().map(|(name, _)| name))
            .chain(
                self.definitions
                    .iter()
                    .map(|d| format!("define.{}", d.name)),
            )
            .chain(numeric_settings().map(|key| format!("solver.{key}")));
        Err(Error::UnknownVariable {
            name: name.to_owned(),
            nearest: nearest(name, settable),
        })
    }
}
