//! Kinematics at a configuration: the closure Jacobian of the loops, its factors, and the velocities of the joints as functions of the
//! independent ones.
//!
//! ```text
//!   stored    y | z (joints) | independent coordinates | constraints that are solved | base of each rotation in a loop
//!   x         joint coordinates with rotation vectors for these: ż = B ẋ,   J = G B
//!   R         x_d' = −J_d⁻¹ J_i x_i',      P = B [R; 1]
//! ```
//!
//! y is set to zero at a repartitioning; coordinates of rotations on the group stay zero.

use super::partition::DependentFactor;
use super::rotation_vector::{self, RotationInLoop};
use crate::formulation::Dimensions;
use crate::formulation::relative::closure::{ClosureConstraints, NOWHERE};
use crate::linalg::rotation::{self, Mat3, Vec3};

/// Factor of stored indices: keeps them small among the coordinates.
const UNIT: f64 = 1.0 / 1_048_576.0;

/// Layout of coordinates and constraints, fixed for the life of the system.
#[derive(Clone, Debug, Default)]
pub struct CoordinateLayout {
    /// Dimensions of the inner system.
    pub inner: Dimensions,
    /// Tangent coordinates outside of loops, and those in loops.
    pub free: Vec<usize>,
    pub looped: Vec<usize>,
    /// Eliminated constraints with their scales, and remaining constraints.
    pub rows: Vec<usize>,
    pub scale: Vec<f64>,
    pub own: Vec<usize>,
    /// Number of dependent coordinates.
    pub rank: usize,
    /// Displacement of the bodies per unit of each joint coordinate at the start, relative to the characteristic length.
    pub weight: Vec<f64>,
    /// Rotations in loops, and the first independent coordinate of each other rotation.
    pub balls: Vec<RotationInLoop>,
    pub turning: Vec<usize>,
    /// Destination of each entry of the Jacobian.
    pub entries: Vec<CoordinateKind>,
}

/// Destination of an entry of the Jacobian: index in the loop matrix, or (remaining constraint, joint coordinate).
#[derive(Clone, Copy, Debug)]
pub enum CoordinateKind {
    Loop(u32),
    Own(u32, u32),
}

impl CoordinateLayout {
    /// Returns the number of independent loop coordinates.
    pub fn independent(&self) -> usize {
        self.looped.len() - self.rank
    }

    /// Returns the number of independent coordinates.
    pub fn moved(&self) -> usize {
        self.free.len() + self.independent()
    }

    /// Returns the norm of a displacement of the loop coordinates.
    pub fn length(&self, x: impl Fn(usize) -> f64) -> f64 {
        let square = |&k: &usize| (self.weight[k] * x(k)).powi(2);
        self.looped.iter().map(square).sum::<f64>().sqrt()
    }

    /// Returns the number of stored coordinates.
    pub fn stored(&self) -> usize {
        self.chart() + self.looped.len() + 4 * self.balls.len()
    }

    /// Returns the range of the joint coordinates among the stored ones.
    pub fn joints(&self) -> std::ops::Range<usize> {
        self.moved()..self.chart()
    }

    /// Returns the index at which the stored partition begins.
    fn chart(&self) -> usize {
        self.moved() + self.inner.nq
    }

    /// Writes the partition behind the joint coordinates of `q`: independent coordinates, solved constraints, and current rotations as bases.
    pub fn write(&self, dependent: &[usize], rows: &[usize], q: &mut [f64]) {
        q[..self.moved()].fill(0.0);
        let (joints, mut at) = (self.moved(), self.chart());
        for k in (0..self.looped.len()).filter(|k| !dependent.contains(k)) {
            q[at] = k as f64 * UNIT;
            at += 1;
        }
        // Ascending, so that the partition does not depend on the order of the pivots.
        for k in (0..self.rows.len()).filter(|k| rows.contains(k)) {
            q[at] = k as f64 * UNIT;
            at += 1;
        }
        for ball in &self.balls {
            for k in 0..4 {
                q[at + k] = q[joints + ball.stored + k];
            }
            at += 4;
        }
    }
}

/// A configuration with its closure Jacobian.
#[derive(Clone, Debug, Default)]
pub struct Kinematics {
    /// The stored coordinates (NaN: none yet).
    pub q: Vec<f64>,
    /// Whether the coordinates are finite and J_d is regular.
    pub fits: bool,
    pub independent: Vec<usize>,
    pub dependent: Vec<usize>,
    pub solved: Vec<usize>,
    /// Rotation vectors in loops and their tangents.
    pub rho: Vec<Vec3>,
    pub t: Vec<Mat3>,
    /// Entries of G as the joints have them.
    pub g: Vec<f64>,
    /// G and J of the loops, rows x looped.
    gz: Vec<f64>,
    pub j: Vec<f64>,
    /// Factors of the scaled J_d of the solved constraints.
    pub factor: DependentFactor,
    /// −J_d⁻¹ J_i, dependent x independent.
    pub r: Vec<f64>,
    /// Independent velocities (NaN: none yet).
    v: Vec<f64>,
    pub rates: DependentRates,
}

