//! Impulses of simultaneous contacts with friction: a complementarity problem over friction cones.
//!
//! ```text
//!   r = W x + b,      p ≤ x_n ⟂ r_n ≥ 0,      |x_t| ≤ μ x_n,   x_t = −μ x_n r_t/|r_t| where r_t ≠ 0
//!   <=>  x = proj(x − r/ρ)                      proj: x_n to at least p, x_t to at most μ x_n
//! ```
//!
//! Projected relaxation is safe but slow where contacts are redundant. A few sweeps find out which contacts are closed, stick and slip;
//! Newton's method on x = proj(x − r/ρ) then is exact after a few passes (Alart and Curnier). It is taken where it comes nearer, else
//! sweeps go on. The number of both is bounded: the solver always returns, with the nearest answer it has seen. Of redundant contacts
//! each keeps the share that the sweeps gave it.

use super::dot;
use crate::linalg::dense_lu::DenseLu;
use crate::linalg::elementary::hypot;

/// Attempts of Newton's method, and passes of each.
const ATTEMPTS: usize = 12;
const PASSES: usize = 12;
/// Sweeps before the first attempt; each further attempt has twice as many before it, up to the second number.
const SWEEPS: (usize, usize) = (20, 400);
/// Change of velocity that is rounding, over the sum of the terms of the largest velocity.
const CONVERGED: f64 = 1e-15;
/// A pass of Newton's method comes nearer if less than this part of the distance is left.
const NEARER: f64 = 0.7;
/// Part of its diagonal added to W in Newton's method: redundant contacts make W singular.
const REGULARISATION: f64 = 1e-11;

/// A normal or tangential direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConeDirection {
    /// b
    pub rate: f64,
    /// p, of a normal direction.
    pub least: f64,
    /// Of a tangential direction: the index of its normal one, and μ. Those of a contact follow their normal one.
    pub friction: Option<(usize, f64)>,
}

/// Memory of the solver.
#[derive(Default)]
pub(super) struct ConeProblem {
    pub directions: Vec<ConeDirection>,
    /// x
    pub x: Vec<f64>,
    lu: Option<DenseLu>,
    step: Vec<f64>,
    trial: Vec<f64>,
    best: Vec<f64>,
}

/// The directions whose values are projected together.
#[derive(Clone, Copy)]
enum Block {
    Normal,
    /// Tangential directions of a contact: their number, its normal direction, μ.
    Tangential(usize, usize, f64),
}

impl ConeProblem {
    /// Memory for `n` directions.
    pub fn new(n: usize) -> Self {
        Self {
            directions: Vec::with_capacity(n),
            x: vec![0.0; n],
            lu: Some(DenseLu::new(n)),
            step: vec![0.0; n],
            trial: vec![0.0; n],
            best: vec![0.0; n],
        }
    }

    /// Solves the problem with W by rows. Returns the distance |x − proj(x − r/ρ)| ρ that is left.
    pub fn solve(&mut self, w: &[f64]) -> f64 {
        let n = self.directions.len();
        for (x, direction) in self.x.iter_mut().zip(&self.directions) {
            *x = direction.least;
        }
        let mut left = f64::INFINITY;
        let mut sweeps = SWEEPS.0;
        for _ in 0..ATTEMPTS {
            for _ in 0..sweeps {
                left = self.sweep(w);
                if left <= self.rounding(w) {
                    return left;
                }
            }
            left = self.distance(w, &self.x[..n]);
            let before = left;
            self.best[..n].copy_from_slice(&self.x[..n]);
            for _ in 0..PASSES {
                if !self.newton_step(w) {
                    break;
                }
                let next = self.distance(w, &self.trial[..n]);
                if !next.is_finite() {
                    break;
                }
                let settled = next > NEARER * left;
                self.x[..n].copy_from_slice(&self.trial[..n]);
                if next < left {
                    left = next;
                    self.best[..n].copy_from_slice(&self.trial[..n]);
                }
                if left <= self.rounding(w) || (settled && left < before) {
                    break;
                }
            }
            self.x[..n].copy_from_slice(&self.best[..n]);
            if left <= self.rounding(w) {
                return left;
            }
            sweeps = (2 * sweeps).min(SWEEPS.1);
        }
        left
    }

