//! A mast of bars in space, the kind of system a finite-element program hands out: triangular bays one above the other,
//! clamped below, with consistent masses and Rayleigh damping. Nine coordinates for each bay.
//!
//! ```text
//!   bar from a to b along e:   K = EA/L [e eᵀ, −e eᵀ; −e eᵀ, e eᵀ],   M = ρAL/6 [2 I, I; I, 2 I],   C = μ M + κ K
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use biela::linalg::csr::Csr;

/// EA (N), ρA (kg/m), μ (1/s), κ (s): steel bars of 1 cm².
const STIFFNESS: f64 = 2.1e7;
const MASS: f64 = 0.785;
const MU: f64 = 0.5;
const KAPPA: f64 = 1e-5;
/// Height of a bay and radius of its triangle (m).
const BAY: f64 = 1.0;
const RADIUS: f64 = 0.5;

/// M, C and K of a mast.
pub struct Truss {
    pub mass: Csr,
    pub damping: Csr,
    pub stiffness: Csr,
}

fn node(bay: usize, corner: usize) -> [f64; 3] {
    let angle = corner as f64 * std::f64::consts::TAU / 3.0;
    [RADIUS * angle.cos(), RADIUS * angle.sin(), BAY * bay as f64]
}

impl Truss {
    /// Of so many bays above the clamped one.
    pub fn new(bays: usize) -> Self {
        let n = 9 * bays;
        let (mut m, mut k) = (Vec::new(), Vec::new());
        let mut bar = |a: (usize, usize), b: (usize, usize)| {
            let (from, to) = (node(a.0, a.1), node(b.0, b.1));
            let d = [0, 1, 2].map(|x| to[x] - from[x]);
            let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
            let e = d.map(|x| x / length);
            for (i, one) in [a, b].into_iter().enumerate() {
                for (j, other) in [a, b].into_iter().enumerate() {
                    if one.0 == 0 || other.0 == 0 {
                        continue; // clamped
                    }
                    let row = 9 * (one.0 - 1) + 3 * one.1;
                    let column = 9 * (other.0 - 1) + 3 * other.1;
                    let (stretch, share) = if i == j { (1.0, 2.0) } else { (-1.0, 1.0) };
                    for x in 0..3 {
                        let inertia = share * MASS * length / 6.0;
                        m.push(((row + x) as u32, (column + x) as u32, inertia));
                        for y in 0..3 {
                            let value = stretch * STIFFNESS / length * e[x] * e[y];
                            k.push(((row + x) as u32, (column + y) as u32, value));
                        }
                    }
                }
            }
        };
        for bay in 1..=bays {
            for corner in 0..3 {
                let next = (corner + 1) % 3;
                bar((bay - 1, corner), (bay, corner));
                bar((bay - 1, corner), (bay, next));
                bar((bay, corner), (bay, next));
            }
        }
        let scaled = |entries: &[(u32, u32, f64)], factor: f64| {
            let entries = entries.iter().map(|&(i, j, x)| (i, j, factor * x));
            entries.collect::<Vec<_>>()
        };
        let damping = [scaled(&m, MU), scaled(&k, KAPPA)].concat();
        Self {
            mass: Csr::new(n, n, m),
            damping: Csr::new(n, n, damping),
            stiffness: Csr::new(n, n, k),
        }
    }

    /// Bytes of the matrices: 12 for each entry, 4 for each row.
    pub fn bytes(&self) -> usize {
        [&self.mass, &self.damping, &self.stiffness]
            .iter()
            .map(|a| 12 * a.entries() + 4 * (a.rows() + 1))
            .sum()
    }

    /// Writes the matrices and a model that names them into `folder`; a load on the top sets the mast in motion.
    /// `settings` are lines of `[solver]`.
    pub fn write(&self, folder: &Path, settings: &str) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        for (name, matrix) in [
            ("mass.mtx", &self.mass),
            ("damping.mtx", &self.damping),
            ("stiffness.mtx", &self.stiffness),
        ] {
            write_lower(&folder.join(name), matrix);
        }
        let n = self.mass.rows();
        let model = format!(
            "format = 1\nname = \"mast\"\n[solver]\n{settings}\n[experiment]\nstop = 0.1\n[system]\nmass = \"mass.mtx\"\n\
             damping = \"damping.mtx\"\nstiffness = \"stiffness.mtx\"\n[[input]]\nname = \"load\"\ntarget = \"f{}\"\n\
             start = 1000.0\n[[output]]\nname = \"top\"\nsource = \"q{}\"\n",
            n - 2,
            n - 2,
        );
        let path = folder.join("mast.toml");
        std::fs::write(&path, model).unwrap();
        path
    }
}

/// The lower triangle of a symmetric matrix, with all digits. Rounding of the assembly makes no difference between the two.
pub fn write_lower(path: &Path, matrix: &Csr) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let n = matrix.rows();
    let lower = |i: usize| {
        let (columns, values) = matrix.row(i);
        (columns.iter().zip(values)).filter(move |(j, _)| **j as usize <= i)
    };
    let count: usize = (0..n).map(|i| lower(i).count()).sum();
    writeln!(out, "%%MatrixMarket matrix coordinate real symmetric").unwrap();
    writeln!(out, "{n} {n} {count}").unwrap();
    for i in 0..n {
        for (j, x) in lower(i) {
            writeln!(out, "{} {} {x:e}", i + 1, j + 1).unwrap();
        }
    }
    out.flush().unwrap();
}
