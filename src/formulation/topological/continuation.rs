//! Continuation of the dependent coordinates: given a displacement w of the independent ones, solves the loop closure at its end.
//!
//! ```text
//!   predict   x_d = x_d⁰ + x' + ½ x''          along y = y⁰ + s w, s = 0 .. 1:  x' = R w,  x'' = −J_d⁻¹ H[x', x']
//!   correct   Newton's iteration on Φ
//!   check     |x¹ − x⁰ − ½ (x'⁰ + x'¹)| and |x'¹ − x'⁰ − ½ (x''⁰ + x''¹)| small relative to |x'|
//! ```
//!
//! On another solution branch x' differs: the check then fails by the size of x' itself. If the check fails, the path is divided into
//! shorter pieces; if that does not help, the continuation fails. A partition that must stay in the region of regular J_d also requires
//! ‖J_d⁰⁻¹ J_d¹ − 1‖ < 1 on every piece: then no configuration in between is singular, as far as J_d is linear there.

use super::kinematics::{CoordinateLayout, Kinematics};
use crate::formulation::relative::closure::ClosureConstraints;

/// Largest number of Newton iterations for a piece of the path.
const MAX_ITERATIONS: usize = 12;
/// Residual at which Newton's iteration stops, and the largest one accepted when it stagnates, relative to the scale of the constraint.
const CONVERGED: f64 = 1e-15;
const STAGNATED: f64 = 1e-12;
/// The shortest piece of the path.
const SHORTEST_PIECE: f64 = 1.0 / 64.0;
/// Largest residual of the check, relative to x'.
const MAX_CHECK_RESIDUAL: f64 = 0.25;
/// A path that is linear to this relative amount, between configurations whose |det J_d| differ by less than a factor of two, is accepted
/// without the check.
const LINEAR: f64 = 0.02;
const SIMILAR_DETERMINANT: f64 = std::f64::consts::LN_2;
/// Iterations for a norm.
const NORM_ITERATIONS: usize = 8;
/// Displacements below this are rounding errors.
const ROUNDING: f64 = 1e-10;

/// Scratch vectors of a continuation.
#[derive(Clone, Debug, Default)]
pub struct Continuation {
    q: Vec<f64>,
    phi: Vec<f64>,
    dx: Vec<f64>,
    piece: Vec<f64>,
    first: [Vec<f64>; 2],
    second: [Vec<f64>; 2],
    z_dot: Vec<f64>,
    between: Vec<f64>,
    /// Start of the current piece.
    start: Kinematics,
}

impl Continuation {
    pub fn new(l: &CoordinateLayout, entries: usize) -> Self {
        let wide = || vec![0.0; l.inner.nv];
        Self {
            q: vec![0.0; l.stored()],
            phi: vec![0.0; l.rows.len()],
            dx: wide(),
            piece: vec![0.0; l.moved()],
            first: [wide(), wide()],
            second: [wide(), wide()],
            z_dot: wide(),
            between: vec![0.0; l.rank * l.rank + 2 * l.rank],
            start: Kinematics::new(l, entries),
        }
    }

    /// Continues from a regular configuration by `w`; `to` is the end. Returns false if that fails. With `within` the path must not cross a
    /// singular configuration of the partition.
    pub fn go(
        &mut self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        from: &Kinematics,
        w: &[f64],
        to: &mut Kinematics,
        within: bool,
    ) -> bool {
        self.piece.copy_from_slice(w);
        if self.piece_of_way(l, inner, from, to, within) {
            return true;
        }
        let mut start = std::mem::take(&mut self.start);
        start.copy_from(from);
        let (mut s, mut ds) = (0.0, 0.5);
        while s < 1.0 {
            let part = f64::min(ds, 1.0 - s);
            for (piece, w) in self.piece.iter_mut().zip(w) {
                *piece = part * w;
            }
            if self.piece_of_way(l, inner, &start, to, within) {
                s += part;
                start.copy_from(to);
            } else {
                ds *= 0.5;
                if ds < SHORTEST_PIECE {
                    break;
                }
            }
        }
        self.start = start;
        s >= 1.0
    }