    /// Distance that is rounding.
    fn rounding(&self, w: &[f64]) -> f64 {
        let n = self.directions.len();
        let terms = |i: usize| {
            let sum: f64 = (w[i * n..(i + 1) * n].iter().zip(&self.x))
                .map(|(w, x)| (w * x).abs())
                .sum();
            sum + self.directions[i].rate.abs()
        };
        CONVERGED * (0..n).fold(0.0_f64, |m, i| m.max(terms(i)))
    }

    /// The block that begins with direction i; none for the second tangential direction of a contact.
    fn block(&self, i: usize) -> Option<Block> {
        let own = |i: usize| self.directions.get(i)?.friction;
        match own(i) {
            None => Some(Block::Normal),
            Some((normal, mu)) if i == normal + 1 => {
                let second = own(i + 1).is_some_and(|(other, _)| other == normal);
                Some(Block::Tangential(1 + usize::from(second), normal, mu))
            }
            Some(_) => None,
        }
    }

    /// ρ of a block.
    fn mobility(&self, w: &[f64], i: usize, block: Block) -> f64 {
        let n = self.directions.len();
        let w = |i: usize, j: usize| w[i * n + j];
        match block {
            Block::Tangential(2, ..) => w(i, i).max(w(i + 1, i + 1)) + w(i, i + 1).abs(),
            _ => w(i, i),
        }
    }

    /// x − r/ρ of a block.
    fn relaxed(&self, w: &[f64], x: &[f64], i: usize, rho: f64) -> f64 {
        let n = x.len();
        x[i] - (self.directions[i].rate + dot(&w[i * n..(i + 1) * n], x)) / rho
    }

    /// proj(x − r/ρ) of a block.
    fn projected(&self, w: &[f64], x: &[f64], i: usize, block: Block, rho: f64) -> [f64; 2] {
        match block {
            Block::Normal => [
                self.relaxed(w, x, i, rho).max(self.directions[i].least),
                0.0,
            ],
            Block::Tangential(count, normal, mu) => {
                let limit = mu * x[normal].max(0.0);
                let second = if count == 2 {
                    self.relaxed(w, x, i + 1, rho)
                } else {
                    0.0
                };
                let aim = [self.relaxed(w, x, i, rho), second];
                let size = hypot(aim[0], aim[1]);
                let part = if size > limit { limit / size } else { 1.0 };
                aim.map(|x| part * x)
            }
        }
    }

    /// One sweep over all blocks; returns the largest change of velocity.
    fn sweep(&mut self, w: &[f64]) -> f64 {
        let n = self.directions.len();
        let mut moved = 0.0_f64;
        for i in 0..n {
            let Some(block) = self.block(i) else { continue };
            let rho = self.mobility(w, i, block);
            if !(rho > 0.0) {
                continue; // the constraints do not allow motion in this direction
            }
            let next = self.projected(w, &self.x[..n], i, block, rho);
            for k in 0..block.len() {
                moved = moved.max((next[k] - self.x[i + k]).abs() * rho);
                self.x[i + k] = next[k];
            }
        }
        moved
    }

    /// Largest |x − proj(x − r/ρ)| ρ.
    fn distance(&self, w: &[f64], x: &[f64]) -> f64 {
        let mut distance = 0.0_f64;
        for i in 0..x.len() {
            let Some(block) = self.block(i) else { continue };
            let rho = self.mobility(w, i, block);
            if !(rho > 0.0) {
                continue;
            }
            let next = self.projected(w, x, i, block, rho);
            for k in 0..block.len() {
                let moved = (next[k] - x[i + k]).abs() * rho;
                // max() would drop NaN.
                if !(moved <= distance) {
                    distance = moved;
                }
            }
        }
        distance
    }

