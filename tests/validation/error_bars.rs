//! Error bars and accuracies on random mechanisms: is the stated error the true one, and is a promise kept?
//!
//! `cargo run --release --example campaign -- SEEDS --error-bars --tolerances 1e-4,1e-6 --formulations absolute,relative` prints
//! every run.

use crate::campaign::Subject;
use crate::campaign::error_bars::{AccuracyRecord, BarRecord, BarReference};
use crate::common::all_models;
use biela::component::Instance;

const TOLERANCES: [f64; 2] = [1e-4, 1e-6];

/// Seeds of their own: 250 mechanisms give a thousand runs.
fn seeds() -> std::ops::Range<u64> {
    match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => 40_000..40_250,
        _ => 40_000..40_006,
    }
}

fn records() -> (Vec<BarRecord>, Vec<AccuracyRecord>) {
    let (mut bars, mut accuracies) = (Vec::new(), Vec::new());
    for seed in seeds() {
        for formulation in ["absolute", "relative"] {
            let Some(reference) = BarReference::new(
                &Subject::Seed(seed),
                [formulation, "auto"],
                &TOLERANCES,
                1e-9,
            ) else {
                continue;
            };
            for tolerance in TOLERANCES {
                bars.extend(reference.error_bars(tolerance));
                accuracies.extend(reference.accuracy(tolerance));
            }
        }
    }
    (bars, accuracies)
}

#[test]
fn stated_errors_are_true_and_promises_are_kept() {
    let (bars, accuracies) = records();
    let known: Vec<&BarRecord> = bars.iter().filter(|record| record.is_known()).collect();
    assert!(known.len() > 10, "{} runs can be judged", known.len());
    let few = |bad: &[&BarRecord], most: f64, what: &str| {
        let allowed = most * known.len() as f64;
        assert!(bad.len() as f64 <= allowed, "{what}: {bad:#?}");
    };
    let off = |r: &&&BarRecord| !(1.0 / 3.0..=3.0).contains(&r.ratio());
    let off: Vec<&BarRecord> = known.iter().filter(off).copied().collect();
    few(&off, 0.02, "stated error more than 3 times off");
    let unsafe_bars = known.iter().filter(|r| r.delivered > r.stated + r.spread);
    let unsafe_bars: Vec<&BarRecord> = unsafe_bars.copied().collect();
    few(&unsafe_bars, 0.01, "delivered values outside their bars");
    let other: Vec<&BarRecord> = bars.iter().filter(|r| !r.same_bits).collect();
    assert!(other.is_empty(), "other bits with error bars: {other:#?}");
    let claimed: Vec<_> = accuracies.iter().filter(|r| r.claimed).collect();
    let broken: Vec<_> = (claimed
        .iter()
        .filter(|r| r.delivered > r.accuracy + r.spread))
    .collect();
    assert!(
        broken.len() as f64 <= 0.01 * claimed.len() as f64,
        "promises that were not kept: {broken:#?}"
    );
}

#[test]
fn every_shipped_model_has_error_bars_and_keeps_its_bits() {
    for model in all_models() {
        let mut barred = model.clone();
        barred.solver.error_bars = true;
        let end = model.experiment.start + 0.2 * (model.experiment.stop - model.experiment.start);
        let run = |model: &biela::Model| {
            let mut instance = Instance::from_model(model.clone()).unwrap();
            let start = model.experiment.start;
            instance.initialize(start, end, 0.0).unwrap();
            instance.step(start, end - start).unwrap();
            instance
        };
        let (with, without) = (run(&barred), run(&model));
        assert_eq!(with.state(), without.state(), "{}", model.name);
        let bars = with.error_bars().unwrap();
        assert_eq!(bars.stopped, None, "{}", model.name);
        assert!(bars.worst.is_finite(), "{}: {bars:?}", model.name);
    }
}
