//! What must not allocate does not. The counter is one for each thread, so tests may run side by side.

#[path = "../common/allocator.rs"]
mod allocator;
#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code)]
#[path = "../../src/constraint/tests/samples.rs"]
mod samples;
use biela::linalg::random::Random;

mod component;
mod integrator;
mod linalg;
