//! Biela: mechanisms as components for co-simulation.
//!
//! A mechanism (bodies, joints, springs, drives) is described in a text file; the library turns it into
//! second-order equations with constraints, solves them with the Hilber-Hughes-Taylor method at variable step,
//! and offers the result as an instance that other programs drive with init / set / step / get.
//!
//! The layers, each knowing only those above it: [`model`] → [`formulation`] → [`constraint`] → [`integrator`] →
//! [`component`] → the C ABI (`include/biela.h`), FMI ([`fmi`]) and the
//! command line. `docs/architecture.md` has the whole picture.

pub mod capi;
pub mod component;
pub mod constraint;
pub mod error;
pub mod fmi;
pub mod formulation;
pub mod integrator;
pub mod linalg;
pub mod model;
pub mod report;

pub use error::{Error, Result};
