//! Where the elements of a model are written, so that an error of the start is told with file, line and column.

use std::collections::HashMap;

use biela::model::TextPosition;
use biela::{Error, Model};

/// Positions of bodies, joints and motions by name.
pub struct ElementPositions {
    origin: String,
    by_name: HashMap<String, TextPosition>,
}

impl ElementPositions {
    pub fn of(model: &Model) -> Self {
        let bodies = (model.bodies.iter()).map(|body| (&body.name, body.text_position));
        let joints = (model.joints.iter()).map(|joint| (&joint.name, joint.text_position));
        let motions = (model.motions.iter()).map(|motion| (&motion.name, motion.text_position));
        let all = bodies.chain(joints).chain(motions);
        Self {
            origin: model.origin.clone(),
            by_name: all.map(|(name, at)| (name.clone(), at)).collect(),
        }
    }

    /// The error with the position of the element it blames, if that was read from a text.
    pub fn locate(&self, error: Error) -> Error {
        let blamed = match &error {
            Error::Assembly { culprits, .. } | Error::SingularPosition { culprits, .. } => {
                culprits.iter().find_map(|name| self.position(name))
            }
            Error::SingularMass { culprit } | Error::Evaluation { culprit, .. } => {
                self.position(culprit)
            }
            _ => None,
        };
        match blamed {
            Some(TextPosition { line, column }) if line > 0 => Error::Model {
                origin: self.origin.clone(),
                line,
                column,
                message: error.to_string(),
            },
            _ => error,
        }
    }

    /// The position of an element, or of that of a quantity, `element.field`.
    fn position(&self, name: &str) -> Option<TextPosition> {
        let element = name.split('.').next()?;
        (self.by_name.get(name).or_else(|| self.by_name.get(element))).copied()
    }
}
