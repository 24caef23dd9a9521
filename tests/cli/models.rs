//! What the command line says about model files: `new`, `schema`, `explain`, and `check` on mechanisms in space.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

fn biela(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_biela"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts")
}

fn fine(folder: &Path, arguments: &[&str]) -> String {
    let output = biela(folder, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_new_model_can_be_checked_and_run_at_once() {
    let folder = scratch("new");
    let said = fine(&folder, &["new", "swing"]);
    assert_eq!(said, "wrote swing.toml; try: biela run swing.toml\n");
    let checked = fine(&folder, &["check", "swing.toml"]);
    assert!(checked.contains("1 degree of freedom"), "{checked}");
    assert!(checked.contains("warnings      none"), "{checked}");
    fine(
        &folder,
        &["run", "swing.toml", "--stop", "1", "--out", "swing.csv"],
    );
    let table = fs::read_to_string(folder.join("swing.csv")).unwrap();
    assert!(
        table.starts_with("time,angle,tip_x,tip_y,energy"),
        "{table}"
    );
    // What stands in comments is right too: the motion and the spring, uncommented.
    let text = fs::read_to_string(folder.join("swing.toml")).unwrap();
    let mut used = String::new();
    for line in text.lines() {
        let keyed = line.contains(" = ") || line.starts_with("# [[");
        used += match line.strip_prefix("# ") {
            Some(rest) if keyed => rest,
            _ => line,
        };
        used.push('\n');
    }
    fs::write(folder.join("all.toml"), used).unwrap();
    let checked = fine(&folder, &["check", "all.toml"]);
    assert!(checked.contains("constant speed, of pivot"), "{checked}");
}

#[test]
fn a_new_model_does_not_overwrite_and_needs_a_name() {
    let folder = scratch("new_twice");
    fine(&folder, &["new"]);
    let before = fs::read(folder.join("pendulum.toml")).unwrap();
    for (name, fragment) in [
        ("pendulum", "cannot write pendulum.toml"),
        ("my model", "letters, digits"),
    ] {
        let output = biela(&folder, &["new", name]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(fragment), "{said}");
    }
    assert_eq!(fs::read(folder.join("pendulum.toml")).unwrap(), before);
}

#[test]
fn explain_knows_keys_and_quantities() {
    let folder = Path::new(".");
    for (word, fragments) in [
        (
            "pitch",
            &[
                "[[joint]] with type = \"screw\"",
                "unit: m",
                "default: required",
            ][..],
        ),
        ("solver.alpha", &["0 .. 1/3", "default: 0.05"]),
        (
            "revolute",
            &[
                "Rotation about an axis",
                "keys: name, type, description, bodies",
            ],
        ),
        ("crank.alphaz", &["rad/s2", "ground axes"]),
        ("energy.balance", &["total + dissipated - supplied"]),
        ("motion", &["constant_speed", "harmonic"]),
    ] {
        let said = fine(folder, &["explain", word]);
        for fragment in fragments {
            assert!(
                said.contains(fragment),
                "{word}: no \"{fragment}\" in\n{said}"
            );
        }
    }
    let output = biela(folder, &["explain", "tolerence"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean \"tolerance\"?"));
}

#[test]
fn the_schema_is_json_and_right_by_the_metaschema_where_python_can_tell() {
    let folder = scratch("schema");
    let text = fine(&folder, &["schema"]);
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    fs::write(folder.join("schema.json"), &text).unwrap();
    let program = "
import json, sys
try:
    import jsonschema, tomllib
except ImportError as e:
    print('SKIP:', e); sys.exit(0)
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
judge = jsonschema.Draft202012Validator(schema)
import glob
count = 0
for path in sorted(glob.glob(sys.argv[2] + '/*.toml')):
    judge.validate(tomllib.load(open(path, 'rb'))); count += 1
for path in sorted(glob.glob(sys.argv[2] + '/*.json')):
    judge.validate(json.load(open(path))); count += 1
assert not judge.is_valid({'format': 1, 'colour': 2})
print('validated', count)
";
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let outcome = Command::new("python3")
        .args(["-c", program])
        .arg(folder.join("schema.json"))
        .arg(models)
        .output();
    match outcome {
        Err(e) => eprintln!("SKIP: python3 does not start: {e}"),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            eprintln!("{said}");
            assert!(
                said.starts_with("SKIP") || said.starts_with("validated"),
                "{said}"
            );
        }
    }
}

/// A four-bar linkage in space: planar, so that three rows of its last joint follow from the others.
fn four_bar(at: bool) -> String {
    let mut text = "format = 1\nname = \"four_bar\"\ngravity = [0.0, -9.81, 0.0]\n".to_owned();
    let off = if at { 0.04 } else { 0.0 };
    for (name, x, y, inertia) in [
        ("left", 0.0, 0.5 + off, "[0.08, 0.001, 0.08]"),
        ("bar", 0.5 + off, 1.0, "[0.001, 0.08, 0.08]"),
        ("right", 1.0, 0.5, "[0.08, 0.001, 0.08]"),
    ] {
        text += &format!(
            "[[body]]\nname = \"{name}\"\nmass = 1.0\ninertia = {inertia}\nposition = [{x}, {y}, 0.0]\n"
        );
    }
    for (name, a, b, point, in_a, in_b) in [
        (
            "a",
            "ground",
            "left",
            "[0.0, 0.0, 0.0]",
            "[0.0, 0.0, 0.0]",
            "[0.0, -0.5, 0.0]",
        ),
        (
            "b",
            "left",
            "bar",
            "[0.0, 1.0, 0.0]",
            "[0.0, 0.5, 0.0]",
            "[-0.5, 0.0, 0.0]",
        ),
        (
            "c",
            "bar",
            "right",
            "[1.0, 1.0, 0.0]",
            "[0.5, 0.0, 0.0]",
            "[0.0, 0.5, 0.0]",
        ),
        (
            "d",
            "ground",
            "right",
            "[1.0, 0.0, 0.0]",
            "[1.0, 0.0, 0.0]",
            "[0.0, -0.5, 0.0]",
        ),
    ] {
        let axis = "axis = [0.0, 0.0, 1.0]";
        let place = match at {
            false => format!("point = {point}\n{axis}\n"),
            true => format!("at = [{{ point = {in_a}, {axis} }}, {{ point = {in_b}, {axis} }}]\n"),
        };
        text += &format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"{a}\", \"{b}\"]\n{place}"
        );
    }
    text + "[[output]]\nname = \"y\"\nsource = \"bar.y\"\n"
}

