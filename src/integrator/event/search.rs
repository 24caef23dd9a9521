//! Finds the first crossing of an event function along the dense output of a step: bound first, look second.
//!
//! ```text
//!   open by g, |g''| ≤ B:   g'(t) ≥ max(g_a' − B τ, g_b' − B (T − τ)),   τ = t − t_a,   integrated from g_a; the same from the right end
//!   both bounds together positive over an interval: no crossing in it, proven
//!   otherwise               look at its middle; both halves again, the left one first
//! ```
//!
//! An interval on which the cubic through both ends is as good as exact is not halved any more: the cubic decides. Where no
//! bound is known, B is four times the largest second derivative of that cubic.

use super::super::state::{EventMemory, State};
use super::super::trial::Trial;
use super::super::workspace::{Problem, Workspace};
use super::crossing::{first_crossing, is_beyond};
use super::dense_output::{DenseOutput, EventValues};
use crate::formulation::system::{Crossing, Dimensions};

/// Halvings of a step at most: at 50 rad/s a step of ten seconds is then looked at every 0.03 rad.
const DEPTH: usize = 14;
/// Difference of the cubic from the look in the middle below which the cubic is as good as exact, relative. On the halves it is
/// 16 times smaller.
const EXACT: f64 = 1e-5;
/// Difference that is rounding (m or rad).
const ROUNDING: f64 = 1e-14;
/// Looks at one step, at most; then the cubic decides.
const LOOKS: usize = 2000;
/// Second derivative of the cubic that stands for a bound where none is known.
const UNKNOWN_BOUND: f64 = 4.0;

/// A crossing found on the dense output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PredictedCrossing {
    pub event: usize,
    /// Part of the step.
    pub root: f64,
    /// The interval of the step that contains it, as parts of the step.
    pub interval: [f64; 2],
    pub rising: bool,
    /// One of two in an interval that begins and ends on the same side.
    pub pair: bool,
}

/// Event functions at a point of the step.
struct Look {
    /// Part of the step.
    at: f64,
    phi: Vec<f64>,
    rate: Vec<f64>,
    /// On the interval that ends here the cubic is as good as exact.
    exact: bool,
}

/// Memory of the search: looks at the left end of the first interval, then at the right ends, the nearest last.
pub(super) struct CrossingSearch {
    looks: Vec<Look>,
    dense: DenseOutput,
    bounds: Vec<f64>,
    scratch: Vec<f64>,
    crossings: Vec<Crossing>,
    shift: Vec<f64>,
}

/// One event function on an interval: values and slopes at both ends, scaled to the unit interval.
#[derive(Clone, Copy)]
struct Ends {
    x: [f64; 2],
    d: [f64; 2],
}

impl Ends {
    /// Whether the event cannot occur between the ends if |φ''| is at most `bound` (per unit interval squared).
    fn excludes(&self, crossing: Crossing, bound: f64) -> bool {
        let Self { x, d } = *self;
        let sign = match crossing {
            Crossing::Falling => 1.0,
            Crossing::Rising => -1.0,
            Crossing::Either if x[0] > 0.0 && x[1] > 0.0 => 1.0,
            Crossing::Either if x[0] < 0.0 && x[1] < 0.0 => -1.0,
            Crossing::Either => return false,
            Crossing::Off => return true,
        };
        let (open, rate) = (x.map(|x| sign * x), d.map(|d| sign * d));
        if !(open[0] >= 0.0 && open[1] > 0.0) {
            return false;
        }
        let from_left = safe_part(open[0], [rate[0], rate[1]], bound);
        let from_right = safe_part(open[1], [-rate[1], -rate[0]], bound);
        from_left + from_right >= 1.0
    }

    /// Largest second derivative of the cubic.
    fn curvature(&self) -> f64 {
        let Self { x, d } = self;
        let rise = x[1] - x[0];
        let at_start = 6.0 * rise - 4.0 * d[0] - 2.0 * d[1];
        let at_end = -6.0 * rise + 2.0 * d[0] + 4.0 * d[1];
        at_start.abs().max(at_end.abs())
    }

    /// The cubic in the middle.
    fn middle(&self) -> f64 {
        let Self { x, d } = self;
        0.5 * (x[0] + x[1]) + 0.125 * (d[0] - d[1])
    }
}

