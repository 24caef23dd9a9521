//! Dense and sparse linear algebra, rotations, norms, interpolation and random numbers. Imports no other module of the crate.

pub mod csr;
pub mod dense_lu;
pub mod elementary;
pub mod interpolation;
pub mod least_squares;
pub mod matrix_market;
pub mod norm;
pub mod ordering;
pub mod random;
pub mod rotation;
pub mod sorting;
pub mod sparse_ldl;
pub mod sparse_lu;
pub mod symbolic_ldl;
