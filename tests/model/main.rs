//! Model files: what is read, what is refused and with which sentence, units, models given by matrices.

#[path = "../common/mod.rs"]
mod common;

mod broken;
mod broken_forces;
mod manual;
mod mistakes;
mod system;
mod units;
