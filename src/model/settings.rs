//! Settings of the solver and of the experiment. [`SETTINGS`] has one row for each solver setting: its key, range, default
//! and field; the keys of `[solver]`, its reader, `set` and `validate` follow from it.

use super::choice::choice;
use super::suggest::did_you_mean;
use super::validate::Range;
use crate::error::{Error, Result};

choice! {
    /// `formulation` of `[solver]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum FormulationName {
        /// Chosen by topology.
        #[default]
        Auto = "auto",
        /// Absolute coordinates, multipliers.
        Absolute = "absolute",
        /// Relative coordinates, multipliers.
        Relative = "relative",
        /// Natural coordinates, augmented Lagrangian.
        Global = "global",
        /// Relative coordinates, augmented Lagrangian.
        Hybrid = "hybrid",
        /// Relative coordinates, coordinate partitioning.
        Topological = "topological",
    }
}

choice! {
    /// `integrator` of `[solver]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum IntegratorName {
        /// Sixth order without a Newton iteration where the motion is smooth, otherwise Hilber-Hughes-Taylor.
        #[default]
        Auto = "auto",
        /// Hilber-Hughes-Taylor with a corrector of fourth order.
        Hht = "hht",
        /// Quadratic scheme with the cubic one as reference.
        Vsa23 = "vsa23",
    }
}

choice! {
    /// `estimate` of `[solver]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum EstimateName {
        /// With the true error constants of the method.
        #[default]
        Calibrated = "calibrated",
        /// (31)-(32) of the paper as printed.
        Seed = "seed",
    }
}

choice! {
    /// `controller` of `[solver]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ControllerName {
        /// Exponent of the estimate's order.
        #[default]
        Standard = "standard",
        /// (12) of the paper as printed.
        Seed = "seed",
    }
}

choice! {
    /// `corrector` of `[solver]`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Corrector {
        /// Fourth-order corrector, suspended while the system is stiff.
        #[default]
        Auto = "auto",
        /// Plain HHT.
        Off = "off",
    }
}

choice! {
    /// `parameters` of `vsa23`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Vsa23Parameters {
        /// Both schemes satisfy equilibrium at the same time: (25) in closed form.
        #[default]
        Common = "common",
        /// They satisfy it at two different times, with one matrix.
        Original = "original",
    }
}

choice! {
    /// `error_at` of `vsa23`: where the two schemes are compared.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum ErrorAt {
        /// At the end of the step: (11). The constraint residuals there count as an error that no step size reduces.
        End = "end",
        /// At the common equilibrium point; only with [`Vsa23Parameters::Common`].
        #[default]
        Common = "common",
    }
}

/// `vsa23` of `[solver]`: settings of VSA23.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vsa23Settings {
    /// Weights of the two schemes.
    pub parameters: Vsa23Parameters,
    /// Where they are compared.
    pub error_at: ErrorAt,
}

/// `[solver]`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverSettings {
    /// Coordinates and constraint handling.
    pub formulation: FormulationName,
    /// Method.
    pub integrator: IntegratorName,
    /// Settings of VSA23.
    pub vsa23: Vsa23Settings,
    /// HHT dissipation, 0 .. 1/3.
    pub alpha: f64,
    /// Local error per step (per second with `per_unit_step`).
    pub tolerance: f64,
    /// Error estimate.
    pub estimate: EstimateName,
    /// Step-size rule.
    pub controller: ControllerName,
    /// Fourth-order corrector.
    pub corrector: Corrector,
    /// Tolerance per second instead of per step.
    pub per_unit_step: bool,
    /// Fixed step (s).
    pub step: Option<f64>,
    /// s
    pub min_step: Option<f64>,
    /// s
    pub max_step: Option<f64>,
    /// s
    pub initial_step: Option<f64>,
    /// Characteristic length of the error norm (m).
    pub length: Option<f64>,
    /// Velocity and acceleration projections after each step.
    pub projection: bool,
    /// Penalty factor of the augmented Lagrangian; `None`: from masses and step. Formulations with penalties only.
    pub penalty: Option<f64>,
    /// Changes the independent coordinates when the present ones become ill-conditioned. Coordinate partitioning only.
    pub repartition: bool,
    /// Newton increment accepted, in the error norm; default 1e-3 `tolerance`.
    pub newton_tolerance: Option<f64>,
    /// Substeps allowed in one call.
    pub max_substeps: u64,
    /// A companion run states the error of every output.
    pub error_bars: bool,
    /// Steps may go beyond a communication point while inputs and parameters stay as they are.
    pub look_ahead: bool,
    /// Error allowed over the whole run, relative to the range of each output; implies error bars.
    pub accuracy: Option<f64>,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            formulation: FormulationName::default(),
            integrator: IntegratorName::default(),
            vsa23: Vsa23Settings::default(),
            alpha: 0.05,
            tolerance: 1e-6,
            estimate: EstimateName::default(),
            controller: ControllerName::default(),
            corrector: Corrector::default(),
            per_unit_step: false,
            step: None,
            min_step: None,
            max_step: None,
            initial_step: None,
            length: None,
            projection: true,
            penalty: None,
            repartition: true,
            newton_tolerance: None,
            max_substeps: 1_000_000,
            error_bars: false,
            look_ahead: true,
            accuracy: None,
        }
    }
}

