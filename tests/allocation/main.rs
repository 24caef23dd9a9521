//! What must not allocate does not. The counter is one for each thread, so tests may run side by side.

#[path = "../common/allocator.rs"]
mod allocator;
#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code)]
#[path = "../../src/constraint/samples.rs"]
mod samples;

mod component;
mod integrator;
mod linalg;
