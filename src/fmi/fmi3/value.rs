//! Values of variables: Float64, counters as Int32, truth values as Boolean; the functions of other types return an error that
//! names the variable.

use std::ffi::{c_char, c_void};

use super::enter;
use crate::component::VariableKind;
use crate::error::Error;
use crate::ffi::gate::catch_panic;
use crate::ffi::pointer;
use crate::fmi::gate::{self, FmuShared};
use crate::fmi::intermediate_update::SubstepValues;
use crate::fmi::lifecycle::{LifecycleCall, fmi3 as calls};
use crate::fmi::types::{FmiStandard, FmiStatus};

/// Reads variables, arrays element by element; on failure `values` is unchanged. Also legal in an intermediate update.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFloat64(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut f64,
    value_count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_with_fast_path(
            instance,
            FmiStandard::Three,
            &calls::GET_FLOAT64,
            move |fmu| {
                let arrays = pointer::read_write(references, count, values, value_count);
                arrays.is_some_and(|(references, values)| fmu.get_cached(references, values))
            },
            move |fmu| {
                pointer::disjoint(
                    "valueReferences",
                    references,
                    count,
                    "values",
                    values,
                    value_count,
                )?;
                let references = pointer::slice("valueReferences", references, count)?;
                let values = pointer::slice_mut("values", values, value_count)?;
                Ok(fmu.get(references, values)?)
            },
            move |shared, _| {
                in_update(shared, |substep| {
                    let references = pointer::slice("valueReferences", references, count)?;
                    let values = pointer::slice_mut("values", values, value_count)?;
                    Ok(substep.get(references, values))
                })
            },
        )
    }
}

/// A call while a step is running: legal if the step is calling the importer.
#[cold]
pub(super) fn in_update(
    shared: &FmuShared,
    action: impl FnOnce(&mut SubstepValues) -> Result<bool, Error>,
) -> FmiStatus {
    let done = catch_panic(|| -> Result<bool, Error> {
        let mut substep = shared.intermediate.lock();
        match substep.is_open() {
            true => action(&mut substep),
            false => Ok(false),
        }
    });
    match done {
        Ok(true) => FmiStatus::Ok,
        Ok(false) | Err(_) => FmiStatus::Error,
    }
}

/// Sets inputs and parameters; on failure none is set. In an intermediate update that asks for inputs, those named at
/// instantiation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFloat64(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const f64,
    value_count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_with_fast_path(
            instance,
            FmiStandard::Three,
            &calls::SET_FLOAT64,
            move |fmu| {
                let arrays = pointer::read_both(references, values, count);
                count == value_count
                    && arrays
                        .is_some_and(|(references, values)| fmu.set_pending(references, values))
            },
            move |fmu| {
                let references = pointer::slice("valueReferences", references, count)?;
                let values = pointer::slice("values", values, value_count)?;
                Ok(fmu.set(references, values)?)
            },
            move |shared, _| {
                in_update(shared, |substep| {
                    let references = pointer::slice("valueReferences", references, count)?;
                    let values = pointer::slice("values", values, value_count)?;
                    Ok(substep.set(references, values))
                })
            },
        )
    }
}

/// A call for a type that no variable has: legal without variables, otherwise an error that names the first.
///
/// # Safety
/// As the functions that call it.
unsafe fn other_type(
    instance: *mut c_void,
    call: &'static LifecycleCall,
    kind: &'static str,
    references: *const u32,
    count: usize,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        enter(instance, call, |fmu| {
            let references = pointer::slice("valueReferences", references, count)?;
            Ok(fmu.wrong_type(references, kind)?)
        })
    }
}

macro_rules! other_types {
    ($($name:ident $call:ident $kind:literal $value:ty;)*) => {$(
        #[doc = concat!("No variable is a ", $kind, ".")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            instance: *mut c_void,
            references: *const u32,
            count: usize,
            _values: $value,
            _value_count: usize,
        ) -> FmiStatus {
            // SAFETY: the importer's promise.
            unsafe { other_type(instance, &calls::$call, $kind, references, count) }
        }
    )*};
}

