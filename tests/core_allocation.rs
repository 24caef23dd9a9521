//! The integrator allocates nothing after its start: steps, rejected and failed ones, events, input jumps, interpolation;
//! dense and sparse, with and without the corrector. There is no warm-up. (The sparse LU, taken where LDLᵀ cannot be
//! used, may grow its storage when it meets a new pivot order: `linalg_allocation.rs`. No case here needs that. A row that
//! stops being redundant allocates too: `faults.rs`.)

mod common;

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

use biela::constraint::multipliers::Backend;
use biela::model::{Corrector, ErrorAt, IntegratorName, Solver, Vsa23, Vsa23Parameters};
use common::drive::{cases, live, sample, start};

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is handed on to the system's allocator unchanged; counting touches only a thread-local number.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { Heap.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { Heap.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn calls() -> u64 {
    CALLS.with(Cell::get)
}

const STEPS: usize = 10_000;

#[test]
fn the_counter_counts() {
    let before = calls();
    std::hint::black_box(vec![0u8; 100]);
    assert_eq!(calls() - before, 1);
}

/// Ten thousand steps of every case; what happened in them, over all cases.
fn nothing_is_allocated(backend: Backend, corrector: Corrector) {
    let settings = Solver {
        tolerance: 1e-4,
        corrector,
        ..Solver::default()
    };
    let (mut rejected, mut failed, mut events, mut corrected) = (0, 0, 0, 0);
    let mut bad = Vec::new();
    for case in cases() {
        let mut run = start(&case, &settings, backend);
        let mut middle = sample(&run);
        let before = calls();
        for k in 0..STEPS {
            live(&mut run, k, &mut middle);
        }
        let count = calls() - before;
        if count > 0 {
            bad.push((case, count));
        }
        let s = run.state.statistics;
        assert_eq!(s.steps as usize, STEPS);
        rejected += s.rejected;
        failed += s.newton_failures;
        events += s.events;
        corrected += s.corrected;
    }
    println!(
        "{backend:?} {corrector:?}: rejected {rejected}, failed {failed}, events {events}, corrected {corrected}"
    );
    assert!(bad.is_empty(), "allocations: {bad:?}");
    assert!(rejected > 1000 && failed > 100 && events > 100);
    assert_eq!(corrected > 10_000, corrector == Corrector::Auto);
}

#[test]
fn ten_thousand_dense_steps_allocate_nothing() {
    nothing_is_allocated(Backend::Dense, Corrector::Off);
    nothing_is_allocated(Backend::Dense, Corrector::Auto);
}

#[test]
fn ten_thousand_sparse_steps_allocate_nothing() {
    nothing_is_allocated(Backend::Sparse, Corrector::Off);
    nothing_is_allocated(Backend::Sparse, Corrector::Auto);
}

#[test]
fn a_thousand_steps_of_the_other_method_allocate_nothing() {
    for backend in [Backend::Dense, Backend::Sparse] {
        for parameters in [Vsa23Parameters::Common, Vsa23Parameters::Original] {
            let settings = Solver {
                integrator: IntegratorName::Vsa23,
                vsa23: Vsa23 {
                    parameters,
                    error_at: ErrorAt::End,
                },
                tolerance: 1e-3,
                max_step: Some(0.02),
                ..Solver::default()
            };
            for case in ["oscillator", "pendulum", "chain", "double pendulum"] {
                let mut run = start(case, &settings, backend);
                let mut middle = sample(&run);
                let before = calls();
                for k in 0..1000 {
                    live(&mut run, k, &mut middle);
                }
                assert_eq!(calls() - before, 0, "{case}, {backend:?}, {parameters:?}");
            }
        }
    }
}
