//! The one error type: each variant carries what a user needs to act, each sentence is written once.

use std::fmt;

/// Reason of a failure. The `Display` text is the sentence a user reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The model text is wrong at a position.
    Model {
        /// File name, or the name given to the text.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1, counted in characters.
        column: usize,
        /// The defect and what was expected.
        message: String,
    },
    /// The model text has several mistakes.
    Mistakes {
        /// Each mistake, in the order of the text.
        mistakes: Vec<Error>,
        /// Number of further mistakes that are not listed.
        more: usize,
    },
    /// A file could not be read.
    File {
        /// The path as given.
        path: String,
        /// The system's reason.
        reason: String,
    },
    /// A setting or argument is outside its range.
    Argument {
        /// Its name.
        name: String,
        /// The value given, as text.
        value: String,
        /// Accepted values.
        expected: String,
    },
    /// No variable of this name.
    UnknownVariable {
        /// The name asked for.
        name: String,
        /// The nearest name that exists.
        nearest: Option<String>,
    },
    /// No variable with this value reference.
    UnknownReference {
        /// The reference asked for.
        reference: u32,
        /// Number of variables.
        count: usize,
    },
    /// The variable exists but may not be set, or not now.
    NotSettable {
        /// Its name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A value given from outside is NaN or infinite.
    NotFinite {
        /// The variable or argument.
        name: String,
        /// The value as text.
        value: String,
    },
    /// A call that is not allowed in this state of the instance.
    CallOrder {
        /// The call.
        call: &'static str,
        /// The call that must come first, or why it is too late.
        reason: &'static str,
    },
    /// The initial pose cannot be assembled: the constraints stay open.
    Assembly {
        /// Largest constraint residual, relative to its scale.
        closure: f64,
        /// Joints of the open constraints, by name.
        culprits: Vec<String>,
        /// Largest residual in its own unit: metres, or radians between directions; `None` if it is not known.
        gap: Option<f64>,
        /// Unit of the gap: "m", or "m or rad" where the joints fix directions too.
        unit: &'static str,
        /// Which length is short, if lengths alone tell.
        short: Option<String>,
    },
    /// The mass matrix is singular in a direction that no constraint determines.
    SingularMass {
        /// Coordinate or body.
        culprit: String,
    },
    /// The constraints are dependent at a position but not beside it: its degrees of freedom are not defined.
    SingularPosition {
        /// s
        time: f64,
        /// Joints or coordinates whose constraints become dependent, by name.
        culprits: Vec<String>,
    },
    /// No static equilibrium was found.
    NoEquilibrium {
        /// s
        time: f64,
        /// What was found instead.
        reason: String,
    },
    /// The equations evaluate to NaN or infinity.
    Evaluation {
        /// s
        time: f64,
        /// Body, joint or force.
        culprit: String,
    },
    /// Newton's iteration did not converge and the step may not be shortened.
    NewtonDiverged {
        /// s
        time: f64,
        /// s
        step: f64,
        /// Iterations spent.
        iterations: u32,
        /// Last increment over the tolerance of Newton's iteration.
        residual: f64,
        /// Body or joint with the largest increment or error.
        culprit: String,
    },
    /// The step size is below its minimum.
    StepTooSmall {
        /// s
        time: f64,
        /// s
        step: f64,
        /// Why the last trial steps failed.
        reason: &'static str,
        /// Body or joint with the largest increment or error.
        culprit: String,
    },
    /// The dependent coordinates are no longer determined by the independent ones.
    Coordinates {
        /// s
        time: f64,
        /// s
        step: f64,
        /// A dependent coordinate that is not determined.
        culprit: String,
        /// The independent coordinates.
        independent: Vec<String>,
    },
    /// An event occurs repeatedly without progress in time.
    Chattering {
        /// s
        time: f64,
        /// The event.
        culprit: String,
    },
    /// More substeps than `max_substeps` in one call.
    TooManySubsteps {
        /// Time of the state (s).
        time: f64,
        /// The limit.
        limit: u64,
        /// The fastest body, its speed and the input that drives it, as a clause.
        fastest: Option<String>,
    },
    /// A body has become absurdly fast, and the step needs very many substeps.
    RunAway {
        /// Time of the state (s).
        time: f64,
        /// Substeps of the call so far.
        substeps: u64,
        /// The fastest body.
        body: String,
        /// Its speed with unit.
        speed: String,
        /// The input that drives it, with its value.
        input: Option<String>,
    },
    /// The host cancelled the step.
    Cancelled {
        /// Time of the state (s).
        time: f64,
    },
    /// A user callback failed.
    Callback {
        /// s
        time: f64,
        /// The code it returned.
        code: i32,
    },
    /// A saved state of another model, or a damaged one.
    ForeignState {
        /// The difference or damage.
        reason: String,
    },
    /// There is not enough memory for what was asked.
    OutOfMemory {
        /// Memory that it may need (bytes).
        bytes: usize,
    },
    /// A fault of the library itself (a panic caught at the boundary).
    Internal {
        /// The panic's text.
        message: String,
    },
}

