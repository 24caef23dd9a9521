//! The C interface as programs outside this process get it: header, symbols, shared and static library, installation.
//!
//! Tests that call the C functions inside this process belong into `component`: the first such call installs the library's
//! panic hook, and `loading` tests that first call.

#[path = "../common/host.rs"]
mod host;

mod c_abi;
mod examples;
mod header;
mod install;
mod loading;
mod portable;
mod symbols;
