//! `[[input]]`, `[[parameter]]` and `[[output]]`: keys and reader. Targets and sources must exist, and no target may be set twice.

use super::keys::{DESCRIPTION, Key, KeyGroup, KeyKind, REQUIRED};
use super::mistakes::reported_elsewhere;
use super::names::{Names, twice};
use super::table::TableReader;
use crate::error::Result;
use crate::model::suggest::shorten;
use crate::model::validate::{RESERVED_ELEMENTS, RESERVED_VARIABLES, Range};
use crate::model::{Input, Model, Output, Parameter, Target, TextPosition, VariableNotes};
use std::collections::HashMap;

const NAME: Key = Key::new("name", KeyKind::Name, "", REQUIRED, "name of the variable");
#[rustfmt::skip]
const TARGET: Key = Key::new("target", KeyKind::Text, "", REQUIRED,
    "the number it sets, <element>.<field>, or define.<name> for a parameter; no two may set the same");
#[rustfmt::skip]
const UNIT: Key = Key::new("unit", KeyKind::Text, "", "that of the value",
    "unit shown to other programs; it must be that of the value, nothing is converted");
#[rustfmt::skip]
const START: Key = Key::new("start", KeyKind::Number(Range::Finite), "that of the value", "the element's value",
    "value until it is set");

/// What other programs are told.
#[rustfmt::skip]
const NOTES: [Key; 4] = [
    DESCRIPTION,
    Key::new("min", KeyKind::Number(Range::Finite), "that of the value", "none", "smallest value that makes sense, for other programs"),
    Key::new("max", KeyKind::Number(Range::Finite), "that of the value", "none", "largest value that makes sense, for other programs"),
    Key::new("nominal", KeyKind::Number(Range::Positive), "that of the value", "none", "typical size, for other programs"),
];

pub(super) const INPUT: KeyGroup = KeyGroup::new(
    "input",
    "A number that may be driven during the run.",
    &[&[NAME, TARGET, UNIT, START], &NOTES],
);

pub(super) const PARAMETER: KeyGroup = KeyGroup::new(
    "parameter",
    "A number that may be set before the run.",
    &[&[NAME, TARGET, UNIT, START], &NOTES],
);

#[rustfmt::skip]
pub(super) const OUTPUT: KeyGroup = KeyGroup::new(
    "output",
    "A quantity that is visible from outside.",
    &[&[
        NAME,
        Key::new("source", KeyKind::Text, "", REQUIRED, "the quantity, <element>.<field>"),
        UNIT,
    ], &NOTES],
);

