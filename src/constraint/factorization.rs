//! Factorisation of the saddle-point matrix: dense LU for small systems, sparse LDLᵀ, or sparse LU where that fails.
//!
//! ```text
//!   [ S   Gᵀ ]      scaled by 1 / √|S_ii| and 1 / √(G diag(S)⁻¹ Gᵀ + E)_kk
//!   [ G  −E  ]
//! ```
//!
//! The multiplier of an inactive constraint is exactly zero.

use super::matrix::SaddleMatrix;
use super::refinement::RefinementOptions;
use super::sparsity::{NO_SLOT, PREALLOCATED_LU, SaddleSparsity, SparseLayout};
use crate::linalg::dense_lu::DenseLu;
use crate::linalg::random::Random;
use crate::linalg::sparse_ldl::SparseLdl;
use crate::linalg::sparse_lu::SparseLu;

/// Pivot of a coordinate, as part of its diagonal, below which the symmetric factor is tested before it is used.
const DOUBTFUL_PIVOT: f64 = 1e-8;
/// Scaled entry of the skew-symmetric part of S above which the symmetric factor is tested before it is used.
const DOUBTFUL_SKEW: f64 = 0.05;
/// Contraction of the refinement above which the symmetric factor fails that test.
const SLOW_CONTRACTION: f64 = 0.5;
/// Mass over the largest one below which a coordinate is light. It counts as massless where a constraint has a pivot below this, too:
/// there its inverse mass hides those of other coordinates.
const LIGHT: f64 = 1e-10;
/// Tolerance and limit of the refinement in that test.
const TRIAL_TOLERANCE: f64 = 1e-8;
const TRIAL_LIMIT: usize = 3;

/// Pivots of a factorisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pivots {
    /// Smallest pivot of the scaled W = G S⁻¹ Gᵀ + E over its diagonal; infinite without active constraints.
    pub smallest_constraint: f64,
    /// Number of constraint pivots that were rounding and have been replaced.
    pub corrected: usize,
    /// The symmetric order was not usable: LU with pivoting over all rows.
    pub used_lu: bool,
}

/// The matrix is singular or not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularPivot {
    /// 0..nv is a coordinate, nv.. a constraint.
    pub unknown: usize,
}

/// Factors by backend.
#[derive(Clone, Debug)]
pub(super) enum Factors {
    Dense(DenseLu),
    Sparse {
        ldl: Box<SparseLdl>,
        lu: Box<SparseLu>,
        /// Entries of the scaled matrix by columns, for LU.
        values: Vec<f64>,
        /// Whether the factor in use is LU.
        pivoted: bool,
    },
}

/// Factors of a saddle-point matrix with their workspace. Does not allocate after `new`, except for the first LU of a system
/// with more than 10,000 unknowns.
#[derive(Clone, Debug)]
pub struct Factorization {
    pub(super) factors: Factors,
    /// Constraints that were active when the matrix was factored.
    pub(super) active: Vec<bool>,
    pub(super) all_active: bool,
    /// Relative pivots of the constraints.
    relative_pivot: Vec<f64>,
    /// Squared scale of each unknown, 1 / |S_ii| and 1 / (G diag(S)⁻¹ Gᵀ + E)_kk.
    pub(super) weight: Vec<f64>,
    /// Whether a coordinate with a mass below [`LIGHT`] of the largest one exists.
    has_light: bool,
    /// Whether the weights are those with light coordinates as massless ones.
    light_is_massless: bool,
    /// Their square roots, for LU.
    pub(super) scale: Vec<f64>,
    /// Workspace of the back-substitution.
    pub(super) y: Vec<f64>,
    /// Right-hand side and residual of a refinement.
    pub(super) rhs: Vec<f64>,
    pub(super) residual: Vec<f64>,
    /// Solution in the test of a doubtful factor.
    trial: Vec<f64>,
}

