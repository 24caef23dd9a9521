//! `[define]`: names for numbers, in any order, by numbers or expressions of each other.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::model::expression::{
    DimensionedValue, Expression, ExpressionError, PhysicalDimension, is_reserved, unit_by_name,
};
use crate::model::file::document::{LineIndex, Node, NodeEntry, NodeValue};
use crate::model::file::mistakes::Mistakes;
use crate::model::suggest::{did_you_mean, shorten};
use crate::model::validate::is_identifier;
use crate::model::{ModelDefinition, TextPosition};

/// Most definitions of a file.
const MOST: usize = 10_000;

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::model::file) struct Definition {
    pub name: String,
    pub value: DimensionedValue<f64>,
    pub text_position: TextPosition,
}

/// All definitions of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::model::file) struct Definitions {
    pub all: Vec<Definition>,
    /// Names whose values are not known because of a mistake, which has been reported.
    unknown: Vec<String>,
}

impl Definitions {
    /// As the model has them.
    pub fn listed(&self) -> Vec<ModelDefinition> {
        let listed = |d: &Definition| ModelDefinition {
            name: d.name.clone(),
            value: d.value.value,
            unit: d.value.dimension.common_unit(),
            text_position: d.text_position,
        };
        self.all.iter().map(listed).collect()
    }

    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.all.iter().find(|d| d.name == name)
    }

    /// Whether an expression has a name whose value is not known because of a mistake elsewhere.
    pub fn leave_open(&self, content: &str) -> bool {
        let is_name = |name: &str| self.get(name).is_some() || self.is_unknown(name);
        !self.unknown.is_empty()
            && Expression::parse(content, &is_name)
                .is_ok_and(|e| e.names().iter().any(|(name, _)| self.is_unknown(name)))
    }

    /// Whether the value of a definition is not known because of a mistake.
    pub fn is_unknown(&self, name: &str) -> bool {
        self.unknown.iter().any(|other| other == name)
    }
}

/// The text of a model, for the errors of expressions in it.
#[derive(Clone, Copy)]
pub(in crate::model::file) struct ExpressionText<'a> {
    pub text: &'a str,
    pub lines: &'a LineIndex<'a>,
    pub origin: &'a str,
}

impl ExpressionText<'_> {
    pub fn error(&self, offset: usize, message: String) -> Error {
        self.lines.error(self.origin, offset, message)
    }

    /// An error inside the string of a node. A string with escapes is shown as a whole.
    pub fn inside(&self, node: &Node, content: &str, label: &str, error: ExpressionError) -> Error {
        let raw = self.text.get(node.span.clone()).unwrap_or("");
        let offset = match raw.find(content) {
            Some(start) => node.span.start + start + error.at,
            None => node.span.start,
        };
        self.error(offset, format!("{label}: {}", error.message))
    }
}

/// The value of an expression with these definitions.
pub(in crate::model::file) fn value_of(
    content: &str,
    definitions: &Definitions,
) -> std::result::Result<DimensionedValue<f64>, ExpressionError> {
    let expression = Expression::parse(content, &|name| definitions.get(name).is_some())?;
    check_names(
        &expression,
        |name| definitions.get(name).is_some(),
        || definitions.all.iter().map(|d| d.name.clone()).collect(),
    )?;
    expression.evaluate(&|name| definitions.get(name).map(|d| d.value))
}

/// Refuses a name that is not defined, with the nearest one that is.
fn check_names(
    expression: &Expression,
    is_defined: impl Fn(&str) -> bool,
    known: impl Fn() -> Vec<String>,
) -> std::result::Result<(), ExpressionError> {
    match (expression.names().into_iter()).find(|(name, _)| !is_defined(name)) {
        None => Ok(()),
        Some((name, at)) => {
            let hint = match unit_by_name(name) {
                Some(_) => format!("; a unit stands behind a number: \"1 {name}\""),
                None => did_you_mean(name, known()),
            };
            let message = format!("there is no definition \"{}\"{hint}", shorten(name));
            Err(ExpressionError { at, message })
        }
    }
}

/// What is known of a definition.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Nothing,
    Value(DimensionedValue<f64>),
    /// It has a mistake, or follows from one that has.
    Mistaken,
}

/// Reads the entries of `[define]`. `overrides` replaces values, in base units; the dimension stays. Mistakes are reported, and
/// their definitions left out.
pub(super) fn definitions(
    source: ExpressionText,
    mistakes: &Mistakes,
    entries: &[NodeEntry],
    overrides: &[(String, f64)],
) -> Definitions {
    if entries.len() > MOST {
        let message = format!(
            "define has {} entries; at most {MOST} are read",
            entries.len()
        );
        mistakes.report(source.error(entries[MOST].offset, message));
        return Definitions {
            all: vec![],
            unknown: entries.iter().map(|entry| entry.key.clone()).collect(),
        };
    }
    let by_name: HashMap<&str, usize> = (entries.iter().enumerate())
        .map(|(i, entry)| (entry.key.as_str(), i))
        .collect();
    let mut reader = DefinitionReader {
        source,
        mistakes,
        entries,
        overrides,
        by_name,
        parsed: Vec::with_capacity(entries.len()),
        values: vec![Known::Nothing; entries.len()],
    };
    reader.parse();
    (0..entries.len()).for_each(|first| reader.evaluate(first));
    let mut definitions = Definitions::default();
    for (entry, value) in entries.iter().zip(reader.values) {
        match value {
            Known::Value(value) => definitions.all.push(Definition {
                name: entry.key.clone(),
                value,
                text_position: source.lines.text_position(entry.offset),
            }),
            _ => definitions.unknown.push(entry.key.clone()),
        }
    }
    definitions
}

