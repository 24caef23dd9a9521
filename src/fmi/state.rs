//! Saved states as importers hold them.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

use super::fmu_instance::{FmuExperiment, FmuInstance, FmuSavedState};
use super::lifecycle::LifecyclePhase;
use crate::capi::gate::Turn;
use crate::capi::pointer;
use crate::error::{Error, Result};

/// What an `fmi2FMUstate` or `fmi3FMUState` points to.
#[repr(C)]
struct StateHandle {
    /// [`MAGIC`] while alive; first, so that a foreign pointer is found out.
    magic: u64,
    /// Name of the call that uses it; NULL: nobody.
    running: AtomicPtr<c_char>,
    /// Touched only by whoever has the turn.
    saved: UnsafeCell<FmuSavedState>,
}

/// "biela-fs" as a number.
const MAGIC: u64 = u64::from_be_bytes(*b"biela-fs");

impl StateHandle {
    fn make(saved: FmuSavedState) -> *mut c_void {
        Box::into_raw(Box::new(Self {
            magic: MAGIC,
            running: AtomicPtr::new(null_mut()),
            saved: UnsafeCell::new(saved),
        }))
        .cast()
    }
}

/// The state behind a pointer, to oneself as long as the turn is held.
///
/// # Safety
/// `state` is NULL or points to memory that can be read; if it says it is a state, it is one.
unsafe fn claim<'a>(
    state: *mut c_void,
    call: &'static CStr,
) -> Result<(&'a StateHandle, Turn<'a>)> {
    let refused = |value: String| Error::Argument {
        name: "FMU state".to_owned(),
        value,
        expected: "a live state of this library".to_owned(),
    };
    let handle = state.cast::<StateHandle>();
    if handle.is_null() || !handle.is_aligned() {
        return Err(refused(match handle.is_null() {
            true => "NULL".to_owned(),
            false => format!("{state:p}"),
        }));
    }
    // SAFETY: not NULL, aligned; the rest is the caller's promise.
    if unsafe { handle.cast::<u64>().read_volatile() } != MAGIC {
        return Err(refused(format!("{state:p} (not a state)")));
    }
    // SAFETY: it says it is a state.
    let handle = unsafe { &*handle };
    let turn = Turn::take(&handle.running, call)
        .map_err(|running| refused(format!("busy with {}", running.to_string_lossy())))?;
    Ok((handle, turn))
}

