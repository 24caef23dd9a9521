//! Interpolation in the last accepted step by Hermite polynomials on its ends, closed and projected. The work of the step is in `work`.
//!
//! ```text
//!   vector coordinates   q(s): quintic on q, v, q̈ at both ends,  v(s) its derivative
//!                        v(s): cubic on v, q̈ where q hardly changes: its change is mostly rounding
//!   rotations            w(s): cubic on w = log(q₀⁻¹ ∘ q), w' at both ends;  v(s): cubic on v, q̈ at both ends
//!   on the smooth path   q(s): septic on q, v, q̈, j;  w(s): quintic on w, w', w'', v(s): quintic on v, q̈, j at both ends
//! ```

mod look_ahead;
mod work;

use super::closure::{ClosureMatrix, ClosureOptions};
use super::hermite_polynomial::{hermite3, hermite3_slope, hermite5, hermite7};
use super::trial::Trial;
use super::workspace::{EvaluationVectors, Problem};
use super::{Environment, Integrator, Sample, SampleLevel, State};
use crate::error::{Error, Result};
use crate::formulation::system::{Dimensions, IntegralMemory, System};

/// Change of a coordinate over its magnitude up to which its slope is not taken from it: the rounding of the change is then more than
/// a millionth of it.
const BARELY_MOVED: f64 = 1e6 * f64::EPSILON;

/// Half width of the difference for w'' (steps): its error, 1e-6 of the fourth derivative, is far below that of the quintic.
const RATE_DIFFERENCE: f64 = 1e-3;

/// The last accepted substep, before anything an event changed at its end.
#[derive(Default)]
pub(super) struct Segment {
    t: [f64; 2],
    q: [Vec<f64>; 2],
    v: [Vec<f64>; 2],
    acc: [Vec<f64>; 2],
    /// Empty unless steps may take the smooth path.
    jerk: [Vec<f64>; 2],
    /// Taken on the smooth path: its jerks are those of the motion.
    smooth: bool,
    lambda: [Vec<f64>; 2],
    lambda_dot: [Vec<f64>; 2],
    modes: Vec<i32>,
    integrals: Vec<IntegralMemory>,
    redundant: Vec<bool>,
    dissipated: [f64; 2],
    supplied: [f64; 2],
    valid: bool,
    /// Made from the states at both ends, not by the step itself.
    spanned: bool,
    /// Set if Simpson's rule over the whole step left its energy balance open.
    refined: Option<work::OpenBalance>,
    /// A point inside the step.
    node: Sample,
}

/// Output of an interpolation.
pub(super) struct BlendedPolynomial<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub acc: &'a mut [f64],
}

