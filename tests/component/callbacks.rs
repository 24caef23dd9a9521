//! `biela_system_*`: the hand-written systems as C functions give what they give as Rust, whether their derivatives are
//! given or differenced; refusals shorten steps or stop with their code; events, roll-back and ownership work.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::drive::{self, Run, Sine};
use crate::common::systems::bounce::Bounce;
use crate::common::systems::chain::Chain;
use crate::common::systems::driven_pendulum::DrivenPendulum;
use crate::common::systems::fragile::{Break, Fragile};
use crate::common::systems::oscillator::Oscillator;
use crate::common::systems::pendulum::Pendulum;
use crate::dressed::{Driven, Given, Told};
use crate::host::{
    Compiler, Linked, Scratch, expect_success, library, valgrind, without_library_path,
};
use biela::capi::instance::biela_instance_reset;
use biela::capi::state::{biela_state_free, biela_state_restore, biela_state_save};
use biela::capi::statistics::{biela_counters, biela_counters_default, biela_statistics};
use biela::capi::status::biela_status;
use biela::constraint::sparsity::Backend;
use biela::formulation::{EvaluationFailure, System};
use biela::model::{IntegratorName, SolverSettings};

/// The state a case of `common::drive` starts from, and its system.
fn case(name: &str) -> (Box<dyn System>, Vec<f64>, Vec<f64>) {
    let run = drive::start(name, &SolverSettings::default(), Backend::Auto);
    (run.system, run.state.q, run.state.v)
}

fn counters(driven: &Driven) -> biela_counters {
    // SAFETY: plain numbers; the instance is alive.
    unsafe {
        let mut counters: biela_counters = std::mem::zeroed();
        biela_counters_default(&mut counters, size_of::<biela_counters>());
        assert_eq!(
            biela_statistics(driven.instance, &mut counters),
            biela_status::Ok
        );
        counters
    }
}

/// How much was given, the counters, and q at the end.
type Through = (Given, biela_counters, Vec<f64>);

/// Steps and q at the end, in Rust without C and through C with each amount of derivatives.
fn compare(name: &str, end: f64, integrator: IntegratorName) -> (u64, Vec<f64>, Vec<Through>) {
    let (system, q, v) = case(name);
    let settings = SolverSettings {
        integrator,
        ..SolverSettings::default()
    };
    let words = format!("integrator = \"{}\"", integrator.name());
    let mut run = Run::begin(
        system,
        &settings,
        Backend::Auto,
        (&q, &v),
        vec![],
        Sine::default(),
    )
    .unwrap_or_else(|e| panic!("{name}: {e}"));
    run.to(end).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut through = Vec::new();
    for given in [Given::All, Given::Geometry, Given::Nothing] {
        let (system, q, v) = case(name);
        let driven = Driven::new(system, (&q, &v), &words, given).unwrap();
        driven
            .initialize()
            .unwrap_or_else(|e| panic!("{name}, {given:?}: {e:?}"));
        driven
            .to(end)
            .unwrap_or_else(|e| panic!("{name}, {given:?}: {e:?}"));
        through.push((given, counters(&driven), driven.q()));
    }
    (run.state.statistics.steps, run.state.q, through)
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |d, (a, b)| d.max((a - b).abs()))
}

