//! The schema against the reader: every model and every example of the manual passes, every key is read, and what the
//! reader says of a key it does not know the schema says too. The checker knows the words of JSON Schema that are used here
//! and refuses others.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::schema;
use crate::model::Model;
use crate::model::file::document::{self, Document, Node};
use crate::model::file::keys::{KeyDimension, KeyGroup, KeyKind, groups};

/// Why a value does not pass, if so.
fn refusal(root: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    let words = schema.as_object().expect("a schema is an object");
    let fail = |why: String| Some(format!("{path}: {why}"));
    let passes = |schema: &Value, value: &Value| refusal(root, schema, value, path).is_none();
    for (word, rule) in words {
        let refused = match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "then" | "else" => None,
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                let target = root
                    .pointer(pointer)
                    .unwrap_or_else(|| panic!("no {pointer}"));
                refusal(root, target, value, path)
            }
            "type" => {
                let is_one = |rule: &Value| match rule.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "number" => value.is_number(),
                    "integer" => value.as_f64().is_some_and(|x| x.fract() == 0.0),
                    other => panic!("type {other}"),
                };
                let is = match rule.as_array() {
                    Some(several) => several.iter().any(is_one),
                    None => is_one(rule),
                };
                (!is).then(|| format!("{path}: not of type {rule}"))
            }
            "properties" => value.as_object().and_then(|object| {
                object.iter().find_map(|(key, value)| {
                    refusal(root, rule.get(key)?, value, &format!("{path}/{key}"))
                })
            }),
            "additionalProperties" => {
                let none = serde_json::Map::new();
                let known = (words.get("properties")).map_or(&none, |p| p.as_object().unwrap());
                let other = (value.as_object().into_iter().flatten())
                    .find(|(key, _)| !known.contains_key(*key));
                match (other, rule == &json!(false)) {
                    (None, _) => None,
                    (Some((key, _)), true) => fail(format!("unknown key {key}")),
                    (Some((key, value)), false) => {
                        refusal(root, rule, value, &format!("{path}/{key}"))
                    }
                }
            }
            "required" => {
                let missing = (rule.as_array().unwrap().iter())
                    .find(|key| value.is_object() && value.get(key.as_str().unwrap()).is_none());
                missing.and_then(|key| fail(format!("{key} is missing")))
            }
            "minProperties" | "maxProperties" | "minItems" | "maxItems" => {
                let count = match word.ends_with("Items") {
                    true => value.as_array().map(Vec::len),
                    false => value.as_object().map(|o| o.len()),
                };
                let bound = rule.as_u64().unwrap() as usize;
                let outside = match word.starts_with("min") {
                    true => count.is_some_and(|n| n < bound),
                    false => count.is_some_and(|n| n > bound),
                };
                outside.then(|| format!("{path}: {word} {bound}"))
            }
            "items" => (value.as_array()).and_then(|items| {
                (items.iter().enumerate())
                    .find_map(|(i, item)| refusal(root, rule, item, &format!("{path}/{i}")))
            }),
            "prefixItems" => (value.as_array()).and_then(|items| {
                (items.iter().zip(rule.as_array().unwrap()).enumerate())
                    .find_map(|(i, (item, rule))| refusal(root, rule, item, &format!("{path}/{i}")))
            }),
            "minimum" | "maximum" | "exclusiveMinimum" => value.as_f64().and_then(|x| {
                let bound = rule.as_f64().unwrap();
                let inside = match word.as_str() {
                    "minimum" => x >= bound,
                    "maximum" => x <= bound,
                    _ => x > bound,
                };
                (!inside).then(|| format!("{path}: {word} {bound}, found {x}"))
            }),
            "enum" => {
                let same = |other: &Value| match (other.as_f64(), value.as_f64()) {
                    (Some(a), Some(b)) => a == b,
                    _ => other == value,
                };
                let found = rule.as_array().unwrap().iter().any(same);
                (!found).then(|| format!("{path}: not one of {rule}"))
            }
            "const" => {
                let same = rule == value || rule.is_number() && rule.as_f64() == value.as_f64();
                (!same).then(|| format!("{path}: not {rule}"))
            }
            "pattern" => {
                assert_eq!(rule, "^[A-Za-z_][A-Za-z0-9_]*$");
                let named = value
                    .as_str()
                    .is_none_or(crate::model::validate::is_identifier);
                (!named).then(|| format!("{path}: not a name"))
            }
            "not" => passes(rule, value).then(|| format!("{path}: must not pass {rule}")),
            "anyOf" => {
                let any = rule.as_array().unwrap().iter().any(|s| passes(s, value));
                (!any).then(|| format!("{path}: passes none of the alternatives"))
            }
            "oneOf" => {
                let count = (rule.as_array().unwrap().iter())
                    .filter(|s| passes(s, value))
                    .count();
                (count != 1).then(|| format!("{path}: passes {count} alternatives instead of one"))
            }
            "if" => {
                let branch = if passes(rule, value) { "then" } else { "else" };
                (words.get(branch)).and_then(|schema| refusal(root, schema, value, path))
            }
            other => panic!("the checker does not know \"{other}\""),
        };
        if refused.is_some() {
            return refused;
        }
    }
    None
}

