//! Life of an instance, seen from C.

use std::cell::{OnceCell, UnsafeCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::gate::{self, Outcome, c_text, claim, create, gate_even_if_broken, quietly};
use super::pointer;
use super::status::biela_status;
use super::system::Callbacks;
use crate::component::{Instance, SavedState};
use crate::error::{Error, Result};

/// Version of this interface. It rises when something that existed changes its meaning; additions do not
/// raise it. Compare with `biela_abi_version()` of the library that was loaded.
pub const BIELA_ABI_VERSION: i32 = 1;

/// A mechanism that can be driven. Opaque; made by `biela_instance_new_...`, ended by `biela_instance_free`.
///
/// An instance may be used from any thread, one call at a time: a call that finds another one running
/// returns `BIELA_STATUS_BUSY` and changes nothing. Only `biela_cancel` is allowed while a call runs.
/// Different instances never influence each other.
#[allow(non_camel_case_types)]
pub struct biela_instance(pub(super) InstanceHandle);

/// What is behind it. The order of the fields is the one written here: left to the compiler it depends on their sizes.
#[repr(C)]
pub(super) struct InstanceHandle {
    /// [`MAGIC`] while alive; first, so that a handle of another kind is found out.
    magic: u64,
    /// Name of the call inside; NULL: nobody.
    pub(super) running: AtomicPtr<c_char>,
    /// The component's flag; read without the turn. What it points to is kept alive by `Content::cancel_flags`.
    cancel: AtomicPtr<AtomicBool>,
    /// Touched only by whoever has the turn.
    pub(super) content: UnsafeCell<Content>,
}

const _: () = assert!(std::mem::offset_of!(biela_instance, 0) == 0);

/// "biela-in" as a number.
const MAGIC: u64 = u64::from_be_bytes(*b"biela-in");

/// What the turn protects.
pub(super) struct Content {
    pub(super) component: Instance,
    /// Name, unit and description of each variable as C reads them.
    pub(super) texts: Vec<[CString; 3]>,
    /// Direct dependencies of each variable, during the run and at the start; found out when first asked for.
    pub(super) links: OnceCell<Vec<[Vec<u32>; 2]>>,
    /// Of the last failure.
    pub(super) sentence: CString,
    /// A panic has left the component in an unknown condition.
    pub(super) broken: bool,
    /// Where the equations are the user's functions.
    pub(super) callbacks: Option<Callbacks>,
    /// Every cancel flag this instance ever had: `biela_cancel` may be reading an older one right now.
    cancel_flags: Vec<Arc<AtomicBool>>,
    /// The next call panics.
    #[cfg(feature = "fault-injection")]
    pub(super) fault: bool,
}

/// Handles travel between threads, so what they hold must too.
const fn travels<T: Send>() {}
const _: () = travels::<Instance>();
const _: () = travels::<SavedState>();

impl Content {
    /// Runs one call on the component; keeps the sentence of its failure.
    #[inline]
    pub(super) fn run(&mut self, action: impl FnOnce(&mut Self) -> Outcome) -> biela_status {
        let outcome = quietly(|| {
            #[cfg(feature = "fault-injection")]
            if std::mem::take(&mut self.fault) {
                panic!("injected fault");
            }
            action(self)
        });
        let running = self.component.is_running().then(|| self.component.time());
        let outcome = match &mut self.callbacks {
            Some(callbacks) => callbacks.explain(outcome, running),
            None => outcome,
        };
        let Err(failure) = outcome else {
            return biela_status::Ok;
        };
        self.broken |= failure.status == biela_status::Panic;
        self.sentence = failure.sentence;
        failure.status
    }

    /// As just created. After a panic nothing of the old component but its model is trusted.
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
            .expect("there is one from the beginning");
        Arc::as_ptr(flag).cast_mut()
    }
}

