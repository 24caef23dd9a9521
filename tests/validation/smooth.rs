//! The smooth path of `integrator = "auto"`: a third to a half of the steps of `"hht"`, right answers, the same bits after a roll-back.

use serde_json::json;

use biela::component::Instance;
use biela::model::{IntegratorName, Model};

use crate::campaign::judge::{Reference, gap, turnover};
use crate::campaign::mechanism::random_mechanism;
use crate::campaign::simulate::{Ending, simulate, simulate_model};

/// Tolerances, times growth, by which a run that ends well may be off: the promise of `tolerance`.
const ALLOWED: f64 = 100.0;

fn shipped(name: &str) -> Model {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    Model::from_file(&folder.join(name)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn random_mechanisms_on_the_smooth_path_end_right() {
    let full = std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1");
    let (mut runs, mut steps) = (0, [0, 0]);
    for seed in 0..if full { 1000 } else { 40 } {
        let (model, _) = random_mechanism(seed);
        for tolerance in [1e-4, 1e-6] {
            let mut reference = Reference::new(&model, 1e-2 * tolerance, tolerance);
            if !(reference.spread < tolerance) {
                continue;
            }
            for formulation in ["absolute", "relative"] {
                let mut hht = model.clone();
                hht["solver"]["integrator"] = json!("hht");
                let before = simulate(&hht, formulation, tolerance);
                let run = simulate(&model, formulation, tolerance);
                let what = format!("seed {seed} {formulation} {tolerance:.0e}: {}", run.text);
                if before.ending != Ending::Done {
                    continue;
                }
                assert_eq!(run.ending, Ending::Done, "{what}");
                runs += 1;
                steps[0] += before.statistics.steps;
                steps[1] += run.statistics.steps;
                let exact = reference.run.as_ref().expect("a spread");
                let mut error = gap(&run, exact) / tolerance;
                if error > ALLOWED {
                    error /= reference.growth(&model);
                }
                assert!(error <= ALLOWED, "{what}: {error} tolerances x growth");
                let balance = run.rows.iter().map(|row| row.balance.abs());
                let balance = balance.fold(0.0, f64::max) / (tolerance * turnover(&run));
                assert!(balance <= ALLOWED, "{what}: balance {balance} tolerances");
            }
        }
    }
    println!("{runs} runs, {steps:?} steps");
    assert!(runs > 60 && steps[1] < steps[0], "{runs} {steps:?}");
}

/// Smooth motions: the figures of theory.md, with a margin of a tenth.
#[test]
fn shipped_models_with_smooth_motions_take_half_the_steps() {
    for name in [
        "andrews",
        "double_four_bar",
        "four_bar",
        "pendulum",
        "slider_crank",
    ] {
        let run = |integrator, tolerance| {
            let mut model = shipped(&format!("{name}.toml"));
            (model.solver.integrator, model.solver.tolerance) = (integrator, tolerance);
            let run = simulate_model(model);
            assert_eq!(run.ending, Ending::Done, "{name}: {}", run.text);
            run
        };
        let exact = run(IntegratorName::Hht, 1e-9);
        let [hht, smooth] =
            [IntegratorName::Hht, IntegratorName::Auto].map(|integrator| run(integrator, 1e-6));
        let [a, b] = [&hht, &smooth].map(|run| run.statistics.steps);
        let error = gap(&smooth, &exact) / 1e-6;
        println!(
            "{name}: {a} -> {b} steps, error {:.2} -> {error:.2} tolerances",
            gap(&hht, &exact) / 1e-6
        );
        assert_eq!(hht.statistics.steps_smooth, 0, "{name}");
        assert!(
            10 * smooth.statistics.steps_smooth > 8 * b,
            "{name}: {b} steps"
        );
        assert!(2 * b <= a, "{name}: {a} -> {b} steps");
        assert!(error <= 10.0, "{name}: {error} tolerances");
    }
}

/// The history of the smooth path belongs to the state: roll-back is exact in bits, also where a communication point cuts a step.
#[test]
fn a_state_restored_on_the_smooth_path_goes_on_with_the_same_bits() {
    let model = shipped("double_four_bar.toml");
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let ahead = |instance: &mut Instance| {
        for h in [0.21, 0.003, 0.4] {
            instance.step(instance.time(), h).unwrap();
        }
        instance.save().unwrap()
    };
    for _ in 0..5 {
        let state = instance.save().unwrap();
        let first = ahead(&mut instance);
        instance.restore(&state).unwrap();
        assert!(ahead(&mut instance) == first, "at {} s", instance.time());
    }
}
