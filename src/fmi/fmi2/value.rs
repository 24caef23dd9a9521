//! Values of variables. All of them are Real; the functions of the other types refuse by name.

use std::ffi::{c_char, c_int, c_void};

use super::enter;
use crate::capi::pointer;
use crate::fmi::fmu_instance::FmiStandard;
use crate::fmi::gate;
use crate::fmi::lifecycle::{LifecycleCall, fmi2 as calls};
use crate::fmi::types::{FmiStatus, fmi2Boolean};

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
        gate::gate_or(
            c,
            FmiStandard::Two,
            &calls::GET_REAL,
            |unit| {
                let one = pointer::pair(references, count, values, count);
                one.is_some_and(|(references, values)| unit.quick_get(references, values))
            },
            |unit| {
                pointer::apart("vr", references, count, "value", values, count)?;
                let references = pointer::slice("vr", references, count)?;
                let values = pointer::slice_mut("value", values, count)?;
                Ok(unit.get(references, values)?)
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
        gate::gate_or(
            c,
            FmiStandard::Two,
            &calls::SET_REAL,
            |unit| {
                let both = pointer::two(references, values, count);
                both.is_some_and(|(references, values)| unit.quick_set(references, values))
            },
            |unit| {
                let references = pointer::slice("vr", references, count)?;
                let values = pointer::slice("value", values, count)?;
                Ok(unit.set(references, values)?)
            },
            |_, _| FmiStatus::Error,
        )
    }
}

/// A type that no variable has: fine for no variable, else refused by name.
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
        enter(c, call, |unit| {
            Ok(unit.wrong_type(pointer::slice("vr", references, count)?, kind)?)
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

/// Sets derivatives of inputs, from the instance's time on.
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
        enter(c, &calls::SET_REAL_INPUT_DERIVATIVES, |unit| {
            let references = pointer::slice("vr", references, count)?;
            let orders = pointer::slice("order", orders, count)?;
            let values = pointer::slice("value", values, count)?;
            Ok(unit.set_input_derivatives(references, orders, values)?)
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
        enter(c, &calls::GET_REAL_OUTPUT_DERIVATIVES, |unit| {
            pointer::apart("vr", references, count, "value", values, count)?;
            pointer::apart("order", orders, count, "value", values, count)?;
            let references = pointer::slice("vr", references, count)?;
            let orders = pointer::slice("order", orders, count)?;
            let values = pointer::slice_mut("value", values, count)?;
            Ok(unit.output_derivatives(references, orders, values)?)
        })
    }
}

/// Derivatives of outputs by inputs and parameters, in one direction.
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
        enter(c, &calls::GET_DIRECTIONAL_DERIVATIVE, |unit| {
            let out = sensitivity.cast_const();
            for (name, read, count) in [
                ("vUnknown_ref", unknowns, unknown_count),
                ("vKnown_ref", knowns, known_count),
            ] {
                pointer::apart(name, read, count, "dvUnknown", out, unknown_count)?;
            }
            pointer::apart(
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
            Ok(unit.directional_derivative(unknowns, knowns, seed, sensitivity)?)
        })
    }
}