    fn piece_of_way(
        &mut self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        from: &Kinematics,
        to: &mut Kinematics,
        within: bool,
    ) -> bool {
        let [first, _] = &mut self.first;
        let [second, _] = &mut self.second;
        from.carry(l, &self.piece, first);
        from.bend(l, inner, first, &mut self.z_dot, &mut self.phi);
        from.follow(l, &self.phi, &mut self.between, second);
        let (speed, bent) = (l.length(|k| first[k]), l.length(|k| second[k]));
        let half = if bent <= speed { 0.5 } else { 0.0 };
        for (dx, (x, y)) in self.dx.iter_mut().zip(first.iter().zip(&*second)) {
            *dx = x + half * y;
        }
        from.shift(l, inner, &mut self.dx, &mut self.q);
        if !self.newton(l, inner, to) {
            return false;
        }
        from.apart(l, inner, to, &mut self.dx);
        let [first, _] = &self.first;
        let alike =
            (from.factor.log_determinant - to.factor.log_determinant).abs() <= SIMILAR_DETERMINANT;
        let straight = l.length(|k| self.dx[k] - first[k]) <= LINEAR * speed;
        if within && !self.regular_between(l, from, to) {
            return false;
        }
        if alike && straight {
            return true;
        }
        let [first, last] = &mut self.first;
        to.carry(l, &self.piece, last);
        to.bend(l, inner, last, &mut self.z_dot, &mut self.phi);
        to.follow(l, &self.phi, &mut self.between, &mut self.second[1]);
        let [second, after] = &self.second;
        let largest = MAX_CHECK_RESIDUAL * speed.max(l.length(|k| last[k])) + ROUNDING;
        let place = l.length(|k| self.dx[k] - 0.5 * (first[k] + last[k]));
        let rate = l.length(|k| last[k] - first[k] - 0.5 * (second[k] + after[k]));
        place <= largest && rate <= largest
    }

    /// Closes the loops starting from `self.q`; `to` is the result.
    fn newton(
        &mut self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        to: &mut Kinematics,
    ) -> bool {
        let mut before = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            if !to.load(l, inner, &self.q) {
                return false;
            }
            inner.close(to.z(l), &mut self.phi);
            let mut open = 0.0;
            for (phi, scale) in self.phi.iter().zip(&l.scale) {
                let size = phi.abs() / scale;
                // Not `size > open`: NaN must win.
                if !(size <= open) {
                    open = size;
                }
            }
            let magnitude = inner.coordinate_magnitude(to.z(l));
            if open <= CONVERGED * magnitude {
                return true;
            }
            if !(open < 0.5 * before) && open <= STAGNATED * magnitude {
                return true;
            }
            if !(open < 2.0 * before) {
                return false;
            }
            before = open;
            to.follow(l, &self.phi, &mut self.between, &mut self.dx);
            to.shift(l, inner, &mut self.dx, &mut self.q);
        }
        false
    }

    /// Closes the loops at `q`, which may be open; false leaves `q`.
    pub fn assemble(
        &mut self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        q: &mut [f64],
        to: &mut Kinematics,
    ) -> bool {
        self.q.copy_from_slice(q);
        let closed = self.newton(l, inner, to);
        if closed {
            q.copy_from_slice(&to.q);
        }
        closed
    }

    /// Whether ‖J_d⁰⁻¹ J_d¹ − 1‖ < 1 in scaled coordinates.
    fn regular_between(
        &mut self,
        l: &CoordinateLayout,
        from: &Kinematics,
        to: &Kinematics,
    ) -> bool {
        let (r, n) = (l.rank, l.looped.len());
        let (columns, rest) = self.between.split_at_mut(r * r);
        let (column, next) = rest.split_at_mut(r);
        for (c, &k) in to.dependent.iter().enumerate() {
            for (x, &row) in column.iter_mut().zip(&to.solved) {
                *x = to.j[row * n + k] / (l.scale[row] * l.weight[l.looped[k]]);
            }
            from.factor.solve(column);
            column[c] -= 1.0;
            for i in 0..r {
                columns[i * r + c] = column[i];
            }
        }
        // max (|A| x)_i / x_i of a positive x is a norm of A; a few powers of |A| bring it near the smallest one.
        column.fill(1.0);
        for _ in 0..NORM_ITERATIONS {
            let mut norm = 0.0;
            for i in 0..r {
                let row = &columns[i * r..(i + 1) * r];
                next[i] = row.iter().zip(&*column).map(|(a, x)| a.abs() * x).sum();
                // NaN must win.
                if !(next[i] / column[i] <= norm) {
                    norm = next[i] / column[i];
                }
            }
            if norm < 1.0 {
                return true;
            }
            for (x, next) in column.iter_mut().zip(&*next) {
                *x = 0.5 * (*x + next);
            }
        }
        false
    }
}
