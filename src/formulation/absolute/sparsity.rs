//! Places of the tangent matrix. Each element asks once, at set-up, where its entries live and adds to these places ever
//! after; equal places of different elements share one slot.

use std::collections::HashMap;

use crate::model::BodyRef;

/// No place: a row or column of the ground.
const NO_SLOT: u32 = u32::MAX;

/// Hands out slots at set-up.
#[derive(Debug, Default)]
pub struct SparsityBuilder {
    entries: Vec<(u32, u32)>,
    slots: HashMap<(u32, u32), u32>,
    /// Rotations come in threes: where one column of a rotation has an entry all three have.
    rotation_triples: bool,
}

impl SparsityBuilder {
    /// For a world where rotations do not add.
    pub fn with_rotation_triples() -> Self {
        Self {
            rotation_triples: true,
            ..Self::default()
        }
    }

    /// The slot of (row, column).
    pub fn slot(&mut self, row: usize, column: usize) -> u32 {
        let place = (row as u32, column as u32);
        *self.slots.entry(place).or_insert_with(|| {
            self.entries.push(place);
            self.entries.len() as u32 - 1
        })
    }

    /// All places in the order of their slots.
    pub fn entries(self) -> Vec<(u32, u32)> {
        self.entries
    }

    /// For each row and each rotation with entries in it: the body and the slots of the three columns. `width` is the number
    /// of tangent coordinates of a body, the rotation its last three.
    pub fn rotation_columns(&self, width: usize) -> Vec<(u32, [u32; 3])> {
        (self.entries.iter().enumerate())
            .filter(|(_, (_, column))| {
                self.rotation_triples && *column as usize % width == width - 3
            })
            .map(|(slot, (row, column))| {
                let next = |k: u32| self.slots[&(*row, column + k)];
                (*column / width as u32, [slot as u32, next(1), next(2)])
            })
            .collect()
    }

    /// The slots of two bodies' coordinates where `needed` says that entries can occur.
    pub fn body_pair<const N: usize>(
        &mut self,
        bodies: [BodyRef; 2],
        needed: impl Fn(usize, usize) -> bool,
    ) -> PairSlots<N> {
        let width = N / 2;
        let place = |k: usize| bodies[k / width].map(|b| width * b + k % width);
        let complete = |i: usize, j: usize| {
            if self.rotation_triples && j % width >= width - 3 {
                let first = j - (j % width) + width - 3;
                (first..first + 3).any(|j| needed(i, j))
            } else {
                needed(i, j)
            }
        };
        let mut wanted = [[false; N]; N];
        for i in 0..N {
            for j in 0..N {
                wanted[i][j] = complete(i, j);
            }
        }
        let mut slots = [[NO_SLOT; N]; N];
        for i in 0..N {
            for j in 0..N {
                if let (Some(r), Some(c), true) = (place(i), place(j), wanted[i][j]) {
                    slots[i][j] = self.slot(r, c);
                }
            }
        }
        PairSlots { slots }
    }
}

/// The block of two bodies, coordinates of the first and then of the second.
#[derive(Clone, Debug)]
pub struct PairSlots<const N: usize> {
    slots: [[u32; N]; N],
}

impl<const N: usize> PairSlots<N> {
    /// out += value at (i, j) of the block; nothing for the ground.
    #[inline]
    pub fn add(&self, i: usize, j: usize, value: f64, out: &mut [f64]) {
        let slot = self.slots[i][j];
        if slot != NO_SLOT {
            out[slot as usize] += value;
        }
    }

    /// out += x yᵀ
    #[inline]
    pub fn add_outer(&self, x: &[f64; N], y: &[f64; N], out: &mut [f64]) {
        for i in 0..N {
            if x[i] != 0.0 {
                for j in 0..N {
                    self.add(i, j, x[i] * y[j], out);
                }
            }
        }
    }

    /// out += factor H
    #[inline]
    pub fn add_matrix(&self, factor: f64, h: &[[f64; N]; N], out: &mut [f64]) {
        for i in 0..N {
            for j in 0..N {
                self.add(i, j, factor * h[i][j], out);
            }
        }
    }
}

