//! Saved states: exact roll-back.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};
use std::ptr::null_mut;
use std::sync::atomic::AtomicPtr;

use super::gate::{Failure, Outcome, Turn, create, gate};
use super::instance::biela_instance;
use super::pointer;
use super::status::biela_status;
use crate::component::SavedState;
use crate::error::{Error, Result};

/// A state of an instance, to go back to. Opaque; made by `biela_state_save` or `biela_state_deserialize`,
/// ended by `biela_state_free`.
///
/// It holds all that the future depends on: a run continued from a restored state gives the same bits. It may
/// outlive its instance and be restored into any instance of the same model, one call at a time.
#[allow(non_camel_case_types)]
pub struct biela_state(SavedStateHandle);

/// What is behind it, in this order.
#[repr(C)]
struct SavedStateHandle {
    /// [`MAGIC`] while alive; first, so that a handle of another kind is found out.
    magic: u64,
    /// Name of the call that uses it; NULL: nobody.
    running: AtomicPtr<c_char>,
    /// Touched only by whoever has the turn.
    saved: UnsafeCell<SavedState>,
}

const _: () = assert!(std::mem::offset_of!(biela_state, 0) == 0);

/// "biela-st" as a number.
const MAGIC: u64 = u64::from_be_bytes(*b"biela-st");

impl biela_state {
    /// A handle around a state.
    fn new(saved: SavedState) -> *mut Self {
        Box::into_raw(Box::new(Self(SavedStateHandle {
            magic: MAGIC,
            running: AtomicPtr::new(null_mut()),
            saved: UnsafeCell::new(saved),
        })))
    }

    /// The state behind a pointer: NULL, misaligned pointers and handles of another kind are refused.
    ///
    /// # Safety
    /// `state` is NULL or points to memory that can be read; if it says it is a state, it is one.
    unsafe fn open<'a>(state: *const Self) -> Result<&'a Self> {
        // SAFETY: NULL and alignment are checked before the read; the rest is the caller's promise.
        let magic = (!state.is_null() && state.is_aligned())
            .then(|| unsafe { state.cast::<u64>().read_volatile() });
        if magic == Some(MAGIC) {
            // SAFETY: it says it is a state.
            return Ok(unsafe { &*state });
        }
        Err(Error::Argument {
            name: "state".to_owned(),
            value: match state.is_null() {
                true => "NULL".to_owned(),
                false => format!("{state:p} (not a state)"),
            },
            expected: "a live handle made by biela_state_save or _deserialize".to_owned(),
        })
    }
}

/// The saved content of a state, to oneself as long as the turn is held.
///
/// # Safety
/// `state` is NULL or a live handle.
unsafe fn claim_state<'a>(
    state: *mut biela_state,
    call: &'static CStr,
) -> Outcome<(*mut SavedState, Turn<'a>)> {
    // SAFETY: the caller's promise.
    let handle = unsafe { biela_state::open(state)? };
    let turn = Turn::take(&handle.0.running, call)
        .map_err(|running| Failure::busy("state", call, running))?;
    Ok((handle.0.saved.get(), turn))
}

/// Saves the present state into `*state`. Where `*state` is NULL a new state is made; otherwise the state it
/// holds is overwritten, without allocating if it came from the same model. On failure `*state` is
/// unchanged. Set `*state = NULL` before the first call, and end it with `biela_state_free`.
///
/// # Safety
/// `instance` is NULL or a live handle; `state` is NULL or points to NULL or to a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_state_save(
    instance: *mut biela_instance,
    state: *mut *mut biela_state,
) -> biela_status {
    const CALL: &CStr = c"biela_state_save";
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, CALL, |content| {
            // SAFETY: by promise it points to a handle that is set.
            let state = pointer::place("state", state)?.assume_init_mut();
            if state.is_null() {
                *state = biela_state::new(content.component.save()?);
                return Ok(());
            }
            let (saved, _turn) = claim_state(*state, CALL)?;
            // SAFETY: the turn is ours.
            Ok(content.component.save_into(&mut *saved)?)
        })
    }
}

/// Goes back to a saved state of the same model: what follows gives the same bits as it did then. The state
/// stays valid and may be restored again. On failure the instance is unchanged.
///
/// # Safety
/// `instance` and `state` are NULL or live handles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_state_restore(
    instance: *mut biela_instance,
    state: *mut biela_state,
) -> biela_status {
    const CALL: &CStr = c"biela_state_restore";
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, CALL, |content| {
            let (saved, _turn) = claim_state(state, CALL)?;
            // SAFETY: the turn is ours.
            Ok(content.component.restore(&*saved)?)
        })
    }
}

/// How many bytes `biela_state_serialize` writes for this state.
///
/// # Safety
/// `instance` and `state` are NULL or live handles; `size` is NULL or points to one number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_state_serialized_size(
    instance: *mut biela_instance,
    state: *mut biela_state,
    size: *mut usize,
) -> biela_status {
    const CALL: &CStr = c"biela_state_serialized_size";
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, CALL, |_| {
            let size = pointer::place("size", size)?;
            let (saved, _turn) = claim_state(state, CALL)?;
            // SAFETY: the turn is ours.
            size.write((*saved).serialized_size());
            Ok(())
        })
    }
}

