//! Saved states.

use std::ffi::c_void;

use super::enter;
use crate::ffi::pointer;
use crate::fmi::gate;
use crate::fmi::lifecycle::fmi2 as calls;
use crate::fmi::state;
use crate::fmi::types::{FmiStandard, FmiStatus, fmi2Byte};

/// Saves the state; `*state` is NULL or a state to be overwritten.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: *mut c_void, state: *mut *mut c_void) -> FmiStatus {
    let call = &calls::GET_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe { enter(c, call, |fmu| Ok(state::get(fmu, state, call.name)?)) }
}

/// Returns to a saved state; the simulation continues from there bit by bit as before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: *mut c_void, state: *mut c_void) -> FmiStatus {
    let call = &calls::SET_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe {
        gate::gate_replacing_component(c, FmiStandard::Two, call, |fmu| {
            Ok(state::set(fmu, state, call.name)?)
        })
    }
}

/// Frees a saved state and sets `*state` to NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: *mut c_void, state: *mut *mut c_void) -> FmiStatus {
    let call = &calls::FREE_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe { enter(c, call, |_| Ok(state::free(state, call.name)?)) }
}

/// The number of bytes of a serialised state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    c: *mut c_void,
    state: *mut c_void,
    size: *mut usize,
) -> FmiStatus {
    let call = &calls::SERIALIZED_FMU_STATE_SIZE;
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, call, |_| {
            let size = pointer::out("size", size)?;
            size.write(state::size(state, call.name)?);
            Ok(())
        })
    }
}

/// Serialises a saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    c: *mut c_void,
    state: *mut c_void,
    bytes: *mut fmi2Byte,
    size: usize,
) -> FmiStatus {
    let call = &calls::SERIALIZE_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, call, |_| {
            let bytes = pointer::slice_mut("serializedState", bytes.cast::<u8>(), size)?;
            Ok(state::write(state, bytes, call.name)?)
        })
    }
}

/// Deserialises a state that any instance of the same FMU has serialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: *mut c_void,
    bytes: *const fmi2Byte,
    size: usize,
    state: *mut *mut c_void,
) -> FmiStatus {
    let call = &calls::DESERIALIZE_FMU_STATE;
    // SAFETY: the importer's promise.
    unsafe {
        enter(c, call, |fmu| {
            let bytes = pointer::slice("serializedState", bytes.cast::<u8>(), size)?;
            Ok(state::read(fmu, bytes, state, call.name)?)
        })
    }
}
