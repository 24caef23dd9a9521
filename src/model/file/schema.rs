//! The JSON Schema (draft 2020-12) of the model file, from the keys: it accepts every text that the reader accepts and
//! refuses unknown keys. Only the reader checks rules that relate several tables (names, references, directions).

use serde_json::{Map, Value, json};

use super::beam::BEAM;
use super::body::{BODY, PRESCRIBED, SENSOR};
use super::curve::{CURVE, INTERPOLATION, ONE_OF};
use super::force::FORCES;
use super::include::INCLUDE;
use super::joint::JOINTS;
use super::keys::{Key, KeyGroup, KeyKind};
use super::linear_system::{OF_BODIES, SYSTEM};
use super::motion::MOTIONS;
use super::signal::{INPUT, OUTPUT, PARAMETER};
use super::signal_law::SIGNALS;
use super::solver::{EXPERIMENT, SOLVER};
use super::top::TOP;
use crate::model::validate::Range;

/// The schema of format 1.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for (name, dimension) in [("plane", 2), ("space", 3)] {
        definitions.insert(name.to_owned(), root(dimension, false));
        for (table, schema) in tables(dimension) {
            definitions.insert(format!("{table}.{name}"), schema);
        }
    }
    definitions.insert("matrices".to_owned(), root(3, true));
    definitions.insert("system".to_owned(), object(&SYSTEM, 3));
    definitions.insert("curve".to_owned(), curve());
    for group in [&SOLVER, &EXPERIMENT, &INPUT, &PARAMETER, &OUTPUT] {
        definitions.insert(group.table.to_owned(), object(group, 3));
    }
    let signals: Vec<Value> = SIGNALS.iter().map(|group| object(group, 3)).collect();
    definitions.insert("signal".to_owned(), json!({ "oneOf": signals }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Biela model file, format 1",
        "description": "TOML or JSON. SI units, radians. A number may be an expression in a string. Files are found relative to the model file.",
        "type": "object",
        "if": { "required": ["system"] },
        "then": { "$ref": "#/$defs/matrices" },
        "else": {
            "if": { "properties": { "dimension": { "const": 2 } }, "required": ["dimension"] },
            "then": { "$ref": "#/$defs/plane" },
            "else": { "$ref": "#/$defs/space" }
        },
        "$defs": definitions,
    })
}

/// The top level: of a mechanism, or of a linear system.
fn root(dimension: usize, matrices: bool) -> Value {
    let space = if dimension == 2 { "plane" } else { "space" };
    let mut schema = object(&TOP, dimension);
    let properties = schema["properties"].as_object_mut().expect("just made");
    for (key, property) in properties.iter_mut() {
        let list = |definition: String| json!({ "type": "array", "items": { "$ref": definition } });
        let made = match key.as_str() {
            "solver" | "experiment" | "system" => json!({ "$ref": format!("#/$defs/{key}") }),
            "input" | "output" | "parameter" | "signal" => list(format!("#/$defs/{key}")),
            "include" => json!({
                "type": "array",
                "items": { "anyOf": [{ "type": "string" }, object(&INCLUDE, dimension)] },
            }),
            "body" | "joint" | "motion" | "force" | "beam" | "sensor" => {
                list(format!("#/$defs/{key}.{space}"))
            }
            _ => continue,
        };
        merge(property, made);
    }
    let foreign: &[&str] = match matrices {
        true => &OF_BODIES,
        false => &["system"],
    };
    for key in foreign {
        properties.remove(*key);
    }
    schema
}

/// The tables that depend on the dimension.
fn tables(dimension: usize) -> [(&'static str, Value); 6] {
    let variants = |groups: &[KeyGroup]| {
        let all: Vec<Value> = (groups.iter())
            .filter(|group| group.exists.has(dimension))
            .map(|group| object(group, dimension))
            .collect();
        json!({ "oneOf": all })
    };
    let body = json!({
        "if": { "properties": { "prescribed": { "const": true } }, "required": ["prescribed"] },
        "then": object(&PRESCRIBED, dimension),
        "else": object(&BODY, dimension),
    });
    [
        ("body", body),
        ("joint", variants(&JOINTS)),
        ("motion", variants(&MOTIONS)),
        ("force", variants(&FORCES)),
        ("beam", object(&BEAM, dimension)),
        ("sensor", object(&SENSOR, dimension)),
    ]
}

fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Value::Object(more)) = (into.as_object_mut(), more) {
        into.extend(more);
    }
}

