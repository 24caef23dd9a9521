//! Life of an instance: created, reset, freed; versions; the sentence of the last error.

use std::cell::OnceCell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::gate::{self, CallResult, create, gate_even_if_broken, lock};
use super::status::biela_status;
use super::system::Callbacks;
use crate::component::{Instance, PendingInputs, SavedState, StateSpace, Variable};
use crate::error::{Error, Result};
use crate::ffi::gate::catch_panic;
use crate::ffi::handle::{self, Handle};
use crate::ffi::memory;
use crate::ffi::pointer::{self, c_string};
use crate::model::Model;

/// Version of this interface. It rises when something that existed changes its meaning; additions do not
/// raise it. Compare with `biela_abi_version()` of the library that was loaded.
pub const BIELA_ABI_VERSION: i32 = 1;

/// A mechanism that can be driven. Opaque; made by `biela_instance_new_...`, ended by `biela_instance_free`.
///
/// An instance may be used from any thread, one call at a time: a call that finds another one running
/// returns `BIELA_STATUS_BUSY` and changes nothing. Only `biela_cancel` is allowed while a call runs.
/// Different instances never influence each other.
#[allow(non_camel_case_types)]
pub struct biela_instance(InstanceHandle);

/// The object behind it: the component under the lock, its cancel flag beside it.
pub(super) type InstanceHandle = Handle<InstanceContent, CancelFlag>;

const _: () = assert!(std::mem::offset_of!(biela_instance, 0) == 0);

/// Marks instances.
const TAG: [u8; 8] = *b"biela-in";

/// The component's cancel flag, used without the lock. `InstanceContent::cancel_flags` keeps its target alive.
pub(super) struct CancelFlag(AtomicPtr<AtomicBool>);

impl CancelFlag {
    /// Asks the running step to stop.
    pub(super) fn raise(&self) {
        // SAFETY: points into an Arc that `InstanceContent::cancel_flags` keeps until the instance is freed.
        unsafe { &*self.0.load(Ordering::Acquire) }.store(true, Ordering::Relaxed);
    }
}

/// The part of an instance that is used under the lock.
pub(super) struct InstanceContent {
    pub(super) component: Instance,
    /// Inputs set since the last call that used the component.
    pub(super) pending_inputs: PendingInputs,
    /// Name, unit and description of each variable as C strings.
    pub(super) texts: Vec<[CString; 3]>,
    /// Direct dependencies of each variable, during the run and at the start; determined on first use.
    pub(super) dependencies: OnceCell<Vec<[Vec<u32>; 2]>>,
    /// The last linear model, and the name last asked for.
    pub(super) linear_model: StateSpace,
    pub(super) linear_name: CString,
    /// Sentence of the last failure.
    pub(super) sentence: CString,
    /// A panic may have left the component inconsistent.
    pub(super) broken: bool,
    /// The user's functions, if the equations are user-defined.
    pub(super) callbacks: Option<Callbacks>,
    /// Every cancel flag this instance ever had: `biela_cancel` may be using an older one at this moment.
    cancel_flags: Vec<Arc<AtomicBool>>,
    /// The next call panics.
    #[cfg(feature = "fault-injection")]
    pub(super) fault: bool,
}

/// Handles move between threads, so their content must be able to.
const fn assert_send<T: Send>() {}
const _: () = assert_send::<Instance>();
const _: () = assert_send::<SavedState>();

/// Name, unit and description of each variable as C strings.
fn texts(component: &Instance) -> Vec<[CString; 3]> {
    let text = |v: &Variable| {
        [
            c_string(&v.name),
            c_string(&v.unit),
            c_string(&v.description),
        ]
    };
    component.variables().iter().map(text).collect()
}

impl InstanceContent {
    fn new(component: Instance, callbacks: Option<Callbacks>) -> Self {
        Self {
            pending_inputs: PendingInputs::new(&component),
            texts: texts(&component),
            dependencies: OnceCell::new(),
            linear_model: StateSpace::default(),
            linear_name: CString::default(),
            sentence: CString::default(),
            broken: false,
            callbacks,
            cancel_flags: vec![component.cancel_flag()],
            #[cfg(feature = "fault-injection")]
            fault: false,
            component,
        }
    }

    /// The component has got other variables.
    pub(super) fn variables_changed(&mut self) {
        self.pending_inputs = PendingInputs::new(&self.component);
        self.texts = texts(&self.component);
        self.dependencies = OnceCell::new();
    }

