//! The two-derivative corrector: HHT as predictor, two passes of a fourth-order Hermite formula, same step size.
//!
//! ```text
//!   Dv = P[ v₀ + h/2 (q̈₀ + q̈₁) − h²/12 (j₁ − j₀) − v₁ ],                      vc = v₁ + Dv
//!   Dq = P[ log( q₁⁻¹ ∘ q₀ ∘ ( h/2 (v₀ + vc) − h²/12 (q̈₁ − q̈₀) + h²/12 [v₀, vc] ) ) ]
//!   q₁ ← q₁ ∘ Dq, closed;   v₁ ← vc, projected;   q̈₁, λ₁, j₁ from the equations
//! ```
//!
//! What the passes move is the error of the HHT step, and the step size is controlled by it: e² = ‖Dq‖² + ‖Dv‖²/ω² with ω
//! the frequency at which the motion changes. (h ‖Dv‖ would do for HHT itself; but where ‖Dq‖ vanishes, at the turning
//! points of a swing, it lets the step grow until the few corrected steps there are the whole error of the run. For the
//! same reason a step beyond that of an oscillation of the same size grows no faster than the motion changes, by e in the
//! time 1/ω.) The passes contract like (h ω)²/2; where they do not (κ > 0.2) the system is stiff at this step and the HHT
//! result is kept.

use super::accelerations::InitialGuess;
use super::closure::{ClosureMatrix, ClosureOptions};
use super::hht_step::remember;
use super::state::{State, Statistics};
use super::tolerances::{
    ACCELERATION_RESIDUAL, JERK_RESIDUAL, OPEN_AFTER_STEP, REDUNDANT_RESIDUAL, STEP_CLOSURE,
    STEP_PROJECTION, TANGENT_PROJECTION,
};
use super::workspace::{Culprit, Problem, StepFailure, Trial, Workspace};

/// Contraction of the passes above which HHT alone is better: theory, corrector.
const STIFF: f64 = 0.2;
/// Corrections below this (in the error norm) are rounding and say nothing about stiffness.
const CORRECTION_ROUNDING: f64 = 1e-13;
/// Corrections below this part of what was projected may be the rest of the projection, which does not contract: where constraints
/// and drives leave nothing free they say nothing about stiffness.
const LEFT_OVER: f64 = 2.0 * TANGENT_PROJECTION;
/// Unknowns above which a pass begins with what the one before has found and leaves what the next one finds. Small systems are solved
/// exactly in every pass: where steps end close to a singular position the rest would show.
const LONG: usize = 1000;
/// Largest residual of accelerations between the passes, relative.
const IN_BETWEEN: f64 = 1e-7;
/// Closes the position after each pass, in the metric of M. Two corrections suffice at the tolerances of a mechanism, a very
/// long step needs more.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: STEP_CLOSURE,
    redundant_target: Some(REDUNDANT_RESIDUAL),
    give_up_above: OPEN_AFTER_STEP,
    stall_ratio: 0.5,
    patience: 0,
    limit: 10,
    matrix: ClosureMatrix::Mass,
};

/// What one pass has moved: ‖Dq‖, ‖Dv‖.
struct Pass {
    dq: f64,
    dv: f64,
    /// ‖Dq‖ + h ‖Dv‖ before they were projected.
    raw: f64,
    /// ‖Dq − P Dq‖ where constraints move.
    hidden: f64,
}

/// Outcome of the corrector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Correction {
    /// The trial is corrected; the error of the HHT step it came from, and what moving constraints hid of it.
    Kept { error: f64, hidden: f64 },
    /// The passes do not contract: the trial must be put back to plain HHT.
    Stiff,
}