/// A table with the keys of a group.
fn object(group: &KeyGroup, dimension: usize) -> Value {
    let mut schema = of_keys(group.keys(dimension), dimension);
    merge(&mut schema, json!({ "description": group.meaning }));
    if let Some((key, variant)) = group.variant {
        let constant = match variant {
            "true" => json!({ "const": true }),
            word => json!({ "const": word }),
        };
        merge(&mut schema["properties"][key], constant);
    }
    if !group.either.is_empty() {
        let alternatives: Vec<Value> = (group.either.iter())
            .map(|set| {
                let others = group.either.iter().filter(|other| *other != set);
                let others: Vec<Value> = others
                    .flat_map(|other| other.iter())
                    .map(|key| json!({ "required": [key] }))
                    .collect();
                json!({ "required": set, "not": { "anyOf": others } })
            })
            .collect();
        merge(&mut schema, json!({ "oneOf": alternatives }));
    }
    schema
}

fn of_keys<'k>(keys: impl Iterator<Item = &'k Key>, dimension: usize) -> Value {
    let mut properties = Map::new();
    let mut required = vec![];
    for key in keys {
        if key.required() {
            required.push(key.name);
        }
        let mut property = kind(key.kind, dimension);
        merge(&mut property, json!({ "description": describe(key) }));
        if !key.former_name.is_empty() {
            let mut former = kind(key.kind, dimension);
            let description = format!("former word for \"{}\"", key.name);
            merge(
                &mut former,
                json!({ "description": description, "deprecated": true }),
            );
            properties.insert(key.former_name.to_owned(), former);
        }
        properties.insert(key.name.to_owned(), property);
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        merge(&mut schema, json!({ "required": required }));
    }
    schema
}

/// Meaning, unit and default in a sentence.
fn describe(key: &Key) -> String {
    let unit = match key.unit {
        "" => String::new(),
        unit => format!(" ({unit})"),
    };
    let default = match key.required() {
        true => String::new(),
        false => format!(". Default: {}", key.default),
    };
    format!("{}{unit}{default}", key.meaning)
}

fn one_key_of(keys: &[Key], dimension: usize) -> Value {
    let mut schema = of_keys(keys.iter(), dimension);
    merge(
        &mut schema,
        json!({ "minProperties": 1, "maxProperties": 1 }),
    );
    schema
}

/// A curve: one of its kinds, and the interpolation only of a table.
fn curve() -> Value {
    let alternatives = ONE_OF.map(|kind| {
        let others = ONE_OF.iter().filter(|other| **other != kind);
        let foreign = others.chain((kind != "table").then_some(&INTERPOLATION.name));
        let foreign: Vec<Value> = foreign.map(|key| json!({ "required": [key] })).collect();
        json!({ "required": [kind], "not": { "anyOf": foreign } })
    });
    let mut schema = of_keys(CURVE.iter(), 3);
    merge(&mut schema, json!({ "oneOf": alternatives }));
    schema
}

fn list(items: Value, least: usize, most: Option<usize>) -> Value {
    let mut schema = json!({ "type": "array", "items": items, "minItems": least });
    if let Some(most) = most {
        merge(&mut schema, json!({ "maxItems": most }));
    }
    schema
}

fn number(range: Range) -> Value {
    match range {
        Range::Finite => json!({ "type": ["number", "string"] }),
        Range::NonNegative => json!({ "type": ["number", "string"], "minimum": 0 }),
        Range::Positive => json!({ "type": ["number", "string"], "exclusiveMinimum": 0 }),
        Range::Alpha => json!({ "type": ["number", "string"], "minimum": 0, "maximum": 1.0 / 3.0 }),
        Range::Part => json!({ "type": ["number", "string"], "minimum": 0, "maximum": 1 }),
    }
}

