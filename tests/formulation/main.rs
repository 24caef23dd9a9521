//! Formulations, joints, assembly and reactions, against closed forms and against each other.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/rig.rs"]
mod rig;

mod armature;
mod assembly;
mod auto;
mod ball;
mod compare;
mod compared;
mod equilibria;
mod gimbal;
mod global;
mod hybrid;
mod joints;
mod linear_models;
mod mechanisms;
mod reactions;
mod spatial;
mod topological;
