//! Smallest and largest values of variables over a run, also between the ends of steps.
//!
//! A parabola through the last three step ends says whether a variable may turn inside the step:
//!
//! ```text
//!   s = (y₁ − y₀)/h,   c = second difference:   it may turn where  |s| <= k |c| h/2,   by at most  k |c| h²/8
//! ```
//!
//! Only where it then passes the extreme so far, by more than the tolerance of the run leaves uncertain, is the step looked into, and
//! only those variables are read there: forces cost a solve at each point.

use crate::component::{Instance, StepProbe};
use crate::error::Result;

/// How much larger the curvature inside a step may be than the last second difference. A convention, on the safe side: steps
/// resolve the motion, so that the curvature changes by less from one to the next.
const CURVATURE_MARGIN: f64 = 2.0;

/// What an extreme may be short of, over the tolerance of the run and the largest value so far: far below the error of the run.
const UNSEEN: f64 = 1e-3;

/// Refinements by a parabola, the first through the ends and the middle of the step. It leaves h³, the second what the interpolation
/// leaves.
const REFINEMENTS: usize = 2;

/// Smallest and largest values of some variables.
pub struct Extremes {
    /// Value references.
    references: Vec<u32>,
    /// `UNSEEN` of the tolerance.
    unseen: f64,
    /// Smallest values so far.
    pub smallest: Vec<f64>,
    /// Largest values so far.
    pub largest: Vec<f64>,
    /// End of the last step and the values there.
    last: (f64, Vec<f64>),
    /// The end before, unless an event lies between.
    before: Option<(f64, Vec<f64>)>,
    /// Values at the end of the step, before its event.
    end: Vec<f64>,
    /// Variables that may turn inside the step, their references, and their values in its middle.
    turning: Vec<usize>,
    turning_references: Vec<u32>,
    middle: Vec<f64>,
}

impl Extremes {
    /// Begins at the start of an initialised instance.
    pub fn new(instance: &mut Instance, references: Vec<u32>) -> Result<Self> {
        let mut values = vec![0.0; references.len()];
        instance.get_real(&references, &mut values)?;
        Ok(Self {
            smallest: values.clone(),
            largest: values.clone(),
            end: values.clone(),
            middle: values.clone(),
            turning: Vec::with_capacity(references.len()),
            turning_references: Vec::with_capacity(references.len()),
            last: (instance.time(), values),
            before: None,
            unseen: UNSEEN * instance.model().solver.tolerance,
            references,
        })
    }

    /// The values at the end of the last step.
    pub fn finals(&self) -> &[f64] {
        &self.last.1
    }

    /// Takes an accepted step.
    pub fn accepted(&mut self, probe: &mut StepProbe) -> Result<()> {
        let event = probe.at_event();
        match event {
            true => probe.left_limits(&self.references, &mut self.end)?,
            false => probe.values(probe.end(), &self.references, &mut self.end)?,
        }
        for i in 0..self.end.len() {
            self.include(i, self.end[i]);
        }
        let span = [probe.start(), probe.end()];
        self.turning.clear();
        for i in 0..self.end.len() {
            if self.may_turn(i, span) {
                self.turning.push(i);
            }
        }
        if !self.turning.is_empty() {
            self.look_inside(probe, span);
        }
        let before = self
            .before
            .get_or_insert_with(|| (0.0, self.last.1.clone()));
        before.0 = self.last.0;
        before.1.copy_from_slice(&self.last.1);
        self.last.0 = span[1];
        if event {
            self.before = None;
            probe.values(span[1], &self.references, &mut self.last.1)?;
            for i in 0..self.end.len() {
                self.include(i, self.last.1[i]);
            }
        } else {
            self.last.1.copy_from_slice(&self.end);
        }
        Ok(())
    }

    fn include(&mut self, i: usize, value: f64) {
        self.smallest[i] = self.smallest[i].min(value);
        self.largest[i] = self.largest[i].max(value);
    }

    /// Largest magnitude of variable `i` so far.
    fn size(&self, i: usize) -> f64 {
        self.largest[i].abs().max(self.smallest[i].abs())
    }

