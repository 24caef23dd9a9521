//! TOML and JSON as one tree of nodes with their positions in the text.
//!
//! The crates `toml` and `jsonc-parser` (restricted to strict JSON) parse; this file converts their trees, finds lines
//! and columns, and refuses texts that are too large or nested too deeply.

use std::collections::HashMap;
use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use toml::de::{DeTable, DeValue};

use super::expression::Definitions;
use super::mistakes::Mistakes;
use super::syntax;
use crate::error::{Error, Result};
use crate::linalg::sorting::sort_by_key;
use crate::model::TextPosition;
use crate::model::suggest::shorten;

/// Largest text that is read (bytes).
pub const LARGEST_TEXT: usize = 64 << 20;
/// Deepest nesting of arrays and tables that is read.
pub const DEEPEST: usize = 64;

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NodeValue {
    Text(String),
    Number(f64),
    Bool(bool),
    Array(Vec<Node>),
    Table(Vec<NodeEntry>),
    /// A value that no key accepts: a date, `null`.
    Other(&'static str),
}

impl NodeValue {
    /// What it is, for messages.
    pub fn called(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "a boolean",
            Self::Array(_) => "an array",
            Self::Table(_) => "a table",
            Self::Other(what) => what,
        }
    }
}

/// A value and its bytes in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub span: Range<usize>,
    pub value: NodeValue,
}

/// A key with its value; the entries of a table are in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeEntry {
    pub key: String,
    /// Byte offset of the key.
    pub offset: usize,
    pub node: Node,
}

/// A parsed text.
pub(super) struct Document<'t> {
    pub text: &'t str,
    pub lines: LineIndex<'t>,
    pub root: Node,
    /// Those of `[define]`, once expressions are resolved.
    pub definitions: Definitions,
    pub mistakes: Mistakes,
}

impl<'t> Document<'t> {
    /// Reads `text` as JSON or TOML. `origin` is for messages.
    pub fn parse(text: &'t str, origin: &str, json: bool) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.len() > LARGEST_TEXT {
            return Err(Error::Model {
                origin: origin.to_owned(),
                line: 1,
                column: 1,
                message: format!(
                    "the text has {} bytes; at most {LARGEST_TEXT} are read",
                    text.len()
                ),
            });
        }
        let lines = LineIndex::new(text);
        let root = match too_deep(text, json) {
            Some(offset) => Err(vec![(
                offset,
                format!("arrays and tables are nested deeper than {DEEPEST} levels"),
            )]),
            None if json => parse_json(text, &lines).map_err(|defect| vec![defect]),
            None => parse_toml(text),
        };
        match root {
            Ok(root) => Ok(Self {
                text,
                lines,
                root,
                definitions: Definitions::default(),
                mistakes: Mistakes::default(),
            }),
            Err(defects) => {
                let errors = defects.into_iter();
                let errors = errors.map(|(offset, message)| lines.error(origin, offset, message));
                Err(Error::of_mistakes(errors.collect(), 0))
            }
        }
    }

    /// The text of a node, shortened.
    pub fn raw(&self, node: &Node) -> String {
        shorten(self.text.get(node.span.clone()).unwrap_or(""))
    }
}

/// Lines and columns of byte offsets, each found in bounded time for lines of any length.
pub(super) struct LineIndex<'t> {
    text: &'t str,
    /// Byte at which each line starts.
    starts: Vec<usize>,
    /// Characters before byte `k * STRIDE`.
    characters: Vec<usize>,
}

const STRIDE: usize = 1024;

