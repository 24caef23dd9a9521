//! Interpolation in the last accepted step by Hermite polynomials on its ends, closed and projected; and the work of the step.
//!
//! ```text
//!   vector coordinates   q(s): quintic on q, v, q̈ at both ends,  v(s) its derivative
//!   rotations            w(s): cubic on w = log(q₀⁻¹ ∘ q), w' at both ends;  v(s): cubic on v, q̈ at both ends
//!   work                 W = h/6 (P₀ + 4 P_m + P₁)                                   Simpson
//! ```
//!
//! Drives do not limit the step: where everything is driven there is no error to estimate. If the energy balance of a step with
//! moving constraints is open by a part of the tolerance, its work is integrated over more and more panels, with multipliers
//! solved for at their points, until it does not change.

use super::closure::{ClosureMatrix, ClosureOptions};
use super::event::dot;
use super::trial::{StepFailure, Trial};
use super::workspace::{EvaluationVectors, Problem, Workspace};
use super::{Environment, Integrator, Sample, SampleLevel, State};
use crate::error::{Error, Result};
use crate::formulation::system::{Dimensions, Energy, EvaluationContext, Properties, System};

/// Energy balance of a step with moving constraints, over tolerance and energy turned over in the step, above which its work is
/// integrated anew: a hundred such steps that all err in one direction are off by ten tolerances.
const OPEN_BALANCE: f64 = 0.1;
/// Panels of Simpson's rule at most: a force that reverses within a hundredth of the step is then resolved.
const MOST_PANELS: usize = 64;

/// The last accepted substep, before anything an event changed at its end.
#[derive(Default)]
pub(super) struct Segment {
    t: [f64; 2],
    q: [Vec<f64>; 2],
    v: [Vec<f64>; 2],
    acc: [Vec<f64>; 2],
    lambda: [Vec<f64>; 2],
    lambda_dot: [Vec<f64>; 2],
    modes: Vec<i32>,
    redundant: Vec<bool>,
    dissipated: [f64; 2],
    supplied: [f64; 2],
    valid: bool,
    /// Change of the work below which it is known well enough (J), if Simpson's rule over the whole step was not enough.
    refined: Option<f64>,
    /// A point inside the step.
    node: Sample,
}

/// Work since the start of a step (J); before the factor of Simpson's rule a sum of powers.
#[derive(Clone, Copy, Default)]
struct StepWork {
    dissipated: f64,
    supplied: f64,
}

/// Output of an interpolation.
struct BlendedPolynomial<'a> {
    q: &'a mut [f64],
    v: &'a mut [f64],
    acc: &'a mut [f64],
}

impl Segment {
    pub fn new(size: &Dimensions) -> Self {
        let two = |n: usize| [vec![0.0; n], vec![0.0; n]];
        // Only systems with constraints have moving ones.
        let room = |n: usize| vec![0.0; if size.nc > 0 { n } else { 0 }];
        Self {
            node: Sample {
                q: room(size.nq),
                v: room(size.nv),
                acc: room(size.nv),
                lambda: room(size.nc),
                ..Sample::default()
            },
            q: two(size.nq),
            v: two(size.nv),
            acc: two(size.nv),
            lambda: two(size.nc),
            lambda_dot: two(size.nc),
            modes: vec![0; size.modes],
            redundant: vec![false; size.nc],
            ..Self::default()
        }
    }

    /// Modes in which the step was made.
    pub fn modes(&self) -> &[i32] {
        &self.modes
    }

    /// Redundant constraints of the step.
    pub fn redundant(&self) -> &[bool] {
        &self.redundant
    }

    /// Ends the interpolation until the next accepted step.
    pub fn forget(&mut self) {
        self.valid = false;
    }

    /// Sets the start of the step, without its vectors.
    pub fn start(&mut self, s: &State) {
        self.t[0] = s.t;
        self.modes.copy_from_slice(&s.modes);
        self.redundant.copy_from_slice(&s.redundant);
        (self.dissipated[0], self.supplied[0]) = (s.dissipated, s.supplied);
    }