    /// Runs one call on the component and keeps the sentence of its failure.
    #[inline]
    pub(super) fn run(&mut self, action: impl FnOnce(&mut Self) -> CallResult) -> biela_status {
        let mut action = Some(action);
        self.run_action(&mut |content| action.take().map_or(Ok(()), |action| action(content)))
    }

    /// As [`InstanceContent::run`], for an action that is called once. Not generic, so that it exists once, and never inlined: a call
    /// on the fast path would save and restore the registers that only this needs.
    #[inline(never)]
    fn run_action(&mut self, action: &mut dyn FnMut(&mut Self) -> CallResult) -> biela_status {
        let result = catch_panic(|| {
            #[cfg(feature = "fault-injection")]
            if std::mem::take(&mut self.fault) {
                panic!("injected fault");
            }
            match self.broken {
                // The call that repairs the instance starts from the model.
                true => self.pending_inputs.clear(),
                false => self.pending_inputs.flush(&mut self.component)?,
            }
            action(self)
        });
        let time = self.component.is_running().then(|| self.component.time());
        let result = match &mut self.callbacks {
            Some(callbacks) => callbacks.explain(result, time),
            None => result,
        };
        let Err(failure) = result else {
            return biela_status::Ok;
        };
        self.broken |= failure.status == biela_status::Panic;
        self.sentence = failure.sentence;
        failure.status
    }

    /// Returns to the state after creation. After a panic only the model of the old component is used.
    fn reset(&mut self) -> Result<()> {
        if self.broken {
            let fresh = match &mut self.callbacks {
                None => Instance::from_model(self.component.model().clone())?,
                Some(callbacks) => callbacks.component(self.component.model())?,
            };
            let logger = self.component.set_logger(None);
            self.component = fresh;
            self.component.set_logger(logger);
        } else {
            self.component.reset();
        }
        if let Some(callbacks) = &mut self.callbacks {
            callbacks.forget();
        }
        let flag = self.component.cancel_flag();
        if Arc::as_ptr(&flag) != self.cancel_flag().cast_const() {
            self.cancel_flags.push(flag);
        }
        self.broken = false;
        self.sentence = CString::default();
        Ok(())
    }

    /// The flag in use.
    fn cancel_flag(&self) -> *mut AtomicBool {
        let flag = self
            .cancel_flags
            .last()
            .expect("the first is never removed");
        Arc::as_ptr(flag).cast_mut()
    }
}

impl biela_instance {
    /// A handle for C to keep.
    pub(super) fn new(component: Instance, callbacks: Option<Callbacks>) -> *mut Self {
        let content = InstanceContent::new(component, callbacks);
        let cancel = CancelFlag(AtomicPtr::new(content.cancel_flag()));
        Box::into_raw(Box::new(Self(Handle::new(TAG, cancel, content))))
    }

    /// The handle behind a pointer; NULL, misaligned pointers and handles of another kind are errors.
    ///
    /// # Safety
    /// `instance` is NULL or points to readable memory; if it is marked as an instance, it is one.
    #[inline]
    pub(super) unsafe fn open<'a>(
        instance: *const Self,
        call: &CStr,
    ) -> Result<&'a InstanceHandle> {
        // SAFETY: the caller's promise.
        let handle = unsafe { InstanceHandle::open(instance.cast(), TAG) };
        handle.ok_or_else(|| Self::not_an_instance(instance, call))
    }

    #[cold]
    fn not_an_instance(instance: *const Self, call: &CStr) -> Error {
        Error::Argument {
            name: format!("instance of {}", call.to_string_lossy()),
            value: match instance.is_null() {
                true => "NULL".to_owned(),
                false => format!("{instance:p} (not an instance)"),
            },
            expected: "a live handle made by biela_instance_new_from_file or _from_string"
                .to_owned(),
        }
    }
}

/// Version of the library as text, such as "0.1.0". Never NULL, never freed, valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn biela_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Version of the interface that the loaded library has: `BIELA_ABI_VERSION` of its own header.
#[unsafe(no_mangle)]
pub extern "C" fn biela_abi_version() -> c_int {
    BIELA_ABI_VERSION
}

/// Makes an instance from a model file: TOML, or JSON by its ending. `path` is UTF-8. Files that the
/// model names are found relative to it.
///
/// `*out` is the new instance, or NULL on failure; `biela_last_error(NULL)` on the same thread then has the
/// sentence. End the instance with `biela_instance_free`.
///
/// # Safety
/// `path` is NULL or a NUL-terminated string; `out` is NULL or points to one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_instance_new_from_file(
    path: *const c_char,
    out: *mut *mut biela_instance,
) -> biela_status {
    create(|| {
        // SAFETY: the caller's promise.
        let (out, path) = unsafe { (pointer::out("out", out)?, pointer::text("path", path)) };
        out.write(null_mut());
        let path = Path::new(path?);
        memory::require_for_file(path)?;
        let component = from_model(Model::from_file(path)?)?;
        out.write(biela_instance::new(component, None));
        Ok(())
    })
}

