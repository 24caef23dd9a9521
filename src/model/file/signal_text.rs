//! Laws of inputs as the command line gives them.

use std::path::{Path, PathBuf};

use super::csv::csv;
use super::signal_law::LAWS;
use crate::error::{Error, Result};
use crate::model::expression::{Expression, PhysicalDimension, dimension_of, is_reserved};
use crate::model::suggest::{nearest, shorten};
use crate::model::{Interpolation, Model, SignalLaw, TimeExpression};

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
                nearest: nearest(input, self.inputs.iter().map(|i| i.name.clone())),
            });
        };
        let unit = self.unit_of_target(self.inputs[index].target);
        let definition = |name: &str| self.definition_value(name);
        let law = law.trim();
        let ends_with_csv = law.len() > 4 && law[law.len() - 4..].eq_ignore_ascii_case(".csv");
        let found = if law.is_char_boundary(law.len().saturating_sub(4)) && ends_with_csv {
            let path = base_dir.map_or_else(|| PathBuf::from(law), |dir| dir.join(law));
            SignalLaw::Table {
                points: csv(&path, None, input, unit)?,
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
                                "argument {} in {unit}, it is {}",
                                k + 1,
                                found.dimension.words()
                            ))),
                        }
                    };
                    from_call(name, arguments.len(), unit, &value, &refuse)?
                }
                None => {
                    if let Some(law) = meant_law(law) {
                        return Err(refuse(form(law).2.to_owned()));
                    }
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

/// The law that a text begins with, or nearly so, although it is no call of it: a bracket is missing, or the name is misspelt.
fn meant_law(text: &str) -> Option<&'static str> {
    let (name, _) = text.split_once('(')?;
    let name = name.trim();
    let near = |law: &&&str| **law == name || nearest(name, [**law]).is_some();
    match is_reserved(name) {
        true => None,
        false => LAWS[..6].iter().find(near).copied(),
    }
}

/// Least and largest number of arguments of a law, and its form.
fn form(law: &str) -> (usize, usize, &'static str) {
    match law {
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
    }
}

/// The law of a call; `value` gives an argument in a unit.
fn from_call(
    name: &str,
    count: usize,
    unit: &str,
    value: &dyn Fn(usize, &str) -> Result<f64>,
    refuse: &dyn Fn(String) -> Error,
) -> Result<SignalLaw> {
    let (least, most, form) = form(name);
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