    /// Takes the vectors of the start of the step. Those left in their place are undefined.
    pub fn begin(&mut self, old: &mut Trial) {
        std::mem::swap(&mut self.q[0], &mut old.q);
        std::mem::swap(&mut self.v[0], &mut old.v);
        std::mem::swap(&mut self.acc[0], &mut old.acc);
        std::mem::swap(&mut self.lambda[0], &mut old.lambda);
        std::mem::swap(&mut self.lambda_dot[0], &mut old.lambda_dot);
    }

    pub fn end(&mut self, s: &State) {
        self.t[1] = s.t;
        self.q[1].copy_from_slice(&s.q);
        self.v[1].copy_from_slice(&s.v);
        self.acc[1].copy_from_slice(&s.acc);
        self.lambda[1].copy_from_slice(&s.lambda);
        self.lambda_dot[1].copy_from_slice(&s.lambda_dot);
        self.valid = true;
    }

    /// Sets the work integrals at the end of the step.
    pub fn set_work(&mut self, s: &State) {
        (self.dissipated[1], self.supplied[1]) = (s.dissipated, s.supplied);
    }

    /// q, v and q̈ at the fraction `s` of the step, not yet consistent; `w` and `rate` are overwritten.
    fn blend(
        &self,
        system: &dyn System,
        rotations: bool,
        s: f64,
        [w, rate]: [&mut [f64]; 2],
        out: BlendedPolynomial,
    ) {
        let h = self.t[1] - self.t[0];
        let Self { q, v, acc, .. } = self;
        if rotations {
            system.difference(&q[0], &q[1], w);
            rate.copy_from_slice(&v[1]);
            system.tangent_inverse(w, rate);
            for i in 0..w.len() {
                w[i] = hermite3(s, [0.0, w[i]], [h * v[0][i], h * rate[i]]);
                let slopes = [h * acc[0][i], h * acc[1][i]];
                out.v[i] = hermite3(s, [v[0][i], v[1][i]], slopes);
                out.acc[i] = hermite3_slope(s, v[1][i] - v[0][i], slopes) / h;
            }
        } else {
            for i in 0..w.len() {
                let d = [h * v[0][i], h * v[1][i]];
                let dd = [h * h * acc[0][i], h * h * acc[1][i]];
                let [x, dx, ddx, _] = hermite5(s, q[1][i] - q[0][i], d, dd);
                w[i] = x;
                out.v[i] = dx / h;
                out.acc[i] = ddx / (h * h);
            }
        }
        system.retract(&q[0], w, out.q);
    }

    /// Work dissipated and supplied from the start of the step to the fraction `s` of it. The whole step, s = 1, comes first.
    pub fn work(&mut self, core: &mut Workspace, p: &Problem, s: f64) -> (f64, f64) {
        let simple = self.simpson(core, p, s);
        if s == 1.0 {
            self.refined = self.accuracy_of_open_balance(core, p, &simple);
        }
        let Some(accuracy) = self.refined else {
            return (simple.dissipated, simple.supplied);
        };
        let (mut work, mut panels) = (simple, 2);
        while let Some(finer) = self.composite(core, p, s, panels) {
            let change =
                (finer.dissipated - work.dissipated).abs() + (finer.supplied - work.supplied).abs();
            work = finer;
            if change <= accuracy || panels == MOST_PANELS {
                break;
            }
            panels *= 2;
        }
        (work.dissipated, work.supplied)
    }

    /// If the energy balance of the step is open with this work: the accuracy that the work needs (J).
    fn accuracy_of_open_balance(
        &self,
        core: &mut Workspace,
        p: &Problem,
        work: &StepWork,
    ) -> Option<f64> {
        if !core.character.moving_constraints {
            return None;
        }
        let energy = [0, 1].map(|end| {
            let cx = core.inputs.at(p, self.t[end]);
            p.system.energy(&cx, &self.q[end], &self.v[end])
        });
        let total = |energy: &Energy| energy.kinetic + energy.potential;
        let balance = total(&energy[1]) - total(&energy[0]) + work.dissipated - work.supplied;
        let turned_over = energy[0].kinetic.max(energy[1].kinetic)
            + (energy[1].potential - energy[0].potential).abs()
            + work.dissipated.abs()
            + work.supplied.abs();
        let allowed = OPEN_BALANCE * core.settings.tolerance * turned_over;
        (balance.abs() > allowed).then_some(0.1 * allowed)
    }

