//! The C ABI: the functions of `include/biela.h`, each a call of [`crate::component`].
//!
//! No numerics and no decisions are here. Every exported function passes the gate (`gate.rs`), which turns a NULL or foreign
//! handle, a second caller, an error and a panic into a status and a sentence:
//! ```text
//!   C call  ->  gate: handle? running? broken?  ->  pointers checked  ->  component::Instance  ->  status + sentence
//! ```
//! The doc comments of the exported items are the C manual: cbindgen copies them into `include/biela.h`; a test compares the
//! result with the committed file.

pub mod analysis;
pub mod derivative;
pub mod error_bars;
#[cfg(feature = "fault-injection")]
pub mod fault;
mod gate;
pub mod instance;
pub mod logger;
pub mod state;
pub mod statistics;
pub mod status;
pub mod step;
pub mod system;
pub mod value;
pub mod variable;
mod versioned_struct;