    /// One step of Newton's method from x into the trial; false if its matrix is singular.
    ///
    /// ```text
    ///   closed, sticking   (W + ε) dx = −r
    ///   open               x_n = p,   x_t = 0
    ///   slipping           x_t = μ x_n d,   d = y/|y|,  y = x_t − r_t/ρ,  with the derivative of d
    /// ```
    fn newton_step(&mut self, w: &[f64]) -> bool {
        let n = self.directions.len();
        let Some(mut lu) = self.lu.take() else {
            return false;
        };
        let mut steps = std::mem::take(&mut self.step);
        lu.resize(n);
        let a = lu.cleared();
        let x = &self.x[..n];
        for i in 0..n {
            let Some(block) = self.block(i) else { continue };
            let rho = self.mobility(w, i, block);
            let follow = |i: usize, a: &mut [f64], step: &mut [f64]| {
                // Rows are divided by ρ, so that all entries are of the order of one.
                for j in 0..n {
                    a[i * n + j] = w[i * n + j] / rho;
                }
                a[i * n + i] += REGULARISATION;
                step[i] = self.relaxed(w, x, i, rho) - x[i];
            };
            let step = &mut steps[..];
            match block {
                _ if !(rho > 0.0) => {
                    for k in i..i + block.len() {
                        a[k * n + k] = 1.0;
                        step[k] = 0.0;
                    }
                }
                Block::Normal => {
                    let least = self.directions[i].least;
                    if self.relaxed(w, x, i, rho) > least {
                        follow(i, a, step);
                    } else {
                        a[i * n + i] = 1.0;
                        step[i] = least - x[i];
                    }
                }
                Block::Tangential(count, normal, mu) => {
                    let limit = mu * x[normal].max(0.0);
                    let mut y = [0.0; 2];
                    for k in 0..count {
                        y[k] = self.relaxed(w, x, i + k, rho);
                    }
                    let size = hypot(y[0], y[1]);
                    if size <= limit && limit > 0.0 {
                        (i..i + count).for_each(|k| follow(k, a, step));
                        continue;
                    }
                    let d = y.map(|y| if size > 0.0 { y / size } else { 0.0 });
                    let turn = if size > 0.0 { limit / size } else { 0.0 };
                    for k in 0..count {
                        let row = &mut a[(i + k) * n..(i + k + 1) * n];
                        row[i + k] = 1.0;
                        for m in 0..count {
                            let across = f64::from(u8::from(k == m)) - d[k] * d[m];
                            let change = if count == 2 { turn * across } else { 0.0 };
                            row[i + m] -= change;
                            for j in 0..n {
                                row[j] += change * w[(i + m) * n + j] / rho;
                            }
                        }
                        row[normal] -= mu * d[k];
                        step[i + k] = limit * d[k] - x[i + k];
                    }
                }
            }
        }
        let regular = lu.factor().is_ok();
        if regular {
            lu.solve(&mut steps[..n]);
            for i in 0..n {
                self.trial[i] = self.x[i] + steps[i];
            }
        }
        (self.lu, self.step) = (Some(lu), steps);
        regular
    }
}