    /// Simpson's rule on [0, s] with interpolated multipliers.
    fn simpson(&self, core: &mut Workspace, p: &Problem, s: f64) -> StepWork {
        let h = self.t[1] - self.t[0];
        let Workspace {
            evaluation,
            projection,
            inputs,
            character,
            ..
        } = core;
        let EvaluationVectors {
            q,
            displacement: w,
            v,
            acc,
            inertia: w_dot,
            bias: phi_t,
            ..
        } = evaluation;
        let lambda = &mut projection.multipliers;
        let mut work = StepWork::default();
        for (point, weight) in [(0.0, 1.0), (0.5 * s, 4.0), (s, 1.0)] {
            let middle = BlendedPolynomial { q, v, acc };
            self.blend(p.system, character.rotations, point, [w, w_dot], middle);
            if character.has_constraint_friction || character.moving_constraints {
                for i in 0..lambda.len() {
                    let slopes = [h * self.lambda_dot[0][i], h * self.lambda_dot[1][i]];
                    lambda[i] = hermite3(point, [self.lambda[0][i], self.lambda[1][i]], slopes);
                }
            }
            let cx = inputs.at(p, self.t[0] + point * h);
            let at = (&q[..], &v[..], &lambda[..]);
            add_power(
                (p.system, character),
                &cx,
                at,
                [w, phi_t],
                weight,
                &mut work,
            );
        }
        StepWork {
            dissipated: work.dissipated * s * h / 6.0,
            supplied: work.supplied * s * h / 6.0,
        }
    }

