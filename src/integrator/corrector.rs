//! The two-derivative corrector: HHT as predictor, two passes of a fourth-order Hermite formula, same step size.
//!
//! ```text
//!   Dv = P[ v₀ + h/2 (q̈₀ + q̈₁) − h²/12 (j₁ − j₀) − v₁ ],                      vc = v₁ + Dv
//!   Dq = P[ log( q₁⁻¹ ∘ q₀ ∘ ( h/2 (v₀ + vc) − h²/12 (q̈₁ − q̈₀) + h²/12 [v₀, vc] ) ) ]
//!   q₁ ← q₁ ∘ Dq, closed;   v₁ ← vc, projected;   q̈₁, λ₁, j₁ from the equations
//! ```
//!
//! The corrections of both passes are the error of the HHT step, and the step size is controlled by it: e² = ‖Dq‖² + T² ‖Dv‖²
//! with T the motion time (`motion_time`). (h ‖Dv‖ would suffice for HHT itself. But where ‖Dq‖ vanishes, at the turning
//! points of an oscillation, the step would grow until the few corrected steps there dominate the error of the run. For the
//! same reason a step longer than that of an oscillation of the same amplitude grows by at most the factor e in the time 1/ω.)
//! The passes contract like (h ω)²/2. If they do not (κ > 0.2), the step is too long or the system is stiff; the method decides.
//!
//! Where the motion has been smooth for a step, the sixth-order formula of `hermite` takes the place of the one above.

use super::accelerations::InitialGuess;
use super::corrector_pass::{Pass, REGULAR_PIVOT};
use super::hermite::{HermiteWeights, SMALLEST_RATIO};
use super::hht_step::set_history;
use super::state::{State, Statistics};
use super::tolerances::{ACCELERATION_RESIDUAL, JERK_RESIDUAL, TANGENT_PROJECTION};
use super::trial::{StepFailure, Trial};
use super::workspace::{Problem, Workspace};
use crate::formulation::system::Dimensions;
use crate::linalg::elementary::{exp, hypot};
use crate::model::IntegratorName;

/// Contraction of the passes above which HHT alone is better: theory, corrector.
const STIFF: f64 = 0.2;
/// Ratio of successive corrections above which they do not contract on the smooth path; there HHT takes the step. The predictor
/// extrapolates, so the first correction has little of the motion and much of what decays fast: it contracts more slowly than the error of
/// HHT does, but it is far smaller. Corrections in the noise show their contraction if the next one is below it too.
pub(super) const CONTRACTS: f64 = 0.5;
/// Part of the tolerance that the passes of all steps in a motion time may leave of their fixed point. Left to each step instead, and
/// with velocities weighed by h, it was some tolerances in the runs of random mechanisms with strong dampers.
pub(super) const LEFT_BY_PASSES: f64 = 1e-4;
/// Further passes, at most, until no more is left.
const FURTHER_PASSES: usize = 4;
/// Corrections below this part of the tolerance are too small to measure a contraction.
const CONTRACTION_NOISE: f64 = 1e-6;
/// Corrections below this (in the error norm) are rounding errors, not a sign of stiffness.
const CORRECTION_ROUNDING: f64 = 1e-13;
/// Corrections below this (in the error norm, of coordinates of size 1) show no contraction: some fifty units in the last place. The
/// bound above is too wide for that: 10 km away no contraction was seen, and steps were longer than those that contract.
pub(super) const MEASURED_ROUNDING: f64 = 1e-14;
/// Corrections below this part of the unprojected ones may be the residual of the projection, which does not contract. They are
/// no sign of stiffness, for example where constraints and drives leave no degree of freedom.
const PROJECTION_LEFTOVER: f64 = 2.0 * TANGENT_PROJECTION;
/// Unknowns above which a pass starts from the accelerations of the pass before, and solves them only as far as the next pass
/// needs them. Small systems are solved exactly in every pass, which matters near singular positions.
const LONG: usize = 1000;
/// Largest relative residual of accelerations between the passes.
const BETWEEN_PASSES: f64 = 1e-7;

/// Vectors of the corrector and of the error estimate.
pub(super) struct ErrorVectors {
    /// Correction of the velocity or of the position, or error of the position.
    pub error: Vec<f64>,
    /// The part of an error that its projection removes, up to its sign; empty without constraints.
    pub removed: Vec<f64>,
}

impl ErrorVectors {
    pub fn new(size: &Dimensions) -> Self {
        let nv = || vec![0.0; size.nv];
        Self {
            error: nv(),
            removed: vec![0.0; if size.nc > 0 { size.nv } else { 0 }],
        }
    }
}

/// The passes of one correction.
struct Passes {
    first: Pass,
    /// The second and all further ones.
    second: Pass,
    /// ‖Dq‖ + h ‖Dv‖ of the first and the second pass.
    moved: [f64; 2],
    /// Corrections below this are rounding or leftovers of projections.
    rounding: f64,
    /// The second correction shows a contraction: it is above the noise, or the third one is smaller yet.
    shows: bool,
}

impl Passes {
    /// They do not contract, and what they leave is not rounding. NaN is no contraction.
    fn are_slow(&self) -> bool {
        let [d1, d2] = self.moved;
        !(d2 <= STIFF * d1) && !(d2 <= self.rounding)
    }

    /// Ratio of the second correction to the first; zero where they are too small to show one.
    fn contraction(&self) -> f64 {
        let [d1, d2] = self.moved;
        if self.shows { d2 / d1 } else { 0.0 }
    }
}