/// Velocities and acceleration biases of the joints.
#[derive(Clone, Debug, Default)]
pub struct DependentRates {
    /// ẋ and ż.
    pub x_dot: Vec<f64>,
    pub z_dot: Vec<f64>,
    /// Biases of ẍ and z̈ besides [R; 1] and P times the independent accelerations.
    pub x_bias: Vec<f64>,
    pub bias: Vec<f64>,
    gamma: Vec<f64>,
    column: Vec<f64>,
}

impl Kinematics {
    pub fn new(l: &CoordinateLayout, entries: usize) -> Self {
        let (m, n, r) = (l.rows.len(), l.looped.len(), l.rank);
        Self {
            q: vec![f64::NAN; l.stored()],
            fits: false,
            independent: vec![0; n - r],
            dependent: vec![0; r],
            solved: vec![0; r],
            rho: vec![Vec3::zeros(); l.balls.len()],
            t: vec![Mat3::identity(); l.balls.len()],
            g: vec![0.0; entries],
            gz: vec![0.0; m * n],
            j: vec![0.0; m * n],
            factor: DependentFactor::new(r),
            r: vec![0.0; r * (n - r)],
            v: vec![f64::NAN; l.moved()],
            rates: DependentRates {
                x_dot: vec![0.0; l.inner.nv],
                z_dot: vec![0.0; l.inner.nv],
                x_bias: vec![0.0; l.inner.nv],
                bias: vec![0.0; l.inner.nv],
                gamma: vec![0.0; m],
                column: vec![0.0; r],
            },
        }
    }

