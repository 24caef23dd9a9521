//! A consistent point: the pose assembled by least motion in the mass metric, velocities and accelerations that fit the
//! constraints, the jerk, and the first step size. Also what happens when inputs jump.
//!
//! ```text
//!   A [dq; ·] = [0; −Φ]  repeated,   A [dv; ·] = [0; −(G v + Φ_t)],   A [q̈; λ] = [f; −γ]
//!   restart    a = q̈, δ = j at t, no previous step: the shift then gives ã = q̈ − α h j for any h
//!   jump       a += q̈ new − q̈ old; δ and the step history stay
//! ```

use super::accelerations::InitialGuess;
use super::closure::{ClosureFailure, ClosureMatrix, ClosureOptions};
use super::singular_accelerations::SingularPoint;
use super::state::{Sample, StartReport, State, Statistics};
use super::tolerances::{
    ASSEMBLY_CLOSURE, CONSISTENT_VELOCITY, JERK_RESIDUAL, OPEN_AFTER_ASSEMBLY,
};
use super::workspace::{Problem, StepFailure, Trial, Workspace};
use super::{Environment, Integrator};
use crate::constraint::factorization::Backend;
use crate::error::{Error, Result};
use crate::formulation::Mechanism;
use crate::formulation::system::System;
use crate::model::Corrector;

/// Closes the initial pose: it may be far away, so a correction may fail to improve it now and then.
const ASSEMBLY: ClosureOptions = ClosureOptions {
    target: ASSEMBLY_CLOSURE,
    redundant_target: None,
    give_up_above: OPEN_AFTER_ASSEMBLY,
    stall_ratio: 0.9,
    patience: 8,
    limit: 59,
    matrix: ClosureMatrix::RefactoredMass,
};
/// Closes a position near a closed one.
const REASSEMBLY: ClosureOptions = ClosureOptions {
    patience: 0,
    ..ASSEMBLY
};
/// Velocities taken at random that look for motion, and the part of them below which there is none.
const PROBES: usize = 2;
const HELD: f64 = 1e-8;
impl Integrator {
    /// Assembles the pose, makes velocities and accelerations consistent, chooses the first step size.
    pub fn start(
        &mut self,
        system: &dyn System,
        env: &Environment,
        t: f64,
        q: &[f64],
        v: &[f64],
        state: &mut State,
    ) -> Result<StartReport> {
        let size = self.work.size;
        let mut fresh = State {
            t,
            first: true,
            may_grow: true,
            newton_contraction: f64::INFINITY,
            statistics: Statistics {
                smallest_step: f64::INFINITY,
                ..Statistics::default()
            },
            ..State::sized(&size)
        };
        fresh.q.copy_from_slice(q);
        fresh.v.copy_from_slice(v);
        for (i, scale) in fresh.scale.iter_mut().enumerate() {
            *scale = system.weight(i).max(q.get(i).map_or(0.0, |q| q.abs()));
        }
        self.segment.forget();
        self.work.factor_cache.drop_all();
        let mut modes = vec![0; size.modes];
        {
            let p = Problem {
                system,
                env: *env,
                modes: &modes,
            };
            let cx = self.work.inputs.at(&p, t);
            system.initial_modes(&cx, q, v, &mut fresh.modes);
        }
        modes.copy_from_slice(&fresh.modes);
        let p = Problem {
            system,
            env: *env,
            modes: &modes,
        };
        let mut stats = fresh.statistics;
        let mut report = self.work.assemble(&p, &mut fresh)?;
        let refused = |r: StepFailure| r.error(system, t, 0.0);
        self.work
            .set_off(&p, &mut fresh, &mut report, &mut stats)
            .map_err(refused)?;
        (self.method)
            .restart(&mut self.work, &p, &mut fresh)
            .map_err(refused)?;
        if size.ne > 0 {
            self.find_due_events(&p, &mut fresh, None);
        }
        self.work.collect(&mut stats);
        // What the start has cost is not part of the run's counters.
        fresh.statistics = Statistics {
            smallest_step: f64::INFINITY,
            ..Statistics::default()
        };
        (fresh.factored_step, fresh.factored_mass) = self.work.counted();
        self.work.prepare_reactions(system, &fresh.redundant);
        *state = fresh;
        Ok(report)
    }

