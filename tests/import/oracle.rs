//! Real robots against Pinocchio: masses and centres, poses, accelerations in every formulation, trajectories.

use std::collections::BTreeMap;
use std::path::PathBuf;

use biela::import::{BaseMotion, ImportOptions, Imported, import};
use biela::model::{FormulationName, Output};
use biela::{Instance, Model};
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::{Value, json};

use super::python::{ask, interpreter, robots};

pub const FORMULATIONS: [FormulationName; 5] = [
    FormulationName::Absolute,
    FormulationName::Relative,
    FormulationName::Global,
    FormulationName::Topological,
    FormulationName::Hybrid,
];

pub fn full() -> bool {
    std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1")
}

struct Case {
    path: PathBuf,
    base: BaseMotion,
    imported: Imported,
    /// Names of the file by those of the model.
    links: BTreeMap<String, String>,
    /// Joints of the file, and their coordinates in the model.
    joints: Vec<(String, Option<String>)>,
}

/// The names that elements have in the file, from the comments of the text.
fn names(text: &str, kind: &str) -> BTreeMap<String, String> {
    let mark = format!("  # {kind} \"");
    let lines = text.lines().filter_map(|line| {
        let (own, comment) = line.strip_prefix("name = \"")?.split_once(&mark)?;
        let file = comment.split('"').next()?;
        Some((own.trim_end_matches('"').to_owned(), file.to_owned()))
    });
    lines.collect()
}

/// The joints of the file and their coordinates, also where one joint of the model stands for several.
fn joints(imported: &Imported) -> Vec<(String, Option<String>)> {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut found = vec![];
    for (own, comment) in (imported.text.lines())
        .filter_map(|line| line.strip_prefix("name = \"")?.split_once("\"  # joint \""))
    {
        let files: Vec<&str> = (comment.split("; joint \""))
            .map(|part| part.split('"').next().unwrap())
            .collect();
        let joint = (imported.model.joints.iter()).find(|joint| joint.name == own);
        let count = joint.unwrap().kind.coordinates(3);
        for file in &files {
            let name: String = file.chars().map(legal).collect::<String>() + "_position";
            let mut outputs = imported.model.outputs.iter();
            let source = match files.len() {
                1 => (count == 1).then(|| format!("{own}.position")),
                _ => Some(outputs.find(|output| output.name == name).unwrap())
                    .map(|output| output.source.clone()),
            };
            found.push(((*file).to_owned(), source));
        }
    }
    found
}

/// The robots that are imported, every second one with a free base.
fn cases() -> Vec<Case> {
    let mut all = robots("urdf", &["cmeel.prefix/share/example-robot-data"]);
    // Twice: on the ground and free.
    let own = super::host::root().join("tests/data/urdf/virtual.urdf");
    all.splice(0..0, [own.clone(), own]);
    let mut cases = vec![];
    for (k, path) in all.into_iter().enumerate() {
        let base = match k % 2 {
            0 => BaseMotion::Fixed,
            _ => BaseMotion::Free,
        };
        let options = ImportOptions {
            base: Some(base),
            no_limits: true,
            ..ImportOptions::default()
        };
        match import(&path, &options) {
            Ok(imported) => cases.push(Case {
                links: names(&imported.text, "link"),
                joints: joints(&imported),
                path,
                base,
                imported,
            }),
            // A sentence with line and column.
            Err(error) => {
                let text = error.to_string();
                let rest = text.split(".urdf:").nth(1).unwrap_or_default();
                assert!(rest.starts_with(|c: char| c.is_ascii_digit()), "{text}");
            }
        }
    }
    cases
}

fn request(case: &Case, k: usize, states: usize, time: f64) -> Value {
    json!({
        "path": case.path,
        "base": if case.base == BaseMotion::Free { "free" } else { "fixed" },
        "joints": case.joints.iter().map(|(file, _)| file).collect::<Vec<_>>(),
        "seed": k,
        "states": states,
        "time": time,
        "friction": time == 0.0,
    })
}

pub fn numbers<const N: usize>(value: &Value) -> [f64; N] {
    let list = value.as_array().unwrap_or_else(|| panic!("{value}"));
    std::array::from_fn(|i| list[i].as_f64().unwrap())
}

/// Largest distance (m) of a body from where the oracle has it, relative to a free base, if the file is imported with its joint
/// coordinates as the start; none if a joint has several.
fn misplacement(case: &Case, state: &Value) -> Option<f64> {
    if case.joints.iter().any(|(_, source)| source.is_none()) {
        return None;
    }
    let joints = state["joints"].as_object().unwrap();
    let moving: Vec<&String> = case.joints.iter().map(|(file, _)| file).collect();
    let start = joints.iter().filter(|(name, _)| moving.contains(name));
    let options = ImportOptions {
        base: Some(case.base),
        no_limits: true,
        start: start
            .map(|(name, x)| (name.clone(), x.as_f64().unwrap()))
            .collect(),
        ..ImportOptions::default()
    };
    let model = import(&case.path, &options).unwrap().model;
    let pose = |name: &str| {
        let link = &state["links"][&case.links[name]];
        let [w, x, y, z]: [f64; 4] = numbers(&link["orientation"]);
        let turn = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        (Vector3::from(numbers::<3>(&link["position"])), turn)
    };
    let base = match case.base {
        BaseMotion::Free => pose(&model.bodies[0].name),
        BaseMotion::Fixed => (Vector3::zeros(), UnitQuaternion::identity()),
    };
    let apart = model.bodies.iter().map(|body| {
        let expected = base.1.inverse() * (pose(&body.name).0 - base.0);
        (Vector3::from(body.position) - expected).norm()
    });
    Some(apart.fold(0.0, f64::max))
}

