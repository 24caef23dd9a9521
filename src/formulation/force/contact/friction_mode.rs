//! The mode of set-valued friction in a closed contact: it sticks or slips.
//!
//! ```text
//!   0          none: the contact is open, or touches without a force
//!   1 .. 4     sticks; a mask of its tangential constraints that are active, the others follow from those of other contacts
//!   8 + 2 k    begins to slip in the direction 2π k/2²⁰ of its two tangential axes
//!   9 + 2 k    slips, in space in the direction of its slip velocity
//! ```
//!
//! Three more modes keep, as bits of single precision, what it carries apart from its multipliers.

use crate::formulation::ContactFriction;
use crate::linalg::elementary::{atan2, sin_cos};

/// No friction.
pub const NONE: i32 = 0;
/// Sticks with all its constraints; the last mode of stick.
const STICK: i32 = 4;
const SLIP: i32 = 8;
/// Directions.
const TURN: i32 = 1 << 20;

/// Modes of friction: the first one, and the three of the forces shared.
pub const COUNT: usize = 4;
/// Rounding of a force that is kept, relative.
pub const SHARE_ROUNDING: f64 = f32::EPSILON as f64;

/// Force that is kept with the modes of a contact: normal, and along its axes.
pub fn shared_force(modes: &[i32]) -> [f64; 3] {
    match modes.get(2..5) {
        Some(bits) => std::array::from_fn(|k| f64::from(f32::from_bits(bits[k] as u32))),
        None => [0.0; 3],
    }
}

/// Accuracy of the accelerations from which the forces of redundant contacts follow, relative: multipliers that are as near are unique.
const SHARE_ACCURACY: f64 = 1e-6;

/// Force that is kept with the modes of a contact, as it is reported beside its normal multiplier: none if that is unique.
pub fn reported_force(modes: &[i32], multiplier: f64) -> [f64; 3] {
    let shared = shared_force(modes);
    let unique = |f: &f64| f.abs() <= SHARE_ACCURACY * multiplier.abs();
    if shared.iter().all(unique) {
        [0.0; 3]
    } else {
        shared
    }
}

/// Keeps a force with the modes of a contact.
pub fn keep_shared_force(force: [f64; 3], modes: &mut [i32]) {
    for (mode, force) in modes[2..5].iter_mut().zip(force) {
        *mode = (force as f32).to_bits() as i32;
    }
}

/// The mode of a decision.
pub fn mode_of(friction: ContactFriction) -> i32 {
    match friction {
        ContactFriction::Stick(rows) => 1 + i32::from(rows[0]) + 2 * i32::from(rows[1]),
        ContactFriction::Slip { direction, moves } => {
            let part = atan2(direction[1], direction[0]) / std::f64::consts::TAU;
            let k = ((part * f64::from(TURN)).round() as i32).rem_euclid(TURN);
            SLIP + 2 * k + i32::from(moves)
        }
    }
}

/// Whether the contact sticks.
pub fn sticks(mode: i32) -> bool {
    (1..=STICK).contains(&mode)
}

/// Whether tangential constraint k is active.
pub fn is_active(mode: i32, k: usize) -> bool {
    sticks(mode) && ((mode - 1) >> k) & 1 == 1
}

/// The direction of slip, and whether it moves.
pub fn slip(mode: i32) -> Option<([f64; 2], bool)> {
    let index = mode.checked_sub(SLIP).filter(|i| *i >= 0)?;
    let (s, c) = sin_cos(std::f64::consts::TAU * f64::from(index / 2) / f64::from(TURN));
    Some(([c, s], index % 2 == 1))
}

/// Whether it is a mode.
pub fn exists(mode: i32) -> bool {
    (NONE..=STICK).contains(&mode) || (SLIP..SLIP + 2 * TURN).contains(&mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_keep_the_rows_and_the_direction() {
        for rows in [[false, false], [true, false], [false, true], [true, true]] {
            let mode = mode_of(ContactFriction::Stick(rows));
            assert!(sticks(mode) && exists(mode) && slip(mode).is_none());
            assert_eq!([is_active(mode, 0), is_active(mode, 1)], rows);
        }
        for k in 0..32 {
            let (s, c) = sin_cos(0.2 * f64::from(k));
            let friction = ContactFriction::Slip {
                direction: [c, s],
                moves: k % 2 == 0,
            };
            let mode = mode_of(friction);
            let (found, moves) = slip(mode).unwrap();
            assert!(exists(mode) && !sticks(mode) && moves == (k % 2 == 0));
            // Half a 2²⁰th of a turn.
            assert!((found[0] - c).abs() < 3.1e-6 && (found[1] - s).abs() < 3.1e-6);
        }
        let back = ContactFriction::Slip {
            direction: [-1.0, 0.0],
            moves: true,
        };
        assert_eq!(slip(mode_of(back)).unwrap().0[0], -1.0);
    }
}
