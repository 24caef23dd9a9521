//! Values of terms, with their dimensions.

use std::f64::consts::LN_10;

use super::{CONSTANTS, ExpressionError, MathFunction, PhysicalDimension, Term, TermKind};
use crate::linalg::elementary::{
    acos, asin, atan, atan2, exp, hypot, ln, log10, powf, sin_cos, tan,
};
use crate::model::suggest::shorten;

/// A number in which an expression can be evaluated: a real number, or one with derivatives.
pub(in crate::model) trait ExpressionNumber: Copy {
    /// A constant.
    fn constant(x: f64) -> Self;
    /// Its value.
    fn value(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// A function of it, by the function's value and two derivatives there.
    fn chain(self, jet: [f64; 3]) -> Self;
    /// A quotient.
    fn over(self, other: Self) -> Self {
        let x = other.value();
        self.times(other.chain([1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x)]))
    }
    /// A power of a number by one that may vary too.
    fn to_the(self, exponent: Self) -> Self {
        let (x, y) = (self.value(), exponent.value());
        // x^y = x^y₀ · exp((y − y₀) ln x): the second factor is one.
        let power = self.chain([
            powf(x, y),
            if y == 0.0 { 0.0 } else { y * powf(x, y - 1.0) },
            if y == 0.0 || y == 1.0 {
                0.0
            } else {
                y * (y - 1.0) * powf(x, y - 2.0)
            },
        ]);
        let change = exponent.plus(Self::constant(-y));
        if x <= 0.0 {
            return power;
        }
        let log = self.chain([ln(x), 1.0 / x, -1.0 / (x * x)]);
        power.times(change.times(log).chain([1.0, 1.0, 1.0]))
    }
}

impl ExpressionNumber for f64 {
    fn constant(x: f64) -> Self {
        x
    }
    fn value(self) -> f64 {
        self
    }
    fn plus(self, other: Self) -> Self {
        self + other
    }
    fn times(self, other: Self) -> Self {
        self * other
    }
    fn chain(self, jet: [f64; 3]) -> Self {
        jet[0]
    }
    fn over(self, other: Self) -> Self {
        self / other
    }
    fn to_the(self, exponent: Self) -> Self {
        powf(self, exponent)
    }
}

/// A value in base units and its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model) struct DimensionedValue<T> {
    pub value: T,
    pub dimension: PhysicalDimension,
}

impl<T> DimensionedValue<T> {
    pub fn new(value: T, dimension: PhysicalDimension) -> Self {
        Self { value, dimension }
    }
}

type Evaluation<T> = Result<DimensionedValue<T>, ExpressionError>;
type LookUp<'a, T> = &'a dyn Fn(&str) -> Option<DimensionedValue<T>>;

impl Term {
    pub(super) fn evaluate<T: ExpressionNumber>(&self, look_up: LookUp<T>) -> Evaluation<T> {
        let of = |term: &Term| term.evaluate(look_up);
        let minus = T::constant(-1.0);
        let found = match &self.kind {
            TermKind::Number(value, dimension) => {
                DimensionedValue::new(T::constant(*value), *dimension)
            }
            TermKind::Name(name) => self.named(name, look_up)?,
            TermKind::Negate(a) => {
                let a = of(a)?;
                DimensionedValue::new(a.value.times(minus), a.dimension)
            }
            TermKind::Add(a, b) => {
                let (a, b) = self.alike("+", of(a)?, of(b)?)?;
                DimensionedValue::new(a.value.plus(b.value), a.dimension)
            }
            TermKind::Subtract(a, b) => {
                let (a, b) = self.alike("-", of(a)?, of(b)?)?;
                DimensionedValue::new(a.value.plus(b.value.times(minus)), a.dimension)
            }
            TermKind::Multiply(a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                let dimension = a.dimension.times(b.dimension);
                DimensionedValue::new(a.value.times(b.value), dimension)
            }
            TermKind::Divide(a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                if b.value.value() == 0.0 {
                    return Err(self.error("this divides by zero"));
                }
                DimensionedValue::new(a.value.over(b.value), a.dimension.over(b.dimension))
            }
            TermKind::InUnit(a, factor, dimension) => {
                let a = of(a)?;
                if a.dimension != PhysicalDimension::NONE {
                    let message = format!(
                        "the parenthesis already has a unit: it is {}",
                        a.dimension.words()
                    );
                    return Err(self.error(message));
                }
                DimensionedValue::new(a.value.times(T::constant(*factor)), *dimension)
            }
            TermKind::Power(a, b) => self.power(of(a)?, of(b)?)?,
            TermKind::Call(function, arguments) => {
                let first = of(&arguments[0])?;
                let second = arguments.get(1).map_or(Ok(first), of)?;
                self.call(*function, [first, second])?
            }
        };
        match found.value.value().is_finite() {
            true => Ok(found),
            false => Err(self.error("the value here is not finite")),
        }
    }

