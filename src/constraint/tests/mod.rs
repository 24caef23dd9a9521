//! Saddle-point matrices of sample mechanisms, and the factorisation compared with a dense solver on them.

pub use crate::linalg::random::Random;

mod factorization;
pub mod samples;
