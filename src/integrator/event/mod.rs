//! Events: zero crossings of the event functions φ, located inside a step, handled at their time, and the motion restarted.
//!
//! ```text
//!   detect    bounds of φ on the dense output of an accepted step exclude a crossing, or the first one is found
//!   locate    repeat the step with h* = root h, then h* −= φ/φ' until the motion in the time left is below the tolerance
//!   handle    modes change, impacts are solved, accelerations and jerk are computed in the new modes
//! ```
//!
//! Two crossings of a step that begins and ends on the same side are found too. A located event lies on the far
//! side of φ = 0 or on it, never before it: so the motion crosses again only if it really turns back, and a system that
//! switches between two modes without progress in time is recognised as chattering.
//!
//! Three kinds of events occur without a step: φ has changed its side by a jump of the inputs; φ is zero or on its far side
//! at the start and does not return; an event becomes active in a new mode while φ is there and does not return.

mod complementarity;
mod cone_problem;
mod contact_set;
mod crossing;
mod dense_output;
mod detection;
mod friction_decision;
mod handling;
mod impact;
mod location;
mod search;
mod time_stepping;
mod touching_friction;
mod wedging;

pub(super) use contact_set::ContactSet;
pub(super) use detection::{EventDetector, LocatedEvent};
pub(super) use impact::ImpactSolver;

/// Sum of products.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
