//! Force elements, their derivatives, contacts and impacts.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/sim.rs"]
mod sim;

mod beams;
mod closed_forms;
mod contact_laws;
mod contacts;
mod couplings;
mod force_derivatives;
mod forces;
mod impacts;
mod pid;
mod scenes;
mod servo;
mod stiction;
mod throws;
