//! Random mechanisms whose forces switch: ropes, buffers, backlash, jumps, joint limits, friction, contacts.

use serde_json::{Value, json};

use super::mechanism::{digits, pick, random_mechanism};
use crate::common::Random;

/// The mechanism of a seed with some elements that have events.
pub fn random_mechanism_with_events(seed: u64) -> Value {
    let (mut model, _) = random_mechanism(seed);
    let mut random = Random(seed ^ 0x6576_656e_7473);
    let driven = model["motion"][0]["joint"].clone();
    let mut forces = model["force"].as_array().cloned().unwrap_or_default();
    for joint in model["joint"].as_array_mut().into_iter().flatten() {
        let turns = joint["type"] == "revolute";
        let slides = joint["type"] == "prismatic";
        let in_tree = joint["name"].as_str().is_some_and(|n| n.starts_with('j'));
        if !in_tree || !(turns || slides) || joint["name"] == driven {
            continue;
        }
        match random.below(4) {
            0 => limit(joint, &mut random),
            1 => {
                joint["friction"] =
                    json!({ "kinetic": decade(&mut random, -1.0, 1.0), "stiction_velocity": 0.05 })
            }
            _ => forces.push(switching_spring(joint, slides, &mut random)),
        }
    }
    let bodies = model["body"].as_array().cloned().unwrap_or_default();
    for (k, body) in bodies.iter().enumerate() {
        let centre: Vec<f64> = (body["position"].as_array().into_iter().flatten())
            .filter_map(Value::as_f64)
            .collect();
        match random.below(3) {
            0 => forces.push(rope(k, body, &centre, &mut random)),
            1 => forces.push(floor(k, body, &centre, &mut random)),
            _ => {}
        }
    }
    model["force"] = json!(forces);
    model["name"] = json!(format!("random{seed}_with_events"));
    model
}

fn decade(random: &mut Random, low: f64, high: f64) -> f64 {
    digits(10f64.powf(random.between(low, high)))
}

/// Limits close to the start, compliant or rigid.
fn limit(joint: &mut Value, random: &mut Random) {
    let [low, high] = [0; 2].map(|_| digits(random.between(0.02, 0.3)));
    joint["limits"] = json!([-low, high]);
    if random.below(2) == 0 {
        joint["stiffness"] = json!(decade(random, 2.0, 4.0));
        joint["damping"] = json!(decade(random, -1.0, 1.0));
    } else {
        joint["restitution"] = json!(pick(random, &[0.3, 0.5, 0.8]));
    }
}

/// Backlash, or a force that jumps, in a joint.
fn switching_spring(joint: &Value, slides: bool, random: &mut Random) -> Value {
    let stiffness = decade(random, 1.0, 3.0);
    let gap = digits(random.between(0.01, 0.1));
    let law = if random.below(2) == 0 {
        let offset = digits(stiffness * gap);
        json!([
            {"below": -gap, "polynomial": [offset, stiffness]}, {"below": gap, "polynomial": [0.0]},
            {"polynomial": [-offset, stiffness]},
        ])
    } else {
        json!([{"below": gap, "polynomial": [0.0]}, {"polynomial": [digits(stiffness * 0.2)]}])
    };
    let name = format!("switch_{}", joint["name"].as_str().unwrap_or_default());
    let mut force = json!({"name": name, "joint": joint["name"], "stiffness": {"pieces": law}});
    if slides {
        force["type"] = json!("spring_damper");
        force["length"] = json!(0.0);
    } else {
        force["type"] = json!("torsion_spring");
    }
    force
}

/// A rope or a buffer from the ground to the centre of a body, slack or tight by a few per cent.
fn rope(k: usize, body: &Value, centre: &[f64], random: &mut Random) -> Value {
    let from: Vec<f64> = centre
        .iter()
        .map(|x| digits(x + random.between(0.2, 1.0)))
        .collect();
    let distance = (from.iter().zip(centre))
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt();
    json!({
        "name": format!("rope{k}"), "type": "spring_damper", "bodies": ["ground", body["name"]],
        "points": [from, vec![0.0; centre.len()]], "stiffness": decade(random, 2.0, 4.0), "damping": decade(random, -1.0, 1.0),
        "length": digits(distance * random.between(0.95, 1.05)), "only": pick(random, &["tension", "compression"]),
    })
}

/// A floor near the centre of a body, soft or rigid.
fn floor(k: usize, body: &Value, centre: &[f64], random: &mut Random) -> Value {
    let mut normal = vec![0.0; centre.len()];
    normal[random.below(centre.len() as u64) as usize] = pick(random, &[-1.0, 1.0]);
    let distance = random.between(0.02, 0.3);
    let point: Vec<f64> = (centre.iter().zip(&normal))
        .map(|(c, n)| digits(c - distance * n))
        .collect();
    let mut contact = json!({
        "name": format!("floor{k}"), "type": "contact", "bodies": ["ground", body["name"]],
        "plane": {"point": point, "normal": normal},
    });
    if random.below(2) == 0 {
        contact["stiffness"] = json!(decade(random, 2.0, 4.0));
        contact["damping"] = json!(decade(random, -1.0, 1.0));
    } else {
        contact["restitution"] = json!(pick(random, &[0.3, 0.5, 0.8]));
    }
    contact
}