/// Outcome of the corrector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Correction {
    /// The trial is corrected. The error of the HHT step, and the part of it that moving constraints hide.
    Kept {
        error: f64,
        hidden: f64,
        contraction: f64,
    },
    /// The passes do not contract: the trial must be reset to the HHT result. `moved` is the correction of the first one.
    Stiff { contraction: f64, moved: f64 },
}

/// What passes leave of their fixed point, of position and velocity, in all steps of a motion time. It is damping, and adds up.
pub(super) fn left_in_motion_time(s: &State, h: f64, [dq, dv]: [f64; 2]) -> f64 {
    let time = s.motion_time.max(h);
    (dq + time * dv) * time / h
}

impl Workspace {
    /// Corrects the trial. `plain` is a copy of the HHT result, and gets its jerk. Factorises the mass matrix at the HHT result.
    pub fn correct(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        plain: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<Correction, StepFailure> {
        self.factorise_mass(p, y.t, &y.q, &y.v)?;
        let exact = [ACCELERATION_RESIDUAL, JERK_RESIDUAL];
        let rough = match self.size.nv + self.size.nc > LONG {
            true => self.between_passes(),
            false => exact,
        };
        let from = match rough != exact || y.pivot >= REGULAR_PIVOT {
            true => InitialGuess::Nearby,
            false => InitialGuess::Nothing,
        };
        // From the equations at (q₁, v₁): the accelerations of the HHT step have an O(h²) error of the index-3 form.
        self.evaluate_end(p, y, rough.map(InitialGuess::Nothing), stats)?;
        plain.jerk.copy_from_slice(&y.jerk);
        plain.jerk_known = true;
        let ratio = s.h / y.h;
        let sixth = s.previous_known
            && ratio >= SMALLEST_RATIO
            && !y.amplifies_rounding(s)
            && self.settings.integrator != IntegratorName::Hht;
        let weights = sixth.then(|| HermiteWeights::new(ratio));
        let weights = weights.as_ref();
        let guesses = [rough.map(from), exact.map(from)];
        let passes = self.passes(p, s, y, weights, guesses, stats)?;
        if passes.are_slow() {
            let [moved, next] = passes.moved;
            return Ok(Correction::Stiff {
                contraction: next / moved,
                moved,
            });
        }
        let contraction = passes.contraction();
        let Passes { first, second, .. } = passes;
        // Outputs and work are interpolated to fourth order: the error that moving constraints hide is that of this order.
        let hidden = if weights.is_some() && self.character.moving_constraints && self.size.nc > 0 {
            self.hermite_defect(p, s, y);
            self.project_error(p, s, y)?;
            self.removed_norm(p, s, y)
        } else {
            first.hidden
        };
        self.set_algorithmic_acceleration(s, y);
        set_history(s, y);
        let (omega, typical) = self.frequency_and_step(p, s, y);
        y.growth = (typical / y.h).max(exp(y.h * omega));
        // The corrections of both passes together are the error of the HHT step.
        let (dq, dv) = (first.dq + second.dq, first.dv + second.dv);
        self.set_motion_time(p, s, y, omega);
        Ok(Correction::Kept {
            error: hypot(dq, dv * self.velocity_weight(s, y, omega)),
            hidden,
            contraction,
        })
    }

    /// Passes until what they leave of their fixed point is far below the tolerance: two, more where they contract slowly.
    /// `guesses` are those of accelerations and jerks in the first pass and in the others.
    fn passes(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        weights: Option<&HermiteWeights>,
        guesses: [[InitialGuess; 2]; 2],
        stats: &mut Statistics,
    ) -> Result<Passes, StepFailure> {
        let first = self.pass(p, s, y, weights, guesses[0], stats)?;
        let mut second = self.pass(p, s, y, weights, guesses[1], stats)?;
        let [d1, d2] = [&first, &second].map(|pass| pass.dq + y.h * pass.dv);
        let mut third = f64::INFINITY;
        if d2 <= STIFF * d1 && self.control.fixed().is_none() {
            let contraction = d2 / d1;
            let mut left = contraction * left_in_motion_time(s, y.h, [second.dq, second.dv]);
            let mut count = 0;
            while left > LEFT_BY_PASSES * self.settings.tolerance && count < FURTHER_PASSES {
                let further = self.pass(p, s, y, weights, guesses[1], stats)?;
                if count == 0 {
                    third = further.dq + y.h * further.dv;
                }
                (second.dq, second.dv) = (second.dq + further.dq, second.dv + further.dv);
                left = contraction * left_in_motion_time(s, y.h, [further.dq, further.dv]);
                count += 1;
            }
        }
        let magnitude = p.system.coordinate_magnitude(&y.q);
        let leftover = PROJECTION_LEFTOVER * second.unprojected;
        let noise = (leftover.max(MEASURED_ROUNDING * magnitude))
            .max(CONTRACTION_NOISE * self.settings.tolerance);
        Ok(Passes {
            first,
            second,
            moved: [d1, d2],
            rounding: leftover.max(CORRECTION_ROUNDING * magnitude),
            shows: !(d2 <= noise) || third <= CONTRACTS * d2,
        })
    }

    /// Residuals of accelerations and jerks that only the next pass uses. It multiplies them by h/2 and h²/12, far below the
    /// tolerance.
    fn between_passes(&self) -> [f64; 2] {
        let tol = (1e-4 * self.settings.tolerance).clamp(ACCELERATION_RESIDUAL, BETWEEN_PASSES);
        [tol, (10.0 * tol).max(JERK_RESIDUAL)]
    }
}
