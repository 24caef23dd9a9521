//! Quantities by name.

use std::collections::HashMap;

use super::Quantity;
use super::fields::ENERGY_FIELDS;
use crate::error::{Error, Result};
use crate::model::counters::CounterIndex;
use crate::model::linear_system::numbered;
use crate::model::suggest::{did_you_mean, nearest, shorten};
use crate::model::{
    BodyCoordinate, Force, ForceApplication, ForceKind, ForceType, JointCoordinate, LoadDefinition,
    Model, PrescribedCoordinate,
};

/// Names of the unknowns of a linear or user-defined system, and the quantity of an index.
type Numbered = (&'static str, fn(usize) -> Quantity);
const NUMBERED: [Numbered; 4] = [
    ("q", Quantity::Coordinate),
    ("v", Quantity::Rate),
    ("a", Quantity::Acceleration),
    ("lambda", Quantity::Multiplier),
];

/// Their numbers, if the model has such unknowns.
fn counts(model: &Model) -> Option<[usize; 4]> {
    if let Some(of) = &model.user_system {
        return Some([of.nq, of.nv, of.nv, of.nc]);
    }
    let system = model.system.as_ref()?;
    let n = system.coordinates();
    Some([n, n, n, system.constraints()])
}

/// A named element by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::model) enum NamedElement {
    Body(usize),
    Joint(usize),
    Motion(usize),
    Force(usize),
    Beam(usize),
    Sensor(usize),
}

impl NamedElement {
    pub fn kind(self) -> &'static str {
        match self {
            Self::Body(_) => "body",
            Self::Joint(_) => "joint",
            Self::Motion(_) => "motion",
            Self::Force(_) => "force",
            Self::Beam(_) => "beam",
            Self::Sensor(_) => "sensor",
        }
    }
}

/// The two halves of a dotted name.
pub(in crate::model) fn element_and_field(dotted: &str) -> Option<(&str, &str)> {
    let (element, field) = dotted.split_once('.')?;
    // `rod.3.x` and `rod.start.fx`: a node or a clamp of a beam.
    let halves = match field.split_once('.') {
        Some((part, field)) if is_part_of_beam(part) => {
            (&dotted[..element.len() + 1 + part.len()], field)
        }
        _ => (element, field),
    };
    (!halves.0.is_empty() && !halves.1.is_empty()).then_some(halves)
}

/// Whether a word is what the name of a node or a clamp has behind that of its beam.
fn is_part_of_beam(word: &str) -> bool {
    matches!(word, "start" | "end")
        || (!word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()))
}

impl Model {
    pub(in crate::model) fn elements(&self) -> impl Iterator<Item = NamedElement> {
        ((0..self.bodies.len()).map(NamedElement::Body))
            .chain((0..self.joints.len()).map(NamedElement::Joint))
            .chain((0..self.motions.len()).map(NamedElement::Motion))
            .chain((0..self.forces.len()).map(NamedElement::Force))
            .chain((0..self.beams.len()).map(NamedElement::Beam))
            .chain((0..self.sensors.len()).map(NamedElement::Sensor))
    }

    pub(in crate::model) fn element(&self, name: &str) -> Option<NamedElement> {
        self.elements()
            .find(|element| self.name_of(*element) == name)
    }

    pub(in crate::model) fn name_of(&self, element: NamedElement) -> &str {
        match element {
            NamedElement::Body(i) => &self.bodies[i].name,
            NamedElement::Joint(i) => &self.joints[i].name,
            NamedElement::Motion(i) => &self.motions[i].name,
            NamedElement::Force(i) => &self.forces[i].name,
            NamedElement::Beam(i) => &self.beams[i].name,
            NamedElement::Sensor(i) => &self.sensors[i].name,
        }
    }

    pub(in crate::model) fn element_names(&self) -> impl Iterator<Item = &str> {
        self.elements().map(|element| self.name_of(element))
    }

    /// Whether a force acts along an angle, so that it is a torque.
    pub(in crate::model) fn turns(&self, force: usize) -> bool {
        self.along_angle(&self.forces[force].on)
    }

    fn along_angle(&self, on: &ForceApplication) -> bool {
        match *on {
            ForceApplication::Joint(JointCoordinate { joint, index }) => {
                (self.joints.get(joint)).is_some_and(|j| j.kind.is_angle(index))
            }
            _ => false,
        }
    }

    /// `type` of a force in the model file.
    pub fn force_type(&self, force: &Force) -> ForceType {
        match &force.kind {
            ForceKind::SpringDamper(_) if self.along_angle(&force.on) => ForceType::TorsionSpring,
            ForceKind::SpringDamper(_) => ForceType::SpringDamper,
            ForceKind::Actuator { .. } => ForceType::Actuator,
            ForceKind::Pid(_) => ForceType::Pid,
            ForceKind::Servo(_) => ForceType::Servo,
            ForceKind::Load { load, .. } => match load {
                LoadDefinition::Force => ForceType::Force,
                LoadDefinition::Torque => ForceType::Torque,
            },
            ForceKind::Bushing { .. } => ForceType::Bushing,
            ForceKind::Tyre(_) => ForceType::Tyre,
            ForceKind::Contact(_) => ForceType::Contact,
        }
    }

