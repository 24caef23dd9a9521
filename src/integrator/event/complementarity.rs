//! The linear complementarity problem of few contacts.
//!
//! ```text
//!   0 ≤ x ⟂ A x + c ≥ 0
//! ```
//!
//! Active set: the unknown whose residual is most negative is released, those that would become negative are set to zero, until no
//! residual is negative (Lawson and Hanson; every pass lowers the energy of a symmetric problem, so that none returns). The released
//! ones are independent: of redundant contacts only as many carry a force as are needed. Friction makes A unsymmetric, and there may be
//! no solution; the passes are counted, and relaxation gives the nearest answer.

/// Passes for each unknown, and in addition.
const PASSES: (usize, usize) = (6, 20);
/// Pivot below which a released unknown depends on the others, relative to its diagonal.
const DEPENDENT: f64 = 1e-9;
/// Residual that is rounding, relative to the largest c.
const ROUNDING: f64 = 1e-10;
/// Sweeps of the relaxation, and the part of the diagonal added to it.
const SWEEPS: usize = 500;
const REGULARISATION: f64 = 1e-9;

/// Memory of the solver.
#[derive(Default)]
pub(super) struct ComplementarityProblem {
    /// Number of unknowns.
    pub size: usize,
    /// A by rows, `size` columns.
    pub matrix: Vec<f64>,
    pub c: Vec<f64>,
    pub x: Vec<f64>,
    /// Unknown i is released from zero.
    pub released: Vec<bool>,
    blocked: Vec<bool>,
    index: Vec<usize>,
    factor: Vec<f64>,
    solution: Vec<f64>,
}

impl ComplementarityProblem {
    /// Memory for `n` unknowns.
    pub fn new(n: usize) -> Self {
        Self {
            size: 0,
            matrix: vec![0.0; n * n],
            c: vec![0.0; n],
            x: vec![0.0; n],
            released: vec![false; n],
            blocked: vec![false; n],
            index: Vec::with_capacity(n),
            factor: vec![0.0; n * n],
            solution: vec![0.0; n],
        }
    }

    /// Residual A x + c of unknown i.
    pub fn residual(&self, i: usize) -> f64 {
        let n = self.size;
        let row = &self.matrix[i * n..(i + 1) * n];
        self.c[i]
            + row
                .iter()
                .zip(&self.x[..n])
                .map(|(a, x)| a * x)
                .sum::<f64>()
    }

    /// Size of c that is rounding.
    pub fn rounding(&self) -> f64 {
        ROUNDING
            * self.c[..self.size]
                .iter()
                .fold(0.0_f64, |m, c| m.max(c.abs()))
    }

