//! `biela explain`: what a key of the model file or a quantity means.

use crate::Failure;
use crate::output;

/// Prints the meaning of a word.
pub fn explain(word: &str) -> Result<(), Failure> {
    let text = biela::model::explain(word).map_err(Failure::Input)?;
    output::print(&text)
}
