//! The C boundary as far as `capi` and `fmi` share it: objects behind pointers, one call at a time, panics, checked arguments.
//!
//! ```text
//!   float_environment.rs   default rounding and no traps inside a call, the host's outside
//!   gate.rs      the lock of a running call; panics become errors
//!   handle.rs    an object that C holds a pointer to: recognised, locked, freed
//!   memory.rs    memory asked for before a call begins
//!   pointer.rs   arguments: NULL, alignment, length, overlap, UTF-8
//! ```
//! Nothing here depends on a component, and no C function is exported from here.

pub(crate) mod float_environment;
pub(crate) mod gate;
pub(crate) mod handle;
pub(crate) mod memory;
pub(crate) mod pointer;
