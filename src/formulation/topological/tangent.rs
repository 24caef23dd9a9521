//! The tangent matrix S in independent coordinates, column by column. A variation of an independent coordinate varies the dependent ones:
//!
//! ```text
//!   δy:    δx = w = R e       J δẋ = −H[ẋ, w]       J δẍ = −( H[ẍ, w] + 2 H[ẋ, δẋ] + H'[ẋ, ẋ, w] )
//!   δẏ:                         δẋ = w                 J δẍ = −2 H[ẋ, w]                          H = Φ_xx,  H' = Φ_xxx
//!   S e = Pᵀ [ (m M + c C) δż + c M δz̈ ] T⁻¹ + k { Pᵀ [ K δz + C δż + M δz̈ ] + Rᵀ (δB)ᵀ F }
//! ```
//!
//! K is that of the inner system with all multipliers, those of the loops from equilibrium (`quantity`). F = M z̈ − f + Gᵀλ then vanishes
//! along the dependent coordinates, so that the derivative of R, nonzero in their rows only, does not appear. H[a, b] =
//! (γ(a + b) − γ(a − b))/4 is exact, since γ is a quadratic form; H' is a difference of γ.

use super::kinematics::{CoordinateKind, CoordinateLayout, Kinematics};
use super::rotation_vector;
use super::{Topological, TopologicalCache as Whole};
use crate::formulation::relative::closure::ClosureConstraints;
use crate::formulation::{Evaluated, EvaluationContext, MotionPoint, TangentWeights};
use crate::linalg::rotation::{self, Vec3};

/// Step of the difference of γ, relative to the characteristic length: truncation is its fourth power, rounding 1e-16 over it.
const WIDTH: f64 = 1e-3;

/// Scratch vectors of the tangent matrix.
#[derive(Debug, Default)]
pub(super) struct TopologicalTangentWorkspace {
    /// C and K of the inner system, by rows.
    damping: Vec<f64>,
    stiffness: Vec<f64>,
    bend: Curvature,
    x_ddot: Vec<f64>,
    /// F
    force: Vec<f64>,
    /// δx, δẋ, δẍ and δz, δż, δz̈ of a column.
    x: [Vec<f64>; 3],
    z: [Vec<f64>; 3],
    /// (δB)ᵀ F
    turned: Vec<f64>,
    sum: Vec<f64>,
    unit: Vec<f64>,
    own: Vec<f64>,
    /// Columns that T⁻¹ multiplies, by rows.
    rates: Vec<f64>,
}

impl TopologicalTangentWorkspace {
    pub fn new(l: &CoordinateLayout) -> Self {
        let wide = || vec![0.0; l.inner.nv];
        let (nv, n) = (l.moved(), l.inner.nv);
        Self {
            damping: vec![0.0; n * n],
            stiffness: vec![0.0; n * n],
            bend: Curvature {
                sum: wide(),
                z_dot: wide(),
                moved: wide(),
                gamma: std::array::from_fn(|_| vec![0.0; l.rows.len()]),
                total: vec![0.0; l.rows.len()],
                q: vec![0.0; l.stored()],
                near: Kinematics::new(l, l.entries.len()),
            },
            x_ddot: wide(),
            force: wide(),
            x: std::array::from_fn(|_| wide()),
            z: std::array::from_fn(|_| wide()),
            turned: wide(),
            sum: wide(),
            unit: vec![0.0; nv],
            own: vec![0.0; nv],
            rates: vec![0.0; nv * nv],
        }
    }
}

/// Sums of curvature terms of the loop constraints.
#[derive(Debug, Default)]
struct Curvature {
    sum: Vec<f64>,
    z_dot: Vec<f64>,
    moved: Vec<f64>,
    gamma: [Vec<f64>; 2],
    total: Vec<f64>,
    q: Vec<f64>,
    near: Kinematics,
}

impl Curvature {
    /// total += factor H[a, b]
    fn add(
        &mut self,
        factor: f64,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        at: &Kinematics,
        a: &[f64],
        b: &[f64],
    ) {
        let s = l.length(|k| a[k]) / l.length(|k| b[k]);
        // One of them is zero.
        if !(s > 0.0 && s.is_finite()) {
            return;
        }
        for (sign, gamma) in [1.0, -1.0].into_iter().zip(&mut self.gamma) {
            for k in 0..a.len() {
                self.sum[k] = a[k] + sign * s * b[k];
            }
            at.bend(l, inner, &self.sum, &mut self.z_dot, gamma);
        }
        let [plus, minus] = &self.gamma;
        for (k, total) in self.total.iter_mut().enumerate() {
            *total += factor * (plus[k] - minus[k]) / (4.0 * s);
        }
    }

