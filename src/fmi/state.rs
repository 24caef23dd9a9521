//! Saved states of an FMU, and their serialised form.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use super::fmu_instance::{FmuExperiment, FmuInstance, FmuSavedState};
use super::lifecycle::LifecyclePhase;
use crate::error::{Error, Result};
use crate::ffi::handle::{self, Handle, Locked};
use crate::ffi::{memory, pointer};

/// The object behind an `fmi2FMUstate` or `fmi3FMUState`.
type FmuStateHandle = Handle<FmuSavedState>;

/// Marks saved states of an FMU.
const TAG: [u8; 8] = *b"biela-fs";

fn make(saved: FmuSavedState) -> *mut c_void {
    Box::into_raw(Box::new(FmuStateHandle::new(TAG, (), saved))).cast()
}

/// The saved state behind a pointer, locked for `call`.
///
/// # Safety
/// `state` is NULL or points to readable memory; if it is marked as a state, it is one.
unsafe fn lock<'a>(state: *mut c_void, call: &'static CStr) -> Result<Locked<'a, FmuSavedState>> {
    let wrong = |value: String| Error::Argument {
        name: "FMU state".to_owned(),
        value,
        expected: "a live state of this library".to_owned(),
    };
    // SAFETY: the caller's promise.
    let handle = unsafe { FmuStateHandle::open(state.cast(), TAG) };
    let handle = handle.ok_or_else(|| {
        wrong(match state.is_null() {
            true => "NULL".to_owned(),
            false => format!("{state:p} (not a state)"),
        })
    })?;
    handle
        .lock(call)
        .map_err(|running| wrong(format!("busy with {}", running.to_string_lossy())))
}

