//! Mistakes of a text. Reading goes on after a mistake with a substitute for the value, so that one run reports all
//! of them. A mistake that may only follow from a substitute is not reported.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};

/// Most mistakes that are reported of one text.
pub(super) const MOST: usize = 20;

/// The error of a value that is not known because of a mistake that has been reported: nothing is reported for it.
pub(super) fn reported_elsewhere() -> Error {
    Error::Mistakes {
        mistakes: vec![],
        more: 0,
    }
}

/// The mistakes of one text so far.
#[derive(Default)]
pub(super) struct Mistakes(RefCell<Noted>);

#[derive(Default)]
struct Noted {
    /// What is reported.
    reported: Vec<Error>,
    /// Mistakes beyond the limit.
    more: usize,
    /// Mistakes that only follow from others.
    consequences: Vec<Error>,
    /// Elements in which a substitute stands for a value.
    spoiled: HashSet<usize>,
    /// Bytes of values for which a substitute stands.
    substitutes: HashSet<usize>,
    /// Values that are legal but probably not meant.
    suspicions: Vec<String>,
    /// Table and key that is not written in it, and the misspelt key that is meant.
    meant: HashMap<(usize, String), String>,
}

impl Mistakes {
    /// Reports a mistake about a key, of which there is one at a position.
    pub fn report_key(&self, error: Error) {
        let position = |error: &Error| match error {
            Error::Model { line, column, .. } => Some((*line, *column)),
            _ => None,
        };
        let known = (self.0.borrow().reported.iter()).any(|e| position(e) == position(&error));
        if !known {
            self.report(error);
        }
    }

    /// Reports a mistake, or all of a part.
    pub fn report(&self, error: Error) {
        if let Error::Mistakes { mistakes, more } = error {
            self.0.borrow_mut().more += more;
            return mistakes.into_iter().for_each(|one| self.report(one));
        }
        let noted = &mut *self.0.borrow_mut();
        if noted.reported.len() >= MOST {
            noted.more += 1;
        } else if !noted
            .reported
            .iter()
            .any(|other| same_defect(other, &error))
            && !noted.consequences.contains(&error)
        {
            noted.reported.push(error);
        }
    }

    /// Reports a mistake of an element's value; a substitute will stand for it.
    pub fn report_value(&self, element: usize, error: Error) {
        self.report(error);
        self.0.borrow_mut().spoiled.insert(element);
    }

    /// Notes that a substitute stands for the value at this byte.
    pub fn substitute(&self, offset: usize) {
        self.0.borrow_mut().substitutes.insert(offset);
    }

    /// Whether a substitute stands for the value at this byte.
    pub fn is_substitute(&self, offset: usize) -> bool {
        self.0.borrow().substitutes.contains(&offset)
    }

    /// Reports a mistake that the values of an element lead to, unless one of them is a substitute.
    pub fn report_conclusion(&self, element: usize, error: Error) {
        if self.0.borrow().spoiled.contains(&element) {
            self.0.borrow_mut().consequences.push(error);
        } else {
            self.report_value(element, error);
        }
    }

    /// Whether there are mistakes so far.
    pub fn are_there(&self) -> bool {
        !self.0.borrow().reported.is_empty()
    }

    /// Notes a value that is legal but probably not meant.
    pub fn suspect(&self, sentence: String) {
        let suspicions = &mut self.0.borrow_mut().suspicions;
        if suspicions.len() < MOST && !suspicions.contains(&sentence) {
            suspicions.push(sentence);
        }
    }

    /// The suspicions so far.
    pub fn suspicions(&self) -> Vec<String> {
        self.0.borrow().suspicions.clone()
    }

    /// Notes that the key `written` of a table of an element stands for `meant`.
    pub fn take_as(&self, element: usize, table: usize, written: &str, meant: &str) {
        let key = (table, meant.to_owned());
        let noted = &mut *self.0.borrow_mut();
        noted.spoiled.insert(element);
        noted.meant.entry(key).or_insert_with(|| written.to_owned());
    }

    /// The misspelt key of a table that stands for `meant`.
    pub fn written_for(&self, table: usize, meant: &str) -> Option<String> {
        let noted = self.0.borrow();
        if noted.meant.is_empty() {
            return None;
        }
        noted.meant.get(&(table, meant.to_owned())).cloned()
    }

    /// Whether a key of a table stands for another.
    pub fn is_misspelt(&self, table: usize, written: &str) -> bool {
        let noted = self.0.borrow();
        (noted.meant.iter()).any(|((t, _), key)| *t == table && key == written)
    }

    /// The value, if there are no mistakes.
    pub fn settle<T>(&self, value: Result<T>) -> Result<T> {
        let value = value.map_err(|error| self.report(error));
        let Noted { reported, more, .. } = self.0.take();
        match value {
            Ok(value) if reported.is_empty() => Ok(value),
            _ => Err(Error::of_mistakes(reported, more)),
        }
    }
}

/// Whether two errors tell of one defect: what was expected may be said in other words by another reader.
fn same_defect(a: &Error, b: &Error) -> bool {
    fn defect(error: &Error) -> Option<(usize, usize, &str)> {
        match error {
            Error::Model {
                line,
                column,
                message,
                ..
            } => Some((*line, *column, message.split(": expected").next()?)),
            _ => None,
        }
    }
    a == b || (defect(a).is_some() && defect(a) == defect(b))
}
