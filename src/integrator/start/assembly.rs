//! Assembly: closes the initial pose in the mass metric, finds redundant constraints and makes the velocities consistent.

use crate::constraint::sparsity::Backend;
use crate::error::{Error, Result};
use crate::formulation::system::System;
use crate::integrator::Environment;
use crate::integrator::closure::{ClosureFailure, ClosureMatrix, ClosureOptions};
use crate::integrator::singularity::position_pivot;
use crate::integrator::state::{StartReport, State};
use crate::integrator::tolerances::{ASSEMBLY_CLOSURE, CONSISTENT_VELOCITY, OPEN_AFTER_ASSEMBLY};
use crate::integrator::trial::StepFailure;
use crate::integrator::workspace::{Problem, Workspace};
use crate::linalg::sorting::sort_by;
use crate::model::SolverSettings;

/// Closes the initial pose. It may be far away, so single corrections may fail to improve it.
const ASSEMBLY: ClosureOptions = ClosureOptions {
    target: ASSEMBLY_CLOSURE,
    corrects_once: false,
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
/// Part of the largest residual above which a constraint is named in the error of an assembly.
const NAMED_RESIDUAL: f64 = 0.01;
/// Random velocities that are projected to find immovable bodies.
const VELOCITY_PROBES: usize = 2;
/// Part of a random velocity below which its projection counts as zero.
const IMMOVABLE: f64 = 1e-8;

/// Assembles a system at time t: closes `q`, makes `v` consistent and reports what was changed. The system needs no start.
pub fn assemble(
    system: &dyn System,
    settings: &SolverSettings,
    env: &Environment,
    t: f64,
    q: &mut [f64],
    v: &mut [f64],
) -> Result<StartReport> {
    let mut work = Workspace::new(system, settings, Backend::Auto);
    let mut state = State {
        t,
        ..State::sized(&system.dimensions())
    };
    state.q.copy_from_slice(q);
    state.v.copy_from_slice(v);
    let modes = work.initial_modes(system, env, &mut state);
    let p = Problem {
        system,
        env: *env,
        modes: &modes,
    };
    let report = work.assemble(&p, &mut state)?;
    q.copy_from_slice(&state.q);
    v.copy_from_slice(&state.v);
    Ok(report)
}

impl Workspace {
    /// Sets the modes of a state at its start, and returns them.
    pub(super) fn initial_modes(
        &mut self,
        system: &dyn System,
        env: &Environment,
        s: &mut State,
    ) -> Vec<i32> {
        let p = Problem {
            system,
            env: *env,
            modes: &vec![0; self.size.modes],
        };
        let cx = self.inputs.at(&p, s.t);
        system.initial_modes(&cx, &s.q, &s.v, &mut s.modes);
        s.modes.clone()
    }

    /// Closes the position of a state, finds its redundant constraints and makes its velocity consistent.
    pub(super) fn assemble(&mut self, p: &Problem, s: &mut State) -> Result<StartReport> {
        let mut report = StartReport {
            rank: self.size.nc,
            ..StartReport::default()
        };
        let t = s.t;
        let error = |failure: StepFailure| failure.error(p.system, t, 0.0);
        self.select_active(p.system, s);
        if self.size.nc == 0 {
            self.factorise_mass(p, t, &s.q, &s.v).map_err(error)?;
            return Ok(report);
        }
        let q_before = s.q.clone();
        report.closure_before = self.close_initial_pose(p, s)?;
        let mut change = vec![0.0; self.size.nv];
        p.system.difference(&q_before, &s.q, &mut change);
        let cx = self.inputs.at(p, t);
        report.moved = p.system.norm(&cx, &s.q, &s.scale, &change);

        let mut pivots = self.factorise_mass(p, t, &s.q, &s.v).map_err(error)?;
        let redundant = self
            .redundant_constraints(p, t, &s.q, &s.v)
            .map_err(error)?;
        let active = self.mass_matrix.active().iter().filter(|&&on| on).count();
        report.rank = active - redundant.len();
        for &constraint in &redundant {
            s.redundant[constraint] = true;
            let name = p.system.constraint_name(constraint);
            // The constraints of a joint are neighbours.
            if report.redundant.last() != Some(&name) {
                report.redundant.push(name);
            }
        }
        if !redundant.is_empty() {
            self.select_active(p.system, s);
            pivots = self.factorise_mass(p, t, &s.q, &s.v).map_err(error)?;
        }
        s.typical_pivot = position_pivot(pivots.smallest_constraint, p.system, &s.q);

        let v_before = s.v.clone();
        self.project_velocity(p, t, &s.q, &mut s.v, CONSISTENT_VELOCITY);
        for i in 0..change.len() {
            change[i] = s.v[i] - v_before[i];
        }
        let cx = self.inputs.at(p, t);
        report.velocity_changed = p.system.norm(&cx, &s.q, &s.scale, &change);
        report.immovable = self.immovable_bodies(p);
        Ok(report)
    }

    /// Closes the position of a state. Returns its largest residual before.
    fn close_initial_pose(&mut self, p: &Problem, s: &mut State) -> Result<f64> {
        let mut stalled = vec![0.0; self.size.nc];
        let State { t, q, v, .. } = s;
        match self.close_position(p, *t, q, v, &ASSEMBLY, &mut stalled) {
            Ok(closed) => Ok(closed.initial_residual),
            Err(ClosureFailure::Open {
                residual,
                constraint,
                ..
            }) => Err(if residual.is_finite() {
                Error::Assembly {
                    closure: residual,
                    culprits: open_constraints(p.system, &stalled),
                    gap: Some(residual * p.system.constraint_scale(constraint)),
                    unit: "m",
                    short: None,
                }
            } else {
                Error::Evaluation {
                    time: *t,
                    culprit: p.system.constraint_name(constraint),
                }
            }),
            Err(ClosureFailure::Matrix(failure)) => Err(failure.error(p.system, *t, 0.0)),
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

    /// Names of the bodies that cannot move: the projection of random velocities onto G v = 0 leaves them at rest. The mass
    /// matrix is loaded and factorised. Not determined where constraints move, nor in the descriptor form.
    fn immovable_bodies(&mut self, p: &Problem) -> Vec<String> {
        let unconstrained = self.size.nc == 0;
        if unconstrained || self.character.moving_constraints || self.sparsity.nv() != self.size.nv
        {
            return Vec::new();
        }
        let mut at_rest = vec![true; self.size.nv];
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..VELOCITY_PROBES {
            let probe = &mut self.evaluation.v;
            for i in 0..probe.len() {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                probe[i] = (1.0 + (bits >> 40) as f64 / (1 << 24) as f64)
                    / p.system.characteristic_length(i);
            }
            let r = &mut self.projection.residual;
            self.mass_matrix.jacobian_times(&self.sparsity, probe, r);
            r.iter_mut().for_each(|r| *r = -*r);
            self.minimum_norm_by_mass(&[], CONSISTENT_VELOCITY);
            let (probe, dv) = (&self.evaluation.v, &self.projection.correction);
            for i in 0..at_rest.len() {
                at_rest[i] &=
                    (probe[i] + dv[i]).abs() * p.system.characteristic_length(i) < IMMOVABLE;
            }
        }
        // The coordinates of a body are neighbours.
        let mut bodies: Vec<(String, bool)> = Vec::new();
        for (i, &rests) in at_rest.iter().enumerate() {
            let name = body_of(p.system.coordinate_name(i));
            match bodies.last_mut() {
                Some((last, all_rest)) if *last == name => *all_rest &= rests,
                _ => bodies.push((name, rests)),
            }
        }
        (bodies.into_iter())
            .filter_map(|(name, rests)| rests.then_some(name))
            .collect()
    }
}

/// Names of the constraints that an assembly left open, the widest first. All joints of a loop that cannot be closed are named:
/// the gap moves from joint to joint.
fn open_constraints(system: &dyn System, residuals: &[f64]) -> Vec<String> {
    let worst = residuals.iter().fold(0.0, |m, x| f64::max(m, *x));
    let mut open: Vec<usize> = (0..residuals.len())
        .filter(|&i| residuals[i] > NAMED_RESIDUAL * worst)
        .collect();
    sort_by(&mut open, |&a, &b| residuals[b].total_cmp(&residuals[a]));
    let mut names: Vec<String> = Vec::new();
    for i in open {
        let name = system.constraint_name(i);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The body of a coordinate: the name before its last point.
fn body_of(mut coordinate: String) -> String {
    if let Some(end) = coordinate.rfind('.') {
        coordinate.truncate(end);
    }
    coordinate
}
