//! `[[signal]]`: keys and reader; and laws of inputs given on the command line.

use std::path::{Path, PathBuf};

use super::curve::{INTERPOLATION, interpolation};
use super::keys::{Key, KeyGroup, KeyKind, REQUIRED};
use super::table::TableReader;
use crate::error::{Error, Result};
use crate::model::expression::{DimensionedValue, Expression, PhysicalDimension, dimension_of};
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
const HEAD: [Key; 2] = [
    Key::new("input", KeyKind::Text, "", REQUIRED, "name of the [[input]]"),
    Key::new("law", KeyKind::Choice(&LAWS), "", REQUIRED, "law over time"),
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
    for table in root.tables("signal")? {
        table.settle(signal_law(&table, model, base_dir));
    }
    Ok(())
}

fn signal_law(table: &TableReader, model: &mut Model, base_dir: Option<&Path>) -> Result<()> {
    if !table.has("law") {
        table.keys_of_any(&SIGNALS);
    }
    let choices: Vec<(&str, usize)> = LAWS.into_iter().zip(0..).collect();
    let law = table.needed_choice("law", &choices)?;
    table.keys_of(&SIGNALS[law]);
    let name = table.needed_text("input", "the name of an [[input]]")?;
    let Some(input) = model.inputs.iter().position(|i| i.name == name) else {
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
        "chirp" => {
            let found = table.needed_numbers("frequencies", "two frequencies [first, last]", 2)?;
            let [first, last] = found[..] else {
                let message = "frequencies must be two numbers [first, last]";
                return Err(table.refuse_value("frequencies", message));
            };
            SignalLaw::Chirp {
                amplitude: needed("amplitude", unit)?,
                frequencies: [first, last],
                times: [needed("begin", "s")?, needed("end", "s")?],
                offset: or("offset", unit, 0.0)?,
            }
        }
        "pulse" => SignalLaw::Pulse {
            period: needed("period", "s")?,
            width: needed("width", "s")?,
            start: or("time", "s", 0.0)?,
            low: or("low", unit, 0.0)?,
            high: needed("high", unit)?,
        },
        "table" => SignalLaw::Table {
            points: table.pairs("points")?,
            interpolation: interpolation(table)?,
            periodic: table.flag("periodic")?.unwrap_or(false),
        },
        "csv" => {
            let name = table.needed_text("file", "the name of a CSV file")?;
            let column = table.text("column")?;
            let interpolation = table.choice(INTERPOLATION.name, &Interpolation::ALL)?;
            let path = base_dir.map_or_else(|| PathBuf::from(name), |dir| dir.join(name));
            SignalLaw::Table {
                points: csv(&path, column, input)?,
                interpolation: interpolation.unwrap_or(Interpolation::Linear),
                periodic: false,
            }
        }
        _ => {
            let entry = table.get("value");
            let content = table.needed_text("value", "an expression of t")?;
            let definitions = &table.source().document.definitions;
            let value = |name: &str| definitions.get(name).map(|d| d.value);
            let found = TimeExpression::new(content, &value);
            SignalLaw::Expression(found.map_err(|error| match entry {
                Some(entry) => table.in_expression(&entry.node, "value", error),
                None => table.refuse(error.message),
            })?)
        }
    })
}

/// Largest CSV file that is read (bytes).
const LARGEST_CSV: u64 = 64 << 20;

