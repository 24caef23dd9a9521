//! The saddle-point system by multipliers:
//!
//! ```text
//!   [ S   Gᵀ ] [ x ]   [ b ]        residual (b − S x − Gᵀ λ,  c − G x + E λ),
//!   [ G  −E  ] [ λ ] = [ c ]        norm² = Σ r_i² / |S_ii| + Σ r_k² / (G diag(S)⁻¹ Gᵀ + E)_kk
//! ```
//!
//! The norm has one unit for both parts, so that a tolerance means the same for metres and radians, forces and
//! closures. A row that is not active has the multiplier exactly zero.

pub use super::matrix::{Backend, Matrix, Structure};
use super::matrix::{NO_SLOT, ROOM_BEFOREHAND, Sparse};
use crate::linalg::sparse::Ldl;
use crate::linalg::{dense, lu};

/// A coordinate pivot below this part of its diagonal, or a scaled entry of the unsymmetric part of S above this size,
/// is reason to try how well refinement contracts before a symmetric factor is handed out.
const DOUBTFUL_PIVOT: f64 = 1e-8;
const DOUBTFUL_SKEW: f64 = 0.05;
/// A refinement that leaves more than this of the residual is too slow.
const SLOW_CONTRACTION: f64 = 0.5;

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
pub struct Singular {
    /// 0..nv a coordinate, nv.. a constraint row.
    pub unknown: usize,
}

/// How a refined solution came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refined {
    /// Back-substitutions.
    pub solves: usize,
    /// Norm of the residual over that of the right-hand side; not a number if the right-hand side was not.
    pub residual: f64,
    /// Largest ratio of successive residuals, one for the first; what a further refinement may be expected to bring.
    pub contraction: f64,
}

#[derive(Clone, Debug)]
enum Kind {
    Dense(dense::Lu),
    Sparse {
        ldl: Ldl,
        lu: Box<lu::Lu>,
        /// Entries of the scaled matrix by columns, for LU.
        values: Vec<f64>,
        /// The factor in use is LU.
        pivoted: bool,
    },
}

