//! `[system]`: a linear system, M q̈ + C q̇ + K q + Bᵀ λ = F with B q = 0.

use std::sync::Arc;

use super::TextPosition;
use super::validate::Range;
use crate::error::{Error, Result};
use crate::linalg::csr::Csr;

/// Relative difference of symmetric entries that digits lost in a text explain.
pub(super) const SYMMETRIC: f64 = 1e-9;

/// Matrices and vectors of `[system]`, shared with the formulation.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearSystemMatrices {
    /// M, `n` x `n`, symmetric.
    pub mass: Arc<Csr>,
    /// C, `n` x `n`.
    pub damping: Arc<Csr>,
    /// K, `n` x `n`.
    pub stiffness: Arc<Csr>,
    /// B, one row for each constraint, `n` columns.
    pub constraint: Arc<Csr>,
    /// F.
    pub force: Arc<Vec<f64>>,
    /// Smallest magnitude of each coordinate in the error norm, > 0.
    pub weight: Arc<Vec<f64>>,
    /// Initial q.
    pub position: Arc<Vec<f64>>,
    /// Initial q̇.
    pub velocity: Arc<Vec<f64>>,
    /// Position in the text.
    pub text_position: TextPosition,
}

impl LinearSystemMatrices {
    /// Number of coordinates n.
    pub fn coordinates(&self) -> usize {
        self.mass.rows()
    }

    /// Number of stored entries of all matrices.
    pub fn entry_count(&self) -> usize {
        let matrices = [&self.mass, &self.damping, &self.stiffness, &self.constraint];
        matrices.iter().map(|matrix| matrix.values().len()).sum()
    }

    /// Number of constraints.
    pub fn constraints(&self) -> usize {
        self.constraint.rows()
    }

    /// Checks sizes, finite numbers and the symmetry of the mass matrix.
    pub(super) fn validate(&self) -> Result<()> {
        let n = self.coordinates();
        let refused = |name: &str, value: String, expected: String| {
            Err(Error::Argument {
                name: format!("system.{name}"),
                value,
                expected,
            })
        };
        for (name, matrix, rows) in [
            ("mass", &self.mass, n),
            ("damping", &self.damping, n),
            ("stiffness", &self.stiffness, n),
            ("constraint", &self.constraint, self.constraints()),
        ] {
            if (matrix.rows(), matrix.columns()) != (rows, n) {
                let value = format!("{} x {}", matrix.rows(), matrix.columns());
                return refused(name, value, format!("{rows} x {n}"));
            }
            for value in matrix.values() {
                Range::Finite.check(|| format!("system.{name}"), *value)?;
            }
        }
        for (name, vector, range) in [
            ("force", &*self.force, Range::Finite),
            ("weight", &*self.weight, Range::Positive),
            ("position", &*self.position, Range::Finite),
            ("velocity", &*self.velocity, Range::Finite),
        ] {
            if vector.len() != n {
                let value = format!("{} numbers", vector.len());
                return refused(name, value, format!("{n} numbers, one for each coordinate"));
            }
            for (i, value) in vector.iter().enumerate() {
                range.check(|| format!("system.{name}[{i}]"), *value)?;
            }
        }
        match self.mass.first_asymmetry(SYMMETRIC) {
            Some((i, j)) => refused(
                "mass",
                format!("{} at [{i}][{j}]", self.mass.get(i, j)),
                format!(
                    "{}, as at [{j}][{i}]: a symmetric matrix",
                    self.mass.get(j, i)
                ),
            ),
            None => Ok(()),
        }
    }
}

/// The index (from 0) of a name like `q12`: the letters, then a number from 1 without sign or leading zeros.
pub(super) fn numbered(name: &str, letters: &str) -> Option<usize> {
    let digits = name.strip_prefix(letters)?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    let number: usize = digits.parse().ok().filter(|_| plain)?;
    number.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_count_from_one() {
        assert_eq!(numbered("q1", "q"), Some(0));
        assert_eq!(numbered("lambda100000", "lambda"), Some(99_999));
        for bad in [
            "q",
            "q0",
            "q01",
            "q+1",
            "q-1",
            "q1.0",
            "q1 ",
            "v1",
            "q99999999999999999999",
            "qé",
        ] {
            assert_eq!(numbered(bad, "q"), None, "{bad}");
        }
    }
}
