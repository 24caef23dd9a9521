//! The command line as a user meets it: the built program, real files, exit status, words on both streams.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SLIDER_CRANK: &str = "models/slider_crank.toml";
const PENDULUM: &str = "models/pendulum.toml";
const OSCILLATOR: &str = "models/oscillator.toml";

const KEYS: [&str; 18] = [
    "steps",
    "rejected",
    "newton_failures",
    "newton_iterations",
    "residuals",
    "factorizations",
    "solves",
    "steps_smooth",
    "steps_corrected",
    "steps_plain",
    "time_stepping",
    "smallest_step",
    "largest_step",
    "worst_error",
    "cpu_seconds",
    "real_time_factor",
    "energy_drift",
    "final",
];

fn biela(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_biela"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// Standard output of a call that must succeed.
fn fine(arguments: &[&str]) -> String {
    let output = biela(arguments);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    assert!(
        output.stderr.is_empty(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Standard error of a call that must end with `status`.
fn refused(arguments: &[&str], status: i32) -> String {
    let output = biela(arguments);
    let sentence = text(&output.stderr);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {sentence}"
    );
    assert!(!sentence.contains("panicked"), "{arguments:?}: {sentence}");
    sentence
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the program writes UTF-8")
}

/// A file of this test alone.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path
}

fn word(path: &Path) -> &str {
    path.to_str().expect("the test folder has a plain name")
}

/// Head and rows of a CSV text.
fn table(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = text.lines();
    let head = lines.next().expect("a head line").split(',');
    let rows = lines.map(|line| {
        line.split(',')
            .map(|field| field.parse().expect("a number"))
            .collect()
    });
    (head.map(str::to_owned).collect(), rows.collect())
}

fn json(arguments: &[&str]) -> serde_json::Value {
    serde_json::from_str(&fine(arguments)).expect("one JSON object")
}

// ---- tables ------------------------------------------------------------------------------------------------------

#[test]
fn the_table_has_time_and_the_declared_outputs_and_ends_at_stop() {
    let path = scratch("table.csv");
    let said = fine(&["run", SLIDER_CRANK, "--stop", "0.5", "--out", word(&path)]);
    assert!(said.contains("slider_crank: 0 s to 0.5 s"), "{said}");
    assert!(said.contains(word(&path)), "{said}");
    let (head, rows) = table(&fs::read_to_string(&path).unwrap());
    let outputs = [
        "time",
        "crank_angle",
        "crank_speed",
        "slider_x",
        "slider_v",
        "pivot_fx",
        "pivot_fy",
        "guide_fy",
        "energy",
    ];
    assert_eq!(head, outputs);
    assert!(rows.iter().all(|row| row.len() == outputs.len()));
    assert_eq!(rows.len(), 51, "the model's own interval is 0.01 s");
    assert_eq!(rows[0][0], 0.0);
    assert_eq!(rows[50][0], 0.5);
    assert_eq!(rows[0][1], std::f64::consts::FRAC_PI_4);
}

#[test]
fn rows_of_an_interval_lie_exactly_on_its_multiples_and_the_steps_do_not_change() {
    let interval = 0.007;
    let csv = fine(&["run", SLIDER_CRANK, "--interval", "0.007", "--out", "-"]);
    let (_, rows) = table(&csv);
    assert_eq!(rows.len(), 286);
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row[0], k as f64 * interval);
        // On the constraints also between the steps: slider_x = r cos + sqrt(l² - r² sin²), closure 1e-10 L.
        let (sin, cos) = row[1].sin_cos();
        let expected = 0.2 * cos + (0.25 - 0.04 * sin * sin).sqrt();
        assert!(
            (row[3] - expected).abs() < 1e-9,
            "t = {}: slider_x = {}, expected {expected}",
            row[0],
            row[3]
        );
    }
    let path = scratch("sampled.csv");
    let plain = json(&["run", SLIDER_CRANK, "--json"]);
    let sampled = json(&[
        "run",
        SLIDER_CRANK,
        "--json",
        "--interval",
        "0.0003",
        "--out",
        word(&path),
    ]);
    for key in [
        "steps",
        "rejected",
        "newton_iterations",
        "residuals",
        "factorizations",
        "solves",
        "final",
    ] {
        assert_eq!(plain[key], sampled[key], "{key}");
    }
}

