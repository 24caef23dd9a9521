//! Ranges of the solver's and the experiment's settings: judged here and nowhere else, refused and never clamped.

use super::check::Range;
use super::{ErrorAt, Experiment, SolverSettings, Vsa23Parameters};
use crate::error::{Error, Result};

/// `max_substeps` counts in a 64-bit integer, and is exact as a real number up to here.
const MOST_SUBSTEPS: u64 = 1 << 53;

/// Keys of `[solver]` whose value is a number.
pub const NUMERIC_KEYS: [&str; 10] = [
    "alpha",
    "tolerance",
    "step",
    "min_step",
    "max_step",
    "initial_step",
    "length",
    "penalty",
    "newton_tolerance",
    "max_substeps",
];

impl SolverSettings {
    /// Checks every setting. The error is [`Error::Argument`] with the name `solver.<key>`.
    pub fn validate(&self) -> Result<()> {
        if !(0.0..=1.0 / 3.0).contains(&self.alpha) {
            return Err(refused("alpha", self.alpha, "0 <= alpha <= 1/3"));
        }
        positive("tolerance", Some(self.tolerance))?;
        positive("step", self.step)?;
        positive("min_step", self.min_step)?;
        positive("max_step", self.max_step)?;
        positive("initial_step", self.initial_step)?;
        positive("length", self.length)?;
        positive("penalty", self.penalty)?;
        positive("newton_tolerance", self.newton_tolerance)?;
        let smallest = self.min_step.unwrap_or(0.0);
        let largest = self.max_step.unwrap_or(f64::INFINITY);
        if smallest > largest {
            return Err(refused(
                "min_step",
                smallest,
                &format!("min_step <= max_step = {largest:?}"),
            ));
        }
        if let Some(initial) = self.initial_step
            && !(smallest..=largest).contains(&initial)
        {
            return Err(refused(
                "initial_step",
                initial,
                "min_step <= initial_step <= max_step",
            ));
        }
        if !(1..=MOST_SUBSTEPS).contains(&self.max_substeps) {
            return Err(refused(
                "max_substeps",
                self.max_substeps as f64,
                "a whole number from 1 to 2^53",
            ));
        }
        if self.vsa23.parameters == Vsa23Parameters::Original
            && self.vsa23.error_at == ErrorAt::Common
        {
            return Err(Error::Argument {
                name: "solver.vsa23".into(),
                value: "error_at = \"common\" with parameters = \"original\"".into(),
                expected: "error_at = \"end\": these parameters have no common point".into(),
            });
        }
        Ok(())
    }

    /// Sets one of [`NUMERIC_KEYS`]; `None` where there is no such key. On failure nothing changes.
    pub(super) fn set(&mut self, key: &str, value: f64) -> Option<Result<()>> {
        let mut changed = *self;
        match key {
            "alpha" => changed.alpha = value,
            "tolerance" => changed.tolerance = value,
            "step" => changed.step = Some(value),
            "min_step" => changed.min_step = Some(value),
            "max_step" => changed.max_step = Some(value),
            "initial_step" => changed.initial_step = Some(value),
            "length" => changed.length = Some(value),
            "penalty" => changed.penalty = Some(value),
            "newton_tolerance" => changed.newton_tolerance = Some(value),
            "max_substeps" => match whole(value) {
                Some(count) => changed.max_substeps = count,
                None => {
                    return Some(Err(refused(
                        "max_substeps",
                        value,
                        "a whole number from 1 to 2^53",
                    )));
                }
            },
            _ => return None,
        }
        Some(changed.validate().map(|()| *self = changed))
    }
}

/// A whole number that a real number holds exactly.
pub(super) fn whole(value: f64) -> Option<u64> {
    (value >= 0.0 && value <= MOST_SUBSTEPS as f64 && value.fract() == 0.0).then_some(value as u64)
}

