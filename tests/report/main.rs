//! The report page of `biela run --report`: what stands in the file, and what a real browser makes of it.

mod browser;
mod driver;
mod failures;
mod file;
mod fmu;
mod rows;
mod support;
