//! Text to terms.

use super::unit::{unit_by_name, unit_names};
use super::{DEEPEST, ExpressionError, FUNCTIONS, LONGEST, PhysicalDimension, Term, TermKind};
use crate::model::suggest::{nearest, shorten};

type Parsed<T> = Result<T, ExpressionError>;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    /// One of `+ - * / ^ ( ) , .`
    Sign(char),
    End,
}

/// A text as tokens, each with its byte.
fn tokens(text: &str) -> Parsed<Vec<(usize, Token)>> {
    let bytes = text.as_bytes();
    let mut found = vec![];
    let mut i = 0;
    while i < bytes.len() {
        let rest = &text[i..];
        let c = rest.chars().next().expect("i is before the end");
        let starts_number =
            c.is_ascii_digit() || (c == '.' && bytes.get(i + 1).is_some_and(u8::is_ascii_digit));
        if c.is_whitespace() {
            i += c.len_utf8();
        } else if starts_number {
            let length = number_length(rest);
            let value: f64 = (rest[..length].parse())
                .map_err(|_| ExpressionError::new(i, "this is no number"))?;
            found.push((i, Token::Number(value)));
            i += length;
        } else if c.is_alphabetic() || c == '_' || c == '°' {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '°';
            let length = rest.find(|c| !inside(c)).unwrap_or(rest.len());
            let (name, power) = split_superscript(&rest[..length]);
            found.push((i, Token::Name(format!("{name}{power}"))));
            i += length;
        } else {
            let sign = match c {
                '·' => '.',
                c if "+-*/^(),.".contains(c) => c,
                c => {
                    let message = format!("'{c}' has no meaning in an expression");
                    return Err(ExpressionError::new(i, message));
                }
            };
            if sign == '*' && rest.starts_with("**") {
                found.push((i, Token::Sign('^')));
                i += 2;
            } else {
                found.push((i, Token::Sign(sign)));
                i += c.len_utf8();
            }
        }
    }
    found.push((text.len(), Token::End));
    Ok(found)
}

/// A unit with a raised exponent: `m²` is `m2`.
fn split_superscript(name: &str) -> (&str, &'static str) {
    for (raised, plain) in [('²', "2"), ('³', "3")] {
        if let Some(stem) = name.strip_suffix(raised) {
            return (stem, plain);
        }
    }
    (name, "")
}

