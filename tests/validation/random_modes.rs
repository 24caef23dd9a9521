//! Modes of random mechanisms: the same eigenvalues in all five formulations.

use biela::model::Model;
use biela::{Error, Instance};
use serde_json::json;

use super::campaign::mechanism::random_mechanism;

const FORMULATIONS: [&str; 5] = ["absolute", "relative", "global", "topological", "hybrid"];

/// Difference of positions and velocities (m, rad, s) of one state: closure of the start, 1e-11, times a condition number.
const SAME_STATE: f64 = 1e-11;

/// Mechanisms whose zero modes are hard to tell: formulations differed once, or with another rule that was tried.
const FORMER: [u64; 8] = [821, 907, 1395, 2209, 3392, 4036, 4362, 4554];

fn seeds() -> impl Iterator<Item = u64> {
    let count = match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => 5_000,
        _ => 400,
    };
    (0..count).chain(FORMER.into_iter().filter(move |seed| *seed >= count))
}

/// A started mechanism.
struct Started {
    /// Eigenvalues, zeros left out, and the number of all modes.
    modes: Result<(Vec<[f64; 2]>, usize), Error>,
    /// Positions and velocities of the bodies.
    state: Vec<f64>,
}

/// The mechanism of a seed at its start; `None` if it does not start.
fn started(seed: u64, formulation: &str) -> Option<Started> {
    let (mut model, _) = random_mechanism(seed);
    if !model["solver"].is_object() {
        model["solver"] = json!({});
    }
    model["solver"]["formulation"] = json!(formulation);
    let model = Model::from_text(&model.to_string(), "model").ok()?;
    let mut instance = Instance::from_model(model).ok()?;
    instance.initialize(0.0, 1.0, 0.0).ok()?;
    let is_motion = |name: &str| {
        let field = name.rsplit('.').next().unwrap_or("");
        let fields = [
            "x", "y", "z", "angle", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz",
        ];
        fields.contains(&field)
    };
    let all = instance.model().quantities();
    let quantities: Vec<_> = (all.into_iter())
        .filter(|(name, _)| is_motion(name))
        .map(|(_, quantity)| quantity)
        .collect();
    let mut state = vec![0.0; quantities.len()];
    instance.get_quantities(&quantities, &mut state).ok()?;
    let modes = instance.modes(usize::MAX).map(|modes| {
        let all = modes.iter().map(|mode| mode.eigenvalue);
        let moving = all.filter(|s| *s != [0.0, 0.0]).collect();
        (moving, modes.len())
    });
    Some(Started { modes, state })
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
    let (mut compared, mut elsewhere, mut failures) = (0, 0, Vec::new());
    for seed in seeds() {
        let Some(first) = started(seed, FORMULATIONS[0]) else {
            continue;
        };
        for formulation in &FORMULATIONS[1..] {
            let Some(other) = started(seed, formulation) else {
                continue;
            };
            // A rough start may be assembled to another position or velocity: then the modes are those of another state.
            let pairs = first.state.iter().zip(&other.state);
            let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if !(apart < SAME_STATE) {
                elsewhere += 1;
                continue;
            }
            match (&first.modes, &other.modes) {
                (Ok((a, n)), Ok((b, m))) => {
                    compared += 1;
                    let off = distance(a, b).max(distance(b, a));
                    if n != m || a.len() != b.len() || !(off < 1e-8) {
                        failures.push(format!(
                            "seed {seed} {formulation}: {n} and {m} modes, off by {off:.1e}: {a:?} and {b:?}"
                        ));
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
    assert!(compared > 100, "{compared} {elsewhere}");
    assert!(
        failures.is_empty(),
        "{compared} compared, {elsewhere} elsewhere\n{}",
        failures.join("\n")
    );
}
