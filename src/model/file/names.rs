//! Elements by name, so that tables may refer to each other in any order.

use std::collections::HashMap;

use super::include::Part;
use super::mistakes::reported_elsewhere;
use super::table::TableReader;
use crate::error::{Error, Result};
use crate::model::quantity::NamedElement;
use crate::model::suggest::did_you_mean;
use crate::model::suggest::shorten;
use crate::model::validate::RESERVED_ELEMENTS;
use crate::model::{BodyRef, JointCoordinate, JointKind, Model, TextPosition};

/// Bodies, joints, motions, forces and sensors by name, with the byte offset of each name.
#[derive(Default)]
pub(super) struct Names<'a> {
    elements: HashMap<&'a str, (NamedElement, usize)>,
    /// In the order of the text, for suggestions that do not depend on hashing.
    order: Vec<&'a str>,
    /// The type of each joint: a table may refer to a joint that follows it.
    kinds: Vec<Result<JointKind>>,
    /// Elements that could not be read, and why.
    unread: HashMap<NamedElement, Error>,
    /// A part could not be read: names that are not found may be its.
    pub part_missing: bool,
}

/// Index of the first element of each kind that a part, or the file itself, has in the whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstIndices {
    pub bodies: usize,
    pub joints: usize,
    pub motions: usize,
    pub forces: usize,
    pub beams: usize,
    pub sensors: usize,
}

impl FirstIndices {
    /// Those behind a part.
    pub fn after(self, part: &Model) -> Self {
        Self {
            bodies: self.bodies + part.bodies.len(),
            joints: self.joints + part.joints.len(),
            motions: self.motions + part.motions.len(),
            forces: self.forces + part.forces.len(),
            beams: self.beams + part.beams.len(),
            sensors: self.sensors + part.sensors.len(),
        }
    }
}

impl<'a> Names<'a> {
    pub fn declare(&mut self, table: &TableReader<'a>, element: NamedElement) -> Result<()> {
        let valid = table.name(&RESERVED_ELEMENTS);
        // A name that is not allowed is declared too: the tables that use it have no mistake of their own.
        let name = table.needed_text("name", "letters, digits and _")?;
        let offset = table.offset_of("name");
        if let Some((other, first)) = self.elements.get(name) {
            return Err(twice(table, name, offset, other.kind(), *first));
        }
        self.elements.insert(name, (element, offset));
        self.order.push(name);
        valid.map(|_| ())
    }

    /// Declares a joint with its type, or with the mistake in it; joints come in their order.
    pub fn declare_joint(
        &mut self,
        table: &TableReader<'a>,
        kind: Result<JointKind>,
    ) -> Result<()> {
        let joint = NamedElement::Joint(self.kinds.len());
        self.kinds.push(kind);
        self.declare(table, joint)
    }

    /// Declares the elements of a part; `own` has their names, `first` where they begin.
    pub fn declare_part(
        &mut self,
        part: &Part,
        own: &'a [(String, NamedElement)],
        first: &FirstIndices,
    ) -> Result<()> {
        for (name, element) in own {
            let element = match *element {
                NamedElement::Body(i) => NamedElement::Body(first.bodies + i),
                NamedElement::Joint(i) => {
                    self.kinds.push(Ok(part.model.joints[i].kind));
                    NamedElement::Joint(first.joints + i)
                }
                NamedElement::Motion(i) => NamedElement::Motion(first.motions + i),
                NamedElement::Force(i) => NamedElement::Force(first.forces + i),
                NamedElement::Beam(i) => NamedElement::Beam(first.beams + i),
                NamedElement::Sensor(i) => NamedElement::Sensor(first.sensors + i),
            };
            if self.elements.contains_key(name.as_str())
                || RESERVED_ELEMENTS.contains(&name.as_str())
            {
                let message =
                    format!("the name \"{name}\" is taken: give the part a prefix of its own");
                return Err(part.refuse(message));
            }
            self.elements.insert(name, (element, part.offset()));
            self.order.push(name);
        }
        Ok(())
    }

    /// Declares the nodes of a beam and the joints that clamp its ends, which come in their order.
    pub fn declare_of_beam(&mut self, table: &TableReader, own: &'a [(String, NamedElement)]) {
        for (name, element) in own {
            if let NamedElement::Joint(_) = element {
                self.kinds.push(Ok(JointKind::Fixed));
            }
            // A second beam of the same name is refused for its name.
            if !self.elements.contains_key(name.as_str()) {
                (self.elements).insert(name, (*element, table.offset_of("name")));
                self.order.push(name);
            }
        }
    }

    /// Notes why an element could not be read.
    pub fn set_unread(&mut self, element: NamedElement, error: Error) {
        self.unread.insert(element, error);
    }

