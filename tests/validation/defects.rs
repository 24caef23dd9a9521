//! Mechanisms that once ended with status OK and a wrong answer, panicked, or were refused (`tests/data/mechanisms`), with every
//! formulation. Those that wait for error control say what is seen today; the others have to be right.

use std::path::Path;

use crate::campaign::judge::Verdict;
use crate::campaign::summary::Summary;
use crate::campaign::{Campaign, Subject};

fn run(file: &str, tolerances: &[f64]) -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mechanisms");
    let campaign = Campaign {
        subjects: vec![Subject::File(path.join(file).with_extension("json"))],
        tolerances: tolerances.to_vec(),
        ..Campaign::default()
    };
    campaign.run(|_, _| {})
}

/// Right with every formulation and tolerance.
fn is_right(file: &str) {
    let summary = run(file, &[1e-4, 1e-6]);
    for record in &summary.records {
        assert_eq!(record.verdict(), Verdict::Right, "{}", record.sentence());
    }
}

#[test]
fn loops_between_fixed_bodies_eliminate_nothing() {
    is_right("loop_between_fixed_bodies");
    is_right("loop_of_fixed_bodies_beside_a_pendulum");
}

#[test]
fn bodies_that_cannot_move_stay_where_they_are() {
    is_right("all_bodies_fixed");
    is_right("all_bodies_fixed_away_from_the_origin");
}

#[test]
fn the_work_of_drives_closes_the_balance_where_everything_is_driven() {
    is_right("fully_driven_supplied_energy");
}

#[test]
fn friction_in_a_driven_loop_closes_the_balance() {
    is_right("driven_slider_crank_with_friction");
}

/// What waits for error control, with what is seen there today.
const OPEN: [(&str, &str); 9] = [
    (
        "box_just_touching_a_compliant_floor",
        "the event occurs again and again at t = 0",
    ),
    (
        "dead_points_lose_energy",
        "plain steps where the passes do not converge",
    ),
    (
        "nearly_singular_start",
        "a constraint is taken for redundant: velocities lose energy at once",
    ),
    (
        "nearly_singular_start_in_space",
        "the same, and the step shrinks to nothing in global",
    ),
    (
        "one_body_in_topological",
        "passes that converge too slowly add up",
    ),
    (
        "one_plain_step_loses_energy",
        "a single plain step loses a fifth of the energy",
    ),
    (
        "stiff_bushing_gains_energy",
        "velocity errors of short steps are weighed too little",
    ),
    ("stiff_end_stop_gains_energy", "the same at an end stop"),
    (
        "z1_with_stiff_damping",
        "a robot arm with damped joints: plain steps all along, 400 tolerances and more",
    ),
];
/// Long ones, with `BIELA_TEST_FULL=1`.
const OPEN_AND_LONG: [(&str, &str); 6] = [
    (
        "talos_with_damped_joints",
        "a humanoid with damped joints: the corrector switches on and off",
    ),
    (
        "cart_pole_with_nearly_coinciding_joints",
        "the length of the norm is tiny: 23,000 steps",
    ),
    (
        "swimmer_of_small_links",
        "10,000 steps for an error of 3e-12 in absolute coordinates",
    ),
    (
        "hopper_with_massless_bodies",
        "457 steps and 153 failures in absolute coordinates",
    ),
    (
        "pusher_with_tiny_masses",
        "global takes a moment of inertia of 6e-13 kg m² for none",
    ),
    (
        "three_boxes_on_compliant_contacts",
        "boxes fall through each other, in all runs alike",
    ),
];

/// They do not panic and do not hang; which of them are right already is printed.
#[test]
fn what_waits_for_error_control_fails_in_no_other_way() {
    let full = std::env::var("BIELA_TEST_FULL").is_ok_and(|x| x == "1");
    let long: &[(&str, &str)] = if full { &OPEN_AND_LONG } else { &[] };
    for (file, today) in OPEN.iter().chain(long) {
        let summary = run(file, &[1e-4]);
        for verdict in [Verdict::Panic, Verdict::Hang] {
            assert_eq!(summary.count(verdict), 0, "{}", summary.sentences(verdict));
        }
        let right = summary.count(Verdict::Right);
        println!(
            "{file}: {right} of {} right ({today})",
            summary.records.len()
        );
    }
}
