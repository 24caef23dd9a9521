//! Objects that C holds a pointer to.
//!
//! ```text
//!   pointer ── open: NULL? aligned? tag? ──> Handle ── lock: no other call? ──> Locked ──> &mut content
//! ```
//! There is never a second `&mut` to the content: the lock is one atomic exchange before the content is borrowed.

use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::ops::{Deref, DerefMut};

use super::gate::{CallLock, RunningCall};

/// An object behind a pointer. Fields are in the order written, so that the tag of any kind of handle is its first 8 bytes.
#[repr(C)]
pub(crate) struct Handle<T, S = ()> {
    /// Names the kind of handle while it is alive; 0 once freed.
    tag: u64,
    running: RunningCall,
    /// The part that may be used without the lock.
    pub shared: S,
    content: UnsafeCell<T>,
}

/// Exclusive access to the content of a handle, as long as this value lives.
pub(crate) struct Locked<'a, T> {
    _lock: CallLock<'a>,
    content: &'a UnsafeCell<T>,
}

impl<T, S> Handle<T, S> {
    /// Makes a handle of the kind `tag`.
    pub fn new(tag: [u8; 8], shared: S, content: T) -> Self {
        Self {
            tag: u64::from_be_bytes(tag),
            running: RunningCall::default(),
            shared,
            content: UnsafeCell::new(content),
        }
    }

    /// The handle behind a pointer; `None` for NULL, misaligned pointers and objects of another kind.
    ///
    /// # Safety
    /// `pointer` is NULL or points to readable memory; if its first 8 bytes are `tag`, it is a live handle of this type.
    #[inline]
    pub unsafe fn open<'a>(pointer: *const Self, tag: [u8; 8]) -> Option<&'a Self> {
        if pointer.is_null() || !pointer.is_aligned() {
            return None;
        }
        // SAFETY: not NULL, aligned; the rest is the caller's promise.
        let found = unsafe { pointer.cast::<u64>().read_volatile() };
        // SAFETY: a live handle by its tag and the caller's promise.
        (found == u64::from_be_bytes(tag)).then(|| unsafe { &*pointer })
    }

    /// Locks the content for `call`, or returns the name of the call that is running.
    #[inline]
    pub fn lock(&self, call: &'static CStr) -> Result<Locked<'_, T>, &'static CStr> {
        Ok(Locked {
            _lock: self.running.lock(call)?,
            content: &self.content,
        })
    }
}

impl<T> Deref for Locked<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock makes this the only access to the content.
        unsafe { &*self.content.get() }
    }
}

impl<T> DerefMut for Locked<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { &mut *self.content.get() }
    }
}

/// Frees a locked object. Its lock is never released: a call that comes too late finds it busy or without a tag as long as
/// the memory is not used again.
///
/// # Safety
/// `object` was made by `Box::into_raw`, begins with the handle that `locked` belongs to, and is not used any more.
pub(crate) unsafe fn free<T, P>(locked: Locked<'_, T>, object: *mut P) {
    std::mem::forget(locked);
    // SAFETY: the first field of the handle; volatile, so that the write is not removed as useless.
    unsafe { object.cast::<u64>().write_volatile(0) };
    // SAFETY: the caller's promise.
    drop(unsafe { Box::from_raw(object) });
}