/// Part of the unit interval for which g stays positive if it starts with `g`, has the slopes `r` at both ends and |g''| ≤ `bound`.
///
/// ```text
///   g' ≥ max(r₀ − B t, r₁ − B (1 − t)):      g ≥ a parabola that opens downwards, then one that opens upwards
/// ```
fn safe_part(g: f64, r: [f64; 2], bound: f64) -> f64 {
    let falling = safe_time(g, r[0], bound);
    // Where both bounds of the slope are equal; at the start if there is no curvature at all.
    let turn = ((r[0] - r[1] + bound) / (2.0 * bound)).clamp(0.0, 1.0);
    if !(falling > turn) {
        return falling;
    }
    let slope = r[0] - bound * turn;
    let height = g + turn * (r[0] - 0.5 * bound * turn);
    let discriminant = slope * slope - 2.0 * bound * height;
    if slope >= 0.0 || discriminant < 0.0 {
        return f64::INFINITY;
    }
    turn + 2.0 * height / (discriminant.sqrt() - slope)
}

/// Time for which g + r t − B t²/2 stays positive.
fn safe_time(g: f64, r: f64, bound: f64) -> f64 {
    let root = (r * r + 2.0 * bound * g).sqrt();
    // The larger root, without cancellation.
    if r > 0.0 {
        if bound > 0.0 {
            (r + root) / bound
        } else {
            f64::INFINITY
        }
    } else if g > 0.0 {
        2.0 * g / (root - r)
    } else {
        0.0
    }
}

impl CrossingSearch {
    pub fn new(size: &Dimensions) -> Self {
        let n = || vec![0.0; size.ne];
        let look = || Look {
            at: 0.0,
            phi: n(),
            rate: n(),
            exact: false,
        };
        let looks = if size.ne > 0 { DEPTH + 2 } else { 0 };
        Self {
            looks: (0..looks).map(|_| look()).collect(),
            dense: DenseOutput::new(size),
            bounds: n(),
            scratch: n(),
            crossings: vec![Crossing::Off; size.ne],
            shift: n(),
        }
    }

    /// See [`DenseOutput::rotates_too_far`].
    pub fn rotates_too_far(&mut self, p: &Problem, step: (&State, &Trial)) -> bool {
        self.dense.rotates_too_far(p, step)
    }

    /// First crossing of the step from `s` to the trial, with φ and its rate at both ends and the crossings that count. Event i is not
    /// looked for up to the part `grazed[i]` of the step.
    pub fn first(
        &mut self,
        work: &mut Workspace,
        p: &Problem,
        step: (&State, &Trial),
        ends: [(&[f64], &[f64]); 2],
        crossings: &[Crossing],
        grazed: &[f64],
    ) -> Option<PredictedCrossing> {
        let (s, y) = step;
        self.crossings.copy_from_slice(crossings);
        let far_side_is_due = p.system.far_side_is_due();
        for i in 0..self.shift.len() {
            let crossing = crossings[i];
            let start = (ends[0].0[i], ends[0].1[i]);
            self.shift[i] = shift(crossing, start, s.event_memory[i], far_side_is_due);
        }
        for (k, (phi, rate)) in ends.into_iter().enumerate() {
            let look = &mut self.looks[k];
            look.at = k as f64;
            // Without bounds and without a far side that is due there is no more to know than the cubic of the step.
            look.exact = !far_side_is_due;
            look.rate.copy_from_slice(rate);
            for i in 0..phi.len() {
                look.phi[i] = phi[i] - self.shift[i];
            }
        }
        self.dense
            .second_derivative_bounds(work, p, step, &mut self.scratch, &mut self.bounds);
        let (mut top, mut looks) = (1, 0);
        while top > 0 {
            let skip = |i: usize, end: f64| end <= grazed[i];
            let here = self.looks[top].at;
            let open = |i: usize| !skip(i, here) && !self.excluded(i, y.h, top);
            if !(0..self.bounds.len()).any(open) {
                self.looks.swap(0, top);
                top -= 1;
            } else if self.looks[top].exact || top > DEPTH || looks > LOOKS {
                if let Some(found) = self.by_cubic(y.h, top, |i| skip(i, here)) {
                    return Some(found);
                }
                self.looks.swap(0, top);
                top -= 1;
            } else {
                self.halve(work, p, step, top);
                top += 1;
                looks += 1;
            }
        }
        None
    }

    /// Event function i on the interval that ends at look `top`.
    fn ends(&self, i: usize, h: f64, top: usize) -> Ends {
        let (left, right) = (&self.looks[0], &self.looks[top]);
        let dt = (right.at - left.at) * h;
        let x = [left.phi[i], right.phi[i]];
        let slope = |rate: f64| {
            if rate.is_nan() {
                x[1] - x[0]
            } else {
                dt * rate
            }
        };
        Ends {
            x,
            d: [slope(left.rate[i]), slope(right.rate[i])],
        }
    }