    /// Copies another configuration, without its velocities and without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.q.copy_from_slice(&other.q);
        self.fits = other.fits;
        self.independent.copy_from_slice(&other.independent);
        self.dependent.copy_from_slice(&other.dependent);
        self.solved.copy_from_slice(&other.solved);
        self.rho.copy_from_slice(&other.rho);
        self.t.copy_from_slice(&other.t);
        self.g.copy_from_slice(&other.g);
        self.gz.copy_from_slice(&other.gz);
        self.j.copy_from_slice(&other.j);
        self.factor.copy_from(&other.factor);
        self.r.copy_from_slice(&other.r);
        self.v.fill(f64::NAN);
    }

    /// Evaluates the configuration `q`; false if it is not regular.
    pub fn load(
        &mut self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        q: &[f64],
    ) -> bool {
        if self.q != q {
            self.q.copy_from_slice(q);
            self.v.fill(f64::NAN);
            self.fits = self.read(l) && self.prepare(l, inner);
        }
        self.fits
    }

    /// Returns the joint coordinates.
    pub fn z(&self, l: &CoordinateLayout) -> &[f64] {
        &self.q[l.joints()]
    }

    /// Reads the partition from the stored coordinates.
    fn read(&mut self, l: &CoordinateLayout) -> bool {
        if self.q.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let chart = &self.q[l.chart()..];
        let number = |x: f64| (x / UNIT).round() as usize;
        let most = [self.independent.len(), self.solved.len()];
        for (k, x) in chart[..most[0]].iter().enumerate() {
            self.independent[k] = number(*x).min(l.looped.len() - 1);
        }
        for (k, x) in chart[most[0]..most[0] + most[1]].iter().enumerate() {
            self.solved[k] = number(*x).min(l.rows.len() - 1);
        }
        let mut count = 0;
        for k in 0..l.looped.len() {
            if !self.independent.contains(&k) {
                if count == self.dependent.len() {
                    return false;
                }
                self.dependent[count] = k;
                count += 1;
            }
        }
        let bases = &self.q[l.chart() + l.looped.len()..];
        for (k, ball) in l.balls.iter().enumerate() {
            let base = rotation::conjugate(&quaternion(bases, 4 * k));
            self.rho[k] = rotation::log(&rotation::product(
                &base,
                &quaternion(self.z(l), ball.stored),
            ));
            self.t[k] = rotation::tangent(&self.rho[k]);
        }
        count == self.dependent.len()
    }

    fn prepare(&mut self, l: &CoordinateLayout, inner: &dyn ClosureConstraints) -> bool {
        inner.jacobian(&NOWHERE, &self.q[l.joints()], &mut self.g);
        let (n, r) = (l.looped.len(), l.rank);
        self.gz.fill(0.0);
        for (entry, g) in l.entries.iter().zip(&self.g) {
            if let CoordinateKind::Loop(at) = entry {
                self.gz[*at as usize] += g;
            }
        }
        self.j.copy_from_slice(&self.gz);
        for (ball, t) in l.balls.iter().zip(&self.t) {
            for row in 0..l.rows.len() {
                let own = row * n + ball.looped..row * n + ball.looped + 3;
                let g = Vec3::from_column_slice(&self.gz[own.clone()]);
                self.j[own].copy_from_slice(t.tr_mul(&g).as_slice());
            }
        }
        let a = self.factor.cleared();
        for (i, &row) in self.solved.iter().enumerate() {
            for (k, &column) in self.dependent.iter().enumerate() {
                let weight = l.scale[row] * l.weight[l.looped[column]];
                a[i * r + k] = self.j[row * n + column] / weight;
            }
        }
        if !(self.factor.factor() && self.factor.conditioning > SINGULAR) {
            return false;
        }
        let count = self.independent.len();
        for c in 0..count {
            let column = &mut self.rates.column[..r];
            for (x, &row) in column.iter_mut().zip(&self.solved) {
                *x = -self.j[row * n + self.independent[c]] / l.scale[row];
            }
            self.factor.solve(column);
            for i in 0..r {
                let weight = l.weight[l.looped[self.dependent[i]]];
                self.r[i * count + c] = self.rates.column[i] / weight;
            }
        }
        self.r.iter().all(|x| x.is_finite())
    }

    /// Sets the velocities.
    pub fn moving(&mut self, l: &CoordinateLayout, inner: &dyn ClosureConstraints, v: &[f64]) {
        if self.v == v {
            return;
        }
        self.v.copy_from_slice(v);
        let mut rates = std::mem::take(&mut self.rates);
        let DependentRates {
            x_dot,
            z_dot,
            x_bias,
            bias,
            gamma,
            column,
        } = &mut rates;
        self.carry(l, v, x_dot);
        self.bend(l, inner, x_dot, z_dot, gamma);
        self.follow(l, gamma, column, x_bias);
        bias.copy_from_slice(x_bias);
        self.to_joints(l, bias);
        self.add_turning(l, x_dot, bias);
        self.rates = rates;
    }

    /// x = [R; 1] y
    pub fn carry(&self, l: &CoordinateLayout, y: &[f64], x: &mut [f64]) {
        let (free, chosen) = y.split_at(l.free.len());
        for (&k, y) in l.free.iter().zip(free) {
            x[k] = *y;
        }
        for (&k, y) in self.independent.iter().zip(chosen) {
            x[l.looped[k]] = *y;
        }
        let count = chosen.len();
        for (i, &k) in self.dependent.iter().enumerate() {
            let row = &self.r[i * count..(i + 1) * count];
            x[l.looped[k]] = row.iter().zip(chosen).map(|(r, y)| r * y).sum();
        }
    }

    /// x := B x
    pub fn to_joints(&self, l: &CoordinateLayout, x: &mut [f64]) {
        for (ball, t) in l.balls.iter().zip(&self.t) {
            let own = &mut x[ball.moved..ball.moved + 3];
            let turned = t * Vec3::from_column_slice(own);
            own.copy_from_slice(turned.as_slice());
        }
    }

    /// f := Bᵀ f
    pub fn off_joints(&self, l: &CoordinateLayout, f: &mut [f64]) {
        for (ball, t) in l.balls.iter().zip(&self.t) {
            let own = &mut f[ball.moved..ball.moved + 3];
            let turned = t.tr_mul(&Vec3::from_column_slice(own));
            own.copy_from_slice(turned.as_slice());
        }
    }

    /// y = [R; 1]ᵀ f
    pub fn gather(&self, l: &CoordinateLayout, f: &[f64], y: &mut [f64]) {
        let (free, chosen) = y.split_at_mut(l.free.len());
        for (&k, y) in l.free.iter().zip(free) {
            *y = f[k];
        }
        for (&k, y) in self.independent.iter().zip(&mut *chosen) {
            *y = f[l.looped[k]];
        }
        let count = chosen.len();
        for (i, &k) in self.dependent.iter().enumerate() {
            let f = f[l.looped[k]];
            for (y, r) in chosen.iter_mut().zip(&self.r[i * count..(i + 1) * count]) {
                *y += r * f;
            }
        }
    }

    /// Writes γ = (J ẋ)_x ẋ of all loop constraints, and ż = B ẋ.
    pub fn bend(
        &self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        x_dot: &[f64],
        z_dot: &mut [f64],
        gamma: &mut [f64],
    ) {
        z_dot.copy_from_slice(x_dot);
        self.to_joints(l, z_dot);
        inner.bend(self.z(l), z_dot, gamma);
        let n = l.looped.len();
        for (ball, rho) in l.balls.iter().zip(&self.rho) {
            let u = Vec3::from_column_slice(&x_dot[ball.moved..ball.moved + 3]);
            let turning = rotation_vector::bias(rho, &u);
            for (row, gamma) in gamma.iter_mut().enumerate() {
                let g = &self.gz[row * n + ball.looped..row * n + ball.looped + 3];
                *gamma += g[0] * turning.x + g[1] * turning.y + g[2] * turning.z;
            }
        }
    }

    /// x with J x = −γ in the solved constraints, zero for independent coordinates; `column` is scratch.
    pub fn follow(&self, l: &CoordinateLayout, gamma: &[f64], column: &mut [f64], x: &mut [f64]) {
        x.fill(0.0);
        let column = &mut column[..l.rank];
        for (c, &row) in column.iter_mut().zip(&self.solved) {
            *c = -gamma[row] / l.scale[row];
        }
        self.factor.solve(column);
        for (&k, c) in self.dependent.iter().zip(&*column) {
            x[l.looped[k]] = *c / l.weight[l.looped[k]];
        }
    }

    /// λ of the solved constraints such that f + Jᵀλ vanishes along the dependent coordinates; zero for the others. `f` is Bᵀ of forces on
    /// the joints.
    pub fn solve_multipliers(
        &self,
        l: &CoordinateLayout,
        f: &[f64],
        column: &mut [f64],
        lambda: &mut [f64],
    ) {
        lambda.fill(0.0);
        let column = &mut column[..l.rank];
        for (c, &k) in column.iter_mut().zip(&self.dependent) {
            *c = -f[l.looped[k]] / l.weight[l.looped[k]];
        }
        self.factor.solve_transposed(column);
        for (&row, c) in self.solved.iter().zip(&*column) {
            lambda[row] = c / l.scale[row];
        }
    }

    /// z̈ += (T_ρ ρ̇) ρ̇ of rotation vectors.
    pub fn add_turning(&self, l: &CoordinateLayout, x_dot: &[f64], z: &mut [f64]) {
        for (ball, rho) in l.balls.iter().zip(&self.rho) {
            let u = Vec3::from_column_slice(&x_dot[ball.moved..ball.moved + 3]);
            let turning = rotation_vector::bias(rho, &u);
            for k in 0..3 {
                z[ball.moved + k] += turning[k];
            }
        }
    }

    /// Writes the stored coordinates at x + dx with the same partition, loops not closed; overwrites dx.
    pub fn shift(
        &self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        dx: &mut [f64],
        out: &mut [f64],
    ) {
        let bases = &self.q[l.chart() + l.looped.len()..];
        for (k, ball) in l.balls.iter().enumerate() {
            let own = &mut dx[ball.moved..ball.moved + 3];
            let rho = self.rho[k] + Vec3::from_column_slice(own);
            let there = rotation::product(&quaternion(bases, 4 * k), &rotation::exp(&rho));
            let back = rotation::conjugate(&quaternion(self.z(l), ball.stored));
            let mut turned = rotation::log(&rotation::product(&back, &there));
            if !(rho.norm() < MAX_LENGTH) {
                turned.fill(f64::NAN);
            }
            own.copy_from_slice(turned.as_slice());
        }
        out.copy_from_slice(&self.q);
        inner.retract(self.z(l), dx, &mut out[l.joints()]);
    }

    /// Writes x of another configuration of the same partition minus x here.
    pub fn apart(
        &self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        other: &Self,
        x: &mut [f64],
    ) {
        inner.difference(self.z(l), other.z(l), x);
        for (k, ball) in l.balls.iter().enumerate() {
            let apart = other.rho[k] - self.rho[k];
            x[ball.moved..ball.moved + 3].copy_from_slice(apart.as_slice());
        }
    }

    /// Returns the dependent coordinate with the smallest pivot.
    pub fn weakest(&self, l: &CoordinateLayout) -> Option<usize> {
        let weakest = self.dependent.get(self.factor.weakest);
        weakest.map(|&k| l.looped[k])
    }

    /// Whether a rotation vector is so large that its base should be reset.
    pub fn turned(&self) -> bool {
        self.rho.iter().any(|rho| rho.norm() > RESET_LENGTH)
    }
}

/// Smallest ratio of the smallest to the largest pivot of J_d: closure to 1e-16 then determines dependent coordinates to 1e-10, and their
/// directions to 1e-4.
const SINGULAR: f64 = 1e-6;
/// Length of a rotation vector beyond which its base is reset, and the largest length allowed: T is singular at 2π, and beyond π the
/// vector is not determined by the quaternion.
const RESET_LENGTH: f64 = 1.2;
const MAX_LENGTH: f64 = 3.0;

fn quaternion(q: &[f64], at: usize) -> rotation::Quaternion {
    [q[at], q[at + 1], q[at + 2], q[at + 3]]
}