    /// Solves the problem; false if there is no solution or none was found. Then x is what relaxation found.
    pub fn solve(&mut self) -> bool {
        let n = self.size;
        self.x[..n].fill(0.0);
        self.released[..n].fill(false);
        self.blocked[..n].fill(false);
        let rounding = self.rounding();
        for _ in 0..PASSES.0 * n + PASSES.1 {
            let candidates = (0..n).filter(|&i| !self.released[i] && !self.blocked[i]);
            let worst = candidates
                .map(|i| (self.residual(i), i))
                .filter(|(r, _)| *r < -rounding)
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, i)) = worst else {
                let left = (0..n).any(|i| self.blocked[i] && self.residual(i) < -rounding);
                if left {
                    self.relax();
                }
                return !left;
            };
            self.release(i);
        }
        self.relax();
        false
    }

    /// Releases unknown i and sets to zero those that would become negative; blocks it if nothing can be gained.
    fn release(&mut self, i: usize) {
        let n = self.size;
        self.released[i] = true;
        for _ in 0..=n {
            if !self.solve_released() {
                // It depends on those that are released.
                self.released[i] = false;
                self.blocked[i] = true;
                return;
            }
            // Part of the way to the solution after which unknown j is zero; beyond one if it stays positive.
            let part_of = |p: &Self, j: usize| {
                if p.released[j] && p.solution[j] <= 0.0 {
                    let part = p.x[j] / (p.x[j] - p.solution[j]);
                    // Both are zero.
                    if part.is_nan() { 0.0 } else { part }
                } else {
                    f64::INFINITY
                }
            };
            let part = (0..n).fold(f64::INFINITY, |m, j| m.min(part_of(self, j)));
            let mut removed = false;
            for j in 0..n {
                if !self.released[j] {
                    continue;
                }
                if part_of(self, j) <= part && part.is_finite() {
                    self.x[j] = 0.0;
                    self.released[j] = false;
                    removed = true;
                    self.blocked[j] |= j == i;
                } else {
                    self.x[j] += part.min(1.0) * (self.solution[j] - self.x[j]);
                }
            }
            if !removed {
                self.blocked[..n].fill(false);
                return;
            }
            if !self.released[i] {
                return;
            }
        }
    }

    /// Releases unknown i with x = 0 unless it depends on those that are released.
    pub fn release_if_independent(&mut self, i: usize) -> bool {
        self.released[i] = true;
        self.released[i] = self.solve_released();
        self.released[i]
    }

    /// Solves A x = −c for the released unknowns by elimination; false if they are dependent.
    fn solve_released(&mut self) -> bool {
        let n = self.size;
        self.index.clear();
        self.index.extend((0..n).filter(|&i| self.released[i]));
        let m = self.index.len();
        for (r, &i) in self.index.iter().enumerate() {
            for (s, &j) in self.index.iter().enumerate() {
                self.factor[r * m + s] = self.matrix[i * n + j];
            }
            self.solution[r] = -self.c[i];
        }
        let Self {
            factor, solution, ..
        } = self;
        for k in 0..m {
            let diagonal = self.matrix[self.index[k] * n + self.index[k]];
            let pivot = factor[k * m + k];
            if !(pivot > DEPENDENT * diagonal) {
                return false;
            }
            for r in k + 1..m {
                let ratio = factor[r * m + k] / pivot;
                if ratio != 0.0 {
                    for s in k + 1..m {
                        factor[r * m + s] -= ratio * factor[k * m + s];
                    }
                    solution[r] -= ratio * solution[k];
                }
            }
        }
        for k in (0..m).rev() {
            let mut x = solution[k];
            for s in k + 1..m {
                x -= factor[k * m + s] * solution[s];
            }
            solution[k] = x / factor[k * m + k];
        }
        // Back to the places of the unknowns, the last first.
        for k in (0..m).rev() {
            let i = self.index[k];
            solution.swap(k, i);
        }
        true
    }

    /// Projected relaxation with a small regularisation: always returns. Released are those with a force.
    fn relax(&mut self) {
        let n = self.size;
        self.x[..n].fill(0.0);
        for _ in 0..SWEEPS {
            for i in 0..n {
                let diagonal = self.matrix[i * n + i];
                if diagonal > 0.0 {
                    let mobility = (1.0 + REGULARISATION) * diagonal;
                    let residual = self.residual(i) + REGULARISATION * diagonal * self.x[i];
                    self.x[i] = (self.x[i] - residual / mobility).max(0.0);
                }
            }
        }
        self.released[..n].fill(false);
        for i in 0..n {
            if self.x[i] > 0.0 {
                self.release_if_independent(i);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(matrix: &[f64], c: &[f64]) -> ComplementarityProblem {
        let n = c.len();
        let mut problem = ComplementarityProblem::new(n);
        problem.size = n;
        problem.matrix.copy_from_slice(matrix);
        problem.c.copy_from_slice(c);
        problem
    }

    fn assert_complementary(p: &ComplementarityProblem) {
        for i in 0..p.size {
            let (x, r) = (p.x[i], p.residual(i));
            assert!(
                x >= 0.0 && r > -1e-9 && (x * r).abs() < 1e-9,
                "{i}: {x} {r}"
            );
        }
    }

    #[test]
    fn a_plank_on_four_supports_rests_on_independent_ones() {
        // Supports at −1, −0.5, 0.5, 1 of a plank of mass 1 and inertia 1/3, loaded in the middle of x and at x = 0.7.
        for at in [0.0, 0.7, -0.9] {
            let places: [f64; 4] = [-1.0, -0.5, 0.5, 1.0];
            let mut matrix = [0.0; 16];
            for i in 0..4 {
                for j in 0..4 {
                    matrix[4 * i + j] = 1.0 + 3.0 * places[i] * places[j];
                }
            }
            let c = places.map(|x| -10.0 - 3.0 * 10.0 * at * x);
            let mut p = problem(&matrix, &c);
            assert!(p.solve());
            assert_complementary(&p);
            let carrying = p.released[..4].iter().filter(|r| **r).count();
            assert!(carrying <= 2, "{carrying}");
            let (force, moment) =
                (0..4).fold((0.0, 0.0), |(f, m), i| (f + p.x[i], m + p.x[i] * places[i]));
            assert!((force - 10.0).abs() < 1e-9 && (moment - 10.0 * at).abs() < 1e-9);
        }
    }

    #[test]
    fn random_problems_are_solved() {
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for _ in 0..200 {
            // A = B Bᵀ of rank 5 for 8 unknowns; c in its range, so that a solution exists.
            let b: Vec<f64> = (0..40).map(|_| random()).collect();
            let target: Vec<f64> = (0..5).map(|_| random()).collect();
            let mut matrix = vec![0.0; 64];
            let mut c = vec![0.0; 8];
            for i in 0..8 {
                for j in 0..8 {
                    matrix[8 * i + j] = (0..5).map(|k| b[5 * i + k] * b[5 * j + k]).sum();
                }
                c[i] = (0..5).map(|k| b[5 * i + k] * target[k]).sum();
            }
            let mut p = problem(&matrix, &c);
            assert!(p.solve());
            assert_complementary(&p);
        }
    }

    #[test]
    fn a_problem_without_solution_returns() {
        let mut p = problem(&[-1.0], &[-1.0]);
        assert!(!p.solve());
        let mut p = problem(&[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0]);
        assert!(!p.solve());
        assert!(p.x.iter().all(|x| x.is_finite() && *x >= 0.0));
    }
}
