//! Solver statistics.

use std::mem::offset_of;

use super::gate::{create, gate};
use super::instance::biela_instance;
use super::status::biela_status;
use super::versioned_struct::{self, VersionedStruct};

/// Written by `biela_statistics`: counters since the start. Call `biela_counters_default` on it first.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct biela_counters {
    /// `sizeof(biela_counters)` as you know it; later versions may add fields at the end.
    pub struct_size: usize,
    /// Accepted substeps.
    pub steps: u64,
    /// Trial steps rejected by the error estimate.
    pub rejected: u64,
    /// Trial steps in which Newton's iteration did not converge.
    pub newton_failures: u64,
    /// Newton iterations.
    pub newton_iterations: u64,
    /// Equilibrium residuals evaluated by Newton's iteration.
    pub residuals: u64,
    /// Force evaluations of any kind.
    pub evaluations: u64,
    /// Matrix factorisations.
    pub factorizations: u64,
    /// Back-substitutions.
    pub solves: u64,
    /// Events handled.
    pub events: u64,
    /// Smallest accepted substep (s); INFINITY before the first.
    pub smallest_step: f64,
    /// Largest accepted substep (s).
    pub largest_step: f64,
    /// Last accepted substep (s).
    pub step_size: f64,
    /// Estimated local error of the last accepted substep over the tolerance.
    pub error: f64,
    /// Largest of these.
    pub worst_error: f64,
    /// Energy balance of the accepted substep where it was largest, with its sign (J).
    pub energy_drift: f64,
    /// Accepted substeps on the smooth path, without Newton iteration.
    pub steps_smooth: u64,
    /// Accepted substeps of HHT with its corrector.
    pub steps_corrected: u64,
    /// Accepted substeps without a correction.
    pub steps_plain: u64,
    /// Substeps of time stepping, where contacts are too dense in time for events.
    pub time_stepping: u64,
}

// SAFETY: repr(C), begins with struct_size.
unsafe impl VersionedStruct for biela_counters {
    const NAME: &'static str = "biela_counters";
    const OLDEST: usize = offset_of!(biela_counters, energy_drift) + size_of::<f64>();
}

// The struct only ever grows.
const _: () = assert!(biela_counters::OLDEST <= size_of::<biela_counters>());

/// Zeroes the struct and sets its `struct_size`. Call it with `sizeof(biela_counters)` of your header.
///
/// # Safety
/// `counters` is NULL or points to `struct_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_counters_default(
    counters: *mut biela_counters,
    struct_size: usize,
) -> biela_status {
    // SAFETY: the caller's promise.
    create(|| unsafe {
        Ok(versioned_struct::default_struct(
            "counters",
            counters,
            struct_size,
        )?)
    })
}

/// Counters since the start; on failure `*counters` is unchanged.
///
/// # Safety
/// `instance` is NULL or a live handle; `counters` is NULL or points to a struct whose `struct_size` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_statistics(
    instance: *mut biela_instance,
    counters: *mut biela_counters,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_statistics", |content| {
            let struct_size = versioned_struct::struct_size("counters", counters)?;
            let statistics = content.component.statistics();
            let values = biela_counters {
                struct_size,
                steps: statistics.steps,
                rejected: statistics.rejected,
                newton_failures: statistics.newton_failures,
                newton_iterations: statistics.newton_iterations,
                residuals: statistics.residuals,
                evaluations: statistics.evaluations,
                factorizations: statistics.factorizations,
                solves: statistics.solves,
                events: statistics.events,
                smallest_step: statistics.smallest_step,
                largest_step: statistics.largest_step,
                step_size: statistics.step_size,
                error: statistics.error,
                worst_error: statistics.worst_error,
                energy_drift: content.component.energy_drift(),
                steps_smooth: statistics.steps_smooth,
                steps_corrected: statistics.steps_corrected,
                steps_plain: statistics.steps_plain,
                time_stepping: statistics.time_stepping,
            };
            versioned_struct::write_struct(counters, struct_size, &values);
            Ok(())
        })
    }
}