/// The entries of `[define]` while they are read.
struct DefinitionReader<'a> {
    source: ExpressionText<'a>,
    mistakes: &'a Mistakes,
    entries: &'a [NodeEntry],
    overrides: &'a [(String, f64)],
    by_name: HashMap<&'a str, usize>,
    parsed: Vec<Option<Expression>>,
    values: Vec<Known>,
}

impl DefinitionReader<'_> {
    fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn parse(&mut self) {
        for (i, entry) in self.entries.iter().enumerate() {
            let read = read(self.source, entry, &|name| self.index(name).is_some());
            let expression = read.unwrap_or_else(|error| {
                self.mistakes.report(error);
                self.values[i] = Known::Mistaken;
                None
            });
            self.parsed.push(expression);
        }
    }

    /// Evaluates a definition and all that it needs.
    fn evaluate(&mut self, first: usize) {
        // The definitions on the way to the one being evaluated.
        let mut way = vec![first];
        while let Some(&i) = way.last() {
            if self.values[i] != Known::Nothing {
                way.pop();
                continue;
            }
            let names = self.parsed[i].iter().flat_map(Expression::names);
            let others: Vec<(usize, usize)> = names
                .filter_map(|(name, at)| Some((self.index(name)?, at)))
                .collect();
            if (others.iter()).any(|(other, _)| self.values[*other] == Known::Mistaken) {
                self.values[i] = Known::Mistaken;
                continue;
            }
            let missing =
                (others.into_iter()).find(|(other, _)| self.values[*other] == Known::Nothing);
            let Some((other, at)) = missing else {
                self.values[i] = self.value(i);
                continue;
            };
            match way.iter().position(|k| *k == other) {
                Some(begin) => self.refuse_circle(i, at, &way[begin..]),
                None => way.push(other),
            }
        }
    }

    fn refuse_circle(&mut self, i: usize, at: usize, circle: &[usize]) {
        let names: Vec<&str> = (circle.iter().map(|k| self.entries[*k].key.as_str())).collect();
        let message = format!("definitions go in a circle: {}", names.join(", "));
        let error = ExpressionError { at, message };
        let entry = &self.entries[i];
        (self.mistakes).report(in_definition(self.source, entry, error));
        circle
            .iter()
            .for_each(|k| self.values[*k] = Known::Mistaken);
    }

    /// The value of a definition whose names are all known.
    fn value(&self, i: usize) -> Known {
        let look_up = |name: &str| match self.values[self.index(name)?] {
            Known::Value(value) => Some(value),
            _ => None,
        };
        let known = || self.entries.iter().map(|entry| entry.key.clone()).collect();
        let (entry, expression) = (&self.entries[i], self.parsed[i].as_ref());
        let set = self.overrides.iter().find(|(name, _)| *name == entry.key);
        match evaluate(self.source, entry, expression, &look_up, &known) {
            Ok(value) => Known::Value(DimensionedValue {
                value: set.map_or(value.value, |(_, set)| *set),
                ..value
            }),
            Err(error) => {
                self.mistakes.report(error);
                Known::Mistaken
            }
        }
    }
}

/// Checks the name of a definition and parses its expression; `None` if it is a number.
fn read(
    source: ExpressionText,
    entry: &NodeEntry,
    is_defined: &dyn Fn(&str) -> bool,
) -> Result<Option<Expression>> {
    let name = entry.key.as_str();
    if !is_identifier(name) {
        let message = format!(
            "define: a name has letters, digits and _ and does not start with a digit; found \"{}\"",
            shorten(name)
        );
        return Err(source.error(entry.offset, message));
    }
    if is_reserved(name) || name == "t" {
        let message =
            format!("define: \"{name}\" has a meaning in expressions; choose another name");
        return Err(source.error(entry.offset, message));
    }
    match &entry.node.value {
        NodeValue::Number(_) => Ok(None),
        NodeValue::Text(content) => Expression::parse(content, is_defined)
            .map(Some)
            .map_err(|error| in_definition(source, entry, error)),
        other => {
            let found = other.called();
            let message = format!(
                "define: {name} must be a number or an expression in a string, found {found}"
            );
            Err(source.error(entry.node.span.start, message))
        }
    }
}

fn evaluate(
    source: ExpressionText,
    entry: &NodeEntry,
    expression: Option<&Expression>,
    look_up: &dyn Fn(&str) -> Option<DimensionedValue<f64>>,
    known: &dyn Fn() -> Vec<String>,
) -> Result<DimensionedValue<f64>> {
    match (expression, &entry.node.value) {
        (Some(expression), _) => check_names(expression, |name| look_up(name).is_some(), known)
            .and_then(|()| expression.evaluate(look_up))
            .map_err(|error| in_definition(source, entry, error)),
        (None, NodeValue::Number(value)) if value.is_finite() => {
            Ok(DimensionedValue::new(*value, PhysicalDimension::NONE))
        }
        _ => {
            let message = format!("define: {} must be a finite number", entry.key);
            Err(source.error(entry.node.span.start, message))
        }
    }
}

fn in_definition(source: ExpressionText, entry: &NodeEntry, error: ExpressionError) -> Error {
    let label = format!("define: {}", entry.key);
    match &entry.node.value {
        NodeValue::Text(content) => source.inside(&entry.node, content, &label, error),
        _ => source.error(entry.node.span.start, format!("{label}: {}", error.message)),
    }
}
