//! The tangent matrix in natural coordinates from that of the bodies.
//!
//! With g = −f + Gᵀλ on the bodies, C and K its derivatives there, and J(ẋ) the same linear map at the velocities:
//!
//! ```text
//!   S = mass M + Jᵀ (damping C + stiffness K) J − stiffness Jᵀ C J_ω(ẋ) + stiffness ( ∂Jᵀ/∂x g + Σ λ_r ∂Gᵀ_r/∂x )
//! ```
//!
//! since ω(x, ẋ) changes with x by ω(δx, ẋ) = −ω(ẋ, δx).

use std::collections::BTreeMap;

use super::body_map::{BodyMap, MAX_Y};
use super::layout::NaturalLayout;
use super::{Natural, NaturalCache as Point};
use crate::formulation::{EvaluationContext, Sparsity, System, TangentWeights};

/// The block of two bodies in the tangent matrix.
#[derive(Clone, Debug)]
pub struct TangentBlock {
    /// Body of the rows and body of the columns.
    pub bodies: [usize; 2],
    /// Entries of the inner matrix: slot, row and column in the block of the bodies.
    slots: Vec<(u32, u8, u8)>,
    /// Entries of rigidity constraints: constraint, index in the block, value.
    bends: Vec<(u32, u32, f64)>,
    /// Index of its first value.
    start: usize,
}

/// Returns all blocks in which the matrix can have entries, with the diagonal blocks of all bodies.
pub fn blocks<const N: usize>(
    inner: &Sparsity,
    layout: &NaturalLayout,
    dimension: usize,
) -> Vec<TangentBlock> {
    let width = N / 2;
    let mut slots: BTreeMap<[usize; 2], Vec<(u32, u8, u8)>> = BTreeMap::new();
    for b in 0..layout.bodies.len() {
        slots.insert([b, b], vec![]);
    }
    for (slot, &(i, j)) in inner.tangent.iter().enumerate() {
        let (i, j) = (i as usize, j as usize);
        slots.entry([i / width, j / width]).or_default().push((
            slot as u32,
            (i % width) as u8,
            (j % width) as u8,
        ));
    }
    let mut bends: Vec<Vec<(u32, u32, f64)>> = vec![Vec::new(); layout.bodies.len()];
    for (k, rigid) in layout.rigid.iter().enumerate() {
        let own = &layout.bodies[rigid.body].own;
        let place = |x: u32| own.iter().position(|own| *own == x);
        rigid.row.bend(dimension, &mut |i, j, value| {
            if let (Some(i), Some(j)) = (place(i), place(j)) {
                bends[rigid.body].push((k as u32, (i * own.len() + j) as u32, value));
            }
        });
    }
    let mut start = 0;
    (slots.into_iter())
        .map(|(bodies, slots)| {
            let [rows, columns] = bodies.map(|b| layout.bodies[b].own.len());
            let block = TangentBlock {
                bodies,
                slots,
                bends: match bodies[0] == bodies[1] {
                    true => std::mem::take(&mut bends[bodies[0]]),
                    false => vec![],
                },
                start,
            };
            start += rows * columns;
            block
        })
        .collect()
}

/// Scratch matrices and vectors of the bodies.
#[derive(Debug, Default)]
pub struct NaturalTangentWorkspace {
    /// damping C + stiffness K, and C alone.
    s: Vec<f64>,
    c: Vec<f64>,
    /// g
    load: Vec<f64>,
}

impl NaturalTangentWorkspace {
    pub fn new(slots: usize, coordinates: usize) -> Self {
        Self {
            s: vec![0.0; slots],
            c: vec![0.0; slots],
            load: vec![0.0; coordinates],
        }
    }
}

/// Largest number of tangent coordinates of a body.
const WIDEST: usize = 6;

impl<W: BodyMap<N>, const N: usize> Natural<W, N> {
    /// Writes S in the order of the sparsity.
    pub(super) fn write_tangent(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        lambda: &[f64],
        weights: &TangentWeights,
        out: &mut [f64],
    ) {
        out.fill(0.0);
        if weights.mass != 0.0 {
            self.add_mass(cx, weights.mass, out);
        }
        let (damping, stiffness) = (weights.damping, weights.stiffness);
        if damping == 0.0 && stiffness == 0.0 {
            return;
        }
        let work = &mut *self.moving(q, v);
        let Point {
            arms,
            v: rates,
            g,
            tangent,
            ..
        } = work;
        let (poses, inner) = (self.poses(q), &lambda[..self.height]);
        let at = (poses, &rates[..]);
        (self.inner).applied_tangent(cx, at, inner, (damping, stiffness), &mut tangent.s);
        let damped = stiffness != 0.0 && self.inner.has_velocity_forces();
        if damped {
            (self.inner).applied_tangent(cx, at, inner, (1.0, 0.0), &mut tangent.c);
        }
        if stiffness != 0.0 {
            let load = &mut tangent.load;
            self.inner.applied_force(cx, poses, rates, load);
            self.inner
                .constraint_friction(cx, poses, rates, inner, load);
            load.iter_mut().for_each(|f| *f = -*f);
            self.load_rows(cx, q, g);
            self.add_rows(g, inner, load);
        }
        for block in &self.blocks {
            self.pull_back(block, arms, &tangent.s, 1.0, out);
            if damped {
                self.pull_back_rates(block, arms, v, &tangent.c, -stiffness, out);
            }
            if stiffness != 0.0 && block.bodies[0] == block.bodies[1] {
                let b = block.bodies[0];
                let load = &tangent.load[Self::WIDTH * b..Self::WIDTH * (b + 1)];
                self.add_turned(block, load, stiffness, out);
                for &(row, at, value) in &block.bends {
                    out[block.start + at as usize] +=
                        stiffness * lambda[self.height + row as usize] * value;
                }
            }
        }
    }

