//! `[solver]` and `[experiment]`: keys and reader. The keys of `[solver]` follow from [`SETTINGS`]; `validate` checks the
//! ranges, and its errors are reported at the key.

use super::keys::{Key, KeyGroup, KeyKind};
use super::table::TableReader;
use crate::error::{Error, Result};
use crate::model::InitialPosition;
use crate::model::settings::{SETTINGS, Setting, SettingField};
use crate::model::validate::Range;
use crate::model::{ErrorAt, Experiment, SolverSettings, Vsa23Parameters, Vsa23Settings};

const fn key_of(setting: &Setting) -> Key {
    let kind = match setting.field {
        SettingField::Number(range, _) | SettingField::Optional(range, _) => KeyKind::Number(range),
        SettingField::Count(_) => KeyKind::Count,
        SettingField::Flag(_) => KeyKind::Flag,
        SettingField::Choice(words, _) => KeyKind::Choice(words),
        SettingField::Vsa23 => KeyKind::Table(&VSA23),
    };
    Key {
        former_name: setting.former_key,
        ..Key::new(
            setting.key,
            kind,
            setting.unit,
            setting.default,
            setting.meaning,
        )
    }
}

const SOLVER_KEYS: [Key; SETTINGS.len()] = {
    let mut keys = [key_of(&SETTINGS[0]); SETTINGS.len()];
    let mut k = 1;
    while k < SETTINGS.len() {
        keys[k] = key_of(&SETTINGS[k]);
        k += 1;
    }
    keys
};

pub(super) const SOLVER: KeyGroup = KeyGroup::new(
    "solver",
    "How the equations are solved. Every key has a default; values outside their range are refused, never changed.",
    &[&SOLVER_KEYS],
);

#[rustfmt::skip]
const VSA23: [Key; 2] = [
    Key::new("parameters", KeyKind::Choice(&Vsa23Parameters::NAMES), "", "\"common\"",
        "\"common\": both schemes satisfy equilibrium at the same time; \"original\": at two times, with one matrix"),
    Key::new("error_at", KeyKind::Choice(&ErrorAt::NAMES), "", "\"common\"; \"end\" with original parameters",
        "where the schemes are compared: at their common point, or at the end of the step as first published"),
];

/// Reads `[solver]`.
pub(in crate::model) fn solver(table: &TableReader) -> Result<SolverSettings> {
    table.keys_of(&SOLVER);
    let mut settings = SolverSettings::default();
    for setting in &SETTINGS {
        let key = written_key(table, setting)?;
        match setting.field {
            SettingField::Number(range, field) => {
                if let Some(value) = table.number(key, range)? {
                    *field(&mut settings) = value;
                }
            }
            SettingField::Optional(range, field) => {
                *field(&mut settings) = table.number(key, range)?;
            }
            SettingField::Count(field) => {
                if let Some(count) = table.settle(table.whole_number(key)).flatten() {
                    *field(&mut settings) = count;
                }
            }
            SettingField::Flag(field) => {
                if let Some(flag) = table.flag(key)? {
                    *field(&mut settings) = flag;
                }
            }
            SettingField::Choice(words, set) => {
                let word = table.text(key)?;
                let known = word.and_then(|word| setting.index_of(words, word));
                let index = match known {
                    Some(index) => Some(index),
                    None => table.choice_of(key, words)?,
                };
                if let Some(index) = index {
                    set(&mut settings, index);
                }
            }
            SettingField::Vsa23 => {
                if let Some(table) = table.table(key)? {
                    settings.vsa23 = vsa23(&table)?;
                }
            }
        }
    }
    settings.validate().map_err(|e| at_its_key(table, e))?;
    Ok(settings)
}

/// The key of a setting, or its former key if the table has that one.
fn written_key(table: &TableReader, setting: &Setting) -> Result<&'static str> {
    let Setting {
        key, former_key, ..
    } = *setting;
    match (table.has(key), table.has(former_key)) {
        (true, true) => Err(table.refuse_key(
            former_key,
            format!("\"{former_key}\" is the former word for \"{key}\": give one of the two"),
        )),
        (false, true) => Ok(former_key),
        _ => Ok(key),
    }
}

fn vsa23(table: &TableReader) -> Result<Vsa23Settings> {
    table.keys_among(&VSA23);
    let parameters = (table.choice("parameters", &Vsa23Parameters::ALL)?).unwrap_or_default();
    let error_at = table.choice("error_at", &ErrorAt::ALL)?;
    Ok(Vsa23Settings {
        parameters,
        error_at: error_at.unwrap_or(match parameters {
            Vsa23Parameters::Common => ErrorAt::Common,
            Vsa23Parameters::Original => ErrorAt::End,
        }),
    })
}

#[rustfmt::skip]
pub(super) const EXPERIMENT: KeyGroup = KeyGroup::new(
    "experiment",
    "Defaults for a run.",
    &[&[
        Key::new("start", KeyKind::Number(Range::Finite), "s", "0", "time at start"),
        Key::new("stop", KeyKind::Number(Range::Finite), "s", "start + 10",
            "time at the end, later than start"),
        Key::new("interval", KeyKind::Number(Range::Positive), "s", "none: one row for each accepted step",
            "between rows of the result"),
        Key::new("initial", KeyKind::Choice(&InitialPosition::NAMES), "", "given",
            "start from the positions and velocities of the model, or at rest in the static equilibrium next to them"),
    ]],
);

/// Reads `[experiment]`.
pub(super) fn experiment(table: &TableReader) -> Result<Experiment> {
    table.keys_of(&EXPERIMENT);
    let start = table.any_number("start")?.unwrap_or(0.0);
    let experiment = Experiment {
        start,
        stop: table
            .any_number("stop")?
            .unwrap_or(start + Experiment::default().stop),
        interval: table.any_number("interval")?,
        initial: table
            .choice("initial", &InitialPosition::ALL)?
            .unwrap_or_default(),
    };
    experiment.validate().map_err(|e| at_its_key(table, e))?;
    Ok(experiment)
}

/// An error of `validate`, reported at its key.
fn at_its_key(table: &TableReader, error: Error) -> Error {
    match error {
        Error::Argument {
            name,
            value,
            expected,
        } => {
            let key = name.split_once('.').map_or(name.as_str(), |(_, key)| key);
            table.refuse_value(key, format!("{key} must be {expected}, found {value}"))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_former_word_for_repartition_is_read_but_not_both() {
        let read = |text: &str| SolverSettings::from_text(text, "solver");
        for text in ["repartition = false", "rechoose = false"] {
            assert!(!read(text).unwrap().repartition, "{text}");
        }
        let error = read("repartition = true\nrechoose = false").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("solver:2:1: \"rechoose\" is the former word")
        );
    }

    #[test]
    fn the_former_word_for_the_default_method_is_read_as_the_present_one() {
        let settings = SolverSettings::from_text("integrator = \"smooth\"", "solver").unwrap();
        assert_eq!(settings.integrator.name(), "auto");
    }
}
