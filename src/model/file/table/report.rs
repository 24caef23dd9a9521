//! Mistakes of a table: reported, and reading goes on.

use super::TableReader;
use crate::error::{Error, Result};
use crate::model::file::document::{Node, NodeEntry};

/// Identity of a table: where its entries are in memory. Tables without entries share one; they have no wrong values.
pub(in crate::model::file) fn identity(entries: &[NodeEntry]) -> usize {
    entries.as_ptr() as usize
}

impl TableReader<'_> {
    /// The element of a table inside this one: elements are the tables of the top level.
    pub(super) fn element_of(&self, entries: &[NodeEntry]) -> usize {
        match self.label.as_str() {
            "" => identity(entries),
            _ => self.element,
        }
    }

    /// Reports a mistake about a key.
    pub(super) fn report_key(&self, error: Error) {
        self.source.document.mistakes.report_key(error);
    }

    /// Reports a mistake of a value.
    pub fn report_value(&self, error: Error) {
        let mistakes = &self.source.document.mistakes;
        mistakes.report_value(self.element, error);
    }

    /// Reports a mistake of a value, whatever other mistakes the table has.
    pub fn reported(&self, error: Error) -> Error {
        self.report_value(error.clone());
        error
    }

    /// Reports a mistake of a value and goes on with a substitute, which never leaves the reader.
    pub fn substitute<T>(&self, error: Error, substitute: T) -> Result<T> {
        self.report_value(error);
        Ok(substitute)
    }

    /// The value of a reader of this table, or `None` after its mistake has been reported.
    pub fn settle<T>(&self, result: Result<T>) -> Option<T> {
        let mistakes = &self.source.document.mistakes;
        result
            .map_err(|error| mistakes.report_conclusion(self.element, error))
            .ok()
    }

    /// Reads the misspelt key `written` as `meant` from now on.
    pub(super) fn take_as(&self, written: &str, meant: &str) {
        let mistakes = &self.source.document.mistakes;
        mistakes.take_as(self.element, identity(self.entries), written, meant);
    }

    /// Whether a value stands under a misspelt key of this table.
    pub(super) fn is_misspelt(&self, node: &Node) -> bool {
        let mistakes = &self.source.document.mistakes;
        let entry = self
            .entries
            .iter()
            .find(|entry| entry.node.span == node.span);
        entry.is_some_and(|entry| mistakes.is_misspelt(identity(self.entries), &entry.key))
    }

    pub(super) fn written_for(&self, meant: &str) -> Option<String> {
        let mistakes = &self.source.document.mistakes;
        mistakes.written_for(identity(self.entries), meant)
    }
}
