//! Motions against references: closed forms, tables of other solvers, published results.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/sim.rs"]
mod sim;

mod gallery;
mod hybrid_reference;
mod iltis;
mod reference;
