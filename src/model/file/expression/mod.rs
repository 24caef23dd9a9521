//! Expressions in the model file: strings where numbers are expected become numbers before the tables are read. The keys say
//! where that is, and in which unit.

mod curve;
mod definition;
#[cfg(test)]
mod tests;
mod wanted;

use std::cell::Cell;
use std::collections::HashMap;

pub(super) use definition::{Definitions, ExpressionText};

use definition::{definitions, value_of};
use wanted::{Place, Wanted, over_power, time, wanted, wanted_after_comma};

use super::beam::BEAM;
use super::body::{BODY, SENSOR};
use super::document::{Document, Node, NodeEntry, NodeValue};
use super::force::FORCES;
use super::include::INCLUDE;
use super::joint::JOINTS;
use super::keys::{Key, KeyGroup, KeyKind};
use super::mistakes::{Mistakes, reported_elsewhere};
use super::motion::MOTIONS;
use super::solver::{EXPERIMENT, SOLVER};
use super::table::identity;
use super::top::TOP;
use crate::error::{Error, Result};
use crate::model::JointKind;
use crate::model::expression::{PhysicalDimension, dimension_of};
use crate::model::suggest::shorten;

/// Replaces the expressions of a document by their values and keeps its definitions. `overrides` replaces definitions, in base
/// units.
pub(super) fn resolve(
    document: &mut Document,
    origin: &str,
    overrides: &[(String, f64)],
) -> Result<()> {
    let mut root = std::mem::replace(
        &mut document.root,
        Node {
            span: 0..0,
            value: NodeValue::Other("nothing"),
        },
    );
    let source = ExpressionText {
        text: document.text,
        lines: &document.lines,
        origin,
    };
    let resolved = resolve_root(source, &document.mistakes, &mut root, overrides);
    document.root = root;
    document.definitions = resolved?;
    Ok(())
}

fn resolve_root(
    source: ExpressionText,
    mistakes: &Mistakes,
    root: &mut Node,
    overrides: &[(String, f64)],
) -> Result<Definitions> {
    let NodeValue::Table(entries) = &mut root.value else {
        return Ok(Definitions::default());
    };
    let defined = match entries.iter().find(|entry| entry.key == "define") {
        None => Definitions::default(),
        Some(entry) => match &entry.node.value {
            NodeValue::Table(defined) => definitions(source, mistakes, defined, overrides),
            other => {
                let message = format!(
                    "define must be a table: [define], then a line name = value for each; found {}",
                    other.called()
                );
                return Err(source.error(entry.node.span.start, message));
            }
        },
    };
    let mut joints = HashMap::new();
    for table in tables_of(entries, "joint") {
        if let (Some(name), Some(kind)) = (text_of(table, "name"), joint_kind(table)) {
            joints.insert(name.to_owned(), kind);
        }
    }
    let dimension = match (entries.iter()).find(|entry| entry.key == "dimension") {
        Some(entry) if entry.node.value == NodeValue::Number(2.0) => 2,
        _ => 3,
    };
    let resolver = Resolver {
        source,
        mistakes,
        definitions: &defined,
        joints,
        dimension,
        element: Cell::default(),
    };
    for entry in entries {
        resolver.top(entry)?;
    }
    Ok(defined)
}

/// The tables of `[[key]]`.
fn tables_of<'a>(entries: &'a [NodeEntry], key: &str) -> impl Iterator<Item = &'a [NodeEntry]> {
    let found = entries.iter().find(|entry| entry.key == key);
    let items = match found.map(|entry| &entry.node.value) {
        Some(NodeValue::Array(items)) => &items[..],
        _ => &[],
    };
    items.iter().filter_map(|item| match &item.value {
        NodeValue::Table(entries) => Some(&entries[..]),
        _ => None,
    })
}

fn text_of<'a>(table: &'a [NodeEntry], key: &str) -> Option<&'a str> {
    let entry = table.iter().find(|entry| entry.key == key)?;
    match &entry.node.value {
        NodeValue::Text(text) => Some(text),
        _ => None,
    }
}

fn joint_kind(table: &[NodeEntry]) -> Option<JointKind> {
    let word = text_of(table, "type")?;
    (JointKind::ALL.iter()).find_map(|(name, kind)| (*name == word).then_some(*kind))
}

