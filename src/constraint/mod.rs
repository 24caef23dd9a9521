//! Solution of the saddle-point system of every Newton iteration and projection,
//!
//! ```text
//!   [ S   Gᵀ ] [ x ]   [ b ]
//!   [ G  −E  ] [ λ ] = [ c ]
//! ```
//!
//! with the Jacobian G of the constraints Φ(q, t) = 0 and a small regularisation E; rank and redundancy of G.

pub mod augmented_lagrangian;
mod back_substitution;
mod descriptor_form;
pub mod factorization;
pub mod matrix;
pub mod minimum_norm;
pub mod reactions;
pub mod redundancy;
pub mod refinement;
pub mod regularisation;
pub mod saddle_point;
pub mod sparsity;

#[cfg(test)]
mod tests;