/// A numeric factorisation with its own scratch. Allocates nothing after `new`, but for the first LU of a system with more
/// than 10,000 unknowns.
#[derive(Clone, Debug)]
pub struct Factor {
    kind: Kind,
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

impl Factor {
    /// Storage for factors of matrices of this structure.
    pub fn new(st: &Structure) -> Self {
        let (nv, nc) = (st.nv(), st.nc());
        let n = nv + nc;
        let kind = match &st.sparse {
            None => Kind::Dense(dense::Lu::new(n)),
            Some(sparse) => {
                let (lu, entries) = if n <= ROOM_BEFOREHAND {
                    let room = 2 * sparse.symbolic.fill() + n;
                    (lu::Lu::new(n, room), sparse.whole(st).slot.len())
                } else {
                    (lu::Lu::new(0, 0), 0)
                };
                Kind::Sparse {
                    ldl: Ldl::new(&sparse.symbolic),
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
            trial: vec![0.0; if n <= ROOM_BEFOREHAND { n } else { 0 }],
        }
    }

    /// Factors `m`. After an error the factor must not be used.
    ///
    /// Sparse: LDLᵀ of the symmetric part; LU of the whole if a coordinate has no usable pivot, or if S is so
    /// unsymmetric that refinement does not at least halve the residual in a trial. The choice depends on `m` alone.
    pub fn factor(&mut self, st: &Structure, m: &Matrix) -> Result<Pivots, Singular> {
        self.active.copy_from_slice(m.active());
        self.all_active = m.active().iter().all(|&a| a);
        self.measure(st, m)?;
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
    pub fn factor_pivoted(&mut self, st: &Structure, m: &Matrix) -> Result<Pivots, Singular> {
        self.active.copy_from_slice(m.active());
        self.all_active = m.active().iter().all(|&a| a);
        self.measure(st, m)?;
        match &st.sparse {
            None => self.factor_dense_pivoted(st, m),
            Some(sparse) => self.factor_lu(st, sparse, m),
        }
    }

    /// LDLᵀ; `None` if it cannot be used.
    fn factor_symmetric(&mut self, st: &Structure, sparse: &Sparse, m: &Matrix) -> Option<Pivots> {
        let nv = st.nv();
        let Kind::Sparse { ldl, pivoted, .. } = &mut self.kind else {
            return None;
        };
        // `scale` takes the diagonal, `y` the relative pivots; both are free here.
        for (out, &slot) in self.scale[..nv].iter_mut().zip(&st.diagonal) {
            *out = m.values[slot as usize];
        }
        for k in 0..st.nc() {
            self.scale[nv + k] = if self.active[k] { -m.e()[k] } else { -1.0 };
        }
        let met = ldl
            .factor(&sparse.symbolic, &m.values, &self.scale, &mut self.y)
            .ok()?;
        *pivoted = false;
        self.relative.copy_from_slice(&self.y[nv..]);
        let doubtful = met.smallest_positive < DOUBTFUL_PIVOT || self.turns(st, m);
        if doubtful && !self.contracts(st, m) {
            return None;
        }
        Some(self.pivots(met.corrected, false))
    }

    /// Whether S is noticeably unsymmetric.
    fn turns(&self, st: &Structure, m: &Matrix) -> bool {
        let limit = DOUBTFUL_SKEW * DOUBTFUL_SKEW;
        (st.sparse.iter().flat_map(|sparse| sparse.symbolic.pairs())).any(|pair| {
            let skew = 0.5 * (m.values[pair.first as usize] - m.values[pair.second as usize]);
            skew != 0.0 && {
                let [i, j] = [pair.i, pair.j].map(|k| self.weight[k as usize]);
                skew * skew * i * j > limit
            }
        })
    }

    /// Refines a trial solution of size one in every coordinate.
    fn contracts(&mut self, st: &Structure, m: &Matrix) -> bool {
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
        st: &Structure,
        sparse: &Sparse,
        m: &Matrix,
    ) -> Result<Pivots, Singular> {
        let nv = st.nv();
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
        let Kind::Sparse {
            lu,
            values,
            pivoted,
            ..
        } = &mut self.kind
        else {
            unreachable!("a structure with a sparse part makes sparse factors");
        };
        let whole = sparse.whole(st);
        let columns = &whole.columns;
        values.resize(whole.slot.len(), 0.0);
        if lu.size() != self.scale.len() {
            **lu = lu::Lu::new(self.scale.len(), 0);
        }
        for j in 0..self.scale.len() {
            for at in columns.start[j] as usize..columns.start[j + 1] as usize {
                let scale = self.scale[columns.row[at] as usize] * self.scale[j];
                values[at] = match whole.slot[at] {
                    NO_SLOT if self.active[j - nv] => -m.e()[j - nv] * scale,
                    NO_SLOT => -1.0,
                    slot => m.values[slot as usize] * scale,
                };
            }
        }
        let order = sparse.symbolic.order();
        lu.factor(columns, values, order)
            .map_err(|unknown| Singular { unknown })?;
        *pivoted = true;
        for (k, &i) in order.iter().enumerate() {
            if i as usize >= nv {
                self.relative[i as usize - nv] = lu.pivot(k).abs().min(1.0);
            }
        }
        Ok(self.pivots(0, true))
    }

    /// Weights of the norm; the first row that is not made of numbers is the error.
    fn measure(&mut self, st: &Structure, m: &Matrix) -> Result<(), Singular> {
        let (nv, nc) = (st.nv(), st.nc());
        let (mut sum, mut count) = (0.0, 0usize);
        let tangent = &m.values[..st.s_len()];
        if !tangent.iter().all(|s| s.is_finite()) {
            let bad = |i: &usize| !m.values[st.s_row(*i)].iter().all(|s| s.is_finite());
            let unknown = (0..nv).find(bad).expect("every slot is in a row");
            return Err(Singular { unknown });
        }
        for (weight, &slot) in self.weight.iter_mut().zip(&st.diagonal) {
            let size = tangent[slot as usize].abs();
            *weight = 0.0;
            if size > 0.0 {
                *weight = 1.0 / size;
                sum += size;
                count += 1;
            }
        }
        // A coordinate without mass and stiffness is measured like the average one.
        if count < nv {
            let typical = if count > 0 { count as f64 / sum } else { 1.0 };
            for w in &mut self.weight[..nv] {
                if *w == 0.0 {
                    *w = typical;
                }
            }
        }
        for k in 0..nc {
            let mut size = m.e()[k];
            let row = st.g_row(k);
            for (&j, g) in st.column[row.clone()].iter().zip(&m.values[row]) {
                size += g * g * self.weight[j as usize];
            }
            if !size.is_finite() {
                return Err(Singular { unknown: nv + k });
            }
            self.weight[nv + k] = if size > 0.0 { 1.0 / size } else { 1.0 };
        }
        Ok(())
    }

    fn factor_dense(&mut self, st: &Structure, m: &Matrix) -> Result<Pivots, Singular> {
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
        let Kind::Dense(lu) = &mut self.kind else {
            unreachable!("a structure without a sparse part makes dense factors");
        };
        assemble(st, m, &self.scale, lu.clear());
        match lu.factor_saddle(st.nv(), &mut self.relative) {
            Some(corrected) => Ok(self.pivots(corrected, false)),
            None => self.factor_dense_pivoted(st, m),
        }
    }

    fn factor_dense_pivoted(&mut self, st: &Structure, m: &Matrix) -> Result<Pivots, Singular> {
        for (scale, weight) in self.scale.iter_mut().zip(&self.weight) {
            *scale = weight.sqrt();
        }
        let Kind::Dense(lu) = &mut self.kind else {
            unreachable!("a structure without a sparse part makes dense factors");
        };
        assemble(st, m, &self.scale, lu.clear());
        lu.factor().map_err(|unknown| Singular { unknown })?;
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
    pub fn solve(&mut self, st: &Structure, x: &mut [f64], l: &mut [f64]) {
        self.mask(l);
        match (&mut self.kind, &st.sparse) {
            (
                Kind::Sparse {
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
                    (Kind::Dense(lu), _) => lu.solve(y),
                    (Kind::Sparse { lu, .. }, Some(sparse)) => {
                        lu.solve(sparse.symbolic.order(), y);
                    }
                    (Kind::Sparse { .. }, None) => {
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
    pub fn respond(&mut self, st: &Structure, x: &mut [f64], l: &mut [f64]) {
        match (&mut self.kind, &st.sparse) {
            (
                Kind::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => {
                let active = (!self.all_active).then_some(&self.active[..]);
                mask(active, l);
                ldl.respond(&sparse.symbolic, x, l);
                mask(active, l);
            }
            _ => {
                x.fill(0.0);
                self.solve(st, x, l);
            }
        }
    }

    /// Two of those at once.
    pub fn respond_two(&mut self, st: &Structure, x: [&mut [f64]; 2], l: [&mut [f64]; 2]) {
        let ([x0, x1], [l0, l1]) = (x, l);
        match (&mut self.kind, &st.sparse) {
            (
                Kind::Sparse {
                    ldl,
                    pivoted: false,
                    ..
                },
                Some(sparse),
            ) => {
                let active = (!self.all_active).then_some(&self.active[..]);
                mask(active, l0);
                mask(active, l1);
                ldl.respond_two(&sparse.symbolic, [x0, x1], [&mut *l0, &mut *l1]);
                mask(active, l0);
                mask(active, l1);
            }
            _ => {
                self.respond(st, x0, l0);
                self.respond(st, x1, l1);
            }
        }
    }

    /// Whether the rows of `m` that hold are those that held when the factor was made.
    pub fn fits(&self, m: &Matrix) -> bool {
        self.active == m.active()
    }

    fn mask(&self, l: &mut [f64]) {
        mask((!self.all_active).then_some(&self.active[..]), l);
    }

    /// Solves the system of `m`, whose values may be newer than those factored, with this factor as preconditioner:
    /// at most `limit` refinements, until the residual is below `tol` times the right-hand side. A refinement that
    /// makes the residual larger is taken back. With `with_e` false the system solved has E = 0.
    pub fn solve_refined(
        &mut self,
        st: &Structure,
        m: &Matrix,
        with_e: bool,
        tol: f64,
        limit: usize,
        x: &mut [f64],
        l: &mut [f64],
    ) -> Refined {
        let nv = st.nv();
        let mut rhs = std::mem::take(&mut self.rhs);
        let mut r = std::mem::take(&mut self.r);
        rhs[..nv].copy_from_slice(x);
        for k in 0..l.len() {
            rhs[nv + k] = if m.active()[k] { l[k] } else { 0.0 };
        }
        let size = self.norm(&rhs);
        let mut refined = Refined {
            solves: 0,
            residual: 0.0,
            contraction: 0.0,
        };
        if size == 0.0 {
            x.fill(0.0);
            l.fill(0.0);
        } else {
            l.copy_from_slice(&rhs[nv..]);
            self.solve(st, x, l);
            refined.solves = 1;
            residual(st, m, with_e, &rhs, x, l, &mut r);
            refined.residual = self.norm(&r) / size;
            refined.contraction = refined.residual;
            while refined.residual > tol && refined.solves <= limit {
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
    st: &Structure,
    m: &Matrix,
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
            sum += m.e()[k] * l[k];
        }
        r[nv + k] = sum;
    }
}

/// The scaled matrix by rows; a row that is not active is a one on the diagonal.
fn assemble(st: &Structure, m: &Matrix, d: &[f64], a: &mut [f64]) {
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
            -m.e()[k - nv] * d[k] * d[k]
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
mod tests {
    use super::super::samples::{self, Random, Sample};
    use super::*;
    use crate::formulation::Pattern;
    use nalgebra::{DMatrix, DVector};

    const BOTH: [Backend; 2] = [Backend::Dense, Backend::Sparse];

    struct Case {
        st: Structure,
        m: Matrix,
        factor: Factor,
    }

    fn case(sample: &Sample, backend: Backend) -> Case {
        let pattern = Pattern {
            tangent: sample.tangent.clone(),
            jacobian: sample.jacobian.clone(),
        };
        let st = Structure::new(sample.nv, sample.nc, &pattern, backend);
        let mut m = Matrix::new(&st);
        m.load_tangent(&st, &sample.s);
        m.load_jacobian(&st, &sample.g);
        let mut mass = vec![0.0; sample.nv];
        m.tangent_diagonal(&st, &mut mass);
        m.regularise(&st, &mass, 1e-10);
        let factor = Factor::new(&st);
        Case { st, m, factor }
    }

    fn right_side(n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random(seed);
        (0..n).map(|_| random.next()).collect()
    }

    /// The matrix as nalgebra sees it, from the sample and not from the structure.
    fn full(sample: &Sample, e: &[f64]) -> DMatrix<f64> {
        let n = sample.nv + sample.nc;
        let mut a = DMatrix::zeros(n, n);
        for (&(i, j), v) in sample.tangent.iter().zip(&sample.s) {
            a[(i as usize, j as usize)] += v;
        }
        for (&(k, j), v) in sample.jacobian.iter().zip(&sample.g) {
            a[(sample.nv + k as usize, j as usize)] += v;
            a[(j as usize, sample.nv + k as usize)] += v;
        }
        for (k, e) in e.iter().enumerate() {
            a[(sample.nv + k, sample.nv + k)] -= e;
        }
        a
    }

    fn largest_difference(x: &[f64], y: &[f64]) -> f64 {
        let size = y.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
        x.iter()
            .zip(y)
            .fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()))
            / size
    }

    fn agrees_with_nalgebra(sample: &Sample, backend: Backend, what: &str) -> Pivots {
        let mut c = case(sample, backend);
        let pivots = c.factor.factor(&c.st, &c.m).expect(what);
        let b = right_side(sample.nv + sample.nc, 77);
        let exact = full(sample, c.m.e())
            .lu()
            .solve(&DVector::from_column_slice(&b))
            .expect(what);
        let mut y = b.clone();
        let (x, l) = y.split_at_mut(sample.nv);
        let refined = c.factor.solve_refined(&c.st, &c.m, true, 1e-14, 40, x, l);
        let error = largest_difference(&y, exact.as_slice());
        // Condition numbers here are below 1e5: rounding leaves at most 1e-10.
        assert!(
            error < 1e-10,
            "{what} {backend:?}: error {error:e}, {refined:?}, {pivots:?}"
        );
        assert!(refined.residual < 1e-11, "{what}: {refined:?}");
        pivots
    }

    #[test]
    fn mechanisms_of_every_shape_agree_with_a_dense_solver() {
        for backend in BOTH {
            for n in [1, 2, 3, 5, 10, 40] {
                agrees_with_nalgebra(&samples::planar_chain(n), backend, "planar chain");
                agrees_with_nalgebra(&samples::spatial_chain(n), backend, "spatial chain");
                agrees_with_nalgebra(&samples::sprung_chain(n), backend, "sprung chain");
                agrees_with_nalgebra(&samples::star(2 * n), backend, "star");
                agrees_with_nalgebra(&samples::four_bars(n), backend, "four-bars");
            }
            agrees_with_nalgebra(&samples::spring_net(7), backend, "net");
            agrees_with_nalgebra(&samples::full(12, 5), backend, "full");
        }
    }

    #[test]
    fn random_systems_agree_with_a_dense_solver() {
        for backend in BOTH {
            for (nv, nc) in [(1, 0), (1, 1), (2, 1), (7, 0), (12, 5), (60, 20), (150, 60)] {
                for skew in [0.0, 0.02, 0.2] {
                    let sample = samples::random(nv, nc, skew, (nv + 13 * nc) as u64);
                    let what = format!("{nv} + {nc}, skew {skew}");
                    agrees_with_nalgebra(&sample, backend, &what);
                }
            }
        }
    }

    #[test]
    fn large_chains_are_solved_to_rounding() {
        for bodies in [400, 2000] {
            for sample in [samples::planar_chain(bodies), samples::star(bodies)] {
                let mut c = case(&sample, Backend::Auto);
                assert!(c.st.is_sparse());
                let pivots = c.factor.factor(&c.st, &c.m).unwrap();
                assert_eq!((pivots.corrected, pivots.used_lu), (0, false));
                let mut y = right_side(sample.nv + sample.nc, 3);
                let (x, l) = y.split_at_mut(sample.nv);
                let refined = c.factor.solve_refined(&c.st, &c.m, false, 1e-13, 2, x, l);
                assert!(refined.residual < 1e-13, "{bodies}: {refined:?}");
            }
        }
    }

    #[test]
    fn a_strongly_unsymmetric_tangent_is_factored_by_lu() {
        let sample = samples::random(60, 20, 1.5, 4);
        let pivots = agrees_with_nalgebra(&sample, Backend::Sparse, "gyroscopic");
        assert!(pivots.used_lu);
        let sample = samples::random(60, 20, 0.02, 4);
        let pivots = agrees_with_nalgebra(&sample, Backend::Sparse, "slow");
        assert!(!pivots.used_lu);
    }

    #[test]
    fn a_row_that_does_not_hold_has_no_multiplier_and_no_effect() {
        for backend in BOTH {
            let mut sample = samples::planar_chain(4);
            let mut c = case(&sample, backend);
            let mut rows = vec![true; sample.nc];
            (rows[3], rows[6]) = (false, false);
            c.m.set_active(&rows);
            let mut mass = vec![0.0; sample.nv];
            c.m.tangent_diagonal(&c.st, &mut mass);
            c.m.regularise(&c.st, &mass, 1e-10);
            c.factor.factor(&c.st, &c.m).unwrap();
            assert_eq!(c.factor.constraint_pivots()[3], f64::INFINITY);
            let mut y = right_side(sample.nv + sample.nc, 5);
            let mut b = y.clone();
            let (x, l) = y.split_at_mut(sample.nv);
            c.factor.solve_refined(&c.st, &c.m, true, 1e-14, 3, x, l);
            assert_eq!((l[3], l[6]), (0.0, 0.0));
            // The same without these rows: zero Jacobian and a unit diagonal.
            for (at, g) in sample.jacobian.iter().zip(&mut sample.g) {
                if at.0 == 3 || at.0 == 6 {
                    *g = 0.0;
                }
            }
            let mut e = c.m.e().to_vec();
            for k in [3, 6] {
                assert_eq!(e[k], 0.0);
                (e[k], b[sample.nv + k]) = (1.0, 0.0);
            }
            let exact = full(&sample, &e)
                .lu()
                .solve(&DVector::from_column_slice(&b))
                .unwrap();
            assert!(largest_difference(&y, exact.as_slice()) < 1e-11);
        }
    }

    /// Row `k` once more at the end.
    fn with_copy_of_row(sample: &Sample, k: u32) -> Sample {
        let mut sample = sample.clone();
        for at in 0..sample.jacobian.len() {
            if sample.jacobian[at].0 == k {
                let (place, g) = ((sample.nc as u32, sample.jacobian[at].1), sample.g[at]);
                sample.jacobian.push(place);
                sample.g.push(g);
            }
        }
        sample.nc += 1;
        sample
    }

    #[test]
    fn the_copies_of_a_repeated_row_share_its_multiplier() {
        for backend in BOTH {
            let single = samples::planar_chain(6);
            let sample = with_copy_of_row(&single, 4);
            let mut c = case(&sample, backend);
            let pivots = c.factor.factor(&c.st, &c.m).unwrap();
            assert!(pivots.smallest_constraint < 1e-9, "{pivots:?}");
            assert!(!pivots.used_lu);
            let (nv, nc) = (sample.nv, sample.nc);
            let mut y = right_side(nv + nc, 6);
            y[nv + nc - 1] = y[nv + 4]; // consistent
            let b = y.clone();
            let (x, l) = y.split_at_mut(nv);
            let refined = c.factor.solve_refined(&c.st, &c.m, false, 1e-12, 3, x, l);
            assert!(refined.residual < 1e-12, "{refined:?}");
            let mut s = case(&single, backend);
            s.factor.factor(&s.st, &s.m).unwrap();
            let mut z = b[..nv + nc - 1].to_vec();
            let (xs, ls) = z.split_at_mut(nv);
            s.factor.solve_refined(&s.st, &s.m, false, 1e-13, 3, xs, ls);
            assert!(largest_difference(x, xs) < 1e-9);
            // Least norm: halves. Rounding over the regularisation, 1e-16 / 1e-10, moves it.
            let size = ls.iter().fold(0.0, |m: f64, l| m.max(l.abs()));
            assert!((l[4] - 0.5 * ls[4]).abs() < 1e-4 * size);
            assert!((l[nc - 1] - 0.5 * ls[4]).abs() < 1e-4 * size);
        }
    }

    #[test]
    fn without_regularisation_a_repeated_row_is_corrected_and_counted() {
        for backend in BOTH {
            let sample = with_copy_of_row(&samples::planar_chain(6), 4);
            let mut c = case(&sample, backend);
            c.m.regularise(&c.st, &vec![1.0; sample.nv], 0.0);
            let pivots = c.factor.factor(&c.st, &c.m).unwrap();
            assert_eq!(pivots.corrected, 1, "{backend:?}");
            let mut y = right_side(sample.nv + sample.nc, 6);
            y[sample.nv + sample.nc - 1] = y[sample.nv + 4];
            let (x, l) = y.split_at_mut(sample.nv);
            let refined = c.factor.solve_refined(&c.st, &c.m, false, 1e-12, 4, x, l);
            assert!(refined.residual < 1e-12, "{refined:?}");
        }
    }

    /// Takes mass and stiffness of some coordinates away.
    fn without_mass(sample: &Sample, coordinates: &[u32]) -> Sample {
        let mut sample = sample.clone();
        for (at, s) in sample.tangent.iter().zip(&mut sample.s) {
            if coordinates.contains(&at.0) || coordinates.contains(&at.1) {
                *s = 0.0;
            }
        }
        sample
    }

    #[test]
    fn a_massless_coordinate_held_by_a_constraint_is_solved() {
        for backend in BOTH {
            // Alone on its constraint, and inside a chain where both its neighbours have mass.
            let alone = Sample {
                nv: 2,
                nc: 1,
                tangent: vec![(0, 0), (1, 1)],
                s: vec![0.0, 2.0],
                jacobian: vec![(0, 0)],
                g: vec![3.0],
            };
            agrees_with_nalgebra(&alone, backend, "massless alone");
            let chain = without_mass(&samples::planar_chain(5), &[6, 7]);
            let pivots = agrees_with_nalgebra(&chain, backend, "massless in a chain");
            assert!(pivots.used_lu);
            // The same without any place in the pattern: the order knows, and LDLᵀ does.
            let mut bare = chain.clone();
            let keep: Vec<bool> = chain
                .tangent
                .iter()
                .map(|at| ![6, 7].contains(&at.0) && ![6, 7].contains(&at.1))
                .collect();
            let mut flags = keep.iter();
            bare.tangent.retain(|_| *flags.next().unwrap());
            let mut flags = keep.iter();
            bare.s.retain(|_| *flags.next().unwrap());
            let pivots = agrees_with_nalgebra(&bare, backend, "massless without a place");
            assert_eq!(pivots.used_lu, backend == Backend::Dense);
        }
    }

    #[test]
    fn a_free_coordinate_without_mass_is_named() {
        for backend in BOTH {
            for bodies in [2, 5, 30] {
                // The angle of the last link is held by its pin; a coordinate of its own is not.
                let mut sample = samples::planar_chain(bodies);
                sample.tangent.push((sample.nv as u32, sample.nv as u32));
                sample.s.push(0.0);
                sample.nv += 1;
                let mut c = case(&sample, backend);
                let found = c.factor.factor(&c.st, &c.m);
                let unknown = sample.nv - 1;
                assert_eq!(found, Err(Singular { unknown }), "{backend:?}");
            }
        }
    }

    #[test]
    fn an_active_row_without_entries_is_named_unless_regularised() {
        for backend in BOTH {
            let mut sample = samples::planar_chain(5);
            for (at, g) in sample.jacobian.iter().zip(&mut sample.g) {
                if at.0 == 3 {
                    *g = 0.0;
                }
            }
            let mut c = case(&sample, backend);
            assert!(c.factor.factor(&c.st, &c.m).is_ok());
            c.m.regularise(&c.st, &vec![1.0; sample.nv], 0.0);
            let unknown = sample.nv + 3;
            assert_eq!(
                c.factor.factor(&c.st, &c.m),
                Err(Singular { unknown }),
                "{backend:?}"
            );
        }
    }

    #[test]
    fn what_is_not_a_number_is_an_error_that_names_its_row() {
        for backend in BOTH {
            for bad in [f64::NAN, f64::INFINITY] {
                let sample = samples::planar_chain(8);
                for at in [0, 10, sample.s.len() - 1] {
                    let mut spoilt = sample.clone();
                    spoilt.s[at] = bad;
                    let mut c = case(&spoilt, backend);
                    let unknown = sample.tangent[at].0 as usize;
                    assert_eq!(c.factor.factor(&c.st, &c.m), Err(Singular { unknown }));
                }
                for at in [0, 10, sample.g.len() - 1] {
                    let mut spoilt = sample.clone();
                    spoilt.g[at] = bad;
                    let mut c = case(&spoilt, backend);
                    let unknown = sample.nv + sample.jacobian[at].0 as usize;
                    assert_eq!(c.factor.factor(&c.st, &c.m), Err(Singular { unknown }));
                }
                // A good matrix afterwards is not spoilt by the bad one, and a bad right-hand side is reported.
                let mut c = case(&sample, backend);
                let mut spoilt = c.m.clone();
                spoilt.load_tangent(&c.st, &vec![bad; sample.s.len()]);
                assert!(c.factor.factor(&c.st, &spoilt).is_err());
                c.factor.factor(&c.st, &c.m).unwrap();
                let mut y = right_side(sample.nv + sample.nc, 1);
                let (x, l) = y.split_at_mut(sample.nv);
                let refined = c.factor.solve_refined(&c.st, &c.m, true, 1e-13, 2, x, l);
                assert!(refined.residual < 1e-13);
                x[2] = bad;
                let refined = c.factor.solve_refined(&c.st, &c.m, true, 1e-13, 2, x, l);
                assert!(!refined.residual.is_finite());
            }
        }
    }

    #[test]
    fn an_older_factor_solves_a_newer_matrix() {
        for backend in BOTH {
            let sample = samples::four_bars(8);
            let mut c = case(&sample, backend);
            c.factor.factor(&c.st, &c.m).unwrap();
            let mut random = Random(8);
            let moved: Vec<f64> = sample
                .g
                .iter()
                .map(|g| g * (1.0 + 1e-3 * random.next()))
                .collect();
            c.m.load_jacobian(&c.st, &moved);
            let newer = Sample {
                g: moved,
                ..sample.clone()
            };
            let b = right_side(sample.nv + sample.nc, 9);
            let mut y = b.clone();
            let (x, l) = y.split_at_mut(sample.nv);
            let refined = c.factor.solve_refined(&c.st, &c.m, true, 1e-13, 20, x, l);
            assert!(refined.residual < 1e-13, "{refined:?}");
            assert!(refined.solves > 2 && refined.solves < 20);
            let exact = full(&newer, c.m.e())
                .lu()
                .solve(&DVector::from_column_slice(&b))
                .unwrap();
            assert!(largest_difference(&y, exact.as_slice()) < 1e-9);
        }
    }

    #[test]
    fn constraint_pivots_multiply_to_the_determinant_of_w() {
        // Whatever the order of the rows: Π pivots = det W. The relative ones lack Π W_kk.
        for backend in BOTH {
            let sample = samples::four_bars(3);
            let mut c = case(&sample, backend);
            c.factor.factor(&c.st, &c.m).unwrap();
            let a = full(&sample, c.m.e());
            let (nv, nc) = (sample.nv, sample.nc);
            let s = a.view((0, 0), (nv, nv)).into_owned();
            let g = a.view((nv, 0), (nc, nv)).into_owned();
            let w = &g * s.try_inverse().unwrap() * g.transpose()
                - a.view((nv, nv), (nc, nc)).into_owned();
            let diagonal: f64 = (0..nc).map(|k| w[(k, k)]).product();
            let exact = w.determinant() / diagonal;
            let product: f64 = c.factor.constraint_pivots().iter().product();
            assert!(
                (product - exact).abs() < 1e-8 * exact,
                "{backend:?}: {product:e} is not {exact:e}"
            );
        }
    }

    #[test]
    fn an_indefinite_tangent_is_solved_with_pivoting() {
        // A long step over a falling force: S has negative and zero entries on the diagonal, K still has an inverse.
        for backend in BOTH {
            for bodies in [2, 12] {
                let mut sample = samples::planar_chain(bodies);
                for (at, s) in sample.tangent.iter().zip(&mut sample.s) {
                    if at.0 == at.1 {
                        *s *= [1.0, -0.7, 1.3, 0.0][at.0 as usize % 4];
                    }
                }
                let pivots = agrees_with_nalgebra(&sample, backend, "indefinite");
                assert!(pivots.used_lu);
            }
        }
    }

    #[test]
    fn a_structure_is_shared_between_threads() {
        let sample = samples::four_bars(5);
        let c = case(&sample, Backend::Sparse);
        let run = || {
            let mut factor = Factor::new(&c.st);
            factor.factor(&c.st, &c.m).unwrap();
            let mut y = right_side(sample.nv + sample.nc, 15);
            let (x, l) = y.split_at_mut(sample.nv);
            factor.solve(&c.st, x, l);
            y
        };
        let (a, b) = std::thread::scope(|s| {
            let (a, b) = (s.spawn(run), s.spawn(run));
            (a.join().unwrap(), b.join().unwrap())
        });
        assert_eq!(a, b);
    }

    #[test]
    fn units_do_not_matter() {
        // Coordinates and rows measured in other units: S -> D S D, G -> F G D, solution D⁻¹ x and F⁻¹ λ.
        for backend in BOTH {
            let sample = samples::four_bars(6);
            let (nv, nc) = (sample.nv, sample.nc);
            let unit = |i: usize| [1e-5, 1.0, 1e4, 1e-2][i % 4];
            let mut other = sample.clone();
            for (at, s) in sample.tangent.iter().zip(&mut other.s) {
                *s *= unit(at.0 as usize) * unit(at.1 as usize);
            }
            for (at, g) in sample.jacobian.iter().zip(&mut other.g) {
                *g *= unit(at.0 as usize + 1) * unit(at.1 as usize);
            }
            let b = right_side(nv + nc, 12);
            let solve = |sample: &Sample, mut y: Vec<f64>| {
                let mut c = case(sample, backend);
                // Without E: its floor is the one thing that compares rows of different units.
                c.m.regularise(&c.st, &vec![1.0; nv], 0.0);
                let pivots = c.factor.factor(&c.st, &c.m).unwrap();
                let (x, l) = y.split_at_mut(nv);
                let refined = c.factor.solve_refined(&c.st, &c.m, true, 1e-13, 4, x, l);
                assert!(refined.residual < 1e-13, "{refined:?}");
                (y, pivots)
            };
            let (exact, pivots) = solve(&sample, b.clone());
            let scaled =
                (0..nv + nc).map(|i| b[i] * if i < nv { unit(i) } else { unit(i - nv + 1) });
            let (mut y, scaled_pivots) = solve(&other, scaled.collect());
            for i in 0..nv + nc {
                y[i] *= if i < nv { unit(i) } else { unit(i - nv + 1) };
            }
            let error = largest_difference(&y, &exact);
            assert!(error < 1e-10, "{backend:?}: {error:e}");
            let (a, b) = (
                pivots.smallest_constraint,
                scaled_pivots.smallest_constraint,
            );
            assert!((a - b).abs() < 1e-10 * a, "{backend:?}: {a} and {b}");
        }
    }

    #[test]
    fn stiff_springs_do_not_spoil_the_solution() {
        for backend in BOTH {
            for stiffness in [1e4, 1e8] {
                let mut sample = samples::planar_chain(20);
                for b in 1..20u32 {
                    let (i, j) = (3 * b - 1, 3 * b + 2);
                    sample.tangent.extend([(i, i), (j, j), (i, j), (j, i)]);
                    sample
                        .s
                        .extend([stiffness, stiffness, -stiffness, -stiffness]);
                }
                let mut c = case(&sample, backend);
                c.factor.factor(&c.st, &c.m).unwrap();
                let mut y = right_side(sample.nv + sample.nc, 13);
                let (x, l) = y.split_at_mut(sample.nv);
                let refined = c.factor.solve_refined(&c.st, &c.m, true, 1e-10, 3, x, l);
                assert!(
                    refined.residual < 1e-10,
                    "{backend:?} {stiffness:e}: {refined:?}"
                );
            }
        }
    }

    #[test]
    fn holding_constraints_back_keeps_the_digits_plain_minimum_degree_loses() {
        for sample in [samples::four_bars(40), samples::planar_chain(200)] {
            let raw = |plain: bool| {
                let mut c = case(&sample, Backend::Sparse);
                if plain {
                    let graph = c.st.graph();
                    let order = crate::linalg::order::plain(&graph);
                    c.st.sparse = Some(Sparse::new(&c.st, &graph, order));
                    c.factor = Factor::new(&c.st);
                }
                c.factor.factor(&c.st, &c.m).unwrap();
                let mut y = right_side(sample.nv + sample.nc, 14);
                let (x, l) = y.split_at_mut(sample.nv);
                c.factor
                    .solve_refined(&c.st, &c.m, true, 1.0, 0, x, l)
                    .residual
            };
            let (ours, plain) = (raw(false), raw(true));
            assert!(ours < 1e-11, "{ours:e}");
            assert!(plain > 100.0 * ours, "{plain:e} is as good as {ours:e}");
        }
    }

    #[test]
    fn the_same_calls_give_the_same_bits() {
        for backend in BOTH {
            for skew in [0.0, 1.5] {
                let sample = samples::random(40, 15, skew, 6);
                let run = |warm: bool| {
                    let mut c = case(&sample, backend);
                    if warm {
                        let mut other = c.m.clone();
                        other.load_tangent(&c.st, &vec![0.7; sample.s.len()]);
                        let _ = c.factor.factor(&c.st, &other);
                    }
                    c.factor.factor(&c.st, &c.m).unwrap();
                    let mut y = right_side(55, 2);
                    let (x, l) = y.split_at_mut(40);
                    c.factor.solve_refined(&c.st, &c.m, true, 1e-14, 3, x, l);
                    y.iter().map(|y| y.to_bits()).collect::<Vec<_>>()
                };
                assert_eq!(run(false), run(false));
                assert_eq!(run(false), run(true), "an earlier matrix left a trace");
            }
        }
    }

    #[test]
    fn nothing_at_all_is_solved_too() {
        for backend in BOTH {
            let mut c = case(&Sample::default(), backend);
            let pivots = c.factor.factor(&c.st, &c.m).unwrap();
            assert_eq!(pivots.smallest_constraint, f64::INFINITY);
            let refined = c
                .factor
                .solve_refined(&c.st, &c.m, true, 1e-14, 3, &mut [], &mut []);
            assert_eq!((refined.solves, refined.residual), (0, 0.0));
        }
    }
}
