//! What `tolerance` is worth on real robots: open trees that fall with damping in their joints.
//!
//! The truth is a run in absolute coordinates at a hundredth of the tightest tolerance; one in relative coordinates has to agree with it.
//! Errors count over the growth of the motion (`campaign::judge`): its response to a side force of 1e-6 of gravity.

use std::path::{Path, PathBuf};

use biela::Model;
use biela::import::{BaseMotion, ImportOptions, import};
use biela::model::FormulationName;

use super::campaign::judge::gap;
use super::campaign::simulate::{Ending, Run, simulate_model};
use super::oracle::full;
use super::python::{interpreter, robots};

const TOLERANCES: [f64; 3] = [1e-4, 1e-6, 1e-8];
/// Tolerances times growth by which a run may be off.
const ALLOWED: f64 = 10.0;
/// Of the side force, as a part of gravity.
const CHANGE: f64 = 1e-6;

/// The robot, a second long, away from its drawn pose, without limits and dry friction.
fn robot(path: &Path, time: f64) -> Model {
    let mut options = ImportOptions {
        base: Some(BaseMotion::Fixed),
        no_limits: true,
        ..ImportOptions::default()
    };
    let drawn = import(path, &options)
        .unwrap_or_else(|e| panic!("{e}"))
        .text;
    // Joints with one coordinate, by their names in the file.
    let names = drawn.lines().filter_map(|line| {
        let (_, comment) = line.split_once("\"  # joint \"")?;
        let (name, kind) = comment.split_once('"')?;
        let kinds = [
            "(revolute)",
            "(continuous)",
            "(prismatic)",
            "(hinge)",
            "(slide)",
        ];
        (kinds.iter().any(|k| kind.trim_start().starts_with(k)) && !comment.contains("; joint"))
            .then(|| name.to_owned())
    });
    let away = |(k, name)| (name, 0.3 * (1.7 * k as f64 + 0.5).sin());
    options.start = names.enumerate().map(away).collect();
    let mut model = import(path, &options)
        .unwrap_or_else(|e| panic!("{e}"))
        .model;
    model
        .joints
        .iter_mut()
        .for_each(|joint| joint.friction.clear());
    model.experiment.stop = time;
    model
}

fn run(model: &Model, formulation: FormulationName, tolerance: f64) -> Run {
    let mut model = model.clone();
    model.solver.formulation = formulation;
    model.solver.tolerance = tolerance;
    simulate_model(model)
}

/// Errors at the tolerances over growth, and steps.
fn judged(what: &str, model: &Model) -> [(f64, u64); 3] {
    use FormulationName::{Absolute, Auto, Relative};
    let tight = 1e-2 * TOLERANCES[2];
    let truth = run(model, Absolute, tight);
    assert_eq!(truth.ending, Ending::Done, "{what}: {}", truth.text);
    let second = run(model, Relative, tight);
    assert_eq!(second.ending, Ending::Done, "{what}: {}", second.text);
    let mut pushed = model.clone();
    let side = [0.48, 0.64, 0.6].map(|d| 9.81 * CHANGE * d);
    (0..3).for_each(|i| pushed.gravity[i] += side[i]);
    let pushed = run(&pushed, Absolute, tight);
    let time = model.experiment.stop;
    let growth = (gap(&pushed, &truth) / (0.5 * 9.81 * CHANGE * time * time)).max(1.0);
    let spread = gap(&second, &truth);
    assert!(
        spread <= TOLERANCES[2] * growth,
        "{what}: the references differ by {spread:.1e}"
    );
    TOLERANCES.map(|tolerance| {
        let run = run(model, Auto, tolerance);
        assert_eq!(
            run.ending,
            Ending::Done,
            "{what} {tolerance:e}: {}",
            run.text
        );
        let error = gap(&run, &truth) / tolerance / growth;
        println!(
            "{what} {tolerance:e}: {error:.1e} tolerances x growth {growth:.1}, {} steps",
            run.statistics.steps
        );
        (error, run.statistics.steps)
    })
}

fn found(ending: &str, folders: &[&str], stem: &str) -> PathBuf {
    let mut all = robots(ending, folders).into_iter();
    let named = |path: &PathBuf| path.file_stem().is_some_and(|own| own == stem);
    all.find(named).unwrap_or_else(|| panic!("no {stem}"))
}

#[test]
fn robots_keep_ten_tolerances() {
    if interpreter().is_none() {
        return;
    }
    let wanted = [
        "z1",
        "talos_left_arm",
        "panda",
        "talos_reduced",
        "pr2",
        "tiago",
        "romeo",
        "baxter",
        "b1-z1",
        "centauro",
        "human",
        "icub",
    ];
    let count = if full() { wanted.len() } else { 2 };
    for stem in &wanted[..count] {
        let path = found("urdf", &["cmeel.prefix/share/example-robot-data"], stem);
        for (error, _) in judged(stem, &robot(&path, 1.0)) {
            assert!(error <= ALLOWED, "{stem}: {error} tolerances x growth");
        }
    }
}

/// Chains of small links took 10,000 steps for an error of 3e-12. They still take more than their error asks for (4,479 steps for 4e-10 at
/// 1e-8); the bounds only keep what there is, with a quarter to spare.
#[test]
fn carts_and_swimmers_keep_ten_tolerances() {
    if interpreter().is_none() {
        return;
    }
    let count = if full() { 6 } else { 1 };
    let wanted = [
        ("gymnasium", "inverted_pendulum"),
        ("gymnasium", "inverted_double_pendulum"),
        ("gymnasium", "swimmer"),
        ("dm_control/suite", "cartpole"),
        ("dm_control/suite", "swimmer"),
        ("dm_control/suite", "acrobot"),
    ];
    for &(folder, stem) in &wanted[..count] {
        let what = format!("{folder} {stem}");
        let path = found("xml", &[folder], stem);
        let judged = judged(&what, &robot(&path, 2.0));
        for ((error, steps), most) in judged.into_iter().zip([260, 1200, 5600]) {
            assert!(error <= ALLOWED, "{what}: {error} tolerances x growth");
            assert!(steps <= most, "{what}: {steps} steps");
        }
    }
}
