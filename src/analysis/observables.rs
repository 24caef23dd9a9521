//! Functions of a motion that an analysis needs and the equations do not know: coordinates with a meaning, and outputs.
//!
//! A minimal coordinate y is given by its rate s(q, v) = g(q) v + drift and by ṡ(q, v, a). A perturbation w has y = g w. If y is
//! the change of a function of q, its derivative is the change of s. If three of them are a rotation vector θ of the perturbed
//! body seen from the unperturbed one, with s = ω in the same axes,
//!
//! ```text
//!   θ̇ = δω + ω × θ,      θ̈ = δω̇ + ω̇ × θ + ω × θ̇
//! ```

use crate::formulation::system::{EvaluationContext, MotionPoint};

/// Kind of a minimal coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinimalCoordinateKind {
    /// The change of a function of q.
    Holonomic,
    /// Component 0, 1 or 2 of a rotation vector; the three are neighbours.
    Rotation(usize),
}

/// Coordinates and outputs of a mechanism, evaluated at any point of a motion.
pub trait Observables {
    /// Kinds of the coordinates from which the minimal ones are chosen, the preferred ones first.
    fn kinds(&self) -> &[MinimalCoordinateKind];

    /// Number of coordinates in front that are tried before the others are evaluated.
    fn preferred(&self) -> usize;

    /// s and ṡ of the coordinates `which`, at their indices.
    fn coordinate_motion(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        which: &[usize],
        motion: (&mut [f64], &mut [f64]),
    );

    /// Number of outputs.
    fn output_count(&self) -> usize;

    /// The outputs.
    fn outputs(&self, cx: &EvaluationContext, at: &MotionPoint, out: &mut [f64]);
}
