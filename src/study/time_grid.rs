//! Equally spaced times without drift: each is computed from its index, not from its predecessor.
//!
//! ```text
//!   t_k = start + k H,   k = 0, 1, ... while t_k <= stop
//! ```

/// Largest number of points in a run. A convention: more are a mistake.
const LARGEST_COUNT: f64 = 1e9;

/// Largest distance of a point from `stop`, relative to H, at which it counts as `stop`. Rounding of k H is far smaller.
const ROUNDING: f64 = 1e-9;

/// Equally spaced times, taken one after the other.
#[derive(Clone, Debug)]
pub struct TimeGrid {
    start: f64,
    stop: f64,
    spacing: f64,
    last: u64,
    next: u64,
}

impl TimeGrid {
    /// `spacing` > 0, `stop` >= `start`; `None` if there would be too many points.
    pub fn new(start: f64, stop: f64, spacing: f64) -> Option<Self> {
        let points = (stop - start) / spacing;
        // Closer than the resolution of floating-point time: neighbours would coincide.
        if points > LARGEST_COUNT || stop - spacing == stop {
            return None;
        }
        Some(Self {
            start,
            stop,
            spacing,
            last: (points + ROUNDING).floor() as u64,
            next: 0,
        })
    }

    /// Divides the span into `intervals` equal parts.
    pub fn parts(start: f64, stop: f64, intervals: u64) -> Self {
        Self {
            start,
            stop,
            spacing: (stop - start) / intervals as f64,
            last: intervals,
            next: 0,
        }
    }

    /// The time of point `k`.
    fn time(&self, k: u64) -> f64 {
        let t = self.start + k as f64 * self.spacing;
        if (t - self.stop).abs() <= ROUNDING * self.spacing {
            return self.stop;
        }
        t
    }

    /// The next point, if it is not after `end` by more than rounding.
    pub fn peek(&self, end: f64) -> Option<f64> {
        let t = (self.next <= self.last).then(|| self.time(self.next))?;
        (t <= end + ROUNDING * self.spacing).then_some(t)
    }

    /// Takes that point.
    pub fn due(&mut self, end: f64) -> Option<f64> {
        let t = self.peek(end)?;
        self.next += 1;
        Some(t)
    }
}

/// All points that are left.
impl Iterator for TimeGrid {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.due(f64::INFINITY)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from((self.last + 1).saturating_sub(self.next)).ok();
        (left.unwrap_or(usize::MAX), left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(grid: TimeGrid) -> Vec<f64> {
        let count = grid.size_hint().0;
        let times: Vec<f64> = grid.collect();
        assert_eq!(times.len(), count);
        times
    }

    #[test]
    fn points_are_multiples_and_the_last_is_stop_despite_rounding() {
        // 3 x 0.1 is 0.30000000000000004: above 0.3.
        let times = all(TimeGrid::new(0.0, 0.3, 0.1).unwrap());
        assert_eq!(times, [0.0, 0.1, 0.2, 0.3]);
        let times = all(TimeGrid::new(-1.0, 9.0, 0.01).unwrap());
        assert_eq!(times.len(), 1001);
        assert_eq!(times[337], -1.0 + 337.0 * 0.01);
        assert_eq!(times[1000], 9.0);
    }

    #[test]
    fn a_span_that_is_not_a_multiple_ends_before_stop() {
        assert_eq!(all(TimeGrid::new(0.0, 1.0, 0.4).unwrap()), [0.0, 0.4, 0.8]);
        assert_eq!(all(TimeGrid::new(0.0, 1.0, 3.0).unwrap()), [0.0]);
    }

    #[test]
    fn too_many_points_are_an_error() {
        assert!(TimeGrid::new(0.0, 1.0, 1e-12).is_none());
        assert!(TimeGrid::new(1e20, 1e20 + 1e6, 1.0).is_none());
    }

    #[test]
    fn points_are_taken_when_they_are_due() {
        let mut grid = TimeGrid::new(0.0, 1.0, 0.25).unwrap();
        assert_eq!(grid.due(0.3), Some(0.0));
        assert_eq!(grid.due(0.3), Some(0.25));
        assert_eq!(grid.due(0.3), None);
        assert_eq!(grid.peek(0.5 - 1e-16), Some(0.5));
        assert_eq!(all(TimeGrid::parts(2.0, 3.0, 7)).last(), Some(&3.0));
    }
}
