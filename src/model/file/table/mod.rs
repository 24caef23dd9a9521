//! Typed access to a table of the document: a value by key and type. An error names the position, the expected and the
//! found value.

mod arrays;
mod degrees;
mod keys;
mod report;

pub(super) use arrays::unit;

pub(super) use self::report::identity;
use super::document::{Document, Node, NodeEntry, NodeValue};
use super::expression::ExpressionText;
use crate::error::{Error, Result};
use crate::model::TextPosition;
use crate::model::expression::ExpressionError;
use crate::model::settings::integer;
use crate::model::suggest::{nearest, shorten};
use crate::model::validate::{Range, is_identifier};

/// The text of a model, for messages.
#[derive(Clone, Copy)]
pub(super) struct ModelText<'a> {
    pub document: &'a Document<'a>,
    pub origin: &'a str,
    /// 2 or 3: how long vectors are.
    pub dimension: usize,
}

impl ModelText<'_> {
    pub fn error(&self, offset: usize, message: String) -> Error {
        self.document.lines.error(self.origin, offset, message)
    }

    pub fn text_position(&self, offset: usize) -> TextPosition {
        self.document.lines.text_position(offset)
    }

    /// A value as messages print it.
    fn found(&self, node: &Node) -> String {
        match &node.value {
            NodeValue::Text(text) => format!("\"{}\" (a string)", shorten(text)),
            NodeValue::Number(_) => self.document.raw(node),
            NodeValue::Bool(flag) => format!("{flag} (a boolean)"),
            NodeValue::Array(items) => match items.len() {
                0 => "an empty array".to_owned(),
                1 => "an array of 1 value".to_owned(),
                n => format!("an array of {n} values"),
            },
            NodeValue::Table(_) => "a table".to_owned(),
            NodeValue::Other(what) => (*what).to_owned(),
        }
    }
}

/// A table and its label in messages.
#[derive(Clone)]
pub(super) struct TableReader<'a> {
    source: ModelText<'a>,
    /// `body "rod"`; empty at the top level.
    label: String,
    offset: usize,
    entries: &'a [NodeEntry],
    /// Identity of the element that the table is, or belongs to.
    element: usize,
}

impl<'a> TableReader<'a> {
    /// The top level of the file.
    pub fn root(source: ModelText<'a>) -> Result<Self> {
        match &source.document.root.value {
            NodeValue::Table(entries) => Ok(Self {
                source,
                label: String::new(),
                offset: source.document.root.span.start,
                entries,
                element: identity(entries),
            }),
            _ => {
                let root = &source.document.root;
                let found = source.found(root);
                let message = format!("a model is a table of keys, found {found}");
                Err(source.error(root.span.start, message))
            }
        }
    }

    pub fn text_position(&self) -> TextPosition {
        self.source.text_position(self.offset)
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.source.dimension
    }

