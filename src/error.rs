//! The one error type: each variant carries what a user needs to act, each sentence is written once.

use std::fmt;

/// Why something could not be done. The `Display` text is the sentence a user reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The model text is wrong at a place.
    Model {
        /// File name, or what the text was called.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1, counted in characters.
        column: usize,
        /// What is wrong and what was expected.
        message: String,
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
        /// What would be accepted.
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
        /// How many variables there are.
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
        /// What it was meant for.
        name: String,
        /// The value as text.
        value: String,
    },
    /// A call that is not legal in this phase of the instance's life.
    CallOrder {
        /// The call.
        call: &'static str,
        /// What must be done first, or why it is too late.
        reason: &'static str,
    },
    /// The start cannot be made consistent: the loops do not close.
    Assembly {
        /// Largest closure error left, relative to its scale.
        closure: f64,
        /// The constraints (joints) that disagree, by name.
        culprits: Vec<String>,
    },
    /// The mass matrix is singular in a direction that no constraint fixes.
    SingularMass {
        /// Coordinate or body.
        culprit: String,
    },
    /// The equations gave NaN or infinity.
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
        /// Size of the last increment relative to the accepted one.
        residual: f64,
        /// Worst body or joint.
        culprit: String,
    },
    /// The step has been shortened below the smallest sensible one.
    StepTooSmall {
        /// s
        time: f64,
        /// s
        step: f64,
        /// Why the last attempts were refused.
        reason: &'static str,
        /// Worst body or joint.
        culprit: String,
    },
    /// Coordinates do not follow from the independent ones any more.
    Coordinates {
        /// s
        time: f64,
        /// s
        step: f64,
        /// One that does not.
        culprit: String,
        /// The independent ones.
        independent: Vec<String>,
    },
    /// Events follow each other without time going on.
    Chattering {
        /// s
        time: f64,
        /// The event.
        culprit: String,
    },
    /// More substeps than `max_substeps` in one call.
    TooManySubsteps {
        /// s, where the state was left.
        time: f64,
        /// The limit.
        limit: u64,
    },
    /// The host asked to stop.
    Cancelled {
        /// s, where the state was left.
        time: f64,
    },
    /// A user's callback asked to stop.
    Callback {
        /// s
        time: f64,
        /// What it returned.
        code: i32,
    },
    /// A saved state that does not belong to this model or is damaged.
    ForeignState {
        /// What does not fit.
        reason: String,
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
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model {
                origin,
                line,
                column,
                message,
            } => write!(f, "{origin}:{line}:{column}: {message}"),
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
                write!(f, "{name} = {value}: a finite number is needed")
            }
            Self::CallOrder { call, reason } => write!(f, "{call} is not possible now: {reason}"),
            Self::Assembly { closure, culprits } => write!(
                f,
                "the mechanism cannot be assembled: {} stay open by {closure:.1e} of the mechanism's size",
                quoted(culprits)
            ),
            Self::SingularMass { culprit } => {
                write!(f, "\"{culprit}\" has no mass and no constraint fixes it")
            }
            Self::Evaluation { time, culprit } => {
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
                "no convergence at t = {time} s with h = {step} s after {iterations} iterations; \
                 last increment {residual:.1e} times the accepted one, worst in \"{culprit}\""
            ),
            Self::StepTooSmall {
                time,
                step,
                reason,
                culprit,
            } => write!(
                f,
                "the step has shrunk to h = {step:.3e} s at t = {time} s because {reason}; worst in \"{culprit}\""
            ),
            Self::Coordinates {
                time,
                step,
                culprit,
                independent,
            } => write!(
                f,
                "\"{culprit}\" does not follow from the independent coordinates {} any more after t = {time} s (h = {step:.3e} s): \
                 the position is singular for them, or the loops do not close there",
                quoted(independent)
            ),
            Self::Chattering { time, culprit } => {
                write!(
                    f,
                    "the event \"{culprit}\" fires again and again at t = {time} s without time going on"
                )
            }
            Self::TooManySubsteps { time, limit } => write!(
                f,
                "more than max_substeps = {limit} substeps in one call; the state is the one at t = {time} s"
            ),
            Self::Cancelled { time } => {
                write!(f, "cancelled; the state is the one at t = {time} s")
            }
            Self::Callback { time, code } => write!(
                f,
                "the system's own code asked to stop with {code} at t = {time} s"
            ),
            Self::ForeignState { reason } => write!(f, "this saved state cannot be used: {reason}"),
            Self::Internal { message } => write!(f, "internal fault, please report it: {message}"),
        }
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
    names.join(", ")
}
