//! Who is called what: the elements by name, so that others may refer to them in any order.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::model::check::RESERVED_ELEMENTS;
use crate::model::document::shorten;
use crate::model::nearest::did_you_mean;
use crate::model::quantity::Element;
use crate::model::reader::Table;
use crate::model::{BodyRef, Place};

/// Bodies, joints, forces and sensors by name, with the byte of each name.
#[derive(Default)]
pub struct Names<'a> {
    elements: HashMap<&'a str, (Element, usize)>,
    /// In the order of the text, for suggestions that do not depend on hashing.
    order: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub fn declare(&mut self, table: &Table<'a>, element: Element) -> Result<()> {
        let (name, offset) = table.name(&RESERVED_ELEMENTS)?;
        if let Some((other, first)) = self.elements.insert(name, (element, offset)) {
            return Err(twice(table, name, offset, other.kind(), first));
        }
        self.order.push(name);
        Ok(())
    }

    pub fn find(&self, name: &str) -> Option<Element> {
        self.elements.get(name).map(|(element, _)| *element)
    }

    pub fn body(&self, table: &Table, name: &str, offset: usize) -> Result<BodyRef> {
        if name == "ground" {
            return Ok(None);
        }
        match self.find(name) {
            Some(Element::Body(i)) => Ok(Some(i)),
            other => Err(self.not_a(table, name, offset, "body", other)),
        }
    }

    pub fn not_a(
        &self,
        table: &Table,
        name: &str,
        offset: usize,
        wanted: &str,
        found: Option<Element>,
    ) -> Error {
        let message = match found {
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

    pub fn two_bodies(&self, table: &Table) -> Result<[BodyRef; 2]> {
        let [(a, at_a), (b, at_b)] = table.two_texts(
            "bodies",
            "the names of two bodies, or \"ground\" and one body",
        )?;
        let bodies = [self.body(table, a, at_a)?, self.body(table, b, at_b)?];
        if bodies[0] == bodies[1] {
            let message = format!("bodies must be two different ones, found \"{a}\" twice");
            return Err(table.refuse_at(at_b, message));
        }
        Ok(bodies)
    }
}

pub fn twice(table: &Table, name: &str, offset: usize, kind: &str, first: usize) -> Error {
    let Place { line, column } = table.source().place(first);
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