/// Times and one column of a CSV file: that with this header, or that of the input's name, or the second.
fn csv(path: &Path, column: Option<&str>, input: &str) -> Result<Vec<[f64; 2]>> {
    let shown = path.display().to_string();
    let unreadable = |reason: String| Error::File {
        path: shown.clone(),
        reason,
    };
    let size = std::fs::metadata(path)
        .map_err(|e| unreadable(e.to_string()))?
        .len();
    if size > LARGEST_CSV {
        return Err(unreadable(format!(
            "it is too large: at most {LARGEST_CSV} bytes are read"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
    let refuse = |line: usize, message: String| Error::Model {
        origin: shown.clone(),
        line,
        column: 1,
        message,
    };
    let mut index = None;
    let mut points: Vec<[f64; 2]> = vec![];
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells: Vec<&str> = line
            .split([',', ';', '\t'])
            .map(|cell| cell.trim().trim_matches('"'))
            .collect();
        let Some(chosen) = index else {
            // The first line is a header if it is not made of numbers.
            let header = cells.iter().any(|cell| cell.parse::<f64>().is_err());
            let named = |name: &str| cells.iter().position(|cell| *cell == name);
            let found = match (header, column) {
                (true, Some(name)) => Some(named(name).ok_or_else(|| {
                    let near = did_you_mean(name, &cells);
                    refuse(
                        i + 1,
                        format!("there is no column \"{}\"{near}", shorten(name)),
                    )
                })?),
                (true, None) => named(input).or(Some(1)),
                (false, Some(name)) => {
                    let message = format!(
                        "the file has no header line with a column \"{}\"",
                        shorten(name)
                    );
                    return Err(refuse(i + 1, message));
                }
                (false, None) => Some(1),
            };
            index = found;
            if !header {
                points.push(row(&cells, 1).map_err(|message| refuse(i + 1, message))?);
            }
            continue;
        };
        let point = row(&cells, chosen).map_err(|message| refuse(i + 1, message))?;
        if let Some(before) = points.last()
            && point[0] < before[0]
        {
            let message = format!(
                "the time {} is before that of the line above, {}",
                point[0], before[0]
            );
            return Err(refuse(i + 1, message));
        }
        points.push(point);
    }
    match points.len() {
        0 | 1 => Err(unreadable(
            "it has fewer than two rows of numbers".to_owned(),
        )),
        _ => Ok(points),
    }
}

/// Time and value of a row.
fn row(cells: &[&str], column: usize) -> std::result::Result<[f64; 2], String> {
    let number = |k: usize| {
        let cell = cells
            .get(k)
            .ok_or_else(|| format!("the row has no column {}", k + 1))?;
        match cell.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => Err(format!(
                "\"{}\" in column {} is no finite number",
                shorten(cell),
                k + 1
            )),
        }
    };
    Ok([number(0)?, number(column)?])
}

impl Model {
    /// Sets the law of an input as the command line gives it: `file.csv`, a law with its numbers, or an expression of `t`.
    ///
    /// ```text
    ///   constant(value)   step(time, before, after)   ramp(begin, end, from, to)   sine(amplitude, frequency[, phase[, offset]])
    ///   chirp(amplitude, first frequency, last frequency, begin, end)   pulse(period, width, low, high[, time])
    /// ```
    pub fn set_signal_text(
        &mut self,
        input: &str,
        law: &str,
        base_dir: Option<&Path>,
    ) -> Result<()> {
        let refuse = |message: String| Error::Argument {
            name: format!("input {input}"),
            value: format!("\"{}\"", shorten(law)),
            expected: message,
        };
        let Some(index) = self.inputs.iter().position(|i| i.name == input) else {
            return Err(Error::UnknownVariable {
                name: input.to_owned(),
                nearest: crate::model::suggest::nearest(
                    input,
                    self.inputs.iter().map(|i| i.name.clone()),
                ),
            });
        };
        let unit = self.unit_of_target(self.inputs[index].target);
        let definition = |name: &str| {
            let found = self.definitions.iter().find(|d| d.name == name)?;
            let dimension = dimension_of(found.unit).unwrap_or(PhysicalDimension::NONE);
            Some(DimensionedValue::new(found.value, dimension))
        };
        let law = law.trim();
        let ends_with_csv = law.len() > 4 && law[law.len() - 4..].eq_ignore_ascii_case(".csv");
        let found = if law.is_char_boundary(law.len().saturating_sub(4)) && ends_with_csv {
            let path = base_dir.map_or_else(|| PathBuf::from(law), |dir| dir.join(law));
            SignalLaw::Table {
                points: csv(&path, None, input)?,
                interpolation: Interpolation::Linear,
                periodic: false,
            }
        } else {
            match call(law) {
                Some((name, arguments)) => {
                    let value = |k: usize, unit: &str| -> Result<f64> {
                        let text = arguments[k];
                        let found = Expression::parse(text, &|name| definition(name).is_some())
                            .and_then(|e| e.evaluate(&definition))
                            .map_err(|e| refuse(format!("argument {}: {}", k + 1, e.message)))?;
                        let wanted = dimension_of(unit).unwrap_or(PhysicalDimension::NONE);
                        match found.dimension == PhysicalDimension::NONE
                            || found.dimension.fits(wanted)
                        {
                            true => Ok(found.value),
                            false => Err(refuse(format!(
                                "argument {} in {}, it is {}",
                                k + 1,
                                wanted.name(),
                                found.dimension.words()
                            ))),
                        }
                    };
                    from_call(name, arguments.len(), unit, &value, &refuse)?
                }
                None => {
                    SignalLaw::Expression(TimeExpression::new(law, &definition).map_err(|e| {
                        refuse(format!(
                            "a file .csv, a law or an expression of t; column {}: {}",
                            e.at + 1,
                            e.message
                        ))
                    })?)
                }
            }
        };
        self.set_signal(index, found)
    }
}

/// A law with arguments, `step(0.5, 0, 10)`; nothing if the text is not a call of one.
fn call(text: &str) -> Option<(&str, Vec<&str>)> {
    let (name, rest) = text.split_once('(')?;
    let name = name.trim();
    let inside = rest.trim_end().strip_suffix(')')?;
    if !LAWS[..6].contains(&name) {
        return None;
    }
    let (mut depth, mut from) = (0i32, 0);
    let mut arguments = vec![];
    for (i, c) in inside.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(&inside[from..i]);
                from = i + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    arguments.push(&inside[from..]);
    Some((name, arguments))
}

/// The law of a call; `value` gives an argument in a unit.
fn from_call(
    name: &str,
    count: usize,
    unit: &str,
    value: &dyn Fn(usize, &str) -> Result<f64>,
    refuse: &dyn Fn(String) -> Error,
) -> Result<SignalLaw> {
    let (least, most, form) = match name {
        "constant" => (1, 1, "constant(value)"),
        "step" => (3, 3, "step(time, before, after)"),
        "ramp" => (4, 4, "ramp(begin, end, from, to)"),
        "sine" => (2, 4, "sine(amplitude, frequency, phase, offset)"),
        "chirp" => (
            5,
            5,
            "chirp(amplitude, first frequency, last frequency, begin, end)",
        ),
        _ => (4, 5, "pulse(period, width, low, high, time)"),
    };
    if count < least || count > most {
        return Err(refuse(form.to_owned()));
    }
    let or = |k: usize, unit: &str| if k < count { value(k, unit) } else { Ok(0.0) };
    Ok(match name {
        "constant" => SignalLaw::Constant(value(0, unit)?),
        "step" => SignalLaw::Step {
            time: value(0, "s")?,
            before: value(1, unit)?,
            after: value(2, unit)?,
        },
        "ramp" => SignalLaw::Ramp {
            times: [value(0, "s")?, value(1, "s")?],
            values: [value(2, unit)?, value(3, unit)?],
        },
        "sine" => SignalLaw::Sine {
            amplitude: value(0, unit)?,
            frequency: value(1, "Hz")?,
            phase: or(2, "rad")?,
            offset: or(3, unit)?,
        },
        "chirp" => SignalLaw::Chirp {
            amplitude: value(0, unit)?,
            frequencies: [value(1, "Hz")?, value(2, "Hz")?],
            times: [value(3, "s")?, value(4, "s")?],
            offset: 0.0,
        },
        _ => SignalLaw::Pulse {
            period: value(0, "s")?,
            width: value(1, "s")?,
            low: value(2, unit)?,
            high: value(3, unit)?,
            start: or(4, "s")?,
        },
    })
}
