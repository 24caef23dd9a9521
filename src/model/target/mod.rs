//! Numbers of a model that can be set from outside, by dotted name: parameters, inputs, and `--set` on the command line.

mod number;
#[cfg(test)]
mod tests;

use super::force::Settable;
use super::linear_system::numbered;
use super::quantity::{NamedElement, element_and_field};
use super::suggest::{did_you_mean, nearest, shorten};
use super::validate::Range;
use super::{ContactDefinition, ContactLaw, ForceKind, ForceNumber, JointNumber, Model, MotionLaw};
use crate::error::{Error, Result};

/// A number of the model that can be set from outside, by element index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `<body>.mass`
    BodyMass(usize),
    /// `<body>.inertia` (two dimensions)
    BodyInertia(usize),
    /// `<force>.stiffness`
    ForceStiffness(usize),
    /// `<force>.damping`
    ForceDamping(usize),
    /// `<force>.length`: unloaded length
    ForceLength(usize),
    /// `<force>.force` or `.torque` of an actuator: driveable
    ForceEffort(usize),
    /// Any other number of a force
    Force(usize, ForceNumber),
    /// A number of the friction or the limits of a joint coordinate: joint, coordinate, number
    Joint(usize, usize, JointNumber),
    /// `gravity.x .y .z` by axis
    Gravity(usize),
    /// `<motion>.position .speed .acceleration` of a motion with `law = "input"`: driveable
    Motion(usize),
    /// `<motion>.speed` of a motion of constant speed
    MotionSpeed(usize),
    /// `define.<name>`: a definition of the text, by its index. The model is read again when it is set.
    Definition(usize),
    /// `experiment.equilibrium`: 1 starts in the static equilibrium, 0 from the initial conditions.
    Equilibrium,
    /// `f1 f2 ..` of a linear system: driveable. Of a user-defined system: the input or parameter of this index.
    SystemForce(usize),
}

/// Name of [`Target::Equilibrium`].
const EQUILIBRIUM: &str = "experiment.equilibrium";

const AXES: [&str; 3] = ["x", "y", "z"];

/// Fields of a motion by the order of the derivative.
const ORDERS: [&str; 3] = ["position", "speed", "acceleration"];

impl Target {
    /// Accepted values.
    pub(crate) fn range(self) -> Range {
        match self {
            Self::BodyMass(_)
            | Self::BodyInertia(_)
            | Self::ForceStiffness(_)
            | Self::ForceDamping(_) => Range::NonNegative,
            Self::Joint(_, _, JointNumber::Restitution) | Self::Equilibrium => Range::Part,
            Self::Joint(..) => Range::NonNegative,
            Self::Force(_, number) => number.range(),
            Self::ForceLength(_)
            | Self::ForceEffort(_)
            | Self::Gravity(_)
            | Self::Motion(_)
            | Self::MotionSpeed(_)
            | Self::Definition(_)
            | Self::SystemForce(_) => Range::Finite,
        }
    }

    /// Whether forces depend on its rate of change too: that of a road height in a damper, that of a set point in a controller.
    pub(crate) fn rate_acts(self) -> bool {
        matches!(
            self,
            Self::Force(_, ForceNumber::Height | ForceNumber::SetPoint)
        )
    }

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
    /// forces, the numbers of bushings, tyres, contacts and of friction and limits in joints, `<actuator>.force` (or
    /// `.torque` in a rotational coordinate), `<motion>.speed` of constant speed, the input of a motion with law input,
    /// `gravity.x .y .z`; `f1 f2 ..` of a linear system.
    pub fn target(&self, dotted: &str) -> Result<Target> {
        self.resolve_target(dotted, |name| self.element(name))
            .map_err(|_| Error::UnknownVariable {
                name: dotted.to_owned(),
                nearest: nearest(dotted, self.targets().into_iter().map(|(name, _)| name)),
            })
    }

    /// The same with a sentence as error; `find` looks up elements.
    pub(in crate::model) fn resolve_target(
        &self,
        dotted: &str,
        find: impl Fn(&str) -> Option<NamedElement>,
    ) -> std::result::Result<Target, String> {
        if let Some(name) = dotted.strip_prefix("define.") {
            let found = self.definitions.iter().position(|d| d.name == name);
            return found.map(Target::Definition).ok_or_else(|| {
                let near = did_you_mean(name, self.definitions.iter().map(|d| &d.name));
                format!("there is no definition \"{}\"{near}", shorten(name))
            });
        }
        if dotted == EQUILIBRIUM {
            return Ok(Target::Equilibrium);
        }
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

    /// Targets of an element. If a target has two names, the first is printed and both are read.
    fn target_fields(&self, element: NamedElement) -> Vec<(&'static str, Target)> {
        match element {
            // The mass of a node follows from the section of its beam.
            NamedElement::Body(i)
                if self.bodies[i].prescribed || self.beam_of_node(i).is_some() =>
            {
                vec![]
            }
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
            NamedElement::Beam(_) | NamedElement::Sensor(_) => vec![],
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
            Target::Definition(i) => format!("define.{}", self.definitions[i].name),
            Target::Equilibrium => EQUILIBRIUM.to_owned(),
            Target::SystemForce(_) if self.user_system.is_some() => String::new(),
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
            Target::Definition(i) => self.definitions[i].unit,
            Target::SystemForce(_) | Target::Equilibrium => "",
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
}