    /// total += H'[ẋ, ẋ, w]
    fn add_third(
        &mut self,
        l: &CoordinateLayout,
        inner: &dyn ClosureConstraints,
        at: &Kinematics,
        w: &[f64],
    ) {
        let size = l.length(|k| w[k]);
        if !(size > 0.0 && l.length(|k| at.rates.x_dot[k]) > 0.0) {
            return;
        }
        let e = WIDTH / size;
        for (k, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
            // Loop constraints do not depend on coordinates outside of loops.
            self.moved.fill(0.0);
            for &i in &l.looped {
                self.moved[i] = k * e * w[i];
            }
            at.shift(l, inner, &mut self.moved, &mut self.q);
            self.near.load(l, inner, &self.q);
            let [gamma, _] = &mut self.gamma;
            (self.near).bend(l, inner, &at.rates.x_dot, &mut self.z_dot, gamma);
            for (total, gamma) in self.total.iter_mut().zip(gamma) {
                *total += weight / (12.0 * e) * *gamma;
            }
        }
    }
}

/// out += factor A x, A by rows.
fn add_times(factor: f64, a: &[f64], x: &[f64], out: &mut [f64]) {
    for (out, row) in out.iter_mut().zip(a.chunks_exact(x.len().max(1))) {
        let sum: f64 = row.iter().zip(x).map(|(a, x)| a * x).sum();
        *out += factor * sum;
    }
}

impl Topological {
    /// Writes the entries of S by rows. The cache holds the velocities.
    pub(super) fn stiffness(
        &self,
        cx: &EvaluationContext,
        whole: &mut Whole,
        a: &[f64],
        lambda: &[f64],
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let mut work = std::mem::take(&mut whole.tangent);
        let (c, k) = (weights.damping, weights.stiffness);
        let outcome = match c != 0.0 || k != 0.0 {
            true => self.matrices(cx, whole, &mut work, a, lambda, k != 0.0),
            false => Ok(()),
        };
        if outcome.is_ok() {
            for j in 0..self.layout.moved() {
                self.column(cx, whole, &mut work, weights, j, out);
            }
            self.add_rates(&work.rates, weights.theta, out);
        }
        whole.tangent = work;
        outcome
    }

    /// Loads C and K of the inner system, ẍ and F.
    fn matrices(
        &self,
        cx: &EvaluationContext,
        whole: &mut Whole,
        work: &mut TopologicalTangentWorkspace,
        a: &[f64],
        lambda: &[f64],
        stiff: bool,
    ) -> Evaluated {
        let l = &self.layout;
        self.balance(cx, whole, a, lambda)?;
        let (z, rates) = (whole.here.z(l), &whole.here.rates);
        for (damping, stiffness, values) in [
            (1.0, 0.0, &mut work.damping),
            (0.0, 1.0, &mut work.stiffness),
        ] {
            let one = TangentWeights {
                mass: 0.0,
                damping,
                stiffness,
                theta: &[],
            };
            if damping != 0.0 || stiff {
                let all = &whole.lambda;
                (self.inner).tangent(
                    cx,
                    &MotionPoint {
                        q: z,
                        v: &rates.z_dot,
                        a: &whole.z[1],
                        lambda: all,
                    },
                    &one,
                    values,
                )?;
            }
        }
        whole.here.carry(l, a, &mut work.x_ddot);
        for (x, bias) in work.x_ddot.iter_mut().zip(&rates.x_bias) {
            *x += bias;
        }
        work.force.copy_from_slice(&whole.z[2]);
        let n = l.looped.len();
        for (entry, g) in l.entries.iter().zip(&whole.here.g) {
            if let CoordinateKind::Loop(at) = entry {
                let (row, column) = (*at as usize / n, *at as usize % n);
                work.force[l.looped[column]] += g * whole.lambda[l.rows[row]];
            }
        }
        Ok(())
    }

