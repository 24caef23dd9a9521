//! The C boundary as far as `capi` and `fmi` share it: objects behind pointers, one call at a time, panics, checked arguments.
//!
//! ```text
//!   gate.rs      the lock of a running call; panics become errors
//!   handle.rs    an object that C holds a pointer to: recognised, locked, freed
//!   pointer.rs   arguments: NULL, alignment, length, overlap, UTF-8
//! ```
//! Nothing here depends on a component, and no C function is exported from here.

pub(crate) mod gate;
pub(crate) mod handle;
pub(crate) mod pointer;
