//! `[[input]]`, `[[parameter]]` and `[[output]]`: what they set or show must exist, and no number is set by two of them.

use std::collections::HashMap;

use super::names::{Names, twice};
use crate::error::Result;
use crate::model::check::RESERVED_VARIABLES;
use crate::model::document::shorten;
use crate::model::keys::{INPUT, OUTPUT, PARAMETER};
use crate::model::reader::TableReader;
use crate::model::{Input, Model, Output, Parameter, Target, TextPosition};

pub fn signals(root: &TableReader, model: &mut Model, names: &Names) -> Result<()> {
    let inputs = root.tables("input")?;
    let outputs = root.tables("output")?;
    let parameters = root.tables("parameter")?;
    let mut declared: HashMap<&str, (&'static str, usize)> = HashMap::new();
    for (kind, tables) in [
        ("input", &inputs),
        ("output", &outputs),
        ("parameter", &parameters),
    ] {
        for table in tables {
            table.keys_of(match kind {
                "input" => &INPUT,
                "output" => &OUTPUT,
                _ => &PARAMETER,
            })?;
            let (name, offset) = table.name(&RESERVED_VARIABLES)?;
            if let Some((other, first)) = declared.insert(name, (kind, offset)) {
                return Err(twice(table, name, offset, other, first));
            }
        }
    }

    let mut driven: HashMap<Target, (&str, usize)> = HashMap::new();
    for (input, tables) in [(true, &inputs), (false, &parameters)] {
        for table in tables {
            let (name, _) = table.name(&RESERVED_VARIABLES)?;
            let (target, start) = set_by(table, model, names, input)?;
            let offset = table.offset_of("target");
            if let Some((other, first)) = driven.insert(target, (name, offset)) {
                let TextPosition { line, column } = table.source().place(first);
                let message = format!(
                    "{} is already set by \"{other}\" at {line}:{column}",
                    model.target_name(target)
                );
                return Err(table.refuse_at(offset, message));
            }
            let (name, unit, place) = (
                name.to_owned(),
                unit(
                    table,
                    model.unit_of_target(target),
                    matches!(target, Target::SystemForce(_)),
                )?,
                table.place(),
            );
            if input {
                model.inputs.push(Input {
                    name,
                    target,
                    unit,
                    start,
                    place,
                });
            } else {
                model.parameters.push(Parameter {
                    name,
                    target,
                    unit,
                    start,
                    place,
                });
            }
            *model.number_mut(target) = start;
        }
    }

    for table in &outputs {
        let (name, _) = table.name(&RESERVED_VARIABLES)?;
        let source = table.needed_text("source", "a quantity, <element>.<field>")?;
        let quantity = model
            .resolve_quantity(source, |name| names.find(name))
            .map_err(|message| table.refuse_value("source", format!("source: {message}")))?;
        let unit = unit(table, model.unit(quantity), quantity.unit_is_free())?;
        model.outputs.push(Output {
            name: name.to_owned(),
            source: source.to_owned(),
            unit,
            place: table.place(),
        });
    }
    Ok(())
}

/// What an input or parameter sets, and from which value it starts.
fn set_by(table: &TableReader, model: &Model, names: &Names, input: bool) -> Result<(Target, f64)> {
    let dotted = table.needed_text("target", "what it sets, <element>.<field>")?;
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
    let start = table
        .number("start", target.range())?
        .unwrap_or_else(|| model.value_of_target(target));
    Ok((target, start))
}

/// A unit as written must be the one the value has: nothing is converted. Where matrices make the value only their author
/// knows it.
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
