//! Biela: mechanisms as components for co-simulation.
//!
//! A mechanism (bodies, joints, springs, drives) is described in a text file. The library turns it into second-order equations
//! with constraints, integrates them with the Hilber-Hughes-Taylor method at variable step, and offers the result as an
//! [`Instance`] that other programs drive: initialise, set, step, get.
//!
//! ```no_run
//! use biela::{Instance, Result};
//!
//! fn main() -> Result<()> {
//!     let mut crank = Instance::from_file("models/slider_crank.toml".as_ref())?;
//!     let slider = crank.find("slider_x")?;
//!     crank.initialize(0.0, 2.0, 0.0)?;
//!     crank.step(0.0, 0.05)?;
//!     let mut x = [0.0];
//!     crank.get_real(&[slider], &mut x)?;
//!     println!("{} {}", crank.time(), x[0]);
//!     Ok(())
//! }
//! ```
//!
//! The same instances are driven from C (`include/biela.h`), through FMI 2.0 and 3.0, and from the command line.
//! `docs/architecture.md` describes the modules. They are public for tests, benchmarks and examples and may change; the names
//! on this page are the interface. Modules are hidden from the documentation only, so that the compiler asks for comments there.

#[cfg_attr(doc, doc(hidden))]
pub mod analysis;
#[cfg_attr(doc, doc(hidden))]
pub mod capi;
#[cfg_attr(doc, doc(hidden))]
pub mod component;
#[cfg_attr(doc, doc(hidden))]
pub mod constraint;
#[cfg_attr(doc, doc(hidden))]
pub mod error;
mod ffi;
#[cfg_attr(doc, doc(hidden))]
pub mod fmi;
#[cfg_attr(doc, doc(hidden))]
pub mod formulation;
#[cfg_attr(doc, doc(hidden))]
pub mod import;
#[cfg_attr(doc, doc(hidden))]
pub mod integrator;
#[cfg_attr(doc, doc(hidden))]
pub mod linalg;
#[cfg_attr(doc, doc(hidden))]
pub mod model;
#[cfg_attr(doc, doc(hidden))]
pub mod report;
#[cfg_attr(doc, doc(hidden))]
pub mod study;

pub use component::{
    Causality, DescriptorModel, EquilibriumReport, Extrapolation, InitialKind, Instance,
    LogCategory, LogLevel, LogMessage, Logger, Mode, Observer, SavedState, StateSpace, StepProbe,
    Variability, Variable,
};
pub use error::{Error, Result};
pub use integrator::{StartReport, Statistics};
pub use model::Model;

/// The Rust block of the README, as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