impl Factorization {
    /// Storage for factors of matrices with this sparsity.
    pub fn new(sparsity: &SaddleSparsity) -> Self {
        let (nv, nc) = (sparsity.nv(), sparsity.nc());
        let n = nv + nc;
        let factors = match &sparsity.sparse {
            None => Factors::Dense(DenseLu::new(n)),
            Some(sparse) => {
                let (lu, entries) = if n <= PREALLOCATED_LU {
                    let capacity = 2 * sparse.symbolic.reserved() + n;
                    (
                        SparseLu::new(n, capacity),
                        sparse.lu_layout(sparsity).slot.len(),
                    )
                } else {
                    (SparseLu::new(0, 0), 0)
                };
                Factors::Sparse {
                    ldl: Box::new(SparseLdl::new(&sparse.symbolic, nc > 0)),
                    lu: Box::new(lu),
                    values: vec![0.0; entries],
                    pivoted: false,
                }
            }
        };
        Self {
            factors,
            active: vec![true; nc],
            all_active: true,
            relative_pivot: vec![f64::INFINITY; nc],
            weight: vec![1.0; n],
            has_light: false,
            light_is_massless: false,
            scale: vec![1.0; n],
            y: vec![0.0; n],
            rhs: vec![0.0; n],
            residual: vec![0.0; n],
            trial: vec![0.0; if n <= PREALLOCATED_LU { n } else { 0 }],
        }
    }

    /// Factors `m`. After an error the factor must not be used.
    ///
    /// Sparse: LDLᵀ of the symmetric part; LU of the complete matrix if a coordinate has no usable pivot, if S is so
    /// unsymmetric that refinement does not at least halve the residual in a test, or if the pivot of a constraint is tiny
    /// beside a light coordinate. The choice depends on `m` alone.
    ///
    /// W = G S⁻¹ Gᵀ of two constraints on one coordinate of mass m → 0 is that of two parallel ones: all but 1 / m is lost in
    /// rounding. Such a pivot says nothing about dependence, and in the norm 1 / m hides the residual of both constraints. LU with
    /// the coordinate counted as massless keeps them.
    pub fn factor(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        self.set_active(m);
        self.light_is_massless = false;
        self.compute_weights(sparsity, m, sparsity.massless_threshold())?;
        match &sparsity.sparse {
            None => self.factor_dense(sparsity, m),
            Some(sparse) => match self.factor_symmetric(sparsity, sparse, m) {
                Some(pivots) => Ok(pivots),
                None => self.factor_lu(sparsity, sparse, m),
            },
        }
    }

    /// Factors `m` by LU with pivoting over all rows, for a caller whose refinement contracts too slowly.
    pub fn factor_pivoted(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        self.set_active(m);
        self.count_light_as_massless(sparsity, m)?;
        match &sparsity.sparse {
            None => self.factor_dense_pivoted(sparsity, m),
            Some(sparse) => self.factor_lu(sparsity, sparse, m),
        }
    }

    fn set_active(&mut self, m: &SaddleMatrix) {
        self.active.copy_from_slice(m.active());
        self.all_active = m.active().iter().all(|&a| a);
    }

    /// LDLᵀ; `None` if it is not usable.
    fn factor_symmetric(
        &mut self,
        sparsity: &SaddleSparsity,
        sparse: &SparseLayout,
        m: &SaddleMatrix,
    ) -> Option<Pivots> {
        let nv = sparsity.nv();
        let Factors::Sparse { ldl, pivoted, .. } = &mut self.factors else {
            return None;
        };
        // `scale` takes the diagonal, `y` the relative pivots; both are free here.
        for (out, &slot) in self.scale[..nv].iter_mut().zip(&sparsity.diagonal) {
            *out = m.values[slot as usize];
        }
        for k in 0..sparsity.nc() {
            self.scale[nv + k] = if self.active[k] {
                -m.regularisation()[k]
            } else {
                -1.0
            };
        }
        let report = ldl.factor(
            &sparse.symbolic,
            &self.active,
            &m.values,
            &self.scale,
            &mut self.y,
        );
        let report = match report {
            Ok(report) if !self.has_light || !hides_constraint(&self.y[nv..], &self.active) => {
                report
            }
            _ => {
                self.count_light_as_massless(sparsity, m).ok()?;
                return None;
            }
        };
        *pivoted = false;
        self.relative_pivot.copy_from_slice(&self.y[nv..]);
        let doubtful =
            report.smallest_positive < DOUBTFUL_PIVOT || self.is_unsymmetric(sparsity, m);
        if doubtful && !self.refinement_contracts(sparsity, m) {
            return None;
        }
        Some(self.pivots(report.corrected, false))
    }

    /// Whether an entry of the scaled skew-symmetric part of S exceeds [`DOUBTFUL_SKEW`].
    fn is_unsymmetric(&self, sparsity: &SaddleSparsity, m: &SaddleMatrix) -> bool {
        let limit = DOUBTFUL_SKEW * DOUBTFUL_SKEW;
        (sparsity.sparse.iter())
            .flat_map(|sparse| sparse.symbolic.entries())
            .any(|entry| {
                let skew = 0.5 * (m.values[entry.first as usize] - m.values[entry.second as usize]);
                skew != 0.0 && {
                    let [i, j] = [entry.i, entry.j].map(|k| self.weight[k as usize]);
                    skew * skew * i * j > limit
                }
            })
    }

