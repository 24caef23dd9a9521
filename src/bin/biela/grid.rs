//! Equally spaced times without drift: each is computed from its number, never from its predecessor.
//!
//! ```text
//!   t_k = start + k H,   k = 0, 1, ... while t_k <= stop
//! ```

/// More points than this in one run is taken for a slip of the pen.
const MOST_POINTS: f64 = 1e9;

/// Relative to H: a point this close to `stop` is `stop`.
const ROUNDING: f64 = 1e-9;

/// The times, taken one after the other.
#[derive(Clone, Debug)]
pub struct Grid {
    start: f64,
    stop: f64,
    spacing: f64,
    last: u64,
    next: u64,
}

impl Grid {
    /// `spacing` > 0, `stop` >= `start`; `None` where there would be absurdly many points.
    pub fn new(start: f64, stop: f64, spacing: f64) -> Option<Self> {
        let points = (stop - start) / spacing;
        // Closer than the resolution of time itself: neighbours would coincide.
        if points > MOST_POINTS || stop - spacing == stop {
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

    /// `intervals` equal parts of the whole span.
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

    /// The next point not yet taken, if it is not after `end` by more than rounding.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut grid: Grid) -> Vec<f64> {
        std::iter::from_fn(|| grid.due(f64::INFINITY)).collect()
    }

    #[test]
    fn points_are_products_and_the_last_is_stop_in_spite_of_rounding() {
        // 3 x 0.1 is 0.30000000000000004: beyond 0.3, yet meant.
        let times = all(Grid::new(0.0, 0.3, 0.1).unwrap());
        assert_eq!(times, [0.0, 0.1, 0.2, 0.3]);
        let times = all(Grid::new(-1.0, 9.0, 0.01).unwrap());
        assert_eq!(times.len(), 1001);
        assert_eq!(times[337], -1.0 + 337.0 * 0.01);
        assert_eq!(times[1000], 9.0);
    }

    #[test]
    fn a_span_that_is_no_multiple_ends_before_stop() {
        assert_eq!(all(Grid::new(0.0, 1.0, 0.4).unwrap()), [0.0, 0.4, 0.8]);
        assert_eq!(all(Grid::new(0.0, 1.0, 3.0).unwrap()), [0.0]);
    }

    #[test]
    fn absurd_spacings_are_refused() {
        assert!(Grid::new(0.0, 1.0, 1e-12).is_none());
        assert!(Grid::new(1e20, 1e20 + 1e6, 1.0).is_none());
    }

    #[test]
    fn points_wait_until_they_are_due() {
        let mut grid = Grid::new(0.0, 1.0, 0.25).unwrap();
        assert_eq!(grid.due(0.3), Some(0.0));
        assert_eq!(grid.due(0.3), Some(0.25));
        assert_eq!(grid.due(0.3), None);
        assert_eq!(grid.peek(0.5 - 1e-16), Some(0.5));
        assert_eq!(all(Grid::parts(2.0, 3.0, 7)).last(), Some(&3.0));
    }
}
