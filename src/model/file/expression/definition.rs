//! `[define]`: names for numbers, in any order, by numbers or expressions of each other.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::model::expression::{
    DimensionedValue, Expression, ExpressionError, PhysicalDimension, is_reserved, unit_by_name,
};
use crate::model::file::document::{LineIndex, Node, NodeEntry, NodeValue};
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

/// Reads the entries of `[define]`. `overrides` replaces values, in base units; the dimension stays.
pub(super) fn definitions(
    source: ExpressionText,
    entries: &[NodeEntry],
    overrides: &[(String, f64)],
) -> Result<Definitions> {
    if entries.len() > MOST {
        let message = format!(
            "define has {} entries; at most {MOST} are read",
            entries.len()
        );
        return Err(source.error(entries[MOST].offset, message));
    }
    let by_name: HashMap<&str, usize> = (entries.iter().enumerate())
        .map(|(i, entry)| (entry.key.as_str(), i))
        .collect();
    let index = |name: &str| by_name.get(name).copied();
    let mut parsed: Vec<Option<Expression>> = Vec::with_capacity(entries.len());
    for entry in entries {
        parsed.push(read(source, entry, &|name| index(name).is_some())?);
    }
    let mut values: Vec<Option<DimensionedValue<f64>>> = vec![None; entries.len()];
    // The definitions on the way to the one being evaluated.
    let mut way: Vec<usize> = vec![];
    for first in 0..entries.len() {
        way.push(first);
        while let Some(&i) = way.last() {
            if values[i].is_some() {
                way.pop();
                continue;
            }
            let names = parsed[i].iter().flat_map(Expression::names);
            let missing = (names.filter_map(|(name, at)| Some((index(name)?, at))))
                .find(|(other, _)| values[*other].is_none());
            if let Some((other, at)) = missing {
                if way.contains(&other) {
                    let names: Vec<&str> = way.iter().map(|k| entries[*k].key.as_str()).collect();
                    let message = format!("definitions go in a circle: {}", names.join(", "));
                    let error = ExpressionError { at, message };
                    return Err(in_definition(source, &entries[i], error));
                }
                way.push(other);
                continue;
            }
            let look_up = |name: &str| values[index(name)?];
            let value = evaluate(source, &entries[i], parsed[i].as_ref(), &look_up)?;
            let set = overrides.iter().find(|(name, _)| *name == entries[i].key);
            values[i] = Some(DimensionedValue {
                value: set.map_or(value.value, |(_, set)| *set),
                ..value
            });
            way.pop();
        }
    }
    let all = (entries.iter().zip(values))
        .filter_map(|(entry, value)| {
            Some(Definition {
                name: entry.key.clone(),
                value: value?,
                text_position: source.lines.text_position(entry.offset),
            })
        })
        .collect();
    Ok(Definitions { all })
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
) -> Result<DimensionedValue<f64>> {
    match (expression, &entry.node.value) {
        (Some(expression), _) => check_names(expression, |name| look_up(name).is_some(), Vec::new)
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