impl Workspace {
    /// Corrects the trial; `plain` holds a copy of it and learns the jerk. `mass` is factorised here, at the HHT point.
    pub fn correct(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        plain: &mut Trial,
        stats: &mut Statistics,
    ) -> Result<Correction, StepFailure> {
        self.factorise_mass(p, y.t, &y.q, &y.v)?;
        // Of the equations at (q₁, v₁): the stage's own accelerations carry an O(h²) error of the index-3 form.
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        let exact = [ACCELERATION_RESIDUAL, JERK_RESIDUAL];
        let (rough, from): (_, fn(f64) -> InitialGuess) = match self.size.nv + self.size.nc > LONG {
            true => (self.in_between(), InitialGuess::Nearly),
            false => (exact, InitialGuess::Nothing),
        };
        self.accelerations_from(
            p,
            *t,
            (q, v),
            InitialGuess::Nothing(rough[0]),
            (acc, lambda),
            stats,
        )?;
        self.end_jerk(p, y, InitialGuess::Nothing(rough[1]), stats)?;
        plain.jerk.copy_from_slice(&y.jerk);
        plain.jerk_known = true;
        let first = self.pass(p, s, y, rough.map(from), stats)?;
        let second = self.pass(p, s, y, exact.map(from), stats)?;
        let [d1, d2] = [&first, &second].map(|pass| pass.dq + y.h * pass.dv);
        let unknown =
            (CORRECTION_ROUNDING * p.system.coordinate_magnitude(&y.q)).max(LEFT_OVER * second.raw);
        if !(d2 <= STIFF * d1) && !(d2 <= unknown) {
            return Ok(Correction::Stiff);
        }
        let alpha = self.method.alpha;
        for i in 0..y.a.len() {
            y.a[i] = (1.0 - alpha) * y.acc[i] + alpha * s.acc[i];
        }
        remember(s, y);
        let (omega, typical) = self.time_scale(p, s, y);
        y.growth = (typical / y.h).max((y.h * omega).exp());
        // What both passes moved together is the error of the HHT step.
        let (dq, dv) = (first.dq + second.dq, first.dv + second.dv);
        Ok(Correction::Kept {
            error: dq.hypot(dv / omega),
            hidden: first.hidden,
        })
    }

    /// Residuals of accelerations and jerks that only the next pass looks at: what it takes over of them, h/2 and h²/12 times as
    /// much, is far below the tolerance.
    fn in_between(&self) -> [f64; 2] {
        let tol = (1e-4 * self.settings.tolerance).clamp(ACCELERATION_RESIDUAL, IN_BETWEEN);
        [tol, (10.0 * tol).max(JERK_RESIDUAL)]
    }

    /// The frequency ω at which the motion changes, from its derivatives ‖v‖, ‖q̈‖, ‖j‖ and ‖j'‖ at the end of the step,
    /// and the step that an oscillation of this frequency and size would take:
    /// ```text
    ///   ω⁴ (‖q̈‖² + ω² ‖v‖²) = ‖j'‖² + ω² ‖j‖²,   A² = ‖v‖²/ω² + ‖q̈‖²/ω⁴,   Cq (h ω)³ A = tolerance
    /// ```
    /// Both are exact for an oscillation in every phase. ω is not above 1/h.
    fn time_scale(&mut self, p: &Problem, s: &State, y: &Trial) -> (f64, f64) {
        let cx = self.inputs.at(p, y.t);
        let snap = &mut self.scratch.v[0];
        for i in 0..snap.len() {
            snap[i] = (y.jerk[i] - s.jerk[i]) / y.h;
        }
        let square = |x: &[f64]| p.system.norm(&cx, &y.q, &s.scale, x).powi(2);
        let (v, a, j, k) = (
            square(&y.v),
            square(&y.acc),
            square(&y.jerk),
            square(&self.scratch.v[0]),
        );
        // x = ω²: the left side grows faster than the right one, so bisection on a logarithmic scale finds the root.
        let (mut low, mut high) = (1e-12 / (y.h * y.h), 1.0 / (y.h * y.h));
        if !(high * high * (a + high * v) > k + high * j) {
            return (1.0 / y.h, y.h);
        }
        for _ in 0..20 {
            let x = (low * high).sqrt();
            if x * x * (a + x * v) < k + x * j {
                low = x;
            } else {
                high = x;
            }
        }
        let omega = high.sqrt();
        let amplitude = (v / high + a / (high * high)).sqrt();
        (
            omega,
            (self.settings.tolerance / (self.method.cq * amplitude)).cbrt() / omega,
        )
    }

    /// j₁ and dλ/dt at the end of the trial, from what is known of them.
    pub fn end_jerk(
        &mut self,
        p: &Problem,
        y: &mut Trial,
        known: InitialGuess,
        stats: &mut Statistics,
    ) -> Result<(), StepFailure> {
        let Trial {
            t,
            h,
            q,
            v,
            acc,
            lambda,
            jerk,
            lambda_dot,
            ..
        } = y;
        let there = (&**q, &**v, &**acc, &**lambda);
        self.jerk(p, *t, *h, there, known, jerk, lambda_dot, stats)
    }

