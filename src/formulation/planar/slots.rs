//! Places of the tangent matrix. Each element asks once, at set-up, where its entries live and adds to these places ever
//! after; equal places of different elements share one slot.

use std::collections::HashMap;

use crate::model::BodyRef;

/// No place: a row or column of the ground.
const NOWHERE: u32 = u32::MAX;

/// Hands out slots at set-up.
#[derive(Debug, Default)]
pub struct Slots {
    places: Vec<(u32, u32)>,
    known: HashMap<(u32, u32), u32>,
}

impl Slots {
    /// The slot of (row, column).
    pub fn slot(&mut self, row: usize, column: usize) -> u32 {
        let place = (row as u32, column as u32);
        *self.known.entry(place).or_insert_with(|| {
            self.places.push(place);
            self.places.len() as u32 - 1
        })
    }

    /// All places in the order of their slots.
    pub fn places(self) -> Vec<(u32, u32)> {
        self.places
    }

    /// The slots of two bodies' six coordinates where `needed` says that entries can occur.
    pub fn pair(&mut self, bodies: [BodyRef; 2], needed: impl Fn(usize, usize) -> bool) -> Pair {
        let place = |k: usize| bodies[k / 3].map(|b| 3 * b + k % 3);
        let mut slots = [[NOWHERE; 6]; 6];
        for (i, row) in slots.iter_mut().enumerate() {
            for (j, slot) in row.iter_mut().enumerate() {
                if let (Some(r), Some(c), true) = (place(i), place(j), needed(i, j)) {
                    *slot = self.slot(r, c);
                }
            }
        }
        Pair { slots }
    }
}

/// The 6 x 6 block of two bodies, in the order x, y, angle of the first and of the second.
#[derive(Clone, Debug)]
pub struct Pair {
    slots: [[u32; 6]; 6],
}

impl Pair {
    /// out += value at (i, j) of the block; nothing for the ground.
    #[inline]
    pub fn add(&self, i: usize, j: usize, value: f64, out: &mut [f64]) {
        let slot = self.slots[i][j];
        if slot != NOWHERE {
            out[slot as usize] += value;
        }
    }

    /// The same at (i, j) and (j, i), i different from j.
    #[inline]
    pub fn add_both(&self, i: usize, j: usize, value: f64, out: &mut [f64]) {
        self.add(i, j, value, out);
        self.add(j, i, value, out);
    }

    /// out += x yᵀ
    #[inline]
    pub fn add_outer(&self, x: &[f64; 6], y: &[f64; 6], out: &mut [f64]) {
        for i in 0..6 {
            for j in 0..6 {
                self.add(i, j, x[i] * y[j], out);
            }
        }
    }
}

/// Adds the six generalised forces `factor` g of two bodies to `out`.
#[inline]
pub fn scatter(bodies: [BodyRef; 2], factor: f64, g: &[f64; 6], out: &mut [f64]) {
    for (side, body) in bodies.iter().enumerate() {
        if let Some(b) = *body {
            for k in 0..3 {
                out[3 * b + k] += factor * g[3 * side + k];
            }
        }
    }
}

/// g · x for a tangent vector x.
#[inline]
pub fn gather(bodies: [BodyRef; 2], g: &[f64; 6], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (side, body) in bodies.iter().enumerate() {
        if let Some(b) = *body {
            for k in 0..3 {
                sum += g[3 * side + k] * x[3 * b + k];
            }
        }
    }
    sum
}

/// The six entries of two bodies in a tangent vector.
#[inline]
pub fn pick(bodies: [BodyRef; 2], x: &[f64]) -> [f64; 6] {
    let mut out = [0.0; 6];
    for (side, body) in bodies.iter().enumerate() {
        if let Some(b) = *body {
            out[3 * side..3 * side + 3].copy_from_slice(&x[3 * b..3 * b + 3]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_places_share_a_slot_and_the_ground_has_none() {
        let mut slots = Slots::default();
        for i in 0..6 {
            slots.slot(i, i);
        }
        let a = slots.pair([None, Some(1)], |_, _| true);
        let b = slots.pair([Some(0), Some(1)], |i, j| i == 2 && j == 5);
        let places = slots.places();
        assert_eq!(places.len(), 6 + 6 + 1);
        let mut out = vec![0.0; places.len()];
        a.add_outer(&[1.0; 6], &[1.0; 6], &mut out);
        b.add(2, 5, 4.0, &mut out);
        b.add(0, 0, 9.0, &mut out);
        assert_eq!(out.iter().sum::<f64>(), 13.0);
        assert_eq!(places[12], (2, 5));
    }
}
