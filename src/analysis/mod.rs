//! Analysis of a system at a point of its motion, beside the integrator: linear models, modes, static equilibrium.
//!
//! ```text
//!   M δa + C δv + K w + (Gᵀ − D) δλ = f_u δu      C = −∂f/∂v,   K = ∂(M a − f + Gᵀλ)/∂q
//!   G w + Φ_u δu = 0                              q → q ∘ w,    ẇ = δv − [v, w]
//! ```
//!
//! Read [`linearization`] first. Systems are seen through their traits only: there are no bodies and no files here.

pub mod arnoldi;
mod coordinates;
mod dense;
pub mod descriptor;
pub mod equilibrium;
mod equilibrium_integrals;
mod equilibrium_modes;
mod equilibrium_step;
pub mod lanczos;
pub mod linearization;
pub mod matrices;
pub mod modes;
pub mod null_space;
pub mod observables;
mod perturbation;
mod response;
mod saddle;
mod selection;
mod singular_position;
pub mod sparse_equilibrium;
pub mod sparse_point;
mod spectrum;

pub use arnoldi::{DampedMode, lowest_damped_modes};
pub use descriptor::DescriptorModel;
pub use equilibrium::{Equilibrium, EquilibriumSolver};
pub use lanczos::{RealMode, lowest_modes};
pub use linearization::{InputDirection, LinearModel, Linearizer, OperatingPoint};
pub use modes::{Eigenmode, SecondOrderSystem};
pub use observables::{MinimalCoordinateKind, Observables};
pub use sparse_equilibrium::SparseEquilibriumSearch;