other_types! {
    fmi3GetFloat32 GET_FLOAT32 "Float32" *mut f32;
    fmi3GetInt8 GET_INT8 "Int8" *mut i8;
    fmi3GetUInt8 GET_UINT8 "UInt8" *mut u8;
    fmi3GetInt16 GET_INT16 "Int16" *mut i16;
    fmi3GetUInt16 GET_UINT16 "UInt16" *mut u16;
    fmi3GetUInt32 GET_UINT32 "UInt32" *mut u32;
    fmi3GetInt64 GET_INT64 "Int64" *mut i64;
    fmi3GetUInt64 GET_UINT64 "UInt64" *mut u64;
    fmi3GetString GET_STRING "String" *mut *const c_char;
    fmi3SetFloat32 SET_FLOAT32 "Float32" *const f32;
    fmi3SetInt8 SET_INT8 "Int8" *const i8;
    fmi3SetUInt8 SET_UINT8 "UInt8" *const u8;
    fmi3SetInt16 SET_INT16 "Int16" *const i16;
    fmi3SetUInt16 SET_UINT16 "UInt16" *const u16;
    fmi3SetInt32 SET_INT32 "Int32" *const i32;
    fmi3SetUInt32 SET_UINT32 "UInt32" *const u32;
    fmi3SetInt64 SET_INT64 "Int64" *const i64;
    fmi3SetUInt64 SET_UINT64 "UInt64" *const u64;
    fmi3SetBoolean SET_BOOLEAN "Boolean" *const u8;
    fmi3SetString SET_STRING "String" *const *const c_char;
}

/// Reads counters and modes; on failure `values` is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetInt32(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut i32,
    value_count: usize,
) -> FmiStatus {
    let arrays = (references, count, values, value_count);
    // SAFETY: the importer's promise.
    unsafe {
        discrete(
            instance,
            &calls::GET_INT32,
            VariableKind::Integer,
            arrays,
            |value| {
                // Exact as a double; a counter beyond the range is an error, not another number.
                let whole = value as i32;
                (f64::from(whole) == value).then_some(whole)
            },
        )
    }
}

/// Reads truth values; on failure `values` is unchanged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBoolean(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut u8,
    value_count: usize,
) -> FmiStatus {
    let arrays = (references, count, values, value_count);
    // SAFETY: the importer's promise.
    unsafe {
        discrete(
            instance,
            &calls::GET_BOOLEAN,
            VariableKind::Boolean,
            arrays,
            |value| Some(u8::from(value != 0.0)),
        )
    }
}

/// Reads variables of one kind and converts them.
///
/// # Safety
/// As the functions that call it.
unsafe fn discrete<T: Copy>(
    instance: *mut c_void,
    call: &'static LifecycleCall,
    kind: VariableKind,
    (references, count, values, value_count): (*const u32, usize, *mut T, usize),
    convert: impl Fn(f64) -> Option<T>,
) -> FmiStatus {
    let asked = match kind {
        VariableKind::Boolean => "Boolean",
        _ => "Int32",
    };
    // SAFETY: passed on.
    unsafe {
        enter(instance, call, |fmu| {
            let name = "valueReferences";
            pointer::disjoint(
                name,
                references,
                count,
                "values",
                values.cast_const(),
                value_count,
            )?;
            let references = pointer::slice(name, references, count)?;
            let values = pointer::slice_mut("values", values, value_count)?;
            let found = fmu.get_kind(references, kind, asked)?;
            let wrong = |value: String, expected: String| Error::Argument {
                name: "values".to_owned(),
                value,
                expected,
            };
            if found.len() != values.len() {
                return Err(wrong(values.len().to_string(), found.len().to_string()).into());
            }
            let converted: Option<Vec<T>> = found.iter().map(|value| convert(*value)).collect();
            let converted = converted
                .ok_or_else(|| wrong(format!("{found:?}"), format!("numbers of type {asked}")))?;
            values.copy_from_slice(&converted);
            Ok(())
        })
    }
}

/// No variable is a Binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBinary(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    _sizes: *mut usize,
    _values: *mut *const u8,
    _value_count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { other_type(instance, &calls::GET_BINARY, "Binary", references, count) }
}

/// No variable is a Binary.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetBinary(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    _sizes: *const usize,
    _values: *const *const u8,
    _value_count: usize,
) -> FmiStatus {
    // SAFETY: the importer's promise.
    unsafe { other_type(instance, &calls::SET_BINARY, "Binary", references, count) }
}