/// A row of [`SETTINGS`].
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub key: &'static str,
    /// Former key, still read; empty if there is none.
    pub former_key: &'static str,
    /// Former word of a choice, still read, and the present one.
    pub former_word: Option<(&'static str, &'static str)>,
    pub unit: &'static str,
    /// Default in words.
    pub default: &'static str,
    pub meaning: &'static str,
    pub field: SettingField,
}

/// The field of a setting and its accepted values.
#[derive(Clone, Copy)]
pub(super) enum SettingField {
    Number(Range, fn(&mut SolverSettings) -> &mut f64),
    Optional(Range, fn(&mut SolverSettings) -> &mut Option<f64>),
    /// An integer from 1 to 2⁵³.
    Count(fn(&mut SolverSettings) -> &mut u64),
    Flag(fn(&mut SolverSettings) -> &mut bool),
    /// One of these words, set by its index.
    Choice(&'static [&'static str], fn(&mut SolverSettings, usize)),
    /// The table `vsa23`.
    Vsa23,
}

const fn setting(
    key: &'static str,
    field: SettingField,
    unit: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting {
        key,
        former_key: "",
        former_word: None,
        unit,
        default,
        meaning,
        field,
    }
}

impl Setting {
    /// Index of a word among `words`; a former word is read as the present one.
    pub fn index_of(&self, words: &[&str], word: &str) -> Option<usize> {
        let former = self.former_word.filter(|(former, _)| *former == word);
        let word = former.map_or(word, |(_, present)| present);
        words.iter().position(|other| *other == word)
    }
}

use SettingField::{Choice, Count, Flag, Number, Optional};

