//! The saddle-point equations of a point with its independent constraints, dense:
//!
//! ```text
//!   [ M  Gᵀ − D ] [ x ]   [ b ]
//!   [ G    0    ] [ μ ] = [ c ]
//! ```

use super::matrices::SystemMatrices;
use super::null_space::NullSpace;
use crate::formulation::system::System;
use crate::linalg::dense_lu::DenseLu;

/// Factorisation of the saddle-point matrix at a point.
pub(super) struct DenseSaddle {
    nv: usize,
    rank: usize,
    lu: DenseLu,
    /// Factor of each row and column.
    scale: Vec<f64>,
    x: Vec<f64>,
}

impl DenseSaddle {
    pub fn new() -> Self {
        Self {
            nv: 0,
            rank: 0,
            lu: DenseLu::new(0),
            scale: Vec::new(),
            x: Vec::new(),
        }
    }

    /// Loads and factorises. The error is a coordinate or independent constraint without a pivot.
    pub fn factorise(
        &mut self,
        system: &dyn System,
        m: &SystemMatrices,
        null: &NullSpace,
    ) -> Result<(), usize> {
        let (nv, rank) = (m.mass.nrows(), null.rank());
        let n = nv + rank;
        if self.scale.len() != n {
            self.lu = DenseLu::new(n);
            for x in [&mut self.scale, &mut self.x] {
                x.clear();
                x.resize(n, 0.0);
            }
        }
        (self.nv, self.rank) = (nv, rank);
        self.compute_scales(system, m, null);
        let (scale, matrix) = (&self.scale, self.lu.cleared());
        for i in 0..nv {
            for j in 0..nv {
                matrix[i * n + j] = scale[i] * m.mass[(i, j)] * scale[j];
            }
        }
        for (k, &row) in null.independent_rows().iter().enumerate() {
            for j in 0..nv {
                let g = m.jacobian[(row, j)];
                let d = if m.friction.ncols() > 0 {
                    m.friction[(j, row)]
                } else {
                    0.0
                };
                let factor = scale[nv + k] * scale[j];
                matrix[(nv + k) * n + j] = factor * g;
                matrix[j * n + nv + k] = factor * (g - d);
            }
        }
        self.lu.factor()
    }

    /// Scales so that masses and gradients have entries of about one.
    fn compute_scales(&mut self, system: &dyn System, m: &SystemMatrices, null: &NullSpace) {
        let nv = self.nv;
        let length = |i: usize| system.characteristic_length(i);
        let mean = (0..nv)
            .map(|i| m.mass[(i, i)] / length(i).powi(2))
            .sum::<f64>()
            / nv.max(1) as f64;
        let mass = if mean > 0.0 && mean.is_finite() {
            mean.sqrt()
        } else {
            1.0
        };
        for i in 0..nv {
            self.scale[i] = 1.0 / (length(i) * mass);
        }
        for (k, &row) in null.independent_rows().iter().enumerate() {
            let scaled = (0..nv).map(|j| (m.jacobian[(row, j)] * self.scale[j]).powi(2));
            let norm = scaled.sum::<f64>().sqrt();
            self.scale[nv + k] = if norm > 0.0 { 1.0 / norm } else { 1.0 };
        }
    }

    /// [x; mu] := A⁻¹ [x; mu]; `mu` has the independent constraints only.
    pub fn solve(&mut self, x: &mut [f64], mu: &mut [f64]) {
        let n = self.nv + self.rank;
        let b = |i: usize, x: &[f64], mu: &[f64]| {
            if i < self.nv { x[i] } else { mu[i - self.nv] }
        };
        for i in 0..n {
            self.x[i] = self.scale[i] * b(i, x, mu);
        }
        self.lu.solve(&mut self.x);
        for i in 0..n {
            let value = self.scale[i] * self.x[i];
            if i < self.nv {
                x[i] = value;
            } else {
                mu[i - self.nv] = value;
            }
        }
    }
}
