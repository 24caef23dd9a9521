//! One-sided action: what only pushes (a tyre, a stop, a contact) or only pulls (a rope). With e the depth (or the elastic
//! force) and F the whole force, damper included, both positive where they press:
//!
//! ```text
//!   apart     e < 0          F = 0
//!   pressing  e > 0, F > 0   F as the law says
//!   parting   e > 0, F < 0   the damper would pull: F = 0, what is stored relaxes into the damper
//! ```
//!
//! The three are a mode, changed where e or F crosses zero.

use crate::formulation::Crossing;

/// e < 0
pub const APART: i32 = 0;
/// e > 0, F > 0
pub const PRESSING: i32 = 1;
/// e > 0, F < 0
pub const PARTING: i32 = 2;

/// Event functions: e and F.
pub const EVENTS: usize = 2;

/// The mode for given e and F.
pub fn start(e: f64, force: f64) -> i32 {
    if !(e > 0.0) {
        APART
    } else if force >= 0.0 {
        PRESSING
    } else {
        PARTING
    }
}

/// Which crossings of event `i` count.
pub fn crossing(mode: i32, i: usize) -> Crossing {
    match (mode, i) {
        (APART, 0) => Crossing::Rising,
        (PRESSING, 1) => Crossing::Falling,
        (PARTING, 0) => Crossing::Falling,
        (PARTING, 1) => Crossing::Rising,
        _ => Crossing::Off,
    }
}

/// The mode after event `i`.
pub fn fire(mode: i32, i: usize, e: f64) -> i32 {
    match (mode, i) {
        (APART, 0) => PRESSING,
        (PRESSING, 1) if e > 0.0 => PARTING,
        (PRESSING, 1) => APART,
        (PARTING, 0) => APART,
        (PARTING, 1) => PRESSING,
        (mode, _) => mode,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_goes_from_apart_over_pressing_and_parting_back() {
        assert_eq!(start(-1.0, 3.0), APART);
        assert_eq!(start(1.0, 3.0), PRESSING);
        assert_eq!(start(1.0, -3.0), PARTING);
        assert_eq!(crossing(APART, 0), Crossing::Rising);
        assert_eq!(crossing(APART, 1), Crossing::Off);
        let pressing = fire(APART, 0, 0.0);
        assert_eq!(crossing(pressing, 1), Crossing::Falling);
        assert_eq!(crossing(pressing, 0), Crossing::Off);
        let parting = fire(pressing, 1, 0.1);
        assert_eq!(parting, PARTING);
        assert_eq!(fire(parting, 1, 0.1), PRESSING);
        assert_eq!(fire(parting, 0, 0.0), APART);
        assert_eq!(
            fire(PRESSING, 1, -1e-12),
            APART,
            "without a damper the force ends with the depth"
        );
    }
}
