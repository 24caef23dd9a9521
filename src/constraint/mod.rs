//! How the constraints Φ = 0 are held: the saddle-point matrix of every Newton step and projection,
//!
//! ```text
//!   [ S   Gᵀ ] [ x ]   [ b ]
//!   [ G  −E  ] [ λ ] = [ c ]
//! ```
//!
//! and what its constraint rows tell about each other.

pub mod augmented_lagrangian;
pub mod descriptor_form;
pub mod factorization;
mod matrix;
pub mod minimum_norm;
pub mod reactions;
pub mod redundancy;
pub mod saddle_point;

#[cfg(test)]
mod samples;
