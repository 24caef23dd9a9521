//! Values of the saddle-point matrix:
//!
//! ```text
//!   K = [ S   Gᵀ ]      E_k = ε (G diag(M)⁻¹ Gᵀ)_kk
//!       [ G  −E  ]
//! ```

use super::sparsity::SaddleSparsity;

/// Masses below this part of the largest do not enter E: their share would be unbounded, while other constraints limit it.
const NEGLIGIBLE_MASS: f64 = 1e-15;
/// Smallest E_k as a part of the mean over the active constraints.
const SMALLEST_REGULARISATION: f64 = 1e-3;

/// Values of one saddle-point matrix.
#[derive(Clone, Debug)]
pub struct SaddleMatrix {
    /// Entries of S, then of G, by slot.
    pub(super) values: Vec<f64>,
    /// First slot of each row of G, and their end.
    g_start: Vec<u32>,
    /// Diagonal of E.
    e: Vec<f64>,
    active: Vec<bool>,
    /// Workspace of `regularise`: 1 / M_ii.
    inverse_mass: Vec<f64>,
}

impl SaddleMatrix {
    /// The zero matrix, all constraints active.
    pub fn new(sparsity: &SaddleSparsity) -> Self {
        Self {
            values: vec![0.0; sparsity.column.len()],
            g_start: sparsity.g_start().to_vec(),
            e: vec![0.0; sparsity.nc()],
            active: vec![true; sparsity.nc()],
            inverse_mass: vec![0.0; sparsity.nv()],
        }
    }

    /// Sets S from values in the order of `Sparsity::tangent`; values of repeated entries are added.
    pub fn load_tangent(&mut self, sparsity: &SaddleSparsity, values: &[f64]) {
        if sparsity.tangent_in_place() {
            self.tangent_mut(sparsity).copy_from_slice(values);
            return;
        }
        self.values[..sparsity.s_len()].fill(0.0);
        for (&slot, v) in sparsity.tangent_slot().iter().zip(values) {
            self.values[slot as usize] += v;
        }
    }

    /// The entries of S by slot. If [`SaddleSparsity::tangent_in_place`], this is the order of `Sparsity::tangent`.
    pub fn tangent_mut(&mut self, sparsity: &SaddleSparsity) -> &mut [f64] {
        &mut self.values[..sparsity.s_len()]
    }

    /// Sets G from values in the order of `Sparsity::jacobian`; values of repeated entries are added. Rows of inactive constraints
    /// stay zero.
    pub fn load_jacobian(&mut self, sparsity: &SaddleSparsity, values: &[f64]) {
        self.values[sparsity.s_len()..].fill(0.0);
        for (&slot, v) in sparsity.jacobian_slot().iter().zip(values) {
            self.values[slot as usize] += v;
        }
        self.clear_inactive();
    }

    /// Sets the active constraints. The row of a deactivated constraint becomes zero now; an activated one needs
    /// [`SaddleMatrix::load_jacobian`] and [`SaddleMatrix::regularise`] again.
    pub fn set_active(&mut self, active: &[bool]) {
        self.active.copy_from_slice(active);
        self.clear_inactive();
    }

    fn clear_inactive(&mut self) {
        for (k, active) in self.active.iter().enumerate() {
            if !active {
                self.values[self.g_start[k] as usize..self.g_start[k + 1] as usize].fill(0.0);
                self.e[k] = 0.0;
            }
        }
    }

