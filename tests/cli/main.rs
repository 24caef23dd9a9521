//! The command `biela`, and the commands and models of the README.

#[path = "../common/host.rs"]
mod host;

mod analysis;
mod commands;
mod documents;
mod error_bars;
mod habits;
mod models;
mod program;
mod python_package;
mod readme;
mod sweep;
