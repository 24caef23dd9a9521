//! XML files as an owned tree with positions, and what became of every element and attribute.
//!
//! The files come from anywhere: size, depth and numbers of elements and attributes are bounded before they are parsed, and
//! document types, which define entities, are refused.

use std::cell::RefCell;
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result};
use crate::model::source_file;

/// Largest file (bytes): some ten times the largest robot we know.
const LARGEST: usize = 16 << 20;
/// Deepest nesting: the parser recurses. Robots have some fifty levels.
const DEEPEST: usize = 200;
/// Most elements, comments and texts of a file.
const MOST_NODES: u32 = 400_000;
/// Most attributes of one element: duplicates are sought among them.
const MOST_ATTRIBUTES: usize = 128;

/// Index of an element.
pub type XmlNode = usize;

/// What became of an element or attribute.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Fate {
    /// The importer has not looked at it.
    #[default]
    Unread,
    /// The model says the same.
    Kept,
    /// The model says nearly the same: how.
    Approximated(String),
    /// The model does not say it: why, and what it concerns.
    Dropped(String, Concern),
}

/// What a dropped element concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// The motion differs without it.
    Dynamics,
    /// Contacts, which are imported on demand only.
    Contact,
    /// Controllers and their limits.
    Control,
    /// Pictures.
    Picture,
    /// Anything else: other programs, names, sensors.
    Other,
}

impl Concern {
    /// In reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dynamics => "dynamics",
            Self::Contact => "contact",
            Self::Control => "control",
            Self::Picture => "picture",
            Self::Other => "other",
        }
    }
}

/// Line and column in a file, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct XmlPosition {
    /// Index in [`XmlFiles::files`].
    pub file: usize,
    /// Line.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
}

/// An attribute.
#[derive(Clone, Debug)]
pub struct XmlAttribute {
    /// With its prefix.
    pub name: String,
    /// With entities resolved.
    pub value: String,
    /// Where it begins.
    pub position: XmlPosition,
    /// What became of it.
    pub fate: RefCell<Fate>,
}

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    /// With its prefix.
    pub tag: String,
    /// Where it begins.
    pub position: XmlPosition,
    /// In the order of the file.
    pub attributes: Vec<XmlAttribute>,
    /// Child elements.
    pub children: Vec<XmlNode>,
    /// Text directly in it, trimmed.
    pub text: String,
    /// What became of it.
    pub fate: RefCell<Fate>,
}

/// The elements of one or several files.
#[derive(Clone, Debug, Default)]
pub struct XmlFiles {
    /// Names of the files as messages show them.
    pub files: Vec<String>,
    /// All elements.
    pub elements: Vec<Element>,
}

/// Reads the text of a file of bounded size.
pub fn file_text(path: &Path) -> Result<String> {
    let unreadable = |reason: String| Error::File {
        path: path.display().to_string(),
        reason,
    };
    let mut bytes = vec![];
    let read = source_file::open(path)
        .and_then(|file| file.take(LARGEST as u64 + 1).read_to_end(&mut bytes));
    read.map_err(|e| unreadable(e.to_string()))?;
    if bytes.len() > LARGEST {
        let reason = format!("it is too large: at most {LARGEST} bytes of XML are read");
        return Err(unreadable(reason));
    }
    String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))
}

