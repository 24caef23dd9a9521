//! The work of a step: dissipated by dampers and friction, supplied by drives.
//!
//! ```text
//!   W = h/6 (P₀ + 4 P_m + P₁)        Simpson
//! ```
//!
//! Drives do not limit the step: where everything is driven there is no error to estimate. If the energy balance of a step with
//! moving constraints is open by a part of the tolerance, its work is integrated over more and more panels, with multipliers
//! solved for at their points, until it does not change. Where this opens the balance further it is given up: between the ends of a
//! step that damps fast vibrations the multipliers have no meaning.

use super::{BlendedPolynomial, CLOSURE, Segment, hermite3};
use crate::formulation::system::{Energy, EvaluationContext, Properties, System};
use crate::integrator::event::dot;
use crate::integrator::trial::StepFailure;
use crate::integrator::workspace::{EvaluationVectors, Problem, Workspace};
use crate::integrator::{Sample, SampleLevel};

/// Energy balance of a step with moving constraints, over tolerance and energy turned over in the step, above which its work is
/// integrated again: a hundred such steps that all err in one direction are off by ten tolerances.
const OPEN_BALANCE: f64 = 0.1;
/// Panels of Simpson's rule at most: a force that reverses within a hundredth of the step is then resolved.
const MOST_PANELS: usize = 64;
/// Energy balance with more panels over that with one, from which more panels are given up.
const WORSE: f64 = 2.0;

/// A step whose energy balance is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBalance {
    /// Change of kinetic and potential energy (J).
    change: f64,
    /// Accuracy that its work needs (J).
    accuracy: f64,
}

impl OpenBalance {
    fn with(&self, work: &StepWork) -> f64 {
        self.change + work.dissipated - work.supplied
    }
}

/// Work since the start of a step (J); before the factor of Simpson's rule a sum of powers.
#[derive(Clone, Copy, Default)]
struct StepWork {
    dissipated: f64,
    supplied: f64,
}

impl Segment {
    /// Work dissipated and supplied from the start of the step to the fraction `s` of it. The whole step, s = 1, comes first.
    pub fn work(&mut self, core: &mut Workspace, p: &Problem, s: f64) -> (f64, f64) {
        let simple = self.simpson(core, p, s);
        if s == 1.0 {
            self.refined = self.open_balance(core, p, &simple);
        }
        let Some(open) = self.refined else {
            return (simple.dissipated, simple.supplied);
        };
        let (mut work, mut panels) = (simple, 2);
        while let Some(finer) = self.composite(core, p, s, panels) {
            let change =
                (finer.dissipated - work.dissipated).abs() + (finer.supplied - work.supplied).abs();
            work = finer;
            if s == 1.0 && open.with(&work).abs() > WORSE * open.with(&simple).abs() {
                self.refined = None;
                return (simple.dissipated, simple.supplied);
            }
            if change <= open.accuracy || panels == MOST_PANELS {
                break;
            }
            panels *= 2;
        }
        (work.dissipated, work.supplied)
    }

    /// The energy balance of the step if it is open with this work.
    fn open_balance(
        &self,
        core: &mut Workspace,
        p: &Problem,
        work: &StepWork,
    ) -> Option<OpenBalance> {
        if !core.character.moving_constraints {
            return None;
        }
        let energy = [0, 1].map(|end| {
            let cx = core.inputs.at(p, self.t[end]);
            p.system.energy(&cx, &self.q[end], &self.v[end])
        });
        let total = |energy: &Energy| energy.kinetic + energy.potential;
        let change = total(&energy[1]) - total(&energy[0]);
        let turned_over = energy[0].kinetic.max(energy[1].kinetic)
            + (energy[1].potential - energy[0].potential).abs()
            + work.dissipated.abs()
            + work.supplied.abs();
        let allowed = OPEN_BALANCE * core.settings.tolerance * turned_over;
        let open = OpenBalance {
            change,
            accuracy: 0.1 * allowed,
        };
        (open.with(work).abs() > allowed).then_some(open)
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
            self.ends()
                .blend(p.system, character.rotations, point, [w, w_dot], middle);
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
        self.ends()
            .blend(p.system, core.character.rotations, s, [w, w_dot], here);
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