    /// The start of a system that is read off the poses of bodies, assembled there: q and v are those of the assembled
    /// bodies, and the answer is what the assembly has found. None for other systems; then q and v stay.
    pub fn assemble_bodies(
        &self,
        mechanism: &dyn Mechanism,
        env: &Environment,
        t: f64,
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<Option<StartReport>> {
        let Some(read_off) = mechanism.body_assembly() else {
            return Ok(None);
        };
        let bodies = read_off.bodies();
        let mut core = Workspace::new(bodies, &self.work.settings, Backend::Auto);
        let size = bodies.dimensions();
        let mut state = State {
            t,
            ..State::sized(&size)
        };
        bodies.initial_state(&mut state.q, &mut state.v);
        let mut modes = vec![0; size.modes];
        let p = Problem {
            system: bodies,
            env: *env,
            modes: &modes,
        };
        let cx = core.inputs.at(&p, t);
        bodies.initial_modes(&cx, &state.q, &state.v, &mut state.modes);
        modes.copy_from_slice(&state.modes);
        let p = Problem {
            system: bodies,
            env: *env,
            modes: &modes,
        };
        let report = core.assemble(&p, &mut state)?;
        match read_off.coordinates_from_bodies(&state.q, &state.v, q, v) {
            None => Ok(Some(report)),
            Some(joint) => Err(Error::Assembly {
                closure: report.closure_before,
                culprits: vec![joint],
            }),
        }
    }

    /// Inputs or parameters have changed at the present time: accelerations and multipliers follow at once, the step
    /// history stays. A position that an input moved by a jump is assembled again; then true is returned.
    pub fn apply_input_jump(
        &mut self,
        system: &dyn System,
        env: &Environment,
        state: &mut State,
    ) -> Result<bool> {
        let mut modes = std::mem::take(&mut self.modes);
        modes.copy_from_slice(&state.modes);
        let mut stats = state.statistics;
        let p = Problem {
            system,
            env: *env,
            modes: &modes,
        };
        let outcome = self.rebalance(&p, state, &mut stats);
        self.work.collect(&mut stats);
        if outcome.is_ok() {
            (state.factored_step, state.factored_mass) = self.work.counted();
        }
        state.statistics = stats;
        self.modes = modes;
        outcome.map_err(|r| r.error(system, state.t, 0.0))
    }

    fn rebalance(
        &mut self,
        p: &Problem,
        state: &mut State,
        stats: &mut Statistics,
    ) -> std::result::Result<bool, StepFailure> {
        let Self {
            work: core,
            trial: y,
            ..
        } = self;
        core.factor_cache.drop_all();
        core.select(p.system, state);
        let moved = if core.character.moving_constraints {
            core.active_residual_at(p, state.t, &state.q).0 > OPEN_AFTER_ASSEMBLY
        } else {
            false
        };
        // Worked out on the trial, so that a failure leaves the state as it was.
        y.t = state.t;
        y.q.copy_from_slice(&state.q);
        y.v.copy_from_slice(&state.v);
        if core.character.moving_constraints {
            core.reassemble(p, y.t, &mut y.q, &y.v)?;
        }
        let pivots = core.factorise_mass(p, y.t, &y.q, &y.v)?;
        if core.character.moving_constraints {
            core.fit(p, y.t, &y.q, &mut y.v, CONSISTENT_VELOCITY);
        }
        let Trial {
            t,
            q,
            v,
            acc,
            lambda,
            jerk,
            ..
        } = &mut *y;
        acc.copy_from_slice(&state.acc);
        let at = SingularPoint {
            t: *t,
            q,
            v,
            scale: &state.scale,
            acc,
            lambda,
            jerk,
        };
        let singular = core.two_sided_accelerations(p, at, pivots, stats)?;
        if !singular {
            core.accelerations(p, *t, q, v, acc, lambda, stats)?;
        }
        let wants_jerk = core.settings.corrector == Corrector::Auto && state.corrector_rest == 0;
        if wants_jerk && !singular {
            y.h = state
                .next_h
                .min(core.turn(p, y.t, &y.q, &y.v, &y.acc, &state.scale));
            core.end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)?;
        }
        for i in 0..state.a.len() {
            state.a[i] += y.acc[i] - state.acc[i];
        }
        state.q.copy_from_slice(&y.q);
        state.v.copy_from_slice(&y.v);
        state.acc.copy_from_slice(&y.acc);
        state.lambda.copy_from_slice(&y.lambda);
        if wants_jerk {
            state.jerk.copy_from_slice(&y.jerk);
        }
        state.jerk_known = wants_jerk;
        if moved {
            // The motion begins anew elsewhere, like after any other event.
            stats.events += 1;
            if wants_jerk {
                state.restart_history();
            }
        }
        state.newton_contraction = f64::INFINITY;
        self.segment.forget();
        self.method.restart(&mut self.work, p, state)?;
        Ok(moved)
    }
}

