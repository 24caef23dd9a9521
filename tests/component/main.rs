//! The co-simulation component inside this process, from Rust and through the C functions.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/host.rs"]
mod host;

mod boundary;
mod callbacks;
mod coupling;
mod determinism;
mod dressed;
mod error_bars;
mod fuzz_corpus;
mod interface;
mod life;
mod look_ahead;
mod random_calls;
mod rollback;
mod threads;