#[test]
fn every_hand_written_system_moves_through_c_as_it_does_in_rust() {
    // Motions regular enough over these times that a difference in the last digits stays one.
    for (name, end) in [
        ("oscillator", 5.0),
        ("pendulum", 5.0),
        ("chain", 1.0),
        ("long chain", 0.5),
        ("double pendulum", 1.0),
        ("closed loop", 2.0),
        ("andrews", 0.02),
        ("driven pendulum", 2.0),
        ("impact", 4.0),
        ("bounce", 3.0),
        ("walls", 0.5),
        ("heavy top", 0.2),
    ] {
        let (steps, q, through) = compare(name, end, IntegratorName::Auto);
        let (hht, ..) = compare(name, end, IntegratorName::Hht);
        for (given, counted, ended) in through {
            // Where γ is a difference, jerks are differences of differences: the smooth path gives way to HHT.
            let [least, most] = match given {
                Given::Nothing => [steps.min(hht), steps.max(hht)],
                _ => [steps; 2],
            };
            let few =
                counted.steps + 2 + steps / 50 >= least && counted.steps <= most + 2 + most / 50;
            assert!(
                few,
                "{name}, {given:?}: {} steps, in Rust {steps}, by HHT {hht}",
                counted.steps
            );
            // With everything given the arithmetic is the same up to the order of a few sums. Differences steer Newton
            // (tolerance 1e-9 of the increment) and move G by 1e-12: the rest is what tolerance 1e-6 leaves anyway.
            // The heavy top spins 150 rad/s and has another norm (weights 1) through C.
            let bound = match (name, given) {
                ("heavy top", _) => 1e-4,
                (_, Given::All) => 1e-8,
                _ => 1e-6,
            };
            let error = far(&ended, &q);
            assert!(error < bound, "{name}, {given:?}: {error:.1e}");
        }
    }
}

#[test]
fn differenced_derivatives_cost_about_the_same_steps_and_iterations() {
    let (_, _, through) = compare("chain", 2.0, IntegratorName::Hht);
    let [all, _, nothing] = &through[..] else {
        panic!("three runs")
    };
    let worse = nothing.1.newton_iterations as f64 / all.1.newton_iterations as f64;
    assert!(worse < 1.1, "{worse}");
    assert_eq!(all.1.rejected.abs_diff(nothing.1.rejected), 0);
}

/// Error of the pendulum at t = 1 with a fixed step, everything differenced.
fn pendulum_error(step: f64, settings: &str) -> f64 {
    let run = |step: f64, settings: &str| {
        let settings = format!("step = {step}\n{settings}");
        let start: (&[f64], &[f64]) = (&[0.6, -0.8], &[0.0; 2]);
        let driven =
            Driven::new(Box::<Pendulum>::default(), start, &settings, Given::Nothing).unwrap();
        driven.initialize().unwrap();
        driven.to(1.0).unwrap();
        driven.q()
    };
    far(
        &run(step, settings),
        &run(1.0 / 1280.0, "corrector = \"auto\"\nalpha = 0"),
    )
}

#[test]
fn the_order_is_two_and_with_the_corrector_four() {
    for (settings, order) in [
        ("corrector = \"off\"\nalpha = 0.05", 2.0),
        (
            "integrator = \"hht\"\ncorrector = \"auto\"\nalpha = 0.05",
            4.0,
        ),
    ] {
        let [coarse, fine] = [1.0 / 40.0, 1.0 / 80.0].map(|h| pendulum_error(h, settings));
        let slope = (coarse / fine).log2();
        assert!(
            (slope - order).abs() < 0.35,
            "{settings}: {slope:.2} ({coarse:.1e} {fine:.1e})"
        );
    }
}

/// A mass on a spring that refuses to be evaluated somewhere.
fn fragile(place: fn(f64, &[f64], &[f64]) -> bool, how: Break) -> Driven {
    let system = Fragile::new(Pendulum::default(), place, how);
    let driven = Driven::new(
        Box::new(system),
        (&[1.0, 0.0], &[0.0; 2]),
        "",
        Given::Nothing,
    );
    driven.unwrap()
}

#[test]
fn a_recoverable_callback_failure_shortens_the_step_and_nothing_more() {
    // The force exists near the circle only, and long predictions leave it.
    let off = |_: f64, q: &[f64], _: &[f64]| (q[0].hypot(q[1]) - 1.0).abs() > 1e-4;
    let run = |place: fn(f64, &[f64], &[f64]) -> bool, integrator: &str| {
        let how = Break::Fault(EvaluationFailure::Recoverable(3));
        let system = Box::new(Fragile::new(Pendulum::default(), place, how));
        let start: (&[f64], &[f64]) = (&[1.0, 0.0], &[0.0; 2]);
        let settings = format!("tolerance = 1e-3\nintegrator = \"{integrator}\"");
        let driven = Driven::new(system, start, &settings, Given::Nothing).unwrap();
        driven.initialize().unwrap();
        driven.to(2.0).unwrap();
        assert_eq!(driven.answer(), 0, "it was got over");
        (counters(&driven), driven.q())
    };
    for integrator in ["hht", "auto"] {
        let ((refused, q), (plain, expected)) =
            (run(off, integrator), run(|_, _, _| false, integrator));
        if integrator == "hht" {
            assert!(refused.newton_failures > 0);
            assert!(refused.largest_step < plain.largest_step);
        }
        assert_eq!(plain.newton_failures, 0);
        // Both to tolerance 1e-3 a step.
        assert!(far(&q, &expected) < 1e-2);
    }
}

