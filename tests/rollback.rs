//! Is roll-back exact? Save, run, restore, run: the same bits, at many random points of a driven slider-crank.

mod common;

use biela::component::Instance;
use common::{Random, act, bits, now, slider_crank, text};

/// Ten times more with BIELA_TEST_FULL=1.
fn points() -> usize {
    match std::env::var("BIELA_TEST_FULL").as_deref() {
        Ok("1") => 10_000,
        _ => 1_000,
    }
}

/// A few communication steps, and all that can be seen of them.
fn run(instance: &mut Instance, mut random: Random) -> (Vec<Vec<u64>>, String) {
    let mut seen = Vec::new();
    for _ in 0..1 + random.below(3) {
        act(instance, &mut random);
        seen.push(bits(instance));
    }
    (seen, now(instance))
}

#[test]
fn restoring_at_random_points_gives_the_same_bits_again() {
    let mut random = Random(1);
    let mut instance = slider_crank();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let mut other = slider_crank();
    let mut slot = instance.save().unwrap();
    for point in 0..points() {
        instance.save_into(&mut slot).unwrap();
        let saved = text(&slot);
        let future = Random(random.bits());

        let first = run(&mut instance, future.clone());
        // Sometimes the run goes on, by another way, before it is called back.
        if point % 3 == 0 {
            run(&mut instance, Random(random.bits()));
        }
        instance.restore(&slot).unwrap();
        assert_eq!(now(&instance), saved, "restore at point {point}");
        let again = run(&mut instance, future.clone());
        assert_eq!(first, again, "same instance, point {point}");

        // Another instance, with a past of its own, takes over.
        other.restore(&slot).unwrap();
        let elsewhere = run(&mut other, future);
        assert_eq!(first, elsewhere, "other instance, point {point}");

        assert_eq!(text(&slot), saved, "the saved state is only read");
        act(&mut instance, &mut random);
    }
    assert!(instance.time() > 1.0, "the run got to {}", instance.time());
}

#[test]
fn a_set_between_save_and_step_is_rolled_back_too() {
    let mut random = Random(2);
    let mut instance = slider_crank();
    let tau = common::references(&instance, biela::component::Causality::Input)[0];
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    for _ in 0..50 {
        act(&mut instance, &mut random);
        // Due, but not yet heard of by the mechanism.
        let due = random.between(-1.0, 1.0);
        instance.set_real(&[tau], &[due]).unwrap();
        let saved = instance.save().unwrap();
        let seen = bits(&mut instance);
        instance.set_real(&[tau], &[5.0]).unwrap();
        let t = instance.time();
        instance.step(t, 0.01).unwrap();
        assert_ne!(bits(&mut instance), seen);
        instance.restore(&saved).unwrap();
        assert_eq!(now(&instance), text(&saved));
        assert_eq!(bits(&mut instance), seen);
    }
}

#[test]
fn going_back_after_a_failed_step_is_as_if_it_had_not_been() {
    use std::sync::atomic::Ordering;
    let mut random = Random(3);
    let mut instance = slider_crank();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    act(&mut instance, &mut random);
    let saved = instance.save().unwrap();
    let first = run(&mut instance, random.clone());
    instance.restore(&saved).unwrap();
    instance.cancel_flag().store(true, Ordering::Relaxed);
    instance.step(instance.time(), 1.0).unwrap_err();
    instance.restore(&saved).unwrap();
    assert_eq!(run(&mut instance, random), first);
}
