//! Real models against MuJoCo: masses, centres, poses, and accelerations in every formulation. Models with meshes have the same bounds:
//! the importer takes the points of text files in single precision, as MuJoCo does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use biela::import::{ImportOptions, Imported, import};
use biela::model::Output;
use biela::{Instance, Model};
use serde_json::{Value, json};

use super::host::root;
use super::oracle::{FORMULATIONS, full, numbers, value};
use super::python::{ask, interpreter, robots};

/// Number of the body in MuJoCo of each body of the model, from the comments of the text.
fn bodies(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| {
        let (own, comment) = line.strip_prefix("name = \"")?.split_once("\"  # body ")?;
        Some((own.to_owned(), comment.split(' ').next()?.to_owned()))
    });
    lines.collect()
}

fn imported(path: &Path, start: Vec<(String, f64)>) -> biela::Result<Imported> {
    let options = ImportOptions {
        start,
        no_limits: true,
        ..ImportOptions::default()
    };
    import(path, &options)
}

/// The model in a state of the oracle, with accelerations as outputs, and the largest distance (m) of a body from where the oracle has
/// it, if joint coordinates say where the bodies are.
fn at(path: &Path, state: &Value, dofs: usize) -> (Model, Option<f64>) {
    let joints = state["joints"].as_object().unwrap();
    let start = joints
        .iter()
        .map(|(name, x)| (name.clone(), x[0].as_f64().unwrap()));
    let Imported {
        mut model, text, ..
    } = imported(path, start.collect()).unwrap();
    let bodies = bodies(&text);
    model.outputs.clear();
    model
        .joints
        .iter_mut()
        .for_each(|joint| joint.friction.clear());
    for input in &mut model.inputs {
        if let Some(control) = state["controls"][&input.name].as_f64() {
            input.start = control;
        }
    }
    let mut apart = (joints.len() == dofs).then_some(0.0f64);
    for body in &mut model.bodies {
        let number = bodies.get(&body.name);
        let link = match number {
            Some(number) => &state["links"][number],
            None => &state["between"][&body.name],
        };
        if link.is_object() {
            let expected: [f64; 3] = numbers(&link["position"]);
            let off = (0..3).map(|i| (body.position[i] - expected[i]).abs());
            apart = apart.map(|apart| off.fold(apart, f64::max));
            body.position = expected;
            let q: [f64; 4] = numbers(&link["orientation"]);
            let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
            body.orientation = q.map(|x| x / length);
            body.velocity = numbers(&link["velocity"]);
            body.angular_velocity = numbers(&link["angular_velocity"]);
        }
        if number.is_some() {
            for field in ["ax", "ay", "az", "alphax", "alphay", "alphaz"] {
                let output = Output {
                    name: format!("{}_{field}", body.name),
                    source: format!("{}.{field}", body.name),
                    unit: None,
                    text_position: Default::default(),
                };
                model.outputs.push(output);
            }
        }
    }
    (model, apart)
}

/// Largest difference of accelerations relative to the largest one.
fn compare(model: &Model, bodies: &BTreeMap<String, String>, state: &Value) -> Result<f64, String> {
    let mut instance = Instance::from_model(model.clone()).map_err(|e| e.to_string())?;
    (instance.initialize(0.0, 1.0, 0.0)).map_err(|e| e.to_string())?;
    let (mut worst, mut largest) = (0.0f64, 1e-300f64);
    for body in &model.bodies {
        let Some(number) = bodies.get(&body.name) else {
            continue;
        };
        let expected: [f64; 6] = numbers(&state["links"][number]["acceleration"]);
        let fields = ["ax", "ay", "az", "alphax", "alphay", "alphaz"];
        for (field, expected) in fields.iter().zip(expected) {
            let found = value(&mut instance, &format!("{}_{field}", body.name));
            worst = worst.max((found - expected).abs());
            largest = largest.max(expected.abs());
        }
    }
    Ok(worst / largest)
}

/// Models that are imported without a loss of dynamics and without equalities, which MuJoCo softens.
fn cases() -> Vec<(PathBuf, Imported)> {
    let mut cases = vec![];
    for path in robots("xml", &["gymnasium", "dm_control"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        match imported(&path, vec![]) {
            Ok(imported) => {
                let report = &imported.report;
                let (kept, lost) = (report.kept, report.dropped);
                let sum = kept.elements + report.approximated.elements + lost.elements;
                assert_eq!(sum, report.total.elements);
                if report.lost_dynamics().is_empty() && !text.contains("<equality>") {
                    cases.push((path, imported));
                }
            }
            Err(error) => {
                let words = error.to_string();
                let rest = words.split(".xml:").nth(1).unwrap_or_default();
                assert!(rest.starts_with(|c: char| c.is_ascii_digit()), "{words}");
            }
        }
    }
    cases
}

/// What a comparison found.
#[derive(Default)]
struct Findings {
    placed: usize,
    compared: usize,
    refused: Vec<String>,
    wrong: Vec<String>,
}

/// Bodies that share mass on an axis: those between the joints of a body, that body and the one before it.
fn shared(text: &str, parents: &Value) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = vec![];
    for line in text.lines() {
        let between = line.split_once("\"  # between the joints of body ");
        let Some((own, rest)) = between else { continue };
        let own = own.trim_start_matches("name = \"").to_owned();
        let body = rest.split(' ').next().unwrap().to_owned();
        let parent = parents[&body].as_str().unwrap_or_default().to_owned();
        groups.push(vec![own, body, parent]);
    }
    groups
}