impl ExpressionText<'_> {
    /// The value of a node that is a string; `None` if it is none.
    fn value(
        &self,
        node: &Node,
        label: &str,
        wanted: &Wanted,
        definitions: &Definitions,
    ) -> Result<Option<f64>> {
        let NodeValue::Text(content) = &node.value else {
            return Ok(None);
        };
        if definitions.leave_open(content) {
            return Err(reported_elsewhere());
        }
        let found = value_of(content, definitions)
            .map_err(|error| self.inside(node, content, label, error))?;
        let fits = found.dimension == PhysicalDimension::NONE
            || (wanted.as_ref()).is_none_or(|all| all.iter().any(|one| found.dimension.fits(*one)));
        if !fits {
            let units: Vec<String> = wanted.iter().flatten().map(|one| one.name()).collect();
            let message = format!(
                "{label} is in {}, but \"{}\" is {}",
                units.join(" or "),
                shorten(content),
                found.dimension.words()
            );
            return Err(self.error(node.span.start, message));
        }
        Ok(Some(found.value))
    }

    /// The same for a unit as targets have it.
    pub fn number(
        &self,
        node: &Node,
        label: &str,
        unit: &str,
        definitions: &Definitions,
    ) -> Result<Option<f64>> {
        let wanted = dimension_of(unit).map(|dimension| vec![dimension]);
        self.value(node, label, &wanted, definitions)
    }
}

struct Resolver<'a> {
    source: ExpressionText<'a>,
    mistakes: &'a Mistakes,
    definitions: &'a Definitions,
    joints: HashMap<String, JointKind>,
    dimension: usize,
    /// The element that is resolved, and what messages call it.
    element: Cell<(usize, String)>,
}

/// Whether an array has arrays in it.
fn has_rows(node: &Node) -> bool {
    let NodeValue::Array(items) = &node.value else {
        return false;
    };
    (items.iter()).any(|item| matches!(item.value, NodeValue::Array(_)))
}

/// What messages call an element.
fn label(entries: &[NodeEntry], group: &KeyGroup) -> String {
    match text_of(entries, "name") {
        Some(name) => format!("{} \"{}\": ", group.table, shorten(name)),
        None => String::new(),
    }
}

/// An error that names its element.
fn labelled(error: Error, name: &str) -> Error {
    match error {
        Error::Model {
            origin,
            line,
            column,
            message,
        } => Error::Model {
            origin,
            line,
            column,
            message: format!("{name}{message}"),
        },
        other => other,
    }
}

