//! Derivatives of outputs with respect to time, inputs and parameters.

use super::gate::gate;
use super::instance::biela_instance;
use super::status::biela_status;
use crate::ffi::pointer;

/// The highest order that `biela_get_output_derivatives` offers.
pub const BIELA_HIGHEST_OUTPUT_DERIVATIVE: u32 = 2;

/// Reads time derivatives of `count` outputs at the instance's time into `values`: `orders[i]` 1 (per s) or
/// 2 (per s^2), along the motion that the inputs as now set would give. On failure `values` is unchanged.
/// Nothing else changes, not a bit of what follows.
///
/// Derivatives that are quantities themselves (position to speed to acceleration) are exact; all others
/// are differences on the motion, good to about 1e-8 (order 1) and 1e-6 (order 2) of the quantity's size over
/// the motion's time scale. Counters have none.
///
/// # Safety
/// `instance` is NULL or a live handle; `references`, `orders` and `values` hold `count` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_get_output_derivatives(
    instance: *mut biela_instance,
    references: *const u32,
    orders: *const u32,
    count: usize,
    values: *mut f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_get_output_derivatives", |content| {
            pointer::disjoint("references", references, count, "values", values, count)?;
            pointer::disjoint("orders", orders, count, "values", values, count)?;
            let references = pointer::slice("references", references, count)?;
            let orders = pointer::slice("orders", orders, count)?;
            let values = pointer::slice_mut("values", values, count)?;
            Ok((content.component).output_derivatives(references, orders, values)?)
        })
    }
}

/// Interface Jacobian times a vector: `sensitivities[i]` = sum over j of d unknown_i / d known_j * `seed[j]`,
/// at the instance's time with positions and velocities fixed: what reading the outputs right after setting
/// the inputs or parameters would show. Unknowns are outputs, knowns are inputs or parameters.
///
/// Accelerations, reactions and forces feed through; positions and velocities do not, except where an
/// input prescribes them. Exact to rounding in what acts linearly (forces, gravity), to about 1e-10 relative
/// in masses, stiffnesses and the like. On failure `sensitivities` is unchanged. Nothing else changes, not a
/// bit of what follows.
///
/// # Safety
/// `instance` is NULL or a live handle; `unknowns` and `sensitivities` hold `unknown_count` elements each,
/// `knowns` and `seed` hold `known_count` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_directional_derivative(
    instance: *mut biela_instance,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    seed: *const f64,
    sensitivities: *mut f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_directional_derivative", |content| {
            let out = (sensitivities, unknown_count);
            pointer::disjoint(
                "unknowns",
                unknowns,
                unknown_count,
                "sensitivities",
                out.0,
                out.1,
            )?;
            pointer::disjoint("knowns", knowns, known_count, "sensitivities", out.0, out.1)?;
            pointer::disjoint("seed", seed, known_count, "sensitivities", out.0, out.1)?;
            let unknowns = pointer::slice("unknowns", unknowns, unknown_count)?;
            let knowns = pointer::slice("knowns", knowns, known_count)?;
            let seed = pointer::slice("seed", seed, known_count)?;
            let sensitivities = pointer::slice_mut("sensitivities", out.0, out.1)?;
            Ok(
                (content.component).directional_derivative(
                    unknowns,
                    knowns,
                    seed,
                    sensitivities,
                )?,
            )
        })
    }
}

const _: () =
    assert!(BIELA_HIGHEST_OUTPUT_DERIVATIVE == crate::component::HIGHEST_OUTPUT_DERIVATIVE);