    /// The same table, with vectors of this dimension.
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.source.dimension = dimension;
        self
    }

    fn sentence(&self, message: &str) -> String {
        match self.label.as_str() {
            "" => message.to_owned(),
            label => format!("{label}: {message}"),
        }
    }

    fn error(&self, offset: usize, message: impl AsRef<str>) -> Error {
        self.source.error(offset, self.sentence(message.as_ref()))
    }

    /// An error about the table as a whole.
    pub fn refuse(&self, message: impl AsRef<str>) -> Error {
        self.error(self.offset, message)
    }

    /// An error about the value of a key, or about the table if the key is missing.
    pub fn refuse_value(&self, key: &str, message: impl AsRef<str>) -> Error {
        let offset = self.get(key).map_or(self.offset, |e| e.node.span.start);
        self.error(offset, message)
    }

    /// An error about a key itself.
    pub fn refuse_key(&self, key: &str, message: impl AsRef<str>) -> Error {
        let offset = self.get(key).map_or(self.offset, |e| e.offset);
        self.error(offset, message)
    }

    /// Reports a missing key. The error is for readers that cannot go on.
    fn missing(&self, key: &str, expected: &str) -> Error {
        self.reported(self.refuse(format!("\"{key}\" is missing: expected {expected}")))
    }

    /// Reports a value of the wrong kind or outside its range. The error is for readers that cannot go on.
    pub fn wrong(&self, key: &str, expected: &str, node: &Node) -> Error {
        let found = self.source.found(node);
        let error = self.error(
            node.span.start,
            format!("{key} must be {expected}, found {found}"),
        );
        // A value of another kind under a misspelt key: another key may have been meant.
        let number = matches!(node.value, NodeValue::Number(_));
        match !number && self.is_misspelt(node) {
            true => error,
            false => self.reported(error),
        }
    }

    /// The entry of a key, or the misspelt one that stands for it.
    pub fn get(&self, key: &str) -> Option<&'a NodeEntry> {
        let find = |key: &str| self.entries.iter().find(|entry| entry.key == key);
        find(key).or_else(|| find(&self.written_for(key)?))
    }

    /// Whether it has no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Byte offset of a key's value, or of the table if the key is missing.
    pub fn offset_of(&self, key: &str) -> usize {
        self.get(key).map_or(self.offset, |e| e.node.span.start)
    }

    /// The number of a node; `key` names it in messages.
    pub fn number_of(&self, key: &str, node: &Node, range: Range) -> Result<f64> {
        match node.value {
            NodeValue::Number(value) if range.accepts(value) => Ok(value),
            _ if (self.source.document.mistakes).is_substitute(node.span.start) => {
                Ok(range.substitute())
            }
            _ => self.substitute(self.wrong(key, range.words(), node), range.substitute()),
        }
    }

    pub fn number(&self, key: &str, range: Range) -> Result<Option<f64>> {
        self.get(key)
            .map(|entry| self.number_of(key, &entry.node, range))
            .transpose()
    }

    /// A number whose range is checked later.
    pub fn any_number(&self, key: &str) -> Result<Option<f64>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.node.value {
                NodeValue::Number(value) => Ok(Some(value)),
                _ => self.substitute(self.wrong(key, "a number", &entry.node), None),
            },
        }
    }

    /// The value of a string under a key as an expression, where the unit follows from other tables; `None` if it is no string.
    pub fn expression(&self, key: &str, unit: &str) -> Result<Option<f64>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => self.expression_of(key, &entry.node, unit),
        }
    }

    /// The same of a node; `label` names it in messages.
    fn expression_of(&self, label: &str, node: &Node, unit: &str) -> Result<Option<f64>> {
        let document = self.source.document;
        let source = ExpressionText {
            text: document.text,
            lines: &document.lines,
            origin: self.source.origin,
        };
        source.number(node, label, unit, &document.definitions)
    }

    /// A finite number, or an expression in a unit.
    fn number_in(&self, label: &str, node: &Node, unit: &str) -> Result<f64> {
        match self.expression_of(label, node, unit)? {
            Some(value) => Ok(value),
            None => self.number_of(label, node, Range::Finite),
        }
    }

    /// All keys of this table with their numbers; expressions of any unit are in base units.
    pub fn each_expression(&self) -> Result<Vec<(String, f64)>> {
        let each = self.entries.iter().map(|entry| {
            let key = entry.key.as_str();
            let value = match self.expression(key, "?")? {
                Some(value) => value,
                None => self.needed_number(key, Range::Finite)?,
            };
            Ok((key.to_owned(), value))
        });
        each.collect()
    }

    /// An error inside the expression of a node.
    pub fn in_expression(&self, node: &Node, key: &str, error: ExpressionError) -> Error {
        let NodeValue::Text(content) = &node.value else {
            return self.refuse(error.message);
        };
        let document = self.source.document;
        let source = ExpressionText {
            text: document.text,
            lines: &document.lines,
            origin: self.source.origin,
        };
        source.inside(node, content, key, error)
    }

    pub fn needed_number(&self, key: &str, range: Range) -> Result<f64> {
        match self.number(key, range)? {
            Some(number) => Ok(number),
            None => self.substitute(self.missing(key, range.words()), range.substitute()),
        }
    }

    pub fn whole_number(&self, key: &str) -> Result<Option<u64>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.node.value {
                NodeValue::Number(value) if integer(value).is_some() => Ok(integer(value)),
                _ => Err(self.wrong(key, "a whole number >= 0", &entry.node)),
            },
        }
    }

    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.node.value {
                NodeValue::Bool(flag) => Ok(Some(flag)),
                _ => Err(self.wrong(key, "true or false", &entry.node)),
            },
        }
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match &entry.node.value {
                NodeValue::Text(text) => Ok(Some(text)),
                _ => Err(self.wrong(key, "a string", &entry.node)),
            },
        }
    }

    pub fn needed_text(&self, key: &str, expected: &str) -> Result<&'a str> {
        self.text(key)?.ok_or_else(|| self.missing(key, expected))
    }

    /// The name under `name`, and its byte offset.
    pub fn name(&self, reserved: &[&str]) -> Result<(&'a str, usize)> {
        let name = self.needed_text("name", "letters, digits and _")?;
        let offset = self.offset_of("name");
        if !is_identifier(name) {
            let message = format!(
                "name must be letters, digits and _, not starting with a digit; found \"{}\"",
                shorten(name)
            );
            return Err(self.reported(self.error(offset, message)));
        }
        if reserved.contains(&name) {
            let message = format!("the name \"{name}\" is reserved; choose another");
            return Err(self.reported(self.error(offset, message)));
        }
        Ok((name, offset))
    }

    /// The index of one of several words.
    pub fn choice_of(&self, key: &str, words: &[&str]) -> Result<Option<usize>> {
        let Some(word) = self.text(key)? else {
            return Ok(None);
        };
        if let Some(index) = words.iter().position(|other| *other == word) {
            return Ok(Some(index));
        }
        let found = shorten(word);
        match nearest(word, words) {
            Some(near) => {
                let message = format!("{key} \"{found}\" is unknown; did you mean \"{near}\"?");
                let meant = words.iter().position(|other| other == near);
                self.substitute(self.refuse_value(key, message), meant)
            }
            None => {
                let all = words.join(", ");
                let message = format!("{key} must be one of {all}, found \"{found}\"");
                Err(self.reported(self.refuse_value(key, message)))
            }
        }
    }

    pub fn needed_choice_of(&self, key: &str, words: &[&str]) -> Result<usize> {
        self.choice_of(key, words)?
            .ok_or_else(|| self.missing(key, &format!("one of {}", words.join(", "))))
    }

    /// The value of one of several words.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Ok(self.choice_of(key, &words)?.map(|index| choices[index].1))
    }

    pub fn needed_choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        Ok(choices[self.needed_choice_of(key, &words)?].1)
    }

    /// An error at a byte offset, with this table's label.
    pub fn refuse_at(&self, offset: usize, message: impl AsRef<str>) -> Error {
        self.error(offset, message)
    }

    /// A table under a key.
    pub fn table(&self, key: &str) -> Result<Option<TableReader<'a>>> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        let label = match self.label.as_str() {
            "" => key.to_owned(),
            label => format!("{label}: {key}"),
        };
        match &entry.node.value {
            NodeValue::Table(entries) => Ok(Some(Self {
                source: self.source,
                label,
                offset: entry.node.span.start,
                entries,
                element: self.element_of(entries),
            })),
            _ => Err(self.wrong(key, "a table", &entry.node)),
        }
    }

    /// The tables of `[[key]]`, each labelled by its name or, without one, by its number.
    pub fn tables(&self, key: &str) -> Result<Vec<TableReader<'a>>> {
        let Some(entry) = self.get(key) else {
            return Ok(vec![]);
        };
        let items = match &entry.node.value {
            NodeValue::Array(items) => &items[..],
            NodeValue::Table(_) => {
                let message = format!("{key} must be an array of tables: write [[{key}]]");
                self.report_key(self.error(entry.offset, message));
                std::slice::from_ref(&entry.node)
            }
            _ => return Err(self.wrong(key, "an array of tables", &entry.node)),
        };
        items
            .iter()
            .enumerate()
            .map(|(i, node)| {
                let NodeValue::Table(entries) = &node.value else {
                    return Err(self.wrong(&format!("{key}[{i}]"), "a table", node));
                };
                let mut table = Self {
                    source: self.source,
                    label: match self.label.as_str() {
                        "" => format!("{key} number {}", i + 1),
                        label => format!("{label}: {key}[{i}]"),
                    },
                    offset: node.span.start,
                    entries,
                    element: self.element_of(entries),
                };
                if let Some(entry) = table.get("name")
                    && let NodeValue::Text(name) = &entry.node.value
                {
                    table.label = format!("{key} \"{}\"", shorten(name));
                }
                Ok(table)
            })
            .collect()
    }

    pub fn source(&self) -> ModelText<'a> {
        self.source
    }
}