#[test]
fn check_counts_freedom_by_rank_and_names_redundant_joints() {
    let folder = scratch("four_bar");
    fs::write(folder.join("drawn.toml"), four_bar(false)).unwrap();
    let said = fine(&folder, &["check", "drawn.toml"]);
    // 18 coordinates, 20 rows, three of which follow from the others.
    for part in [
        "four_bar (3 dimensions)",
        "inertia [0.08, 0.001, 0.08] kg.m2",
        "total mass    3 kg",
        "freedom       1 degree of freedom (counted -2: coordinates less constraints, 3 of which are redundant)",
        "redundant     3: ",
        "consistent as written",
        "warning       constraints of",
    ] {
        assert!(said.contains(part), "no \"{part}\" in\n{said}");
    }
}

#[test]
fn check_names_the_independent_coordinates_that_were_chosen() {
    let folder = scratch("independent");
    let solver = "[solver]\nformulation = \"topological\"\n";
    fs::write(folder.join("drawn.toml"), four_bar(false) + solver).unwrap();
    let said = fine(&folder, &["check", "drawn.toml"]);
    for part in ["freedom       1 degree of freedom\n", "redundant     \""] {
        assert!(said.contains(part), "no \"{part}\" in\n{said}");
    }
    let chosen = said.lines().find(|line| line.contains("  independent   "));
    let chosen = chosen.unwrap_or_else(|| panic!("no choice in\n{said}"));
    // One of four pins.
    assert_eq!(chosen.matches(".position\"").count(), 1, "{chosen}");
}

#[test]
fn check_names_the_bodies_that_the_assembly_moved() {
    let folder = scratch("moved");
    fs::write(folder.join("at.toml"), four_bar(true)).unwrap();
    let said = fine(&folder, &["check", "at.toml"]);
    for part in [
        "assembled: loops were open by",
        "left  ",
        "moved by ",
        "has been assembled",
    ] {
        assert!(said.contains(part), "no \"{part}\" in\n{said}");
    }
}