impl XmlFiles {
    /// Parses the text of a file and returns its root.
    pub fn add(&mut self, name: &str, text: &str) -> Result<XmlNode> {
        let text = text.trim_start_matches('\u{feff}');
        let file = self.files.len();
        self.files.push(name.to_owned());
        let lines = LineStarts::new(file, text);
        check_extent(text).map_err(|(at, message)| self.error_at(lines.position(at), message))?;
        let options = roxmltree::ParsingOptions {
            allow_dtd: false,
            nodes_limit: MOST_NODES,
            ..Default::default()
        };
        let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
            let at = error.pos();
            let position = XmlPosition {
                file,
                line: at.row as usize,
                column: at.col as usize,
            };
            let message = match error {
                roxmltree::Error::DtdDetected => {
                    "a document type (<!DOCTYPE ..>) is not read: it may define entities without bound".to_owned()
                }
                roxmltree::Error::NodesLimitReached => {
                    format!("more than {MOST_NODES} elements and texts")
                }
                other => format!("this is not well-formed XML: {other}"),
            };
            self.error_at(position, message)
        })?;
        Ok(self.take(document.root_element(), &lines))
    }

    /// Copies an element with everything in it; the depth is bounded.
    fn take(&mut self, from: roxmltree::Node, lines: &LineStarts) -> XmlNode {
        let prefixed = |namespace: Option<&str>, name: &str| match namespace {
            Some(uri) => match from.lookup_prefix(uri) {
                Some(prefix) if !prefix.is_empty() => format!("{prefix}:{name}"),
                _ => name.to_owned(),
            },
            None => name.to_owned(),
        };
        let attributes = from.attributes().map(|attribute| XmlAttribute {
            name: prefixed(attribute.namespace(), attribute.name()),
            value: attribute.value().to_owned(),
            position: lines.position(attribute.range().start),
            fate: RefCell::default(),
        });
        let element = Element {
            tag: prefixed(from.tag_name().namespace(), from.tag_name().name()),
            position: lines.position(from.range().start),
            attributes: attributes.collect(),
            children: vec![],
            text: from.text().unwrap_or_default().trim().to_owned(),
            fate: RefCell::default(),
        };
        let node = self.elements.len();
        self.elements.push(element);
        for child in from.children().filter(|child| child.is_element()) {
            let child = self.take(child, lines);
            self.elements[node].children.push(child);
        }
        node
    }

    /// An error at a position.
    pub fn error_at(&self, at: XmlPosition, message: impl Into<String>) -> Error {
        Error::Model {
            origin: self.files[at.file].clone(),
            line: at.line,
            column: at.column,
            message: message.into(),
        }
    }

    /// An error about an element.
    pub fn error(&self, node: XmlNode, message: impl Into<String>) -> Error {
        self.error_at(self.elements[node].position, message)
    }

    /// The tag of an element.
    pub fn tag(&self, node: XmlNode) -> &str {
        &self.elements[node].tag
    }

    /// Line of an element, with the file's name.
    pub fn place(&self, node: XmlNode) -> String {
        let at = self.elements[node].position;
        let name = Path::new(&self.files[at.file])
            .file_name()
            .map(|n| n.to_string_lossy().into_owned());
        format!("{}:{}", name.unwrap_or_default(), at.line)
    }

    /// All children, without marking them.
    pub fn children(&self, node: XmlNode) -> Vec<XmlNode> {
        self.elements[node].children.clone()
    }

    /// The children of a tag; they count as kept.
    pub fn all(&self, node: XmlNode, tag: &str) -> Vec<XmlNode> {
        let children = self.elements[node].children.iter().copied();
        let found: Vec<XmlNode> = children.filter(|c| self.elements[*c].tag == tag).collect();
        found.iter().for_each(|c| self.keep(*c));
        found
    }

    /// The first child of a tag; it counts as kept, the others stay unread.
    pub fn one(&self, node: XmlNode, tag: &str) -> Option<XmlNode> {
        let mut children = self.elements[node].children.iter().copied();
        let found = children.find(|c| self.elements[*c].tag == tag)?;
        self.keep(found);
        Some(found)
    }

    /// The attribute of a name, without marking it.
    pub fn attribute(&self, node: XmlNode, name: &str) -> Option<&XmlAttribute> {
        (self.elements[node].attributes.iter()).find(|attribute| attribute.name == name)
    }

    /// The value of an attribute; it counts as kept.
    pub fn value(&self, node: XmlNode, name: &str) -> Option<&str> {
        let attribute = self.attribute(node, name)?;
        let mut fate = attribute.fate.borrow_mut();
        if *fate == Fate::Unread {
            *fate = Fate::Kept;
        }
        Some(&attribute.value)
    }

    /// The value of an attribute that must be there.
    pub fn required(&self, node: XmlNode, name: &str) -> Result<&str> {
        self.value(node, name).ok_or_else(|| {
            self.error(
                node,
                format!("<{}> needs the attribute {name}", self.tag(node)),
            )
        })
    }

    /// The finite numbers of an attribute.
    pub fn list(&self, node: XmlNode, name: &str) -> Result<Option<Vec<f64>>> {
        let Some(text) = self.value(node, name) else {
            return Ok(None);
        };
        let wrong = |word: &str| {
            let at = self.attribute(node, name).map(|a| a.position);
            let tag = self.tag(node);
            let message = if word.contains("${") || word.contains("$(") {
                format!("<{tag}> {name}: \"{word}\" is an expression of xacro; {XACRO}")
            } else {
                format!("<{tag}> {name}: expected finite numbers, found \"{word}\"")
            };
            self.error_at(at.expect("it has a value"), message)
        };
        let numbers = text
            .split_ascii_whitespace()
            .map(|word| match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => Err(wrong(word)),
            });
        numbers.collect::<Result<Vec<f64>>>().map(Some)
    }

    /// An attribute of N numbers.
    pub fn numbers<const N: usize>(&self, node: XmlNode, name: &str) -> Result<Option<[f64; N]>> {
        let Some(list) = self.list(node, name)? else {
            return Ok(None);
        };
        let found = list.len();
        list.try_into().map(Some).map_err(|_| {
            let at = self.attribute(node, name).expect("it has a value").position;
            let tag = self.tag(node);
            let words = match N {
                1 => "a number".to_owned(),
                _ => format!("{N} numbers"),
            };
            self.error_at(
                at,
                format!("<{tag}> {name}: expected {words}, found {found}"),
            )
        })
    }

    /// An attribute of one number.
    pub fn number(&self, node: XmlNode, name: &str) -> Result<Option<f64>> {
        Ok(self.numbers::<1>(node, name)?.map(|[x]| x))
    }

    /// Marks an element as kept.
    pub fn keep(&self, node: XmlNode) {
        let mut fate = self.elements[node].fate.borrow_mut();
        if *fate == Fate::Unread {
            *fate = Fate::Kept;
        }
    }

    /// Marks an element and everything in it as kept.
    pub fn keep_all(&self, node: XmlNode) {
        self.mark_all(node, &Fate::Kept);
    }

    /// Marks an element and everything in it as dropped.
    pub fn drop_all(&self, node: XmlNode, why: &str, concern: Concern) {
        self.mark_all(node, &Fate::Dropped(why.to_owned(), concern));
    }

    /// Marks an attribute; nothing if it is not there.
    pub fn mark(&self, node: XmlNode, name: &str, fate: Fate) {
        if let Some(attribute) = self.attribute(node, name) {
            attribute.fate.replace(fate);
        }
    }

    /// Marks an element and everything in it.
    pub fn mark_all(&self, node: XmlNode, fate: &Fate) {
        let element = &self.elements[node];
        element.fate.replace(fate.clone());
        for attribute in &element.attributes {
            attribute.fate.replace(fate.clone());
        }
        for child in &element.children {
            self.mark_all(*child, fate);
        }
    }
}