    /// Simpson's rule on [0, s] in panels, with multipliers that satisfy the equations of motion; `None` if a point cannot be made
    /// consistent.
    fn composite(
        &mut self,
        core: &mut Workspace,
        p: &Problem,
        s: f64,
        panels: usize,
    ) -> Option<StepWork> {
        let h = self.t[1] - self.t[0];
        let counts = core.counts;
        let mut node = std::mem::take(&mut self.node);
        let mut work = Some(StepWork::default());
        for k in 0..=2 * panels {
            let point = s * k as f64 / (2 * panels) as f64;
            node.t = self.t[0] + point * h;
            if self.make_node(core, p, point, &mut node).is_err() {
                work = None;
                break;
            }
            let weight = match k {
                0 => 1.0,
                k if k == 2 * panels => 1.0,
                k if k % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let Workspace {
                evaluation,
                inputs,
                character,
                ..
            } = core;
            let scratch = [&mut evaluation.displacement[..], &mut evaluation.bias[..]];
            let cx = inputs.at(p, node.t);
            let at = (&node.q[..], &node.v[..], &node.lambda[..]);
            if let Some(work) = &mut work {
                add_power((p.system, character), &cx, at, scratch, weight, work);
            }
        }
        self.node = node;
        core.counts = counts;
        core.step_matrix
            .select_active(p.system, &self.modes, &self.redundant);
        core.mass_matrix
            .select_active(p.system, &self.modes, &self.redundant);
        let width = s * h / (6.0 * panels as f64);
        work.map(|work| StepWork {
            dissipated: work.dissipated * width,
            supplied: work.supplied * width,
        })
    }

    /// The consistent point at the fraction `s` of the step; at its ends the points that it has.
    fn make_node(
        &self,
        core: &mut Workspace,
        p: &Problem,
        s: f64,
        node: &mut Sample,
    ) -> std::result::Result<(), StepFailure> {
        if s == 0.0 || s == 1.0 {
            let end = usize::from(s == 1.0);
            node.q.copy_from_slice(&self.q[end]);
            node.v.copy_from_slice(&self.v[end]);
            node.lambda.copy_from_slice(&self.lambda[end]);
            return Ok(());
        }
        let EvaluationVectors {
            displacement: w,
            inertia: w_dot,
            ..
        } = &mut core.evaluation;
        let Sample { q, v, acc, .. } = &mut *node;
        let here = BlendedPolynomial { q, v, acc };
        self.blend(p.system, core.character.rotations, s, [w, w_dot], here);
        node.lambda.copy_from_slice(&self.lambda[1]);
        core.step_matrix
            .select_active(p.system, &self.modes, &self.redundant);
        core.mass_matrix
            .select_active(p.system, &self.modes, &self.redundant);
        core.make_sample_consistent(p, node, &CLOSURE, SampleLevel::Accelerations)
    }
}

/// Adds the power at a point (q, v, λ) with a weight: that of dampers and drives, of Coulomb friction and of moving constraints.
/// `w` and `phi_t` are overwritten.
fn add_power(
    (system, character): (&dyn System, &Properties),
    cx: &EvaluationContext,
    (q, v, lambda): (&[f64], &[f64], &[f64]),
    [w, phi_t]: [&mut [f64]; 2],
    weight: f64,
    work: &mut StepWork,
) {
    let power = system.power(cx, q, v);
    work.dissipated += weight * power.dissipated;
    work.supplied += weight * power.supplied;
    if character.has_constraint_friction {
        // −v·D λ
        w.fill(0.0);
        system.constraint_friction(cx, q, v, lambda, w);
        work.dissipated -= weight * dot(w, v);
    }
    if character.moving_constraints {
        // −λᵀG v = λᵀΦ_t, the power of the moving constraints.
        system.constraint_rate(cx, q, phi_t);
        for i in 0..phi_t.len() {
            work.supplied += weight * lambda[i] * phi_t[i];
        }
    }
}

/// Cubic with values `x` and scaled slopes `d` at 0 and 1.
fn hermite3(s: f64, x: [f64; 2], d: [f64; 2]) -> f64 {
    let r = 1.0 - s;
    x[0] * r * r * (1.0 + 2.0 * s) + d[0] * s * r * r + x[1] * s * s * (3.0 - 2.0 * s)
        - d[1] * s * s * r
}

/// Slope of the cubic that rises by `x` and has the scaled slopes `d` at 0 and 1.
fn hermite3_slope(s: f64, x: f64, d: [f64; 2]) -> f64 {
    let (c2, c3) = (3.0 * x - 2.0 * d[0] - d[1], d[0] + d[1] - 2.0 * x);
    d[0] + s * (2.0 * c2 + s * 3.0 * c3)
}

/// Quintic with values 0 and `x`, scaled slopes `d` and second derivatives `dd` at 0 and 1: value, slope, second and third
/// derivative at `s`.
pub(super) fn hermite5(s: f64, x: f64, d: [f64; 2], dd: [f64; 2]) -> [f64; 4] {
    let (c1, c2) = (d[0], 0.5 * dd[0]);
    // Value, slope and second derivative at 1 that s³, s⁴, s⁵ add to the Taylor polynomial of the start.
    let (a, b, c) = (x - c1 - c2, d[1] - c1 - 2.0 * c2, dd[1] - 2.0 * c2);
    let c3 = 10.0 * a - 4.0 * b + 0.5 * c;
    let c4 = -15.0 * a + 7.0 * b - c;
    let c5 = 6.0 * a - 3.0 * b + 0.5 * c;
    [
        s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5)))),
        c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5))),
        2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5)),
        6.0 * c3 + s * (24.0 * c4 + s * 60.0 * c5),
    ]
}

/// Closes an interpolated position. A sample is as good as its polynomial: it never fails for a residual.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: 1e-13,
    redundant_target: None,
    give_up_above: f64::INFINITY,
    stall_ratio: f64::INFINITY,
    patience: 0,
    limit: 4,
    matrix: ClosureMatrix::Mass,
};

