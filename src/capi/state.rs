//! Saved states: exact roll-back.

use std::ffi::CStr;

use super::gate::{CallFailure, CallResult, create, gate};
use super::instance::biela_instance;
use super::status::biela_status;
use crate::component::SavedState;
use crate::error::{Error, Result};
use crate::ffi::handle::{self, Handle, Locked};
use crate::ffi::{memory, pointer};

/// A state of an instance, to go back to. Opaque; made by `biela_state_save` or `biela_state_deserialize`,
/// ended by `biela_state_free`.
///
/// It holds all that the future depends on: a run continued from a restored state gives the same bits. It may
/// outlive its instance and be restored into any instance of the same model, one call at a time.
#[allow(non_camel_case_types)]
pub struct biela_state(StateHandle);

/// The object behind it.
type StateHandle = Handle<SavedState>;

const _: () = assert!(std::mem::offset_of!(biela_state, 0) == 0);

/// Marks saved states.
const TAG: [u8; 8] = *b"biela-st";

impl biela_state {
    /// A handle for C to keep.
    fn new(saved: SavedState) -> *mut Self {
        Box::into_raw(Box::new(Self(Handle::new(TAG, (), saved))))
    }

    /// The handle behind a pointer; NULL, misaligned pointers and handles of another kind are errors.
    ///
    /// # Safety
    /// `state` is NULL or points to readable memory; if it is marked as a state, it is one.
    unsafe fn open<'a>(state: *const Self) -> Result<&'a StateHandle> {
        // SAFETY: the caller's promise.
        let handle = unsafe { StateHandle::open(state.cast(), TAG) };
        handle.ok_or_else(|| Error::Argument {
            name: "state".to_owned(),
            value: match state.is_null() {
                true => "NULL".to_owned(),
                false => format!("{state:p} (not a state)"),
            },
            expected: "a live handle made by biela_state_save or _deserialize".to_owned(),
        })
    }

    /// The saved state behind a pointer, locked for `call`.
    ///
    /// # Safety
    /// `state` is NULL or a live handle.
    unsafe fn lock<'a>(
        state: *const Self,
        call: &'static CStr,
    ) -> CallResult<Locked<'a, SavedState>> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Self::open(state)? };
        (handle.lock(call)).map_err(|running| CallFailure::busy("state", call, running))
    }
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
            let state = pointer::out("state", state)?.assume_init_mut();
            if state.is_null() {
                memory::require(content.component.memory_of_state())?;
                *state = biela_state::new(content.component.save()?);
                return Ok(());
            }
            let mut saved = biela_state::lock(*state, CALL)?;
            Ok(content.component.save_into(&mut saved)?)
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
            let saved = biela_state::lock(state, CALL)?;
            Ok(content.component.restore(&saved)?)
        })
    }
}

/// The number of bytes that `biela_state_serialize` writes for this state.
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
            let size = pointer::out("size", size)?;
            size.write(biela_state::lock(state, CALL)?.serialized_size());
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
            let state = biela_state::lock(state, CALL)?;
            // A copy of the state, and the bytes.
            memory::require(2 * state.serialized_size())?;
            let content = state.to_bytes();
            if size < content.len() {
                return Err(Error::Argument {
                    name: "size".to_owned(),
                    value: size.to_string(),
                    expected: format!("at least {}", content.len()),
                }
                .into());
            }
            let bytes = pointer::slice_mut("bytes", bytes, size)?;
            bytes[..content.len()].copy_from_slice(&content);
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
            let state = pointer::out("state", state)?.assume_init_mut();
            let bytes = pointer::slice("bytes", bytes, size)?;
            memory::require(content.component.memory_of_state())?;
            let made = content.component.deserialize(bytes)?;
            if state.is_null() {
                *state = biela_state::new(made);
                return Ok(());
            }
            *biela_state::lock(*state, CALL)? = made;
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
        // SAFETY: the caller's promise; made by `biela_state::new`.
        unsafe {
            let locked = biela_state::lock(state, c"biela_state_free")?;
            handle::free(locked, state);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::super::instance::{
        biela_instance_free, biela_instance_new_from_string, biela_last_error,
    };
    use super::*;
    use std::ptr::null_mut;

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

    /// A state in use by a call on another instance: a C program could not time that.
    #[test]
    fn a_state_in_use_is_busy_and_unchanged() {
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

            let locked = biela_state::lock(state, c"biela_state_restore").ok();
            assert!(locked.is_some());
            assert_eq!(biela_state_save(instance, &mut state), biela_status::Busy);
            assert_eq!(
                sentence(instance),
                "biela_state_save must wait: the state is busy with biela_state_restore"
            );
            assert_eq!(biela_state_restore(instance, state), biela_status::Busy);
            assert_eq!(biela_state_free(state), biela_status::Busy);
            assert!(sentence(null_mut()).starts_with("biela_state_free must wait"));
            drop(locked);

            assert_eq!(biela_state_restore(instance, state), biela_status::Ok);
            assert_eq!(biela_state_free(state), biela_status::Ok);
            assert_eq!(biela_instance_free(instance), biela_status::Ok);
        }
    }
}