/// Saves the unit's state into `*state`: a new one where it is NULL.
///
/// # Safety
/// `state` is NULL or points to NULL or to a live state.
pub(super) unsafe fn get(
    unit: &FmuInstance,
    state: *mut *mut c_void,
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise; it points to something set.
    let place = unsafe { pointer::place("FMU state", state)?.assume_init_mut() };
    if place.is_null() {
        *place = StateHandle::make(unit.save()?);
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let (handle, _turn) = unsafe { claim(*place, call)? };
    // SAFETY: the turn is ours.
    unit.save_into(unsafe { &mut *handle.saved.get() })
}

/// Back to a saved state.
///
/// # Safety
/// `state` is NULL or a live state.
pub(super) unsafe fn set(
    unit: &mut FmuInstance,
    state: *mut c_void,
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (handle, _turn) = unsafe { claim(state, call)? };
    // SAFETY: the turn is ours.
    unit.restore(unsafe { &*handle.saved.get() })
}

/// Frees `*state` and sets it to NULL.
///
/// # Safety
/// `state` is NULL or points to NULL or to a live state that is not used any more.
pub(super) unsafe fn free(state: *mut *mut c_void, call: &'static CStr) -> Result<()> {
    if state.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise; it points to something set.
    let place = unsafe { pointer::place("FMU state", state)?.assume_init_mut() };
    if place.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let (_, turn) = unsafe { claim(*place, call)? };
    std::mem::forget(turn); // never given back
    // SAFETY: made by Box::into_raw; nobody uses it, and by the caller's promise nobody will.
    let mut handle = unsafe { Box::from_raw(place.cast::<StateHandle>()) };
    // SAFETY: a plain write to memory of ours; volatile so that it is not left out as useless.
    unsafe { (&raw mut handle.magic).write_volatile(0) };
    drop(handle);
    *place = null_mut();
    Ok(())
}

// --- bytes ----------------------------------------------------------------------------------------------------------

/// "biela-fu", version 1: the head that stands before the component's own bytes.
const HEAD: [u8; 8] = *b"bielafu1";
/// Also phase, start, stop, tolerance and a sum of them.
const HEAD_SIZE: usize = 6 * 8;

/// How many bytes a state needs.
///
/// # Safety
/// `state` is NULL or a live state.
pub(super) unsafe fn size(state: *mut c_void, call: &'static CStr) -> Result<usize> {
    // SAFETY: the caller's promise.
    let (handle, _turn) = unsafe { claim(state, call)? };
    // SAFETY: the turn is ours.
    let saved = unsafe { &*handle.saved.get() };
    Ok(HEAD_SIZE + saved.component.serialized_size())
}

/// Writes a state as bytes; `bytes` has the size told by [`size`].
///
/// # Safety
/// `state` is NULL or a live state.
pub(super) unsafe fn write(
    state: *mut c_void,
    bytes: &mut [u8],
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (handle, _turn) = unsafe { claim(state, call)? };
    // SAFETY: the turn is ours.
    let saved = unsafe { &*handle.saved.get() };
    let needed = HEAD_SIZE + saved.component.serialized_size();
    if bytes.len() != needed {
        return Err(Error::Argument {
            name: "size".to_owned(),
            value: bytes.len().to_string(),
            expected: format!("{needed} bytes"),
        });
    }
    let (head, rest) = bytes.split_at_mut(HEAD_SIZE);
    head[..8].copy_from_slice(&HEAD);
    head[8..16].copy_from_slice(&u64::from(saved.phase as u8).to_le_bytes());
    let FmuExperiment {
        start,
        stop,
        tolerance,
    } = saved.experiment;
    for (i, number) in [start, stop, tolerance].into_iter().enumerate() {
        let at = 16 + 8 * i;
        head[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }
    let sum = checksum(&head[..40]);
    head[40..].copy_from_slice(&sum.to_le_bytes());
    rest.copy_from_slice(&saved.component.to_bytes());
    Ok(())
}

/// 64-bit FNV-1a; the component's bytes have their own.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Makes a state of bytes.
///
/// # Safety
/// `state` is NULL or points to NULL or to a live state.
pub(super) unsafe fn read(
    unit: &FmuInstance,
    bytes: &[u8],
    state: *mut *mut c_void,
    call: &'static CStr,
) -> Result<()> {
    // SAFETY: the caller's promise; it points to something set.
    let place = unsafe { pointer::place("FMU state", state)?.assume_init_mut() };
    let saved = parse(unit, bytes)?;
    if place.is_null() {
        *place = StateHandle::make(saved);
        return Ok(());
    }
    // SAFETY: the caller's promise.
    let (handle, _turn) = unsafe { claim(*place, call)? };
    // SAFETY: the turn is ours.
    unsafe { *handle.saved.get() = saved };
    Ok(())
}

fn parse(unit: &FmuInstance, bytes: &[u8]) -> Result<FmuSavedState> {
    let damaged = || Error::ForeignState {
        reason: "its bytes are not those of a state of this library".to_owned(),
    };
    let (head, rest) = bytes.split_at_checked(HEAD_SIZE).ok_or_else(damaged)?;
    let word = |i: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&head[8 * i..8 * i + 8]);
        word
    };
    let phase = u8::try_from(u64::from_le_bytes(word(1)))
        .ok()
        .and_then(LifecyclePhase::from_number);
    let sum = u64::from_le_bytes(word(5));
    let (HEAD, Some(phase), true) = (word(0), phase, sum == checksum(&head[..40])) else {
        return Err(damaged());
    };
    let [start, stop, tolerance] = [2, 3, 4].map(|i| f64::from_le_bytes(word(i)));
    let component = unit.component.deserialize(rest)?;
    Ok(FmuSavedState {
        phase,
        experiment: FmuExperiment {
            start,
            stop,
            tolerance,
        },
        component,
    })
}