    /// Whether refinement with this factor converges, for a right-hand side ±S_ii with random signs.
    fn refinement_contracts(&mut self, sparsity: &SaddleSparsity, m: &SaddleMatrix) -> bool {
        let mut x = std::mem::take(&mut self.trial);
        x.resize(sparsity.nv() + sparsity.nc(), 0.0);
        let (b, c) = x.split_at_mut(sparsity.nv());
        let mut random = Random::new(1);
        for (b, &slot) in b.iter_mut().zip(&sparsity.diagonal) {
            *b = random.signed().signum() * m.values[slot as usize];
        }
        c.fill(0.0);
        let options = RefinementOptions::regularised(TRIAL_TOLERANCE, TRIAL_LIMIT);
        let refined = self.solve_refined(sparsity, m, options, b, c);
        self.trial = x;
        refined.contraction < SLOW_CONTRACTION
    }

    /// Sparse LU of the complete matrix.
    fn factor_lu(
        &mut self,
        sparsity: &SaddleSparsity,
        sparse: &SparseLayout,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        let nv = sparsity.nv();
        self.compute_scale();
        let Factors::Sparse {
            lu,
            values,
            pivoted,
            ..
        } = &mut self.factors
        else {
            unreachable!("a sparsity with a sparse part makes sparse factors");
        };
        let layout = sparse.lu_layout(sparsity);
        let columns = &layout.columns;
        values.resize(layout.slot.len(), 0.0);
        if lu.size() != self.scale.len() {
            **lu = SparseLu::new(self.scale.len(), 0);
        }
        for j in 0..self.scale.len() {
            for at in columns.start[j] as usize..columns.start[j + 1] as usize {
                let scale = self.scale[columns.row[at] as usize] * self.scale[j];
                values[at] = match layout.slot[at] {
                    NO_SLOT if self.active[j - nv] => -m.regularisation()[j - nv] * scale,
                    NO_SLOT => -1.0,
                    slot => m.values[slot as usize] * scale,
                };
            }
        }
        let order = sparse.symbolic.order();
        lu.factor(columns, values, order)
            .map_err(|unknown| SingularPivot { unknown })?;
        *pivoted = true;
        for (k, &i) in order.iter().enumerate() {
            if i as usize >= nv {
                self.relative_pivot[i as usize - nv] = lu.pivot(k).abs().min(1.0);
            }
        }
        Ok(self.pivots(0, true))
    }

