//! A typed view of a table of the document: each value is asked for by key and type, each refusal says where, what was
//! expected and what was found.

use super::TextPosition;
use super::check::{Range, is_identifier};
use super::document::{Document, Node, NodeEntry, NodeValue, shorten};
use super::keys::{Key, KeyDimension, KeyGroup, TOP, groups};
use super::settings::whole;
use super::suggest::nearest;
use crate::error::{Error, Result};

/// What every message needs.
#[derive(Clone, Copy)]
pub(super) struct ModelText<'a> {
    pub document: &'a Document<'a>,
    pub origin: &'a str,
    /// 2 or 3: how long vectors are.
    pub dimension: usize,
}

impl ModelText<'_> {
    pub fn error(&self, offset: usize, message: String) -> Error {
        self.document.lines.error(self.origin, offset, message)
    }

    pub fn place(&self, offset: usize) -> TextPosition {
        self.document.lines.place(offset)
    }

    /// A value as messages show it.
    fn found(&self, node: &Node) -> String {
        match &node.value {
            NodeValue::Text(text) => format!("\"{}\" (a string)", shorten(text)),
            NodeValue::Number(_) => self.document.raw(node),
            NodeValue::Bool(flag) => format!("{flag} (a boolean)"),
            NodeValue::Array(items) => match items.len() {
                0 => "an empty array".to_owned(),
                1 => "an array of 1 value".to_owned(),
                n => format!("an array of {n} values"),
            },
            NodeValue::Table(_) => "a table".to_owned(),
            NodeValue::Other(what) => (*what).to_owned(),
        }
    }
}

/// A matrix or vector as written.
pub(super) enum WrittenValue<'a> {
    /// The name of a file.
    File(&'a str),
    /// Numbers; a vector is a column. Zeros are left out.
    Matrix {
        rows: usize,
        columns: usize,
        entries: Vec<(u32, u32, f64)>,
    },
}

/// A table and how messages call it.
#[derive(Clone)]
pub(super) struct TableReader<'a> {
    source: ModelText<'a>,
    /// `body "rod"`; empty for the whole file.
    label: String,
    offset: usize,
    entries: &'a [NodeEntry],
}

impl<'a> TableReader<'a> {
    /// The whole file.
    pub fn root(source: ModelText<'a>) -> Result<Self> {
        match &source.document.root.value {
            NodeValue::Table(entries) => Ok(Self {
                source,
                label: String::new(),
                offset: source.document.root.span.start,
                entries,
            }),
            _ => {
                let root = &source.document.root;
                let found = source.found(root);
                let message = format!("a model is a table of keys, found {found}");
                Err(source.error(root.span.start, message))
            }
        }
    }

    pub fn place(&self) -> TextPosition {
        self.source.place(self.offset)
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.source.dimension
    }

    /// The same table, with vectors of this dimension.
    pub fn in_dimension(mut self, dimension: usize) -> Self {
        self.source.dimension = dimension;
        self
    }

    fn sentence(&self, message: &str) -> String {
        match self.label.as_str() {
            "" => message.to_owned(),
            label => format!("{label}: {message}"),
        }
    }

    fn error(&self, offset: usize, message: impl AsRef<str>) -> Error {
        self.source.error(offset, self.sentence(message.as_ref()))
    }

    /// An error about the table as a whole.
    pub fn refuse(&self, message: impl AsRef<str>) -> Error {
        self.error(self.offset, message)
    }

    /// An error about the value of a key, or about the table where the key is not there.
    pub fn refuse_value(&self, key: &str, message: impl AsRef<str>) -> Error {
        let offset = self.get(key).map_or(self.offset, |e| e.node.span.start);
        self.error(offset, message)
    }

    /// An error about a key itself.
    pub fn refuse_key(&self, key: &str, message: impl AsRef<str>) -> Error {
        let offset = self.get(key).map_or(self.offset, |e| e.offset);
        self.error(offset, message)
    }

    fn missing(&self, key: &str, expected: &str) -> Error {
        self.refuse(format!("\"{key}\" is missing: expected {expected}"))
    }

    fn wrong(&self, key: &str, expected: &str, node: &Node) -> Error {
        let found = self.source.found(node);
        self.error(
            node.span.start,
            format!("{key} must be {expected}, found {found}"),
        )
    }

    pub fn get(&self, key: &str) -> Option<&'a NodeEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// It has no keys at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Where a key's value stands, or the table where it is not there.
    pub fn offset_of(&self, key: &str) -> usize {
        self.get(key).map_or(self.offset, |e| e.node.span.start)
    }

