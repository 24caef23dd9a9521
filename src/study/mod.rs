//! Runs of a model from its start to its stop: one, or a thousand with other numbers.
//!
//! ```text
//!   Factor (a name and its values) ── Plan (run -> values) ── Sweep (threads over one model) ──> Row ──> table
//! ```
//!
//! A row depends on the model, the plan and its number alone. So the rows are the same bits for any number of threads, in any
//! part of a plan, and on any machine that runs this library.

mod accuracy;
mod extremes;
mod factor;
mod inverse_normal;
pub mod parquet_table;
mod plan;
mod row;
mod set_value;
mod simulate;
mod sobol;
mod sweep;
mod table;
mod thrift;
mod time_grid;

pub use accuracy::AccuracySearch;
pub use factor::Factor;
pub use plan::{Plan, PlanKind};
pub use row::{RunOutcome, RunPlan};
pub use set_value::SetValue;
pub use simulate::advance;
pub use sweep::{Sweep, SweepSettings};
pub use table::{Cell, CellKind, Column, TableNotes, csv_field, csv_line, csv_records, read_row};
pub use time_grid::TimeGrid;