impl Experiment {
    /// Checks the times. The error is [`Error::Argument`] with the name `experiment.<key>`.
    pub fn validate(&self) -> Result<()> {
        let refuse = |key: &str, value: f64, expected: &str| {
            Err(Error::Argument {
                name: format!("experiment.{key}"),
                value: format!("{value:?}"),
                expected: expected.to_owned(),
            })
        };
        if !self.start.is_finite() {
            return refuse("start", self.start, Range::Finite.words());
        }
        if !(self.stop.is_finite() && self.stop > self.start) {
            return refuse("stop", self.stop, "a finite number > start");
        }
        match self.interval {
            Some(interval) if !Range::Positive.accepts(interval) => {
                refuse("interval", interval, Range::Positive.words())
            }
            _ => Ok(()),
        }
    }
}

impl Default for Experiment {
    /// Ten seconds from zero, one row for each accepted step.
    fn default() -> Self {
        Self {
            start: 0.0,
            stop: 10.0,
            interval: None,
        }
    }
}

fn positive(key: &str, value: Option<f64>) -> Result<()> {
    match value {
        Some(value) if !Range::Positive.accepts(value) => {
            Err(refused(key, value, Range::Positive.words()))
        }
        _ => Ok(()),
    }
}

fn refused(key: &str, value: f64, expected: &str) -> Error {
    Error::Argument {
        name: format!("solver.{key}"),
        value: format!("{value:?}"),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_accepted() {
        SolverSettings::default().validate().unwrap();
        Experiment::default().validate().unwrap();
    }

    #[test]
    fn settings_outside_their_range_are_refused_and_nothing_changes() {
        for (key, bad) in [
            ("alpha", -1e-9),
            ("alpha", 0.334),
            ("alpha", f64::NAN),
            ("tolerance", 0.0),
            ("tolerance", f64::INFINITY),
            ("tolerance", -1e-6),
            ("step", 0.0),
            ("step", f64::NAN),
            ("min_step", -1.0),
            ("max_step", 0.0),
            ("initial_step", f64::INFINITY),
            ("length", 0.0),
            ("penalty", 0.0),
            ("penalty", f64::INFINITY),
            ("newton_tolerance", 0.0),
            ("max_substeps", 0.0),
            ("max_substeps", 1.5),
            ("max_substeps", 1e17),
            ("max_substeps", f64::NAN),
        ] {
            let mut solver = SolverSettings::default();
            match solver.set(key, bad) {
                Some(Err(Error::Argument { name, .. })) => {
                    assert_eq!(name, format!("solver.{key}"))
                }
                other => panic!("{key} = {bad}: {other:?}"),
            }
            assert_eq!(solver, SolverSettings::default());
        }
    }

    #[test]
    fn the_ends_of_the_ranges_are_accepted() {
        for (key, good) in [
            ("alpha", 0.0),
            ("alpha", 1.0 / 3.0),
            ("tolerance", 1e-300),
            ("max_substeps", 1.0),
            ("max_substeps", 9007199254740992.0),
        ] {
            SolverSettings::default().set(key, good).unwrap().unwrap();
        }
        assert!(SolverSettings::default().set("formulation", 1.0).is_none());
        for key in NUMERIC_KEYS {
            assert!(SolverSettings::default().set(key, 0.25).is_some(), "{key}");
        }
    }

    #[test]
    fn step_limits_must_agree() {
        let mut solver = SolverSettings {
            min_step: Some(1e-3),
            ..SolverSettings::default()
        };
        assert!(solver.set("max_step", 1e-4).unwrap().is_err());
        assert!(solver.set("initial_step", 1e-4).unwrap().is_err());
        assert!(solver.set("max_step", 1e-3).unwrap().is_ok());
        assert!(solver.set("initial_step", 2e-3).unwrap().is_err());
        assert!(solver.set("initial_step", 1e-3).unwrap().is_ok());
    }

    #[test]
    fn an_experiment_must_end_after_its_start() {
        let good = Experiment::default();
        for bad in [
            Experiment { stop: 0.0, ..good },
            Experiment {
                start: f64::NAN,
                ..good
            },
            Experiment {
                stop: f64::INFINITY,
                ..good
            },
            Experiment {
                interval: Some(0.0),
                ..good
            },
        ] {
            assert!(bad.validate().is_err(), "{bad:?}");
        }
    }
}
