//! A factor of a study: a name of the model and the values it takes.
//!
//! ```text
//!   a:b:n           n values from a to b, equally spaced, both ends among them
//!   log:a:b:n       the same in the logarithm
//!   list:x,y,..     these values: numbers, words, numbers with units
//!   uniform(a,b)    equally likely between a and b
//!   normal(m,s)     normally distributed with mean m and standard deviation s
//! ```

use super::SetValue;
use super::inverse_normal::inverse_normal;
use crate::error::{Error, Result};
use crate::linalg::elementary::{exp, ln};

/// Most values of one factor. A convention: more are a mistake.
const MOST_LEVELS: f64 = 1e8;

/// A name of the model and the values it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// What `Model::set` takes: a parameter, an input, a dotted name, a setting.
    pub name: String,
    values: FactorValues,
}

#[derive(Clone, Debug, PartialEq)]
enum FactorValues {
    /// `count` values between the ends; none is given for ranges that are only sampled.
    Range {
        ends: [f64; 2],
        count: Option<u64>,
        logarithmic: bool,
    },
    List(Vec<SetValue>),
    Uniform([f64; 2]),
    Normal {
        mean: f64,
        deviation: f64,
    },
}

const FORMS: &str =
    "a:b:n, log:a:b:n, list:x,y,.., uniform(a,b) or normal(mean,deviation) with finite numbers";

impl Factor {
    /// Reads `NAME=VALUES`.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((name, values)) if !name.trim().is_empty() => Self::new(name.trim(), values),
            _ => Err(refused(text, "", "NAME=VALUES")),
        }
    }

    /// A factor whose values are written as text.
    pub fn new(name: &str, text: &str) -> Result<Self> {
        let text = text.trim();
        let wrong = || refused(name, text, FORMS);
        let numbers = |text: &str, separator: char| -> Option<Vec<f64>> {
            (text.split(separator))
                .map(|part| part.trim().parse::<f64>().ok().filter(|x| x.is_finite()))
                .collect()
        };
        let call = |word: &str| {
            text.strip_prefix(word)?
                .trim()
                .strip_prefix('(')?
                .strip_suffix(')')
        };
        let values = if let Some(list) = text.strip_prefix("list:") {
            let values = list.split(',').map(SetValue::parse_expression);
            let values: Option<Vec<SetValue>> = values.collect();
            FactorValues::List(values.ok_or_else(wrong)?)
        } else if let Some(inside) = call("uniform") {
            match numbers(inside, ',').as_deref() {
                Some(&[a, b]) if a < b => FactorValues::Uniform([a, b]),
                _ => return Err(refused(name, text, "uniform(a,b) with a < b")),
            }
        } else if let Some(inside) = call("normal") {
            match numbers(inside, ',').as_deref() {
                Some(&[mean, deviation]) if deviation > 0.0 => {
                    FactorValues::Normal { mean, deviation }
                }
                _ => {
                    let expected = "normal(mean,deviation) with a positive deviation";
                    return Err(refused(name, text, expected));
                }
            }
        } else {
            let (logarithmic, range) = match text.strip_prefix("log:") {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            let (ends, count) = match numbers(range, ':').as_deref() {
                Some(&[a, b]) => ([a, b], None),
                Some(&[a, b, n]) if n >= 1.0 && n.fract() == 0.0 && n <= MOST_LEVELS => {
                    ([a, b], Some(n as u64))
                }
                _ => return Err(wrong()),
            };
            if logarithmic && !(ends[0] > 0.0 && ends[1] > 0.0) {
                return Err(refused(name, text, "positive ends of a logarithmic range"));
            }
            FactorValues::Range {
                ends,
                count,
                logarithmic,
            }
        };
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }

    /// A factor that takes these values.
    pub fn list(name: &str, values: Vec<SetValue>) -> Result<Self> {
        let finite = |value: &SetValue| !matches!(value, SetValue::Number(x) if !x.is_finite());
        if values.is_empty() || !values.iter().all(finite) {
            return Err(refused(name, "", "at least one value, all of them finite"));
        }
        Ok(Self {
            name: name.to_owned(),
            values: FactorValues::List(values),
        })
    }

    /// Number of its levels; `None` for a distribution, and for a range without a number of values.
    pub fn levels(&self) -> Option<u64> {
        match &self.values {
            FactorValues::Range { count, .. } => *count,
            FactorValues::List(values) => Some(values.len() as u64),
            FactorValues::Uniform(_) | FactorValues::Normal { .. } => None,
        }
    }

    /// Whether it is a distribution, which is drawn again in every run.
    pub fn is_random(&self) -> bool {
        matches!(
            self.values,
            FactorValues::Uniform(_) | FactorValues::Normal { .. }
        )
    }

    /// Whether its values are words.
    pub fn has_words(&self) -> bool {
        matches!(&self.values, FactorValues::List(values) if values.iter().any(|v| matches!(v, SetValue::Word(_))))
    }

    /// A typical value, and all words: what a check tries on the model.
    pub fn examples(&self) -> Vec<SetValue> {
        match &self.values {
            FactorValues::List(values) => values.clone(),
            _ => vec![self.quantile(0.5)],
        }
    }

    /// The level `k`, from 0.
    pub fn level(&self, k: u64) -> SetValue {
        match &self.values {
            FactorValues::Range {
                ends,
                count,
                logarithmic,
            } => {
                let last = count.unwrap_or(1).max(1) - 1;
                SetValue::Number(between(*ends, k, last, *logarithmic))
            }
            FactorValues::List(values) => values[k as usize].clone(),
            FactorValues::Uniform(_) | FactorValues::Normal { .. } => self.quantile(0.5),
        }
    }

    /// The value below which the part `u`, 0 < u < 1, of all values lies. A range is then equally likely between its ends.
    pub fn quantile(&self, u: f64) -> SetValue {
        let number = match &self.values {
            FactorValues::List(values) => {
                let index = (u * values.len() as f64) as usize;
                return values[index.min(values.len() - 1)].clone();
            }
            FactorValues::Range {
                ends: [a, b],
                logarithmic: true,
                ..
            } => exp(ln(*a) + u * (ln(*b) - ln(*a))),
            FactorValues::Range { ends: [a, b], .. } | FactorValues::Uniform([a, b]) => {
                a + u * (b - a)
            }
            FactorValues::Normal { mean, deviation } => mean + deviation * inverse_normal(u),
        };
        SetValue::Number(number)
    }
}