/// Bytes of the number at the start of a text. An `e` belongs to it only with digits behind.
fn number_length(text: &str) -> usize {
    let digits = |from: usize| {
        let rest = &text.as_bytes()[from..];
        rest.iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut n = digits(0);
    // A point without digits behind it is left: it may join units.
    if text[n..].starts_with('.') && digits(n + 1) > 0 {
        n += 1 + digits(n + 1);
    }
    if text[n..].starts_with(['e', 'E']) {
        let sign = usize::from(text[n + 1..].starts_with(['+', '-']));
        let exponent = digits(n + 1 + sign);
        if exponent > 0 {
            n += 1 + sign + exponent;
        }
    }
    n
}

/// Parses a text.
pub(super) fn parse(text: &str, is_defined: &dyn Fn(&str) -> bool) -> Parsed<Term> {
    if text.len() > LONGEST {
        let message = format!(
            "the expression has {} bytes; at most {LONGEST} are read",
            text.len()
        );
        return Err(ExpressionError::new(0, message));
    }
    let tokens = tokens(text)?;
    if tokens.len() == 1 {
        return Err(ExpressionError::new(0, "the expression is empty"));
    }
    let mut parser = Parser {
        tokens,
        next: 0,
        depth: 0,
        is_defined,
    };
    let root = parser.sum()?;
    match parser.peek() {
        Token::End => Ok(root),
        Token::Name(name) => {
            let message = format!("expected an operator before \"{}\"", shorten(name));
            Err(parser.error(message))
        }
        Token::Sign(')') => Err(parser.error("this parenthesis was never opened")),
        _ => Err(parser.error("expected an operator here")),
    }
}

struct Parser<'a> {
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
    is_defined: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].1
    }

    fn at(&self) -> usize {
        self.tokens[self.next].0
    }

    fn error(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError::new(self.at(), message)
    }

    /// Passes a sign if it is next.
    fn pass(&mut self, sign: char) -> bool {
        let is_next = *self.peek() == Token::Sign(sign);
        self.next += usize::from(is_next);
        is_next
    }

    fn sum(&mut self) -> Parsed<Term> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("the expression is nested deeper than {DEEPEST} levels");
            return Err(self.error(message));
        }
        let mut left = self.product()?;
        loop {
            let at = self.at();
            let make = match self.peek() {
                Token::Sign('+') => TermKind::Add,
                Token::Sign('-') => TermKind::Subtract,
                _ => break,
            };
            self.next += 1;
            let kind = make(Box::new(left), Box::new(self.product()?));
            left = Term { at, kind };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Parsed<Term> {
        let mut left = self.power()?;
        loop {
            let at = self.at();
            let divides = match self.peek() {
                Token::Sign('*') => false,
                Token::Sign('/') => true,
                _ => return Ok(left),
            };
            self.next += 1;
            let start = self.next;
            let right = self.power()?;
            if divides && is_bare(&left) && self.is_number_with_unit(start, &right) {
                let message =
                    "write parentheses: (1/2) m or 1/(2 m); \"1/2 m\" can be read both ways";
                return Err(ExpressionError::new(at, message));
            }
            let (left_box, right_box) = (Box::new(left), Box::new(right));
            let kind = match divides {
                true => TermKind::Divide(left_box, right_box),
                false => TermKind::Multiply(left_box, right_box),
            };
            left = Term { at, kind };
        }
    }

    /// Whether the operand that begins at a token is a number with a unit, without parentheses.
    fn is_number_with_unit(&self, start: usize, term: &Term) -> bool {
        matches!(self.tokens[start].1, Token::Number(_))
            && matches!(self.tokens[start + 1].1, Token::Name(_))
            && matches!(term.kind, TermKind::Number(..))
    }

    fn power(&mut self) -> Parsed<Term> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("the expression is nested deeper than {DEEPEST} levels");
            return Err(self.error(message));
        }
        let at = self.at();
        let term = if self.pass('-') {
            Term {
                at,
                kind: TermKind::Negate(Box::new(self.power()?)),
            }
        } else if self.pass('+') {
            self.power()?
        } else {
            let base = self.operand()?;
            let at = self.at();
            if self.pass('^') {
                let exponent = self.power()?;
                Term {
                    at,
                    kind: TermKind::Power(Box::new(base), Box::new(exponent)),
                }
            } else {
                base
            }
        };
        self.depth -= 1;
        Ok(term)
    }

    fn operand(&mut self) -> Parsed<Term> {
        let at = self.at();
        match self.peek().clone() {
            Token::Number(value) => {
                self.next += 1;
                let (factor, dimension) = self.units()?.unwrap_or((1.0, PhysicalDimension::NONE));
                let kind = TermKind::Number(value * factor, dimension);
                Ok(Term { at, kind })
            }
            Token::Name(name) => {
                self.next += 1;
                match self.peek() {
                    Token::Sign('(') => self.call(at, &name),
                    _ => Ok(Term {
                        at,
                        kind: TermKind::Name(name),
                    }),
                }
            }
            Token::Sign('(') => {
                self.next += 1;
                let inner = self.sum()?;
                if !self.pass(')') {
                    return Err(ExpressionError::new(at, "this parenthesis is never closed"));
                }
                Ok(match self.units()? {
                    None => inner,
                    Some((factor, dimension)) => Term {
                        at,
                        kind: TermKind::InUnit(Box::new(inner), factor, dimension),
                    },
                })
            }
            Token::End => Err(self.error("the expression ends where a number or name is expected")),
            Token::Sign(sign) => {
                let message = format!("expected a number or name, found \"{sign}\"");
                Err(self.error(message))
            }
        }
    }

    fn call(&mut self, at: usize, name: &str) -> Parsed<Term> {
        let Some((_, function, count)) = FUNCTIONS.iter().find(|(other, _, _)| *other == name)
        else {
            let known = FUNCTIONS.map(|(name, _, _)| name);
            let hint = match nearest(name, known) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the functions are {}", known.join(", ")),
            };
            let message = format!("there is no function \"{}\"; {hint}", shorten(name));
            return Err(ExpressionError::new(at, message));
        };
        let open = self.at();
        self.next += 1;
        let mut arguments = vec![];
        if !self.pass(')') {
            loop {
                arguments.push(self.sum()?);
                if self.pass(')') {
                    break;
                }
                if !self.pass(',') {
                    return Err(ExpressionError::new(
                        open,
                        "this parenthesis is never closed",
                    ));
                }
            }
        }
        if arguments.len() != *count {
            let message = format!(
                "{name} takes {count} argument(s), found {}",
                arguments.len()
            );
            return Err(ExpressionError::new(at, message));
        }
        Ok(Term {
            at,
            kind: TermKind::Call(*function, arguments),
        })
    }

    /// The units behind a number or a parenthesis, if there are any: their factor and dimension.
    fn units(&mut self) -> Parsed<Option<(f64, PhysicalDimension)>> {
        if !matches!(self.peek(), Token::Name(_)) {
            return Ok(None);
        }
        let (mut factor, mut dimension) = self.unit()?;
        loop {
            let sign = match self.peek() {
                Token::Sign(sign @ ('*' | '/' | '.')) => *sign,
                _ => return Ok(Some((factor, dimension))),
            };
            let is_unit = match &self.tokens[self.next + 1].1 {
                Token::Name(name) => unit_by_name(name).is_some() || sign == '.',
                _ => false,
            };
            // Another operand follows, not a unit: `2 m * x`.
            if !is_unit {
                return Ok(Some((factor, dimension)));
            }
            self.next += 1;
            let (other, of) = self.unit()?;
            (factor, dimension) = match sign {
                '/' => (factor / other, dimension.over(of)),
                _ => (factor * other, dimension.times(of)),
            };
        }
    }

    /// A unit and its exponent.
    fn unit(&mut self) -> Parsed<(f64, PhysicalDimension)> {
        let at = self.at();
        let Token::Name(name) = self.peek().clone() else {
            return Err(self.error("expected a unit"));
        };
        let Some((factor, dimension)) = unit_by_name(&name) else {
            let message = match (self.is_defined)(&name) {
                true => format!("expected an operator before \"{name}\""),
                false => {
                    let hint = nearest(&name, unit_names())
                        .map(|near| format!("; did you mean \"{near}\"?"))
                        .unwrap_or_default();
                    format!("there is no unit \"{}\"{hint}", shorten(&name))
                }
            };
            return Err(ExpressionError::new(at, message));
        };
        if (self.is_defined)(&name) {
            let message = format!(
                "\"{name}\" is a unit and a definition: give the definition another name, or write an operator before it"
            );
            return Err(ExpressionError::new(at, message));
        }
        self.next += 1;
        if !self.pass('^') {
            return Ok((factor, dimension));
        }
        let negative = self.pass('-');
        let at = self.at();
        let whole = |x: &f64| x.fract() == 0.0 && *x <= 9.0;
        let Token::Number(power) = *self.peek() else {
            return Err(self.error("expected the exponent of a unit, a whole number"));
        };
        if !whole(&power) {
            let message = "the exponent of a unit is a whole number up to 9";
            return Err(ExpressionError::new(at, message));
        }
        self.next += 1;
        let power = if negative { -power } else { power };
        let dimension = (dimension.to_the(power))
            .ok_or_else(|| ExpressionError::new(at, "this exponent gives no dimension"))?;
        Ok((factor.powi(power as i32), dimension))
    }
}

/// Whether a term is made of numbers without units, and constants, only.
fn is_bare(term: &Term) -> bool {
    let mut bare = true;
    term.collect(&mut |part| {
        bare &= match &part.kind {
            TermKind::Number(_, dimension) => *dimension == PhysicalDimension::NONE,
            TermKind::Name(name) => super::is_reserved(name),
            TermKind::InUnit(..) | TermKind::Call(..) => false,
            _ => true,
        };
    });
    bare
}