    /// Whether event i cannot occur in the interval that ends at look `top`.
    fn excluded(&self, i: usize, h: f64, top: usize) -> bool {
        let crossing = self.crossings[i];
        if crossing == Crossing::Off {
            return true;
        }
        let ends = self.ends(i, h, top);
        let dt = (self.looks[top].at - self.looks[0].at) * h;
        let bound = self.bounds[i] * dt * dt;
        let bound = if bound.is_nan() {
            UNKNOWN_BOUND * ends.curvature()
        } else {
            bound
        };
        ends.excludes(crossing, bound)
    }

    /// Looks at the middle of the interval that ends at look `top`, and whether the cubics are as good as exact there.
    fn halve(&mut self, work: &mut Workspace, p: &Problem, step: (&State, &Trial), top: usize) {
        let middle = 0.5 * (self.looks[0].at + self.looks[top].at);
        let look = &mut self.looks[top + 1];
        look.at = middle;
        let out = EventValues {
            phi: &mut look.phi,
            rate: &mut look.rate,
        };
        self.dense.event_functions(work, p, step, middle, out);
        for i in 0..look.phi.len() {
            look.phi[i] -= self.shift[i];
        }
        let h = step.1.h;
        let exact = (0..self.bounds.len()).all(|i| {
            if self.excluded(i, h, top) {
                return true;
            }
            let ends = self.ends(i, h, top);
            let found = self.looks[top + 1].phi[i];
            let scale = ends.x[0].abs() + ends.x[1].abs() + ends.d[0].abs() + ends.d[1].abs();
            (found - ends.middle()).abs() <= EXACT * scale + ROUNDING
        });
        self.looks[top].exact |= exact;
        self.looks[top + 1].exact = exact;
    }

    /// Earliest root of the cubics on the interval that ends at look `top`.
    fn by_cubic(
        &self,
        h: f64,
        top: usize,
        skip: impl Fn(usize) -> bool,
    ) -> Option<PredictedCrossing> {
        let interval = [self.looks[0].at, self.looks[top].at];
        let mut found: Option<PredictedCrossing> = None;
        for event in (0..self.bounds.len()).filter(|&i| !skip(i)) {
            let Ends { x, d } = self.ends(event, h, top);
            let first = first_crossing(x[0], d[0], x[1], d[1], self.crossings[event]);
            let Some((part, rising)) = first else {
                continue;
            };
            let root = interval[0] + part * (interval[1] - interval[0]);
            if found.is_none_or(|f| root < f.root) {
                found = Some(PredictedCrossing {
                    event,
                    root,
                    interval,
                    rising,
                    pair: (x[0] > 0.0 && x[1] > 0.0) || (x[0] < 0.0 && x[1] < 0.0),
                });
            }
        }
        found
    }
}

/// What φ is measured from: a step that starts on the far side of an event that is not due, or just had an impact there, returns at
/// first; it crosses when it comes as far again. So a hop that is lower than the accuracy of the location ends at the height at which it
/// began.
pub(super) fn shift(
    crossing: Crossing,
    (start, rate): (f64, f64),
    memory: EventMemory,
    far_side_is_due: bool,
) -> f64 {
    let impact = memory == EventMemory::Impact;
    let returns = (impact || far_side_is_due) && is_beyond(crossing, start) && !rate.is_nan();
    if returns || (impact && crossing == Crossing::Either) {
        start
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_that_stays_above_zero_is_excluded_and_one_that_dips_is_not() {
        // φ = c + (s − ½)², φ'' = 2
        let ends = |c: f64| Ends {
            x: [c + 0.25; 2],
            d: [-1.0, 1.0],
        };
        assert!(ends(0.01).excludes(Crossing::Falling, 2.0));
        assert!(!ends(-0.01).excludes(Crossing::Falling, 2.0));
        assert!(
            !ends(0.01).excludes(Crossing::Falling, 2.4),
            "the bound decides"
        );
        assert!(ends(0.01).excludes(Crossing::Off, f64::INFINITY));
    }

    #[test]
    fn a_hop_that_starts_at_zero_is_excluded_while_it_cannot_be_back() {
        // φ = s − B s²/2
        let hop = |bound: f64| Ends {
            x: [0.0, 1.0 - 0.5 * bound],
            d: [1.0, 1.0 - bound],
        };
        assert!(hop(1.9).excludes(Crossing::Falling, 1.9));
        assert!(!hop(2.1).excludes(Crossing::Falling, 2.1));
    }
}
