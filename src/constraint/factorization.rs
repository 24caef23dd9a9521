//! The saddle-point system by multipliers:
//!
//! ```text
//!   [ S   Gᵀ ] [ x ]   [ b ]        residual (b − S x − Gᵀ λ,  c − G x + E λ),
//!   [ G  −E  ] [ λ ] = [ c ]        norm² = Σ r_i² / |S_ii| + Σ r_k² / (G diag(S)⁻¹ Gᵀ + E)_kk
//! ```
//!
//! The norm has one unit for both parts, so that a tolerance means the same for metres and radians, forces and
//! closures. A row that is not active has the multiplier exactly zero.

pub use super::matrix::{Backend, SaddleMatrix, SaddleSparsity};
use super::matrix::{NO_SLOT, PREALLOCATED_LU, SparseLayout};
use crate::linalg::sparse_ldl::SparseLdl;
use crate::linalg::{dense_lu, sparse_lu};

/// A coordinate pivot below this part of its diagonal, or a scaled entry of the unsymmetric part of S above this size,
/// is reason to try how well refinement contracts before a symmetric factor is handed out.
const DOUBTFUL_PIVOT: f64 = 1e-8;
const DOUBTFUL_SKEW: f64 = 0.05;
/// A refinement that leaves more than this of the residual is too slow.
const SLOW_CONTRACTION: f64 = 0.5;

/// Unknowns above which a residual is asked whether it is rounding. Small systems near a singular position gain by a refinement
/// too many.
pub(super) const LONG: usize = 500;
/// A residual larger than this many tolerances is refined again without asking whether it is rounding.
const NEAR: f64 = 1e3;

/// What the last factorisation found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pivots {
    /// Smallest pivot of the scaled W = G S⁻¹ Gᵀ + E over its diagonal; infinite without active rows.
    pub smallest_constraint: f64,
    /// Constraint pivots that were rounding noise and had to be replaced.
    pub corrected: usize,
    /// The symmetric order was not usable: LU with pivoting over all rows.
    pub used_lu: bool,
}

/// The matrix has no inverse, or is not made of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularPivot {
    /// 0..nv a coordinate, nv.. a constraint row.
    pub unknown: usize,
}

/// How a refined solution came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refinement {
    /// Back-substitutions.
    pub solves: usize,
    /// Norm of the residual over that of the right-hand side; not a number if the right-hand side was not.
    pub residual: f64,
    /// Largest ratio of successive residuals, one for the first; what a further refinement may be expected to bring.
    pub contraction: f64,
}

#[derive(Clone, Debug)]
enum Factors {
    Dense(dense_lu::DenseLu),
    Sparse {
        ldl: SparseLdl,
        lu: Box<sparse_lu::SparseLu>,
        /// Entries of the scaled matrix by columns, for LU.
        values: Vec<f64>,
        /// The factor in use is LU.
        pivoted: bool,
    },
}

/// A numeric factorisation with its own scratch. Allocates nothing after `new`, but for the first LU of a system with more
/// than 10,000 unknowns.
#[derive(Clone, Debug)]
pub struct Factorization {
    kind: Factors,
    /// Rows that held when the factor was made.
    active: Vec<bool>,
    /// All of them did.
    all_active: bool,
    /// Relative pivots of the constraint rows.
    relative: Vec<f64>,
    /// Squared scale of each unknown, 1 / |S_ii| and 1 / (G diag(S)⁻¹ Gᵀ + E)_kk.
    weight: Vec<f64>,
    /// Their roots, for LU.
    scale: Vec<f64>,
    /// Scratch of the back-substitution.
    y: Vec<f64>,
    /// Scratch of the refinement: right-hand side and residual.
    rhs: Vec<f64>,
    r: Vec<f64>,
    /// Scratch of the trial of a doubtful factor.
    trial: Vec<f64>,
}