impl Resolver<'_> {
    /// Resolves an entry of the top level.
    fn top(&self, entry: &mut NodeEntry) -> Result<()> {
        let groups: &[KeyGroup] = match entry.key.as_str() {
            "joint" => &JOINTS,
            "motion" => &MOTIONS,
            "force" => &FORCES,
            "body" => &[BODY],
            "beam" => &[BEAM],
            "sensor" => &[SENSOR],
            "solver" => &[SOLVER],
            "experiment" => &[EXPERIMENT],
            "include" => &[INCLUDE],
            "system" => return self.leaves_of_matrices(&mut entry.node),
            _ => match TOP.keys(0).find(|key| key.is_called(&entry.key)) {
                Some(key) => return self.value(&mut entry.node, key, Place::default()),
                None => return Ok(()),
            },
        };
        match &mut entry.node.value {
            NodeValue::Array(items) => {
                (items.iter_mut()).try_for_each(|item| self.element(item, groups))
            }
            NodeValue::Table(_) => self.element(&mut entry.node, groups),
            _ => Ok(()),
        }
    }

    /// Resolves a table by the group it belongs to; what belongs to none is left to the reader.
    fn element(&self, node: &mut Node, groups: &[KeyGroup]) -> Result<()> {
        let NodeValue::Table(entries) = &mut node.value else {
            return Ok(());
        };
        let group = groups.iter().find(|group| match group.variant {
            None => true,
            Some((key, word)) => text_of(entries, key) == Some(word),
        });
        let Some(group) = group else {
            return Ok(());
        };
        let place = self.place(entries, group);
        let keys: Vec<&Key> = group.keys(self.dimension).collect();
        self.element.set((identity(entries), label(entries, group)));
        let done = self.table(entries, &keys, place);
        self.element.take();
        done
    }

    fn table(&self, entries: &mut [NodeEntry], keys: &[&Key], place: Place) -> Result<()> {
        for entry in entries {
            if let Some(key) = keys.iter().find(|key| key.is_called(&entry.key)) {
                self.value(&mut entry.node, key, place)?;
            }
        }
        Ok(())
    }

    /// What the other keys of a table say about its units.
    fn place(&self, entries: &[NodeEntry], group: &KeyGroup) -> Place {
        let of_joint = |name: &str| self.is_angle(name);
        match group.table {
            "joint" => Place {
                joint: joint_kind(entries),
                coupled: self.coupled(entries),
                ..Place::default()
            },
            "motion" => Place {
                angle: match (text_of(entries, "joint"), text_of(entries, "coordinate")) {
                    (Some(joint), _) => of_joint(joint),
                    (None, Some(coordinate)) => Some(coordinate == "angle"),
                    (None, None) => None,
                },
                ..Place::default()
            },
            "force" => Place {
                angle: match group.variant {
                    Some((_, "contact")) => Some(false),
                    _ => text_of(entries, "joint").and_then(of_joint),
                },
                contact: group.variant == Some(("type", "contact")),
                ..Place::default()
            },
            _ => Place::default(),
        }
    }

    /// Whether a joint coordinate, `name` or `name.position2`, is an angle.
    fn is_angle(&self, dotted: &str) -> Option<bool> {
        let (name, field) = dotted.split_once('.').unwrap_or((dotted, "position"));
        let index = match field.strip_prefix("position")? {
            "" => 0,
            number => number.parse::<usize>().ok()?.checked_sub(1)?,
        };
        Some(self.joints.get(name)?.is_angle(index))
    }

    /// The two coordinates of a coupling.
    fn coupled(&self, entries: &[NodeEntry]) -> Option<[bool; 2]> {
        let entry = entries.iter().find(|entry| entry.key == "joints")?;
        let NodeValue::Array(items) = &entry.node.value else {
            return None;
        };
        match &items[..] {
            [a, b] => match (&a.value, &b.value) {
                (NodeValue::Text(a), NodeValue::Text(b)) => {
                    Some([self.is_angle(a)?, self.is_angle(b)?])
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Resolves the value of a key.
    fn value(&self, node: &mut Node, key: &Key, place: Place) -> Result<()> {
        let wanted = wanted(key.unit, place);
        match key.kind {
            KeyKind::Flag
            | KeyKind::Text
            | KeyKind::File
            | KeyKind::Name
            | KeyKind::Choice(_)
            | KeyKind::TwoTexts
            | KeyKind::Texts
            | KeyKind::Definitions
            | KeyKind::OneOf(_)
            | KeyKind::Group => Ok(()),
            KeyKind::Count | KeyKind::Number(_) => self.scalar(node, key.name, &wanted),
            KeyKind::Vector
            | KeyKind::Vectors(_)
            | KeyKind::Points
            | KeyKind::Spin
            | KeyKind::Inertia => self.leaves(node, key.name, &wanted),
            // Rows of a matrix have entries of several units.
            KeyKind::SectionStiffness if has_rows(node) => self.leaves(node, key.name, &None),
            KeyKind::SectionStiffness | KeyKind::Numbers(..) => self.numbers(node, key, place),
            KeyKind::Coordinates(_) | KeyKind::Limits => self.coordinates(node, key, place),
            KeyKind::PerCoordinate(keys) => self.per_coordinate(node, keys, place),
            KeyKind::Pairs => {
                let value = wanted_after_comma(key.unit, place);
                self.pairs(node, key.name, &time(), &value)
            }
            KeyKind::Curve => self.curve(node, key, place),
            KeyKind::Law(_) if matches!(node.value, NodeValue::Table(_)) => {
                self.curve(node, key, place)
            }
            KeyKind::Law(_) => self.scalar(node, key.name, &wanted),
            KeyKind::Matrix | KeyKind::Column => Ok(()),
            KeyKind::Table(keys) | KeyKind::OneKeyOf(keys) => self.inner(node, keys, place),
            KeyKind::Tables(keys) => match &mut node.value {
                NodeValue::Array(items) => {
                    (items.iter_mut()).try_for_each(|item| self.inner(item, keys, place))
                }
                _ => Ok(()),
            },
            KeyKind::Frames(frames) => match &mut node.value {
                NodeValue::Array(items) => (items.iter_mut().zip(frames))
                    .try_for_each(|(item, keys)| self.inner(item, keys, place)),
                _ => Ok(()),
            },
        }
    }

    fn inner(&self, node: &mut Node, keys: &'static [Key], place: Place) -> Result<()> {
        match &mut node.value {
            NodeValue::Table(entries) => {
                let keys: Vec<&Key> = keys.iter().collect();
                self.table(entries, &keys, place)
            }
            _ => Ok(()),
        }
    }

    /// A number.
    fn scalar(&self, node: &mut Node, label: &str, wanted: &Wanted) -> Result<()> {
        match self.source.value(node, label, wanted, self.definitions) {
            Ok(None) => Ok(()),
            Ok(Some(value)) => {
                node.value = NodeValue::Number(value);
                Ok(())
            }
            // Reading goes on with a number that never leaves the reader.
            Err(error) => {
                let (element, name) = self.element.take();
                self.mistakes.report_value(element, labelled(error, &name));
                self.element.set((element, name));
                self.mistakes.substitute(node.span.start);
                node.value = NodeValue::Number(1.0);
                Ok(())
            }
        }
    }

    /// All numbers of an array, however deep, or a number.
    fn leaves(&self, node: &mut Node, label: &str, wanted: &Wanted) -> Result<()> {
        match &mut node.value {
            NodeValue::Array(items) => {
                (items.iter_mut()).try_for_each(|item| self.leaves(item, label, wanted))
            }
            _ => self.scalar(node, label, wanted),
        }
    }

    /// The numbers inside the arrays of `[system]`; a string in place of an array is the name of a file. Units are free.
    fn leaves_of_matrices(&self, node: &mut Node) -> Result<()> {
        if let NodeValue::Table(entries) = &mut node.value {
            self.element.set((identity(entries), String::new()));
            for entry in entries {
                if let NodeValue::Array(_) = entry.node.value {
                    self.leaves(&mut entry.node, &entry.key, &None)?;
                }
            }
        }
        Ok(())
    }

    /// A list of numbers: the coefficients of a motion over powers of time, or translations before rotations, or all alike.
    fn numbers(&self, node: &mut Node, key: &Key, place: Place) -> Result<()> {
        let NodeValue::Array(items) = &mut node.value else {
            return Ok(());
        };
        let units: Vec<&str> = key.unit.split(", ").collect();
        for (k, item) in items.iter_mut().enumerate() {
            let wanted = match units[..] {
                [value, "s"] => over_power(&wanted(value, place), &time(), k),
                [along, about] => wanted(if k < self.dimension { along } else { about }, place),
                _ => wanted(key.unit, place),
            };
            self.scalar(item, key.name, &wanted)?;
        }
        Ok(())
    }

    /// Values, or pairs, of the coordinates of a joint.
    fn coordinates(&self, node: &mut Node, key: &Key, place: Place) -> Result<()> {
        let of = |index: usize| {
            let angle = place.joint.map(|kind| kind.is_angle(index));
            wanted(key.unit, Place { angle, ..place })
        };
        let several = place
            .joint
            .is_some_and(|kind| kind.coordinates(self.dimension) > 1);
        match &mut node.value {
            NodeValue::Array(items) if several => (items.iter_mut().enumerate())
                .try_for_each(|(k, item)| self.leaves(item, key.name, &of(k))),
            _ => self.leaves(node, key.name, &of(0)),
        }
    }

    /// A table of the coordinate of a joint, or a list of them.
    fn per_coordinate(&self, node: &mut Node, keys: &'static [Key], place: Place) -> Result<()> {
        let of = |index: usize| Place {
            angle: place.joint.map(|kind| kind.is_angle(index)),
            ..place
        };
        match &mut node.value {
            NodeValue::Array(items) => (items.iter_mut().enumerate())
                .try_for_each(|(k, item)| self.inner(item, keys, of(k))),
            _ => self.inner(node, keys, of(0)),
        }
    }
}