#[test]
fn without_an_interval_each_accepted_step_is_a_row() {
    let model = scratch("free.toml");
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(SLIDER_CRANK)).unwrap();
    fs::write(&model, text.replace("interval = 0.01", "")).unwrap();
    let (_, rows) = table(&fine(&["run", word(&model), "--out", "-"]));
    let steps = json(&["run", word(&model), "--json"])["steps"]
        .as_u64()
        .unwrap();
    assert_eq!(rows.len() as u64, steps + 1);
    assert!(rows.windows(2).all(|w| w[1][0] > w[0][0]));
    assert_eq!(rows.last().unwrap()[0], 2.0);
}

#[test]
fn communication_points_are_landed_on_and_the_last_is_cut_to_stop() {
    let model = scratch("communicating.toml");
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(SLIDER_CRANK)).unwrap();
    fs::write(&model, text.replace("interval = 0.01", "")).unwrap();
    let csv = fine(&["run", word(&model), "--communication", "0.3", "--out", "-"]);
    let (_, rows) = table(&csv);
    for k in 0..=6 {
        let point = k as f64 * 0.3;
        let near = rows
            .iter()
            .map(|row| (row[0] - point).abs())
            .fold(f64::INFINITY, f64::min);
        // t + H may differ from k H by a rounding of t.
        assert!(near <= 4e-16, "no row at {point}: nearest is {near} away");
    }
    assert_eq!(rows.last().unwrap()[0], 2.0);
}