/// Makes an instance from a model text of `length` bytes (UTF-8, no terminating NUL needed): TOML, or JSON
/// where it starts with `{`. Files that the model names are found in `base_dir`; NULL: in the working
/// directory. The text is not needed after the call.
///
/// `*out` is the new instance, or NULL on failure; `biela_last_error(NULL)` on the same thread then has the
/// sentence. End the instance with `biela_instance_free`.
///
/// # Safety
/// `text` holds `length` bytes; `base_dir` is NULL or a NUL-terminated string; `out` is NULL or points to
/// one handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_instance_new_from_string(
    text: *const c_char,
    length: usize,
    base_dir: *const c_char,
    out: *mut *mut biela_instance,
) -> biela_status {
    create(|| {
        // SAFETY: the caller's promise.
        let out = unsafe { pointer::out("out", out)? };
        out.write(null_mut());
        // SAFETY: the caller's promise.
        let text = unsafe { pointer::slice("text", text.cast::<u8>(), length)? };
        let base_dir = match base_dir.is_null() {
            true => None,
            // SAFETY: the caller's promise.
            false => Some(Path::new(unsafe { pointer::text("base_dir", base_dir)? })),
        };
        memory::require_for_text(length)?;
        let text = pointer::utf8("text", text)?;
        let component = from_model(Model::from_text_in(text, "model", base_dir)?)?;
        out.write(biela_instance::new(component, None));
        Ok(())
    })
}

/// An instance of a model, if there is memory for its matrices: they may come from other files than the text.
fn from_model(model: Model) -> Result<Instance> {
    memory::require(Instance::memory_of_matrices(&model))?;
    Instance::from_model(model)
}

/// Ends an instance and frees all that belongs to it: texts and lists given by `biela_variable_info`, and
/// the sentence of `biela_last_error`. Saved states live on. NULL is allowed and does nothing.
///
/// While another call on the instance runs, it is not freed and the answer is `BIELA_STATUS_BUSY`. The handle
/// must not be used after it has been freed: that cannot be detected.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_instance_free(instance: *mut biela_instance) -> biela_status {
    if instance.is_null() {
        return biela_status::Ok;
    }
    // SAFETY: the caller's promise.
    let locked = match unsafe { lock(instance, c"biela_instance_free") } {
        Ok((_, locked)) => locked,
        Err(status) => return status,
    };
    create(|| {
        // SAFETY: made by `biela_instance::new`, locked, and by the caller's promise not used any more.
        unsafe { handle::free(locked, instance) };
        Ok(())
    })
}

/// Returns to the state after creation: all variables at their start values, not initialized, inputs
/// constant. Repairs an instance that has answered `BIELA_STATUS_PANIC`. The logger stays, and
/// what `biela_variable_info` has given stays valid.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_instance_reset(instance: *mut biela_instance) -> biela_status {
    // SAFETY: the caller's promise.
    unsafe {
        gate_even_if_broken(instance, c"biela_instance_reset", |content| {
            content.reset()?;
            // SAFETY: the gate has checked the handle; the flag is an atomic beside the content.
            let cancel = &(*instance).0.shared;
            cancel.0.store(content.cancel_flag(), Ordering::Release);
            Ok(())
        })
    }
}

/// The sentence of the last failure on this instance: what went wrong, where, and what was expected. UTF-8,
/// never NULL; empty if nothing has failed since it was made or reset. A call that succeeds leaves it alone.
///
/// With NULL it speaks of this thread's last call that failed without an instance: a creation, a NULL or
/// foreign handle, a struct that could not be given its defaults.
///
/// The text belongs to the library and is valid until the next call on the same instance (with NULL: until
/// the next failure of that kind on this thread). Copy it if you want to keep it.
///
/// # Safety
/// `instance` is NULL or a live handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn biela_last_error(instance: *mut biela_instance) -> *const c_char {
    if instance.is_null() {
        return gate::thread_sentence();
    }
    // SAFETY: the caller's promise.
    match unsafe { biela_instance::open(instance, c"biela_last_error") } {
        Ok(handle) => gate::sentence(handle, c"biela_last_error"),
        Err(error) => {
            gate::fail(error.into());
            gate::thread_sentence()
        }
    }
}
