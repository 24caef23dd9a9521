//! `biela equilibrium`, `modes` and `linearize` as a user meets them.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use super::host::{Scratch, mechanics_environment, root, skip};

fn biela(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_biela"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("the program starts")
}

fn fine(arguments: &[&str]) -> String {
    let output = biela(arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&fine(arguments)).unwrap()
}

#[test]
fn equilibrium_prints_the_outputs_and_writes_a_model_that_starts_there() {
    let scratch = Scratch::new("equilibrium");
    let out = scratch.path().join("rest.toml");
    let found = json(&[
        "equilibrium",
        "models/pendulum.toml",
        "--json",
        "--out",
        out.to_str().unwrap(),
    ]);
    let y = found["final"]["y"].as_f64().unwrap();
    assert!((y + 1.0).abs() < 1e-12, "{found}");
    assert_eq!(found["stable"], true);
    for arguments in [
        vec!["run", out.to_str().unwrap()],
        vec!["run", "models/pendulum.toml", "--from", "equilibrium"],
    ] {
        let mut arguments = arguments;
        arguments.extend(["--stop", "0.5", "--json"]);
        let ran = json(&arguments);
        let moved = ran["final"]["y"].as_f64().unwrap() - y;
        assert!(moved.abs() < 1e-9, "{arguments:?}: {moved}");
    }
}

#[test]
fn modes_have_the_promised_keys_and_a_page() {
    let scratch = Scratch::new("modes");
    let page = scratch.path().join("modes.html");
    let found = json(&[
        "modes",
        "models/double_pendulum.toml",
        "--from",
        "equilibrium",
        "--report",
        page.to_str().unwrap(),
        "--json",
    ]);
    let modes = found["modes"].as_array().unwrap();
    // Two point masses of 1 kg on rods of 1 m: ω² = (2 ± √2) g / l.
    for (mode, sign) in modes.iter().zip([-1.0, 1.0]) {
        let omega = ((2.0 + sign * 2.0_f64.sqrt()) * 9.81).sqrt();
        let off = mode["frequency"].as_f64().unwrap() * std::f64::consts::TAU / omega - 1.0;
        assert!(off.abs() < 1e-9, "{mode}: {off}");
        assert!(mode["damping"].as_f64().unwrap().abs() < 1e-9);
        assert!(mode["shape"]["shoulder"]["position"].is_f64(), "{mode}");
        assert!(mode["energy"]["upper"].is_f64(), "{mode}");
    }
    assert_eq!(modes.len(), 2);
    assert!(fs::read_to_string(page).unwrap().contains("<html"));
    let one = json(&[
        "modes",
        "models/double_pendulum.toml",
        "--count",
        "1",
        "--json",
    ]);
    assert_eq!(one["modes"].as_array().unwrap().len(), 1);
}

/// Eigenvalues of five-point differences of the closed equations of motion at 0.5 s, which SciPy's DOP853 reaches with a relative
/// tolerance of 1e-13; the differences leave 1e-9.
#[test]
fn modes_at_a_time_are_those_of_the_motion_there() {
    let expected = [
        [-0.3073937917698165, 1.634541576340195],
        [0.4481549433131564, 5.323482265382921],
    ];
    for formulation in ["absolute", "relative", "global", "topological", "hybrid"] {
        let set = format!("solver.formulation={formulation}");
        let arguments = ["modes", "models/double_pendulum.toml", "--at", "0.5"];
        let settings = ["--set", &set, "--set", "solver.tolerance=1e-9", "--json"];
        let found = json(&[&arguments[..], &settings].concat());
        assert_eq!(found["time"], 0.5);
        let modes = found["modes"].as_array().unwrap();
        assert_eq!(modes.len(), 2);
        for (mode, expected) in modes.iter().zip(expected) {
            for (k, expected) in expected.into_iter().enumerate() {
                let off = mode["eigenvalue"][k].as_f64().unwrap() - expected;
                assert!(off.abs() < 1e-8, "{formulation} {mode}: {off:e}");
            }
        }
    }
}

#[test]
fn a_load_that_nothing_balances_ends_with_status_one_and_a_name() {
    let scratch = Scratch::new("falling");
    let path = scratch.path().join("falling.toml");
    let text = "format = 1\nname = \"falling\"\ndimension = 2\ngravity = [0.0, -9.81]\n\
                [[body]]\nname = \"stone\"\nmass = 1.0\ninertia = 1.0\n";
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    for arguments in [
        vec!["equilibrium", path],
        vec!["modes", path, "--from", "equilibrium"],
        vec!["linearize", path, "--from", "equilibrium"],
        vec!["run", path, "--from", "equilibrium"],
    ] {
        let output = biela(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("stone.y"), "{arguments:?}: {said}");
    }
}

/// The interpreter of an environment with SciPy and Pinocchio.
fn python() -> Option<PathBuf> {
    mechanics_environment().map_err(|why| {
        skip(&format!(
            "no Python environment with SciPy and Pinocchio, so linear models were not compared with them: {why}"
        ));
    })
    .ok()
}

#[test]
fn linear_models_are_those_of_pinocchio_and_are_read_by_scipy() {
    let Some(python) = python() else { return };
    let states = match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => "20",
        _ => "3",
    };
    let output = Command::new(python)
        .arg(root().join("tests/python/linear_models.py"))
        .arg(env!("CARGO_BIN_EXE_biela"))
        .arg(root().join("models"))
        .arg(states)
        .output()
        .expect("python starts");
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{why}");
    assert_eq!(
        said.lines().filter(|l| l.starts_with("ok")).count(),
        10,
        "{said}"
    );
}
