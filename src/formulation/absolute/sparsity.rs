//! Slots of the tangent matrix. Each element gets the indices of its entries (slots) once, when the system is built, and adds to
//! them in every evaluation; equal entries of different elements share one slot.

use std::collections::HashMap;

use crate::model::BodyRef;

/// No slot: a row or column of the ground, or an entry that is always zero.
const NO_SLOT: u32 = u32::MAX;

/// Allocates slots while a system is built.
#[derive(Debug, Default)]
pub struct SparsityBuilder {
    entries: Vec<(u32, u32)>,
    slots: HashMap<(u32, u32), u32>,
    /// If one column of a rotation has an entry in a row, all three have.
    rotation_triples: bool,
}

impl SparsityBuilder {
    /// For geometries with rotations that do not add: T⁻¹ multiplies three columns at a time.
    pub fn with_rotation_triples() -> Self {
        Self {
            rotation_triples: true,
            ..Self::default()
        }
    }

    /// Slot of (row, column).
    pub fn slot(&mut self, row: usize, column: usize) -> u32 {
        let entry = (row as u32, column as u32);
        *self.slots.entry(entry).or_insert_with(|| {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        })
    }

    /// All entries in the order of their slots.
    pub fn entries(self) -> Vec<(u32, u32)> {
        self.entries
    }

    /// For each row and each rotation with entries in it: the body and the slots of the three columns. A body has `width`
    /// velocities, the last three those of its rotation.
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

    /// Slots of the block of two bodies, for the entries that are `needed`.
    pub fn body_pair<const N: usize>(
        &mut self,
        bodies: [BodyRef; 2],
        needed: impl Fn(usize, usize) -> bool,
    ) -> PairSlots<N> {
        let width = N / 2;
        let index = |k: usize| bodies[k / width].map(|b| width * b + k % width);
        let is_needed = |i: usize, j: usize| {
            if self.rotation_triples && j % width >= width - 3 {
                let first = j - (j % width) + width - 3;
                (first..first + 3).any(|j| needed(i, j))
            } else {
                needed(i, j)
            }
        };
        let mut allocated = [[false; N]; N];
        for i in 0..N {
            for j in 0..N {
                allocated[i][j] = is_needed(i, j);
            }
        }
        let mut slots = [[NO_SLOT; N]; N];
        for i in 0..N {
            for j in 0..N {
                if let (Some(r), Some(c), true) = (index(i), index(j), allocated[i][j]) {
                    slots[i][j] = self.slot(r, c);
                }
            }
        }
        PairSlots { slots }
    }
}

/// Slots of the block of two bodies, the velocities of the first before those of the second.
#[derive(Clone, Debug)]
pub struct PairSlots<const N: usize> {
    slots: [[u32; N]; N],
}

impl<const N: usize> PairSlots<N> {
    /// out += value at (i, j) of the block; no effect without a slot.
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

/// The entries of [`PairSlots`] that have a slot, as a list: for matrices that are added completely.
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

    /// Whether there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// out += factor g, for the gradient g of two bodies.
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

/// g · x for the gradient g of two bodies and a tangent vector x.
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
    fn equal_entries_share_a_slot_and_the_ground_has_none() {
        let mut slots = SparsityBuilder::default();
        for i in 0..6 {
            slots.slot(i, i);
        }
        let a: PairSlots<6> = slots.body_pair([None, Some(1)], |_, _| true);
        let b: PairSlots<6> = slots.body_pair([Some(0), Some(1)], |i, j| i == 2 && j == 5);
        let entries = slots.entries();
        assert_eq!(entries.len(), 6 + 6 + 1);
        let mut out = vec![0.0; entries.len()];
        a.add_outer(&[1.0; 6], &[1.0; 6], &mut out);
        b.add(2, 5, 4.0, &mut out);
        b.add(0, 0, 9.0, &mut out);
        assert_eq!(out.iter().sum::<f64>(), 13.0);
        let mut again = vec![0.0; entries.len()];
        CompactPairSlots::from(a).add_outer(&[1.0; 6], &[1.0; 6], &mut again);
        CompactPairSlots::from(b).add_matrix(2.0, &[[2.0; 6]; 6], &mut again);
        assert_eq!(again, out);
        assert_eq!(entries[12], (2, 5));
    }

    #[test]
    fn columns_of_a_spatial_rotation_are_allocated_together() {
        let mut slots = SparsityBuilder::with_rotation_triples();
        let _: PairSlots<12> = slots.body_pair([None, Some(2)], |i, j| i == 6 && j == 10);
        assert_eq!(slots.rotation_columns(6), [(2, [0, 1, 2])]);
        assert_eq!(slots.entries(), [(12, 15), (12, 16), (12, 17)]);
    }
}
