//! One step of both schemes from a state as given, however inconsistent: for the study of the method (order, thresholds).

use super::super::Environment;
use super::super::state::{State, Statistics};
use super::super::workspace::{Problem, StepFailure, Workspace};
use super::Vsa23;
use super::stage::{CollocationPoint, StageNorm};
use crate::constraint::sparsity::Backend;
use crate::error::Result;
use crate::formulation::system::System;
use crate::model::SolverSettings;

/// What a step of both schemes gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SingleDegree {
    /// End of the quadratic scheme, (7): position and velocity.
    pub quadratic: [Vec<f64>; 2],
    /// End of the cubic scheme, (10): position, velocity and acceleration.
    pub cubic: [Vec<f64>; 3],
    /// E at the end of the step, (11).
    pub error: Vec<f64>,
    /// Difference of the positions at the two equilibrium points: an error only where they coincide.
    pub error_at_points: Vec<f64>,
    /// Largest opening of the constraints, over their scale: at the quadratic and at the cubic equilibrium point.
    pub open: [f64; 2],
    /// The same at the end of the quadratic scheme.
    pub open_at_end: f64,
    /// Work.
    pub statistics: Statistics,
}

/// One step of size `h` from (q, v, acc) at `t`, which are neither assembled nor projected. Of `settings` the parameter
/// set and the tolerances count. Allocates.
pub fn single_step(
    system: &dyn System,
    env: &Environment,
    settings: &SolverSettings,
    t: f64,
    (q, v, acc): (&[f64], &[f64], &[f64]),
    h: f64,
) -> Result<SingleDegree> {
    settings.validate()?;
    let mut core = Workspace::new(system, settings, Backend::Auto);
    let mut method = Vsa23::new(system, &core, &settings.vsa23)?;
    let size = core.size;
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
    let mut out = SingleDegree::default();
    core.select_active(system, &s);
    method.select(&p, &s);
    method.forget(&p);
    let norm = StageNorm::at(system, q);
    method
        .solve(&mut core, &p, &s, h, norm, &mut out.statistics)
        .map_err(|r: StepFailure| r.error(system, t, h))?;
    let (CollocationPoint { x: a, .. }, CollocationPoint { x, .. }) = (&method.alpha, &method.beta);
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
    out.open = [method.alpha.open, method.beta.open];
    let cx = core.inputs.at(&p, t + h);
    let mut phi = vec![0.0; size.nc];
    system.constraint(&cx, &out.quadratic[0], &mut phi);
    out.open_at_end = core.largest_active_residual(&phi).0;
    core.collect(&mut out.statistics);
    Ok(out)
}
