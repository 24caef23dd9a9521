//! Saved states.

use std::ffi::c_void;

use super::enter;
use crate::ffi::pointer;
use crate::fmi::gate;
use crate::fmi::lifecycle::fmi3 as calls;
use crate::fmi::state;
use crate::fmi::types::{FmiStandard, FmiStatus};

/// Saves the state; `*state` is NULL or a state to be overwritten.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(
    instance: *mut c_void,
    state: *mut *mut c_void,
) -> FmiStatus {
    let call = &calls::GET_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe { enter(instance, call, |fmu| Ok(state::get(fmu, state, call.name)?)) }
}

/// Returns to a saved state; the simulation continues from there bit by bit as before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(instance: *mut c_void, state: *mut c_void) -> FmiStatus {
    let call = &calls::SET_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_replacing_component(instance, FmiStandard::Three, call, |fmu| {
            Ok(state::set(fmu, state, call.name)?)
        })
    }
}

/// Frees a saved state and sets `*state` to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(
    instance: *mut c_void,
    state: *mut *mut c_void,
) -> FmiStatus {
    let call = &calls::FREE_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe { enter(instance, call, |_| Ok(state::free(state, call.name)?)) }
}

/// The number of bytes of a serialised state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(
    instance: *mut c_void,
    state: *mut c_void,
    size: *mut usize,
) -> FmiStatus {
    let call = &calls::SERIALIZED_FMU_STATE_SIZE;
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, call, |_| {
            let size = pointer::out("size", size)?;
            size.write(state::size(state, call.name)?);
            Ok(())
        })
    }
}

/// Serialises a saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(
    instance: *mut c_void,
    state: *mut c_void,
    bytes: *mut u8,
    size: usize,
) -> FmiStatus {
    let call = &calls::SERIALIZE_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, call, |_| {
            let bytes = pointer::slice_mut("serializedState", bytes, size)?;
            Ok(state::write(state, bytes, call.name)?)
        })
    }
}

/// Deserialises a state that any instance of the same FMU has serialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(
    instance: *mut c_void,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> FmiStatus {
    let call = &calls::DESERIALIZE_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe {
        enter(instance, call, |fmu| {
            let bytes = pointer::slice("serializedState", bytes, size)?;
            Ok(state::read(fmu, bytes, state, call.name)?)
        })
    }
}