impl Factorization {
    /// Storage for factors of matrices of this structure.
    pub fn new(st: &SaddleSparsity) -> Self {
        let (nv, nc) = (st.nv(), st.nc());
        let n = nv + nc;
        let kind = match &st.sparse {
            None => Factors::Dense(dense_lu::DenseLu::new(n)),
            Some(sparse) => {
                let (lu, entries) = if n <= PREALLOCATED_LU {
                    let room = 2 * sparse.symbolic.fill() + n;
                    (
                        sparse_lu::SparseLu::new(n, room),
                        sparse.lu_layout(st).slot.len(),
                    )
                } else {
                    (sparse_lu::SparseLu::new(0, 0), 0)
                };
                Factors::Sparse {
                    ldl: SparseLdl::new(&sparse.symbolic, st.nc() > 0),
                    lu: Box::new(lu),
                    values: vec![0.0; entries],
                    pivoted: false,
                }
            }
        };
        Self {
            kind,
            active: vec![true; nc],
            all_active: true,
            relative: vec![f64::INFINITY; nc],
            weight: vec![1.0; n],
            scale: vec![1.0; n],
            y: vec![0.0; n],
            rhs: vec![0.0; n],
            r: vec![0.0; n],
            trial: vec![0.0; if n <= PREALLOCATED_LU { n } else { 0 }],
        }
    }

    /// Factors `m`. After an error the factor must not be used.
    ///
    /// Sparse: LDLᵀ of the symmetric part; LU of the whole if a coordinate has no usable pivot, or if S is so
    /// unsymmetric that refinement does not at least halve the residual in a trial. The choice depends on `m` alone.
    pub fn factor(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        self.active.copy_from_slice(m.active());
        self.all_active = m.active().iter().all(|&a| a);
        self.compute_weights(st, m)?;
        match &st.sparse {
            None => self.factor_dense(st, m),
            Some(sparse) => match self.factor_symmetric(st, sparse, m) {
                Some(pivots) => Ok(pivots),
                None => self.factor_lu(st, sparse, m),
            },
        }
    }

    /// Factors `m` with pivoting over all rows, whatever `factor` would have chosen: for a caller who has seen
    /// refinement contract too slowly.
    pub fn factor_pivoted(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        self.active.copy_from_slice(m.active());
        self.all_active = m.active().iter().all(|&a| a);
        self.compute_weights(st, m)?;
        match &st.sparse {
            None => self.factor_dense_pivoted(st, m),
            Some(sparse) => self.factor_lu(st, sparse, m),
        }
    }

    /// LDLᵀ; `None` if it cannot be used.
    fn factor_symmetric(
        &mut self,
        st: &SaddleSparsity,
        sparse: &SparseLayout,
        m: &SaddleMatrix,
    ) -> Option<Pivots> {
        let nv = st.nv();
        let Factors::Sparse { ldl, pivoted, .. } = &mut self.kind else {
            return None;
        };
        // `scale` takes the diagonal, `y` the relative pivots; both are free here.
        for (out, &slot) in self.scale[..nv].iter_mut().zip(&st.diagonal) {
            *out = m.values[slot as usize];
        }
        for k in 0..st.nc() {
            self.scale[nv + k] = if self.active[k] {
                -m.regularisation()[k]
            } else {
                -1.0
            };
        }
        let met = ldl
            .factor(&sparse.symbolic, &m.values, &self.scale, &mut self.y)
            .ok()?;
        *pivoted = false;
        self.relative.copy_from_slice(&self.y[nv..]);
        let doubtful = met.smallest_positive < DOUBTFUL_PIVOT || self.is_unsymmetric(st, m);
        if doubtful && !self.refinement_contracts(st, m) {
            return None;
        }
        Some(self.pivots(met.corrected, false))
    }

    /// Whether S is noticeably unsymmetric.
    fn is_unsymmetric(&self, st: &SaddleSparsity, m: &SaddleMatrix) -> bool {
        let limit = DOUBTFUL_SKEW * DOUBTFUL_SKEW;
        (st.sparse
            .iter()
            .flat_map(|sparse| sparse.symbolic.entries()))
        .any(|pair| {
            let skew = 0.5 * (m.values[pair.first as usize] - m.values[pair.second as usize]);
            skew != 0.0 && {
                let [i, j] = [pair.i, pair.j].map(|k| self.weight[k as usize]);
                skew * skew * i * j > limit
            }
        })
    }