/// The places of a [`Pair`] that exist, one after the other: for matrices that are added as a whole.
#[derive(Clone, Debug)]
pub struct CompactPairSlots<const N: usize> {
    entries: Box<[(u8, u8, u32)]>,
}

impl<const N: usize> From<PairSlots<N>> for CompactPairSlots<N> {
    fn from(pair: PairSlots<N>) -> Self {
        let all = (0..N).flat_map(|i| (0..N).map(move |j| (i as u8, j as u8)));
        let places = all
            .map(|(i, j)| (i, j, pair.slots[i as usize][j as usize]))
            .filter(|(_, _, slot)| *slot != NO_SLOT)
            .collect();
        Self { entries: places }
    }
}

impl<const N: usize> CompactPairSlots<N> {
    /// out += factor H
    #[inline]
    pub fn add_matrix(&self, factor: f64, h: &[[f64; N]; N], out: &mut [f64]) {
        for &(i, j, slot) in &self.entries {
            out[slot as usize] += factor * h[i as usize][j as usize];
        }
    }

    /// out += x yᵀ
    #[inline]
    pub fn add_outer(&self, x: &[f64; N], y: &[f64; N], out: &mut [f64]) {
        for &(i, j, slot) in &self.entries {
            out[slot as usize] += x[i as usize] * y[j as usize];
        }
    }

    /// No entry at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Adds the generalised forces `factor` g of two bodies to `out`.
#[inline]
pub fn scatter<const N: usize>(bodies: [BodyRef; 2], factor: f64, g: &[f64; N], out: &mut [f64]) {
    let width = N / 2;
    for (side, body) in bodies.iter().enumerate() {
        if let Some(b) = *body {
            for k in 0..width {
                out[width * b + k] += factor * g[width * side + k];
            }
        }
    }
}

/// g · x for a tangent vector x.
#[inline]
pub fn gather<const N: usize>(bodies: [BodyRef; 2], g: &[f64; N], x: &[f64]) -> f64 {
    let width = N / 2;
    let mut sum = 0.0;
    for (side, body) in bodies.iter().enumerate() {
        if let Some(b) = *body {
            for k in 0..width {
                sum += g[width * side + k] * x[width * b + k];
            }
        }
    }
    sum
}

/// The entries of two bodies in a tangent vector.
#[inline]
pub fn pick<const N: usize>(bodies: [BodyRef; 2], x: &[f64]) -> [f64; N] {
    let width = N / 2;
    let mut out = [0.0; N];
    for (side, body) in bodies.iter().enumerate() {
        if let Some(b) = *body {
            out[width * side..width * (side + 1)].copy_from_slice(&x[width * b..width * (b + 1)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_places_share_a_slot_and_the_ground_has_none() {
        let mut slots = SparsityBuilder::default();
        for i in 0..6 {
            slots.slot(i, i);
        }
        let a: PairSlots<6> = slots.body_pair([None, Some(1)], |_, _| true);
        let b: PairSlots<6> = slots.body_pair([Some(0), Some(1)], |i, j| i == 2 && j == 5);
        let places = slots.entries();
        assert_eq!(places.len(), 6 + 6 + 1);
        let mut out = vec![0.0; places.len()];
        a.add_outer(&[1.0; 6], &[1.0; 6], &mut out);
        b.add(2, 5, 4.0, &mut out);
        b.add(0, 0, 9.0, &mut out);
        assert_eq!(out.iter().sum::<f64>(), 13.0);
        let mut again = vec![0.0; places.len()];
        CompactPairSlots::from(a).add_outer(&[1.0; 6], &[1.0; 6], &mut again);
        CompactPairSlots::from(b).add_matrix(2.0, &[[2.0; 6]; 6], &mut again);
        assert_eq!(again, out);
        assert_eq!(places[12], (2, 5));
    }

    #[test]
    fn rotations_of_space_come_in_threes() {
        let mut slots = SparsityBuilder::with_rotation_triples();
        let _: PairSlots<12> = slots.body_pair([None, Some(2)], |i, j| i == 6 && j == 10);
        assert_eq!(slots.rotation_columns(6), [(2, [0, 1, 2])]);
        assert_eq!(slots.entries(), [(12, 15), (12, 16), (12, 17)]);
    }
}
