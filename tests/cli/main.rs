//! The command `biela`, and the commands and models of the README.

mod commands;
mod models;
mod readme;
