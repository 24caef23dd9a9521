//! Natural coordinates: points and unit vectors, shared between the bodies of a joint (García de Jalón). The pose of a body is a linear
//! function of a few of them (`body_map`), so the mass matrix is constant and there are no velocity-dependent inertia forces:
//!
//! ```text
//!   M ẍ + Gᵀ λ = J(x)ᵀ f,      M = Σ Lᵀ diag(m, shape) L
//!   Φ = rigidity constraints (`rigidity`), and constraints of joints, motions and contacts that sharing does not satisfy
//! ```
//!
//! Joints, forces, events and quantities are those of absolute coordinates: poses follow from x, generalised forces from Jᵀ. The stored
//! coordinates are x followed by the poses, which `retract` updates with x, so that turns are counted and quaternions keep their sign.
//! The constraints are those of absolute coordinates in their order, with the shared ones empty and never active, followed by the
//! rigidity constraints.

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

/// A planar mechanism in natural coordinates.
pub type PlanarNatural = Natural<PlanarGeometry, 6>;
/// A spatial mechanism in natural coordinates.
pub type SpatialNatural = Natural<SpatialGeometry, 12>;

/// A mechanism in natural coordinates.
#[derive(Debug)]
pub struct Natural<W: BodyMap<N>, const N: usize> {
    inner: Absolute<W, N>,
    constraint_handling: ConstraintHandling,
    layout: NaturalLayout,
    size: Dimensions,
    /// Number of constraints of the inner system.
    height: usize,
    sparsity: Sparsity,
    /// Parts of the constraints that sharing does not satisfy.
    kept: Vec<NaturalTransfer>,
    /// Whether each constraint of the inner system is among them, and the indices 0, 1, .. of the inner constraints.
    live: Vec<bool>,
    numbers: Vec<usize>,
    blocks: Vec<TangentBlock>,
    /// Index of the first entry of J of each body in the cache.
    arms: Vec<usize>,
    work: Cached<NaturalCache>,
}

/// Constraints of a joint, motion or contact that are kept.
#[derive(Clone, Debug)]
struct NaturalTransfer {
    /// The part in the inner system, and its first constraint.
    part: usize,
    first: usize,
    rows: usize,
    /// Its entries in the Jacobian of the inner system.
    slots: std::ops::Range<usize>,
    /// Its bodies.
    bodies: Vec<usize>,
}

/// Results at the last configuration that was evaluated. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct NaturalCache {
    /// Stored coordinates (NaN: none yet) and velocities.
    q: Vec<f64>,
    x_dot: Vec<f64>,
    /// y of the bodies, and J by rows.
    y: Vec<f64>,
    arms: Vec<f64>,
    /// Velocities of the bodies.
    v: Vec<f64>,
    /// Scratch: vectors of body coordinates, entries of G.
    a: Vec<f64>,
    f: Vec<f64>,
    gradient: Vec<f64>,
    g: Vec<f64>,
    tangent: tangent::NaturalTangentWorkspace,
}

impl<W: BodyMap<N>, const N: usize> Natural<W, N> {
    const WIDTH: usize = N / 2;
    const Y: usize = height::<W, N>();

    /// Returns the numbers of points and vectors, and of rigidity constraints.
    pub fn counts(&self) -> (usize, usize) {
        (self.layout.items.len(), self.layout.rigid.len())
    }

    /// Returns the poses among the stored coordinates.
    #[inline]
    fn poses<'a>(&self, q: &'a [f64]) -> &'a [f64] {
        &q[self.size.nv..]
    }

    /// Returns the cache at q.
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

    /// Returns the cache at q with velocities v.
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

    /// Writes J of body b by rows, over its coordinates. The rotation part is linear in y, the translation part constant.
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

    /// Returns the mass of body b and the mass matrix of its columns of A.
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
        let m = self.inner.bodies[b].inertia.mass(cx);
        (m, W::shape(&inertia))
    }

    /// Writes G of the kept constraints of the inner system.
    fn load_rows(&self, cx: &EvaluationContext, q: &[f64], g: &mut [f64]) {
        let poses = &mut W::poses(self.poses(q));
        for kept in &self.kept {
            let part = &self.inner.constraints[kept.part].part;
            part.jacobian(cx, poses, &mut g[kept.slots.clone()]);
        }
    }

    /// f += Gᵀ λ of the kept constraints, over the bodies.
    fn add_rows(&self, g: &[f64], lambda: &[f64], f: &mut [f64]) {
        for kept in &self.kept {
            for slot in kept.slots.clone() {
                let (row, column) = self.inner.sparsity.jacobian[slot];
                f[column as usize] += g[slot] * lambda[row as usize];
            }
        }
    }

    /// Returns the motion of the bodies. The cache holds the velocities.
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
