//! `biela schema`: the JSON Schema of the model file, for editors and other programs.

use crate::Failure;
use crate::output;

/// Prints the schema.
pub fn schema() -> Result<(), Failure> {
    output::print(&format!("{:#}\n", biela::model::schema()))
}