#[test]
fn communication_and_interval_may_be_combined() {
    let both = [
        "run",
        SLIDER_CRANK,
        "--communication",
        "0.05",
        "--interval",
        "0.02",
        "--out",
        "-",
    ];
    let (_, rows) = table(&fine(&both));
    assert_eq!(rows.len(), 101);
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row[0], k as f64 * 0.02);
    }
    // A master's points cost steps but leave the motion within the accuracy asked for: 1e-6 for each of some hundred
    // steps, grown by the motion itself over 2 s.
    let alone = json(&["run", SLIDER_CRANK, "--json"]);
    let driven = json(&["run", SLIDER_CRANK, "--json", "--communication", "0.05"]);
    let (a, b) = (&alone["final"]["slider_x"], &driven["final"]["slider_x"]);
    assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-3);
    assert!(driven["steps"].as_u64() >= alone["steps"].as_u64());
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_biela"))
        .args(["run", SLIDER_CRANK, "--interval", "1e-5", "--out", "-"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut head = String::new();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    reader.read_line(&mut head).unwrap();
    drop(reader);
    let output = child.wait_with_output().unwrap();
    assert!(head.starts_with("time,"), "{head}");
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

// ---- settings and JSON -------------------------------------------------------------------------------------------

#[test]
fn a_set_parameter_changes_the_motion_as_the_closed_form_says() {
    for (k, frequency) in [
        ("k=100", 10.0_f64),
        ("k = 400", 20.0),
        ("spring.stiffness=225", 15.0),
    ] {
        let run = json(&[
            "run",
            OSCILLATOR,
            "--set",
            k,
            "--set",
            "solver.tolerance=1e-9",
            "--stop",
            "1",
            "--json",
        ]);
        let q = run["final"]["q"].as_f64().unwrap();
        // Local errors of 1e-9 in some hundreds of steps.
        let expected = 0.1 * frequency.cos();
        assert!(
            (q - expected).abs() < 1e-6,
            "{k}: q(1) = {q}, expected {expected}"
        );
    }
}

#[test]
fn the_json_object_has_the_documented_keys_in_order() {
    let said = fine(&["run", PENDULUM, "--json"]);
    assert_eq!(said.lines().count(), 1);
    let run: serde_json::Value = serde_json::from_str(&said).unwrap();
    let object = run.as_object().unwrap();
    assert_eq!(object.len(), KEYS.len());
    let mut place = 0;
    for key in KEYS {
        assert!(object.contains_key(key), "{key} is missing");
        place += said[place..]
            .find(&format!("\"{key}\": "))
            .expect("in order");
    }
    assert!(run["steps"].as_u64().unwrap() > 10);
    for key in [
        "smallest_step",
        "largest_step",
        "cpu_seconds",
        "real_time_factor",
    ] {
        assert!(run[key].as_f64().unwrap() > 0.0, "{key} = {}", run[key]);
    }
    assert!(run["worst_error"].as_f64().unwrap() <= 1.0);
    assert!(run["energy_drift"].as_f64().unwrap().abs() < 1e-2);
    let names: Vec<&String> = run["final"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["x", "y", "angle", "speed", "energy"]); // the order of the model
}

#[test]
fn the_same_run_gives_the_same_numbers() {
    let run = || fine(&["run", SLIDER_CRANK, "--interval", "0.1", "--out", "-"]);
    assert_eq!(run(), run());
}

#[test]
fn without_files_the_summary_is_printed() {
    let said = fine(&["run", PENDULUM]);
    for part in [
        "steps",
        "rejected",
        "CPU",
        "energy drift",
        "at the end",
        "angle",
    ] {
        assert!(said.contains(part), "no \"{part}\" in\n{said}");
    }
}

// ---- refusals ----------------------------------------------------------------------------------------------------

#[test]
fn bad_arguments_are_refused_by_name_with_status_2() {
    let cases: [(&[&str], &str); 12] = [
        (&["run"], "MODEL"),
        (&["walk"], "walk"),
        (&["run", PENDULUM, "--interval", "0"], "--interval"),
        (&["run", PENDULUM, "--interval", "-0.1"], "--interval"),
        (&["run", PENDULUM, "--interval", "nan"], "--interval"),
        (
            &["run", PENDULUM, "--communication", "inf"],
            "--communication",
        ),
        (
            &["run", PENDULUM, "--communication", "1e-15"],
            "--communication",
        ),
        (&["run", PENDULUM, "--stop", "1e999"], "--stop"),
        (&["run", PENDULUM, "--stop", "-1"], "--stop"),
        (&["run", PENDULUM, "--set", "bob.mass"], "NAME=VALUE"),
        (&["run", PENDULUM, "--set", "bob.mass=heavy"], "bob.mass"),
        (&["run", PENDULUM, "--json", "--out", "-"], "--json"),
    ];
    for (arguments, culprit) in cases {
        let sentence = refused(arguments, 2);
        assert!(sentence.contains(culprit), "{arguments:?}: {sentence}");
    }
}

#[test]
fn a_name_that_cannot_be_set_is_refused_with_the_nearest_one() {
    let sentence = refused(&["run", SLIDER_CRANK, "--set", "slider_mas=1"], 2);
    assert!(
        sentence.contains("slider_mas") && sentence.contains("\"slider_mass\""),
        "{sentence}"
    );
}

#[test]
fn a_wrong_model_is_refused_with_file_line_and_column() {
    let model = scratch("wrong.toml");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PENDULUM)).unwrap();
    let text = text.replace("mass = 1.0", "mass = \"heavy\"");
    let line = 1 + text.lines().position(|l| l.starts_with("mass")).unwrap();
    fs::write(&model, &text).unwrap();
    for command in ["run", "check"] {
        let sentence = refused(&[command, word(&model)], 2);
        let place = format!("wrong.toml:{line}:9: ");
        assert!(sentence.contains(&place), "no {place} in {sentence}");
    }
    let sentence = refused(&["run", "models/missing.toml"], 2);
    assert!(sentence.contains("missing.toml"), "{sentence}");
}

#[test]
fn files_that_cannot_be_written_are_known_before_the_run() {
    for option in ["--out", "--plot"] {
        let file = format!(
            "no/such/folder/file.{}",
            &option.replace("--out", "csv").replace("--plot", "svg")
        );
        let sentence = refused(&["run", PENDULUM, option, &file], 2);
        assert!(sentence.contains("no/such/folder/file"), "{sentence}");
    }
    let model = scratch("kept.toml");
    let before = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(PENDULUM)).unwrap();
    fs::write(&model, &before).unwrap();
    refused(&["run", word(&model), "--out", word(&model)], 2);
    assert_eq!(fs::read_to_string(&model).unwrap(), before);
}

