//! The random campaign: status OK means a right answer, on mechanisms nobody has looked at.
//!
//! `cargo run --release --example campaign -- SEEDS` runs any part of it with a log. What failed once is in
//! `tests/data/mechanisms` and is run in `defects.rs`.

use crate::campaign::judge::Verdict;
use crate::campaign::mechanism::random_mechanism;
use crate::campaign::summary::Summary;
use crate::campaign::{Campaign, Subject};

fn full() -> bool {
    std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1")
}

/// The issue asks for 3,000 mechanisms with all formulations and three tolerances; the ordinary tests run a hundred with two
/// tolerances, against references at 10⁻⁸, which is enough for errors of 100 x 10⁻⁶.
fn run() -> Summary {
    let campaign = if full() {
        Campaign::of_seeds(0..3000)
    } else {
        Campaign {
            tolerances: vec![1e-4, 1e-6],
            tight: 1e-8,
            ..Campaign::of_seeds(0..100)
        }
    };
    campaign.run(|record, _| {
        if record.verdict().is_bad() {
            println!("{}", record.sentence());
        }
    })
}

/// What holds today, as the largest count of each class in a thousand runs. The goals are in the last column.
const MOST_IN_A_THOUSAND: [(Verdict, usize, usize); 7] = [
    (Verdict::Wrong, 1, 1),
    (Verdict::Energy, 1, 0),
    (Verdict::Stopped, 0, 0),
    (Verdict::Refused, 0, 0),
    (Verdict::Hang, 0, 0),
    (Verdict::Panic, 0, 0),
    (Verdict::Unknown, 50, 50),
];

#[test]
fn random_mechanisms_end_right_or_say_why_not() {
    let summary = run();
    println!("{}", summary.table());
    for (verdict, most, goal) in MOST_IN_A_THOUSAND {
        let count = summary.count(verdict);
        assert!(
            1000 * count <= most * summary.records.len(),
            "{}: {count} of {} runs, at most {most} of 1000 (goal {goal})\n{}",
            verdict.name(),
            summary.records.len(),
            summary.sentences(verdict)
        );
    }
}

/// Seeds that once ended wrong: 97 by the sum of uncorrected steps, 2038 by accelerations near a singular position.
#[test]
fn seeds_that_were_wrong_are_right() {
    let campaign = Campaign {
        subjects: [97, 2038].map(Subject::Seed).to_vec(),
        tolerances: vec![1e-4, 1e-6],
        ..Campaign::default()
    };
    for record in &campaign.run(|_, _| {}).records {
        assert_eq!(record.verdict(), Verdict::Right, "{}", record.sentence());
    }
}

/// Bodies that cannot move, loops that restrict nothing, drives of every joint: right, or a sentence that says why not.
#[test]
fn odd_mechanisms_neither_panic_nor_are_refused() {
    let count = if full() { 2000 } else { 60 };
    let campaign = Campaign {
        subjects: (0..count).map(Subject::Odd).collect(),
        tolerances: vec![1e-4],
        tight: 1e-7,
        ..Campaign::default()
    };
    let summary = campaign.run(|_, _| {});
    println!("{}", summary.table());
    for verdict in Verdict::ALL.into_iter().filter(|verdict| verdict.is_bad()) {
        let sentences = summary.sentences(verdict);
        assert!(sentences.is_empty(), "{sentences}");
    }
    for record in summary.of(Verdict::StoppedByAll) {
        assert!(
            record.run.text.contains('"'),
            "no culprit: {}",
            record.run.text
        );
    }
}

/// The generator covers what it promises; a seed is the same mechanism everywhere.
#[test]
fn seeds_give_all_joints_over_all_decades() {
    let mut text = String::new();
    let (mut masses, mut stiffnesses) = (Vec::new(), Vec::new());
    let (mut loops, mut driven) = (0, 0);
    for seed in 0..400 {
        let (model, features) = random_mechanism(seed);
        loops += usize::from(features.loops > 0);
        driven += usize::from(features.driven);
        for body in model["body"].as_array().expect("bodies") {
            masses.push(body["mass"].as_f64().expect("a mass"));
        }
        for force in model["force"].as_array().into_iter().flatten() {
            stiffnesses.push(force["stiffness"].as_f64().expect("a stiffness"));
        }
        text += &model.to_string();
    }
    for kind in [
        "fixed",
        "revolute",
        "prismatic",
        "cylindrical",
        "spherical",
        "universal",
        "planar",
        "screw",
        "distance",
        "point_on_line",
        "harmonic",
        "constant_speed",
        "polynomial",
        "torsion_spring",
        "spring_damper",
    ] {
        assert!(text.contains(&format!("\"{kind}\"")), "no {kind}");
    }
    let decades = |values: &[f64]| {
        let largest = values.iter().copied().fold(0.0, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        (largest / smallest).log10()
    };
    // The ends of the ranges are met to a tenth of a decade by a few hundred draws.
    assert!(decades(&masses) > 3.9, "{}", decades(&masses));
    assert!(decades(&stiffnesses) > 5.5, "{}", decades(&stiffnesses));
    assert!(loops > 100 && driven > 40, "{loops} {driven}");
    assert_eq!(
        random_mechanism(7).0.to_string(),
        random_mechanism(7).0.to_string()
    );
}
