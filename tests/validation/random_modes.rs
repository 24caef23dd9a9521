//! Modes of random mechanisms: the same eigenvalues in all five formulations.

use biela::model::Model;
use biela::{Error, Instance};
use serde_json::json;

use super::campaign::mechanism::random_mechanism;

const FORMULATIONS: [&str; 5] = ["absolute", "relative", "global", "topological", "hybrid"];

fn seeds() -> u64 {
    match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => 400,
        _ => 40,
    }
}

/// Eigenvalues of a mechanism at its start, zeros left out, and the number of all modes; `None` if it does not start.
fn eigenvalues(seed: u64, formulation: &str) -> Option<Result<(Vec<[f64; 2]>, usize), Error>> {
    let (mut model, _) = random_mechanism(seed);
    if !model["solver"].is_object() {
        model["solver"] = json!({});
    }
    model["solver"]["formulation"] = json!(formulation);
    let model = Model::from_text(&model.to_string(), "model").ok()?;
    let mut instance = Instance::from_model(model).ok()?;
    instance.initialize(0.0, 1.0, 0.0).ok()?;
    Some(instance.modes(usize::MAX).map(|modes| {
        let all = modes.iter().map(|mode| mode.eigenvalue);
        let moving = all.filter(|s| *s != [0.0, 0.0]).collect();
        (moving, modes.len())
    }))
}

/// Largest distance of an eigenvalue to the nearest of the others, over the largest eigenvalue.
fn distance(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    let size = |s: &[f64; 2]| s[0].hypot(s[1]);
    let scale = a.iter().map(size).fold(1.0, f64::max);
    let nearest = |s: &[f64; 2]| {
        (b.iter().map(|t| size(&[s[0] - t[0], s[1] - t[1]]))).fold(f64::INFINITY, f64::min)
    };
    a.iter().map(nearest).fold(0.0, f64::max) / scale
}

#[test]
fn random_mechanisms_have_the_same_modes_in_all_formulations() {
    let (mut compared, mut failures) = (0, Vec::new());
    for seed in 0..seeds() {
        let Some(first) = eigenvalues(seed, FORMULATIONS[0]) else {
            continue;
        };
        for formulation in &FORMULATIONS[1..] {
            let Some(other) = eigenvalues(seed, formulation) else {
                continue;
            };
            match (&first, &other) {
                (Ok((a, n)), Ok((b, m))) => {
                    compared += 1;
                    let off = distance(a, b).max(distance(b, a));
                    if n != m || !(off < 1e-8) {
                        failures.push(format!("seed {seed} {formulation}: {n} {m} {off:.1e}"));
                    }
                }
                // A singular position is one in every formulation.
                (Err(_), Err(_)) => {}
                (Ok(_), Err(error)) | (Err(error), Ok(_)) => {
                    failures.push(format!("seed {seed} {formulation}: one fails: {error}"));
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
    assert!(
        failures.is_empty(),
        "{compared} compared\n{}",
        failures.join("\n")
    );
}
