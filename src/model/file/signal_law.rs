//! `[[signal]]`: keys and reader.

use std::path::{Path, PathBuf};

use super::csv::csv;
use super::curve::{INTERPOLATION, interpolation};
use super::keys::{DESCRIPTION, Key, KeyGroup, KeyKind, REQUIRED};
use super::mistakes::reported_elsewhere;
use super::table::TableReader;
use crate::error::{Error, Result};
use crate::model::suggest::{did_you_mean, shorten};
use crate::model::validate::Range;
use crate::model::{Interpolation, Model, SignalLaw, TimeExpression};

/// Words of the laws.
pub(super) const LAWS: [&str; 9] = [
    "constant",
    "step",
    "ramp",
    "sine",
    "chirp",
    "pulse",
    "table",
    "csv",
    "expression",
];

#[rustfmt::skip]
const HEAD: [Key; 3] = [
    Key::new("input", KeyKind::Text, "", REQUIRED, "name of the [[input]]"),
    Key::new("law", KeyKind::Choice(&LAWS), "", REQUIRED, "law over time"),
    DESCRIPTION,
];

const FINITE: KeyKind = KeyKind::Number(Range::Finite);
const OF_INPUT: &str = "that of the input";

const fn value(name: &'static str, default: &'static str, meaning: &'static str) -> Key {
    Key::new(name, FINITE, OF_INPUT, default, meaning)
}

const fn of(
    law: &'static str,
    meaning: &'static str,
    parts: &'static [&'static [Key]],
) -> KeyGroup {
    KeyGroup {
        variant: Some(("law", law)),
        ..KeyGroup::new("signal", meaning, parts)
    }
}

#[rustfmt::skip]
const BETWEEN: [Key; 2] = [
    Key::new("begin", FINITE, "s", REQUIRED, "where it begins"),
    Key::new("end", FINITE, "s", REQUIRED, "where it ends"),
];

#[rustfmt::skip]
pub(super) const SIGNALS: [KeyGroup; LAWS.len()] = [
    of("constant", "The input is constant.", &[&HEAD, &[value("value", REQUIRED, "of the input")]]),
    of(
        "step",
        "The input jumps.",
        &[
            &HEAD,
            &[
                Key::new("time", FINITE, "s", REQUIRED, "of the jump"),
                value("before", "0", "value before it"),
                value("after", REQUIRED, "value from then on"),
            ],
        ],
    ),
    of(
        "ramp",
        "A straight line between two constants.",
        &[&HEAD, &BETWEEN, &[value("from", "0", "value before"), value("to", REQUIRED, "value behind")]],
    ),
    of(
        "sine",
        "offset + amplitude sin(2 pi frequency t + phase).",
        &[
            &HEAD,
            &[
                value("amplitude", REQUIRED, "amplitude of the oscillation"),
                Key::new("frequency", FINITE, "Hz", REQUIRED, "frequency of the oscillation"),
                Key::new("phase", FINITE, "rad", "0", "phase at t = 0"),
                value("offset", "0", "mean value"),
            ],
        ],
    ),
    of(
        "chirp",
        "A sine whose frequency goes linearly from one to another; constant before, of the last frequency behind.",
        &[
            &HEAD,
            &BETWEEN,
            &[
                value("amplitude", REQUIRED, "amplitude of the oscillation"),
                Key::new("frequencies", KeyKind::Numbers(2, 2), "Hz", REQUIRED, "[first, last]"),
                value("offset", "0", "mean value"),
            ],
        ],
    ),
    of(
        "pulse",
        "High for a part of every period, low otherwise; periodic in both directions.",
        &[
            &HEAD,
            &[
                Key::new("period", KeyKind::Number(Range::Positive), "s", REQUIRED, "from pulse to pulse"),
                Key::new("width", KeyKind::Number(Range::Positive), "s", REQUIRED, "of a pulse, less than the period"),
                Key::new("time", FINITE, "s", "0", "where a pulse begins"),
                value("low", "0", "value between pulses"),
                value("high", REQUIRED, "value in a pulse"),
            ],
        ],
    ),
    of(
        "table",
        "Through points; constant beyond both ends, or periodic. Two points of the same time are a jump.",
        &[
            &HEAD,
            &[
                Key::new("points", KeyKind::Pairs, "s, that of the input", REQUIRED, "[[t, u], ..], t not decreasing"),
                Key::new("periodic", KeyKind::Flag, "", "false", "the table is periodic; its first and last u are equal"),
                INTERPOLATION,
            ],
        ],
    ),
    of(
        "csv",
        "A table in a file: time in the first column, a header line if there is one; joined by straight lines unless said otherwise.",
        &[
            &HEAD,
            &[
                Key::new("file", KeyKind::File, "", REQUIRED, "name of the file, relative to the model"),
                Key::new("column", KeyKind::Text, "", "that of the input's name, else the second", "column by its header"),
                Key { default: "linear", ..INTERPOLATION },
            ],
        ],
    ),
    of(
        "expression",
        "An expression of the time t in s, without kinks.",
        &[&HEAD, &[Key::new("value", KeyKind::Text, OF_INPUT, REQUIRED, "\"10*sin(2*pi*t)\"")]],
    ),
];

/// Reads all `[[signal]]`; inputs have been read before.
pub(super) fn signal_laws(
    root: &TableReader,
    model: &mut Model,
    base_dir: Option<&Path>,
) -> Result<()> {
    let declared = root.tables("input")?;
    // An input whose own table, or whose part, has a mistake is not among those of the model.
    let is_mistaken = |name: &str| {
        let named =
            |table: &TableReader| matches!(table.text("name"), Ok(Some(own)) if own == name);
        declared.iter().any(named)
            || (root.has("include") && root.source().document.mistakes.are_there())
    };
    for table in root.tables("signal")? {
        table.settle(signal_law(&table, model, base_dir, &is_mistaken));
    }
    Ok(())
}