/// Every setting of `[solver]`, in the order of the manual.
#[rustfmt::skip]
pub(super) const SETTINGS: [Setting; 22] = [
    setting("formulation", Choice(&FormulationName::NAMES, |s, i| s.formulation = FormulationName::ALL[i].1), "", "\"auto\"",
        "coordinates and constraint handling"),
    Setting { former_word: Some(("smooth", "auto")), ..setting("integrator", Choice(&IntegratorName::NAMES, |s, i| s.integrator = IntegratorName::ALL[i].1), "", "\"auto\"",
        "method: \"auto\" takes long steps of sixth order where the motion is smooth, and those of \"hht\" elsewhere; \"hht\" corrects to fourth order; \"vsa23\" is for comparison") },
    setting("vsa23", SettingField::Vsa23, "", "{ parameters = \"common\", error_at = \"common\" }",
        "settings of VSA23"),
    setting("alpha", Number(Range::Alpha, |s| &mut s.alpha), "", "0.05",
        "numerical damping of HHT, 0 .. 1/3; 0 is the trapezoidal rule"),
    setting("tolerance", Number(Range::Positive, |s| &mut s.tolerance), "", "1e-6",
        "local error allowed in each step, relative to the mechanism's size"),
    setting("per_unit_step", Flag(|s| &mut s.per_unit_step), "", "false",
        "tolerance for each second instead of each step"),
    setting("estimate", Choice(&EstimateName::NAMES, |s, i| s.estimate = EstimateName::ALL[i].1), "", "\"calibrated\"",
        "error estimate; \"seed\" as first published"),
    setting("controller", Choice(&ControllerName::NAMES, |s, i| s.controller = ControllerName::ALL[i].1), "", "\"standard\"",
        "step-size rule; \"seed\" as first published"),
    setting("corrector", Choice(&Corrector::NAMES, |s, i| s.corrector = Corrector::ALL[i].1), "", "\"auto\", with beams \"off\"",
        "fourth-order corrector, suspended while the mechanism is stiff"),
    setting("step", Optional(Range::Positive, |s| &mut s.step), "s", "none",
        "if given, every step has this length"),
    setting("min_step", Optional(Range::Positive, |s| &mut s.min_step), "s", "none",
        "smallest step"),
    setting("max_step", Optional(Range::Positive, |s| &mut s.max_step), "s", "none",
        "largest step"),
    setting("initial_step", Optional(Range::Positive, |s| &mut s.initial_step), "s", "chosen",
        "first trial step"),
    setting("length", Optional(Range::Positive, |s| &mut s.length), "m", "twice the largest lever arm of a body",
        "the mechanism's size, to which errors are relative"),
    setting("projection", Flag(|s| &mut s.projection), "", "true",
        "velocities and accelerations are projected onto the constraints after each step"),
    setting("penalty", Optional(Range::Positive, |s| &mut s.penalty), "", "from masses and step",
        "penalty factor of the augmented Lagrangian; without effect in formulations that use multipliers"),
    Setting { former_key: "rechoose", ..setting("repartition", Flag(|s| &mut s.repartition), "", "true",
        "independent coordinates change when the present ones become ill-conditioned; coordinate partitioning only") },
    setting("newton_tolerance", Optional(Range::Positive, |s| &mut s.newton_tolerance), "", "1e-3 tolerance",
        "increment at which Newton's iteration ends"),
    setting("max_substeps", Count(|s| &mut s.max_substeps), "", "1000000",
        "steps allowed in one call"),
    setting("look_ahead", Flag(|s| &mut s.look_ahead), "", "true",
        "while inputs and parameters do not change, steps may go beyond a communication point, whose values are interpolated"),
    setting("error_bars", Flag(|s| &mut s.error_bars), "", "false",
        "a companion run, a hundred times looser, states the error of every output as `<output>.error`"),
    setting("accuracy", Optional(Range::Positive, |s| &mut s.accuracy), "", "none",
        "error allowed over the whole run, relative to the range of each output: the solver chooses `tolerance`; implies `error_bars`"),
];

/// Keys of `[solver]` whose value is a number.
pub(super) fn numeric_settings() -> impl Iterator<Item = &'static str> {
    (SETTINGS.iter())
        .filter(|setting| matches!(setting.field, Number(..) | Optional(..) | Count(_)))
        .map(|setting| setting.key)
}

/// Largest `max_substeps`: up to here every integer is exact as a real number.
const MOST_SUBSTEPS: u64 = 1 << 53;
const SUBSTEPS: &str = "an integer from 1 to 2^53";

