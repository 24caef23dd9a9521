//! Natural coordinates: points and unit vectors, shared between the bodies that a joint ties to them (García de Jalón). Every
//! body is a linear function of a few of them (`frame`), so its mass matrix is constant and centrifugal and gyroscopic forces do
//! not exist:
//!
//! ```text
//!   M ẍ + Gᵀ λ = J(x)ᵀ f,      M = Σ Lᵀ diag(m, shape) L
//!   Φ = rows of rigid bodies (`rigid`), and rows of joints, motions and contacts that sharing does not hold
//! ```
//!
//! Joints, forces, events and quantities are those of absolute coordinates: poses follow from x, forces come back by Jᵀ. The
//! stored coordinates are x and behind them the poses, which `retract` keeps next to x; so turns are counted and quaternions
//! keep their sign. Constraint rows are those of absolute coordinates in their order, the shared ones empty and never active,
//! and behind them those of the rigid bodies.

pub mod body_map;
mod build;
mod layout;
mod planar;
mod quantity;
mod rigidity;
pub mod shared_points;
mod spatial;
mod system;
mod tangent;
#[cfg(test)]
mod tests;

use super::absolute::Absolute;
use super::absolute::geometry::BodyInertia as _;
use super::absolute::planar::PlanarGeometry;
use super::absolute::spatial::SpatialGeometry;
use super::cache::{CacheGuard, Cached};
use super::{ConstraintHandling, Dimensions, EvaluationContext, MotionPoint, Sparsity};
use body_map::{BodyMap, height};
use layout::NaturalLayout;
use tangent::TangentBlock;

/// A mechanism of the plane in natural coordinates.
pub type PlanarNatural = Natural<PlanarGeometry, 6>;
/// A mechanism of space in natural coordinates.
pub type SpatialNatural = Natural<SpatialGeometry, 12>;

/// A mechanism in natural coordinates.
#[derive(Debug)]
pub struct Natural<W: BodyMap<N>, const N: usize> {
    inner: Absolute<W, N>,
    constraint_handling: ConstraintHandling,
    layout: NaturalLayout,
    size: Dimensions,
    /// Rows of the inner system.
    height: usize,
    sparsity: Sparsity,
    /// Parts of rows that sharing does not hold.
    kept: Vec<NaturalTransfer>,
    /// Whether each row of the inner system is among them, and the numbers of these rows.
    live: Vec<bool>,
    numbers: Vec<usize>,
    blocks: Vec<TangentBlock>,
    /// Where the numbers of J of each body begin in the work space.
    arms: Vec<usize>,
    work: Cached<NaturalCache>,
}

/// Rows of joints, motions and contacts that are there.
#[derive(Clone, Debug)]
struct NaturalTransfer {
    /// The part in the inner system, and its first row.
    part: usize,
    first: usize,
    rows: usize,
    /// Its entries in the Jacobian of the inner system.
    slots: std::ops::Range<usize>,
    /// The bodies it touches.
    bodies: Vec<usize>,
}

/// Everything at the last point that was looked at. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct NaturalCache {
    /// The point: stored coordinates (NaN: none yet), and rates.
    q: Vec<f64>,
    x_dot: Vec<f64>,
    /// y of the bodies, and J, row by row.
    y: Vec<f64>,
    arms: Vec<f64>,
    /// Rates of bodies.
    v: Vec<f64>,
    /// Scratch: tangent vectors of bodies, entries of G, rows.
    a: Vec<f64>,
    f: Vec<f64>,
    gradient: Vec<f64>,
    g: Vec<f64>,
    tangent: tangent::NaturalTangentWorkspace,
}

impl<W: BodyMap<N>, const N: usize> Natural<W, N> {
    const WIDTH: usize = N / 2;
    const Y: usize = height::<W, N>();

    /// Points and vectors that are coordinates, and the rows that keep bodies rigid.
    pub fn counts(&self) -> (usize, usize) {
        (self.layout.items.len(), self.layout.rigid.len())
    }