    /// Column j: that of the rates into `rates`, the rest into `out`.
    fn column(
        &self,
        cx: &EvaluationContext,
        whole: &mut Whole,
        work: &mut TopologicalTangentWorkspace,
        weights: &TangentWeights,
        j: usize,
        out: &mut [f64],
    ) {
        let (m, c, k) = (weights.mass, weights.damping, weights.stiffness);
        let (l, inner, nv) = (&self.layout, &*self.inner, self.layout.moved());
        let (at, solved) = (&whole.here, &mut whole.column);
        let x_dot = &at.rates.x_dot;
        work.unit.fill(0.0);
        work.unit[j] = 1.0;
        // (m M + c C) δż + c M δz̈
        at.carry(l, &work.unit, &mut work.x[1]);
        work.x[0].fill(0.0);
        work.x[2].fill(0.0);
        if c != 0.0 {
            work.bend.total.fill(0.0);
            work.bend.add(2.0, l, inner, at, x_dot, &work.x[1]);
            at.follow(l, &work.bend.total, solved, &mut work.x[2]);
        }
        vary(l, at, work);
        for i in 0..work.sum.len() {
            work.sum[i] = m * work.z[1][i] + c * work.z[2][i];
        }
        let image = &mut whole.z[0];
        inner.mass_times(cx, at.z(l), &work.sum, image);
        if c != 0.0 {
            add_times(c, &work.damping, &work.z[1], image);
        }
        at.off_joints(l, image);
        at.gather(l, image, &mut work.own);
        for i in 0..nv {
            work.rates[i * nv + j] = work.own[i];
            out[i * nv + j] = 0.0;
        }
        if k == 0.0 {
            return;
        }
        // K δz + C δż + M δz̈
        at.carry(l, &work.unit, &mut work.x[0]);
        work.bend.total.fill(0.0);
        work.bend.add(1.0, l, inner, at, x_dot, &work.x[0]);
        at.follow(l, &work.bend.total, solved, &mut work.x[1]);
        work.bend.total.fill(0.0);
        (work.bend).add(1.0, l, inner, at, &work.x_ddot, &work.x[0]);
        work.bend.add(2.0, l, inner, at, x_dot, &work.x[1]);
        work.bend.add_third(l, inner, at, &work.x[0]);
        at.follow(l, &work.bend.total, solved, &mut work.x[2]);
        vary(l, at, work);
        inner.mass_times(cx, at.z(l), &work.z[2], image);
        add_times(1.0, &work.damping, &work.z[1], image);
        add_times(1.0, &work.stiffness, &work.z[0], image);
        at.off_joints(l, image);
        for (image, turned) in image.iter_mut().zip(&work.turned) {
            *image += turned;
        }
        at.gather(l, image, &mut work.own);
        for i in 0..nv {
            out[i * nv + j] = k * work.own[i];
        }
    }

    /// out += rates T⁻¹
    fn add_rates(&self, rates: &[f64], theta: &[f64], out: &mut [f64]) {
        let (l, nv) = (&self.layout, self.layout.moved());
        for (out, rates) in out.iter_mut().zip(rates) {
            *out += rates;
        }
        if theta.is_empty() {
            return;
        }
        for &first in &l.turning {
            let t = rotation::tangent_inverse(&Vec3::from_column_slice(&theta[first..first + 3]));
            for row in 0..nv {
                let own = row * nv + first..row * nv + first + 3;
                let old = Vec3::from_column_slice(&rates[own.clone()]);
                let change = t.tr_mul(&old) - old;
                for (out, change) in out[own].iter_mut().zip(change.iter()) {
                    *out += change;
                }
            }
        }
    }
}

/// Writes δz, δż, δz̈ and (δB)ᵀ F of δx, δẋ, δẍ.
fn vary(l: &CoordinateLayout, at: &Kinematics, work: &mut TopologicalTangentWorkspace) {
    for (z, x) in work.z.iter_mut().zip(&work.x) {
        z.copy_from_slice(x);
    }
    work.turned.fill(0.0);
    for ((ball, rho), t) in l.balls.iter().zip(&at.rho).zip(&at.t) {
        let own = ball.moved..ball.moved + 3;
        let pick = |x: &[f64]| Vec3::from_column_slice(&x[own.clone()]);
        let course = [*rho, pick(&at.rates.x_dot), pick(&work.x_ddot)];
        let by = [0, 1, 2].map(|k| pick(&work.x[k]));
        let [rate, acceleration, pulled] =
            rotation_vector::varied(&course, &by, &pick(&work.force));
        work.z[0][own.clone()].copy_from_slice((t * by[0]).as_slice());
        work.z[1][own.clone()].copy_from_slice(rate.as_slice());
        work.z[2][own.clone()].copy_from_slice(acceleration.as_slice());
        work.turned[own.clone()].copy_from_slice(pulled.as_slice());
    }
}
