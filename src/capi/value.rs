//! Values of variables, several in one call; derivatives and extrapolation of inputs.

use super::gate::{gate, gate_with_fast_path};
use super::instance::biela_instance;
use super::status::biela_status;
use crate::component::Extrapolation;
use crate::error::Error;
use crate::ffi::pointer;

/// The highest order that `biela_set_input_derivatives` and `biela_set_extrapolation` take.
pub const BIELA_HIGHEST_INPUT_DERIVATIVE: u32 = 2;

/// Sets `count` inputs or parameters; on failure none is set. Inputs hold from the instance's time on, or
/// go on as `biela_set_extrapolation` says. Setting what is already there changes nothing.
/// `count` 0 is legal and looks at no pointer.
///
/// # Safety
/// `instance` is NULL or a live handle; `references` and `values` hold `count` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_set_real(
    instance: *mut biela_instance,
    references: *const u32,
    count: usize,
    values: *const f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate_with_fast_path(
            instance,
            c"biela_set_real",
            move |content| {
                let arrays = pointer::read_both(references, values, count);
                content.component.is_running()
                    && arrays.is_some_and(|(r, v)| content.pending_inputs.set(r, v))
            },
            move |content| {
                let references = pointer::slice("references", references, count)?;
                let values = pointer::slice("values", values, count)?;
                Ok(content.component.set_real(references, values)?)
            },
        )
    }
}

/// Reads `count` variables at the instance's time into `values`; on failure `values` is unchanged. The
/// arrays stay yours and must not overlap. `count` 0 is legal and looks at no pointer.
///
/// # Safety
/// `instance` is NULL or a live handle; `references` and `values` hold `count` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_get_real(
    instance: *mut biela_instance,
    references: *const u32,
    count: usize,
    values: *mut f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate_with_fast_path(
            instance,
            c"biela_get_real",
            move |content| {
                let arrays = pointer::read_write(references, count, values, count);
                content.pending_inputs.is_empty()
                    && arrays.is_some_and(|(r, v)| content.component.get_cached(r, v))
            },
            move |content| {
                pointer::disjoint("references", references, count, "values", values, count)?;
                let references = pointer::slice("references", references, count)?;
                let values = pointer::slice_mut("values", values, count)?;
                Ok(content.component.get_real(references, values)?)
            },
        )
    }
}

/// Sets derivatives of `count` inputs from the instance's time on: `orders[i]` 1 (per s) or 2 (per s^2). The
/// input then is u + u' s + u'' s^2/2 until it is set again. Value and derivatives not named go on from
/// where they are: set the value first, if it is to change. On failure none is set.
///
/// # Safety
/// `instance` is NULL or a live handle; `references`, `orders` and `values` hold `count` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_set_input_derivatives(
    instance: *mut biela_instance,
    references: *const u32,
    orders: *const u32,
    count: usize,
    values: *const f64,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_set_input_derivatives", |content| {
            let references = pointer::slice("references", references, count)?;
            let orders = pointer::slice("orders", orders, count)?;
            let values = pointer::slice("values", values, count)?;
            Ok((content.component).set_input_derivatives(references, orders, values)?)
        })
    }
}

/// Extrapolation of inputs after the values set from now on: `order` 0 constant (the default), 1 along the line through
/// your last two values, 2 along the parabola through your last three; fewer where there are fewer yet. An
/// input that is not set again goes on along its line or parabola. Part of the saved state; a reset brings
/// the default back.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_set_extrapolation(
    instance: *mut biela_instance,
    order: u32,
) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, c"biela_set_extrapolation", |content| {
            let extrapolation =
                Extrapolation::from_order(order).ok_or_else(|| Error::Argument {
                    name: "order".to_owned(),
                    value: order.to_string(),
                    expected: format!("0 to {BIELA_HIGHEST_INPUT_DERIVATIVE}"),
                })?;
            content.component.set_extrapolation(extrapolation);
            Ok(())
        })
    }
}

const _: () = assert!(BIELA_HIGHEST_INPUT_DERIVATIVE == crate::component::HIGHEST_DERIVATIVE);
