//! `run --error-bars` and `run --accuracy`: summary, `--json`, table, page.

use std::fs;

use serde_json::Value;

use super::program::{fine, folder, outcome, word};

const DOUBLE_PENDULUM: &str = "models/double_pendulum.toml";

fn json(arguments: &[&str]) -> Value {
    let all = [&["run", DOUBLE_PENDULUM, "--json"], arguments].concat();
    serde_json::from_str(&fine(&all)).expect("JSON")
}

#[test]
fn the_error_of_every_output_is_stated_and_the_values_stay() {
    let plain = json(&["--stop", "2"]);
    let barred = json(&["--stop", "2", "--error-bars"]);
    assert_eq!(plain["final"], barred["final"]);
    assert_eq!(plain["steps"], barred["steps"]);
    assert!(plain.get("error").is_none());
    let exact = json(&["--stop", "2", "--tolerance", "1e-12"]);
    for output in ["x1", "y1", "x2", "y2"] {
        let bar = barred["error"][output].as_f64().expect("a bar");
        let [value, true_value] =
            [&barred, &exact].map(|run| run["final"][output].as_f64().unwrap());
        assert!(bar > 0.0 && bar < 1e-6, "{output}: {bar}");
        assert!(
            (value - true_value).abs() <= bar,
            "{output}: {value} {true_value} {bar}"
        );
    }
    assert!(barred["worst_error_bar"].as_f64().unwrap() < 1e-6);
    assert_eq!(barred["undetermined_after"], Value::Null);
    let said = fine(&["run", DOUBLE_PENDULUM, "--stop", "2", "--error-bars"]);
    assert!(
        said.contains(" ± ") && said.contains("largest error bar"),
        "{said}"
    );
}

#[test]
fn a_motion_that_cannot_be_known_is_said_plainly() {
    let loose = ["--stop", "40", "--error-bars", "--tolerance", "1e-4"];
    let run = json(&loose);
    let lost = run["undetermined_after"].as_f64().expect("a time");
    assert!(lost > 1.0 && lost < 40.0, "{lost}");
    let said = fine(&[&["run", DOUBLE_PENDULUM], &loose[..]].concat());
    assert!(said.contains("is not determined beyond t = "), "{said}");
}

#[test]
fn the_table_has_the_bars_on_request() {
    let folder = folder("error_bars_table");
    let [with, without, page] =
        ["with.csv", "without.csv", "page.html"].map(|name| folder.join(name));
    fine(&[
        "run",
        DOUBLE_PENDULUM,
        "--stop",
        "1",
        "-o",
        word(&with),
        "-o",
        word(&page),
        "--error-bars",
    ]);
    let set = "solver.error_bars=true";
    fine(&[
        "run",
        DOUBLE_PENDULUM,
        "--stop",
        "1",
        "-o",
        word(&without),
        "--set",
        set,
    ]);
    let head = |path| {
        fs::read_to_string(path)
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    let all = "time,x1,x1.error,y1,y1.error,x2,x2.error,y2,y2.error,energy,energy.error";
    assert_eq!(head(&with), all);
    assert_eq!(head(&without), "time,x1,y1,x2,y2,energy");
    assert!(fs::read_to_string(&page).unwrap().contains("x2.error"));
}

#[test]
fn an_accuracy_is_kept_or_the_run_says_what_was_reached() {
    let run = json(&["--stop", "3", "--accuracy", "1e-6"]);
    assert_eq!(run["accuracy_kept"], Value::Bool(true));
    assert!(run["worst_error_bar"].as_f64().unwrap() <= 1e-6);
    let beyond = ["--stop", "0.5", "--accuracy", "1e-15"];
    let run = json(&beyond);
    assert_eq!(run["accuracy_kept"], Value::Bool(false));
    let (status, said, _) = outcome(&[&["run", DOUBLE_PENDULUM], &beyond[..]].concat());
    assert_eq!(status, 0);
    assert!(said.contains("the motion does not allow it"), "{said}");
    let (status, _, error) = outcome(&["run", DOUBLE_PENDULUM, "--accuracy", "1e-4", "-o", "-"]);
    assert!(status == 2 && error.contains("may be repeated"), "{error}");
}