/// The model with its bodies where the oracle has them, and accelerations as outputs.
fn at(case: &Case, state: &Value) -> Model {
    let mut model = case.imported.model.clone();
    model.outputs.clear();
    for body in &mut model.bodies {
        let link = &state["links"][&case.links[&body.name]];
        body.position = numbers(&link["position"]);
        let q: [f64; 4] = numbers(&link["orientation"]);
        let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
        body.orientation = q.map(|x| x / length);
        body.velocity = numbers(&link["velocity"]);
        body.angular_velocity = numbers(&link["angular_velocity"]);
    }
    let template = Output {
        name: String::new(),
        source: String::new(),
        unit: None,
        text_position: Default::default(),
    };
    let mut output = |name: String, source: String| {
        let mut output = template.clone();
        (output.name, output.source, output.unit) = (name, source, None);
        model.outputs.push(output);
    };
    for body in &case.imported.model.bodies {
        let fields = ["ax", "ay", "az", "alphax", "alphay", "alphaz"];
        for field in fields.iter().chain(&["x", "y", "z"]) {
            output(
                format!("{}_{field}", body.name),
                format!("{}.{field}", body.name),
            );
        }
    }
    for (k, (_, source)) in case.joints.iter().enumerate() {
        if let Some(source) = source {
            output(format!("coordinate_{k}"), source.clone());
        }
    }
    model
}

pub fn value(instance: &mut Instance, name: &str) -> f64 {
    let reference = instance.find(name).unwrap();
    let mut x = [0.0];
    instance.get_real(&[reference], &mut x).unwrap();
    x[0]
}

/// Largest difference of accelerations relative to the largest one, and of joint coordinates.
fn compare(case: &Case, state: &Value, formulation: FormulationName) -> Result<(f64, f64), String> {
    let mut model = at(case, state);
    model.solver.formulation = formulation;
    let mut instance = Instance::from_model(model).map_err(|e| e.to_string())?;
    (instance.initialize(0.0, 1.0, 0.0)).map_err(|e| e.to_string())?;
    let (mut worst, mut largest, mut apart) = (0.0f64, 1e-300f64, 0.0f64);
    for (own, file) in &case.links {
        if !case.imported.model.bodies.iter().any(|b| b.name == *own) {
            continue;
        }
        let expected: [f64; 6] = numbers(&state["links"][file]["acceleration"]);
        let fields = ["ax", "ay", "az", "alphax", "alphay", "alphaz"];
        for (field, expected) in fields.iter().zip(expected) {
            let found = value(&mut instance, &format!("{own}_{field}"));
            worst = worst.max((found - expected).abs());
            largest = largest.max(expected.abs());
        }
    }
    for (k, (file, _)) in case.joints.iter().enumerate() {
        if let Some(expected) = state["joints"][file].as_f64() {
            let found = value(&mut instance, &format!("coordinate_{k}"));
            let turns = ((found - expected) / std::f64::consts::TAU).round();
            let difference = found - expected - turns * std::f64::consts::TAU;
            apart = apart.max(difference.abs());
        }
    }
    Ok((worst / largest, apart))
}

/// Masses and centres; of links without mass that have some of their neighbours only the sum.
fn check_masses(case: &Case, answer: &Value) {
    let (name, text) = (case.path.display(), &case.imported.text);
    let comment = |own: &str| {
        let mut lines = text.lines();
        lines.find(|line| line.starts_with(&format!("name = \"{own}\"  # link")))
    };
    let at_rest =
        |own: &str| comment(own).is_some_and(|line| line.ends_with("at rest at its joint"));
    let mut shared: Vec<String> = vec![];
    for body in &case.imported.model.bodies {
        let given = comment(&body.name).and_then(|line| line.split_once(", with mass of \""));
        if let Some((_, rest)) = given {
            shared.push(rest.split('"').next().unwrap().to_owned());
            shared.push(case.links[&body.name].clone());
        }
    }
    let (mut sum, mut expected) = (0.0, 0.0);
    for body in &case.imported.model.bodies {
        let link = &case.links[&body.name];
        let [mass, center @ ..]: [f64; 4] = numbers(&answer["masses"][link]);
        if at_rest(&body.name) {
            continue;
        }
        (sum, expected) = (sum + body.mass, expected + mass);
        if shared.contains(link) {
            continue;
        }
        // Rounding of sums of some dozen merged links.
        assert!(
            (body.mass - mass).abs() <= 1e-12 * mass,
            "{name}: {link} {mass}"
        );
        for i in 0..3 {
            let apart = (body.center_of_mass[i] - center[i]).abs();
            assert!(mass == 0.0 || apart <= 1e-12, "{name}: {link} {apart}");
        }
    }
    assert!(
        (sum - expected).abs() <= 1e-12 * expected,
        "{name}: {sum} {expected}"
    );
}

