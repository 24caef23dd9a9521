//! Small dense and sparse linear algebra, known by all layers, knowing none.

pub mod csr;
pub mod dense_lu;
pub mod matrix_market;
pub mod norm;
pub mod ordering;
pub mod random;
pub mod rotation;
pub mod sparse_ldl;
pub mod sparse_lu;