/// Names of the constraints that an assembly left open, the widest first. Those within a hundredth of it are named too: the
/// gap of a loop that cannot be closed moves from joint to joint.
fn culprits(system: &dyn System, residuals: &[f64]) -> Vec<String> {
    let worst = residuals.iter().fold(0.0, |m, x| f64::max(m, *x));
    let mut open: Vec<usize> = (0..residuals.len())
        .filter(|&i| residuals[i] > 0.01 * worst)
        .collect();
    open.sort_by(|&a, &b| residuals[b].total_cmp(&residuals[a]));
    let mut names: Vec<String> = Vec::new();
    for i in open {
        let name = system.constraint_name(i);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What a coordinate belongs to: the name before its last point.
fn owner(mut coordinate: String) -> String {
    if let Some(end) = coordinate.rfind('.') {
        coordinate.truncate(end);
    }
    coordinate
}

impl Workspace {
    /// Closes the loops by least motion, finds the rows that follow from others, fits the velocities.
    fn assemble(&mut self, p: &Problem, s: &mut State) -> Result<StartReport> {
        let mut report = StartReport {
            rank: self.size.nc,
            ..StartReport::default()
        };
        let t = s.t;
        let refused = |r: StepFailure| r.error(p.system, t, 0.0);
        self.select(p.system, s);
        if self.size.nc == 0 {
            self.factorise_mass(p, s.t, &s.q, &s.v).map_err(refused)?;
            return Ok(report);
        }
        let start = s.q.clone();
        let mut dq = vec![0.0; self.size.nv];
        let mut stalled = vec![0.0; self.size.nc];
        let State { q, v, .. } = &mut *s;
        match self.close_position(p, t, q, v, &ASSEMBLY, &mut stalled) {
            Ok(closed) => report.closure_before = closed.initial_residual,
            Err(ClosureFailure::Open {
                residual,
                constraint,
                ..
            }) => {
                return Err(if residual.is_finite() {
                    Error::Assembly {
                        closure: residual,
                        culprits: culprits(p.system, &stalled),
                    }
                } else {
                    Error::Evaluation {
                        time: t,
                        culprit: p.system.constraint_name(constraint),
                    }
                });
            }
            Err(ClosureFailure::Matrix(failure)) => return Err(refused(failure)),
        }
        let cx = self.inputs.at(p, s.t);
        p.system.difference(&start, &s.q, &mut dq);
        report.moved = p.system.norm(&cx, &s.q, &s.scale, &dq);

        let mut pivots = self.factorise_mass(p, s.t, &s.q, &s.v).map_err(refused)?;
        let dependent = self.dependent_rows(p, s.t, &s.q, &s.v).map_err(refused)?;
        report.rank = self.mass_matrix.active().iter().filter(|&&on| on).count() - dependent.len();
        for &row in &dependent {
            s.redundant[row] = true;
            let name = p.system.constraint_name(row);
            // The rows of a joint stand together.
            if report.redundant.last() != Some(&name) {
                report.redundant.push(name);
            }
        }
        if !dependent.is_empty() {
            self.select(p.system, s);
            pivots = self.factorise_mass(p, s.t, &s.q, &s.v).map_err(refused)?;
        }
        s.typical_pivot = pivots.smallest_constraint;
        let before = s.v.clone();
        self.fit(p, s.t, &s.q, &mut s.v, CONSISTENT_VELOCITY);
        for i in 0..before.len() {
            dq[i] = s.v[i] - before[i];
        }
        let cx = self.inputs.at(p, s.t);
        report.velocity_changed = p.system.norm(&cx, &s.q, &s.scale, &dq);
        report.immovable = self.immovable(p);
        Ok(report)
    }

    /// Bodies that cannot move, by the factor and the G of `mass`: no coordinate of it is left of velocities taken at random
    /// once they are put onto G v = 0. Constraints that move may move anything.
    fn immovable(&mut self, p: &Problem) -> Vec<String> {
        if self.character.moving_constraints || self.sparsity.nv() != self.size.nv {
            return Vec::new();
        }
        let mut fast = vec![true; self.size.nv];
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..PROBES {
            let [probe, left, ..] = &mut self.scratch.v;
            for i in 0..probe.len() {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                probe[i] = (1.0 + (bits >> 40) as f64 / (1 << 24) as f64)
                    / p.system.characteristic_length(i);
            }
            let [r, mu, _] = &mut self.scratch.c;
            self.mass_matrix.jacobian_times(&self.sparsity, probe, r);
            r.iter_mut().for_each(|r| *r = -*r);
            self.mass_matrix.minimum_norm_correction_here(
                &self.sparsity,
                r,
                &[],
                CONSISTENT_VELOCITY,
                left,
                mu,
                &mut self.counts,
            );
            for i in 0..fast.len() {
                fast[i] &= (probe[i] + left[i]).abs() * p.system.characteristic_length(i) < HELD;
            }
        }
        let mut names: Vec<String> = Vec::new();
        let mut i = 0;
        while i < fast.len() {
            // The coordinates of a body stand together.
            let name = owner(p.system.coordinate_name(i));
            let mut held = true;
            while i < fast.len() && owner(p.system.coordinate_name(i)) == name {
                held &= fast[i];
                i += 1;
            }
            if held {
                names.push(name);
            }
        }
        names
    }

    /// v onto G v + Φ_t = 0 with the factor and the G of `mass`; `tol` is the rest allowed, relative.
    pub fn fit(&mut self, p: &Problem, t: f64, q: &[f64], v: &mut [f64], tol: f64) {
        let cx = self.inputs.at(p, t);
        let [dv, ..] = &mut self.scratch.v;
        let [r, mu, gv] = &mut self.scratch.c;
        p.system.constraint_rate(&cx, q, r);
        self.mass_matrix.jacobian_times(&self.sparsity, v, gv);
        for i in 0..r.len() {
            r[i] = -(r[i] + gv[i]);
        }
        self.mass_matrix.minimum_norm_correction_here(
            &self.sparsity,
            r,
            v,
            tol,
            dv,
            mu,
            &mut self.counts,
        );
        for i in 0..dv.len() {
            v[i] += dv[i];
        }
    }

    /// Closes a position near a closed one, with the mass matrix of each iterate.
    pub fn reassemble(
        &mut self,
        p: &Problem,
        t: f64,
        q: &mut [f64],
        v: &[f64],
    ) -> std::result::Result<(), StepFailure> {
        match self.close_position(p, t, q, v, &REASSEMBLY, &mut []) {
            Ok(_) => Ok(()),
            Err(failure) => Err(failure.of_point(OPEN_AFTER_ASSEMBLY)),
        }
    }

    /// Accelerations, the first step and no history at the state, on which `mass` is factorised. Rows that were taken for
    /// dependent only because the start is a singular position are held after all.
    fn set_off(
        &mut self,
        p: &Problem,
        s: &mut State,
        report: &mut StartReport,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        let singular = self.start_in_singularity(p, s, report, stats)?;
        if !singular {
            self.accelerations(p, s.t, &s.q, &s.v, &mut s.acc, &mut s.lambda, stats)?;
        }
        s.next_h = self.first_step(p, s, singular, stats)?;
        if singular {
            s.restart_history();
        } else {
            self.restart(p, s, stats)?;
        }
        Ok(())
    }

    /// Begins anew at the state, whose accelerations are right, in a new mode: jerk, no step history. In a singular position
    /// they come from both sides.
    pub fn restart_accelerations(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        let pivots = self.factorise_mass(p, s.t, &s.q, &s.v)?;
        if self.two_sided_accelerations(p, SingularPoint::of(s), pivots, stats)? {
            s.lambda_dot.fill(0.0);
            s.restart_history();
            return Ok(());
        }
        self.accelerations(p, s.t, &s.q, &s.v, &mut s.acc, &mut s.lambda, stats)?;
        self.restart(p, s, stats)
    }

    /// Begins anew at the state, whose accelerations are right: jerk, no step history. `mass` is factorised there.
    pub fn restart(
        &mut self,
        p: &Problem,
        s: &mut State,
        stats: &mut Statistics,
    ) -> std::result::Result<(), StepFailure> {
        // A fixed or proposed step may be longer than the motion allows for a difference.
        let turn = self.turn(p, s.t, &s.q, &s.v, &s.acc, &s.scale);
        let h = s.next_h.min(turn);
        let State {
            t,
            q,
            v,
            acc,
            lambda,
            jerk,
            lambda_dot,
            ..
        } = &mut *s;
        self.jerk(
            p,
            *t,
            h,
            (q, v, acc, lambda),
            InitialGuess::Nothing(JERK_RESIDUAL),
            jerk,
            lambda_dot,
            stats,
        )?;
        s.restart_history();
        Ok(())
    }

    /// The first step: the HHT error of the jerk at the start would be the tolerance, and no more than a small turn of
    /// the motion by its speed and acceleration.
    fn first_step(
        &mut self,
        p: &Problem,
        s: &mut State,
        jerk_known: bool,
        stats: &mut Statistics,
    ) -> std::result::Result<f64, StepFailure> {
        if let Some(h) = self.control.fixed() {
            return Ok(h);
        }
        if let Some(h) = self.settings.initial_step {
            return Ok(self.control.limit(h));
        }
        let tol = self.settings.tolerance;
        let mut h = tol.cbrt().min(0.1) * self.turn(p, s.t, &s.q, &s.v, &s.acc, &s.scale);
        if !h.is_finite() {
            h = 1e-3; // at rest in equilibrium: any step will do
        }
        let State {
            t,
            q,
            v,
            acc,
            lambda,
            jerk,
            lambda_dot,
            ..
        } = &mut *s;
        if !jerk_known {
            self.jerk(
                p,
                *t,
                h,
                (q, v, acc, lambda),
                InitialGuess::Nothing(JERK_RESIDUAL),
                jerk,
                lambda_dot,
                stats,
            )?;
        }
        let cx = self.inputs.at(p, s.t);
        let jerk = p.system.norm(&cx, &s.q, &s.scale, &s.jerk);
        if jerk > 0.0 {
            h = h.min((tol / (self.method.cq * jerk)).cbrt());
        }
        Ok(self.control.limit(h))
    }

    /// The time in which the motion, going on as it does, would move by the size of the mechanism (s).
    pub fn turn(
        &mut self,
        p: &Problem,
        t: f64,
        q: &[f64],
        v: &[f64],
        acc: &[f64],
        scale: &[f64],
    ) -> f64 {
        let cx = self.inputs.at(p, t);
        let speed = p.system.norm(&cx, q, scale, v);
        let acceleration = p.system.norm(&cx, q, scale, acc);
        (1.0 / speed).min(1.0 / acceleration.sqrt())
    }

    /// A sample put onto the constraints, with accelerations and multipliers of its own.
    pub fn consistent(
        &mut self,
        p: &Problem,
        t: f64,
        out: &mut Sample,
        closure: &ClosureOptions,
    ) -> std::result::Result<(), StepFailure> {
        let frozen = self.deactivate_singular_constraints(p, t, &out.q, &out.v)?;
        if self.size.nc > 0 {
            self.close_position(p, t, &mut out.q, &out.v, closure, &mut [])
                .map_err(|failure| failure.of_point(OPEN_AFTER_ASSEMBLY))?;
            let cx = self.inputs.at(p, t);
            self.mass_matrix
                .load_mass(&self.sparsity, p.system, &cx, &out.q, &out.v)?;
            self.fit(p, t, &out.q, &mut out.v, CONSISTENT_VELOCITY);
        }
        let mut unused = Statistics::default();
        let (q, v, acc, lambda) = (&out.q, &out.v, &mut out.acc, &mut out.lambda);
        let outcome = if frozen {
            self.project_accelerations(p, t, (q, v), acc, lambda)
        } else {
            self.accelerations(p, t, q, v, acc, lambda, &mut unused)
        };
        // Looking at a motion is not part of its cost.
        self.counts = Default::default();
        outcome
    }

    /// G of the trial's end in `mass`, after the corrector has been taken back.
    pub fn reload_jacobian(&mut self, p: &Problem, y: &Trial) {
        let cx = self.inputs.at(p, y.t);
        self.mass_matrix
            .load_jacobian(&self.sparsity, p.system, &cx, &y.q);
    }

    /// The jerk at the end of an accepted plain step, for the corrector of the next one; if it cannot be had, the next
    /// step does without.
    pub fn jerk_at_end(&mut self, p: &Problem, y: &mut Trial, stats: &mut Statistics) {
        // dλ/dt stays the difference of the step: the exact one of a stiff system is no prediction.
        let mut lambda_dot = std::mem::take(&mut self.scratch.c[2]);
        lambda_dot.copy_from_slice(&y.lambda_dot);
        y.jerk_known = self.factorise_mass(p, y.t, &y.q, &y.v).is_ok()
            && self
                .end_jerk(p, y, InitialGuess::Nothing(JERK_RESIDUAL), stats)
                .is_ok();
        y.lambda_dot.copy_from_slice(&lambda_dot);
        self.scratch.c[2] = lambda_dot;
    }
}
