//! What a name of the model is set to.

use std::fmt;

use crate::error::Result;
use crate::model::Model;

/// A number, or a word: of a setting such as `solver.formulation`, or an expression such as `30 deg`.
#[derive(Clone, Debug, PartialEq)]
pub enum SetValue {
    /// A number, in the unit of the variable.
    Number(f64),
    /// A word or an expression.
    Word(String),
}

impl SetValue {
    /// Reads a finite number or a word of letters, digits, `_` and `-`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let word = text.starts_with(|c: char| c.is_ascii_alphabetic())
            && (text.chars()).all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Some(Self::Number(number)),
            Err(_) if word => Some(Self::Word(text.to_owned())),
            _ => None,
        }
    }

    /// The same, or an expression that begins with a digit, a sign, a point or `(`, such as `30 deg`.
    pub fn parse_expression(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_expression = text.starts_with(|c: char| c.is_ascii_digit() || ".-+(".contains(c))
            && !text.contains('=')
            && text.parse::<f64>().is_err();
        Self::parse(text).or_else(|| is_expression.then(|| Self::Word(text.to_owned())))
    }

    /// Sets `name` of the model: a parameter, an input, a number by its dotted name or a setting of the solver.
    pub fn assign(&self, model: &mut Model, name: &str) -> Result<()> {
        match self {
            Self::Number(number) => model.set(name, *number),
            Self::Word(word) => model.set_word(name, word),
        }
    }
}

impl fmt::Display for SetValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}