/// What to do with xacro.
pub const XACRO: &str = "expand the file first: xacro robot.urdf.xacro > robot.urdf";

/// Byte offsets of the lines of a text.
struct LineStarts<'a> {
    file: usize,
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineStarts<'a> {
    fn new(file: usize, text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(i, _)| i + 1)).collect();
        Self { file, text, starts }
    }

    fn position(&self, at: usize) -> XmlPosition {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts[line - 1];
        // A line of megabytes would be counted again for each of its elements.
        let column = match at - start {
            long if long > 10_000 => long,
            _ => self.text[start..at].chars().count(),
        };
        XmlPosition {
            file: self.file,
            line,
            column: column + 1,
        }
    }
}

/// Checks nesting and numbers of attributes without recursion; the offset and the reason if they are beyond the bounds.
fn check_extent(text: &str) -> std::result::Result<(), (usize, String)> {
    let bytes = text.as_bytes();
    let find = |from: usize, what: &str| memchr_str(bytes, from, what).unwrap_or(bytes.len());
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        if bytes[at] != b'<' {
            at += 1;
            continue;
        }
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            at = find(at + 4, "-->");
        } else if rest.starts_with(b"<![CDATA[") {
            at = find(at, "]]>");
        } else if rest.starts_with(b"<?") {
            at = find(at, "?>");
        } else if rest.starts_with(b"</") {
            depth = depth.saturating_sub(1);
            at += 2;
        } else if rest.starts_with(b"<!") {
            at += 2;
        } else {
            let (end, values) = tag_end(bytes, at);
            if values > MOST_ATTRIBUTES {
                let message = format!("an element with more than {MOST_ATTRIBUTES} attributes");
                return Err((at, message));
            }
            if end == 0 || bytes[end - 1] != b'/' {
                depth += 1;
            }
            if depth > DEEPEST {
                return Err((at, format!("elements are nested deeper than {DEEPEST}")));
            }
            at = end;
        }
    }
    Ok(())
}

/// End of the tag that begins at `at`, and the number of its quoted values.
fn tag_end(bytes: &[u8], at: usize) -> (usize, usize) {
    let (mut quote, mut values) = (0_u8, 0);
    for (i, byte) in bytes.iter().enumerate().skip(at + 1) {
        match *byte {
            b if b == quote => quote = 0,
            _ if quote != 0 => {}
            b @ (b'"' | b'\'') => {
                quote = b;
                values += 1;
            }
            b'>' => return (i, values),
            _ => {}
        }
    }
    (bytes.len(), values)
}

fn memchr_str(bytes: &[u8], from: usize, what: &str) -> Option<usize> {
    let what = what.as_bytes();
    let rest = bytes.get(from..)?;
    let found = rest.windows(what.len()).position(|window| window == what)?;
    Some(from + found)
}