/// Reads inputs, parameters and outputs.
pub(super) fn signals(root: &TableReader, model: &mut Model, names: &Names) -> Result<()> {
    let inputs = root.tables("input")?;
    let outputs = root.tables("output")?;
    let parameters = root.tables("parameter")?;
    let mut declared: HashMap<&str, (&'static str, usize)> = HashMap::new();
    for (group, tables) in [
        (&INPUT, &inputs),
        (&OUTPUT, &outputs),
        (&PARAMETER, &parameters),
    ] {
        for table in tables {
            table.keys_of(group);
            let Some((name, offset)) = table.settle(table.name(&RESERVED_VARIABLES)) else {
                continue;
            };
            if let Some((other, first)) = declared.get(name) {
                table.report_value(twice(table, name, offset, other, *first));
            } else {
                declared.insert(name, (group.table, offset));
            }
        }
    }

    let mut driven: HashMap<Target, (&str, usize)> = HashMap::new();
    for (is_input, tables) in [(true, &inputs), (false, &parameters)] {
        for table in tables {
            table.settle(set_by(table, model, names, is_input, &mut driven));
        }
    }
    for table in &outputs {
        let output = table.settle(output(table, model, names));
        model.outputs.extend(output);
    }
    Ok(())
}

/// Reads an input or a parameter.
fn set_by<'a>(
    table: &TableReader<'a>,
    model: &mut Model,
    names: &Names,
    is_input: bool,
    driven: &mut HashMap<Target, (&'a str, usize)>,
) -> Result<()> {
    let (name, _) = table.name(&RESERVED_VARIABLES)?;
    let (target, start) = target_and_start(table, model, names, is_input)?;
    let offset = table.offset_of("target");
    if let Some((other, first)) = driven.get(&target) {
        let TextPosition { line, column } = table.source().text_position(*first);
        let message = format!(
            "{} is already set by \"{other}\" at {line}:{column}",
            model.target_name(target)
        );
        return Err(table.refuse_at(offset, message));
    }
    driven.insert(target, (name, offset));
    let free = matches!(target, Target::SystemForce(_));
    let unit = unit(table, model.unit_of_target(target), free)?;
    let notes = notes(table, model.unit_of_target(target))?;
    let outside =
        notes.min.is_some_and(|min| start < min) || notes.max.is_some_and(|max| start > max);
    if outside {
        let message = format!("the start value {start} is not between min and max");
        return Err(table.refuse_value("start", message));
    }
    let (name, text_position) = (name.to_owned(), table.text_position());
    model.notes.variables.insert(name.clone(), notes);
    if is_input {
        model.inputs.push(Input {
            name,
            target,
            unit,
            start,
            text_position,
        });
    } else {
        model.parameters.push(Parameter {
            name,
            target,
            unit,
            start,
            text_position,
        });
    }
    model.write_number(target, start);
    Ok(())
}

/// Refuses a dotted name whose element could not be read, with the mistake that is known already.
fn must_be_read(table: &TableReader, names: &Names, dotted: &str) -> Result<()> {
    let (name, field) = dotted.split_once('.').unwrap_or((dotted, ""));
    let definitions = &table.source().document.definitions;
    match names.find(name) {
        Some(element) => names.must_be_read(element),
        None if names.part_missing && !RESERVED_ELEMENTS.contains(&name) => {
            Err(reported_elsewhere())
        }
        None if name == "define" && definitions.is_unknown(field) => Err(reported_elsewhere()),
        None => Ok(()),
    }
}

fn output(table: &TableReader, model: &mut Model, names: &Names) -> Result<Output> {
    let (name, _) = table.name(&RESERVED_VARIABLES)?;
    let source = table.needed_text("source", "a quantity, <element>.<field>")?;
    must_be_read(table, names, source)?;
    let quantity = model
        .resolve_quantity(source, |name| names.find(name))
        .map_err(|message| table.refuse_value("source", format!("source: {message}")))?;
    let own = model.unit(quantity);
    let notes = notes(table, own)?;
    model.notes.variables.insert(name.to_owned(), notes);
    Ok(Output {
        name: name.to_owned(),
        source: source.to_owned(),
        unit: unit(table, own, quantity.unit_is_free())?,
        text_position: table.text_position(),
    })
}

/// The target of an input or parameter and its start value.
fn target_and_start(
    table: &TableReader,
    model: &Model,
    names: &Names,
    input: bool,
) -> Result<(Target, f64)> {
    let dotted = table.needed_text("target", "what it sets, <element>.<field>")?;
    must_be_read(table, names, dotted)?;
    let target = model
        .resolve_target(dotted, |name| names.find(name))
        .map_err(|message| table.refuse_value("target", format!("target: {message}")))?;
    if input && !target.driveable() {
        let message = format!(
            "target: {dotted} cannot be driven while the simulation runs; make it a [[parameter]] (an input drives \
             an actuator's force or torque, a motion with law \"input\", or gravity)"
        );
        return Err(table.refuse_value("target", message));
    }
    if matches!(target, Target::Definition(_)) && table.has("start") {
        let message =
            format!("the start value of {dotted} is that of the definition: write it in [define]");
        return Err(table.refuse_key("start", message));
    }
    let start = value(table, "start", model.unit_of_target(target), target.range())?
        .unwrap_or_else(|| model.value_of_target(target));
    Ok((target, start))
}

/// The number under a key, or an expression in a unit that fits that of the value.
fn value(table: &TableReader, key: &str, unit: &str, range: Range) -> Result<Option<f64>> {
    let Some(value) = table.expression(key, unit)? else {
        return table.number(key, range);
    };
    match range.accepts(value) {
        true => Ok(Some(value)),
        false => {
            let message = format!("{key} must be {}, found {value}", range.words());
            Err(table.refuse_value(key, message))
        }
    }
}

/// Description, range and size of a variable.
fn notes(table: &TableReader, unit: &str) -> Result<VariableNotes> {
    let found = VariableNotes {
        description: table.text("description")?.unwrap_or_default().to_owned(),
        min: value(table, "min", unit, Range::Finite)?,
        max: value(table, "max", unit, Range::Finite)?,
        nominal: value(table, "nominal", unit, Range::Positive)?,
    };
    match (found.min, found.max) {
        (Some(min), Some(max)) if min > max => {
            let message = format!("max must not be less than min, {min}; found {max}");
            Err(table.refuse_value("max", message))
        }
        _ => Ok(found),
    }
}

/// The unit as written, which must be that of the value: nothing is converted. Units of a linear system are free.
fn unit(table: &TableReader, own: &str, free: bool) -> Result<Option<String>> {
    let Some(unit) = table.text("unit")? else {
        return Ok(None);
    };
    let plain = |text: &str| -> String {
        let text = text.trim().replace(['*', '·', ' '], ".");
        text.replace('²', "2").replace('^', "")
    };
    let dimensionless = own.is_empty() && unit == "1";
    if plain(unit) != plain(own) && !dimensionless && !free {
        let own = if own.is_empty() { "1" } else { own };
        let message = format!(
            "unit \"{}\" does not fit: the value is in \"{own}\", and units are not converted",
            shorten(unit)
        );
        return Err(table.refuse_value("unit", message));
    }
    Ok(Some(unit.to_owned()))
}