#[test]
fn a_run_that_fails_keeps_its_table_says_where_and_ends_with_status_1() {
    // Steps are not allowed to be as short as the accuracy asks for, in the middle of the motion.
    let model = scratch("failing.toml");
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(SLIDER_CRANK)).unwrap();
    let text = text.replace("tolerance = 1e-6", "tolerance = 1e-6\nmax_substeps = 20");
    fs::write(&model, text).unwrap();
    let csv = scratch("failing.csv");
    let plot = scratch("failing.svg");
    let arguments = [
        "run",
        word(&model),
        "--interval",
        "0.001",
        "--communication",
        "1",
        "--out",
        word(&csv),
        "--plot",
        word(&plot),
    ];
    let sentence = refused(&arguments, 1);
    assert!(
        sentence.contains("stopped at t = ") && sentence.contains("max_substeps"),
        "{sentence}"
    );
    let (_, rows) = table(&fs::read_to_string(&csv).unwrap());
    assert!(rows.len() > 10 && rows.len() < 2000, "{} rows", rows.len());
    well_formed(&fs::read_to_string(&plot).unwrap());
    let output = biela(&["run", word(&model), "--json", "--communication", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["steps"], 20);
}

#[test]
fn help_and_version_are_no_errors() {
    let help = fine(&["run", "--help"]);
    for option in [
        "--stop",
        "--interval",
        "--communication",
        "--out",
        "--plot",
        "--set",
        "--json",
        "summary",
        "Exit status",
    ] {
        assert!(help.contains(option), "{option} is not in the help");
    }
    assert_eq!(
        fine(&["--version"]),
        format!("biela {}\n", env!("CARGO_PKG_VERSION"))
    );
}

// ---- check -------------------------------------------------------------------------------------------------------

#[test]
fn check_says_what_the_model_is() {
    let said = fine(&["check", SLIDER_CRANK]);
    for part in [
        "slider_crank (2 dimensions)",
        "bodies        3",
        "joints        4",
        "1 degree of freedom",
        "redundant     none",
        "gravity       [0, -9.81] m/s2",
        "absolute coordinates, multipliers (chosen by auto: cheaper in the plane)",
        "consistent as written",
        "tolerance 1e-6",
        "tau",
        "N.m",
        "slider_mass",
        "crank_speed",
        "rad/s",
        "warnings      none",
    ] {
        assert!(said.contains(part), "no \"{part}\" in\n{said}");
    }
}

#[test]
fn check_and_run_show_a_model_of_matrices() {
    const MODEL: &str = "models/double_oscillator.toml";
    let printed = fine(&["check", MODEL]);
    for words in [
        "double_oscillator (given by its matrices)",
        "coordinates   2",
        "mass          2 x 2, 2 entries",
        "damping       none",
        "stiffness     2 x 2, 4 entries",
        "2 degrees of freedom",
        "warnings      none",
    ] {
        assert!(printed.contains(words), "{words}\n{printed}");
    }
    assert!(!printed.contains("gravity"), "{printed}");
    let result = json(&["run", MODEL, "--json", "--set", "solver.tolerance=1e-10"]);
    let slow = result["final"]["slow"].as_f64().unwrap();
    // The closed form at t = 1.4; see tests/reference/example1.csv.
    assert!((slow - 1.7003612943584674).abs() < 1e-6, "{slow}");
    let picture = scratch("double_oscillator.svg");
    fine(&["run", MODEL, "--plot", word(&picture)]);
    let drawing = fs::read_to_string(&picture).unwrap();
    well_formed(&drawing);
    assert!(!drawing.contains("class=\"body\""));
    assert!(drawing.contains("slow"));
}

#[test]
fn check_counts_redundant_constraints_and_names_a_joint() {
    // A parallelogram with a third, parallel rocker: 12 coordinates, 12 rows, yet it moves.
    let mut text = "format = 1\nname = \"rockers\"\ndimension = 2\ngravity = [0.0, -9.81]\n\
        [[body]]\nname = \"coupler\"\nmass = 1.0\ninertia = 0.4\nposition = [1.0, 1.0]\n"
        .to_owned();
    for i in 0..3 {
        text += &format!(
            "[[body]]\nname = \"rocker{i}\"\nmass = 1.0\ninertia = 0.1\nposition = [{i}.0, 0.5]\n\
             [[joint]]\nname = \"foot{i}\"\ntype = \"revolute\"\nbodies = [\"ground\", \"rocker{i}\"]\n\
             point = [{i}.0, 0.0]\n\
             [[joint]]\nname = \"head{i}\"\ntype = \"revolute\"\nbodies = [\"rocker{i}\", \"coupler\"]\n\
             point = [{i}.0, 1.0]\n"
        );
    }
    let model = scratch("rockers.toml");
    fs::write(&model, text).unwrap();
    let said = fine(&["check", word(&model)]);
    assert!(said.contains("freedom       1 degree of freedom"), "{said}");
    let line = said.lines().find(|l| l.contains("redundant  ")).unwrap();
    assert!(
        line.contains("1: \"foot") || line.contains("1: \"head"),
        "{said}"
    );
    assert!(said.contains("warning       constraints of"), "{said}");
}