    /// The poses among the stored coordinates.
    #[inline]
    fn poses<'a>(&self, q: &'a [f64]) -> &'a [f64] {
        &q[self.size.nv..]
    }

    /// The work space at q.
    fn at(&self, q: &[f64]) -> CacheGuard<'_, NaturalCache> {
        let mut guard = self.work.lock();
        let work = &mut *guard;
        if work.q != q {
            work.q.copy_from_slice(q);
            work.x_dot.fill(f64::NAN);
            for b in 0..self.layout.bodies.len() {
                let y = &mut work.y[Self::Y * b..Self::Y * (b + 1)];
                self.form(b, q, y);
                let arm = &mut work.arms[self.arms[b]..];
                self.arm(b, y, arm);
            }
        }
        guard
    }

    /// The same with rates.
    fn moving(&self, q: &[f64], v: &[f64]) -> CacheGuard<'_, NaturalCache> {
        let mut guard = self.at(q);
        let work = &mut *guard;
        if work.x_dot != v {
            work.x_dot.copy_from_slice(v);
            self.carry(&work.arms, v, &mut work.v);
        }
        guard
    }

    /// y = y₀ + L x of body b.
    fn form(&self, b: usize, x: &[f64], y: &mut [f64]) {
        let body = &self.layout.bodies[b];
        y.copy_from_slice(&body.constant);
        for &(m, c, value) in &body.entries {
            y[m as usize] += value * x[body.own[c as usize] as usize];
        }
    }

    /// ẏ = L ẋ of body b.
    fn form_rate(&self, b: usize, x_dot: &[f64], y: &mut [f64]) {
        let body = &self.layout.bodies[b];
        y.fill(0.0);
        for &(m, c, value) in &body.entries {
            y[m as usize] += value * x_dot[body.own[c as usize] as usize];
        }
    }

    /// J of body b, row by row, over its own coordinates; linear in y but for the translations.
    fn arm(&self, b: usize, y: &[f64], arm: &mut [f64]) {
        let body = &self.layout.bodies[b];
        let (n, dimension) = (body.own.len(), W::DIMENSION);
        arm[..Self::WIDTH * n].fill(0.0);
        let a = &y[dimension..];
        for &(m, c, value) in &body.entries {
            let (m, c) = (m as usize, c as usize);
            if m < dimension {
                arm[m * n + c] += value;
                continue;
            }
            for &(i, j, k, factor) in W::SPIN {
                if j as usize == m - dimension {
                    arm[(dimension + k as usize) * n + c] += factor * a[i as usize] * value;
                }
            }
        }
    }

    /// v_b = J ẋ
    fn carry(&self, arms: &[f64], x: &[f64], out: &mut [f64]) {
        for (b, body) in self.layout.bodies.iter().enumerate() {
            let n = body.own.len();
            let arm = &arms[self.arms[b]..self.arms[b] + Self::WIDTH * n];
            for k in 0..Self::WIDTH {
                let row = &arm[k * n..(k + 1) * n];
                out[Self::WIDTH * b + k] = (row.iter().zip(&body.own))
                    .map(|(j, c)| j * x[*c as usize])
                    .sum();
            }
        }
    }

    /// out += Jᵀ f
    fn collect(&self, arms: &[f64], f: &[f64], out: &mut [f64]) {
        for (b, body) in self.layout.bodies.iter().enumerate() {
            let n = body.own.len();
            let arm = &arms[self.arms[b]..self.arms[b] + Self::WIDTH * n];
            for k in 0..Self::WIDTH {
                let f = f[Self::WIDTH * b + k];
                if f != 0.0 {
                    for (j, c) in arm[k * n..(k + 1) * n].iter().zip(&body.own) {
                        out[*c as usize] += j * f;
                    }
                }
            }
        }
    }

    /// Mass and the mass matrix of the columns of A of body b.
    fn mass(&self, b: usize, cx: &EvaluationContext) -> (f64, [[f64; 3]; 3]) {
        let mut inertia = [[0.0; 3]; 3];
        let turning = Self::WIDTH - W::DIMENSION;
        for k in 0..turning {
            let (mut unit, mut out) = ([0.0; N], [0.0; N]);
            unit[W::DIMENSION + k] = 1.0;
            (self.inner).body_mass_times(b, cx, &unit[..Self::WIDTH], &mut out[..Self::WIDTH]);
            for i in 0..turning {
                inertia[i][k] = out[W::DIMENSION + i];
            }
        }
        let m = self.inner.bodies[b].inertia().mass(cx);
        (m, W::shape(&inertia))
    }

    /// G of the inner system, the rows that are there only, into the work space.
    fn load_rows(&self, q: &[f64], g: &mut [f64]) {
        let poses = &mut W::poses(self.poses(q));
        for kept in &self.kept {
            let part = &self.inner.constraints[kept.part].part;
            part.jacobian(poses, &mut g[kept.slots.clone()]);
        }
    }

    /// f += Gᵀ λ over the bodies, of the rows that are there.
    fn add_rows(&self, g: &[f64], lambda: &[f64], f: &mut [f64]) {
        for kept in &self.kept {
            for slot in kept.slots.clone() {
                let (row, column) = self.inner.sparsity.jacobian[slot];
                f[column as usize] += g[slot] * lambda[row as usize];
            }
        }
    }

    /// The motion of the bodies. Rates are loaded.
    fn lifted<'a>(&self, work: &'a mut NaturalCache, at: &MotionPoint<'a>) -> MotionPoint<'a> {
        self.carry(&work.arms, at.a, &mut work.a);
        MotionPoint {
            q: self.poses(at.q),
            v: &work.v,
            a: &work.a,
            lambda: &at.lambda[..self.height],
        }
    }
}