fn signal_law(
    table: &TableReader,
    model: &mut Model,
    base_dir: Option<&Path>,
    is_mistaken: &dyn Fn(&str) -> bool,
) -> Result<()> {
    if !table.has("law") {
        table.keys_of_any(&SIGNALS);
    }
    let choices: Vec<(&str, usize)> = LAWS.into_iter().zip(0..).collect();
    let law = table.needed_choice("law", &choices)?;
    table.keys_of(&SIGNALS[law]);
    let description = table.text("description")?.unwrap_or_default();
    let name = table.needed_text("input", "the name of an [[input]]")?;
    let Some(input) = model.inputs.iter().position(|i| i.name == name) else {
        if is_mistaken(name) {
            return Err(reported_elsewhere());
        }
        let near = did_you_mean(name, model.inputs.iter().map(|i| &i.name));
        let message = format!("there is no input \"{}\"{near}", shorten(name));
        return Err(table.refuse_value("input", message));
    };
    if model.signals.iter().any(|signal| signal.input == input) {
        let message = format!("the input \"{name}\" has a law already");
        return Err(table.refuse_value("input", message));
    }
    let unit = model.unit_of_target(model.inputs[input].target);
    let law = read(table, LAWS[law], unit, name, base_dir)?;
    (model.set_signal(input, law)).map_err(|error| table.refuse_value("law", error.to_string()))?;
    let notes = model.notes.variables.entry(name.to_owned()).or_default();
    if notes.description.is_empty() {
        description.clone_into(&mut notes.description);
    }
    if let Some(signal) = model.signals.last_mut() {
        signal.text_position = table.text_position();
    }
    Ok(())
}

/// The number under a key, or the value of an expression in a unit.
fn number(table: &TableReader, key: &str, unit: &str) -> Result<Option<f64>> {
    match table.expression(key, unit)? {
        Some(value) => Ok(Some(value)),
        None => table.number(key, Range::Finite),
    }
}

/// First and last frequency of a chirp.
fn frequencies(table: &TableReader) -> Result<[f64; 2]> {
    let expected = "two frequencies [first, last]";
    match table.needed_numbers_in("frequencies", expected, "Hz")?[..] {
        [first, last] => Ok([first, last]),
        _ => {
            let message = "frequencies must be two numbers [first, last]";
            Err(table.refuse_value("frequencies", message))
        }
    }
}

fn read(
    table: &TableReader,
    law: &str,
    unit: &str,
    input: &str,
    base_dir: Option<&Path>,
) -> Result<SignalLaw> {
    let or = |key: &str, unit: &str, default: f64| {
        Ok::<_, Error>(number(table, key, unit)?.unwrap_or(default))
    };
    let needed = |key: &str, unit: &str| {
        number(table, key, unit)?
            .ok_or_else(|| table.refuse(format!("\"{key}\" is missing: expected a finite number")))
    };
    Ok(match law {
        "constant" => SignalLaw::Constant(needed("value", unit)?),
        "step" => SignalLaw::Step {
            time: needed("time", "s")?,
            before: or("before", unit, 0.0)?,
            after: needed("after", unit)?,
        },
        "ramp" => SignalLaw::Ramp {
            times: [needed("begin", "s")?, needed("end", "s")?],
            values: [or("from", unit, 0.0)?, needed("to", unit)?],
        },
        "sine" => SignalLaw::Sine {
            amplitude: needed("amplitude", unit)?,
            frequency: needed("frequency", "Hz")?,
            phase: or("phase", "rad", 0.0)?,
            offset: or("offset", unit, 0.0)?,
        },
        "chirp" => SignalLaw::Chirp {
            amplitude: needed("amplitude", unit)?,
            frequencies: frequencies(table)?,
            times: [needed("begin", "s")?, needed("end", "s")?],
            offset: or("offset", unit, 0.0)?,
        },
        "pulse" => SignalLaw::Pulse {
            period: needed("period", "s")?,
            width: needed("width", "s")?,
            start: or("time", "s", 0.0)?,
            low: or("low", unit, 0.0)?,
            high: needed("high", unit)?,
        },
        "table" => SignalLaw::Table {
            points: table.pairs_in("points", ["s", unit])?,
            interpolation: interpolation(table)?,
            periodic: table.flag("periodic")?.unwrap_or(false),
        },
        "csv" => {
            let name = table.needed_text("file", "the name of a CSV file")?;
            let column = table.text("column")?;
            let interpolation = table.choice(INTERPOLATION.name, &Interpolation::ALL)?;
            let path = base_dir.map_or_else(|| PathBuf::from(name), |dir| dir.join(name));
            SignalLaw::Table {
                points: csv(&path, column, input, unit)?,
                interpolation: interpolation.unwrap_or(Interpolation::Linear),
                periodic: false,
            }
        }
        _ => {
            let entry = table.get("value");
            let content = table.needed_text("value", "an expression of t")?;
            let definitions = &table.source().document.definitions;
            if definitions.leave_open(content) {
                return Err(reported_elsewhere());
            }
            let value = |name: &str| definitions.get(name).map(|d| d.value);
            let found = TimeExpression::new(content, &value);
            SignalLaw::Expression(found.map_err(|error| match entry {
                Some(entry) => table.in_expression(&entry.node, "value", error),
                None => table.refuse(error.message),
            })?)
        }
    })
}
