//! Integrators on hand-written systems and models: order, error estimate, events, failures, determinism.

#[path = "../common/allocator.rs"]
mod allocator;
#[path = "../common/mod.rs"]
mod common;
#[path = "../../examples/support/stability.rs"]
mod stability;

mod closure;
mod determinism;
mod effectivity;
mod events;
mod faults;
mod interpolation;
mod order;
mod redundant;
mod restart;
mod singular;
mod systems;
mod vsa23;
mod work;