impl Block {
    /// Number of its directions.
    fn len(self) -> usize {
        match self {
            Self::Normal => 1,
            Self::Tangential(count, ..) => count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::random::Random;

    fn normal(rate: f64) -> ConeDirection {
        ConeDirection {
            rate,
            ..ConeDirection::default()
        }
    }

    fn tangential(rate: f64, normal: usize, mu: f64) -> ConeDirection {
        ConeDirection {
            rate,
            least: 0.0,
            friction: Some((normal, mu)),
        }
    }

    fn solved(directions: &[ConeDirection], w: &[f64]) -> (ConeProblem, f64) {
        let mut problem = ConeProblem::new(directions.len());
        problem.directions.extend_from_slice(directions);
        let left = problem.solve(w);
        (problem, left)
    }

    #[test]
    fn a_point_mass_slips_or_sticks() {
        // Mass 1, falling with 1 m/s and sliding with 2 m/s: it slips for μ = 0.5 and sticks for μ = 3.
        let w = [1.0, 0.0, 0.0, 1.0];
        let (slips, _) = solved(&[normal(-1.0), tangential(2.0, 0, 0.5)], &w);
        assert_eq!(slips.x, [1.0, -0.5]);
        let (sticks, _) = solved(&[normal(-1.0), tangential(2.0, 0, 3.0)], &w);
        assert_eq!(sticks.x, [1.0, -2.0]);
    }

    #[test]
    fn four_corners_with_friction_settle_although_they_are_redundant() {
        // A cube of side 2 and mass 1 that lands flat, sliding and spinning about the vertical.
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let inertia = 2.0 / 3.0;
        let mut gradients: Vec<[f64; 6]> = Vec::new();
        for (x, y) in corners {
            gradients.push([0.0, 0.0, 1.0, y, -x, 0.0]);
            gradients.push([1.0, 0.0, 0.0, 0.0, -1.0, -y]);
            gradients.push([0.0, 1.0, 0.0, 1.0, 0.0, x]);
        }
        for (mu, speed) in [(0.1, 3.0), (0.4, 1.0), (1.0, 0.3), (0.7, 5.0)] {
            let v = [speed, 0.4 * speed, -2.0, 0.3, -0.1, 1.5];
            let mut w = vec![0.0; 144];
            for (i, a) in gradients.iter().enumerate() {
                for (j, b) in gradients.iter().enumerate() {
                    let mass = |k: usize| if k < 3 { 1.0 } else { 1.0 / inertia };
                    w[12 * i + j] = (0..6).map(|k| a[k] * b[k] * mass(k)).sum();
                }
            }
            let directions: Vec<ConeDirection> = (gradients.iter().enumerate())
                .map(|(i, g)| {
                    let rate = dot(g, &v);
                    match i % 3 {
                        0 => normal(rate),
                        k => tangential(rate, i - k, mu),
                    }
                })
                .collect();
            let (problem, left) = solved(&directions, &w);
            assert!(left < 1e-13, "mu {mu}: {left:e} left");
            for i in (0..12).step_by(3) {
                let limit = mu * problem.x[i];
                let size = hypot(problem.x[i + 1], problem.x[i + 2]);
                assert!(problem.x[i] >= 0.0 && size <= limit * (1.0 + 1e-9) + 1e-13);
            }
        }
    }

    #[test]
    fn random_problems_are_solved_or_left_at_a_bounded_cost() {
        let mut random = Random::new(5);
        let mut unsolved = 0;
        for _ in 0..300 {
            // Six contacts of a system of nine coordinates.
            let g: Vec<Vec<f64>> = (0..18)
                .map(|_| (0..9).map(|_| random.signed()).collect())
                .collect();
            let v: Vec<f64> = (0..9).map(|_| random.signed()).collect();
            let mut w = vec![0.0; 18 * 18];
            for i in 0..18 {
                for j in 0..18 {
                    w[18 * i + j] = dot(&g[i], &g[j]);
                }
            }
            let directions: Vec<ConeDirection> = (0..18)
                .map(|i| match i % 3 {
                    0 => normal(dot(&g[i], &v)),
                    k => tangential(dot(&g[i], &v), i - k, 0.5),
                })
                .collect();
            let (problem, left) = solved(&directions, &w);
            assert!(problem.x.iter().all(|x| x.is_finite()));
            unsolved += usize::from(left > 1e-12);
        }
        assert!(unsolved <= 3, "{unsolved} of 300");
    }
}
