//! One-sided laws: a tyre, a joint limit or a contact only pushes, a rope only pulls. With e the deflection (or the elastic force) and F
//! the total force, damper included, both positive under load:
//!
//! ```text
//!   separated  e < 0          F = 0
//!   loaded     e > 0, F > 0   F of the law
//!   relaxing   e > 0, F < 0   the damper would pull: F = 0, the stored energy is dissipated in the damper
//! ```
//!
//! These are three modes, changed where e or F crosses zero.

use crate::formulation::Crossing;

/// e < 0
pub const SEPARATED: i32 = 0;
/// e > 0, F > 0
pub const LOADED: i32 = 1;
/// e > 0, F < 0
pub const RELAXING: i32 = 2;

/// Number of event functions: e and F.
pub const EVENTS: usize = 2;

/// Whether it is one of the three modes.
pub fn mode_exists(mode: i32) -> bool {
    (SEPARATED..=RELAXING).contains(&mode)
}

/// What is shown of the mode of a contact, which may have more of them: outside the ends of a surface or behind it is separated too.
pub fn shown_mode(mode: i32) -> i32 {
    match mode {
        LOADED | RELAXING => mode,
        _ => SEPARATED,
    }
}

/// Returns the mode for given e and F.
pub fn initial_mode(e: f64, force: f64) -> i32 {
    if !(e > 0.0) {
        SEPARATED
    } else if force >= 0.0 {
        LOADED
    } else {
        RELAXING
    }
}

/// Returns which zero crossings of event `i` count.
pub fn crossing(mode: i32, i: usize) -> Crossing {
    match (mode, i) {
        (SEPARATED, 0) => Crossing::Rising,
        (LOADED, 1) => Crossing::Falling,
        (RELAXING, 0) => Crossing::Falling,
        (RELAXING, 1) => Crossing::Rising,
        _ => Crossing::Off,
    }
}

/// Returns the mode after event `i`.
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
    fn modes_change_from_separated_to_loaded_to_relaxing_and_back() {
        assert_eq!(initial_mode(-1.0, 3.0), SEPARATED);
        assert_eq!(initial_mode(1.0, 3.0), LOADED);
        assert_eq!(initial_mode(1.0, -3.0), RELAXING);
        assert_eq!(crossing(SEPARATED, 0), Crossing::Rising);
        assert_eq!(crossing(SEPARATED, 1), Crossing::Off);
        let loaded = mode_after(SEPARATED, 0, 0.0);
        assert_eq!(crossing(loaded, 1), Crossing::Falling);
        assert_eq!(crossing(loaded, 0), Crossing::Off);
        let relaxing = mode_after(loaded, 1, 0.1);
        assert_eq!(relaxing, RELAXING);
        assert_eq!(mode_after(relaxing, 1, 0.1), LOADED);
        assert_eq!(mode_after(relaxing, 0, 0.0), SEPARATED);
        assert_eq!(
            mode_after(LOADED, 1, -1e-12),
            SEPARATED,
            "without a damper the force vanishes with the deflection"
        );
    }
}