/// Value `k` of `last + 1` from a to b; the ends are exact.
fn between([a, b]: [f64; 2], k: u64, last: u64, logarithmic: bool) -> f64 {
    match k {
        0 => a,
        k if k == last => b,
        k => {
            let part = k as f64 / last as f64;
            match logarithmic {
                true => exp(ln(a) + part * (ln(b) - ln(a))),
                false => a + part * (b - a),
            }
        }
    }
}

fn refused(name: &str, value: &str, expected: &str) -> Error {
    Error::Argument {
        name: name.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<f64> {
        let factor = Factor::parse(text).unwrap();
        (0..factor.levels().unwrap())
            .map(|k| match factor.level(k) {
                SetValue::Number(x) => x,
                SetValue::Word(word) => panic!("{word}"),
            })
            .collect()
    }

    #[test]
    fn levels_have_exact_ends() {
        assert_eq!(numbers("k=0.1:0.3:3"), [0.1, 0.2, 0.3]);
        assert_eq!(numbers("k=-1:1:2"), [-1.0, 1.0]);
        assert_eq!(numbers("k=5:9:1"), [5.0]);
        let decades = numbers("k=log:1e-3:10:5");
        for (value, exact) in decades.iter().zip([1e-3, 1e-2, 1e-1, 1.0, 10.0]) {
            // Rounding of ln and exp.
            assert!((value / exact - 1.0).abs() < 1e-14, "{value}");
        }
        assert_eq!((decades[0], decades[4]), (1e-3, 10.0));
        assert_eq!(numbers("k=list:3, 1,2e-1"), [3.0, 1.0, 0.2]);
    }

    #[test]
    fn words_are_values_too() {
        let factor = Factor::parse("solver.formulation=list:relative,absolute").unwrap();
        assert!(factor.has_words());
        assert_eq!(factor.level(1), SetValue::Word("absolute".to_owned()));
        assert_eq!(factor.quantile(0.49), SetValue::Word("relative".to_owned()));
        let factor = Factor::parse("pivot.angle=list:0,30 deg").unwrap();
        assert_eq!(factor.level(0), SetValue::Number(0.0));
        assert_eq!(factor.level(1), SetValue::Word("30 deg".to_owned()));
    }

    #[test]
    fn what_is_no_factor_is_refused_with_its_name() {
        for text in [
            "k",
            "=1:2:3",
            "k=",
            "k=1",
            "k=1:2:0",
            "k=1:2:1.5",
            "k=1:2:3:4",
            "k=log:0:1:3",
            "k=list:",
            "k=list:1,,2",
            "k=nan:1:2",
            "k=normal(1)",
            "k=normal(1,0)",
            "k=normal(1,-2)",
            "k=uniform(2,1)",
            "k=uniform(1,2",
            "k=uniform(1,inf)",
            "k=1:1e999:3",
        ] {
            let error = Factor::parse(text).unwrap_err();
            assert!(matches!(error, Error::Argument { .. }), "{text}: {error}");
        }
    }
}