fn kind(kind: KeyKind, dimension: usize) -> Value {
    let finite = || number(Range::Finite);
    let vector = || list(finite(), dimension, Some(dimension));
    match kind {
        KeyKind::OneOf(values) => json!({ "enum": values }),
        KeyKind::Count => {
            json!({ "type": ["integer", "string"], "minimum": 1, "maximum": 1u64 << 53 })
        }
        KeyKind::Number(range) => number(range),
        KeyKind::Flag => json!({ "type": "boolean" }),
        KeyKind::Text | KeyKind::File => json!({ "type": "string" }),
        KeyKind::Name => json!({ "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" }),
        // In the plane a body has no z.
        KeyKind::Choice(words) if dimension == 2 && words.contains(&"z") => {
            let words: Vec<&str> = words.iter().copied().filter(|w| *w != "z").collect();
            json!({ "enum": words })
        }
        KeyKind::Choice(words) => json!({ "enum": words }),
        KeyKind::Vector => vector(),
        KeyKind::Vectors(count) => list(vector(), count.unwrap_or(2), count),
        KeyKind::Points => list(vector(), 1, None),
        KeyKind::Spin if dimension == 2 => finite(),
        KeyKind::Spin => vector(),
        KeyKind::Inertia if dimension == 2 => number(Range::NonNegative),
        KeyKind::Inertia => json!({
            "anyOf": [list(finite(), 3, Some(3)), list(finite(), 6, Some(6))]
        }),
        KeyKind::SectionStiffness => {
            let n = if dimension == 2 { 3 } else { 6 };
            let row = list(finite(), n, Some(n));
            json!({ "anyOf": [row, list(row.clone(), n, Some(n))] })
        }
        KeyKind::Numbers(least, most) => list(finite(), least, Some(most)),
        KeyKind::Coordinates(1) => finite(),
        KeyKind::Coordinates(count) => list(finite(), count, Some(count)),
        KeyKind::Pairs => list(list(finite(), 2, Some(2)), 2, None),
        KeyKind::TwoTexts => list(json!({ "type": "string" }), 2, Some(2)),
        KeyKind::Texts => list(json!({ "type": "string" }), 2, None),
        KeyKind::Curve => json!({ "$ref": "#/$defs/curve" }),
        KeyKind::Law(range) => json!({ "anyOf": [number(range), { "$ref": "#/$defs/curve" }] }),
        KeyKind::Limits => json!({
            "anyOf": [list(finite(), 2, Some(2)), list(list(finite(), 0, Some(2)), 2, Some(3))]
        }),
        KeyKind::PerCoordinate(keys) => {
            let own = of_keys(keys_in(keys, dimension), dimension);
            let none = json!({ "type": "object", "maxProperties": 0 });
            json!({ "anyOf": [own, list(json!({ "anyOf": [own, none] }), 2, Some(3))] })
        }
        KeyKind::Matrix => json!({
            "anyOf": [{ "type": "string" }, list(list(finite(), 1, None), 1, None)]
        }),
        KeyKind::Column => json!({ "anyOf": [{ "type": "string" }, list(finite(), 1, None)] }),
        KeyKind::Table(keys) => of_keys(keys_in(keys, dimension), dimension),
        KeyKind::OneKeyOf(keys) => one_key_of(keys, dimension),
        KeyKind::Tables(keys) => list(of_keys(keys_in(keys, dimension), dimension), 1, None),
        KeyKind::Frames(frames) => {
            let [first, second] = frames.map(|keys| of_keys(keys_in(keys, dimension), dimension));
            json!({
                "type": "array",
                "prefixItems": [first, second],
                "minItems": 2,
                "maxItems": 2,
            })
        }
        KeyKind::Definitions => json!({
            "type": "object",
            "additionalProperties": { "type": ["number", "string"] },
        }),
        KeyKind::Group => json!({}),
    }
}

fn keys_in(keys: &'static [Key], dimension: usize) -> impl Iterator<Item = &'static Key> {
    (keys.iter()).filter(move |key| key.exists.has(dimension))
}

#[cfg(test)]
mod tests;
