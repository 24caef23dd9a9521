//! Expressions in strings: `"2*l + 0.1"`, `"pi/6"`, `"30 deg"`, `"1500 rpm"`.
//!
//! ```text
//!   sum       product (("+" | "-") product)*
//!   product   power (("*" | "/") power)*
//!   power     ("+" | "-") power  |  operand ("^" power)?
//!   operand   number units?  |  name  |  function "(" sum ("," sum)* ")"  |  "(" sum ")" units?
//!   units     unit ("^" integer)? (("*" | "/" | ".") unit ("^" integer)?)*
//! ```
//!
//! A unit belongs to the number before it: `10 N/2 mm` is 5 N/mm. Dimensions are checked at every operation. Written by hand: the
//! parsers of public crates know neither units nor the column of an error in an evaluation.

mod evaluate;
mod parse;
mod time_jet;
mod unit;

pub(super) use evaluate::{DimensionedValue, ExpressionNumber};
pub(super) use time_jet::TimeJet;
#[cfg(test)]
use unit::unit_names;
pub(super) use unit::{PhysicalDimension, dimension_of, unit_by_name};

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;
/// Longest expression (bytes).
const LONGEST: usize = 10_000;

/// What is wrong with an expression, and at which byte of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExpressionError {
    pub at: usize,
    pub message: String,
}

impl ExpressionError {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            message: message.into(),
        }
    }
}

/// Functions of one or two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MathFunction {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sqrt,
    Exp,
    Log,
    Log10,
    Hypot,
    Abs,
    Min,
    Max,
    Sign,
    Floor,
    Ceil,
    Round,
}

/// Functions by name, with the number of their arguments.
const FUNCTIONS: [(&str, MathFunction, usize); 20] = [
    ("sin", MathFunction::Sin, 1),
    ("cos", MathFunction::Cos, 1),
    ("tan", MathFunction::Tan, 1),
    ("asin", MathFunction::Asin, 1),
    ("acos", MathFunction::Acos, 1),
    ("atan", MathFunction::Atan, 1),
    ("atan2", MathFunction::Atan2, 2),
    ("sqrt", MathFunction::Sqrt, 1),
    ("exp", MathFunction::Exp, 1),
    ("log", MathFunction::Log, 1),
    ("ln", MathFunction::Log, 1),
    ("log10", MathFunction::Log10, 1),
    ("hypot", MathFunction::Hypot, 2),
    ("abs", MathFunction::Abs, 1),
    ("min", MathFunction::Min, 2),
    ("max", MathFunction::Max, 2),
    ("sign", MathFunction::Sign, 1),
    ("floor", MathFunction::Floor, 1),
    ("ceil", MathFunction::Ceil, 1),
    ("round", MathFunction::Round, 1),
];

impl MathFunction {
    /// Whether it has kinks or jumps.
    fn has_kinks(self) -> bool {
        use MathFunction::*;
        matches!(self, Abs | Min | Max | Sign | Floor | Ceil | Round)
    }

    fn name(self) -> &'static str {
        let found = FUNCTIONS.iter().find(|(_, function, _)| *function == self);
        found.map_or("", |(name, _, _)| name)
    }
}

/// Constants by name.
const CONSTANTS: [(&str, f64); 2] = [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)];

/// Whether a name belongs to a constant or a function: no definition may have it.
pub(super) fn is_reserved(name: &str) -> bool {
    CONSTANTS.iter().any(|(other, _)| *other == name)
        || FUNCTIONS.iter().any(|(other, _, _)| *other == name)
}

#[derive(Clone, Debug, PartialEq)]
enum TermKind {
    /// A number with the factor of its unit applied.
    Number(f64, PhysicalDimension),
    /// A definition, a constant or the time.
    Name(String),
    Negate(Box<Term>),
    Add(Box<Term>, Box<Term>),
    Subtract(Box<Term>, Box<Term>),
    Multiply(Box<Term>, Box<Term>),
    Divide(Box<Term>, Box<Term>),
    Power(Box<Term>, Box<Term>),
    /// A parenthesis with a unit behind it.
    InUnit(Box<Term>, f64, PhysicalDimension),
    Call(MathFunction, Vec<Term>),
}

/// A part of an expression and the byte at which it, or its operator, stands.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    at: usize,
    kind: TermKind,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    root: Term,
}

impl Expression {
    /// Parses a text. `is_defined` tells names of definitions: such a name may not stand where a unit is meant.
    pub fn parse(text: &str, is_defined: &dyn Fn(&str) -> bool) -> Result<Self, ExpressionError> {
        parse::parse(text, is_defined).map(|root| Self { root })
    }

    /// The names it refers to, each with its byte, constants left out.
    pub fn names(&self) -> Vec<(&str, usize)> {
        let mut found = vec![];
        self.root.collect(&mut |term| {
            if let TermKind::Name(name) = &term.kind
                && !is_reserved(name)
            {
                found.push((name.as_str(), term.at));
            }
        });
        found
    }

    /// The first function with kinks or jumps that it uses.
    pub fn first_kink(&self) -> Option<(&'static str, usize)> {
        let mut found = None;
        self.root.collect(&mut |term| {
            if let TermKind::Call(function, _) = term.kind
                && function.has_kinks()
                && found.is_none()
            {
                found = Some((function.name(), term.at));
            }
        });
        found
    }

    /// The same with names replaced by their values, where there is one.
    pub fn with_constants(
        mut self,
        look_up: &dyn Fn(&str) -> Option<DimensionedValue<f64>>,
    ) -> Self {
        self.root.replace(look_up);
        self
    }

    /// Its value, with definitions from `look_up`.
    pub fn evaluate<T: ExpressionNumber>(
        &self,
        look_up: &dyn Fn(&str) -> Option<DimensionedValue<T>>,
    ) -> Result<DimensionedValue<T>, ExpressionError> {
        self.root.evaluate(look_up)
    }
}

impl Term {
    fn replace(&mut self, look_up: &dyn Fn(&str) -> Option<DimensionedValue<f64>>) {
        match &mut self.kind {
            TermKind::Number(..) => {}
            TermKind::Name(name) => {
                if let Some(found) = look_up(name) {
                    self.kind = TermKind::Number(found.value, found.dimension);
                }
            }
            TermKind::Negate(a) | TermKind::InUnit(a, ..) => a.replace(look_up),
            TermKind::Add(a, b)
            | TermKind::Subtract(a, b)
            | TermKind::Multiply(a, b)
            | TermKind::Divide(a, b)
            | TermKind::Power(a, b) => {
                a.replace(look_up);
                b.replace(look_up);
            }
            TermKind::Call(_, arguments) => arguments.iter_mut().for_each(|a| a.replace(look_up)),
        }
    }

    fn collect<'a>(&'a self, note: &mut dyn FnMut(&'a Term)) {
        note(self);
        match &self.kind {
            TermKind::Number(..) | TermKind::Name(_) => {}
            TermKind::Negate(a) | TermKind::InUnit(a, ..) => a.collect(note),
            TermKind::Add(a, b)
            | TermKind::Subtract(a, b)
            | TermKind::Multiply(a, b)
            | TermKind::Divide(a, b)
            | TermKind::Power(a, b) => {
                a.collect(note);
                b.collect(note);
            }
            TermKind::Call(_, arguments) => arguments.iter().for_each(|a| a.collect(note)),
        }
    }
}

#[cfg(test)]
mod tests;