    /// One pass; `known` is what the accelerations and jerks it ends with begin from, and the residuals they leave.
    fn pass(
        &mut self,
        p: &Problem,
        s: &State,
        y: &mut Trial,
        known: [InitialGuess; 2],
        stats: &mut Statistics,
    ) -> Result<Pass, StepFailure> {
        let h = y.h;
        let h12 = h * h / 12.0;
        // Velocity first: with the position first the passes amplify every oscillation.
        for i in 0..y.v.len() {
            self.scratch.v[0][i] =
                s.v[i] + 0.5 * h * (s.acc[i] + y.acc[i]) - h12 * (y.jerk[i] - s.jerk[i]) - y.v[i];
        }
        let raw_v = self.norm_of_first(p, s, y)?;
        self.onto_tangent();
        let dv = self.norm_of_first(p, s, y)?;
        for i in 0..y.v.len() {
            y.v[i] += self.scratch.v[0][i];
        }
        self.hermite_defect(p, s, y);
        let raw_q = self.norm_of_first(p, s, y)?;
        self.onto_tangent();
        let dq = self.norm_of_first(p, s, y)?;
        let hidden = self.hidden(p, s, y);
        p.system
            .retract(&y.q, &self.scratch.v[0], &mut self.scratch.q);
        y.q.copy_from_slice(&self.scratch.q);
        if self.size.nc > 0 {
            let closed = self
                .close_position(p, y.t, &mut y.q, &y.v, &CLOSURE, &mut [])
                .map_err(|failure| failure.of_step(OPEN_AFTER_STEP))?;
            y.redundant_residual = closed.redundant_residual;
        }
        {
            let cx = self.inputs.at(p, y.t);
            self.mass_matrix
                .load_mass(&self.sparsity, p.system, &cx, &y.q, &y.v)?;
        }
        if self.size.nc > 0 {
            self.fit(p, y.t, &y.q, &mut y.v, STEP_PROJECTION);
        }
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            ..
        } = &mut *y;
        self.accelerations_from(p, *t, (q, v), known[0], (acc, lambda), stats)?;
        self.end_jerk(p, y, known[1], stats)?;
        Ok(Pass {
            dq,
            dv,
            raw: raw_q + h * raw_v,
            hidden,
        })
    }

    /// v[0] := log( q₁⁻¹ ∘ q₀ ∘ ( h/2 (v₀ + v₁) − h²/12 (q̈₁ − q̈₀) + h²/12 [v₀, v₁] ) ): how far the trial's end is from the
    /// Hermite formula on its ends.
    pub fn hermite_defect(&mut self, p: &Problem, s: &State, y: &Trial) {
        let h12 = y.h * y.h / 12.0;
        let [w, target, ..] = &mut self.scratch.v;
        if self.character.rotations {
            p.system.bracket(&s.v, &y.v, w);
        } else {
            w.fill(0.0);
        }
        for i in 0..w.len() {
            w[i] = 0.5 * y.h * (s.v[i] + y.v[i]) - h12 * (y.acc[i] - s.acc[i] - w[i]);
        }
        p.system.retract(&s.q, w, &mut self.scratch.q);
        p.system.difference(&y.q, &self.scratch.q, target);
        w.copy_from_slice(target);
    }

    /// Norm of v[1], what a projection has just taken away, where constraints move.
    pub fn hidden(&mut self, p: &Problem, s: &State, y: &Trial) -> f64 {
        if !self.character.moving_constraints {
            return 0.0;
        }
        let cx = self.inputs.at(p, y.t);
        p.system.norm(&cx, &y.q, &s.scale, &self.scratch.v[1])
    }

    /// v[0] := P v[0]
    fn onto_tangent(&mut self) {
        if self.size.nc == 0 {
            return;
        }
        let [e, de, ..] = &mut self.scratch.v;
        let [r, mu, _] = &mut self.scratch.c;
        self.mass_matrix.jacobian_times(&self.sparsity, e, r);
        for r in r.iter_mut() {
            *r = -*r;
        }
        self.mass_matrix.minimum_norm_correction_here(
            &self.sparsity,
            r,
            &[],
            TANGENT_PROJECTION,
            de,
            mu,
            &mut self.counts,
        );
        for i in 0..e.len() {
            e[i] += de[i];
        }
    }

    /// Norm of v[0]; an infinite or undefined one refuses the step.
    fn norm_of_first(&mut self, p: &Problem, s: &State, y: &Trial) -> Result<f64, StepFailure> {
        let cx = self.inputs.at(p, y.t);
        let e = &self.scratch.v[0];
        let norm = p.system.norm(&cx, &y.q, &s.scale, e);
        if norm.is_finite() {
            Ok(norm)
        } else {
            Err(StepFailure::NotFinite(Culprit::Coordinate(
                super::newton::largest(e),
            )))
        }
    }
}
