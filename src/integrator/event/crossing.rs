//! Directions of crossings, and the roots of the cubic through both ends of a step.

use super::super::state::EventSide;
use crate::formulation::system::Crossing;

/// Bisections that locate a root of the cubic to rounding.
const BISECTIONS: usize = 80;

/// φ is on the side to which the crossing leads.
pub(super) fn is_beyond(crossing: Crossing, phi: f64) -> bool {
    match crossing {
        Crossing::Rising => phi > 0.0,
        Crossing::Falling => phi < 0.0,
        Crossing::Either | Crossing::Off => false,
    }
}

/// The change from one side to the other is a crossing.
pub(super) fn crosses(crossing: Crossing, from: EventSide, to: EventSide) -> bool {
    let rising = from == EventSide::Negative && to == EventSide::Positive;
    let falling = from == EventSide::Positive && to == EventSide::Negative;
    match crossing {
        Crossing::Rising => rising,
        Crossing::Falling => falling,
        Crossing::Either => rising || falling,
        Crossing::Off => false,
    }
}

/// First root in (0, 1] of the cubic with values x and slopes d that crosses in the right direction, and whether it rises
/// there.
pub(super) fn first_crossing(
    x0: f64,
    d0: f64,
    x1: f64,
    d1: f64,
    crossing: Crossing,
) -> Option<(f64, bool)> {
    if crossing == Crossing::Off {
        return None;
    }
    let (c2, c3) = (3.0 * (x1 - x0) - 2.0 * d0 - d1, 2.0 * (x0 - x1) + d0 + d1);
    let value = |s: f64| x0 + s * (d0 + s * (c2 + s * c3));
    // Between its extrema the cubic is monotonic: each piece has at most one root.
    let mut cuts = [0.0, 1.0, 1.0, 1.0];
    let mut n = 1;
    for s in quadratic_roots(3.0 * c3, 2.0 * c2, d0) {
        if s > 0.0 && s < 1.0 {
            cuts[n] = s;
            n += 1;
        }
    }
    if n == 3 && cuts[1] > cuts[2] {
        cuts.swap(1, 2);
    }
    cuts[n] = 1.0;
    for k in 0..n {
        let (mut lo, mut hi) = (cuts[k], cuts[k + 1]);
        // The values at the ends of the step are given: no rounding there.
        let end = |s: f64| {
            if s == 0.0 {
                x0
            } else if s == 1.0 {
                x1
            } else {
                value(s)
            }
        };
        let (a, b) = (end(lo), end(hi));
        let rising = a < 0.0 && b >= 0.0;
        let falling = a > 0.0 && b <= 0.0;
        let counts = match crossing {
            Crossing::Rising => rising,
            Crossing::Falling => falling,
            Crossing::Either => rising || falling,
            Crossing::Off => false,
        };
        if !counts {
            continue;
        }
        for _ in 0..BISECTIONS {
            let mid = 0.5 * (lo + hi);
            if (value(mid) < 0.0) == rising {
                lo = mid;
            } else {
                hi = mid;
            }
        }
        return Some((hi, rising));
    }
    None
}

fn quadratic_roots(a: f64, b: f64, c: f64) -> [f64; 2] {
    let d = b * b - 4.0 * a * c;
    if d < 0.0 {
        return [f64::NAN; 2];
    }
    let q = -0.5 * (b + d.sqrt().copysign(b));
    [q / a, c / q]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cubic_finds_both_crossings_of_a_step_that_ends_on_the_same_side() {
        // (s − 0.3)(s − 0.6) on [0, 1]
        let (x0, d0, x1, d1) = (0.18, -0.9, 0.28, 1.1);
        let (falling, _) = first_crossing(x0, d0, x1, d1, Crossing::Falling).unwrap();
        let (rising, _) = first_crossing(x0, d0, x1, d1, Crossing::Rising).unwrap();
        assert!(
            (falling - 0.3).abs() < 1e-14 && (rising - 0.6).abs() < 1e-14,
            "{falling} {rising}"
        );
        assert_eq!(first_crossing(x0, d0, x1, d1, Crossing::Off), None);
        let either = first_crossing(x0, d0, x1, d1, Crossing::Either);
        assert_eq!(either, Some((falling, false)), "the earlier one");
    }

    #[test]
    fn a_step_without_crossing_has_no_root() {
        assert_eq!(first_crossing(1.0, 0.0, 2.0, 1.0, Crossing::Either), None);
        assert_eq!(first_crossing(-1.0, 2.0, 1.0, 2.0, Crossing::Falling), None);
    }

    #[test]
    fn a_root_at_the_end_of_the_step_counts() {
        assert_eq!(
            first_crossing(-1.0, 1.0, 0.0, 1.0, Crossing::Rising),
            Some((1.0, true))
        );
    }
}