/// Both ends of a step of size h.
pub(super) struct StepEnds<'a> {
    pub h: f64,
    pub q: [&'a [f64]; 2],
    pub v: [&'a [f64]; 2],
    pub acc: [&'a [f64]; 2],
    /// Where they are those of the motion.
    pub jerk: Option<[&'a [f64]; 2]>,
}

impl StepEnds<'_> {
    /// q, v and q̈ at the fraction `s` of the step, not yet consistent; `w` and `rate` are overwritten.
    pub fn blend(
        &self,
        system: &dyn System,
        rotations: bool,
        s: f64,
        [w, rate]: [&mut [f64]; 2],
        out: BlendedPolynomial,
    ) {
        let Self { h, q, v, acc, jerk } = *self;
        if let Some(jerk) = jerk {
            self.blend_with_jerk(system, rotations, (s, jerk), [w, rate], out);
            return;
        }
        if rotations {
            system.difference(q[0], q[1], w);
            rate.copy_from_slice(v[1]);
            system.tangent_inverse(w, rate);
            for i in 0..w.len() {
                w[i] = hermite3(s, [0.0, w[i]], [h * v[0][i], h * rate[i]]);
                let slopes = [h * acc[0][i], h * acc[1][i]];
                out.v[i] = hermite3(s, [v[0][i], v[1][i]], slopes);
                out.acc[i] = hermite3_slope(s, v[1][i] - v[0][i], slopes) / h;
            }
        } else {
            for i in 0..w.len() {
                let rise = q[1][i] - q[0][i];
                let d = [h * v[0][i], h * v[1][i]];
                let dd = [h * h * acc[0][i], h * h * acc[1][i]];
                let [x, dx, ddx, _] = hermite5(s, rise, d, dd);
                w[i] = x;
                (out.v[i], out.acc[i]) =
                    if rise.abs() > BARELY_MOVED * q[0][i].abs().max(q[1][i].abs()) {
                        (dx / h, ddx / (h * h))
                    } else {
                        let slopes = [h * acc[0][i], h * acc[1][i]];
                        (
                            hermite3(s, [v[0][i], v[1][i]], slopes),
                            hermite3_slope(s, v[1][i] - v[0][i], slopes) / h,
                        )
                    };
            }
        }
        system.retract(q[0], w, out.q);
    }

    /// The same with jerks.
    fn blend_with_jerk(
        &self,
        system: &dyn System,
        rotations: bool,
        (s, jerk): (f64, [&[f64]; 2]),
        [w, rate]: [&mut [f64]; 2],
        out: BlendedPolynomial,
    ) {
        let Self { h, q, v, acc, .. } = *self;
        if rotations {
            system.difference(q[0], q[1], w);
            rate.copy_from_slice(v[1]);
            system.tangent_inverse(w, rate);
            // w'' at the end: w' = T⁻¹(w) v along the motion.
            let e = RATE_DIFFERENCE * h;
            out.acc.fill(0.0);
            for sign in [1.0, -1.0] {
                let near = &mut out.q[..w.len()];
                for i in 0..w.len() {
                    near[i] = w[i] + sign * e * rate[i];
                    out.v[i] = v[1][i] + e * (sign * acc[1][i] + 0.5 * e * jerk[1][i]);
                }
                system.tangent_inverse(near, out.v);
                for i in 0..w.len() {
                    out.acc[i] += 0.5 * sign * out.v[i] / e;
                }
            }
            for i in 0..w.len() {
                let d = [h * v[0][i], h * rate[i]];
                let dd = [h * h * acc[0][i], h * h * out.acc[i]];
                [w[i], ..] = hermite5(s, w[i], d, dd);
                let d = [h * acc[0][i], h * acc[1][i]];
                let dd = [h * h * jerk[0][i], h * h * jerk[1][i]];
                let [x, dx, ..] = hermite5(s, v[1][i] - v[0][i], d, dd);
                out.v[i] = v[0][i] + x;
                out.acc[i] = dx / h;
            }
        } else {
            let [h2, h3] = [h * h, h * h * h];
            for i in 0..w.len() {
                let d = [h * v[0][i], h * v[1][i]];
                let dd = [h2 * acc[0][i], h2 * acc[1][i]];
                let ddd = [h3 * jerk[0][i], h3 * jerk[1][i]];
                let [x, dx, ddx] = hermite7(s, q[1][i] - q[0][i], d, dd, ddd);
                w[i] = x;
                out.v[i] = dx / h;
                out.acc[i] = ddx / h2;
            }
        }
        system.retract(q[0], w, out.q);
    }
}

impl Segment {
    /// `smooth`: steps may take the smooth path.
    pub fn new(size: &Dimensions, smooth: bool) -> Self {
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
            jerk: two(if smooth { size.nv } else { 0 }),
            lambda: two(size.nc),
            lambda_dot: two(size.nc),
            modes: vec![0; size.modes],
            integrals: vec![IntegralMemory::default(); size.integrals],
            redundant: vec![false; size.nc],
            ..Self::default()
        }
    }

    /// Modes in which the step was made.
    pub fn modes(&self) -> &[i32] {
        &self.modes
    }

    /// Integrals at its start.
    pub fn integrals(&self) -> &[IntegralMemory] {
        &self.integrals
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
        self.spanned = false;
        self.t[0] = s.t;
        self.modes.copy_from_slice(&s.modes);
        self.integrals.copy_from_slice(&s.integrals);
        self.redundant.copy_from_slice(&s.redundant);
        (self.dissipated[0], self.supplied[0]) = (s.dissipated, s.supplied);
    }

    /// Takes the vectors of the start of the step. Those left in their place are undefined.
    pub fn begin(&mut self, old: &mut Trial) {
        std::mem::swap(&mut self.q[0], &mut old.q);
        std::mem::swap(&mut self.v[0], &mut old.v);
        std::mem::swap(&mut self.acc[0], &mut old.acc);
        if !self.jerk[0].is_empty() {
            std::mem::swap(&mut self.jerk[0], &mut old.jerk);
        }
        std::mem::swap(&mut self.lambda[0], &mut old.lambda);
        std::mem::swap(&mut self.lambda_dot[0], &mut old.lambda_dot);
    }

    pub fn end(&mut self, s: &State, smooth: bool) {
        self.t[1] = s.t;
        self.q[1].copy_from_slice(&s.q);
        self.v[1].copy_from_slice(&s.v);
        self.acc[1].copy_from_slice(&s.acc);
        if !self.jerk[1].is_empty() {
            self.jerk[1].copy_from_slice(&s.jerk);
        }
        self.smooth = smooth;
        self.lambda[1].copy_from_slice(&s.lambda);
        self.lambda_dot[1].copy_from_slice(&s.lambda_dot);
        self.valid = true;
    }

    /// Sets the work integrals at the end of the step.
    pub fn set_work(&mut self, s: &State) {
        (self.dissipated[1], self.supplied[1]) = (s.dissipated, s.supplied);
    }

    fn ends(&self) -> StepEnds<'_> {
        let Self {
            t, q, v, acc, jerk, ..
        } = self;
        StepEnds {
            h: t[1] - t[0],
            q: [&q[0], &q[1]],
            v: [&v[0], &v[1]],
            acc: [&acc[0], &acc[1]],
            jerk: self.smooth.then_some([&jerk[0], &jerk[1]]),
        }
    }
}

/// Closes an interpolated position. A sample is as good as its polynomial: it never fails for a residual.
const CLOSURE: ClosureOptions = ClosureOptions {
    target: 1e-13,
    corrects_once: false,
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

    /// Integrals at the start of the last step.
    pub fn step_integrals(&self) -> &[IntegralMemory] {
        self.segment.integrals()
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
        core.set_integrals(&segment.integrals);
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
        segment
            .ends()
            .blend(system, core.character.rotations, s, [w, w_dot], here);
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
