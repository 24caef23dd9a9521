//! The model under construction: elements with the names that the model file takes, and a comment for each.

use std::collections::{BTreeMap, HashSet};

use nalgebra::Vector3;

use super::combined_joint::unit;
use super::frame::FramePlacement;
use super::report::{ImportNote, RENAMED};
use super::xml::XmlPosition;
use crate::model::{
    BodyRef, Force, ForceApplication, ForceKind, Input, JointCoordinate, JointFrame,
    JointPlacement, Model, Motion, MotionLaw, Output, PrescribedCoordinate, SpringDefinition,
};

/// Names that elements of a model file may not have.
const RESERVED: [&str; 5] = ["ground", "energy", "solver", "time", "define"];

/// A model under construction.
#[derive(Default)]
pub struct Draft {
    /// The model.
    pub model: Model,
    /// Comments in the text, by name of the element.
    pub comments: BTreeMap<String, String>,
    /// Comments at the top of the text.
    pub head: Vec<String>,
    /// What the report says besides fates.
    pub notes: Vec<ImportNote>,
    elements: HashSet<String>,
    variables: HashSet<String>,
}

/// A coordinate as signals name it.
pub struct NamedCoordinate {
    /// Where it is.
    pub coordinate: JointCoordinate,
    /// Name for signals.
    pub name: String,
    /// Whether it is an angle.
    pub is_angle: bool,
    /// Number of coordinates of the joint.
    pub of: usize,
}

impl Draft {
    /// Adds a note.
    pub fn note(&mut self, text: String, position: Option<XmlPosition>) {
        self.notes.push(ImportNote { text, position });
    }

    /// The name under which an element goes into the model: its own if that is legal and free. `kind` tells elements of one name
    /// apart.
    pub fn element_name(
        &mut self,
        kind: &str,
        name: &str,
        position: Option<XmlPosition>,
    ) -> String {
        let taken = |name: &str, all: &HashSet<String>| {
            all.contains(name) || RESERVED.contains(&name) || name.is_empty()
        };
        let chosen = free_name(kind, name, &|n| taken(n, &self.elements));
        self.elements.insert(chosen.clone());
        if chosen != name {
            self.note(format!("{kind} \"{name}{RENAMED}{chosen}"), position);
        }
        chosen
    }

    /// The name of an input or output.
    pub fn variable_name(&mut self, name: &str) -> String {
        let chosen = free_name("signal", name, &|n| {
            self.variables.contains(n) || n == "time" || n.is_empty()
        });
        self.variables.insert(chosen.clone());
        chosen
    }

    /// Adds a spring and damper in a joint coordinate.
    pub fn add_joint_spring(&mut self, of: &NamedCoordinate, spring: SpringDefinition) {
        let name = self.element_name("force", &format!("{}_spring", of.name), None);
        self.model.forces.push(Force {
            name,
            kind: ForceKind::SpringDamper(spring),
            on: ForceApplication::Joint(of.coordinate),
            text_position: Default::default(),
        });
    }

    /// Adds springs and dampers between a frame of each of two bodies: factors along x, y, z, then about them.
    pub fn add_bushing(
        &mut self,
        name: &str,
        bodies: [BodyRef; 2],
        frames: [FramePlacement; 2],
        [stiffness, damping]: [[f64; 6]; 2],
    ) {
        let name = self.element_name("force", &format!("{name}_spring"), None);
        let frame = |at: FramePlacement| JointFrame {
            point: at.position.into(),
            axis: unit(at.rotation * Vector3::x()),
            reference_direction: unit(at.rotation * Vector3::y()),
        };
        self.model.forces.push(Force {
            name,
            kind: ForceKind::Bushing { stiffness, damping },
            on: ForceApplication::Frames {
                bodies,
                at: JointPlacement::BodyFrames(frames.map(frame)),
            },
            text_position: Default::default(),
        });
    }

    /// Holds a joint coordinate at a value.
    pub fn add_held(&mut self, name: &str, on: JointCoordinate, value: f64) {
        let name = self.element_name("motion", name, None);
        self.model.motions.push(Motion {
            name,
            on: PrescribedCoordinate::Joint(on),
            axis: [0.0, 0.0, 1.0],
            law: MotionLaw::Polynomial(vec![value]),
            text_position: Default::default(),
        });
    }

    /// Adds outputs of a joint coordinate: position and speed.
    pub fn add_joint_outputs(&mut self, of: &NamedCoordinate) {
        let joint = self.model.joints[of.coordinate.joint].name.clone();
        let index = match of.of {
            1 => String::new(),
            _ => (of.coordinate.index + 1).to_string(),
        };
        for field in ["position", "speed"] {
            let source = format!("{joint}.{field}{index}");
            self.add_output(&format!("{}_{field}", of.name), &source);
        }
    }

    /// Adds an output.
    pub fn add_output(&mut self, name: &str, source: &str) {
        let name = self.variable_name(name);
        self.model.outputs.push(Output {
            name,
            source: source.to_owned(),
            unit: None,
            text_position: Default::default(),
        });
    }

    /// Adds an input with the name of a target.
    pub fn add_input(&mut self, name: &str, target: crate::model::Target, start: f64) {
        let name = self.variable_name(name);
        self.model.inputs.push(Input {
            name,
            target,
            unit: None,
            start,
            text_position: Default::default(),
        });
    }
}

/// `name` with legal characters, and a suffix if it is taken.
fn free_name(kind: &str, name: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut plain: String = name
        .chars()
        .map(|c| if legal(c) { c } else { '_' })
        .collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    if plain.is_empty() {
        plain = kind.to_owned();
    }
    if !taken(&plain) {
        return plain;
    }
    let with_kind = format!("{plain}_{kind}");
    if !taken(&with_kind) {
        return with_kind;
    }
    (2..)
        .map(|k| format!("{with_kind}{k}"))
        .find(|name| !taken(name))
        .expect("there are more numbers than elements")
}
