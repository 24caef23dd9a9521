//! Motions against references: closed forms, tables of other solvers, published results.

#[path = "../common/campaign/mod.rs"]
mod campaign;
#[path = "../common/mod.rs"]
mod common;
#[path = "../../src/bin/biela/cpu_time.rs"]
mod cpu_time;
#[path = "../common/sim.rs"]
mod sim;

mod beam_systems;
mod beams;
mod defects;
mod error_bars;
mod four_bar_scan;
mod gallery;
mod hybrid_reference;
mod iltis;
mod invariance;
mod random_campaign;
mod random_modes;
mod reference;
mod rows;
mod smooth;
