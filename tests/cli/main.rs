//! The command `biela`, and the commands and models of the README.

#[path = "../common/host.rs"]
mod host;

mod analysis;
mod commands;
mod documents;
mod habits;
mod models;
mod program;
mod readme;
mod sweep;
