//! A public type name has one meaning in the crate.

use std::collections::BTreeMap;

use super::source::files;

/// Names that occur more than once, each with the reason.
const ALLOWED: [(&str, &str); 1] = [(
    "Arguments",
    "clap's convention: the arguments of one command each, in a module of its name",
)];

/// Types that are visible outside their module: name and file.
fn public_types() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files() {
        for line in file.production.lines() {
            let line = line.trim_start();
            let Some(rest) = line.strip_prefix("pub") else {
                continue;
            };
            let rest = match rest.strip_prefix('(') {
                Some(scope) => scope.split_once(')').map_or("", |(_, rest)| rest),
                None => rest,
            };
            let mut words = rest
                .trim_start()
                .trim_start_matches("unsafe ")
                .split_whitespace();
            let Some("struct" | "enum" | "trait" | "union" | "type") = words.next() else {
                continue;
            };
            let name = words.next().unwrap_or("");
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let name = &name[..end.unwrap_or(name.len())];
            found
                .entry(name.to_owned())
                .or_default()
                .push(file.path.clone());
        }
    }
    found
}

#[test]
fn no_public_type_name_has_two_meanings() {
    let found = public_types();
    assert!(found.len() > 100, "the types are not found any more");
    let twice: Vec<String> = found
        .iter()
        .filter(|(name, files)| files.len() > 1 && !ALLOWED.iter().any(|(known, _)| known == name))
        .map(|(name, files)| format!("{name}: {}", files.join(", ")))
        .collect();
    assert!(
        twice.is_empty(),
        "{} names:\n{}",
        twice.len(),
        twice.join("\n")
    );
    for (name, reason) in ALLOWED {
        let count = found.get(name).map_or(0, Vec::len);
        assert!(count > 1, "{name} needs no exception any more ({reason})");
    }
}