#[test]
fn a_recoverable_callback_failure_at_every_step_size_is_reported_with_its_code() {
    let driven = fragile(
        |t, _, _| t > 0.7,
        Break::Fault(EvaluationFailure::Recoverable(3)),
    );
    driven.initialize().unwrap();
    let (status, sentence) = driven.to(2.0).unwrap_err();
    assert_eq!(status, biela_status::ErrorCallback);
    assert!(
        sentence.starts_with("the function \"force\" answered 3 at t = 0.7"),
        "{sentence}"
    );
    assert_eq!(driven.answer(), 3);
    let t = driven.time();
    assert!(t > 0.69 && t <= 0.7, "{t}");
}

#[test]
fn a_fatal_callback_failure_stops_with_its_code_at_the_last_accepted_step() {
    for how in [-1, -77, i32::MIN] {
        let driven = fragile(
            |t, _, _| t > 0.7,
            Break::Fault(EvaluationFailure::Fatal(how)),
        );
        driven.initialize().unwrap();
        let (status, sentence) = driven.to(2.0).unwrap_err();
        assert_eq!(status, biela_status::ErrorCallback);
        assert!(
            sentence.starts_with(&format!("the function \"force\" answered {how} at t = 0.")),
            "{sentence}"
        );
        assert_eq!(driven.answer(), how);
        // Where it stands it can be read, and it is what a run to that time gives.
        let (t, q) = (driven.time(), driven.q());
        assert!(t < 0.7, "{t}");
        let plain = fragile(|_, _, _| false, Break::Fault(EvaluationFailure::Fatal(how)));
        plain.initialize().unwrap();
        plain.to(t).unwrap();
        assert!(far(&q, &plain.q()) < 1e-5);
        // And after a reset nothing is left of it.
        // SAFETY: alive.
        assert_eq!(
            unsafe { biela_instance_reset(driven.instance) },
            biela_status::Ok
        );
        assert_eq!(driven.answer(), 0);
    }
}

