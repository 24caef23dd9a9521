//! The same mechanism described in another way is the same mechanism: at another time, in millimetres, with its bodies in another
//! order, beside a copy of itself ten kilometres away.

use serde_json::{Value, json};

use crate::campaign::judge::{Reference, gap};
use crate::campaign::mechanism::random_mechanism;
use crate::campaign::simulate::{Ending, Run, simulate};

/// Part of the tolerance, times growth, by which descriptions may differ.
const ALLOWED: f64 = 0.1;
const TOLERANCE: f64 = 1e-6;
const FORMULATIONS: [&str; 3] = ["absolute", "relative", "topological"];
/// Mechanisms whose reference takes more steps are left to the campaign: here each one is run fifteen times.
const MOST_STEPS: u64 = 3000;

/// All numbers below a value times `factor`.
fn scale(value: &mut Value, factor: f64) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|entry| scale(entry, factor)),
        Value::Number(_) => *value = json!(value.as_f64().expect("a number") * factor),
        _ => {}
    }
}

fn each<'a>(model: &'a mut Value, table: &str) -> impl Iterator<Item = &'a mut Value> {
    let table = model.get_mut(table).and_then(Value::as_array_mut);
    table.into_iter().flatten()
}

/// Rounds the stop time so that its eighths, the times of the rows, are numbers at 1e9 s too, where they are 1.2e-7 s apart.
fn rounded_stop(model: &mut Value) {
    const UNIT: f64 = 8.0 / (1 << 20) as f64;
    let stop = model["experiment"]["stop"].as_f64().expect("a stop");
    model["experiment"]["stop"] = json!((stop / UNIT).ceil() * UNIT);
}

/// Thirty years later. Laws of motion count from zero, so these mechanisms have none.
fn later(model: &mut Value) {
    let stop = model["experiment"]["stop"].as_f64().expect("a stop");
    model["experiment"] = json!({ "start": 1e9, "stop": 1e9 + stop });
}

/// Millimetres, kilograms, seconds: forces in mN, stiffnesses in the same numbers, torques in mN mm.
fn in_millimetres(model: &mut Value) {
    scale(&mut model["gravity"], 1e3);
    for body in each(model, "body") {
        scale(&mut body["position"], 1e3);
        scale(&mut body["velocity"], 1e3);
        scale(&mut body["inertia"], 1e6);
    }
    for joint in each(model, "joint") {
        for key in ["point", "points", "pitch"] {
            if let Some(value) = joint.get_mut(key) {
                scale(value, 1e3);
            }
        }
    }
    for force in each(model, "force") {
        let turns = force["type"] == "torsion_spring";
        for (key, factor) in [
            ("points", 1e3),
            ("length", 1e3),
            ("stiffness", if turns { 1e6 } else { 1.0 }),
            ("damping", if turns { 1e6 } else { 1.0 }),
        ] {
            if let Some(value) = force.get_mut(key) {
                scale(value, factor);
            }
        }
    }
}

fn in_another_order(model: &mut Value) {
    for table in ["body", "joint", "force"] {
        if let Some(list) = model.get_mut(table).and_then(Value::as_array_mut) {
            list.reverse();
        }
    }
}

/// A copy of everything, 10 km along x.
fn beside_a_distant_copy(model: &mut Value) {
    let original = model.clone();
    let shift = |point: &mut Value| {
        let x = point[0].as_f64().expect("a coordinate");
        point[0] = json!(x + 1e4);
    };
    let renamed = |name: &Value| match name.as_str() {
        Some("ground") | None => name.clone(),
        Some(name) => json!(format!("{name}_far")),
    };
    for table in ["body", "joint", "force"] {
        for entry in original[table].as_array().into_iter().flatten() {
            let mut copy = entry.clone();
            copy["name"] = renamed(&copy["name"]);
            if copy.get("joint").is_some() {
                copy["joint"] = renamed(&copy["joint"]);
            }
            let of_ground = copy["bodies"][0] == "ground";
            for body in copy
                .get_mut("bodies")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                *body = renamed(body);
            }
            match table {
                "body" => shift(&mut copy["position"]),
                "joint" if copy.get("point").is_some() => shift(&mut copy["point"]),
                _ if of_ground && copy.get("points").is_some() => shift(&mut copy["points"][0]),
                _ => {}
            }
            model[table].as_array_mut().expect("a table").push(copy);
        }
    }
}

/// The run of another description in the terms of the first: metres, first bodies first.
fn told_back(mut run: Run, metres: f64, reversed: bool, bodies: usize) -> Run {
    for row in &mut run.rows {
        if reversed {
            row.poses.reverse();
        }
        row.poses.truncate(bodies);
        for pose in &mut row.poses {
            pose.position = pose.position.map(|x| x * metres);
        }
    }
    run
}

type Description = (&'static str, fn(&mut Value), f64, bool);
const DESCRIPTIONS: [Description; 4] = [
    ("started at 1e9 s", later, 1.0, false),
    ("in millimetres", in_millimetres, 1e-3, false),
    ("bodies in another order", in_another_order, 1.0, true),
    ("10 km beside a copy", beside_a_distant_copy, 1.0, false),
];

#[test]
fn another_description_of_a_mechanism_gives_the_same_motion() {
    let full = std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1");
    let mut beyond = [const { Vec::new() }; 4];
    let (mut mechanisms, mut seed) = (0, 20_000);
    while mechanisms < if full { 200 } else { 10 } {
        seed += 1;
        let (mut model, features) = random_mechanism(seed);
        rounded_stop(&mut model);
        if features.driven {
            continue;
        }
        let mut reference = Reference::new(&model, 0.1 * TOLERANCE, TOLERANCE);
        let cheap = |run: &Run| run.statistics.steps < MOST_STEPS;
        if !reference.run.as_ref().is_some_and(cheap) || !(reference.spread < TOLERANCE) {
            continue;
        }
        mechanisms += 1;
        for formulation in FORMULATIONS {
            let plain = simulate(&model, formulation, TOLERANCE);
            for (k, (title, change, metres, reversed)) in DESCRIPTIONS.into_iter().enumerate() {
                let mut other = model.clone();
                change(&mut other);
                let run = simulate(&other, formulation, TOLERANCE);
                assert_eq!(run.ending, plain.ending, "{seed} {title}: {}", run.text);
                if run.ending != Ending::Done {
                    continue;
                }
                let run = told_back(run, metres, reversed, features.bodies);
                let mut difference = gap(&run, &plain) / TOLERANCE;
                if difference > ALLOWED {
                    difference /= reference.growth(&model);
                }
                if !(difference <= ALLOWED) {
                    beyond[k].push(format!(
                        "seed {seed} {formulation}, {title}: {difference:.2} tolerances x growth"
                    ));
                }
            }
        }
    }
    let comparisons = mechanisms * FORMULATIONS.len();
    for beyond in &beyond {
        println!("{} of {comparisons}\n{}", beyond.len(), beyond.join("\n"));
    }
    assert!(beyond.iter().all(Vec::is_empty));
}
