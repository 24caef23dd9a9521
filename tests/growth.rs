//! Nothing leaks over many lives: the resident memory of a process that makes and ends instances without end stays where it
//! was after the first ones. One test in a process of its own, so that nobody else's memory is measured.
#![cfg(target_os = "linux")]

use std::cell::Cell;
use std::ffi::CString;
use std::path::Path;
use std::ptr::null_mut;

use biela::capi::instance::{biela_instance, biela_instance_free, biela_instance_new_from_string};
use biela::capi::state::{biela_state_free, biela_state_save};
use biela::capi::status::biela_status;
use biela::capi::step::{biela_initialize, biela_step};
use biela::capi::value::biela_set_real;

/// Growth that is allowed (KiB): the allocator's own habits.
const ALLOWED: f64 = 64.0;

/// Resident memory of this process (KiB).
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn fine(status: biela_status) {
    assert_eq!(status, biela_status::Ok);
}

fn create(model: &CString) -> *mut biela_instance {
    let mut instance = null_mut();
    let bytes = model.as_bytes();
    // SAFETY: text with its length, a pointer to a local.
    fine(unsafe {
        biela_instance_new_from_string(
            bytes.as_ptr().cast(),
            bytes.len(),
            std::ptr::null(),
            &mut instance,
        )
    });
    instance
}

/// Growth in KiB over `count` lives after a tenth of them as warm-up: the least of three rounds. What leaks does so in each of them; a
/// page that is touched for the first time is not.
fn growth(count: u32, life: &dyn Fn()) -> f64 {
    (0..count / 10).for_each(|_| life());
    let round = |_| {
        let before = resident();
        (0..count).for_each(|_| life());
        resident() - before
    };
    let mut least = f64::INFINITY;
    for grown in (0..3).map(round) {
        least = least.min(grown);
        if least <= ALLOWED {
            break;
        }
    }
    least
}

#[test]
fn creating_and_freeing_many_instances_leaks_nothing() {
    let full = std::env::var("BIELA_TEST_FULL").as_deref() == Ok("1");
    let counts = if full {
        (1_000_000, 100_000)
    } else {
        (20_000, 3_000)
    };
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("models/{name}.toml"));
        CString::new(std::fs::read(path).unwrap()).unwrap()
    };
    let (model, small) = (read("slider_crank"), read("oscillator"));

    // Most of the time goes into reading the text: nine of ten lives are those of the smallest model.
    let lives = Cell::new(0u32);
    let idle = growth(counts.0, &|| {
        lives.set(lives.get() + 1);
        let text = if lives.get().is_multiple_of(10) {
            &model
        } else {
            &small
        };
        // SAFETY: a live handle.
        fine(unsafe { biela_instance_free(create(text)) });
    });
    let lived = growth(counts.1, &|| {
        let instance = create(&model);
        let mut state = null_mut();
        // SAFETY: live handles, pointers to locals.
        unsafe {
            fine(biela_initialize(instance, 0.0, f64::INFINITY, 0.0));
            fine(biela_step(instance, 0.0, 1e-3, null_mut()));
            fine(biela_state_save(instance, &mut state));
            fine(biela_set_real(instance, &0, 1, &0.5));
            fine(biela_step(instance, 1e-3, 1e-3, null_mut()));
            // A failure keeps a sentence, which goes too.
            assert_ne!(
                biela_step(instance, 5.0, 1e-3, null_mut()),
                biela_status::Ok
            );
            fine(biela_state_free(state));
            fine(biela_instance_free(instance));
        }
    });
    println!(
        "{} lives: {idle} KiB; {} with steps: {lived} KiB",
        counts.0, counts.1
    );
    assert!(idle <= ALLOWED, "create and free: {idle} KiB");
    assert!(lived <= ALLOWED, "initialize, step, free: {lived} KiB");
}
