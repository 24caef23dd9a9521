//! One step of both schemes from any state, also an inconsistent one, to study order and thresholds of the method. It is part
//! of the library because it solves with the same stages as the method.

use super::super::Environment;
use super::super::state::{State, Statistics};
use super::super::trial::StepFailure;
use super::super::workspace::{Problem, Workspace};
use super::Vsa23;
use super::stage::{CollocationPoint, StageNorm};
use crate::constraint::sparsity::Backend;
use crate::error::Result;
use crate::formulation::system::System;
use crate::model::SolverSettings;

/// Result of a step of both schemes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SchemeStep {
    /// End of the quadratic scheme, (7): position and velocity.
    pub quadratic: [Vec<f64>; 2],
    /// End of the cubic scheme, (10): position, velocity and acceleration.
    pub cubic: [Vec<f64>; 3],
    /// E at the end of the step, (11).
    pub error: Vec<f64>,
    /// Difference of the positions at the two collocation points: an error only if the points coincide.
    pub error_at_points: Vec<f64>,
    /// Largest scaled constraint residual at the quadratic and at the cubic collocation point.
    pub open: [f64; 2],
    /// The same at the end of the quadratic scheme.
    pub open_at_end: f64,
    /// Counters.
    pub statistics: Statistics,
}

/// Computes one step of size `h` from (q, v, acc) at `t`, which are neither assembled nor projected. Of `settings` the
/// parameter set and the tolerances are used. Allocates.
pub fn single_step(
    system: &dyn System,
    env: &Environment,
    settings: &SolverSettings,
    t: f64,
    (q, v, acc): (&[f64], &[f64], &[f64]),
    h: f64,
) -> Result<SchemeStep> {
    settings.validate()?;
    let mut work = Workspace::new(system, settings, Backend::Auto);
    let mut method = Vsa23::new(system, &work, &settings.vsa23)?;
    let size = work.size;
    let s = State {
        t,
        q: q.to_vec(),
        v: v.to_vec(),
        acc: acc.to_vec(),
        ..State::sized(&size)
    };
    let modes = vec![0; size.modes];
    let p = Problem {
        system,
        env: *env,
        modes: &modes,
    };
    let mut out = SchemeStep::default();
    work.select_active(system, &s);
    method.select(&p, &s);
    method.drop_factors(&p);
    let norm = StageNorm::at(system, q);
    method
        .solve(&mut work, &p, &s, h, norm, &mut out.statistics)
        .map_err(|r: StepFailure| r.error(system, t, h))?;
    let (CollocationPoint { x: a, .. }, CollocationPoint { x, .. }) =
        (&method.quadratic, &method.cubic);
    let along = |f: &dyn Fn(usize) -> f64| (0..size.nv).map(f).collect::<Vec<f64>>();
    out.quadratic = [
        along(&|i| q[i] + h * (v[i] + 0.5 * h * a[i])),
        along(&|i| v[i] + h * a[i]),
    ];
    out.cubic = [
        along(&|i| q[i] + h * (v[i] + h * (0.5 * acc[i] + x[i] / 6.0))),
        along(&|i| v[i] + h * (acc[i] + 0.5 * x[i])),
        along(&|i| acc[i] + x[i]),
    ];
    out.error = vec![0.0; size.nv];
    method.error_at_end(acc, h, &mut out.error);
    out.error_at_points = vec![0.0; size.nv];
    method.error_at_points(&mut out.error_at_points);
    out.open = [method.quadratic.open, method.cubic.open];
    let cx = work.inputs.at(&p, t + h);
    let mut phi = vec![0.0; size.nc];
    system.constraint(&cx, &out.quadratic[0], &mut phi);
    out.open_at_end = work.largest_active_residual(&phi).0;
    work.collect(&mut out.statistics);
    Ok(out)
}