/// The result type of the library.
pub type Result<T> = std::result::Result<T, Error>;

impl std::error::Error for Error {}

impl fmt::Display for Error {
    // Long because it has one arm for each variant.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model {
                origin,
                line,
                column,
                message,
            } => write!(f, "{origin}:{line}:{column}: {message}"),
            Self::Mistakes { mistakes, more } => {
                for (i, mistake) in mistakes.iter().enumerate() {
                    write!(f, "{}{mistake}", if i == 0 { "" } else { "\n" })?;
                }
                match more {
                    0 => Ok(()),
                    1 => write!(f, "\nand one more mistake"),
                    more => write!(f, "\nand {more} more mistakes"),
                }
            }
            Self::File { path, reason } => write!(f, "cannot read \"{path}\": {reason}"),
            Self::Argument {
                name,
                value,
                expected,
            } => write!(f, "{name} = {value}: expected {expected}"),
            Self::UnknownVariable {
                name,
                nearest: None,
            } => write!(f, "there is no variable \"{name}\""),
            Self::UnknownVariable {
                name,
                nearest: Some(nearest),
            } => {
                write!(
                    f,
                    "there is no variable \"{name}\"; did you mean \"{nearest}\"?"
                )
            }
            Self::UnknownReference { reference, count } => {
                write!(
                    f,
                    "there is no value reference {reference}: the model has {count} variables, counted from 0"
                )
            }
            Self::NotSettable { name, reason } => write!(f, "\"{name}\" cannot be set: {reason}"),
            Self::NotFinite { name, value } => {
                write!(f, "{name} = {value}: a finite number is required")
            }
            Self::CallOrder { call, reason } => write!(f, "{call} is not possible now: {reason}"),
            Self::Assembly {
                closure,
                culprits,
                gap,
                unit,
                short,
            } => {
                let stay = if culprits.len() == 1 { "stays" } else { "stay" };
                let names = quoted(culprits);
                write!(f, "the mechanism cannot be assembled: {names} {stay} open")?;
                match (short, gap) {
                    (Some(sentence), _) => write!(f, "; {sentence}"),
                    (None, Some(gap)) => write!(f, " by {} {unit}", Digits(*gap, 3)),
                    (None, None) => write!(f, " by {closure:.1e} of the mechanism's size"),
                }
            }
            Self::SingularMass { culprit } => {
                write!(f, "\"{culprit}\" has no mass and no constraint fixes it")
            }
            Self::SingularPosition { time, culprits } => write!(
                f,
                "the position at t = {time} s is singular: {} become dependent there, so that the degrees of freedom are not defined",
                quoted(culprits)
            ),
            Self::NoEquilibrium { time, reason } => {
                write!(f, "no static equilibrium at t = {time} s: {reason}")
            }
            Self::Evaluation { time, culprit } => {
                let time = Digits(*time, 9);
                write!(
                    f,
                    "the equations of \"{culprit}\" are not finite at t = {time} s"
                )
            }
            Self::NewtonDiverged {
                time,
                step,
                iterations,
                residual,
                culprit,
            } => write!(
                f,
                "no convergence at t = {} s with h = {} s after {iterations} iterations; \
                 last increment {residual:.1e} times the accepted one, worst in \"{culprit}\"",
                Digits(*time, 9),
                Digits(*step, 4)
            ),
            Self::StepTooSmall {
                time,
                step,
                reason,
                culprit,
            } => write!(
                f,
                "the step has shrunk to h = {step:.3e} s at t = {} s because {reason}; worst in \"{culprit}\"",
                Digits(*time, 9)
            ),
            Self::Coordinates {
                time,
                step,
                culprit,
                independent,
            } => write!(
                f,
                "\"{culprit}\" is no longer determined by the independent coordinates {} after t = {} s (h = {step:.3e} s): \
                 the partition is singular, or the loops cannot be closed",
                quoted(independent),
                Digits(*time, 9)
            ),
            Self::Chattering { time, culprit } => {
                let time = Digits(*time, 9);
                write!(
                    f,
                    "the event \"{culprit}\" chatters at t = {time} s: it occurs repeatedly without progress in time"
                )
            }
            Self::TooManySubsteps {
                time,
                limit,
                fastest,
            } => {
                write!(
                    f,
                    "more than max_substeps = {limit} substeps in one call; the state is the one at t = {} s",
                    Digits(*time, 9)
                )?;
                if let Some(clause) = fastest {
                    write!(f, "; {clause}")?;
                }
                write!(
                    f,
                    "; take shorter communication steps, a larger tolerance, or raise max_substeps in [solver]"
                )
            }
            Self::RunAway {
                time,
                substeps,
                body,
                speed,
                input,
            } => {
                write!(
                    f,
                    "\"{body}\" runs away: {speed} at t = {} s, after {substeps} substeps in one call",
                    Digits(*time, 9)
                )?;
                match input {
                    Some(input) => write!(
                        f,
                        "; input {input} drives it: look at the sign, the gain and the sampling time of what sets it"
                    ),
                    None => write!(f, "; look for a force that grows with the speed"),
                }
            }
            Self::Cancelled { time } => {
                let time = Digits(*time, 9);
                write!(f, "cancelled; the state is the one at t = {time} s")
            }
            Self::Callback { time, code } => {
                let time = Digits(*time, 9);
                write!(f, "user callback returned {code} at t = {time} s")
            }
            Self::ForeignState { reason } => write!(f, "this saved state cannot be used: {reason}"),
            Self::OutOfMemory { bytes } => write!(
                f,
                "not enough memory: up to {:.1} MB may be needed",
                *bytes as f64 / 1e6
            ),
            Self::Internal { message } => write!(f, "internal fault, please report it: {message}"),
        }
    }
}

impl Error {
    /// One error for the mistakes of a text: the mistake itself if there is one, else all in the order of the text.
    pub(crate) fn of_mistakes(mut mistakes: Vec<Self>, more: usize) -> Self {
        mistakes.sort_by_key(|mistake| match mistake {
            Self::Model { line, column, .. } => (*line, *column),
            _ => (usize::MAX, 0),
        });
        match (mistakes.len(), more) {
            (1, 0) => mistakes.remove(0),
            _ => Self::Mistakes { mistakes, more },
        }
    }
}

/// A number with at most this many significant digits.
struct Digits(f64, usize);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, digits) = *self;
        let rounded: f64 = match format!("{value:.*e}", digits - 1).parse() {
            Ok(rounded) if value.is_finite() => rounded,
            _ => value,
        };
        match rounded.abs() {
            size if size == 0.0 || (1e-4..1e9).contains(&size) => write!(f, "{rounded}"),
            _ => write!(f, "{rounded:e}"),
        }
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
    names.join(", ")
}