/// Writes a state as bytes, for a file or another process: with a version and a checksum, the same on
/// every machine, exact. `size` is what `biela_state_serialized_size` says; with less, nothing is written.
///
/// # Safety
/// `instance` and `state` are NULL or live handles; `bytes` holds `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_state_serialize(
    instance: *mut biela_instance,
    state: *mut biela_state,
    bytes: *mut u8,
    size: usize,
) -> biela_status {
    const CALL: &CStr = c"biela_state_serialize";
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, CALL, |_| {
            let (saved, _turn) = claim_state(state, CALL)?;
            // SAFETY: the turn is ours.
            let content = (*saved).to_bytes();
            if size < content.len() {
                return Err(Error::Argument {
                    name: "size".to_owned(),
                    value: size.to_string(),
                    expected: format!("at least {}", content.len()),
                }
                .into());
            }
            pointer::slice_mut("bytes", bytes, content.len())?.copy_from_slice(&content);
            Ok(())
        })
    }
}

/// Makes a state from bytes that `biela_state_serialize` wrote, of this instance or of any other of the same
/// model, in this process or another. `size` is the exact number of bytes. Bytes that are foreign, cut or
/// damaged are refused with `BIELA_STATUS_ERROR_STATE`.
///
/// Where `*state` is NULL a new state is made; otherwise the one it holds is overwritten. On failure `*state`
/// is unchanged. The instance does not change: restore the state to go there.
///
/// # Safety
/// `instance` is NULL or a live handle; `bytes` holds `size` bytes; `state` is NULL or points to NULL or to a
/// live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_state_deserialize(
    instance: *mut biela_instance,
    bytes: *const u8,
    size: usize,
    state: *mut *mut biela_state,
) -> biela_status {
    const CALL: &CStr = c"biela_state_deserialize";
    // SAFETY: the caller's promise.
    unsafe {
        gate(instance, CALL, |content| {
            // SAFETY: by promise it points to a handle that is set.
            let state = pointer::place("state", state)?.assume_init_mut();
            let bytes = pointer::slice("bytes", bytes, size)?;
            let made = content.component.deserialize(bytes)?;
            if state.is_null() {
                *state = biela_state::new(made);
                return Ok(());
            }
            let (saved, _turn) = claim_state(*state, CALL)?;
            // SAFETY: the turn is ours.
            *saved = made;
            Ok(())
        })
    }
}

/// Ends a saved state; its instance need not live any more. NULL is allowed and does nothing. While a call
/// uses the state it is not freed and the answer is `BIELA_STATUS_BUSY`; sentences are with
/// `biela_last_error(NULL)`.
///
/// # Safety
/// `state` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_state_free(state: *mut biela_state) -> biela_status {
    if state.is_null() {
        return biela_status::Ok;
    }
    create(|| {
        // SAFETY: the caller's promise.
        let (_, turn) = unsafe { claim_state(state, c"biela_state_free")? };
        std::mem::forget(turn); // never given back
        // SAFETY: made by Box::into_raw; nobody uses it, and by the caller's promise nobody will.
        let mut handle = unsafe { Box::from_raw(state) };
        // SAFETY: a plain write to memory of ours; volatile so that it is not left out as useless.
        unsafe { (&raw mut handle.0.magic).write_volatile(0) };
        drop(handle);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::instance::{
        biela_instance_free, biela_instance_new_from_string, biela_last_error,
    };
    use super::*;

    const MODEL: &str = r#"
        format = 1
        name = "slide"
        dimension = 2
        [[body]]
        name = "mass"
        mass = 1.0
        inertia = 1.0
        [[joint]]
        name = "slide"
        type = "prismatic"
        bodies = ["ground", "mass"]
        point = [0.0, 0.0]
        axis = [1.0, 0.0]
    "#;

    /// A state in use by a call on another instance, which cannot be timed from C.
    #[test]
    fn a_state_in_use_is_refused_by_name_and_left_alone() {
        let sentence = |instance| {
            // SAFETY: NULL or live.
            let text = unsafe { CStr::from_ptr(biela_last_error(instance)) };
            text.to_str().unwrap().to_owned()
        };
        let (mut instance, mut state) = (null_mut(), null_mut());
        // SAFETY: live handles and pointers to locals throughout.
        unsafe {
            let text = MODEL.as_ptr().cast();
            let made =
                biela_instance_new_from_string(text, MODEL.len(), std::ptr::null(), &mut instance);
            assert_eq!(made, biela_status::Ok, "{}", sentence(null_mut()));
            assert_eq!(biela_state_save(instance, &mut state), biela_status::Ok);

            let (_, turn) = claim_state(state, c"biela_state_restore").unwrap();
            assert_eq!(biela_state_save(instance, &mut state), biela_status::Busy);
            assert_eq!(
                sentence(instance),
                "biela_state_save must wait: the state is busy with biela_state_restore"
            );
            assert_eq!(biela_state_restore(instance, state), biela_status::Busy);
            assert_eq!(biela_state_free(state), biela_status::Busy);
            assert!(sentence(null_mut()).starts_with("biela_state_free must wait"));
            drop(turn);

            assert_eq!(biela_state_restore(instance, state), biela_status::Ok);
            assert_eq!(biela_state_free(state), biela_status::Ok);
            assert_eq!(biela_instance_free(instance), biela_status::Ok);
        }
    }
}
