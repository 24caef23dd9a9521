//! Numbers of a model that can be set from outside, by dotted name: parameters, inputs, and `--set` on the command line.

use super::document::shorten;
use super::force::Settable;
use super::linear_system::numbered;
use super::quantity::{NamedElement, element_and_field};
use super::settings::NUMERIC_KEYS;
use super::suggest::{did_you_mean, nearest};
use super::{
    ContactDefinition, ContactLaw, ForceKind, ForceNumber, JointNumber, Model, MotionLaw, Target,
};
use crate::error::{Error, Result};

const AXES: [&str; 3] = ["x", "y", "z"];

/// What an input of a motion is, by its order.
const ORDERS: [&str; 3] = ["position", "speed", "acceleration"];

impl Target {
    /// Whether an input may drive it while the simulation runs.
    pub fn driveable(self) -> bool {
        match self {
            Self::ForceEffort(_) | Self::Gravity(_) | Self::Motion(_) | Self::SystemForce(_) => {
                true
            }
            Self::Force(_, number) => number.driveable(),
            Self::Joint(_, _, number) => number.driveable(),
            _ => false,
        }
    }
}

impl Model {
    /// A target by its dotted name: `<body>.mass .inertia`, `<spring>.stiffness .damping .length .preload`, components of
    /// forces, the numbers of bushings, tyres, contacts and of friction and end stops in joints,
    /// `<actuator>.force` (or `.torque` in a joint that turns), `<motion>.speed` of constant speed, what a motion with
    /// law input asks for, `gravity.x .y .z`; `f1 f2 ..` of a model given by its matrices.
    pub fn target(&self, dotted: &str) -> Result<Target> {
        self.resolve_target(dotted, |name| self.element(name))
            .map_err(|_| Error::UnknownVariable {
                name: dotted.to_owned(),
                nearest: nearest(dotted, self.targets().into_iter().map(|(name, _)| name)),
            })
    }