impl SolverSettings {
    /// Checks every setting. The error is [`Error::Argument`] with the name `solver.<key>`.
    pub fn validate(&self) -> Result<()> {
        let mut settings = *self;
        for Setting { key, field, .. } in &SETTINGS {
            let (range, value) = match field {
                Number(range, value) => (range, Some(*value(&mut settings))),
                Optional(range, value) => (range, *value(&mut settings)),
                Count(value) => {
                    let count = *value(&mut settings);
                    if !(1..=MOST_SUBSTEPS).contains(&count) {
                        return Err(refused(key, count as f64, SUBSTEPS));
                    }
                    continue;
                }
                Flag(_) | Choice(..) | SettingField::Vsa23 => continue,
            };
            if let Some(value) = value
                && !range.accepts(value)
            {
                return Err(refused(key, value, range.words()));
            }
        }
        self.validate_steps()?;
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

    /// Whether a companion run states the error of every output.
    pub fn has_error_bars(&self) -> bool {
        self.error_bars || self.accuracy.is_some()
    }

    /// Checks min_step <= initial_step <= max_step.
    fn validate_steps(&self) -> Result<()> {
        let smallest = self.min_step.unwrap_or(0.0);
        let largest = self.max_step.unwrap_or(f64::INFINITY);
        if smallest > largest {
            let expected = format!("min_step <= max_step = {largest:?}");
            return Err(refused("min_step", smallest, &expected));
        }
        match self.initial_step {
            Some(initial) if !(smallest..=largest).contains(&initial) => Err(refused(
                "initial_step",
                initial,
                "min_step <= initial_step <= max_step",
            )),
            _ => Ok(()),
        }
    }

    /// Sets a setting that is a word; `None` if there is none of this key. On failure nothing changes.
    pub(super) fn set_word(&mut self, key: &str, word: &str) -> Option<Result<()>> {
        let refuse = |words: &[&str]| Error::Argument {
            name: format!("solver.{key}"),
            value: word.to_owned(),
            expected: format!("one of {}{}", words.join(", "), did_you_mean(word, words)),
        };
        let setting = SETTINGS.iter().find(|setting| setting.key == key)?;
        match setting.field {
            Choice(words, set) => Some(match setting.index_of(words, word) {
                Some(index) => {
                    set(self, index);
                    Ok(())
                }
                None => Err(refuse(words)),
            }),
            Flag(field) => Some(match word {
                "true" | "false" => {
                    *field(self) = word == "true";
                    Ok(())
                }
                _ => Err(refuse(&["true", "false"])),
            }),
            Number(..) | Optional(..) | Count(_) | SettingField::Vsa23 => None,
        }
    }

    /// Sets a numeric setting; `None` if there is none of this key. On failure nothing changes.
    pub(super) fn set(&mut self, key: &str, value: f64) -> Option<Result<()>> {
        let mut changed = *self;
        match SETTINGS.iter().find(|setting| setting.key == key)?.field {
            Number(_, field) => *field(&mut changed) = value,
            Optional(_, field) => *field(&mut changed) = Some(value),
            Count(field) => match integer(value) {
                Some(count) => *field(&mut changed) = count,
                None => return Some(Err(refused(key, value, SUBSTEPS))),
            },
            Flag(_) | Choice(..) | SettingField::Vsa23 => return None,
        }
        Some(changed.validate().map(|()| *self = changed))
    }
}

/// The integer that a real number holds exactly.
pub(super) fn integer(value: f64) -> Option<u64> {
    (value >= 0.0 && value <= MOST_SUBSTEPS as f64 && value.fract() == 0.0).then_some(value as u64)
}

fn refused(key: &str, value: f64, expected: &str) -> Error {
    Error::Argument {
        name: format!("solver.{key}"),
        value: format!("{value:?}"),
        expected: expected.to_owned(),
    }
}

choice! {
    /// `initial`: where an instance starts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum InitialPosition {
        /// The positions and velocities of the model.
        #[default]
        Given = "given",
        /// The static equilibrium next to these positions, at rest.
        Equilibrium = "equilibrium",
    }
}

impl InitialPosition {
    /// The choice of a parameter: 1 is the equilibrium, 0 the initial conditions.
    pub fn from_number(number: f64) -> Self {
        if number >= 0.5 {
            Self::Equilibrium
        } else {
            Self::Given
        }
    }
}

/// `[experiment]`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experiment {
    /// s
    pub start: f64,
    /// s
    pub stop: f64,
    /// Output interval (s); `None`: every accepted step.
    pub interval: Option<f64>,
    /// Where an instance starts.
    pub initial: InitialPosition,
}

impl Default for Experiment {
    /// Ten seconds from zero, with output at every accepted step.
    fn default() -> Self {
        Self {
            start: 0.0,
            stop: 10.0,
            interval: None,
            initial: InitialPosition::Given,
        }
    }
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
        for key in numeric_settings() {
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
