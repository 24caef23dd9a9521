//! Force elements, one file each.
//!
//! A force along one relative coordinate c(q) of two bodies is a [`ScalarLaw`]; [`along_coordinate`] makes an element of it:
//!
//! ```text
//!   f = −F(c, ċ) g,      −∂f/∂v = F_ċ g gᵀ,      −∂f/∂q = g (F_c g + F_ċ Hᵀ v)ᵀ + F H,      g = ∂c/∂q,  H = ∂g/∂q
//! ```
//!
//! with F positive in tension. A force and a couple between two bodies is a [`spatial_force::SpatialForce`], written over scalars
//! that carry their derivatives ([`dual`]). Anything else implements [`ForceElement`] directly.
//!
//! Kinks and jumps of a law are events. An element has discrete modes, constant during a step; in each mode its law is smooth.
//!
//! A new element is a file in this directory with `impl ScalarLaw` or `impl SpatialForce`, its `mod` line here and one arm in
//! [`build`]; the model needs its kind in `model::ForceKind` and its keys in `model/file/force`. Formulations, events, energies
//! and quantities need no change.

pub mod actuator;
mod along_coordinate;
pub mod beam;
pub mod body_frame;
mod build;
mod build_joint;
pub mod bushing;
pub mod contact;
pub mod dual;
mod element;
pub mod force_law;
pub mod friction;
pub mod gravity;
pub mod group;
pub mod joint_limit;
pub mod knot;
pub mod load;
mod member_run;
pub mod pid;
pub mod rigid_contact;
pub mod rigid_contact_geometry;
pub mod rigid_friction;
pub mod servo;
pub mod spatial_force;
pub mod spring_damper;
pub mod tyre;
pub mod unilateral;

pub use build::{ConstraintList, ForceBuildContext, build};
pub use build_joint::{JointForce, joint_forces};
pub use element::{
    EventCounts, ForceElement, ForceGeometry, ForceQuantities, ScalarForce, ScalarLaw,
};