    /// Refines a trial solution of size one in every coordinate.
    fn refinement_contracts(&mut self, st: &SaddleSparsity, m: &SaddleMatrix) -> bool {
        let mut x = std::mem::take(&mut self.trial);
        x.resize(st.nv() + st.nc(), 0.0);
        let (b, c) = x.split_at_mut(st.nv());
        let mut bits = 0x9E37_79B9_7F4A_7C15u64;
        for (b, &slot) in b.iter_mut().zip(&st.diagonal) {
            bits = bits.rotate_left(7).wrapping_mul(5).wrapping_add(1);
            let sign = if bits >> 63 == 0 { 1.0 } else { -1.0 };
            *b = sign * m.values[slot as usize];
        }
        c.fill(0.0);
        let refined = self.solve_refined(st, m, true, 1e-8, 3, b, c);
        self.trial = x;
        refined.contraction < SLOW_CONTRACTION
    }

    fn factor_lu(
        &mut self,
        st: &SaddleSparsity,
        sparse: &SparseLayout,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        let nv = st.nv();
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
        let Factors::Sparse {
            lu,
            values,
            pivoted,
            ..
        } = &mut self.kind
        else {
            unreachable!("a structure with a sparse part makes sparse factors");
        };
        let whole = sparse.lu_layout(st);
        let columns = &whole.columns;
        values.resize(whole.slot.len(), 0.0);
        if lu.size() != self.scale.len() {
            **lu = sparse_lu::SparseLu::new(self.scale.len(), 0);
        }
        for j in 0..self.scale.len() {
            for at in columns.start[j] as usize..columns.start[j + 1] as usize {
                let scale = self.scale[columns.row[at] as usize] * self.scale[j];
                values[at] = match whole.slot[at] {
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
                self.relative[i as usize - nv] = lu.pivot(k).abs().min(1.0);
            }
        }
        Ok(self.pivots(0, true))
    }

    /// Weights of the norm; the first row that is not made of numbers is the error.
    fn compute_weights(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<(), SingularPivot> {
        let (nv, nc) = (st.nv(), st.nc());
        let (mut sum, mut count) = (0.0, 0usize);
        let tangent = &m.values[..st.s_len()];
        if !tangent.iter().all(|s| s.is_finite()) {
            let bad = |i: &usize| !m.values[st.s_row(*i)].iter().all(|s| s.is_finite());
            let unknown = (0..nv).find(bad).expect("every slot is in a row");
            return Err(SingularPivot { unknown });
        }
        let mass = |i: usize| tangent[st.diagonal[i] as usize].abs() / st.squared_length(i);
        let largest = (0..nv).fold(0.0_f64, |m, i| m.max(mass(i)));
        let least = st.massless_threshold() * largest;
        for i in 0..nv {
            let size = mass(i);
            self.weight[i] = 0.0;
            if size > least {
                self.weight[i] = 1.0 / (size * st.squared_length(i));
                sum += size;
                count += 1;
            }
        }
        // A coordinate without mass and stiffness is measured like the average one.
        if count < nv {
            let typical = if count > 0 { count as f64 / sum } else { 1.0 };
            for (i, w) in self.weight[..nv].iter_mut().enumerate() {
                if *w == 0.0 {
                    *w = typical / st.squared_length(i);
                }
            }
        }
        for k in 0..nc {
            let mut size = m.regularisation()[k];
            let row = st.g_row(k);
            for (&j, g) in st.column[row.clone()].iter().zip(&m.values[row]) {
                size += g * g * self.weight[j as usize];
            }
            if !size.is_finite() {
                return Err(SingularPivot { unknown: nv + k });
            }
            self.weight[nv + k] = if size > 0.0 { 1.0 / size } else { 1.0 };
        }
        Ok(())
    }

    fn factor_dense(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
        let Factors::Dense(lu) = &mut self.kind else {
            unreachable!("a structure without a sparse part makes dense factors");
        };
        assemble(st, m, &self.scale, lu.cleared());
        match lu.factor_saddle_point(st.nv(), &mut self.relative) {
            Some(corrected) => Ok(self.pivots(corrected, false)),
            None => self.factor_dense_pivoted(st, m),
        }
    }

    fn factor_dense_pivoted(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
    ) -> Result<Pivots, SingularPivot> {
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
        let Factors::Dense(lu) = &mut self.kind else {
            unreachable!("a structure without a sparse part makes dense factors");
        };
        assemble(st, m, &self.scale, lu.cleared());
        lu.factor().map_err(|unknown| SingularPivot { unknown })?;
        for (k, relative) in self.relative.iter_mut().enumerate() {
            *relative = lu.pivot(st.nv() + k).abs().min(1.0);
        }
        Ok(self.pivots(0, true))
    }

    fn pivots(&mut self, corrected: usize, used_lu: bool) -> Pivots {
        let mut smallest = f64::INFINITY;
        for (relative, &active) in self.relative.iter_mut().zip(&self.active) {
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

    /// The pivot of each constraint row over its diagonal in W, after the last factorisation: the squared sine of the
    /// angle between the row and those eliminated before it. Infinite for rows that are not active. After LU the
    /// pivots of the scaled whole matrix stand here instead.
    pub fn constraint_pivots(&self) -> &[f64] {
        &self.relative
    }

    /// Back-substitution in place: right-hand side in, solution out.
    pub fn solve(&mut self, st: &SaddleSparsity, x: &mut [f64], l: &mut [f64]) {
        self.mask(l);
        match (&mut self.kind, &st.sparse) {
            (
                Factors::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => ldl.solve(&sparse.symbolic, x, l),
            (kind, sparse) => {
                let (nv, y) = (st.nv(), &mut self.y[..]);
                y[..nv].copy_from_slice(x);
                y[nv..].copy_from_slice(l);
                times(&self.scale, y);
                match (kind, sparse) {
                    (Factors::Dense(lu), _) => lu.solve(y),
                    (Factors::Sparse { lu, .. }, Some(sparse)) => {
                        lu.solve(sparse.symbolic.order(), y);
                    }
                    (Factors::Sparse { .. }, None) => {
                        unreachable!("a structure without a sparse part makes dense factors")
                    }
                }
                times(&self.scale, y);
                x.copy_from_slice(&y[..nv]);
                l.copy_from_slice(&y[nv..]);
            }
        }
        self.mask(l);
    }

    /// The same for a right-hand side (0, l), whatever `x` holds; the bits are those of [`Factor::solve`].
    pub fn solve_constraint_rhs(&mut self, st: &SaddleSparsity, x: &mut [f64], l: &mut [f64]) {
        match (&mut self.kind, &st.sparse) {
            (
                Factors::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => {
                let active = (!self.all_active).then_some(&self.active[..]);
                mask(active, l);
                ldl.solve_constraint_rhs(&sparse.symbolic, x, l);
                mask(active, l);
            }
            _ => {
                x.fill(0.0);
                self.solve(st, x, l);
            }
        }
    }

    /// Two of those at once.
    pub fn solve_constraint_rhs_pair(
        &mut self,
        st: &SaddleSparsity,
        x: [&mut [f64]; 2],
        l: [&mut [f64]; 2],
    ) {
        let ([x0, x1], [l0, l1]) = (x, l);
        match (&mut self.kind, &st.sparse) {
            (
                Factors::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => {
                let active = (!self.all_active).then_some(&self.active[..]);
                mask(active, l0);
                mask(active, l1);
                ldl.solve_constraint_rhs_pair(&sparse.symbolic, [x0, x1], [&mut *l0, &mut *l1]);
                mask(active, l0);
                mask(active, l1);
            }
            _ => {
                self.solve_constraint_rhs(st, x0, l0);
                self.solve_constraint_rhs(st, x1, l1);
            }
        }
    }

    /// Whether the rows of `m` that hold are those that held when the factor was made.
    pub fn matches_active_set(&self, m: &SaddleMatrix) -> bool {
        self.active == m.active()
    }

    fn mask(&self, l: &mut [f64]) {
        mask((!self.all_active).then_some(&self.active[..]), l);
    }

    /// Solves the system of `m`, whose values may be newer than those factored, with this factor as preconditioner:
    /// at most `limit` refinements, until the residual is below `tol` times the right-hand side. A refinement that
    /// makes the residual larger is taken back, and in long chains none is made in vain: below ε (|b| + |S||x| + |Gᵀ||λ|, |c| + |G||x|), which
    /// in a long chain is far above ε of the right-hand side, a residual is rounding. With `with_e` false the system solved has
    /// E = 0.
    pub fn solve_refined(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
        with_e: bool,
        tol: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refinement {
        self.set_right_side(st, m, x, l);
        self.refine(st, m, with_e, tol, limit, false, x, l)
    }

    /// The same for a right-hand side (b, c) with E = 0, from what `x` and `l` hold. If that is no better than nothing it is as if
    /// nothing had been known.
    pub fn solve_from(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
        tol: f64,
        limit: usize,
        (b, c): (&[f64], &[f64]),
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refinement {
        self.set_right_side(st, m, b, c);
        self.refine(st, m, false, tol, limit, true, x, l)
    }

    fn set_right_side(&mut self, st: &SaddleSparsity, m: &SaddleMatrix, b: &[f64], c: &[f64]) {
        let nv = st.nv();
        self.rhs[..nv].copy_from_slice(b);
        for k in 0..c.len() {
            self.rhs[nv + k] = if m.active()[k] { c[k] } else { 0.0 };
        }
    }

    /// Refines what is `known`, or the first solution, for the right-hand side that is set.
    fn refine(
        &mut self,
        st: &SaddleSparsity,
        m: &SaddleMatrix,
        with_e: bool,
        tol: f64,
        limit: usize,
        known: bool,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refinement {
        let nv = st.nv();
        let rhs = std::mem::take(&mut self.rhs);
        let mut r = std::mem::take(&mut self.r);
        let size = self.norm(&rhs);
        let mut refined = Refinement {
            solves: 0,
            residual: 0.0,
            contraction: 0.0,
        };
        if size == 0.0 {
            x.fill(0.0);
            l.fill(0.0);
        } else {
            if known {
                residual(st, m, with_e, &rhs, x, l, &mut r);
                refined.residual = self.norm(&r) / size;
            }
            // Not `>=`: what is not a number is not known.
            if !known || !(refined.residual < 1.0) {
                x.copy_from_slice(&rhs[..nv]);
                l.copy_from_slice(&rhs[nv..]);
                self.solve(st, x, l);
                refined.solves = 1;
                residual(st, m, with_e, &rhs, x, l, &mut r);
                refined.residual = self.norm(&r) / size;
                refined.contraction = refined.residual;
            }
            let mut rounding = None;
            while refined.residual > tol && refined.solves <= limit {
                if rhs.len() > LONG && refined.solves > 1 && refined.residual < NEAR * tol {
                    let rounding = *rounding.get_or_insert_with(|| {
                        sizes(st, m, &rhs, x, l, &mut self.y);
                        f64::EPSILON * self.norm(&self.y) / size
                    });
                    if refined.residual <= rounding {
                        break;
                    }
                }
                let (dx, dl) = r.split_at_mut(nv);
                self.solve(st, dx, dl);
                refined.solves += 1;
                add(1.0, dx, x);
                add(1.0, dl, l);
                // r holds the correction; y is free between back-substitutions and takes the new residual.
                let mut next = std::mem::take(&mut self.y);
                residual(st, m, with_e, &rhs, x, l, &mut next);
                self.y = next;
                let now = self.norm(&self.y) / size;
                let better = now < refined.residual;
                refined.contraction = refined.contraction.max(now / refined.residual);
                if !better {
                    add(-1.0, &r[..nv], x);
                    add(-1.0, &r[nv..], l);
                    break;
                }
                refined.residual = now;
                r.copy_from_slice(&self.y);
            }
        }
        self.rhs = rhs;
        self.r = r;
        refined
    }

    fn norm(&self, r: &[f64]) -> f64 {
        let sum: f64 = r.iter().zip(&self.weight).map(|(r, w)| r * r * w).sum();
        sum.sqrt()
    }
}

/// r = (b − S x − Gᵀ λ, c − G x + E λ), zero in rows that are not active.
fn residual(
    st: &SaddleSparsity,
    m: &SaddleMatrix,
    with_e: bool,
    rhs: &[f64],
    x: &[f64],
    l: &[f64],
    r: &mut [f64],
) {
    let nv = st.nv();
    for i in 0..nv {
        let range = st.s_row(i);
        let mut sum = rhs[i];
        for (&j, s) in st.column[range.clone()].iter().zip(&m.values[range]) {
            sum -= s * x[j as usize];
        }
        r[i] = sum;
    }
    for k in 0..l.len() {
        if !m.active()[k] {
            r[nv + k] = 0.0;
            continue;
        }
        let range = st.g_row(k);
        let mut sum = rhs[nv + k];
        for (&j, g) in st.column[range.clone()].iter().zip(&m.values[range]) {
            sum -= g * x[j as usize];
            r[j as usize] -= g * l[k];
        }
        if with_e {
            sum += m.regularisation()[k] * l[k];
        }
        r[nv + k] = sum;
    }
}

/// out = (|b| + |S||x| + |Gᵀ||λ|, |c| + |G||x|), zero in rows that are not active.
fn sizes(
    st: &SaddleSparsity,
    m: &SaddleMatrix,
    rhs: &[f64],
    x: &[f64],
    l: &[f64],
    out: &mut [f64],
) {
    let nv = st.nv();
    for i in 0..nv {
        let range = st.s_row(i);
        let terms = st.column[range.clone()].iter().zip(&m.values[range]);
        out[i] = rhs[i].abs() + terms.map(|(&j, s)| (s * x[j as usize]).abs()).sum::<f64>();
    }
    for k in 0..l.len() {
        let mut sum = 0.0;
        if m.active()[k] {
            sum = rhs[nv + k].abs();
            let range = st.g_row(k);
            for (&j, g) in st.column[range.clone()].iter().zip(&m.values[range]) {
                sum += (g * x[j as usize]).abs();
                out[j as usize] += (g * l[k]).abs();
            }
        }
        out[nv + k] = sum;
    }
}

/// The scaled matrix by rows; a row that is not active is a one on the diagonal.
fn assemble(st: &SaddleSparsity, m: &SaddleMatrix, d: &[f64], a: &mut [f64]) {
    let (nv, n) = (st.nv(), st.nv() + st.nc());
    for i in 0..nv {
        for slot in st.s_row(i) {
            let j = st.column[slot] as usize;
            a[i * n + j] = m.values[slot] * d[i] * d[j];
        }
    }
    for k in nv..n {
        for slot in st.g_row(k - nv) {
            let j = st.column[slot] as usize;
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
}

/// Rows that are not active have no right-hand side and no multiplier; `None` if all are.
fn mask(active: Option<&[bool]>, l: &mut [f64]) {
    for (l, active) in l.iter_mut().zip(active.unwrap_or_default()) {
        *l = if *active { *l } else { 0.0 };
    }
}

/// y_i := d_i y_i
fn times(d: &[f64], y: &mut [f64]) {
    for (y, d) in y.iter_mut().zip(d) {
        *y *= d;
    }
}

/// y += factor x
fn add(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

#[cfg(test)]
mod tests;
