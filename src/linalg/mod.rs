//! Small dense and sparse linear algebra, known by all layers, knowing none.

pub mod dense;
pub mod lu;
pub mod norm;
pub mod order;
pub mod sparse;