#[test]
fn check_of_ten_thousand_bodies_takes_seconds() {
    let mut text = "format = 1\ngravity = [0.0, 0.0, -9.81]\n".to_owned();
    let count = if std::env::var_os("BIELA_TEST_FULL").is_some() {
        10_000
    } else {
        2_000
    };
    for i in 0..count {
        let before = if i == 0 {
            "ground".to_owned()
        } else {
            format!("b{}", i - 1)
        };
        text += &format!(
            "[[body]]\nname = \"b{i}\"\nmass = 1.0\ninertia = [0.001, 0.08, 0.08]\nposition = [{i}.5, 0.0, 0.0]\n\
             [[joint]]\nname = \"j{i}\"\ntype = \"spherical\"\nbodies = [\"{before}\", \"b{i}\"]\npoint = [{i}.0, 0.0, 0.0]\n"
        );
    }
    let folder = scratch("long");
    fs::write(folder.join("chain.toml"), text).unwrap();
    let begun = Instant::now();
    let said = fine(&folder, &["check", "chain.toml"]);
    let seconds = begun.elapsed().as_secs_f64();
    assert!(
        said.contains(&format!("{} degrees of freedom", 3 * count)),
        "{said}"
    );
    assert!(said.contains("more (--all shows them)"), "{said}");
    // Half a second of work for 10,000 bodies on a quiet machine in a release build; anything quadratic takes minutes.
    assert!(seconds < 60.0, "{seconds} s");
    let all = fine(&folder, &["check", "chain.toml", "--all"]);
    assert!(all.contains(&format!("b{} ", count - 1)));
}

/// A four-bar linkage of given joint points on the ground, with as many bars across as there are pairs of points: from the ground
/// to the coupler.
fn braced(bars: &[[[f64; 2]; 2]]) -> String {
    let mut text = "format = 1\nname = \"braced\"\ndimension = 2\n".to_owned();
    let mut body = |name: &str, at: [f64; 2]| {
        text +=
            &format!("[[body]]\nname = \"{name}\"\nmass = 1.0\ninertia = 0.1\nposition = {at:?}\n");
    };
    body("left", [0.0, 0.5]);
    body("top", [1.0, 1.0]);
    body("right", [2.0, 0.5]);
    for (k, [from, to]) in bars.iter().enumerate() {
        let middle = [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1])];
        body(&format!("bar{k}"), middle);
    }
    let mut joint = |name: &str, bodies: [&str; 2], at: [f64; 2]| {
        text += &format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = {bodies:?}\npoint = {at:?}\n"
        );
    };
    joint("A", ["ground", "left"], [0.0, 0.0]);
    joint("B", ["left", "top"], [0.0, 1.0]);
    joint("C", ["top", "right"], [2.0, 1.0]);
    joint("D", ["ground", "right"], [2.0, 0.0]);
    for (k, [from, to]) in bars.iter().enumerate() {
        let bar = format!("bar{k}");
        joint(&format!("E{k}"), ["ground", &bar], *from);
        joint(&format!("F{k}"), [&bar, "top"], *to);
    }
    text
}

#[test]
fn a_loop_that_cannot_move_says_so_by_name() {
    let folder = scratch("stuck");
    let check = |name: &str, bars: &[[[f64; 2]; 2]]| {
        fs::write(folder.join(name), braced(bars)).unwrap();
        fine(&folder, &["check", name])
    };
    // Parallel to the cranks a bar brings nothing new; across it holds everything, and a second one is too much.
    let parallel = [[1.0, 0.0], [1.0, 1.0]];
    let across = [[0.5, 0.0], [1.0, 1.0]];
    let other = [[1.7, 0.0], [0.9, 1.0]];
    let moves = check("parallel.toml", &[parallel]);
    assert!(moves.contains("1 degree of freedom"), "{moves}");
    assert!(!moves.contains("cannot move"), "{moves}");
    let rigid = check("across.toml", &[across]);
    assert!(rigid.contains("nothing can move"), "{rigid}");
    let stuck = check("both.toml", &[across, other]);
    let words = "\"left\", \"top\", \"right\", \"bar0\", \"bar1\" cannot move: they are fully constrained by redundant joints: \
                 \"A\", \"B\", \"C\", \"D\", \"E0\", \"F0\", \"E1\", \"F1\"";
    assert!(stuck.contains(words), "{stuck}");
}