#[test]
fn numbers_that_are_not_finite_are_named_by_function_and_index() {
    for (how, expected) in [
        (
            Break::Value(1, f64::NAN),
            "the function \"force\" wrote NaN at [1]",
        ),
        (
            Break::Value(0, f64::INFINITY),
            "the function \"force\" wrote inf at [0]",
        ),
        (
            Break::Row(0, f64::NAN),
            "the function \"constraint\" wrote NaN at [0]",
        ),
    ] {
        let driven = fragile(|t, _, _| t > 0.7, how);
        driven.initialize().unwrap();
        let (status, sentence) = driven.to(2.0).unwrap_err();
        assert_eq!(status, biela_status::ErrorNumeric, "{sentence}");
        assert!(sentence.starts_with(expected), "{sentence}");
        assert!(driven.time() <= 0.7 && driven.q().iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_start_that_fails_names_the_callback() {
    let driven = fragile(|_, _, _| true, Break::Fault(EvaluationFailure::Fatal(-5)));
    let (status, sentence) = driven.initialize().unwrap_err();
    assert_eq!(status, biela_status::ErrorCallback);
    assert!(
        sentence.starts_with("the function \"force\" answered -5"),
        "{sentence}"
    );
    let driven = fragile(|_, _, _| true, Break::Row(0, f64::NAN));
    let (status, sentence) = driven.initialize().unwrap_err();
    assert_eq!(status, biela_status::ErrorNumeric);
    assert!(
        sentence.starts_with("the function \"constraint\" wrote NaN"),
        "{sentence}"
    );
}

#[test]
fn a_ball_bounces_and_comes_to_rest_through_c() {
    let ball = Bounce {
        restitution: 0.5,
        slowest: 0.05,
        ..Bounce::default()
    };
    let driven = Driven::new(Box::new(ball), (&[0.0, 1.0], &[0.0; 2]), "", Given::Nothing).unwrap();
    driven.initialize().unwrap();
    // Free fall from 1 m, then hops of half the speed: all of it in closed form.
    let fall = (2.0 / 9.81f64).sqrt();
    let speed = 9.81 * fall;
    let apex = fall + 0.5 * speed / 9.81;
    driven.to(apex).unwrap();
    let height = (0.5 * speed).powi(2) / (2.0 * 9.81);
    assert!(
        (driven.get("q2") - height).abs() < 1e-6,
        "{}",
        driven.get("q2")
    );
    assert!(driven.get("v2").abs() < 1e-5);
    driven.to(3.0).unwrap();
    assert!(driven.get("q2").abs() < 1e-8 && driven.get("v2").abs() < 1e-10);
    // At rest the floor carries the weight: Gᵀλ = −m g.
    assert!((driven.get("lambda1") + 2.0 * 9.81).abs() < 1e-8);
    assert!(counters(&driven).events >= 5);
    // And is lifted off again by the input.
    driven.set("u1", 3.0 * 2.0 * 9.81);
    driven.to(3.5).unwrap();
    let lifted = 0.5 * 2.0 * 9.81 * 0.25;
    assert!(
        (driven.get("q2") - lifted).abs() < 1e-6,
        "{}",
        driven.get("q2")
    );
}

#[test]
fn rollback_repeats_every_bit() {
    let (system, q, v) = case("bounce");
    let driven = Driven::new(system, (&q, &v), "", Given::Nothing).unwrap();
    driven.initialize().unwrap();
    let run = || -> Vec<u64> {
        let mut bits = Vec::new();
        for k in 1..=40 {
            driven.to(0.3 + 0.05 * f64::from(k)).unwrap();
            bits.extend(["q1", "q2", "v2", "a2", "lambda1"].map(|name| driven.get(name).to_bits()));
        }
        bits
    };
    driven.to(0.3).unwrap();
    let mut state = null_mut();
    // SAFETY: a live instance and a place for the state, freed below.
    unsafe {
        assert_eq!(
            biela_state_save(driven.instance, &mut state),
            biela_status::Ok
        );
        let first = run();
        for _ in 0..3 {
            assert_eq!(
                biela_state_restore(driven.instance, state),
                biela_status::Ok
            );
            assert!(first == run());
        }
        assert_eq!(biela_state_free(state), biela_status::Ok);
    }
}

#[test]
fn moving_constraints_follow_their_inputs_without_any_derivative_given() {
    let start: (&[f64], &[f64]) = (&[1.0, 0.0], &[0.0; 2]);
    let run = |given: Given| {
        let driven = Driven::new(Box::<DrivenPendulum>::default(), start, "", given).unwrap();
        driven.initialize().unwrap();
        driven.to(2.0).unwrap();
        driven.q()
    };
    // γ from second differences over 1e-3 s is good to 1e-9, the run to 1e-6.
    assert!(far(&run(Given::All), &run(Given::Nothing)) < 1e-6);
}

#[test]
fn a_pattern_saves_evaluations() {
    let links = 20;
    let run = |dense: bool| {
        let chain = Chain(links);
        let q = chain.horizontal();
        let v = vec![0.0; q.len()];
        let driven = Driven::with(
            Box::new(chain),
            (&q, &v),
            "step = 0.01",
            Given::Geometry,
            |definition| {
                if dense {
                    definition.tangent_count = 0;
                }
            },
        );
        let driven = driven.unwrap();
        driven.initialize().unwrap();
        let before = driven.dressed().calls.load(Ordering::Relaxed);
        driven.to(0.1).unwrap();
        (
            driven.q(),
            driven.dressed().calls.load(Ordering::Relaxed) - before,
        )
    };
    let ((q, sparse), (dense_q, dense)) = (run(false), run(true));
    assert!(far(&q, &dense_q) < 1e-9);
    assert!(
        sparse * 3 < dense,
        "{sparse} calls with the pattern, {dense} without"
    );
}

#[test]
fn the_users_object_is_released_once_and_only_with_the_instance() {
    let released = AtomicU64::new(0);
    let make = |settings: &str| {
        Driven::with(
            Box::<Oscillator>::default(),
            (&[1.0], &[0.0]),
            settings,
            Given::All,
            |definition| unsafe {
                (*definition.user.cast::<crate::dressed::Dressed>()).released = &raw const released;
            },
        )
    };
    let driven = make("").unwrap();
    driven.initialize().unwrap();
    driven.to(1.0).unwrap();
    // SAFETY: alive.
    unsafe { biela_instance_reset(driven.instance) };
    assert_eq!(released.load(Ordering::Relaxed), 0);
    drop(driven);
    assert_eq!(released.load(Ordering::Relaxed), 1);
    assert!(make("alpha = 5").is_err());
    assert_eq!(
        released.load(Ordering::Relaxed),
        1,
        "a failed creation takes nothing"
    );
}

#[test]
fn definitions_that_cannot_be_meant_are_refused_by_name() {
    type Change = fn(&mut biela::capi::system::biela_system_definition);
    let refusal = |change: Change| -> Told {
        let start: (&[f64], &[f64]) = (&[1.0, 0.0], &[0.0; 2]);
        let made = Driven::with(Box::<Pendulum>::default(), start, "", Given::All, change);
        match made {
            Ok(_) => panic!("accepted"),
            Err(told) => told,
        }
    };
    const NAN: [f64; 2] = [1.0, f64::NAN];
    const ZERO: [f64; 2] = [1.0, 0.0];
    const FAR: [u32; 4] = [0, 1, 2, 9];
    let cases: [(Change, &str); 16] = [
        (
            |d| d.struct_size = 3,
            "struct_size of biela_system_definition",
        ),
        (|d| d.force = None, "force = NULL"),
        (|d| d.constraint = None, "constraint = NULL"),
        (
            |d| (d.mass, d.mass_times) = (None, None),
            "mass, mass_times = NULL",
        ),
        (|d| d.nv = 0, "nv = 0"),
        (|d| d.nv = usize::MAX, "nv = "),
        (|d| d.nc = usize::MAX, "nc = "),
        (|d| d.inputs = 1 << 40, "inputs = "),
        (|d| d.nq = 3, "nq = 3"),
        (|d| d.q = std::ptr::null(), "q = NULL"),
        (|d| d.q = NAN.as_ptr(), "q[1] = NaN"),
        (|d| d.weights = ZERO.as_ptr(), "weights[1] = 0"),
        (|d| d.flags = 1 << 20, "flags = 1048576"),
        (|d| d.solver = c"tolerence = 1".as_ptr(), "solver:1:1: "),
        (
            |d| d.solver = c"formulation = \"absolute\"".as_ptr(),
            "solver.formulation = ",
        ),
        (
            |d| (d.jacobian_count, d.jacobian_columns) = (2, FAR[2..].as_ptr()),
            "pattern of jacobian = ",
        ),
    ];
    for (change, expected) in cases {
        let (_, sentence) = refusal(change);
        assert!(sentence.starts_with(expected), "{expected}: {sentence}");
    }
}

#[test]
#[cfg(unix)]
fn callbacks_are_called_and_used_in_a_real_c_program() {
    let Some(c) = Compiler::c() else { return };
    let scratch = Scratch::new("system-callbacks");
    let source = "c_tests/system_callbacks.c";
    let shared = c.build(source, Linked::Shared(library()), &scratch);
    expect_success(source, &run(&shared));
    expect_success(
        source,
        &run(&c.build(source, Linked::Static(library()), &scratch)),
    );
    if let Some(mut valgrind) = valgrind() {
        let output = valgrind.arg(&shared).output().expect("valgrind starts");
        expect_success(&format!("{source} under valgrind"), &output);
    }
    if let Some(c) = c.with_sanitizers() {
        expect_success(
            source,
            &run(&c.build(source, Linked::Shared(library()), &scratch)),
        );
    }
}

#[cfg(unix)]
fn run(program: &std::path::Path) -> std::process::Output {
    without_library_path(program)
        .output()
        .expect("the program starts")
}
