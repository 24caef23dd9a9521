//! How the constraints Φ = 0 are held: the saddle-point matrix of every Newton step and projection,
//!
//! ```text
//!   [ S   Gᵀ ] [ x ]   [ b ]
//!   [ G  −E  ] [ λ ] = [ c ]
//! ```
//!
//! and what its constraint rows tell about each other.

pub mod augmented;
pub mod lifted;
mod matrix;
pub mod multipliers;
pub mod projection;
pub mod reach;
pub mod reactions;
pub mod redundancy;

#[cfg(test)]
mod samples;
