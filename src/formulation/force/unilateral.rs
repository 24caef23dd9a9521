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
pub const SEPARATED: i32 = 0;
/// e > 0, F > 0
pub const LOADED: i32 = 1;
/// e > 0, F < 0
pub const RELAXING: i32 = 2;

/// Event functions: e and F.
pub const EVENTS: usize = 2;

/// The mode for given e and F.
pub fn initial_mode(e: f64, force: f64) -> i32 {
    if !(e > 0.0) {
        SEPARATED
    } else if force >= 0.0 {
        LOADED
    } else {
        RELAXING
    }
}

/// Which crossings of event `i` count.
pub fn crossing(mode: i32, i: usize) -> Crossing {
    match (mode, i) {
        (SEPARATED, 0) => Crossing::Rising,
        (LOADED, 1) => Crossing::Falling,
        (RELAXING, 0) => Crossing::Falling,
        (RELAXING, 1) => Crossing::Rising,
        _ => Crossing::Off,
    }
}

/// The mode after event `i`.
pub fn mode_after(mode: i32, i: usize, e: f64) -> i32 {
    match (mode, i) {
        (SEPARATED, 0) => LOADED,
        (LOADED, 1) if e > 0.0 => RELAXING,
        (LOADED, 1) => SEPARATED,
        (RELAXING, 0) => SEPARATED,
        (RELAXING, 1) => LOADED,
        (mode, _) => mode,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_goes_from_apart_over_pressing_and_parting_back() {
        assert_eq!(initial_mode(-1.0, 3.0), SEPARATED);
        assert_eq!(initial_mode(1.0, 3.0), LOADED);
        assert_eq!(initial_mode(1.0, -3.0), RELAXING);
        assert_eq!(crossing(SEPARATED, 0), Crossing::Rising);
        assert_eq!(crossing(SEPARATED, 1), Crossing::Off);
        let pressing = mode_after(SEPARATED, 0, 0.0);
        assert_eq!(crossing(pressing, 1), Crossing::Falling);
        assert_eq!(crossing(pressing, 0), Crossing::Off);
        let parting = mode_after(pressing, 1, 0.1);
        assert_eq!(parting, RELAXING);
        assert_eq!(mode_after(parting, 1, 0.1), LOADED);
        assert_eq!(mode_after(parting, 0, 0.0), SEPARATED);
        assert_eq!(
            mode_after(LOADED, 1, -1e-12),
            SEPARATED,
            "without a damper the force ends with the depth"
        );
    }
}