#[test]
fn robots_have_the_masses_poses_and_accelerations_of_pinocchio() {
    if interpreter().is_none() {
        return;
    }
    let (every, states) = if full() { (1, 20) } else { (6, 2) };
    let cases: Vec<Case> = cases().into_iter().step_by(every).collect();
    assert!(cases.len() >= 10);
    let requests = cases
        .iter()
        .enumerate()
        .map(|(k, c)| request(c, k, states, 0.0));
    let answers = ask(&requests.collect());
    let (mut compared, mut placed, mut refused) = (0, 0, vec![]);
    for (case, answer) in cases.iter().zip(&answers) {
        let name = case.path.display();
        assert!(answer["error"].is_null(), "{name}: {}", answer["error"]);
        let total = &case.imported.report.total;
        assert_eq!(answer["elements"], total.elements, "{name}");
        assert_eq!(answer["attributes"], total.attributes, "{name}");
        // Inertias that were repaired are not those of the file.
        let repaired = (case.imported.report.notes.iter())
            .any(|note| note.text.contains("is not that of a body"));
        check_masses(case, answer);
        for state in answer["states"].as_array().unwrap() {
            if let Some(apart) = misplacement(case, state) {
                assert!(apart <= 1e-10, "{name}: a body is {apart:.1e} m away");
                placed += 1;
            }
            if repaired {
                continue;
            }
            for formulation in FORMULATIONS {
                match compare(case, state, formulation) {
                    Ok((worst, apart)) => {
                        compared += 1;
                        let what = format!("{name} {formulation:?}");
                        assert!(apart <= 1e-10, "{what}: coordinates differ by {apart:.1e}");
                        assert!(worst <= 1e-8, "{what}: accelerations differ by {worst:.1e}");
                    }
                    Err(why) => refused.push(format!("{name} {formulation:?}: {why}")),
                }
            }
        }
    }
    refused.dedup();
    println!(
        "{} robots, {placed} poses and {compared} accelerations compared, {} refused: {refused:#?}",
        cases.len(),
        refused.len()
    );
    assert!(refused.len() * 10 < compared, "{refused:#?}");
}

#[test]
fn trajectories_are_those_of_pinocchio() {
    if interpreter().is_none() {
        return;
    }
    // Arms, quadrupeds, bipeds, humanoids, a double pendulum. Not hands with damped fingers of some grams (allegro: rates of 2e6/s): DOP853
    // is explicit and takes a million steps there.
    let wanted = [
        "ur5_robot",
        "panda",
        "kinova",
        "z1",
        "xarm7",
        "ur10_robot",
        "talos_left_arm",
        "solo",
        "icub_reduced",
        "solo12",
        "a1",
        "go1",
        "anymal",
        "bolt",
        "simple_humanoid",
        "double_pendulum",
        "hyq_no_sensors",
        "talos_reduced",
        "human",
    ];
    let count = if full() { wanted.len() } else { 4 };
    let cases: Vec<Case> = cases()
        .into_iter()
        .filter(|case| {
            let name = case.path.file_stem().unwrap().to_string_lossy();
            wanted[..count].contains(&&*name)
        })
        .collect();
    assert!(cases.len() >= count);
    let requests = cases.iter().enumerate().map(|(k, c)| request(c, k, 0, 1.0));
    let answers = ask(&requests.collect());
    for (case, answer) in cases.iter().zip(&answers) {
        let name = case.path.display();
        assert!(answer["error"].is_null(), "{name}: {}", answer["error"]);
        let mut model = at(case, &answer["start"]);
        model
            .joints
            .iter_mut()
            .for_each(|joint| joint.friction.clear());
        model.solver.tolerance = 1e-8;
        let mut instance = Instance::from_model(model).unwrap();
        instance.initialize(0.0, 1.0, 0.0).unwrap();
        instance
            .step(0.0, 1.0)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut worst = 0.0f64;
        for (k, (file, _)) in case.joints.iter().enumerate() {
            let Some(expected) = answer["end"]["joints"][file].as_f64() else {
                continue;
            };
            let found = value(&mut instance, &format!("coordinate_{k}"));
            worst = worst.max((found - expected).abs());
        }
        for body in &case.imported.model.bodies {
            let link = &answer["end"]["links"][&case.links[&body.name]];
            let expected: [f64; 3] = numbers(&link["position"]);
            for (field, expected) in ["x", "y", "z"].iter().zip(expected) {
                let found = value(&mut instance, &format!("{}_{field}", body.name));
                worst = worst.max((found - expected).abs());
            }
        }
        let steps = instance.statistics().steps;
        println!("{name}: {worst:.1e} rad or m, {steps} steps");
        assert!(worst <= 1e-6, "{name}: {worst:.1e}");
    }
}
