//! The tables of the manual follow from the keys: the text between `<!-- keys: x -->` and `<!-- end -->` in
//! `docs/model-file.md` is generated here. `BIELA_BLESS=1` writes it.

use std::fmt::Write as _;
use std::path::Path;

use super::beam::{ARC, BEAM, SECTION};
use super::body::{BODY, SENSOR};
use super::curve::{CURVE, PIECE};
use super::force::FORCES;
use super::include::{INCLUDE, MOUNT};
use super::joint::JOINTS;
use super::keys::{Key, KeyDimension, KeyGroup, KeyKind, keys_of_frames};
use super::linear_system::SYSTEM;
use super::motion::MOTIONS;
use super::quantity_list;
use super::signal::{INPUT, OUTPUT, PARAMETER};
use super::signal_law::SIGNALS;
use super::solver::{EXPERIMENT, SOLVER};
use super::top::TOP;

/// The blocks by name.
fn block(name: &str) -> Option<String> {
    Some(match name {
        "top" => table(&[&TOP], |key| !matches!(key.kind, KeyKind::Group)),
        "solver" => table(&[&SOLVER], |_| true),
        "experiment" => table(&[&EXPERIMENT], |_| true),
        "body" => table(&[&BODY], |_| true),
        "joint" => variants(&JOINTS),
        "motion" => variants(&MOTIONS),
        "force" => variants(&FORCES),
        "beam" => {
            let of = |name: &str, keys: &[Key]| format!("\nOf `{name}`:\n\n{}", inner(keys));
            table(&[&BEAM], |_| true) + &of("section", &SECTION) + &of("arc", &ARC)
        }
        "sensor" => table(&[&SENSOR], |_| true),
        "system" => table(&[&SYSTEM], |_| true),
        "signals" => variants(&[INPUT, PARAMETER, OUTPUT]),
        "frames" => frames(),
        "curve" => inner(&CURVE) + &format!("\nOf each piece:\n\n{}", inner(&PIECE)),
        "quantities" => quantities(),
        "joints" => kinds(&JOINTS),
        "laws" => kinds(&MOTIONS),
        "forces" => kinds(&FORCES),
        "include" => table(&[&INCLUDE], |_| true) + &format!("\nOf `mount`:\n\n{}", inner(&MOUNT)),
        "signal" => variants(&SIGNALS),
        "signal_laws" => kinds(&SIGNALS),
        _ => return None,
    })
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn row(out: &mut String, key: &Key, of: Option<&str>) {
    let only = match key.exists {
        KeyDimension::Both => "",
        KeyDimension::Plane => "plane: ",
        KeyDimension::Space => "space: ",
    };
    let of = of.map_or(String::new(), |of| format!(" {} |", cell(of)));
    let former = match key.former_name {
        "" => String::new(),
        former => format!(" (formerly `{former}`)"),
    };
    writeln!(
        out,
        "| `{}`{former} |{of} {} | {} | {only}{} |",
        key.name,
        cell(key.unit),
        cell(key.default),
        cell(key.meaning)
    )
    .unwrap();
}

fn table(groups: &[&KeyGroup], show: impl Fn(&Key) -> bool) -> String {
    let mut out = "| key | unit | default | meaning |\n|---|---|---|---|\n".to_owned();
    for group in groups {
        group
            .keys(0)
            .filter(|key| show(key))
            .for_each(|key| row(&mut out, key, None));
    }
    out
}

fn inner(keys: &[Key]) -> String {
    let mut out = "| key | unit | default | meaning |\n|---|---|---|---|\n".to_owned();
    keys.iter().for_each(|key| row(&mut out, key, None));
    out
}

fn word(group: &KeyGroup) -> &'static str {
    group.variant.map_or(group.table, |(_, variant)| variant)
}

