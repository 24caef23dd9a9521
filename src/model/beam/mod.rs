//! `[[beam]]`: an elastic beam. Its nodes are bodies of the model, `rod.0 .. rod.n`; element k joins the nodes k and k + 1.

mod line;
mod section;

pub(super) use line::{BeamLine, BeamNodes};
pub use section::{BeamSection, SectionOutline};
pub(super) use section::{SectionMaterial, planar_stiffness};

use super::validate::{Range, list, refused};
use super::{Body, BodyShape, Model, TextPosition};
use crate::error::Result;

/// Most elements of one beam: each has two nodes of up to six coordinates, more would not fit into memory.
pub(super) const MAX_ELEMENTS: usize = 100_000;

/// `[[beam]]`
#[derive(Clone, Debug, PartialEq)]
pub struct Beam {
    /// Name.
    pub name: String,
    /// Index in [`Model::bodies`] of node 0; the others follow it.
    pub first_node: usize,
    /// Number of elements; there is one node more.
    pub elements: usize,
    /// Elements that end in a corner, with the orientation of their end in the frame of the node there: a quaternion w, x, y, z.
    /// All other ends have the frame of their node.
    pub corners: Vec<(usize, [f64; 4])>,
    /// Cross-section.
    pub section: BeamSection,
    /// Damping over stiffness (s).
    pub damping: f64,
    /// Position in the text.
    pub text_position: TextPosition,
}

impl Beam {
    /// The node bodies of element `k`.
    pub fn element_nodes(&self, k: usize) -> [usize; 2] {
        [self.first_node + k, self.first_node + k + 1]
    }

    /// The indices of its nodes in [`Model::bodies`].
    pub fn nodes(&self) -> std::ops::Range<usize> {
        self.first_node..self.first_node + self.elements + 1
    }

    /// The orientation of the end of element `k` in the frame of node k + 1.
    pub fn end_orientation(&self, k: usize) -> [f64; 4] {
        match self
            .corners
            .binary_search_by_key(&k, |(element, _)| *element)
        {
            Ok(at) => self.corners[at].1,
            Err(_) => [1.0, 0.0, 0.0, 0.0],
        }
    }

    /// The bodies of its nodes: half of the mass and inertia of each element belongs to either of its nodes.
    pub(super) fn bodies(&self, nodes: &BeamNodes) -> Vec<Body> {
        let n = self.elements;
        (0..=n)
            .map(|k| {
                let before = if k > 0 { nodes.lengths[k - 1] } else { 0.0 };
                let after = if k < n { nodes.lengths[k] } else { 0.0 };
                let length = 0.5 * (before + after);
                let [x, y, z] = self.section.inertia_per_length.map(|j| j * length);
                Body {
                    name: format!("{}.{k}", self.name),
                    mass: self.section.mass_per_length * length,
                    inertia: [x, y, z, 0.0, 0.0, 0.0],
                    position: nodes.positions[k],
                    angle: nodes.angles[k],
                    orientation: nodes.orientations[k],
                    shape: Some(self.shape_of_node(k, [before, after])),
                    text_position: self.text_position,
                    ..Body::default()
                }
            })
            .collect()
    }

    /// In pictures a node is half of either of its elements: together they are the curve of the beam.
    fn shape_of_node(&self, k: usize, [before, after]: [f64; 2]) -> BodyShape {
        let mut line = vec![[0.0; 3]];
        if k > 0 {
            // The x axis turned by the quaternion of the element's end.
            let [w, x, y, z] = self.end_orientation(k - 1);
            let axis = [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y + w * z),
                2.0 * (x * z - w * y),
            ];
            line.insert(0, axis.map(|a| -0.5 * before * a));
        }
        if k < self.elements {
            line.push([0.5 * after, 0.0, 0.0]);
        }
        BodyShape::Line(line)
    }

    /// Checks nodes, section and damping.
    pub(super) fn validate(&self, model: &Model) -> Result<()> {
        if self.elements == 0 || self.elements > MAX_ELEMENTS {
            let expected = format!("a number from 1 to {MAX_ELEMENTS}");
            return Err(refused(
                &format!("{}.elements", self.name),
                &self.elements,
                &expected,
            ));
        }
        if self.nodes().end > model.bodies.len() {
            let expected = "the index of a body, with the other nodes behind it";
            return Err(refused(&self.name, &self.first_node, expected));
        }
        for (k, node) in self.nodes().enumerate() {
            let body = &model.bodies[node];
            if body.name != format!("{}.{k}", self.name) {
                let expected = format!("\"{}.{k}\", a node", self.name);
                return Err(refused("name", &body.name, &expected));
            }
            if body.center_of_mass != [0.0; 3] || body.prescribed {
                let expected = "a body with mass, its frame in its centre of mass: it is a node";
                return Err(refused(&body.name, &"this body", expected));
            }
        }
        Range::NonNegative.check(|| format!("{}.damping", self.name), self.damping)?;
        let section = &self.section;
        let named = |what: &str| format!("{}.section.{what}", self.name);
        Range::Positive.check(|| named("mass_per_length"), section.mass_per_length)?;
        let inertia = match model.dimension {
            2 => &section.inertia_per_length[2..],
            _ => &section.inertia_per_length[..],
        };
        for j in inertia {
            Range::Positive.check(|| named("inertia_per_length"), *j)?;
        }
        match section.stiffness_defect(model.dimension) {
            None => Ok(()),
            Some(why) => Err(refused(
                &named("stiffness"),
                &list(section.stiffness.as_flattened()),
                &why,
            )),
        }
    }
}

impl Model {
    /// The beam that a body is a node of, and the number of the node.
    pub fn beam_of_node(&self, body: usize) -> Option<(usize, usize)> {
        (self.beams.iter().enumerate())
            .find(|(_, beam)| beam.nodes().contains(&body))
            .map(|(i, beam)| (i, body - beam.first_node))
    }
}