impl<'t> LineIndex<'t> {
    fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        let mut characters = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut count = 0;
        for (i, byte) in text.bytes().enumerate() {
            if i % STRIDE == 0 {
                characters.push(count);
            }
            count += usize::from(starts_character(byte));
            if byte == b'\n' {
                starts.push(i + 1);
            }
        }
        Self {
            text,
            starts,
            characters,
        }
    }

    fn characters_before(&self, offset: usize) -> usize {
        let k = (offset / STRIDE).min(self.characters.len().saturating_sub(1));
        let counted = self.characters.get(k).copied().unwrap_or(0);
        let rest = &self.text.as_bytes()[(k * STRIDE).min(offset)..offset];
        counted + rest.iter().filter(|b| starts_character(**b)).count()
    }

    pub fn text_position(&self, offset: usize) -> TextPosition {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        TextPosition {
            line,
            column: self.characters_before(offset) - self.characters_before(start) + 1,
        }
    }

    pub fn error(&self, origin: &str, offset: usize, message: String) -> Error {
        let TextPosition { line, column } = self.text_position(offset);
        Error::Model {
            origin: origin.to_owned(),
            line,
            column,
            message,
        }
    }
}

fn starts_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Byte offset of the first bracket deeper than [`DEEPEST`] outside strings and comments. An unfinished string misleads
/// this count without harm, since both parsers limit the depth too.
fn too_deep(text: &str, json: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut i, mut depth) = (0, 0usize);
    while i < bytes.len() {
        match bytes[i] {
            b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return Some(i);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'#' if !json => {
                while i < bytes.len() && bytes[i] != b'\n' {
                    i += 1;
                }
            }
            quote @ (b'"' | b'\'') if quote == b'"' || !json => {
                let escapes = quote == b'"';
                let long = !json && bytes[i..].starts_with(&[quote; 3]);
                i += if long { 3 } else { 1 };
                while i < bytes.len() {
                    match bytes[i] {
                        b'\\' if escapes => i += 1,
                        b'\n' if !long => break,
                        c if c == quote && !long => break,
                        c if c == quote && bytes[i..].starts_with(&[quote; 3]) => {
                            i += 2;
                            break;
                        }
                        _ => {}
                    }
                    i += 1;
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// Mistakes of a text by their byte offsets.
type Defects = Vec<(usize, String)>;

/// Largest text in which every mistake is looked for (bytes); of a larger one the first is reported.
const LARGEST_RECOVERED: usize = 1 << 20;

fn parse_toml(text: &str) -> std::result::Result<Node, Defects> {
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(_) if text.len() <= LARGEST_RECOVERED => {
            let (_, errors) = DeTable::parse_recoverable(text);
            return Err(syntax::defects(text, &errors));
        }
        Err(first) => return Err(syntax::defects(text, &[first])),
    };
    Ok(Node {
        span: 0..0,
        value: from_toml_table(table.get_ref()),
    })
}

fn from_toml_table(table: &DeTable) -> NodeValue {
    let mut entries: Vec<NodeEntry> = table
        .iter()
        .map(|(key, value)| NodeEntry {
            key: key.get_ref().to_string(),
            offset: key.span().start,
            node: Node {
                span: value.span(),
                value: from_toml(value.get_ref()),
            },
        })
        .collect();
    // The parser sorts by key; messages and names follow the text.
    sort_by_key(&mut entries, |entry| entry.offset);
    NodeValue::Table(entries)
}

fn from_toml(value: &DeValue) -> NodeValue {
    match value {
        DeValue::String(text) => NodeValue::Text(text.to_string()),
        DeValue::Integer(integer) => NodeValue::Number(real(integer.as_str(), integer.radix())),
        DeValue::Float(float) => NodeValue::Number(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => NodeValue::Bool(*flag),
        DeValue::Datetime(_) => NodeValue::Other("a date"),
        DeValue::Array(array) => NodeValue::Array(
            array
                .iter()
                .map(|item| Node {
                    span: item.span(),
                    value: from_toml(item.get_ref()),
                })
                .collect(),
        ),
        DeValue::Table(table) => from_toml_table(table),
    }
}

/// An integer of any length as a real number.
fn real(digits: &str, radix: u32) -> f64 {
    if radix == 10 {
        return digits.parse().unwrap_or(f64::NAN);
    }
    digits.chars().fold(0.0, |sum, digit| {
        sum * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or(0))
    })
}

type Parsed = std::result::Result<Node, (usize, String)>;

fn parse_json(text: &str, lines: &LineIndex) -> Parsed {
    let strict = jsonc_parser::ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &strict).map_err(|e| {
        let sentence = e.kind().to_string();
        let message = format!("not valid JSON: {}", sentence.to_lowercase());
        (e.range().start, message)
    })?;
    match parsed.value {
        Some(value) => from_json(value, lines),
        None => Err((0, "the text is empty".to_owned())),
    }
}

fn from_json(value: ast::Value, lines: &LineIndex) -> Parsed {
    let range = value.range();
    let span = range.start..range.end;
    let value = match value {
        ast::Value::StringLit(text) => NodeValue::Text(text.value.into_owned()),
        ast::Value::NumberLit(number) => {
            NodeValue::Number(number.value.parse().unwrap_or(f64::NAN))
        }
        ast::Value::BooleanLit(flag) => NodeValue::Bool(flag.value),
        ast::Value::NullKeyword(_) => NodeValue::Other("null"),
        ast::Value::Array(array) => {
            let items = array.elements.into_iter();
            NodeValue::Array(
                items
                    .map(|item| from_json(item, lines))
                    .collect::<std::result::Result<_, _>>()?,
            )
        }
        ast::Value::Object(object) => {
            let mut seen: HashMap<String, usize> = HashMap::new();
            let mut entries = Vec::with_capacity(object.properties.len());
            for property in object.properties {
                let offset = property.range.start;
                let key = property.name.into_string();
                if let Some(first) = seen.insert(key.clone(), offset) {
                    let TextPosition { line, column } = lines.text_position(first);
                    return Err((
                        offset,
                        format!(
                            "duplicate key \"{}\": it is already given at {line}:{column}",
                            shorten(&key)
                        ),
                    ));
                }
                entries.push(NodeEntry {
                    key,
                    offset,
                    node: from_json(property.value, lines)?,
                });
            }
            NodeValue::Table(entries)
        }
    };
    Ok(Node { span, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(node: &'a Node, key: &str) -> &'a NodeEntry {
        match &node.value {
            NodeValue::Table(entries) => entries.iter().find(|e| e.key == key).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn positions_count_characters_and_survive_bom_and_crlf() {
        let text = "\u{feff}a = 1\r\nb = \"äöü\" # ü\r\nc = {x = 2}\r\n";
        let document = Document::parse(text, "t", false).unwrap();
        let c = entry(&document.root, "c");
        let at = |offset| {
            let TextPosition { line, column } = document.lines.text_position(offset);
            (line, column)
        };
        assert_eq!(at(entry(&document.root, "a").offset), (1, 1));
        assert_eq!(at(entry(&document.root, "b").node.span.end), (2, 10));
        assert_eq!(at(c.offset), (3, 1));
        assert_eq!(at(entry(&c.node, "x").node.span.start), (3, 10));
    }

    #[test]
    fn columns_are_right_far_into_a_long_line() {
        let text = format!("[\"{}\", 7]", "é".repeat(5000));
        let lines = LineIndex::new(&text);
        let offset = text.find('7').unwrap();
        let position = lines.text_position(offset);
        assert_eq!((position.line, position.column), (1, 5000 + 6));
        assert_eq!(lines.text_position(usize::MAX).column, 5000 + 8);
    }

    #[test]
    fn toml_and_json_give_the_same_values() {
        fn bare(node: &Node) -> String {
            match &node.value {
                NodeValue::Array(items) => {
                    format!("{:?}", items.iter().map(bare).collect::<Vec<_>>())
                }
                NodeValue::Table(entries) => format!(
                    "{:?}",
                    entries
                        .iter()
                        .map(|e| (&e.key, bare(&e.node)))
                        .collect::<Vec<_>>()
                ),
                scalar => format!("{scalar:?}"),
            }
        }
        let toml = "z = 1\na = [1.5, -2e3, true]\n[[t]]\nk = \"x\\n\"\n[[t]]\nk = \"y\"";
        let json = r#"{"z":1,"a":[1.5,-2e3,true],"t":[{"k":"x\n"},{"k":"y"}]}"#;
        let toml = Document::parse(toml, "t", false).unwrap();
        let json = Document::parse(json, "t", true).unwrap();
        assert_eq!(bare(&toml.root), bare(&json.root));
    }

    #[test]
    fn integers_of_any_base_and_length_are_numbers() {
        let text = "a = 0x10\nb = 1_000\nc = 123456789012345678901234567890\nd = -7";
        let document = Document::parse(text, "t", false).unwrap();
        for (key, value) in [
            ("a", 16.0),
            ("b", 1000.0),
            ("c", 123456789012345678901234567890.0),
            ("d", -7.0),
        ] {
            assert_eq!(
                entry(&document.root, key).node.value,
                NodeValue::Number(value),
                "{key}"
            );
        }
    }

    #[test]
    fn a_million_brackets_are_refused_and_not_followed() {
        let deep = "[".repeat(1_000_000);
        for (text, json, column) in [
            (format!("a = {deep}"), false, 5 + DEEPEST),
            (format!("{{\"a\": {deep}"), true, 7 + DEEPEST - 1),
            (
                format!("a = {}", "{a=".repeat(1_000_000)),
                false,
                5 + 3 * DEEPEST,
            ),
        ] {
            match Document::parse(&text, "t", json).err() {
                Some(Error::Model {
                    line: 1,
                    column: found,
                    message,
                    ..
                }) => {
                    assert!(message.contains("nested deeper than 64"), "{message}");
                    assert_eq!(found, column);
                }
                other => panic!("{other:?}"),
            }
        }
        // Depth through dotted keys and headers, which have no brackets, and brackets that the count cannot see.
        for text in [
            format!("{}a = 1", "a.".repeat(1_000_000)),
            format!("[{}a]", "a.".repeat(1_000_000)),
            format!("a = \"\n{deep}"),
        ] {
            assert!(Document::parse(&text, "t", false).is_err());
        }
        let hidden = format!("{{\"a\": \"\n{deep}");
        assert!(Document::parse(&hidden, "t", true).is_err());
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        let deep = "[".repeat(100);
        let text = format!(
            "a = \"{deep}\" # {deep}\nb = '{deep}'\nc = \"\"\"\n{deep}\\\"\"\"\"\nd = '''{deep}'''\n"
        );
        assert!(Document::parse(&text, "t", false).is_ok());
        let json = format!("{{\"a\": \"\\\"{deep}\"}}");
        assert!(Document::parse(&json, "t", true).is_ok());
    }

    #[test]
    fn a_text_beyond_the_limit_is_refused() {
        let text = " ".repeat(LARGEST_TEXT + 1);
        let error = Document::parse(&text, "big", false).err().unwrap();
        assert!(error.to_string().contains("at most 67108864"), "{error}");
    }

    #[test]
    fn json_is_strict() {
        for (text, column) in [
            ("{\"a\": 1,}", 8),
            ("{\"a\": 1 // no\n}", 9),
            ("{a: 1}", 2),
            ("{\"a\": +1}", 7),
            ("{\"a\": NaN}", 7),
            ("{\"a\": 0x1}", 7),
            ("{\"a\": 01}", 8),
            ("{\"a\": 1 \"b\": 2}", 8),
            ("{\"a\": 'b'}", 7),
            ("{\"a\": 1, \"a\": 2}", 10),
            ("{\"a\": 1} {}", 10),
        ] {
            match Document::parse(text, "t", true).err() {
                Some(Error::Model {
                    line: 1,
                    column: found,
                    ..
                }) => assert_eq!(found, column, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