    fn error(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError::new(self.at, message)
    }

    fn named<T: ExpressionNumber>(&self, name: &str, look_up: LookUp<T>) -> Evaluation<T> {
        if let Some((_, value)) = CONSTANTS.iter().find(|(other, _)| *other == name) {
            let value = T::constant(*value);
            return Ok(DimensionedValue::new(value, PhysicalDimension::NONE));
        }
        look_up(name).ok_or_else(|| {
            let hint = match super::unit_by_name(name) {
                Some(_) => format!("; the unit stands behind a number: \"1 {name}\""),
                None => String::new(),
            };
            self.error(format!(
                "there is no definition \"{}\"{hint}",
                shorten(name)
            ))
        })
    }

    /// Two values that can be added or compared.
    fn alike<T>(
        &self,
        what: &str,
        a: DimensionedValue<T>,
        b: DimensionedValue<T>,
    ) -> Result<(DimensionedValue<T>, DimensionedValue<T>), ExpressionError> {
        if a.dimension == b.dimension {
            return Ok((a, b));
        }
        let message = format!(
            "\"{what}\" joins two kinds: one side is {}, the other {}",
            a.dimension.words(),
            b.dimension.words()
        );
        Err(self.error(message))
    }

    fn power<T: ExpressionNumber>(
        &self,
        base: DimensionedValue<T>,
        exponent: DimensionedValue<T>,
    ) -> Evaluation<T> {
        if exponent.dimension != PhysicalDimension::NONE {
            return Err(self.error("an exponent has no unit"));
        }
        let dimension = (base.dimension.to_the(exponent.value.value())).ok_or_else(|| {
            self.error(format!(
                "this power of a value that is {} has no dimension",
                base.dimension.words()
            ))
        })?;
        Ok(DimensionedValue::new(
            base.value.to_the(exponent.value),
            dimension,
        ))
    }

    /// An argument without unit; `angle`: or an angle.
    fn plain<T: ExpressionNumber>(
        &self,
        function: MathFunction,
        argument: DimensionedValue<T>,
        angle: bool,
    ) -> Result<T, ExpressionError> {
        let dimension = argument.dimension;
        if dimension == PhysicalDimension::NONE || (angle && dimension == PhysicalDimension::ANGLE)
        {
            return Ok(argument.value);
        }
        let wanted = if angle {
            "an angle"
        } else {
            "a number without unit"
        };
        let message = format!(
            "{} takes {wanted}, found one that is {}",
            function.name(),
            dimension.words()
        );
        Err(self.error(message))
    }

