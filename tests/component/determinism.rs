//! Same calls, same bits: again, in other threads, beside other instances, after other lives.

use crate::common::{Random, act, bits, now, slider_crank};
use biela::component::Instance;

const STEPS: usize = 200;

/// A life with random acts; every bit that can be seen of it.
fn life(instance: &mut Instance, seed: u64) -> (Vec<Vec<u64>>, String) {
    let mut random = Random(seed);
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    let mut seen = vec![bits(instance)];
    for _ in 0..STEPS {
        act(instance, &mut random);
        seen.push(bits(instance));
    }
    (seen, now(instance))
}

#[test]
fn a_second_instance_repeats_the_first() {
    assert_eq!(life(&mut slider_crank(), 7), life(&mut slider_crank(), 7));
}

#[test]
fn other_calls_give_other_bits() {
    // Else the tests of this file could not fail.
    assert_ne!(life(&mut slider_crank(), 7), life(&mut slider_crank(), 8));
}

#[test]
fn a_run_after_reset_repeats_the_first() {
    let mut instance = slider_crank();
    let first = life(&mut instance, 7);
    instance.reset();
    life(&mut instance, 8);
    instance.reset();
    assert_eq!(life(&mut instance, 7), first);
}

#[test]
fn threads_at_the_same_time_give_the_same_bits() {
    let first = life(&mut slider_crank(), 7);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| life(&mut slider_crank(), 7)))
            .collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), first);
        }
    });
}

#[test]
fn an_instance_that_changes_threads_at_every_step_gives_the_same_bits() {
    let (first, _) = life(&mut slider_crank(), 7);
    let mut random = Random(7);
    let mut instance = slider_crank();
    instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    for expected in &first[1..] {
        // The instance itself moves into the thread and out again.
        (instance, random) = std::thread::spawn(move || {
            act(&mut instance, &mut random);
            (instance, random)
        })
        .join()
        .unwrap();
        assert_eq!(bits(&mut instance), *expected);
    }
}

#[test]
fn instances_that_take_turns_do_not_influence_each_other() {
    let (first, _) = life(&mut slider_crank(), 7);
    let (second, _) = life(&mut slider_crank(), 8);
    let mut instances = [slider_crank(), slider_crank()];
    let mut randoms = [Random(7), Random(8)];
    for instance in &mut instances {
        instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
    }
    for k in 1..=STEPS {
        for (i, expected) in [&first, &second].into_iter().enumerate() {
            act(&mut instances[i], &mut randoms[i]);
            assert_eq!(
                bits(&mut instances[i]),
                expected[k],
                "instance {i}, step {k}"
            );
        }
    }
}