impl biela_instance {
    /// A handle around a component.
    pub(super) fn new(component: Instance, callbacks: Option<Callbacks>) -> Box<Self> {
        let texts = component
            .variables()
            .iter()
            .map(|v| [c_text(&v.name), c_text(&v.unit), c_text(&v.description)])
            .collect();
        let content = Content {
            texts,
            links: OnceCell::new(),
            sentence: CString::default(),
            broken: false,
            callbacks,
            cancel_flags: vec![component.cancel_flag()],
            #[cfg(feature = "fault-injection")]
            fault: false,
            component,
        };
        Box::new(Self(InstanceHandle {
            magic: MAGIC,
            running: AtomicPtr::new(null_mut()),
            cancel: AtomicPtr::new(content.cancel_flag()),
            content: UnsafeCell::new(content),
        }))
    }

    /// The handle behind a pointer: NULL, misaligned pointers and handles of another kind are refused.
    ///
    /// # Safety
    /// `instance` is NULL or points to memory that can be read; if it says it is an instance, it is one.
    #[inline]
    pub(super) unsafe fn open<'a>(instance: *const Self, call: &CStr) -> Result<&'a Self> {
        // SAFETY: NULL and alignment are checked before the read; the rest is the caller's promise.
        let magic = (!instance.is_null() && instance.is_aligned())
            .then(|| unsafe { instance.cast::<u64>().read_volatile() });
        if magic == Some(MAGIC) {
            // SAFETY: it says it is an instance.
            return Ok(unsafe { &*instance });
        }
        Err(Self::not_one(instance, call))
    }

    #[cold]
    fn not_one(instance: *const Self, call: &CStr) -> Error {
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

    /// Asks the step that runs to stop.
    pub(super) fn cancel(&self) {
        // SAFETY: points into an Arc that `Content::cancel_flags` keeps until the instance is freed.
        unsafe { &*self.0.cancel.load(Ordering::Acquire) }.store(true, Ordering::Relaxed);
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
        let (out, path) = unsafe { (pointer::place("out", out)?, pointer::text("path", path)) };
        out.write(null_mut());
        let component = Instance::from_file(Path::new(path?))?;
        out.write(Box::into_raw(biela_instance::new(component, None)));
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
        let out = unsafe { pointer::place("out", out)? };
        out.write(null_mut());
        // SAFETY: the caller's promise.
        let text = unsafe { pointer::slice("text", text.cast::<u8>(), length)? };
        let base_dir = match base_dir.is_null() {
            true => None,
            // SAFETY: the caller's promise.
            false => Some(Path::new(unsafe { pointer::text("base_dir", base_dir)? })),
        };
        let component = Instance::from_text(pointer::utf8("text", text)?, base_dir)?;
        out.write(Box::into_raw(biela_instance::new(component, None)));
        Ok(())
    })
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
    match unsafe { claim(instance, c"biela_instance_free") } {
        // Never given back: whoever comes now breaks the promise, and is told BUSY as long as that is possible.
        Ok((_, turn)) => std::mem::forget(turn),
        Err(status) => return status,
    }
    create(|| {
        // SAFETY: made by Box::into_raw; nobody is inside, and by the caller's promise nobody comes any more.
        let mut handle = unsafe { Box::from_raw(instance) };
        // SAFETY: a plain write to memory of ours; volatile so that it is not left out as useless.
        unsafe { (&raw mut handle.0.magic).write_volatile(0) };
        drop(handle);
        Ok(())
    })
}

/// Back to the beginning of its life: as just created, all variables at their start values, not
/// initialized, inputs held. Mends an instance that has answered `BIELA_STATUS_PANIC`. The logger stays, and
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
            // SAFETY: the gate has opened the handle; `cancel` is an atomic beside the content.
            (*instance)
                .0
                .cancel
                .store(content.cancel_flag(), Ordering::Release);
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
        return gate::orphan_sentence();
    }
    // SAFETY: the caller's promise.
    match unsafe { biela_instance::open(instance, c"biela_last_error") } {
        Ok(handle) => gate::sentence(handle, c"biela_last_error"),
        Err(error) => {
            gate::refuse(error.into());
            gate::orphan_sentence()
        }
    }
}
