//! A system that was built from a model: its initial state, and its quantities by name.

use super::system::{EvaluationContext, MotionPoint, System};
use crate::model::quantity::Quantity;

/// A system with an initial state and quantities that can be read by name.
pub trait Mechanism: System {
    /// Body coordinates in which the initial configuration is assembled, if these are not the coordinates of the system.
    fn body_assembly(&self) -> Option<&dyn BodyAssembly> {
        None
    }

    /// Initial configuration and velocities as written in the model, before assembly.
    fn initial_state(&self, q: &mut [f64], v: &mut [f64]);

    /// Value of a quantity of a body, sensor, joint or force (NaN for those that the component evaluates).
    fn evaluate(&self, cx: &EvaluationContext, quantity: Quantity, at: &MotionPoint) -> f64;

    /// Evaluates many quantities at one point; those of the component are NaN.
    fn evaluate_all(
        &self,
        cx: &EvaluationContext,
        quantities: &[Quantity],
        at: &MotionPoint,
        values: &mut [f64],
    ) {
        for (quantity, value) in quantities.iter().zip(values) {
            *value = match quantity {
                Quantity::Energy(_) | Quantity::Solver(_) | Quantity::Time => f64::NAN,
                _ => self.evaluate(cx, *quantity, at),
            };
        }
    }
}

/// Assembly in body coordinates, in which the model is written, for a system in other coordinates.
pub trait BodyAssembly: Send + Sync {
    /// The bodies in absolute coordinates.
    fn bodies(&self) -> &dyn Mechanism;

    /// Computes coordinates and velocities from poses and velocities of the bodies. Returns the name of a joint whose coordinate
    /// is not defined there, if there is one.
    fn coordinates_from_bodies(
        &self,
        poses: &[f64],
        velocities: &[f64],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Option<String>;
}
