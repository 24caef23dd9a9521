//! The command `biela`, and the commands and models of the README.

mod commands;
mod documents;
mod habits;
mod models;
mod readme;
