//! `[[signal]]`: the law of an input over time, in force until the input is set from outside.

use super::curve::is_periodic;
use super::expression::{DimensionedValue, Expression, PhysicalDimension, TimeJet};
use super::validate::{Range, refused};
use super::{Interpolation, Model, MotionLaw, Target, TextPosition};
use crate::error::Result;

/// `[[signal]]`
#[derive(Clone, Debug, PartialEq)]
pub struct InputSignal {
    /// Index of the input.
    pub input: usize,
    /// Its law.
    pub law: SignalLaw,
    /// Position in the text.
    pub text_position: TextPosition,
}

/// `law` of `[[signal]]`; u is the input, t the absolute time. Values are in the unit of the input.
#[derive(Clone, Debug, PartialEq)]
pub enum SignalLaw {
    /// u = value
    Constant(f64),
    /// A jump.
    Step {
        /// s
        time: f64,
        /// u before it.
        before: f64,
        /// u from then on.
        after: f64,
    },
    /// A straight line between two constants.
    Ramp {
        /// Where it begins and ends (s).
        times: [f64; 2],
        /// u there.
        values: [f64; 2],
    },
    /// u = offset + amplitude sin(2π frequency t + phase)
    Sine {
        /// Of u.
        amplitude: f64,
        /// Hz
        frequency: f64,
        /// rad
        phase: f64,
        /// Of u.
        offset: f64,
    },
    /// A sine whose frequency rises linearly between two times; constant before, of the last frequency behind.
    Chirp {
        /// Of u.
        amplitude: f64,
        /// At both times (Hz).
        frequencies: [f64; 2],
        /// s
        times: [f64; 2],
        /// Of u.
        offset: f64,
    },
    /// `high` for `width` of every `period`, from `start`; `low` otherwise. It is periodic in both directions.
    Pulse {
        /// s
        period: f64,
        /// s
        width: f64,
        /// s
        start: f64,
        /// Of u.
        low: f64,
        /// Of u.
        high: f64,
    },
    /// Points (t, u), constant beyond both ends. Two points of the same time are a jump.
    Table {
        /// (t, u), t not decreasing.
        points: Vec<[f64; 2]>,
        /// How it goes between them.
        interpolation: Interpolation,
        /// First and last u are equal.
        periodic: bool,
    },
    /// An expression of the time `t`, in s.
    Expression(TimeExpression),
}

/// An expression of time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeExpression {
    /// As written.
    pub text: String,
    expression: Expression,
}

impl TimeExpression {
    /// Parses an expression; `definition` gives the values of names other than `t`. The error has the byte.
    pub(super) fn new(
        text: &str,
        definition: &dyn Fn(&str) -> Option<DimensionedValue<f64>>,
    ) -> std::result::Result<Self, super::expression::ExpressionError> {
        let is_defined = |name: &str| name == "t" || definition(name).is_some();
        let expression = Expression::parse(text, &is_defined)?.with_constants(definition);
        if let Some((name, at)) = expression.first_kink() {
            let message =
                format!("{name} has kinks: use a table, a step or a pulse, whose kinks are events");
            return Err(super::expression::ExpressionError { at, message });
        }
        // Names and dimensions are checked where the run begins; a pole there is the user's to see.
        let found = Self {
            text: text.to_owned(),
            expression,
        };
        found
            .evaluate(0.25)
            .or_else(|error| match error.message.contains("definition") {
                true => Err(error),
                false => Ok(TimeJet([0.0; 3])),
            })?;
        Ok(found)
    }

    fn evaluate(&self, t: f64) -> std::result::Result<TimeJet, super::expression::ExpressionError> {
        let time = |name: &str| {
            let jet = TimeJet([t, 1.0, 0.0]);
            (name == "t").then_some(DimensionedValue::new(jet, PhysicalDimension::NONE))
        };
        self.expression.evaluate(&time).map(|found| found.value)
    }

    /// u, u̇, ü at a time; NaN where it has no value.
    pub fn at(&self, t: f64) -> [f64; 3] {
        self.evaluate(t).map_or([f64::NAN; 3], |jet| jet.0)
    }
}