impl Integrator {
    /// Modes in which the last step was made; an event at its end may have changed those of the state.
    pub fn step_modes(&self) -> &[i32] {
        self.segment.modes()
    }

    /// As [`Integrator::interpolate`], up to a level: what is above it is not consistent.
    pub fn interpolate_to(
        &mut self,
        system: &dyn System,
        env: &Environment,
        t: f64,
        level: SampleLevel,
        out: &mut Sample,
    ) -> Result<()> {
        let Self {
            work: core,
            segment,
            ..
        } = self;
        if !segment.valid {
            return Err(Error::CallOrder {
                call: "interpolate",
                reason: "no step has been taken yet",
            });
        }
        let [t0, t1] = segment.t;
        if !(t >= t0 && t <= t1) {
            return Err(Error::Argument {
                name: "t".into(),
                value: t.to_string(),
                expected: format!("a time within the last step, {t0} to {t1} s"),
            });
        }
        let s = (t - t0) / (t1 - t0);
        out.t = t;
        for (end, at) in [(0, t0), (1, t1)] {
            if t == at {
                out.q.clone_from(&segment.q[end]);
                out.v.clone_from(&segment.v[end]);
                out.acc.clone_from(&segment.acc[end]);
                out.lambda.clone_from(&segment.lambda[end]);
                (out.dissipated, out.supplied) = (segment.dissipated[end], segment.supplied[end]);
                return Ok(());
            }
        }
        // In the modes of the step: an event at its end may have changed those of the state.
        let mut modes = std::mem::take(&mut self.modes);
        modes.copy_from_slice(&segment.modes);
        let p = Problem {
            system,
            env: *env,
            modes: &modes,
        };
        let (dissipated, supplied) = segment.work(core, &p, s);
        out.dissipated = segment.dissipated[0] + dissipated;
        out.supplied = segment.supplied[0] + supplied;
        out.q.resize(core.size.nq, 0.0);
        out.v.resize(core.size.nv, 0.0);
        out.acc.resize(core.size.nv, 0.0);
        let EvaluationVectors {
            displacement: w,
            inertia: w_dot,
            ..
        } = &mut core.evaluation;
        let Sample { q, v, acc, .. } = &mut *out;
        let here = BlendedPolynomial { q, v, acc };
        segment.blend(system, core.character.rotations, s, [w, w_dot], here);
        out.lambda.clone_from(&segment.lambda[1]);
        core.step_matrix
            .select_active(system, &modes, &segment.redundant);
        core.mass_matrix
            .select_active(system, &modes, &segment.redundant);
        let outcome = core.make_sample_consistent(&p, out, &CLOSURE, level);
        self.modes = modes;
        outcome.map_err(|r| r.error(system, t, 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomials_reproduce_their_degree() {
        for s in [0.0, 0.2, 0.5, 0.9, 1.0] {
            // x = s³ − 2 s² + 3, slopes −0 and 3 − 4
            let x = hermite3(s, [3.0, 2.0], [0.0, -1.0]);
            assert!((x - (s * s * s - 2.0 * s * s + 3.0)).abs() < 1e-14);
            // x = s⁵ − s⁴ + 2 s² − s
            let found = hermite5(s, 1.0, [-1.0, 4.0], [4.0, 12.0]);
            let exact = [
                s.powi(5) - s.powi(4) + 2.0 * s * s - s,
                5.0 * s.powi(4) - 4.0 * s.powi(3) + 4.0 * s - 1.0,
                20.0 * s.powi(3) - 12.0 * s * s + 4.0,
                60.0 * s * s - 24.0 * s,
            ];
            for (found, exact) in found.iter().zip(exact) {
                assert!((found - exact).abs() < 1e-12, "{s} {found} {exact}");
            }
            let slope = hermite3_slope(s, -1.0, [0.0, -1.0]);
            assert!(
                (slope - (3.0 * s * s - 4.0 * s)).abs() < 1e-14,
                "{s} {slope}"
            );
        }
    }
}
