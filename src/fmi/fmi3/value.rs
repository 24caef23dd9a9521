//! Values of variables. All of them are Float64; the functions of the other types refuse by name.

use std::ffi::{c_char, c_void};

use super::enter;
use crate::capi::gate::quietly;
use crate::capi::pointer;
use crate::error::Error;
use crate::fmi::fmu_instance::FmiStandard;
use crate::fmi::gate::{self, FmuHandle};
use crate::fmi::lifecycle::{LifecycleCall, fmi3 as calls};
use crate::fmi::types::FmiStatus;

/// Reads variables, vectors element by element; on failure `values` is unchanged. Also inside an intermediate update.
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
        gate::gate_or(
            instance,
            FmiStandard::Three,
            &calls::GET_FLOAT64,
            |unit| {
                let one = pointer::pair(references, count, values, value_count);
                one.is_some_and(|(references, values)| unit.quick_get(references, values))
            },
            |unit| {
                pointer::apart(
                    "valueReferences",
                    references,
                    count,
                    "values",
                    values,
                    value_count,
                )?;
                let references = pointer::slice("valueReferences", references, count)?;
                let values = pointer::slice_mut("values", values, value_count)?;
                Ok(unit.get(references, values)?)
            },
            |handle, _| get_inside(handle, references, count, values, value_count),
        )
    }
}

/// The same while a step is inside: legal if it is calling the importer.
///
/// # Safety
/// As [`fmi3GetFloat64`].
#[cold]
unsafe fn get_inside(
    handle: &FmuHandle,
    references: *const u32,
    count: usize,
    values: *mut f64,
    value_count: usize,
) -> FmiStatus {
    let read = quietly(|| -> Result<bool, Error> {
        let mut board = handle.shared.lock();
        if !board.is_open() {
            return Ok(false);
        }
        // SAFETY: the importer's promise.
        let (references, values) = unsafe {
            (
                pointer::slice("valueReferences", references, count)?,
                pointer::slice_mut("values", values, value_count)?,
            )
        };
        Ok(board.get(references, values))
    });
    match read {
        Ok(true) => FmiStatus::Ok,
        Ok(false) | Err(_) => FmiStatus::Error,
    }
}

/// Sets inputs and parameters; on failure none is set.
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
        gate::gate_or(
            instance,
            FmiStandard::Three,
            &calls::SET_FLOAT64,
            |unit| {
                let both = pointer::two(references, values, count);
                count == value_count
                    && both.is_some_and(|(references, values)| unit.quick_set(references, values))
            },
            |unit| {
                let references = pointer::slice("valueReferences", references, count)?;
                let values = pointer::slice("values", values, value_count)?;
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
    instance: *mut c_void,
    call: &'static LifecycleCall,
    kind: &'static str,
    references: *const u32,
    count: usize,
) -> FmiStatus {
    // SAFETY: passed on.
    unsafe {
        enter(instance, call, |unit| {
            let references = pointer::slice("valueReferences", references, count)?;
            Ok(unit.wrong_type(references, kind)?)
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
    fmi3GetInt32 GET_INT32 "Int32" *mut i32;
    fmi3GetUInt32 GET_UINT32 "UInt32" *mut u32;
    fmi3GetInt64 GET_INT64 "Int64" *mut i64;
    fmi3GetUInt64 GET_UINT64 "UInt64" *mut u64;
    fmi3GetBoolean GET_BOOLEAN "Boolean" *mut u8;
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
