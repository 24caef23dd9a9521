//! One meaning for each type name.

use std::collections::BTreeMap;

use crate::source::production;

/// Names that stand for one idea in more than one place, with the reason.
const SHARED: &[(&str, &str)] = &[(
    "Arguments",
    "the options of one command, in the file of that command",
)];

/// Name of the type that a line declares, if it declares one that others can see.
fn declared(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(')')?.1,
        None => rest,
    };
    let (kind, rest) = rest.trim_start().split_once(' ')?;
    if !matches!(kind, "struct" | "enum" | "trait" | "type" | "union") {
        return None;
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    // A macro writes `$name`.
    (end > 0).then(|| &rest[..end])
}

#[test]
fn a_type_name_has_one_meaning() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in production() {
        for (i, line) in source.code.iter().enumerate() {
            if let Some(name) = declared(line) {
                let place = format!("{}:{}", source.path, i + 1);
                places.entry(name.to_string()).or_default().push(place);
            }
        }
    }
    let shared = |name: &str| SHARED.iter().any(|(allowed, _)| *allowed == name);
    let twice: Vec<String> = places
        .iter()
        .filter(|(name, at)| at.len() > 1 && !shared(name))
        .map(|(name, at)| format!("{name}: {}", at.join(", ")))
        .collect();
    assert!(
        twice.is_empty(),
        "names with several meanings:\n{}",
        twice.join("\n")
    );
    for (name, _) in SHARED {
        assert!(
            places.get(*name).is_some_and(|at| at.len() > 1),
            "{name} need not be in the list of shared names any more"
        );
    }
}
