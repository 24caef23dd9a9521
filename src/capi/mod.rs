//! The C boundary: `include/biela.h` translated to [`crate::component`], and nothing else.
//!
//! No numerics and no decisions live here. Every exported function goes through one gate (`gate.rs`), which turns a NULL or
//! foreign handle, a second caller, an error and a panic into a status and a sentence:
//! ```text
//!   C call  ->  gate: handle? free? sound?  ->  pointers checked  ->  component::Instance  ->  status + sentence
//! ```
//! The doc comments of the exported items are the C manual: cbindgen copies them into the header, where `tests/capi/header.rs`
//! compares them with the committed file.

pub mod derivative;
#[cfg(feature = "fault-injection")]
pub mod fault;
pub(crate) mod gate;
pub mod instance;
pub mod logger;
pub(crate) mod pointer;
pub mod state;
pub mod statistics;
pub mod status;
pub mod step;
pub mod system;
pub mod value;
pub mod variable;