    /// Whether variable `i` may pass its extremes inside a step.
    fn may_turn(&self, i: usize, [t0, t1]: [f64; 2]) -> bool {
        let Some((t_before, before)) = &self.before else {
            return true;
        };
        let (y0, y1, h) = (self.last.1[i], self.end[i], t1 - t0);
        let slope = (y1 - y0) / h;
        let slope_before = (y0 - before[i]) / (t0 - t_before);
        let curvature = CURVATURE_MARGIN * 2.0 * (slope - slope_before).abs() / (t1 - t_before);
        // What it may turn by, less what need not be seen.
        let beyond = curvature * h * h / 8.0 - self.unseen * self.size(i);
        slope.abs() <= curvature * h / 2.0
            && (y0.max(y1) + beyond > self.largest[i] || y0.min(y1) - beyond < self.smallest[i])
    }

    /// Reads the variables that may turn in the middle of the step, and each that does where a parabola has its vertex. A point that
    /// cannot be interpolated is left out: the step itself was accepted.
    fn look_inside(&mut self, probe: &mut StepProbe, [t0, t1]: [f64; 2]) {
        let h = t1 - t0;
        self.turning_references.clear();
        (self.turning_references).extend(self.turning.iter().map(|&i| self.references[i]));
        let values = &mut self.middle[..self.turning.len()];
        let middle = probe.values(t0 + 0.5 * h, &self.turning_references, values);
        if middle.is_err() {
            return;
        }
        for k in 0..self.turning.len() {
            let i = self.turning[k];
            let points = [self.last.1[i], self.middle[k], self.end[i]];
            self.include(i, points[1]);
            for sign in [1.0, -1.0] {
                self.refine(probe, i, (t0, h), points.map(|y| sign * y), sign);
            }
        }
    }

    /// Refines the largest of three values of variable `i` at the ends and in the middle of a step, multiplied with `sign`.
    fn refine(
        &mut self,
        probe: &mut StepProbe,
        i: usize,
        (t0, h): (f64, f64),
        mut y: [f64; 3],
        sign: f64,
    ) {
        let mut s = [0.0, 0.5, 1.0];
        for _ in 0..REFINEMENTS {
            let Some((vertex, peak)) = vertex(s, y)
                .filter(|(vertex, _)| s[0] < *vertex && *vertex < s[2] && *vertex != s[1])
            else {
                return;
            };
            let known = sign
                * match sign > 0.0 {
                    true => self.largest[i],
                    false => self.smallest[i],
                };
            // The parabola may be wrong by as much as it rises.
            let rise = peak - y[0].max(y[1]).max(y[2]);
            if peak + rise < known + self.unseen * self.size(i) {
                return;
            }
            let mut value = [0.0];
            let reference = [self.references[i]];
            if probe
                .values(t0 + vertex * h, &reference, &mut value)
                .is_err()
            {
                return;
            }
            self.include(i, value[0]);
            let new = sign * value[0];
            // The bracket keeps its largest value in the middle.
            let (left, right) = if vertex < s[1] { (0, 2) } else { (2, 0) };
            if new >= y[1] {
                (s[right], y[right]) = (s[1], y[1]);
                (s[1], y[1]) = (vertex, new);
            } else {
                (s[left], y[left]) = (vertex, new);
            }
        }
    }
}

/// Where the parabola through three points has its largest value, and that value.
fn vertex(s: [f64; 3], y: [f64; 3]) -> Option<(f64, f64)> {
    let left = (y[1] - y[0]) / (s[1] - s[0]);
    let right = (y[2] - y[1]) / (s[2] - s[1]);
    let curvature = (right - left) / (s[2] - s[0]);
    // y = y₀ + left (s − s₀) + curvature (s − s₀)(s − s₁)
    let at = 0.5 * (s[0] + s[1]) - 0.5 * left / curvature;
    let peak = y[0] + (at - s[0]) * (left + curvature * (at - s[1]));
    (curvature < 0.0).then_some((at, peak))
}

#[cfg(test)]
mod tests {
    use super::vertex;

    #[test]
    fn a_parabola_has_its_vertex_where_it_is() {
        let f = |s: f64| 3.0 - 2.0 * (s - 0.3).powi(2);
        let (found, peak) = vertex([0.1, 0.25, 0.9], [0.1, 0.25, 0.9].map(f)).unwrap();
        assert!((found - 0.3).abs() < 1e-14 && (peak - 3.0).abs() < 1e-14);
        assert_eq!(vertex([0.0, 0.5, 1.0], [1.0, 0.0, 1.0]), None);
    }
}
