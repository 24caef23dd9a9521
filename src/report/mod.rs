//! The report page: one HTML file that shows a run. Mechanism, outputs, steps, energy, statistics, model text.
//!
//! ```text
//!   Instance ── Recording (an observer of the run) ──> Report ──> ReportData ──> page
//! ```
//!
//! The page needs no network and no other file: its scripts and styles are in `assets`, its data are columns (`columns`) in
//! one deflate stream. The same run gives the same bytes; measured times stand in an element of their own.

mod columns;
mod failure;
mod figure;
mod gltf;
mod mode_recording;
mod page;
mod picture;
mod recording;
mod scene;
mod summary;

pub use crate::model::mesh_file::mesh_warnings;
pub use failure::{FailureReport, advice};
pub use gltf::glb;
pub use mode_recording::SECONDS_PER_MODE;
pub use page::{Measured, ReportData};
pub use picture::{Pictures, curves_png};
pub use recording::{Recording, RowSchedule, StepMethod, Watched};
pub use summary::Report;