    /// Whether every element could be read.
    pub fn all_read(&self) -> bool {
        self.unread.is_empty() && !self.part_missing
    }

    /// Refuses an element that could not be read, with the mistake that is known already.
    pub fn must_be_read(&self, element: NamedElement) -> Result<()> {
        match self.unread.get(&element) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    pub fn find(&self, name: &str) -> Option<NamedElement> {
        self.elements.get(name).map(|(element, _)| *element)
    }

    pub fn body(&self, table: &TableReader, name: &str, offset: usize) -> Result<BodyRef> {
        if name == "ground" {
            return Ok(None);
        }
        match self.find(name) {
            Some(NamedElement::Body(i)) => Ok(Some(i)),
            other => Err(self.not_a(table, name, offset, "body", other)),
        }
    }

    pub fn not_a(
        &self,
        table: &TableReader,
        name: &str,
        offset: usize,
        wanted: &str,
        found: Option<NamedElement>,
    ) -> Error {
        let message = match found {
            None if self.part_missing => return reported_elsewhere(),
            Some(other) => format!("\"{name}\" is a {}, not a {wanted}", other.kind()),
            None => {
                let same = |name: &&&str| self.find(name).is_some_and(|e| e.kind() == wanted);
                let ground = (wanted == "body").then_some(&"ground");
                let near = did_you_mean(name, self.order.iter().filter(same).chain(ground));
                format!("there is no {wanted} \"{}\"{near}", shorten(name))
            }
        };
        table.refuse_at(offset, message)
    }

    /// A joint coordinate: `name` if the joint has one, else `name.position2`.
    pub fn coordinate(
        &self,
        table: &TableReader,
        text: &str,
        offset: usize,
    ) -> Result<(JointCoordinate, JointKind)> {
        let (name, field) = match text.split_once('.') {
            Some((name, field)) => (name, Some(field)),
            None => (text, None),
        };
        let joint = match self.find(name) {
            Some(NamedElement::Joint(joint)) => joint,
            other => return Err(self.not_a(table, name, offset, "joint", other)),
        };
        let kind = self.kinds[joint].clone()?;
        let count = kind.coordinates(table.dimension());
        let refuse = |message: String| Err(table.refuse_at(offset, message));
        match kind {
            JointKind::Coupling => {
                return refuse(format!(
                    "\"{name}\" is a coupling, which has no coordinate: name one of the joints it relates"
                ));
            }
            JointKind::Distance => {
                return refuse(format!(
                    "the distance joint \"{name}\" has no coordinate, its length is constant: use a prismatic joint"
                ));
            }
            _ if count == 0 => {
                return refuse(format!(
                    "the {} joint \"{name}\" has no coordinate that is a number",
                    kind.name()
                ));
            }
            _ => {}
        }
        let index = match field {
            None | Some("position") if count == 1 => Some(0),
            Some(field) if count > 1 => {
                (0..count).find(|k| field.strip_prefix("position") == Some(&(k + 1).to_string()))
            }
            _ => None,
        };
        match index {
            Some(index) => Ok((JointCoordinate { joint, index }, kind)),
            None if count == 1 => refuse(format!(
                "the {} joint \"{name}\" has one coordinate: write \"{name}\"",
                kind.name()
            )),
            None => {
                let all: Vec<String> = (1..=count)
                    .map(|k| format!("\"{name}.position{k}\""))
                    .collect();
                refuse(format!(
                    "the {} joint \"{name}\" has {count} coordinates: write one of {}",
                    kind.name(),
                    all.join(", ")
                ))
            }
        }
    }

    pub fn two_bodies(&self, table: &TableReader) -> Result<[BodyRef; 2]> {
        let [(a, at_a), (b, at_b)] = table.two_texts(
            "bodies",
            "the names of two bodies, or \"ground\" and one body",
        )?;
        let [first, second] = [self.body(table, a, at_a), self.body(table, b, at_b)];
        let bodies = match (first, second) {
            (Ok(first), Ok(second)) => [first, second],
            (first, second) => {
                for error in [first.err(), second.err()].into_iter().flatten() {
                    table.report_value(error);
                }
                return Ok([None, None]);
            }
        };
        if bodies[0] == bodies[1] {
            let message = format!("bodies must be two different ones, found \"{a}\" twice");
            return Err(table.refuse_at(at_b, message));
        }
        Ok(bodies)
    }
}

pub(super) fn twice(
    table: &TableReader,
    name: &str,
    offset: usize,
    kind: &str,
    first: usize,
) -> Error {
    let TextPosition { line, column } = table.source().text_position(first);
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    table.refuse_at(
        offset,
        format!("the name \"{name}\" is already that of {article} {kind} at {line}:{column}"),
    )
}