    /// E_k = eps (G diag(M)⁻¹ Gᵀ)_kk, at least a thousandth of the mean over the active constraints; zero for inactive ones.
    ///
    /// Coordinates with (almost) no mass do not enter. If none is left, M = I is used; if G is zero, E_k = `eps`.
    pub fn regularise(&mut self, sparsity: &SaddleSparsity, mass_diagonal: &[f64], eps: f64) {
        let largest = mass_diagonal.iter().fold(0.0, |m: f64, &x| m.max(x.abs()));
        let smallest = NEGLIGIBLE_MASS * largest;
        for (inverse, m) in self.inverse_mass.iter_mut().zip(mass_diagonal) {
            let m = m.abs();
            *inverse = if m > smallest { 1.0 / m } else { 0.0 };
        }
        let mut sum = self.compute_inverse_masses(sparsity);
        if sum == 0.0 {
            self.inverse_mass.fill(1.0);
            sum = self.compute_inverse_masses(sparsity);
        }
        let count = self.active.iter().filter(|&&a| a).count();
        let floor = match sum {
            0.0 => 1.0,
            sum => SMALLEST_REGULARISATION * sum / count.max(1) as f64,
        };
        for (e, active) in self.e.iter_mut().zip(&self.active) {
            *e = if *active { eps * e.max(floor) } else { 0.0 };
        }
    }

    /// Sets E_k = `of_constraint(k)`, zero for inactive constraints.
    pub fn set_regularisation(&mut self, of_constraint: impl Fn(usize) -> f64) {
        for (k, e) in self.e.iter_mut().enumerate() {
            *e = if self.active[k] {
                of_constraint(k)
            } else {
                0.0
            };
        }
    }

    /// Sets E_k = (G diag(M)⁻¹ Gᵀ)_kk, the inverse mass a constraint acts on; returns their sum.
    fn compute_inverse_masses(&mut self, sparsity: &SaddleSparsity) -> f64 {
        let mut sum = 0.0;
        for i in 0..sparsity.nc() {
            if !self.active[i] {
                self.e[i] = 0.0;
                continue;
            }
            let mut size = 0.0;
            let row = sparsity.g_row(i);
            for (&j, g) in sparsity.column[row.clone()].iter().zip(&self.values[row]) {
                size += g * g * self.inverse_mass[j as usize];
            }
            self.e[i] = size;
            // Factorisation reports a row that is not finite; it must not spoil E of the other constraints.
            if size.is_finite() {
                sum += size;
            }
        }
        sum
    }

    /// out = S x
    pub fn tangent_times(&self, sparsity: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        rows_times(sparsity, sparsity.s_start(), &self.values, x, out);
    }

    /// out_i = S_ii
    pub fn tangent_diagonal(&self, sparsity: &SaddleSparsity, out: &mut [f64]) {
        for (out, &slot) in out.iter_mut().zip(&sparsity.diagonal) {
            *out = self.values[slot as usize];
        }
    }

    /// out = G x
    pub fn jacobian_times(&self, sparsity: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            let mut sum = 0.0;
            if self.active[i] {
                let row = sparsity.g_row(i);
                for (&j, g) in sparsity.column[row.clone()].iter().zip(&self.values[row]) {
                    sum += g * x[j as usize];
                }
            }
            *out = sum;
        }
    }

    /// out = |G| |x|
    pub fn abs_jacobian_times(&self, sparsity: &SaddleSparsity, x: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            let range = sparsity.g_row(i);
            let terms = sparsity.column[range.clone()]
                .iter()
                .zip(&self.values[range]);
            *out = terms.map(|(&j, g)| (g * x[j as usize]).abs()).sum();
        }
    }

    /// out += Gᵀ λ
    pub fn add_jacobian_transposed(
        &self,
        sparsity: &SaddleSparsity,
        lambda: &[f64],
        out: &mut [f64],
    ) {
        for (i, &l) in lambda.iter().enumerate() {
            if !self.active[i] {
                continue;
            }
            let range = sparsity.g_row(i);
            for (&j, g) in sparsity.column[range.clone()]
                .iter()
                .zip(&self.values[range])
            {
                out[j as usize] += g * l;
            }
        }
    }

    /// Diagonal of the regularisation E; zero for inactive constraints.
    pub fn regularisation(&self) -> &[f64] {
        &self.e
    }

    /// Whether each constraint is active.
    pub fn active(&self) -> &[bool] {
        &self.active
    }
}

