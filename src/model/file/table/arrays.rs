//! Arrays of a table: vectors, numbers, pairs, strings.

use super::TableReader;
use crate::error::Result;
use crate::model::file::document::{Node, NodeValue};
use crate::model::validate::Range;

/// Stands for a wrong vector while the rest of a text is read.
const SUBSTITUTE: [f64; 3] = [1.0, 0.0, 0.0];

impl<'a> TableReader<'a> {
    fn vector_of(&self, key: &str, node: &Node) -> Result<[f64; 3]> {
        let n = self.dimension();
        match &node.value {
            NodeValue::Array(items) if items.len() == n => {
                let mut vector = [0.0; 3];
                for (i, item) in items.iter().enumerate() {
                    // The name is formatted only for errors: there are many vectors.
                    vector[i] = match item.value {
                        NodeValue::Number(x) if Range::Finite.accepts(x) => x,
                        _ => self.number_of(&format!("{key}[{i}]"), item, Range::Finite)?,
                    };
                }
                Ok(vector)
            }
            _ => {
                let expected = format!("an array of {n} numbers {}", self.vector_words());
                self.substitute(self.wrong(key, &expected, node), SUBSTITUTE)
            }
        }
    }

    /// Notation of a vector in this dimension.
    pub fn vector_words(&self) -> &'static str {
        match self.dimension() {
            2 => "[x, y]",
            _ => "[x, y, z]",
        }
    }

    /// `[x, y]`, the third component zero, or `[x, y, z]`.
    pub fn vector(&self, key: &str) -> Result<Option<[f64; 3]>> {
        self.get(key)
            .map(|entry| self.vector_of(key, &entry.node))
            .transpose()
    }

    pub fn needed_vector(&self, key: &str) -> Result<[f64; 3]> {
        match self.vector(key)? {
            Some(vector) => Ok(vector),
            None => self.substitute(self.missing(key, self.vector_words()), SUBSTITUTE),
        }
    }

    /// A normalised vector; zero is refused.
    pub fn direction(&self, key: &str) -> Result<Option<[f64; 3]>> {
        let Some(vector) = self.vector(key)? else {
            return Ok(None);
        };
        match unit(vector) {
            Some(unit) => Ok(Some(unit)),
            None => {
                let message = format!("{key} must not be zero: it is a direction");
                self.substitute(self.refuse_value(key, message), Some(SUBSTITUTE))
            }
        }
    }

    pub fn needed_direction(&self, key: &str) -> Result<[f64; 3]> {
        match self.direction(key)? {
            Some(direction) => Ok(direction),
            None => self.substitute(self.missing(key, self.vector_words()), SUBSTITUTE),
        }
    }

    /// A list of vectors.
    pub fn vectors(&self, key: &str) -> Result<Option<Vec<[f64; 3]>>> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        let NodeValue::Array(items) = &entry.node.value else {
            let expected = format!("an array of points {}", self.vector_words());
            return Err(self.wrong(key, &expected, &entry.node));
        };
        items
            .iter()
            .enumerate()
            .map(|(i, item)| self.vector_of(&format!("{key}[{i}]"), item))
            .collect::<Result<_>>()
            .map(Some)
    }

    /// Two vectors.
    pub fn two_vectors(&self, key: &str, what: &str) -> Result<[[f64; 3]; 2]> {
        let words = self.vector_words();
        let expected = format!("two {what} [{words}, {words}]");
        let vectors = self
            .vectors(key)?
            .ok_or_else(|| self.missing(key, &expected))?;
        match vectors[..] {
            [a, b] => Ok([a, b]),
            _ => {
                let node = &self.get(key).expect("its vectors were just read").node;
                Err(self.wrong(key, &expected, node))
            }
        }
    }

    /// The nodes of an array of at least `least`.
    fn items(&self, key: &str, expected: &str, least: usize) -> Result<Option<&'a [Node]>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match &entry.node.value {
                NodeValue::Array(items) if items.len() >= least => Ok(Some(items)),
                _ => Err(self.wrong(key, expected, &entry.node)),
            },
        }
    }

    /// `[a, b, ..]`
    pub fn numbers(&self, key: &str, expected: &str, least: usize) -> Result<Option<Vec<f64>>> {
        self.items(key, expected, least)?
            .map(|items| {
                (items.iter().enumerate())
                    .map(|(i, item)| self.number_of(&format!("{key}[{i}]"), item, Range::Finite))
                    .collect()
            })
            .transpose()
    }

    /// The same; each may be an expression in a unit that follows from other tables.
    pub fn needed_numbers_in(&self, key: &str, expected: &str, unit: &str) -> Result<Vec<f64>> {
        let items = (self.items(key, expected, 0)?).ok_or_else(|| self.missing(key, expected))?;
        (items.iter().enumerate())
            .map(|(i, item)| self.number_in(&format!("{key}[{i}]"), item, unit))
            .collect()
    }

    pub fn needed_numbers(&self, key: &str, expected: &str, least: usize) -> Result<Vec<f64>> {
        self.numbers(key, expected, least)?
            .ok_or_else(|| self.missing(key, expected))
    }

    /// `[[a, b], [], ..]`: lists of numbers of any length.
    pub fn lists(&self, key: &str, expected: &str) -> Result<Vec<Vec<f64>>> {
        let items = self.items(key, expected, 0)?.unwrap_or_default();
        (items.iter().enumerate())
            .map(|(i, item)| match &item.value {
                NodeValue::Array(numbers) => (numbers.iter().enumerate())
                    .map(|(j, number)| {
                        self.number_of(&format!("{key}[{i}][{j}]"), number, Range::Finite)
                    })
                    .collect(),
                _ => Err(self.wrong(&format!("{key}[{i}]"), expected, item)),
            })
            .collect()
    }

    /// `[[x, y], ..]`, two or more, x strictly increasing.
    pub fn rising_pairs(&self, key: &str) -> Result<Option<Vec<[f64; 2]>>> {
        self.ordered_pairs(key, None, |before, x| before < x)
    }

    /// `[[x, y], ..]`, two or more, x not decreasing; each may be an expression in the units of x and y.
    pub fn pairs_in(&self, key: &str, units: [&str; 2]) -> Result<Vec<[f64; 2]>> {
        self.ordered_pairs(key, Some(units), |before, x| before <= x)?
            .ok_or_else(|| self.missing(key, "two or more pairs [[x, y], ..]"))
    }

    fn ordered_pairs(
        &self,
        key: &str,
        units: Option<[&str; 2]>,
        in_order: fn(f64, f64) -> bool,
    ) -> Result<Option<Vec<[f64; 2]>>> {
        const EXPECTED: &str = "two or more pairs [[x, y], ..]";
        let Some(items) = self.items(key, EXPECTED, 2)? else {
            return Ok(None);
        };
        let mut pairs: Vec<[f64; 2]> = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let pair = match &item.value {
                NodeValue::Array(pair) if pair.len() == 2 => pair,
                _ => return Err(self.wrong(&format!("{key}[{i}]"), "a pair [x, y]", item)),
            };
            let number = |j: usize| {
                let label = format!("{key}[{i}][{j}]");
                match units {
                    Some(units) => self.number_in(&label, &pair[j], units[j]),
                    None => self.number_of(&label, &pair[j], Range::Finite),
                }
            };
            let [x, y] = [number(0)?, number(1)?];
            if let Some([before, _]) = pairs.last()
                && !in_order(*before, x)
            {
                let message = format!(
                    "{key}[{i}][0] must be larger than the one before, {before}; found {x}"
                );
                return Err(self.error(pair[0].span.start, message));
            }
            pairs.push([x, y]);
        }
        Ok(Some(pairs))
    }

    pub fn needed_rising_pairs(&self, key: &str) -> Result<Vec<[f64; 2]>> {
        self.rising_pairs(key)?
            .ok_or_else(|| self.missing(key, "two or more pairs [[x, y], ..]"))
    }

    /// Two strings, each with its byte offset.
    pub fn two_texts(&self, key: &str, expected: &str) -> Result<[(&'a str, usize); 2]> {
        let texts = self.texts(key, expected)?;
        <[_; 2]>::try_from(texts).map_err(|_| {
            let entry = self.get(key).expect("it was read");
            self.wrong(key, expected, &entry.node)
        })
    }

    /// A list of strings and where they are.
    pub fn texts(&self, key: &str, expected: &str) -> Result<Vec<(&'a str, usize)>> {
        let entry = self.get(key).ok_or_else(|| self.missing(key, expected))?;
        let NodeValue::Array(items) = &entry.node.value else {
            return Err(self.wrong(key, expected, &entry.node));
        };
        let text = |node: &'a Node| match &node.value {
            NodeValue::Text(text) => Ok((text.as_str(), node.span.start)),
            _ => Err(self.wrong(key, expected, node)),
        };
        items.iter().map(text).collect()
    }
}

/// The unit vector along a vector; `None` for zero. It is scaled first, so that tiny and huge vectors lose no digits.
pub(in crate::model::file) fn unit<const N: usize>(vector: [f64; N]) -> Option<[f64; N]> {
    let scale = vector.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if !(scale > 0.0) {
        return None;
    }
    let scaled = vector.map(|x| x / scale);
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(scaled.map(|x| x / length))
}