/// Masses and centres of the bodies of a model that share none with others, and the mass of all.
fn check_masses(name: &str, imported: &Imported, answer: &Value, findings: &mut Findings) {
    let bodies = bodies(&imported.text);
    let shared: Vec<String> = (shared(&imported.text, &answer["parents"]).concat()).to_vec();
    // Mass on an axis at rest is that of the ground.
    let at_rest = |body: &&biela::model::Body| {
        let line = format!("name = \"{}\"  #", body.name);
        let mut lines = imported.text.lines().filter(|l| l.starts_with(&line));
        !lines.any(|line| line.ends_with("mass at rest at its joint"))
    };
    let all = (imported.model.bodies.iter().filter(at_rest)).map(|body| body.mass);
    let (found, expected) = (all.sum::<f64>(), answer["moving_mass"].as_f64().unwrap());
    if (found - expected).abs() > 1e-12 * expected {
        findings
            .wrong
            .push(format!("{name}: all masses {found} {expected}"));
    }
    for body in &imported.model.bodies {
        let Some(number) = bodies.get(&body.name).filter(|n| !shared.contains(n)) else {
            continue;
        };
        let [mass, center @ ..]: [f64; 4] = numbers(&answer["masses"][number]);
        let apart = (0..3).map(|i| (body.center_of_mass[i] - center[i]).abs());
        let apart = apart.fold(0.0f64, f64::max);
        if (body.mass - mass).abs() > 1e-12 * mass || mass > 0.0 && apart > 1e-12 {
            findings.wrong.push(format!(
                "{name}: {} mass {} {mass}, centre {apart:.1e}",
                body.name, body.mass
            ));
        }
    }
}

/// Compares models with MuJoCo at random states.
fn check(cases: &[(PathBuf, Imported)], states: usize) -> Findings {
    let requests = cases
        .iter()
        .enumerate()
        .map(|(k, (path, _))| json!({ "path": path, "seed": k, "states": states }));
    let answers = ask(&requests.collect());
    let mut findings = Findings::default();
    for ((path, imported), answer) in cases.iter().zip(&answers) {
        let name = path.file_name().unwrap().to_string_lossy();
        if !answer["error"].is_null() {
            // Parts that MuJoCo does not compile alone.
            findings
                .refused
                .push(format!("{name}: {}", answer["error"]));
            continue;
        }
        check_masses(&name, imported, answer, &mut findings);
        let bodies = bodies(&imported.text);
        let dofs = answer["dofs"].as_u64().unwrap() as usize;
        for state in answer["states"].as_array().unwrap() {
            let (mut model, apart) = at(path, state, dofs);
            if let Some(apart) = apart {
                findings.placed += 1;
                if !(apart <= 1e-10) {
                    findings
                        .wrong
                        .push(format!("{name}: a body is {apart:.1e} m away"));
                }
            }
            for formulation in FORMULATIONS {
                model.solver.formulation = formulation;
                match compare(&model, &bodies, state) {
                    Ok(worst) => {
                        findings.compared += 1;
                        if !(worst <= 1e-8) {
                            let what = format!("{name} {formulation:?}: accelerations {worst:.1e}");
                            findings.wrong.push(what);
                        }
                    }
                    Err(why) => {
                        let what = format!("{name} {formulation:?}: {why}");
                        findings.refused.push(what);
                    }
                }
            }
        }
    }
    findings.refused.dedup();
    println!(
        "{} models, {} poses and {} accelerations compared, {} refused: {:#?}",
        cases.len(),
        findings.placed,
        findings.compared,
        findings.refused.len(),
        findings.refused
    );
    findings
}

#[test]
fn models_have_the_masses_and_accelerations_of_mujoco() {
    if interpreter().is_none() {
        return;
    }
    let (every, states) = if full() { (1, 20) } else { (4, 2) };
    let cases: Vec<(PathBuf, Imported)> = (cases().into_iter())
        .filter(|(_, imported)| !imported.model.bodies.is_empty())
        .step_by(every)
        .collect();
    assert!(cases.len() >= 5, "{}", cases.len());
    let findings = check(&cases, states);
    assert!(findings.wrong.is_empty(), "{:#?}", findings.wrong);
    let refused = findings.refused;
    assert!(refused.len() * 10 < findings.compared, "{refused:#?}");
}

/// Files with what robots rarely have together; MuJoCo says what each means.
#[test]
fn written_models_have_the_accelerations_of_mujoco() {
    if interpreter().is_none() {
        return;
    }
    let folder = root().join("tests/data/mjcf");
    let mut paths: Vec<PathBuf> = (std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let cases: Vec<(PathBuf, Imported)> = (paths.into_iter())
        .map(|path| {
            let imported = imported(&path, vec![]).unwrap_or_else(|e| panic!("{e}"));
            let lost = imported.report.lost_dynamics();
            assert!(lost.is_empty(), "{}: {lost:#?}", path.display());
            (path, imported)
        })
        .collect();
    assert!(cases.len() >= 4);
    let findings = check(&cases, if full() { 20 } else { 3 });
    assert!(findings.wrong.is_empty(), "{:#?}", findings.wrong);
    let known = |why: &&String| why.contains("Global") && why.contains("armature of the spherical");
    let refused: Vec<&String> = (findings.refused.iter())
        .filter(|why| !known(why))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
