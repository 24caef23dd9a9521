//! Values of variables. All of them are Real; the functions of other types return an error that names the variable.

use std::ffi::{c_char, c_int, c_void};

use super::enter;
use crate::ffi::pointer;
use crate::fmi::gate;
use crate::fmi::lifecycle::{LifecycleCall, fmi2 as calls};
use crate::fmi::types::{FmiStandard, FmiStatus, fmi2Boolean};

/// Reads variables; on failure `values` is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetReal(
    c: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_with_fast_path(
            c,
            FmiStandard::Two,
            &calls::GET_REAL,
            move |fmu| {
                let arrays = pointer::read_write(references, count, values, count);
                arrays.is_some_and(|(references, values)| fmu.get_cached(references, values))
            },
            move |fmu| {
                pointer::disjoint("vr", references, count, "value", values, count)?;
                let references = pointer::slice("vr", references, count)?;
                let values = pointer::slice_mut("value", values, count)?;
                Ok(fmu.get(references, values)?)
            },
            |_, _| FmiStatus::Error,
        )
    }
}

/// Sets inputs and parameters; on failure none is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetReal(
    c: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_with_fast_path(
            c,
            FmiStandard::Two,
            &calls::SET_REAL,
            move |fmu| {
                let arrays = pointer::read_both(references, values, count);
                arrays.is_some_and(|(references, values)| fmu.set_pending(references, values))
            },
            move |fmu| {
                let references = pointer::slice("vr", references, count)?;
                let values = pointer::slice("value", values, count)?;
                Ok(fmu.set(references, values)?)
            },
            |_, _| FmiStatus::Error,
        )
    }
}

/// A call for a type that no variable has: legal without variables, otherwise an error that names the first.
///
/// # Safety
/// As the functions that call it.
unsafe fn other_type(
    c: *mut c_void,
    call: &'static LifecycleCall,
    kind: &'static str,
    references: *const u32,
    count: usize,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        enter(c, call, |fmu| {
            Ok(fmu.wrong_type(pointer::slice("vr", references, count)?, kind)?)
        })
    }
}

macro_rules! other_types {
    ($($name:ident $call:ident $kind:literal $value:ty;)*) => {$(
        #[doc = concat!("No variable is a ", $kind, ".")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            c: *mut c_void,
            references: *const u32,
            count: usize,
            _values: $value,
        ) -> FmiStatus {
            // SAFETY: the importer's promise.
            unsafe { other_type(c, &calls::$call, $kind, references, count) }
        }
    )*};
}

other_types! {
    fmi2GetInteger GET_INTEGER "Integer" *mut c_int;
    fmi2GetBoolean GET_BOOLEAN "Boolean" *mut fmi2Boolean;
    fmi2GetString GET_STRING "String" *mut *const c_char;
    fmi2SetInteger SET_INTEGER "Integer" *const c_int;
    fmi2SetBoolean SET_BOOLEAN "Boolean" *const fmi2Boolean;
    fmi2SetString SET_STRING "String" *const *const c_char;
}

/// Sets time derivatives of inputs from the instance's time on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const c_int,
    values: *const f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::SET_REAL_INPUT_DERIVATIVES, |fmu| {
            let references = pointer::slice("vr", references, count)?;
            let orders = pointer::slice("order", orders, count)?;
            let values = pointer::slice("value", values, count)?;
            Ok(fmu.set_input_derivatives(references, orders, values)?)
        })
    }
}

/// Time derivatives of outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const c_int,
    values: *mut f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::GET_REAL_OUTPUT_DERIVATIVES, |fmu| {
            pointer::disjoint("vr", references, count, "value", values, count)?;
            pointer::disjoint("order", orders, count, "value", values, count)?;
            let references = pointer::slice("vr", references, count)?;
            let orders = pointer::slice("order", orders, count)?;
            let values = pointer::slice_mut("value", values, count)?;
            Ok(fmu.output_derivatives(references, orders, values)?)
        })
    }
}

/// Directional derivative of outputs with respect to inputs and parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: *mut c_void,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    seed: *const f64,
    sensitivity: *mut f64,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, &calls::GET_DIRECTIONAL_DERIVATIVE, |fmu| {
            let out = sensitivity.cast_const();
            for (name, read, count) in [
                ("vUnknown_ref", unknowns, unknown_count),
                ("vKnown_ref", knowns, known_count),
            ] {
                pointer::disjoint(name, read, count, "dvUnknown", out, unknown_count)?;
            }
            pointer::disjoint(
                "dvKnown",
                seed,
                known_count,
                "dvUnknown",
                out,
                unknown_count,
            )?;
            let unknowns = pointer::slice("vUnknown_ref", unknowns, unknown_count)?;
            let knowns = pointer::slice("vKnown_ref", knowns, known_count)?;
            let seed = pointer::slice("dvKnown", seed, known_count)?;
            let sensitivity = pointer::slice_mut("dvUnknown", sensitivity, unknown_count)?;
            Ok(fmu.directional_derivative(unknowns, knowns, seed, sensitivity)?)
        })
    }
}