#[test]
fn check_refuses_what_cannot_be_assembled_by_the_names_of_its_joints() {
    // Two pins 3 m apart on a bar of 1 m.
    let model = scratch("open.toml");
    let text = "format = 1\nname = \"open\"\ndimension = 2\n\
        [[body]]\nname = \"bar\"\nmass = 1.0\ninertia = 0.1\nposition = [0.5, 0.0]\n\
        [[joint]]\nname = \"left\"\ntype = \"revolute\"\nbodies = [\"ground\", \"bar\"]\n\
        at = [{ point = [0.0, 0.0] }, { point = [-0.5, 0.0] }]\n\
        [[joint]]\nname = \"right\"\ntype = \"revolute\"\nbodies = [\"ground\", \"bar\"]\n\
        at = [{ point = [3.0, 0.0] }, { point = [0.5, 0.0] }]\n";
    fs::write(&model, text).unwrap();
    for command in ["check", "run"] {
        let sentence = refused(&[command, word(&model)], 2);
        assert!(
            sentence.contains("left") || sentence.contains("right"),
            "{sentence}"
        );
    }
}

// ---- pictures ----------------------------------------------------------------------------------------------------

#[test]
fn a_picture_is_well_formed_moves_every_body_and_changes_no_number() {
    let plot = scratch("picture.svg");
    let drawn = json(&["run", SLIDER_CRANK, "--json", "--plot", word(&plot)]);
    let plain = json(&["run", SLIDER_CRANK, "--json"]);
    for key in [
        "steps",
        "rejected",
        "newton_iterations",
        "residuals",
        "factorizations",
        "solves",
        "final",
    ] {
        assert_eq!(plain[key], drawn[key], "{key}");
    }
    let picture = fs::read_to_string(&plot).unwrap();
    well_formed(&picture);
    for body in ["crank", "rod", "slider"] {
        let group = format!("<g class=\"body\" id=\"{body}\"");
        let at = picture
            .find(&group)
            .unwrap_or_else(|| panic!("no group for {body}"));
        let end = at + picture[at..].find("</g>").unwrap();
        assert_eq!(
            picture[at..end].matches("<animateTransform").count(),
            2,
            "{body}"
        );
    }
    assert_eq!(picture.matches("class=\"body\"").count(), 3);
    assert!(!picture.contains("NaN") && !picture.contains("inf"));
}

#[test]
fn every_model_of_the_folder_can_be_checked_run_and_drawn() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let mut count = 0;
    let entries = fs::read_dir(folder.join("beams")).unwrap();
    for entry in fs::read_dir(folder).unwrap().chain(entries) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let plot = scratch(&format!("{}.svg", path.file_name().unwrap().display()));
        fine(&["check", word(&path)]);
        fine(&["run", word(&path), "--stop", "0.5", "--plot", word(&plot)]);
        well_formed(&fs::read_to_string(&plot).unwrap());
        count += 1;
    }
    assert!(count >= 7);
}

/// Tags balance, attributes are quoted, text holds no bare markup.
fn well_formed(document: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        let before = &rest[..start];
        assert!(!before.contains('>'), "stray > in {before:?}");
        let end = start + rest[start..].find('>').expect("every tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes something else");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        let attributes = tag[name.len()..].trim_end_matches('/');
        // Outside quotes only names, equals signs and spaces.
        let mut outside = attributes.split('"').step_by(2);
        assert_eq!(attributes.matches('"').count() % 2, 0, "<{tag}>");
        assert!(
            outside.all(|part| part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || " =-:".contains(c))),
            "<{tag}>"
        );
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    for (at, _) in document.match_indices('&') {
        let entity = &document[at..document.len().min(at + 7)];
        assert!(entity.contains(';'), "bare & in {entity:?}");
    }
}