    /// out += factor M
    fn add_mass(&self, cx: &EvaluationContext, factor: f64, out: &mut [f64]) {
        let dimension = W::DIMENSION;
        for block in self.blocks.iter().filter(|b| b.bodies[0] == b.bodies[1]) {
            let b = block.bodies[0];
            let (m, shape) = self.mass(b, cx);
            // M over y couples equal components: r with itself, columns with columns.
            let mut t = [[0.0; MAX_Y]; MAX_Y];
            for &(j, column, value) in &self.layout.bodies[b].entries {
                let (j, c, value) = (
                    j as usize / dimension,
                    j as usize % dimension,
                    factor * value,
                );
                if j == 0 {
                    t[c][column as usize] += m * value;
                } else {
                    for i in 0..W::COLUMNS {
                        t[dimension * (1 + i) + c][column as usize] += shape[i][j - 1] * value;
                    }
                }
            }
            self.add_spread(block, &t, out);
        }
    }

    /// out += factor ∂(Jᵀ g)/∂x at constant g, the generalised force of one body.
    fn add_turned(&self, block: &TangentBlock, load: &[f64], factor: f64, out: &mut [f64]) {
        let dimension = W::DIMENSION;
        let mut t = [[0.0; MAX_Y]; MAX_Y];
        for &(m, column, value) in &self.layout.bodies[block.bodies[0]].entries {
            let Some(m) = (m as usize).checked_sub(dimension) else {
                continue;
            };
            for &(i, j, k, spin) in W::SPIN {
                if i as usize == m {
                    t[dimension + j as usize][column as usize] +=
                        factor * spin * load[dimension + k as usize] * value;
                }
            }
        }
        self.add_spread(block, &t, out);
    }

    /// out += Lᵀ t, with t over y and the coordinates of one body.
    fn add_spread(&self, block: &TangentBlock, t: &[[f64; MAX_Y]; MAX_Y], out: &mut [f64]) {
        let body = &self.layout.bodies[block.bodies[0]];
        let n = body.own.len();
        for &(i, row, value) in &body.entries {
            let at = block.start + row as usize * n;
            for (out, t) in out[at..at + n].iter_mut().zip(&t[i as usize]) {
                *out += value * t;
            }
        }
    }

    /// out += factor J_iᵀ s J_j
    fn pull_back(
        &self,
        block: &TangentBlock,
        arms: &[f64],
        s: &[f64],
        factor: f64,
        out: &mut [f64],
    ) {
        let [_, j] = block.bodies;
        let n = self.layout.bodies[j].own.len();
        let arm = &arms[self.arms[j]..self.arms[j] + Self::WIDTH * n];
        self.between(block, arms, arm, s, factor, out);
    }

    /// out += factor J_iᵀ s J_ω, with J_ω at the velocities instead of J_j.
    fn pull_back_rates(
        &self,
        block: &TangentBlock,
        arms: &[f64],
        x_dot: &[f64],
        s: &[f64],
        factor: f64,
        out: &mut [f64],
    ) {
        let [_, j] = block.bodies;
        let n = self.layout.bodies[j].own.len();
        let (mut y, mut arm) = ([0.0; MAX_Y], [0.0; WIDEST * MAX_Y]);
        self.form_rate(j, x_dot, &mut y[..Self::Y]);
        self.arm(j, &y[..Self::Y], &mut arm);
        arm[..W::DIMENSION * n].fill(0.0);
        self.between(block, arms, &arm, s, factor, out);
    }

    /// out += factor J_iᵀ s arm
    fn between(
        &self,
        block: &TangentBlock,
        arms: &[f64],
        arm: &[f64],
        s: &[f64],
        factor: f64,
        out: &mut [f64],
    ) {
        if block.slots.is_empty() {
            return;
        }
        let [i, j] = block.bodies;
        let [rows, columns] = [i, j].map(|b| self.layout.bodies[b].own.len());
        let mut t = [[0.0; MAX_Y]; WIDEST];
        for &(slot, k, l) in &block.slots {
            let s = factor * s[slot as usize];
            if s != 0.0 {
                let row = &arm[l as usize * columns..(l as usize + 1) * columns];
                for (t, j) in t[k as usize].iter_mut().zip(row) {
                    *t += s * j;
                }
            }
        }
        let left = &arms[self.arms[i]..self.arms[i] + Self::WIDTH * rows];
        for (k, t) in t.iter().enumerate().take(Self::WIDTH) {
            for (row, j) in left[k * rows..(k + 1) * rows].iter().enumerate() {
                if *j != 0.0 {
                    let at = block.start + row * columns;
                    for (out, t) in out[at..at + columns].iter_mut().zip(t) {
                        *out += j * t;
                    }
                }
            }
        }
    }
}
