//! FMI 2.0 and 3.0: calls, archives, and the units in the hands of other masters.
#![cfg(unix)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/host.rs"]
mod host;

mod beams;
mod calls;
mod equilibrium;
mod events;
mod fmi_host;
mod laws;
mod masters;
mod package;