/// out = A x for the rows of values that `start` delimits.
fn rows_times(
    sparsity: &SaddleSparsity,
    start: &[u32],
    values: &[f64],
    x: &[f64],
    out: &mut [f64],
) {
    let (Some(&first), Some(&last)) = (start.first(), start.last()) else {
        return;
    };
    let mut columns = &sparsity.column[first as usize..last as usize];
    let mut values = &values[first as usize..last as usize];
    let mut from = first;
    for (out, &to) in out.iter_mut().zip(&start[1..]) {
        let (row, factors);
        (row, columns) = columns.split_at((to - from) as usize);
        (factors, values) = values.split_at((to - from) as usize);
        from = to;
        let mut sum = 0.0;
        for (&j, a) in row.iter().zip(factors) {
            sum += a * x[j as usize];
        }
        *out = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::super::sparsity::Backend;
    use super::*;
    use crate::formulation::system::Sparsity;

    /// S = [[2 + 1, 4], [0, 5]] with a repeated entry, G = [[1, 2], [3 - 1, 0]].
    fn small() -> (SaddleSparsity, SaddleMatrix) {
        let pattern = Sparsity {
            tangent: vec![(0, 0), (0, 1), (1, 1), (0, 0)],
            jacobian: vec![(1, 0), (0, 1), (0, 0), (1, 0)],
        };
        let sparsity = SaddleSparsity::new(2, 2, &pattern, Backend::Dense);
        let mut m = SaddleMatrix::new(&sparsity);
        m.load_tangent(&sparsity, &[2.0, 4.0, 5.0, 1.0]);
        m.load_jacobian(&sparsity, &[3.0, 2.0, 1.0, -1.0]);
        (sparsity, m)
    }

    #[test]
    fn values_of_repeated_entries_are_added() {
        let (sparsity, m) = small();
        let mut out = [0.0; 2];
        m.tangent_times(&sparsity, &[1.0, 10.0], &mut out);
        assert_eq!(out, [43.0, 50.0]);
        m.jacobian_times(&sparsity, &[1.0, 10.0], &mut out);
        assert_eq!(out, [21.0, 2.0]);
        let mut out = [100.0, 100.0];
        m.add_jacobian_transposed(&sparsity, &[1.0, 10.0], &mut out);
        assert_eq!(out, [121.0, 102.0]);
        m.tangent_diagonal(&sparsity, &mut out);
        assert_eq!(out, [3.0, 5.0]);
    }

    #[test]
    fn rows_of_inactive_constraints_are_zero_in_any_order_of_calls() {
        let (sparsity, mut m) = small();
        m.set_active(&[false, true]);
        let mut out = [9.0; 2];
        m.jacobian_times(&sparsity, &[1.0, 10.0], &mut out);
        assert_eq!(out, [0.0, 2.0]);
        m.load_jacobian(&sparsity, &[3.0, 2.0, 1.0, -1.0]);
        m.jacobian_times(&sparsity, &[1.0, 10.0], &mut out);
        assert_eq!(out, [0.0, 2.0]);
    }

    #[test]
    fn regularisation_is_a_part_of_the_inverse_mass_of_the_constraint() {
        let (sparsity, mut m) = small();
        m.regularise(&sparsity, &[2.0, 4.0], 1e-10);
        let exact = [1e-10 * (0.5 + 1.0), 1e-10 * 2.0];
        for (e, exact) in m.regularisation().iter().zip(exact) {
            assert!((e - exact).abs() < 1e-25, "{e} is not {exact}");
        }
        // The first coordinate is massless: the second constraint acts on no mass and gets the smallest E.
        m.regularise(&sparsity, &[0.0, 4.0], 1e-10);
        let exact = [1e-10, 1e-10 * 1e-3 * 0.5];
        for (e, exact) in m.regularisation().iter().zip(exact) {
            assert!((e - exact).abs() < 1e-25, "{e} is not {exact}");
        }
        m.set_active(&[true, false]);
        m.regularise(&sparsity, &[0.0, 0.0], 1e-10);
        assert!((m.regularisation()[0] - 5e-10).abs() < 1e-24);
        assert_eq!(m.regularisation()[1], 0.0);
    }
}
