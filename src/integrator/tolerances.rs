//! Tolerances that more than one file of the integrator uses. A constant of one file stands in that file.
//!
//! Constraint residuals are |Φ_i| over the scale of the constraint and over the magnitude of the coordinates, so that they
//! compare with the rounding error 1.1e-16 of a coordinate. Residuals of linear systems are relative to the right-hand side.

/// Constraint residual at which the position closure of a step is done: a hundred rounding errors, which sums over a few
/// bodies leave.
pub(super) const STEP_CLOSURE: f64 = 2e-14;
/// Constraint residual above which a step fails. Joints open by less than 1e-11 m/m are closed for any use.
pub(super) const OPEN_AFTER_STEP: f64 = 1e-11;
/// Residual of a redundant constraint above which it is no longer redundant. Ten times [`OPEN_AFTER_STEP`]: near a singular
/// position a redundant constraint magnifies the residuals of the others.
pub(super) const REDUNDANT_RESIDUAL: f64 = 1e-10;
/// Constraint residual at which assembly is done: as closed as rounding allows.
pub(super) const ASSEMBLY_CLOSURE: f64 = 1e-14;
/// Constraint residual above which assembly has failed. Positions as written may be far away, so less is asked than of a step.
pub(super) const OPEN_AFTER_ASSEMBLY: f64 = 1e-10;

/// Residual of the velocity and acceleration projections in a step. The minimum-norm correction is of the size of the error
/// of the step, so six of its digits are far below the tolerance.
pub(super) const STEP_PROJECTION: f64 = 1e-6;
/// Residual of the velocity projection at a start, a restart and between steps, where the velocity may be far from consistent.
pub(super) const CONSISTENT_VELOCITY: f64 = 1e-12;
/// Residual of the projection of an error or of a correction onto the tangent space: three of its digits suffice.
pub(super) const TANGENT_PROJECTION: f64 = 1e-3;

/// Residual of the acceleration solve: accelerations enter a fourth-order formula.
pub(super) const ACCELERATION_RESIDUAL: f64 = 1e-12;
/// The same at a start, where nothing is known and one more refinement costs nothing: with multiplier updates light bodies beside heavy ones
/// keep digits that the norm of all does not see.
pub(super) const START_ACCELERATION_RESIDUAL: f64 = 1e-15;
/// Residual of the jerk solve: the jerk enters that formula with h²/12, so its error stays far below the tolerance.
pub(super) const JERK_RESIDUAL: f64 = 1e-8;

/// Residual of the linear system of a Newton increment: three digits keep the contraction of the iteration.
pub(super) const INCREMENT_RESIDUAL: f64 = 1e-3;
/// Refinements of a Newton increment whose matrix is unsymmetric, at most.
pub(super) const INCREMENT_REFINEMENTS: usize = 3;
/// Multiplier updates of the augmented Lagrangian in one Newton increment, at most. One suffices unless the penalty is small
/// or the position nearly singular.
pub(super) const MULTIPLIER_UPDATES: usize = 30;