    /// Every key must be one of the group's; what is wrong with another is said as precisely as possible.
    pub fn keys_of(&self, group: &KeyGroup) -> Result<()> {
        let known = || group.keys(self.dimension());
        for entry in self.entries {
            let key = entry.key.as_str();
            if known().any(|k| k.name == key) {
                continue;
            }
            let elsewhere = |other: &&KeyGroup| {
                other.table == group.table && other.keys(0).any(|k| k.name == key)
            };
            let message = if group.later.contains(&key) {
                format!("\"{key}\" is not available in this version")
            } else if let Some(other) = group.keys(0).find(|k| k.name == key) {
                format!(
                    "{} takes no \"{key}\" {}",
                    group.called(),
                    other_dimension(other.exists)
                )
            } else if groups().any(|other| elsewhere(&other)) {
                let names: Vec<&str> = known().map(|k| k.name).collect();
                let called = group.called();
                format!(
                    "{called} takes no \"{key}\"; its keys are {}",
                    names.join(", ")
                )
            } else {
                self.unknown(key, known().map(|k| k.name), group.later)
            };
            return Err(self.error(entry.offset, message));
        }
        Ok(())
    }

    /// Every key must be one of some variant's: for a table that does not say which it is.
    pub fn keys_of_any(&self, variants: &'static [KeyGroup]) -> Result<()> {
        let mut names: Vec<&str> = vec![];
        for key in variants.iter().flat_map(|group| group.keys(0)) {
            if !names.contains(&key.name) {
                names.push(key.name);
            }
        }
        let later = variants.first().map_or(&[][..], |group| group.later);
        for entry in self.entries {
            let key = entry.key.as_str();
            if !names.contains(&key) && !later.contains(&key) {
                let message = self.unknown(key, names.iter().copied(), later);
                return Err(self.error(entry.offset, message));
            }
        }
        Ok(())
    }

    /// The same for a small table inside another.
    pub fn keys_among(&self, known: &'static [Key]) -> Result<()> {
        let here = || (known.iter()).filter(|k| k.exists.has(self.dimension()));
        for entry in self.entries {
            let key = entry.key.as_str();
            if here().any(|k| k.name == key) {
                continue;
            }
            let message = match known.iter().find(|k| k.name == key) {
                Some(other) => {
                    format!(
                        "there is no \"{key}\" here {}",
                        other_dimension(other.exists)
                    )
                }
                None => self.unknown(key, here().map(|k| k.name), &[]),
            };
            return Err(self.error(entry.offset, message));
        }
        Ok(())
    }

    fn unknown<'k>(
        &self,
        key: &str,
        known: impl Iterator<Item = &'k str>,
        later: &[&'k str],
    ) -> String {
        let known: Vec<&str> = known.collect();
        let hint = match nearest(key, known.iter().chain(later)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None if !self.label.is_empty() && TOP.keys(0).any(|k| k.name == key) => {
                "it belongs at the top of the file, before the first [table]".to_owned()
            }
            None => format!("the keys here are {}", known.join(", ")),
        };
        format!("unknown key \"{}\"; {hint}", shorten(key))
    }

    fn number_of(&self, key: &str, node: &Node, range: Range) -> Result<f64> {
        match node.value {
            NodeValue::Number(value) if range.accepts(value) => Ok(value),
            _ => Err(self.wrong(key, range.words(), node)),
        }
    }

    pub fn number(&self, key: &str, range: Range) -> Result<Option<f64>> {
        self.get(key)
            .map(|entry| self.number_of(key, &entry.node, range))
            .transpose()
    }

