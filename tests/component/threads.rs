//! Instances travel between threads and never influence each other; one instance used from two threads at once answers
//! with a status.

use std::collections::VecDeque;
use std::ffi::CString;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{Random, act, bits, slider_crank};
use biela::capi::instance::{biela_instance, biela_instance_free, biela_instance_new_from_file};
use biela::capi::status::biela_status;
use biela::capi::step::{biela_initialize, biela_step, biela_time};
use biela::capi::value::{biela_get_real, biela_set_real};
use biela::component::Instance;

const THREADS: usize = 8;
const LEGS: usize = 3;

fn full() -> bool {
    std::env::var("BIELA_TEST_FULL").as_deref() == Ok("1")
}

/// One leg of the journey of instance `i`.
fn leg(instance: &mut Instance, i: usize, leg: usize) {
    let mut random = Random((i * LEGS + leg) as u64);
    for _ in 0..2 {
        act(instance, &mut random);
    }
}

#[test]
fn a_thousand_instances_on_eight_threads_give_the_bits_of_one_thread() {
    let count = if full() { 1_000 } else { 200 };
    let serial: Vec<Vec<u64>> = (0..count)
        .map(|i| {
            let mut instance = slider_crank();
            instance.initialize(0.0, f64::INFINITY, 0.0).unwrap();
            (0..LEGS).for_each(|k| leg(&mut instance, i, k));
            bits(&mut instance)
        })
        .collect();

    // Whoever is free takes an instance one station further: made, started, driven, read and freed wherever it happens.
    let queue = Mutex::new(VecDeque::from_iter(
        (0..count).map(|i| (i, 0, None, vec![])),
    ));
    let found = Mutex::new(vec![vec![]; count]);
    let left = AtomicU64::new(count as u64);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while left.load(Ordering::Relaxed) > 0 {
                    let taken = queue.lock().unwrap().pop_front();
                    let Some((i, station, instance, mut seen)) = taken else {
                        std::thread::yield_now();
                        continue;
                    };
                    let mut instance: Instance = instance.unwrap_or_else(slider_crank);
                    match station {
                        0 => {}
                        1 => instance.initialize(0.0, f64::INFINITY, 0.0).unwrap(),
                        2..5 => leg(&mut instance, i, station - 2),
                        5 => seen = bits(&mut instance),
                        _ => {
                            drop(instance);
                            found.lock().unwrap()[i] = seen;
                            left.fetch_sub(1, Ordering::Relaxed);
                            continue;
                        }
                    }
                    let traveller = (i, station + 1, Some(instance), seen);
                    queue.lock().unwrap().push_back(traveller);
                }
            });
        }
    });
    for (i, (a, b)) in found.lock().unwrap().iter().zip(&serial).enumerate() {
        assert_eq!(a, b, "instance {i}");
    }
}

#[test]
fn an_instance_used_by_many_threads_at_once_answers_busy_and_stays_sound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/slider_crank.toml");
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut handle: *mut biela_instance = null_mut();
    // SAFETY: live handles and pointers to locals; the handle is freed when all threads have gone.
    unsafe {
        assert_eq!(
            biela_instance_new_from_file(path.as_ptr(), &mut handle),
            biela_status::Ok
        );
        assert_eq!(
            biela_initialize(handle, 0.0, f64::INFINITY, 0.0),
            biela_status::Ok
        );
    }
    struct Shared(*mut biela_instance);
    // SAFETY: an instance may be called from any thread.
    unsafe impl Sync for Shared {}
    let shared = Shared(handle);
    let (fine, busy) = (AtomicU64::new(0), AtomicU64::new(0));
    let calls = if full() { 20_000 } else { 4_000 };
    std::thread::scope(|scope| {
        for k in 0..4 {
            let (shared, fine, busy) = (&shared, &fine, &busy);
            scope.spawn(move || {
                let handle = shared.0;
                for i in 0..calls {
                    let (mut t, mut value) = (0.0, 0.1 * f64::from(k));
                    // SAFETY: as above.
                    let status = unsafe {
                        match (i + k) % 4 {
                            0 => match biela_time(handle, &mut t) {
                                // Another thread may step in between: then the time is wrong, which is refused.
                                biela_status::Ok => biela_step(handle, t, 1e-4, &mut t),
                                other => other,
                            },
                            1 => biela_set_real(handle, &0, 1, &value),
                            2 => biela_get_real(handle, &1, 1, &mut value),
                            _ => biela_time(handle, &mut value),
                        }
                    };
                    match status {
                        biela_status::Ok => fine.fetch_add(1, Ordering::Relaxed),
                        biela_status::Busy => busy.fetch_add(1, Ordering::Relaxed),
                        biela_status::ErrorArgument if (i + k) % 4 == 0 => 0,
                        other => panic!("{other:?}"),
                    };
                    assert!(value.is_finite());
                }
            });
        }
    });
    assert!(fine.load(Ordering::Relaxed) > 0);
    println!("fine {fine:?}, busy {busy:?}");
    // SAFETY: nobody else is left.
    assert_eq!(unsafe { biela_instance_free(handle) }, biela_status::Ok);
}
