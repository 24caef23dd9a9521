//! Small dense and sparse linear algebra, known by all layers, knowing none.

pub mod csr;
pub mod dense;
pub mod lu;
pub mod matrix_market;
pub mod norm;
pub mod order;
pub mod so3;
pub mod sparse;