    /// Whether a motion prescribes an angle and not a length.
    pub fn motion_turns(&self, motion: usize) -> bool {
        match self.motions[motion].on {
            PrescribedCoordinate::Joint(JointCoordinate { joint, index }) => {
                (self.joints.get(joint)).is_some_and(|j| j.kind.is_angle(index))
            }
            PrescribedCoordinate::Body(_, coordinate) => coordinate == BodyCoordinate::Angle,
        }
    }

    /// A quantity by its dotted name.
    pub fn quantity(&self, dotted: &str) -> Result<Quantity> {
        self.resolve_quantity(dotted, |name| self.element(name))
            .map_err(|_| Error::UnknownVariable {
                name: dotted.to_owned(),
                nearest: nearest(dotted, self.quantities().into_iter().map(|(name, _)| name)),
            })
    }

    /// The quantity of each declared output, in their order.
    pub fn output_quantities(&self) -> Result<Vec<Quantity>> {
        let names: HashMap<&str, NamedElement> = (self
            .elements()
            .map(|element| (self.name_of(element), element)))
        .collect();
        (self.outputs.iter())
            .map(|output| {
                self.resolve_quantity(&output.source, |name| names.get(name).copied())
                    .or_else(|_| self.quantity(&output.source))
            })
            .collect()
    }

    /// [`Model::quantity`] with a sentence as error; `find` looks up elements.
    pub(in crate::model) fn resolve_quantity(
        &self,
        dotted: &str,
        find: impl Fn(&str) -> Option<NamedElement>,
    ) -> std::result::Result<Quantity, String> {
        if dotted == "time" {
            return Ok(Quantity::Time);
        }
        if let Some(counts) = counts(self)
            && !matches!(element_and_field(dotted), Some(("energy" | "solver", _)))
        {
            return unknown_of(counts, dotted);
        }
        let Some((element, field)) = element_and_field(dotted) else {
            let found = match dotted {
                "energy" | "solver" => true,
                _ => find(dotted).is_some(),
            };
            let hint = if found {
                format!("; \"{dotted}\" alone is none, give one of its fields")
            } else {
                did_you_mean(dotted, ["time"])
            };
            return Err(format!(
                "there is no quantity \"{}\": expected <element>.<field> or time{hint}",
                shorten(dotted)
            ));
        };
        let (kind, fields) = match element {
            "energy" => (
                String::new(),
                (ENERGY_FIELDS.iter())
                    .map(|(name, field)| (*name, Quantity::Energy(*field)))
                    .collect(),
            ),
            "solver" => (
                String::new(),
                CounterIndex::quantities()
                    .map(|index| (index.counter().name, Quantity::Solver(index)))
                    .collect(),
            ),
            "ground" => return Err("the ground does not move: it has no quantities".to_owned()),
            _ => match find(element) {
                Some(found) => (format!("{} ", found.kind()), self.fields(found)),
                None => {
                    let names = self.element_names().chain(["energy", "solver"]);
                    let near = did_you_mean(element, names);
                    return Err(format!(
                        "there is no element \"{}\"{near}",
                        shorten(element)
                    ));
                }
            },
        };
        match fields.iter().find(|(name, _)| *name == field) {
            Some((_, quantity)) => Ok(*quantity),
            None => {
                let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
                let near = match did_you_mean(field, &names) {
                    near if names.is_empty() => format!("{near}; it has none"),
                    near if near.is_empty() => format!("; it has: {}", names.join(", ")),
                    near => near,
                };
                Err(format!(
                    "{kind}\"{element}\" has no quantity \"{}\"{near}",
                    shorten(field)
                ))
            }
        }
    }

    /// All quantities with their dotted names.
    pub fn quantities(&self) -> Vec<(String, Quantity)> {
        let mut all = vec![("time".to_owned(), Quantity::Time)];
        if let Some(counts) = counts(self) {
            for ((letters, quantity), count) in NUMBERED.iter().zip(counts) {
                all.extend((0..count).map(|i| (format!("{letters}{}", i + 1), quantity(i))));
            }
        }
        for element in self.elements() {
            for (field, quantity) in self.fields(element) {
                if all.last().is_none_or(|(_, last)| *last != quantity) {
                    all.push((format!("{}.{field}", self.name_of(element)), quantity));
                }
            }
        }
        for (name, field) in ENERGY_FIELDS {
            all.push((format!("energy.{name}"), Quantity::Energy(field)));
        }
        for index in CounterIndex::quantities() {
            let name = index.counter().name;
            all.push((format!("solver.{name}"), Quantity::Solver(index)));
        }
        all
    }
}

/// An unknown of a linear or user-defined system.
fn unknown_of(counts: [usize; 4], name: &str) -> std::result::Result<Quantity, String> {
    for ((letters, quantity), count) in NUMBERED.iter().zip(counts) {
        if let Some(i) = numbered(name, letters) {
            return match count {
                0 => Err(format!(
                    "there is no \"{name}\": the system has no constraint"
                )),
                _ if i >= count => Err(format!(
                    "there is no \"{name}\": the last is {letters}{count}"
                )),
                _ => Ok(quantity(i)),
            };
        }
    }
    let [q, n, ..] = counts;
    let multipliers = match counts[3] {
        0 => String::new(),
        rows => format!(", lambda1 .. lambda{rows}"),
    };
    Err(format!(
        "there is no quantity \"{}\": expected q1 .. q{q}, v1 .. v{n}, a1 .. a{n}{multipliers}, energy.<field>, \
         solver.<field> or time",
        shorten(name)
    ))
}