    /// A number whose range is judged later.
    pub fn any_number(&self, key: &str) -> Result<Option<f64>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.node.value {
                NodeValue::Number(value) => Ok(Some(value)),
                _ => Err(self.wrong(key, "a number", &entry.node)),
            },
        }
    }

    pub fn needed_number(&self, key: &str, range: Range) -> Result<f64> {
        self.number(key, range)?
            .ok_or_else(|| self.missing(key, range.words()))
    }

    pub fn whole_number(&self, key: &str) -> Result<Option<u64>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.node.value {
                NodeValue::Number(value) if whole(value).is_some() => Ok(whole(value)),
                _ => Err(self.wrong(key, "a whole number >= 0", &entry.node)),
            },
        }
    }

    pub fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.node.value {
                NodeValue::Bool(flag) => Ok(Some(flag)),
                _ => Err(self.wrong(key, "true or false", &entry.node)),
            },
        }
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match &entry.node.value {
                NodeValue::Text(text) => Ok(Some(text)),
                _ => Err(self.wrong(key, "a string", &entry.node)),
            },
        }
    }

    pub fn needed_text(&self, key: &str, expected: &str) -> Result<&'a str> {
        self.text(key)?.ok_or_else(|| self.missing(key, expected))
    }

    /// The name under `name`, and the byte where it stands.
    pub fn name(&self, reserved: &[&str]) -> Result<(&'a str, usize)> {
        let name = self.needed_text("name", "letters, digits and _")?;
        let offset = self.offset_of("name");
        if !is_identifier(name) {
            let message = format!(
                "name must be letters, digits and _, not starting with a digit; found \"{}\"",
                shorten(name)
            );
            return Err(self.error(offset, message));
        }
        if reserved.contains(&name) {
            let message = format!("the name \"{name}\" is reserved; choose another");
            return Err(self.error(offset, message));
        }
        Ok((name, offset))
    }

    /// One of several words.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(word) = self.text(key)? else {
            return Ok(None);
        };
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == word) {
            return Ok(Some(*choice));
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let here = names.join(", ");
        Err(self.refuse_value(
            key,
            match nearest(word, names.iter()) {
                Some(near) => format!(
                    "{key} \"{}\" is unknown; did you mean \"{near}\"?",
                    shorten(word)
                ),
                None => format!("{key} must be one of {here}, found \"{}\"", shorten(word)),
            },
        ))
    }

    pub fn needed_choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<T> {
        match self.choice(key, choices)? {
            Some(choice) => Ok(choice),
            None => {
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                Err(self.missing(key, &format!("one of {}", names.join(", "))))
            }
        }
    }

    fn vector_of(&self, key: &str, node: &Node) -> Result<[f64; 3]> {
        let n = self.dimension();
        match &node.value {
            NodeValue::Array(items) if items.len() == n => {
                let mut vector = [0.0; 3];
                for (i, item) in items.iter().enumerate() {
                    // The name is made only where it is needed: there are many vectors.
                    vector[i] = match item.value {
                        NodeValue::Number(x) if Range::Finite.accepts(x) => x,
                        _ => self.number_of(&format!("{key}[{i}]"), item, Range::Finite)?,
                    };
                }
                Ok(vector)
            }
            _ => {
                let expected = format!("an array of {n} numbers {}", self.vector_words());
                Err(self.wrong(key, &expected, node))
            }
        }
    }

    /// How a vector is written in this dimension.
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
        self.vector(key)?
            .ok_or_else(|| self.missing(key, self.vector_words()))
    }

    /// A vector made a unit vector; zero is refused.
    pub fn direction(&self, key: &str) -> Result<Option<[f64; 3]>> {
        let Some(vector) = self.vector(key)? else {
            return Ok(None);
        };
        match unit(vector) {
            Some(unit) => Ok(Some(unit)),
            None => {
                Err(self.refuse_value(key, format!("{key} must not be zero: it is a direction")))
            }
        }
    }

    pub fn needed_direction(&self, key: &str) -> Result<[f64; 3]> {
        self.direction(key)?
            .ok_or_else(|| self.missing(key, self.vector_words()))
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

    /// The nodes of an array, so many of them.
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

    pub fn needed_numbers(&self, key: &str, expected: &str, least: usize) -> Result<Vec<f64>> {
        self.numbers(key, expected, least)?
            .ok_or_else(|| self.missing(key, expected))
    }

    /// `[[a, b], [], ..]`: lists of numbers, however long.
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

    /// `[[x, y], ..]`, two or more, x strictly rising.
    pub fn rising_pairs(&self, key: &str) -> Result<Option<Vec<[f64; 2]>>> {
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
            let number =
                |j: usize| self.number_of(&format!("{key}[{i}][{j}]"), &pair[j], Range::Finite);
            let [x, y] = [number(0)?, number(1)?];
            if let Some([before, _]) = pairs.last()
                && x <= *before
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

    /// Two strings with the byte at which each stands.
    pub fn two_texts(&self, key: &str, expected: &str) -> Result<[(&'a str, usize); 2]> {
        let entry = self.get(key).ok_or_else(|| self.missing(key, expected))?;
        if let NodeValue::Array(items) = &entry.node.value
            && let [a, b] = &items[..]
        {
            let text = |node: &'a Node| match &node.value {
                NodeValue::Text(text) => Ok((text.as_str(), node.span.start)),
                _ => Err(self.wrong(key, expected, node)),
            };
            return Ok([text(a)?, text(b)?]);
        }
        Err(self.wrong(key, expected, &entry.node))
    }

    /// `[[a, b], ..]`, for a vector `[a, b, ..]`, or the name of a file.
    pub fn matrix_or_file(&self, key: &str, vector: bool) -> Result<Option<WrittenValue<'a>>> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        let expected = if vector {
            "numbers [..] or the name of a Matrix Market file"
        } else {
            "rows of numbers [[..], ..] or the name of a Matrix Market file"
        };
        let items = match &entry.node.value {
            NodeValue::Text(name) => return Ok(Some(WrittenValue::File(name))),
            NodeValue::Array(items) if !items.is_empty() => items,
            _ => return Err(self.wrong(key, expected, &entry.node)),
        };
        let mut entries = Vec::new();
        if vector {
            for (i, item) in items.iter().enumerate() {
                let x = self.number_of(&format!("{key}[{i}]"), item, Range::Finite)?;
                if x != 0.0 {
                    entries.push((i as u32, 0, x));
                }
            }
            return Ok(Some(WrittenValue::Matrix {
                rows: items.len(),
                columns: 1,
                entries,
            }));
        }
        let mut columns = None;
        for (i, item) in items.iter().enumerate() {
            let NodeValue::Array(row) = &item.value else {
                return Err(self.wrong(&format!("{key}[{i}]"), "a row of numbers [..]", item));
            };
            let length = *columns.get_or_insert(row.len());
            if row.len() != length || length == 0 {
                let expected = match length {
                    0 => "a row of numbers [..]".to_owned(),
                    _ => format!("a row of {length} numbers like the first"),
                };
                return Err(self.wrong(&format!("{key}[{i}]"), &expected, item));
            }
            for (j, item) in row.iter().enumerate() {
                // The name is made only where it is needed: a matrix may be large.
                let x = match item.value {
                    NodeValue::Number(x) if Range::Finite.accepts(x) => x,
                    _ => self.number_of(&format!("{key}[{i}][{j}]"), item, Range::Finite)?,
                };
                if x != 0.0 {
                    entries.push((i as u32, j as u32, x));
                }
            }
        }
        Ok(Some(WrittenValue::Matrix {
            rows: items.len(),
            columns: columns.unwrap_or(0),
            entries,
        }))
    }

    /// An error at a byte, with this table's label.
    pub fn refuse_at(&self, offset: usize, message: impl AsRef<str>) -> Error {
        self.error(offset, message)
    }

    /// A table under a key.
    pub fn table(&self, key: &str) -> Result<Option<TableReader<'a>>> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        let label = match self.label.as_str() {
            "" => key.to_owned(),
            label => format!("{label}: {key}"),
        };
        match &entry.node.value {
            NodeValue::Table(entries) => Ok(Some(Self {
                source: self.source,
                label,
                offset: entry.node.span.start,
                entries,
            })),
            _ => Err(self.wrong(key, "a table", &entry.node)),
        }
    }

    /// The tables of `[[key]]`, each called by its name where it has one, else by its number.
    pub fn tables(&self, key: &str) -> Result<Vec<TableReader<'a>>> {
        let Some(entry) = self.get(key) else {
            return Ok(vec![]);
        };
        let items = match &entry.node.value {
            NodeValue::Array(items) => items,
            NodeValue::Table(_) => {
                let message = format!("{key} must be an array of tables: write [[{key}]]");
                return Err(self.error(entry.offset, message));
            }
            _ => return Err(self.wrong(key, "an array of tables", &entry.node)),
        };
        items
            .iter()
            .enumerate()
            .map(|(i, node)| {
                let NodeValue::Table(entries) = &node.value else {
                    return Err(self.wrong(&format!("{key}[{i}]"), "a table", node));
                };
                let mut table = Self {
                    source: self.source,
                    label: match self.label.as_str() {
                        "" => format!("{key} number {}", i + 1),
                        label => format!("{label}: {key}[{i}]"),
                    },
                    offset: node.span.start,
                    entries,
                };
                if let Some(entry) = table.get("name")
                    && let NodeValue::Text(name) = &entry.node.value
                {
                    table.label = format!("{key} \"{}\"", shorten(name));
                }
                Ok(table)
            })
            .collect()
    }

    pub fn source(&self) -> ModelText<'a> {
        self.source
    }
}

fn other_dimension(exists: KeyDimension) -> &'static str {
    match exists {
        KeyDimension::Space => "in two dimensions",
        _ => "in three dimensions",
    }
}

/// A vector of length one, `None` for zero. Scaled first: neither tiny nor huge vectors may lose digits.
pub(super) fn unit<const N: usize>(vector: [f64; N]) -> Option<[f64; N]> {
    let scale = vector.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if !(scale > 0.0) {
        return None;
    }
    let scaled = vector.map(|x| x / scale);
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(scaled.map(|x| x / length))
}