    // Long because it is the list of all functions with their derivatives.
    fn call<T: ExpressionNumber>(
        &self,
        function: MathFunction,
        arguments: [DimensionedValue<T>; 2],
    ) -> Evaluation<T> {
        use MathFunction::*;
        let none = PhysicalDimension::NONE;
        let first = arguments[0];
        let x = first.value.value();
        let new = DimensionedValue::new;
        Ok(match function {
            Sin | Cos | Tan => {
                let angle = self.plain(function, first, true)?;
                let ((s, c), t) = (sin_cos(x), tan(x));
                let jet = match function {
                    Sin => [s, c, -s],
                    Cos => [c, -s, -c],
                    _ => [t, 1.0 + t * t, 2.0 * t * (1.0 + t * t)],
                };
                new(angle.chain(jet), none)
            }
            Asin | Acos => {
                let plain = self.plain(function, first, false)?;
                if x.abs() > 1.0 {
                    return Err(self.error(format!("{} of {x} does not exist", function.name())));
                }
                let root = (1.0 - x * x).sqrt();
                let (slope, curvature) = (1.0 / root, x / (root * root * root));
                let jet = match function {
                    Asin => [asin(x), slope, curvature],
                    _ => [acos(x), -slope, -curvature],
                };
                new(plain.chain(jet), PhysicalDimension::ANGLE)
            }
            Atan => {
                let plain = self.plain(function, first, false)?;
                let r = 1.0 / (1.0 + x * x);
                new(
                    plain.chain([atan(x), r, -2.0 * x * r * r]),
                    PhysicalDimension::ANGLE,
                )
            }
            Atan2 => {
                // About the angle here: u = tan(θ − θ₀) is zero, its derivatives are those of θ.
                let (y, x) = self.alike("atan2", first, arguments[1])?;
                let (y0, x0) = (y.value.value(), x.value.value());
                let scaled = |a: T, by: f64| a.times(T::constant(by));
                let across = scaled(y.value, x0).plus(scaled(x.value, -y0));
                let along = scaled(x.value, x0).plus(scaled(y.value, y0));
                let angle = atan2(y0, x0);
                let value = match along.value() == 0.0 {
                    true => T::constant(angle),
                    false => across.over(along).chain([angle, 1.0, 0.0]),
                };
                new(value, PhysicalDimension::ANGLE)
            }
            Sqrt => {
                if x < 0.0 {
                    return Err(self.error(format!("sqrt of {x} does not exist")));
                }
                let root = x.sqrt();
                let dimension = (first.dimension.to_the(0.5))
                    .ok_or_else(|| self.error("this root has no dimension"))?;
                let jet = [root, 0.5 / root, -0.25 / (x * root)];
                new(first.value.chain(jet), dimension)
            }
            Exp => {
                let plain = self.plain(function, first, false)?;
                new(plain.chain([exp(x); 3]), none)
            }
            Log | Log10 => {
                let plain = self.plain(function, first, false)?;
                if x <= 0.0 {
                    return Err(self.error(format!("{} of {x} does not exist", function.name())));
                }
                let (value, base) = match function {
                    Log => (ln(x), 1.0),
                    _ => (log10(x), LN_10),
                };
                new(
                    plain.chain([value, 1.0 / (x * base), -1.0 / (x * x * base)]),
                    none,
                )
            }
            Hypot => {
                let (a, b) = self.alike("hypot", first, arguments[1])?;
                let square = (a.value.times(a.value)).plus(b.value.times(b.value));
                let (r, s) = (hypot(a.value.value(), b.value.value()), square.value());
                new(square.chain([r, 0.5 / r, -0.25 / (s * r)]), a.dimension)
            }
            Abs => new(
                first
                    .value
                    .times(T::constant(if x < 0.0 { -1.0 } else { 1.0 })),
                first.dimension,
            ),
            Min | Max => {
                let (a, b) = self.alike(function.name(), first, arguments[1])?;
                let takes_first = (a.value.value() <= b.value.value()) == (function == Min);
                if takes_first { a } else { b }
            }
            Sign => {
                let sign = if x == 0.0 { 0.0 } else { x.signum() };
                new(T::constant(sign), none)
            }
            Floor | Ceil | Round => {
                self.plain(function, first, false)?;
                let whole = match function {
                    Floor => x.floor(),
                    Ceil => x.ceil(),
                    _ => x.round(),
                };
                new(T::constant(whole), none)
            }
        })
    }
}