/// One table for all variants: equal rows are listed once, with the variants they belong to.
fn variants(groups: &[KeyGroup]) -> String {
    let mut rows: Vec<(&Key, Vec<&str>)> = vec![];
    for group in groups {
        for key in group.keys(0) {
            let same = |(other, _): &&mut (&Key, Vec<&str>)| {
                other.name == key.name
                    && other.meaning == key.meaning
                    && other.default == key.default
                    && other.unit == key.unit
                    && other.exists == key.exists
            };
            match rows.iter_mut().find(same) {
                Some((_, of)) => of.push(word(group)),
                None => rows.push((key, vec![word(group)])),
            }
        }
    }
    let mut out = "| key | of | unit | default | meaning |\n|---|---|---|---|---|\n".to_owned();
    for (key, of) in rows {
        let of = match of.len() {
            n if n == groups.len() => "all".to_owned(),
            _ => of.join(", "),
        };
        row(&mut out, key, Some(&of));
    }
    out
}

fn quantities() -> String {
    let mut out = "| name | unit | meaning |\n|---|---|---|\n".to_owned();
    for q in quantity_list::quantities() {
        let fields = match q.of {
            "" => format!(
                "`{}{}`",
                q.fields[0],
                if q.fields[0].ends_with('1') {
                    " .."
                } else {
                    ""
                }
            ),
            of => format!("`{of}.{}`", q.fields.join(" .")),
        };
        writeln!(out, "| {fields} | {} | {} |", q.unit, cell(q.meaning)).unwrap();
    }
    out
}

/// The meaning of each variant.
fn kinds(groups: &[KeyGroup]) -> String {
    let mut out = String::new();
    for group in groups {
        let only = match group.exists {
            KeyDimension::Both => "",
            KeyDimension::Plane => " (plane only)",
            KeyDimension::Space => " (space only)",
        };
        writeln!(out, "- `\"{}\"`{only}: {}", word(group), group.meaning).unwrap();
    }
    out
}

/// Keys of the frames of `at`, by type of joint.
fn frames() -> String {
    let mut out = "| type | first frame | second frame |\n|---|---|---|\n".to_owned();
    let words = |keys: &[Key]| {
        let words: Vec<String> = (keys.iter())
            .map(|key| {
                let only = match key.exists {
                    KeyDimension::Both => "",
                    KeyDimension::Plane => " in the plane",
                    KeyDimension::Space => " in space",
                };
                let may = if key.required() { "" } else { "optional " };
                format!("{may}`{}`{only}", key.name)
            })
            .collect();
        words.join(", ")
    };
    for group in &JOINTS {
        if let Some([first, second]) = keys_of_frames(group) {
            writeln!(
                out,
                "| {} | {} | {} |",
                word(group),
                words(first),
                words(second)
            )
            .unwrap();
        }
    }
    out
}

#[test]
fn the_manual_has_the_table_of_every_group() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/model-file.md");
    let manual = std::fs::read_to_string(&path).unwrap();
    let mut made = String::new();
    let mut found = vec![];
    let mut parts = manual.split("<!-- keys: ");
    made += parts.next().unwrap();
    for part in parts {
        let (name, rest) = part.split_once(" -->").unwrap();
        let (_, after) = rest
            .split_once("<!-- end -->")
            .unwrap_or_else(|| panic!("{name} has no end"));
        let block = block(name).unwrap_or_else(|| panic!("there is no block \"{name}\""));
        write!(
            made,
            "<!-- keys: {name} -->\n\n{block}\n<!-- end -->{after}"
        )
        .unwrap();
        found.push(name);
    }
    for name in [
        "top",
        "solver",
        "experiment",
        "body",
        "joint",
        "joints",
        "frames",
        "motion",
        "laws",
        "force",
        "forces",
        "beam",
        "sensor",
        "system",
        "include",
        "signals",
        "signal",
        "signal_laws",
        "curve",
        "quantities",
    ] {
        assert!(found.contains(&name), "the manual has no block \"{name}\"");
    }
    if std::env::var_os("BIELA_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    } else if let Some((line, (old, new))) =
        (manual.lines().zip(made.lines()).enumerate()).find(|(_, (old, new))| old != new)
    {
        panic!(
            "docs/model-file.md:{}: the tables have changed; BIELA_BLESS=1 writes them\nis      {old}\nshould be {new}",
            line + 1
        );
    } else {
        assert_eq!(manual.lines().count(), made.lines().count());
    }
}