fn plain(node: &Node) -> Value {
    match &node.value {
        document::NodeValue::Text(text) => json!(text),
        document::NodeValue::Number(x) => json!(x),
        document::NodeValue::Bool(flag) => json!(flag),
        document::NodeValue::Array(items) => items.iter().map(plain).collect(),
        document::NodeValue::Table(entries) => Value::Object(
            (entries.iter())
                .map(|e| (e.key.clone(), plain(&e.node)))
                .collect(),
        ),
        document::NodeValue::Other(_) => Value::Null,
    }
}

/// The reason why the schema refuses a text; `None` if it passes.
fn judge(text: &str) -> Option<String> {
    let json = text.trim_start().starts_with('{');
    let document = Document::parse(text, "t", json).unwrap();
    let schema = schema();
    refusal(&schema, &schema, &plain(&document.root), "")
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn every_model_and_every_example_of_the_manual_passes() {
    let mut count = 0;
    for entry in std::fs::read_dir(here("models")).unwrap() {
        let file = entry.unwrap().path();
        if file.is_file() {
            let text = std::fs::read_to_string(&file).unwrap();
            assert_eq!(judge(&text), None, "{}", file.display());
            count += 1;
        }
    }
    let manual = std::fs::read_to_string(here("docs/model-file.md")).unwrap();
    for syntax in ["```toml\n", "```json\n"] {
        for part in manual.split(syntax).skip(1) {
            let example = part.split("```").next().unwrap();
            assert_eq!(judge(example), None, "{example}");
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn what_the_reader_refuses_in_a_single_table_the_schema_refuses_too() {
    let head = "format = 1\ndimension = 2\n";
    for text in [
        "dimension = 2",
        "format = 2",
        "format = 1\ngravity = [0, 1]",
        "format = 1\ndimension = 4",
        "format = 1\n[system]\nmass = [[1]]\n[[body]]\nname = \"a\"",
        "format = 1\ncolour = 1",
        "format = 1\n[solver]\nalpha = 0.4",
        "format = 1\n[solver]\ntolerance = 0",
        "format = 1\n[solver]\nintegrator = \"euler\"",
        "format = 1\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1]",
        "format = 1\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1]\nangle = 1",
        "format = 1\n[[body]]\nname = \"a\"\nprescribed = true\nmass = 1",
        &format!("{head}[[body]]\nname = \"a\"\nmass = -1\ninertia = 1"),
        &format!("{head}[[body]]\nname = \"a b\"\nmass = 1\ninertia = 1"),
        &format!("{head}[[body]]\nname = \"a\"\nmass = 1\ninertia = 1\nshape = {{}}"),
        &format!(
            "{head}[[joint]]\nname = \"j\"\ntype = \"screw\"\nbodies = [\"a\", \"b\"]\npoint = [0, 0]"
        ),
        &format!("{head}[[joint]]\nname = \"j\"\ntype = \"revolute\"\nbodies = [\"a\", \"b\"]"),
        &format!(
            "{head}[[joint]]\nname = \"j\"\ntype = \"coupling\"\njoints = [\"a\", \"b\"]\nratio = 1\nlaw = {{ polynomial = [1] }}"
        ),
        &format!("{head}[[motion]]\nname = \"m\"\njoint = \"j\"\nlaw = \"table\""),
        &format!(
            "{head}[[motion]]\nname = \"m\"\nbody = \"b\"\nlaw = \"polynomial\"\ncoefficients = [1]"
        ),
    ] {
        assert!(judge(text).is_some(), "{text}");
        assert!(Model::from_text(text, "t").is_err(), "{text}");
    }
}

/// A text in which a key of a group has a value of no use, and the least that stands around it.
fn with_rubbish(group: &KeyGroup, key: &str, dimension: usize) -> String {
    let mut text = format!("format = 1\ndimension = {dimension}\n");
    const RUBBISH: &str = "1979-05-27";
    if group.table.is_empty() {
        return match key {
            "format" => format!("format = {RUBBISH}\n"),
            "dimension" => format!("format = 1\ndimension = {RUBBISH}\n"),
            _ => format!("{text}{key} = {RUBBISH}\n"),
        };
    }
    let single = matches!(group.table, "solver" | "experiment" | "system");
    // Elements that others refer to.
    if !single && group.table != "body" {
        let inertia = if dimension == 2 { "1" } else { "[1, 1, 1]" };
        let axis = if dimension == 2 {
            ""
        } else {
            "axis = [0, 0, 1]\n"
        };
        let zero = if dimension == 2 {
            "[0, 0]"
        } else {
            "[0, 0, 0]"
        };
        text += &format!(
            "[[body]]\nname = \"a\"\nmass = 1\ninertia = {inertia}\n[[body]]\nname = \"p\"\nprescribed = true\n"
        );
        for joint in ["j1", "j2"] {
            text += &format!(
                "[[joint]]\nname = \"{joint}\"\ntype = \"revolute\"\nbodies = [\"ground\", \"a\"]\npoint = {zero}\n{axis}"
            );
        }
    }
    if group.table == "signal" {
        text += "[[input]]\nname = \"u\"\ntarget = \"gravity.x\"\n";
    }
    text += &if single {
        format!("[{}]\n", group.table)
    } else {
        format!("[[{}]]\n", group.table)
    };
    // All keys that must be there, those of the first alternative, and what lies on the way to the key.
    let alternative = match (group.table, key) {
        // In a joint that turns it would be a torque.
        ("force", "force") => group.either.last(),
        _ => (group.either.iter().find(|set| set.contains(&key))).or(group.either.first()),
    };
    for other in group.keys(dimension) {
        let variant = group.variant.filter(|(name, _)| *name == other.name);
        let companion = match (group.table, key, other.name) {
            ("motion", "axis", "body" | "coordinate") => true,
            ("motion", "axis", "joint") => false,
            ("joint", "at", _) => other.required(),
            // Rigid or compliant, not both.
            (
                "force",
                "restitution" | "rest_speed" | "restitution_law",
                "stiffness" | "damping",
            ) => false,
            ("force" | "joint", "rest_speed" | "restitution_law", "restitution") => true,
            ("force", _, "stiffness") if other.default == "this or restitution" => true,
            ("force", _, "damping") => true,
            // A controller has at least one gain.
            ("force", _, "proportional") => true,
            // Without gravity a road has no upward direction; stops are what their stiffness belongs to.
            ("force", _, "up") => true,
            (
                "joint",
                "stiffness" | "damping" | "restitution" | "rest_speed" | "restitution_law",
                "limits",
            )
            | ("joint", "damping", "stiffness") => true,
            ("joint", _, _) if other.default == "required with point" => true,
            _ => other.required() || alternative.is_some_and(|set| set.contains(&other.name)),
        };
        let rubbish = other.name == key;
        if !rubbish && !companion && variant.is_none() {
            continue;
        }
        let value = match (variant, other.name) {
            _ if rubbish => RUBBISH.to_owned(),
            (Some((_, "true")), _) => "true".to_owned(),
            (Some((_, word)), _) => format!("\"{word}\""),
            (None, "bodies") => "[\"ground\", \"a\"]".to_owned(),
            (None, "joints") => "[\"j1\", \"j2\"]".to_owned(),
            (None, "joint") => "\"j1\"".to_owned(),
            (None, "body") => "\"p\"".to_owned(),
            (None, "coordinate") => "\"angle\"".to_owned(),
            (None, "input") => "\"u\"".to_owned(),
            (None, "file") => "\"u.csv\"".to_owned(),
            (None, "frequencies") => "[1, 2]".to_owned(),
            (None, "value") if group.variant == Some(("law", "expression")) => "\"t\"".to_owned(),
            (None, "target") => "\"gravity.x\"".to_owned(),
            (None, "source") => "\"energy.total\"".to_owned(),
            (None, "mass") if group.table == "system" => "[[1]]".to_owned(),
            (None, name) => match other.kind {
                KeyKind::Name => "\"it\"".to_owned(),
                KeyKind::Number(_) => "1".to_owned(),
                KeyKind::Inertia if dimension == 2 => "1".to_owned(),
                KeyKind::Inertia => "[1, 1, 1]".to_owned(),
                KeyKind::Vector if dimension == 2 => "[1, 0]".to_owned(),
                KeyKind::Vector => "[1, 0, 0]".to_owned(),
                KeyKind::Vectors(_) if dimension == 2 => "[[1, 0], [0, 1]]".to_owned(),
                KeyKind::Vectors(Some(3)) => "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]".to_owned(),
                KeyKind::Vectors(_) => "[[1, 0, 0], [0, 1, 0]]".to_owned(),
                KeyKind::Points if dimension == 2 => "[[0, 0], [1, 0]]".to_owned(),
                KeyKind::Points => "[[0, 0, 0], [1, 0, 0]]".to_owned(),
                KeyKind::Count => "2".to_owned(),
                KeyKind::Table(_) if name == "section" => {
                    let n = if dimension == 2 { 3 } else { 6 };
                    format!("{{ stiffness = {:?}, mass_per_length = 1 }}", vec![1; n])
                }
                KeyKind::Numbers(3, 6) if dimension == 2 => "[1, 1, 1]".to_owned(),
                KeyKind::Numbers(3, 6) => "[1, 1, 1, 1, 1, 1]".to_owned(),
                KeyKind::Numbers(..) => "[1]".to_owned(),
                KeyKind::Law(_) => "1".to_owned(),
                KeyKind::Limits => {
                    let count = group.keys(dimension).find_map(|key| match key.kind {
                        KeyKind::Coordinates(count) => Some(count),
                        _ => None,
                    });
                    match count {
                        Some(1) => "[-1, 1]".to_owned(),
                        Some(2) => "[[-1, 1], []]".to_owned(),
                        _ => "[[-1, 1], [], []]".to_owned(),
                    }
                }
                KeyKind::Table(_) if name == "plane" && dimension == 2 => {
                    "{ normal = [0, 1] }".to_owned()
                }
                KeyKind::Table(_) if name == "plane" => "{ normal = [0, 0, 1] }".to_owned(),
                KeyKind::Pairs => "[[0, 1], [1, 1]]".to_owned(),
                other => panic!("{name}: {other:?} is required somewhere"),
            },
        };
        text += &format!("{} = {value}\n", other.name);
    }
    text
}

#[test]
fn every_key_of_the_table_is_read_and_none_is_only_accepted() {
    let mut count = 0;
    for group in groups() {
        for dimension in [2, 3] {
            if !group.exists.has(dimension) {
                continue;
            }
            for key in group.keys(dimension) {
                let text = with_rubbish(group, key.name, dimension);
                // A coordinate that is none of the plane's has no rubbish of its own; all else is a date.
                let found = match Model::from_text(&text, "t") {
                    Ok(_) => panic!("{}: {} is not read\n{text}", group.called(), key.name),
                    Err(error) => error.to_string(),
                };
                let line = 1 + text
                    .lines()
                    .position(|l| l.ends_with("1979-05-27"))
                    .unwrap();
                assert!(
                    found.starts_with(&format!("t:{line}:")) && found.contains("a date"),
                    "{} {}: {found}\n{text}",
                    group.called(),
                    key.name
                );
                count += 1;
            }
        }
    }
    assert!(count > 250, "{count}");
}

#[test]
fn every_group_stands_in_the_schema_with_all_its_keys() {
    let schema = schema();
    let words = schema.to_string();
    for group in groups() {
        assert!(
            words.contains(group.meaning) || group.table.is_empty(),
            "{}",
            group.called()
        );
        for key in group.keys(0) {
            assert!(
                words.contains(&format!("\"{}\":", key.name)),
                "{}",
                key.name
            );
        }
    }
    let space_only = groups().filter(|g| g.exists == KeyDimension::Space).count();
    assert_eq!(space_only, 7, "kinds of joint that the plane does not have");
}