    /// The same with a sentence as error, and with the finding of elements left to the caller.
    pub(super) fn resolve_target(
        &self,
        dotted: &str,
        find: impl Fn(&str) -> Option<NamedElement>,
    ) -> std::result::Result<Target, String> {
        if let Some(system) = &self.system {
            let n = system.coordinates();
            return match numbered(dotted, "f") {
                Some(i) if i < n => Ok(Target::SystemForce(i)),
                _ => Err(format!(
                    "\"{}\" names nothing that can be set: expected f1 .. f{n}",
                    shorten(dotted)
                )),
            };
        }
        let Some((element, field)) = element_and_field(dotted) else {
            return Err(format!(
                "\"{}\" names nothing that can be set: expected <element>.<field>",
                shorten(dotted)
            ));
        };
        if element == "gravity"
            && let Some(axis) = AXES[..self.dimension]
                .iter()
                .position(|name| *name == field)
        {
            return Ok(Target::Gravity(axis));
        }
        if element == "gravity" {
            return Err(format!(
                "gravity has no \"{}\"; it has: {}",
                shorten(field),
                AXES[..self.dimension].join(", ")
            ));
        }
        let Some(found) = find(element) else {
            let near = did_you_mean(element, self.element_names().chain(["gravity"]));
            return Err(format!(
                "there is no element \"{}\"{near}",
                shorten(element)
            ));
        };
        let fields = self.target_fields(found);
        match fields.iter().find(|(name, _)| *name == field) {
            Some((_, target)) => Ok(*target),
            None => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                Err(match names[..] {
                    [] => format!("{} \"{element}\" has nothing that can be set", found.kind()),
                    _ => format!(
                        "{} \"{element}\" has no \"{}\" that can be set; it has: {}",
                        found.kind(),
                        shorten(field),
                        names.join(", ")
                    ),
                })
            }
        }
    }

    /// What can be set in an element. Two names for one target: the first is its own, the other is accepted.
    fn target_fields(&self, element: NamedElement) -> Vec<(&'static str, Target)> {
        match element {
            NamedElement::Body(i) if self.bodies[i].prescribed => vec![],
            NamedElement::Body(i) if self.dimension == 2 => vec![
                ("mass", Target::BodyMass(i)),
                ("inertia", Target::BodyInertia(i)),
            ],
            NamedElement::Body(i) => vec![("mass", Target::BodyMass(i))],
            NamedElement::Motion(i) => match self.motions[i].law {
                MotionLaw::Input { order, .. } => vec![(ORDERS[order.min(2)], Target::Motion(i))],
                MotionLaw::ConstantSpeed { .. } => vec![("speed", Target::MotionSpeed(i))],
                MotionLaw::Polynomial(_) | MotionLaw::Harmonic { .. } | MotionLaw::Table { .. } => {
                    vec![]
                }
            },
            NamedElement::Force(i) => {
                let force = &self.forces[i];
                let mut all = Vec::new();
                for (name, target) in [
                    ("stiffness", Target::ForceStiffness(i)),
                    ("damping", Target::ForceDamping(i)),
                    ("length", Target::ForceLength(i)),
                ] {
                    if self.has_target(target) {
                        all.push((name, target));
                    }
                }
                if let ForceKind::Actuator { .. } = force.kind {
                    if self.turns(i) {
                        all.push(("torque", Target::ForceEffort(i)));
                    }
                    all.push(("force", Target::ForceEffort(i)));
                }
                let others = force.kind.settables(self.dimension, self.turns(i));
                all.extend(
                    others
                        .into_iter()
                        .map(|(name, number, _)| (name, Target::Force(i, number))),
                );
                all
            }
            NamedElement::Joint(i) => (self.joints[i].settables(self.dimension).into_iter())
                .map(|(k, (name, number, _))| (name, Target::Joint(i, k, number)))
                .collect(),
            NamedElement::Sensor(_) => vec![],
        }
    }

    /// All targets with their dotted names.
    pub fn targets(&self) -> Vec<(String, Target)> {
        if let Some(system) = &self.system {
            let force = |i| (format!("f{}", i + 1), Target::SystemForce(i));
            return (0..system.coordinates()).map(force).collect();
        }
        let mut all: Vec<(String, Target)> = AXES[..self.dimension]
            .iter()
            .enumerate()
            .map(|(axis, name)| (format!("gravity.{name}"), Target::Gravity(axis)))
            .collect();
        for element in self.elements() {
            for (field, target) in self.target_fields(element) {
                if all.last().is_none_or(|(_, last)| *last != target) {
                    all.push((format!("{}.{field}", self.name_of(element)), target));
                }
            }
        }
        all
    }

    /// The dotted name of a target of this model.
    pub fn target_name(&self, target: Target) -> String {
        match target {
            Target::BodyMass(i) => format!("{}.mass", self.bodies[i].name),
            Target::BodyInertia(i) => format!("{}.inertia", self.bodies[i].name),
            Target::ForceStiffness(i) => format!("{}.stiffness", self.forces[i].name),
            Target::ForceDamping(i) => format!("{}.damping", self.forces[i].name),
            Target::ForceLength(i) => format!("{}.length", self.forces[i].name),
            Target::ForceEffort(i) if self.turns(i) => format!("{}.torque", self.forces[i].name),
            Target::ForceEffort(i) => format!("{}.force", self.forces[i].name),
            Target::Force(i, number) => {
                let name = self.settable(i, number).map_or("", |(name, _, _)| name);
                format!("{}.{name}", self.forces[i].name)
            }
            Target::Joint(i, k, number) => {
                let name = self
                    .joint_settable(i, k, number)
                    .map_or("", |(name, _, _)| name);
                format!("{}.{name}", self.joints[i].name)
            }
            Target::Gravity(axis) => format!("gravity.{}", AXES[axis]),
            Target::Motion(i) => {
                let field = match self.motions[i].law {
                    MotionLaw::Input { order, .. } => ORDERS[order.min(2)],
                    _ => "position",
                };
                format!("{}.{field}", self.motions[i].name)
            }
            Target::MotionSpeed(i) => format!("{}.speed", self.motions[i].name),
            Target::SystemForce(_) if self.own.is_some() => String::new(),
            Target::SystemForce(i) => format!("f{}", i + 1),
        }
    }

    /// The unit of a target of this model.
    pub fn unit_of_target(&self, target: Target) -> &'static str {
        match target {
            Target::BodyMass(_) => "kg",
            Target::BodyInertia(_) => "kg.m2",
            Target::ForceStiffness(i) => match &self.forces[i].kind {
                // N over a power of m that need not be whole.
                ForceKind::Contact(ContactDefinition {
                    law: ContactLaw::HuntCrossley { .. },
                    ..
                }) => "",
                _ if self.turns(i) => "N.m/rad",
                _ => "N/m",
            },
            Target::ForceDamping(i) => match &self.forces[i].kind {
                ForceKind::Contact(ContactDefinition {
                    law: ContactLaw::HuntCrossley { .. },
                    ..
                }) => "s/m",
                _ if self.turns(i) => "N.m.s/rad",
                _ => "N.s/m",
            },
            Target::ForceLength(i) if self.turns(i) => "rad",
            Target::ForceLength(_) => "m",
            Target::Force(i, number) => self.settable(i, number).map_or("", |(_, _, unit)| unit),
            Target::Joint(i, k, number) => self
                .joint_settable(i, k, number)
                .map_or("", |(_, _, unit)| unit),
            Target::ForceEffort(i) if self.turns(i) => "N.m",
            Target::ForceEffort(_) => "N",
            Target::Gravity(_) => "m/s2",
            Target::Motion(i) | Target::MotionSpeed(i) => {
                let order = match self.motions[i].law {
                    MotionLaw::Input { order, .. } => order,
                    _ => 1,
                };
                match (order, self.motion_turns(i)) {
                    (0, true) => "rad",
                    (0, false) => "m",
                    (1, true) => "rad/s",
                    (1, false) => "m/s",
                    (_, true) => "rad/s2",
                    (_, false) => "m/s2",
                }
            }
            Target::SystemForce(_) => "",
        }
    }

    /// Whether the model has this target: a spring's stiffness is none of an actuator's.
    pub(super) fn has_target(&self, target: Target) -> bool {
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
            Target::SystemForce(i) => (self.system.as_ref()).is_some_and(|s| i < s.force.len()),
        }
    }

    /// The number itself. The target must be one of this model's.
    pub(super) fn number_mut(&mut self, target: Target) -> &mut f64 {
        match target {
            Target::BodyMass(i) => &mut self.bodies[i].mass,
            Target::BodyInertia(i) => &mut self.bodies[i].inertia[2],
            Target::Gravity(axis) => &mut self.gravity[axis],
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

    /// A number of a force or of a joint's friction and stops.
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

    /// The same to look at.
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

    fn settable(&self, force: usize, number: ForceNumber) -> Option<Settable<ForceNumber>> {
        let all = self.forces[force]
            .kind
            .settables(self.dimension, self.turns(force));
        all.into_iter().find(|(_, other, _)| *other == number)
    }

    fn joint_settable(
        &self,
        joint: usize,
        index: usize,
        number: JointNumber,
    ) -> Option<Settable<JointNumber>> {
        let all = self.joints[joint].settables(self.dimension);
        all.into_iter()
            .find(|(k, (_, other, _))| *k == index && *other == number)
            .map(|(_, settable)| settable)
    }

    /// The value written in the model; NaN where the model has no such target.
    pub fn value_of_target(&self, target: Target) -> f64 {
        match target {
            Target::BodyMass(i) => self.bodies.get(i).map(|b| b.mass),
            Target::BodyInertia(i) => self.bodies.get(i).map(|b| b.inertia[2]),
            Target::Gravity(axis) => self.gravity.get(axis).copied(),
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

    /// Sets a number of the model, and the start value of the input or parameter declared on it. The same ranges hold
    /// as in the file; on failure nothing changes.
    pub fn set_target(&mut self, target: Target, value: f64) -> Result<()> {
        if !self.has_target(target) {
            return Err(Error::NotSettable {
                name: format!("{target:?}"),
                reason: "the model has no such target".to_owned(),
            });
        }
        target.range().check(|| self.target_name(target), value)?;
        *self.number_mut(target) = value;
        for input in self.inputs.iter_mut().filter(|i| i.target == target) {
            input.start = value;
        }
        for parameter in self.parameters.iter_mut().filter(|p| p.target == target) {
            parameter.start = value;
        }
        Ok(())
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
            .chain(NUMERIC_KEYS.iter().map(|key| format!("solver.{key}")));
        Err(Error::UnknownVariable {
            name: name.to_owned(),
            nearest: nearest(name, settable),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tests::model;

    #[test]
    fn every_target_is_found_by_its_name_and_can_be_set() {
        for file in ["slider_crank.toml", "oscillator.toml"] {
            let mut model = model(file);
            for (name, target) in model.targets() {
                assert_eq!(model.target(&name).unwrap(), target, "{name}");
                assert_eq!(model.target_name(target), name);
                assert!(!model.unit_of_target(target).is_empty());
                model.set(&name, 0.125).unwrap();
                assert_eq!(model.value_of_target(target), 0.125, "{name}");
            }
            model.validate().unwrap();
        }
    }

    #[test]
    fn a_declared_name_sets_the_element_and_its_own_start() {
        let mut slider_crank = model("slider_crank.toml");
        slider_crank.set("tau", 2.5).unwrap();
        assert_eq!(slider_crank.inputs[0].start, 2.5);
        assert_eq!(
            slider_crank.value_of_target(slider_crank.inputs[0].target),
            2.5
        );
        slider_crank.set("motor.torque", 3.5).unwrap();
        assert_eq!(slider_crank.inputs[0].start, 3.5);
        assert_eq!(
            slider_crank.target("motor.force"),
            slider_crank.target("motor.torque")
        );
    }

    #[test]
    fn solver_settings_are_set_by_name() {
        let mut model = model("pendulum.toml");
        model.set("solver.tolerance", 1e-9).unwrap();
        model.set("solver.step", 0.01).unwrap();
        assert_eq!(model.solver.tolerance, 1e-9);
        assert_eq!(model.solver.step, Some(0.01));
    }

    #[test]
    fn what_cannot_be_set_is_refused_by_name_and_changes_nothing() {
        let good = model("slider_crank.toml");
        for (name, value, fragment) in [
            ("tau", f64::NAN, "tau = NaN"),
            (
                "crank.mass",
                -1.0,
                "crank.mass = -1.0: expected a finite number >= 0",
            ),
            ("solver.alpha", 0.5, "solver.alpha = 0.5"),
            ("slider_x", 1.0, "it is an output"),
            ("crank.x", 1.0, "it is computed"),
            ("solver.steps", 1.0, "it is computed"),
            (
                "solver.tolerence",
                1.0,
                "did you mean \"solver.tolerance\"?",
            ),
            ("crnak.mass", 1.0, "did you mean \"crank.mass\"?"),
            ("tua", 1.0, "did you mean \"tau\"?"),
            ("", 1.0, "there is no variable \"\""),
            (".", 1.0, "there is no variable \".\""),
        ] {
            let mut model = good.clone();
            let sentence = model.set(name, value).unwrap_err().to_string();
            assert!(sentence.contains(fragment), "{name}: {sentence}");
            assert_eq!(model, good);
        }
        let mut model = good.clone();
        assert!(model.set_target(Target::ForceStiffness(0), 1.0).is_err());
        assert!(model.set_target(Target::BodyMass(99), 1.0).is_err());
        assert!(model.set_target(Target::Gravity(2), 1.0).is_err());
        assert_eq!(model, good);
    }
}