    /// Sets the weights with light coordinates as massless ones, for LU: it compares rows.
    fn count_light_as_massless(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<(), SingularPivot> {
        let mut threshold = sparsity.massless_threshold();
        self.light_is_massless = sparsity.nc() > 0;
        if self.light_is_massless {
            threshold = threshold.max(LIGHT);
        }
        self.compute_weights(sparsity, m, threshold)
    }

    /// Whether light coordinates count as massless in the last factorisation.
    pub fn light_is_massless(&self) -> bool {
        self.light_is_massless && self.has_light
    }

    /// Sets the weights of the norm; masses below `threshold` of the largest one count as none. The error is the first row that is
    /// not finite.
    fn compute_weights(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
        threshold: f64,
    ) -> Result<(), SingularPivot> {
        let (nv, nc) = (sparsity.nv(), sparsity.nc());
        let (mut sum, mut count) = (0.0, 0usize);
        let tangent = &m.values[..sparsity.s_len()];
        if !tangent.iter().all(|s| s.is_finite()) {
            let bad = |i: &usize| !m.values[sparsity.s_row(*i)].iter().all(|s| s.is_finite());
            let unknown = (0..nv).find(bad).expect("every slot is in a row");
            return Err(SingularPivot { unknown });
        }
        let mass =
            |i: usize| tangent[sparsity.diagonal[i] as usize].abs() / sparsity.squared_length(i);
        let largest = (0..nv).fold(0.0_f64, |m, i| m.max(mass(i)));
        let smallest = threshold * largest;
        self.has_light = false;
        for i in 0..nv {
            let mass = mass(i);
            self.has_light |= mass > 0.0 && mass <= LIGHT * largest;
            self.weight[i] = 0.0;
            if mass > smallest {
                self.weight[i] = 1.0 / (mass * sparsity.squared_length(i));
                sum += mass;
                count += 1;
            }
        }
        // A coordinate without mass and stiffness gets the weight of the mean mass.
        if count < nv {
            let typical = if count > 0 { count as f64 / sum } else { 1.0 };
            for (i, w) in self.weight[..nv].iter_mut().enumerate() {
                if *w == 0.0 {
                    *w = typical / sparsity.squared_length(i);
                }
            }
        }
        for k in 0..nc {
            let mut size = m.regularisation()[k];
            let row = sparsity.g_row(k);
            for (&j, g) in sparsity.column[row.clone()].iter().zip(&m.values[row]) {
                size += g * g * self.weight[j as usize];
            }
            if !size.is_finite() {
                return Err(SingularPivot { unknown: nv + k });
            }
            self.weight[nv + k] = if size > 0.0 { 1.0 / size } else { 1.0 };
        }
        Ok(())
    }

    fn compute_scale(&mut self) {
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
    }

    /// Dense LU with the pivots of S first, then those of W.
    fn factor_dense(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        self.compute_scale();
        let lu = assembled(&mut self.factors, sparsity, m, &self.scale);
        match lu.factor_saddle_point(sparsity.nv(), &mut self.relative_pivot) {
            Some(corrected)
                if !self.has_light || !hides_constraint(&self.relative_pivot, &self.active) =>
            {
                Ok(self.pivots(corrected, false))
            }
            _ => {
                self.count_light_as_massless(sparsity, m)?;
                self.factor_dense_pivoted(sparsity, m)
            }
        }
    }

    /// Dense LU with pivoting over all rows.
    fn factor_dense_pivoted(
        &mut self,
        sparsity: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        self.compute_scale();
        let lu = assembled(&mut self.factors, sparsity, m, &self.scale);
        lu.factor().map_err(|unknown| SingularPivot { unknown })?;
        for (k, relative) in self.relative_pivot.iter_mut().enumerate() {
            *relative = lu.pivot(sparsity.nv() + k).abs().min(1.0);
        }
        Ok(self.pivots(0, true))
    }

    fn pivots(&mut self, corrected: usize, used_lu: bool) -> Pivots {
        let mut smallest = f64::INFINITY;
        for (relative, &active) in self.relative_pivot.iter_mut().zip(&self.active) {
            if active {
                smallest = smallest.min(*relative);
            } else {
                *relative = f64::INFINITY;
            }
        }
        Pivots {
            smallest_constraint: smallest,
            corrected,
            used_lu,
        }
    }

    /// Pivot of each constraint over its diagonal in W, after the last factorisation: the squared sine of the angle between its
    /// gradient and those eliminated before it. Infinite for inactive constraints. After LU these are the pivots of the scaled
    /// complete matrix.
    pub fn constraint_pivots(&self) -> &[f64] {
        &self.relative_pivot
    }

    /// Whether the active constraints of `m` are those of the factor.
    pub fn matches_active_set(&self, m: &SaddleMatrix) -> bool {
        self.active == m.active()
    }
}

/// Whether the relative pivot of an active constraint is as small as the mass of a light coordinate.
fn hides_constraint(pivots: &[f64], active: &[bool]) -> bool {
    pivots.iter().zip(active).any(|(p, on)| *on && *p < LIGHT)
}

/// The dense LU, filled with the scaled matrix; the row of an inactive constraint is −1 on the diagonal.
fn assembled<'a>(
    factors: &'a mut Factors,
    sparsity: &SaddleSparsity,
    m: &SaddleMatrix,
    d: &[f64],
) -> &'a mut DenseLu {
    let Factors::Dense(lu) = factors else {
        unreachable!("a sparsity without a sparse part makes dense factors");
    };
    let a = lu.cleared();
    let (nv, n) = (sparsity.nv(), sparsity.nv() + sparsity.nc());
    for i in 0..nv {
        for slot in sparsity.s_row(i) {
            let j = sparsity.column[slot] as usize;
            a[i * n + j] = m.values[slot] * d[i] * d[j];
        }
    }
    for k in nv..n {
        for slot in sparsity.g_row(k - nv) {
            let j = sparsity.column[slot] as usize;
            let g = m.values[slot] * d[k] * d[j];
            a[k * n + j] = g;
            a[j * n + k] = g;
        }
        a[k * n + k] = if m.active()[k - nv] {
            -m.regularisation()[k - nv] * d[k] * d[k]
        } else {
            -1.0
        };
    }
    lu
}
