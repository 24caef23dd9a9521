//! Consistent initialisation: assembly of the initial pose, consistent velocities and accelerations, the first step size; and
//! restarts after events and input jumps.
//!
//! ```text
//!   assembly   A [dq; ·] = [0; −Φ]  repeated,   A [dv; ·] = [0; −(G v + Φ_t)],   A [q̈; λ] = [f; −γ]
//!   restart    a = q̈, δ = j at t, no previous step: the shift then gives ã = q̈ − α h j for any h
//!   jump       a += q̈ after − q̈ before; δ and the step history stay
//! ```

mod assembly;
mod initial_step;
mod restart;

pub use assembly::assemble;