impl SignalLaw {
    /// Whether its integrals are known in closed form, which a speed or an acceleration of a motion needs.
    pub fn can_be_integrated(&self) -> bool {
        match self {
            Self::Table { interpolation, .. } => *interpolation != Interpolation::Spline,
            Self::Chirp { .. } | Self::Expression(_) => false,
            _ => true,
        }
    }

    /// Checks the numbers.
    pub(super) fn validate(&self, name: &str) -> Result<()> {
        let finite = |values: &[f64]| {
            (values.iter()).try_for_each(|value| Range::Finite.check(|| name.to_owned(), *value))
        };
        let rising = |[a, b]: [f64; 2], what: &str| match a < b {
            true => Ok(()),
            false => Err(refused(name, &format!("{a} .. {b}"), what)),
        };
        match self {
            Self::Constant(value) => finite(&[*value]),
            Self::Step {
                time,
                before,
                after,
            } => finite(&[*time, *before, *after]),
            Self::Ramp { times, values } => {
                finite(times)?;
                finite(values)?;
                rising(*times, "an end later than the begin")
            }
            Self::Sine {
                amplitude,
                frequency,
                phase,
                offset,
            } => finite(&[*amplitude, *frequency, *phase, *offset]),
            Self::Chirp {
                amplitude,
                frequencies,
                times,
                offset,
            } => {
                finite(&[*amplitude, frequencies[0], frequencies[1], *offset])?;
                finite(times)?;
                rising(*times, "an end later than the begin")
            }
            Self::Pulse {
                period,
                width,
                start,
                low,
                high,
            } => {
                finite(&[*period, *width, *start, *low, *high])?;
                rising([0.0, *width], "a positive width")?;
                rising([*width, *period], "a period longer than the width")
            }
            Self::Table {
                points,
                periodic,
                interpolation,
            } => {
                points.iter().try_for_each(|point| finite(point))?;
                if points.len() < 2 || points.windows(2).any(|two| two[0][0] > two[1][0]) {
                    return Err(refused(
                        name,
                        &"a table",
                        "two or more points, t not decreasing",
                    ));
                }
                if points[0][0] == points[points.len() - 1][0] {
                    return Err(refused(name, &"a table", "points at different times"));
                }
                let jumps = points.windows(2).any(|two| two[0][0] == two[1][0]);
                if jumps && *interpolation == Interpolation::Spline {
                    let expected =
                        "no two points at one time: a jump needs \"linear\" or \"monotone\"";
                    return Err(refused(name, &"a spline", expected));
                }
                if *periodic && (jumps || !is_periodic(points)) {
                    let expected = "first and last value equal, and no jumps";
                    return Err(refused(name, &"a periodic table", expected));
                }
                Ok(())
            }
            Self::Expression(_) => Ok(()),
        }
    }
}

impl Model {
    /// Sets the law of an input; it replaces one that the input has.
    pub fn set_signal(&mut self, input: usize, law: SignalLaw) -> Result<()> {
        let Some(driven) = self.inputs.get(input) else {
            return Err(refused("input", &input, "the index of an input"));
        };
        law.validate(&driven.name)?;
        if let Target::Motion(k) = driven.target
            && let MotionLaw::Input { order: 1.., .. } = self.motions[k].law
            && !law.can_be_integrated()
        {
            let expected = "a law whose integral is known (constant, step, ramp, sine, pulse, linear or monotone table): \
                            the input is a speed or an acceleration; or a motion with of = \"position\"";
            return Err(refused(&driven.name, &"this law", expected));
        }
        self.signals.retain(|signal| signal.input != input);
        self.signals.push(InputSignal {
            input,
            law,
            text_position: TextPosition::default(),
        });
        Ok(())
    }

    /// Checks the laws of inputs.
    pub(super) fn validate_signal_laws(&self) -> Result<()> {
        for (i, signal) in self.signals.iter().enumerate() {
            let twice = self.signals[..i]
                .iter()
                .any(|other| other.input == signal.input);
            let mut copy = Self {
                inputs: self.inputs.clone(),
                motions: self.motions.clone(),
                ..Self::default()
            };
            copy.set_signal(signal.input, signal.law.clone())?;
            if twice {
                let name = &self.inputs[signal.input].name;
                return Err(refused(name, &"two laws", "one [[signal]] for each input"));
            }
        }
        Ok(())
    }
}