/// Saves the state of the FMU into `*state`; makes a new state if it is NULL.
///
/// # Safety
/// `state` is NULL or points to NULL or to a live state.
pub(super) unsafe fn get(
    fmu: &FmuInstance,
    state: *mut *mut c_void,
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise; it points to an initialised pointer.
    let state = unsafe { pointer::out("FMU state", state)?.assume_init_mut() };
    if state.is_null() {
        memory::require(fmu.component.memory_of_state())?;
        *state = make(fmu.save()?);
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let mut saved = unsafe { lock(*state, call)? };
    fmu.save_into(&mut saved)
}

/// Returns to a saved state.
///
/// # Safety
/// `state` is NULL or a live state.
pub(super) unsafe fn set(
    fmu: &mut FmuInstance,
    state: *mut c_void,
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let saved = unsafe { lock(state, call)? };
    fmu.restore(&saved)
}

/// Frees `*state` and sets it to NULL.
///
/// # Safety
/// `state` is NULL or points to NULL or to a live state that is not used any more.
pub(super) unsafe fn free(state: *mut *mut c_void, call: &'static CStr) -> Result<()> {
    if state.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise; it points to an initialised pointer.
    let state = unsafe { pointer::out("FMU state", state)?.assume_init_mut() };
    if state.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise; made by `make`.
    unsafe {
        let locked = lock(*state, call)?;
        handle::free(locked, state.cast::<FmuStateHandle>());
    }
    *state = null_mut();
    Ok(())
}

// --- bytes ----------------------------------------------------------------------------------------------------------

/// First bytes of a serialised state, version 2. The component's bytes follow the head.
const HEAD: [u8; 8] = *b"bielafu2";
/// The head has these bytes, phase, start, stop, tolerance, the number of left limits, the left limits, and a checksum.
const FIXED_WORDS: usize = 6;

/// Bytes of the head with this number of left limits.
fn head_size(left_limits: usize) -> usize {
    8 * (FIXED_WORDS + left_limits + 1)
}

/// The number of bytes of a serialised state.
///
/// # Safety
/// `state` is NULL or a live state.
pub(super) unsafe fn size(state: *mut c_void, call: &'static CStr) -> Result<usize> {
    // SAFETY: the caller's promise.
    let saved = unsafe { lock(state, call)? };
    Ok(head_size(saved.left_limits.len()) + saved.component.serialized_size())
}

/// Serialises a state; `bytes` has the size that [`size`] returns.
///
/// # Safety
/// `state` is NULL or a live state.
pub(super) unsafe fn write(
    state: *mut c_void,
    bytes: &mut [u8],
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let saved = unsafe { lock(state, call)? };
    let head_size = head_size(saved.left_limits.len());
    let needed = head_size + saved.component.serialized_size();
    memory::require(2 * needed)?;
    if bytes.len() != needed {
        return Err(Error::Argument {
            name: "size".to_owned(),
            value: bytes.len().to_string(),
            expected: format!("{needed} bytes"),
        });
    }
    let FmuExperiment {
        start,
        stop,
        tolerance,
    } = saved.experiment;
    let mut head: Vec<u8> = HEAD.to_vec();
    head.extend(u64::from(saved.phase as u8).to_le_bytes());
    head.extend(
        [start, stop, tolerance]
            .into_iter()
            .flat_map(f64::to_le_bytes),
    );
    head.extend((saved.left_limits.len() as u64).to_le_bytes());
    head.extend(saved.left_limits.iter().copied().flat_map(f64::to_le_bytes));
    head.extend(checksum(&head).to_le_bytes());
    let (first, rest) = bytes.split_at_mut(head_size);
    first.copy_from_slice(&head);
    rest.copy_from_slice(&saved.component.to_bytes());
    Ok(())
}

/// 64-bit FNV-1a of the head; the component's bytes have their own checksum.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Deserialises a state.
///
/// # Safety
/// `state` is NULL or points to NULL or to a live state.
pub(super) unsafe fn read(
    fmu: &FmuInstance,
    bytes: &[u8],
    state: *mut *mut c_void,
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise; it points to an initialised pointer.
    let state = unsafe { pointer::out("FMU state", state)?.assume_init_mut() };
    let saved = parse(fmu, bytes)?;
    if state.is_null() {
        *state = make(saved);
        return Ok(());
    }
    // SAFETY: the caller's promise.
    *unsafe { lock(*state, call)? } = saved;
    Ok(())
}

fn parse(fmu: &FmuInstance, bytes: &[u8]) -> Result<FmuSavedState> {
    let damaged = || Error::ForeignState {
        reason: "its bytes are not those of a state of this library".to_owned(),
    };
    let word = |i: usize| {
        let word = bytes.get(8 * i..8 * i + 8)?;
        word.try_into().ok().map(u64::from_le_bytes)
    };
    let number = |i: usize| word(i).map(f64::from_bits).ok_or_else(damaged);
    if bytes.get(..8) != Some(&HEAD) {
        return Err(damaged());
    }
    let variables = fmu.component.variables().len();
    let left_limits = match word(5) {
        Some(0) => 0,
        Some(count) if count == variables as u64 => variables,
        _ => return Err(damaged()),
    };
    let (head, rest) = (bytes.split_at_checked(head_size(left_limits))).ok_or_else(damaged)?;
    let (summed, _) = head.split_at(head.len() - 8);
    if word(summed.len() / 8) != Some(checksum(summed)) {
        return Err(damaged());
    }
    let phase = word(1).and_then(|number| u8::try_from(number).ok());
    let phase = phase.and_then(LifecyclePhase::from_number);
    let phase = phase.ok_or_else(damaged)?;
    let experiment = FmuExperiment {
        start: number(2)?,
        stop: number(3)?,
        tolerance: number(4)?,
    };
    let left_limits: Vec<f64> = (FIXED_WORDS..FIXED_WORDS + left_limits)
        .map(number)
        .collect::<Result<_>>()?;
    memory::require(fmu.component.memory_of_state())?;
    let component = fmu.component.deserialize(rest)?;
    let saved = FmuSavedState {
        phase,
        experiment,
        left_limits,
        component,
    };
    match fmu.accepts(&saved) {
        true => Ok(saved),
        false => Err(damaged()),
    }
}
