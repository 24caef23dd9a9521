//! The tangent matrix S in joint coordinates, column by column. With Y, V, B, A of a coordinate (`jacobian`) and C, K of the bodies, K
//! with the multipliers of all constraints. Those of the tree represent the change of Jᵀ, since Jᵀ G_treeᵀ = 0 in every configuration.
//!
//! ```text
//!   S eⱼ = Jᵀ [ M (m Y + c B) + c C Y ] T⁻¹ eⱼ + k Jᵀ [ M A + C V + K Y ]         m, c, k the weights
//! ```

use super::jacobian::{BodyMotion, MotionVariation, of_group};
use super::joint_map::JointMap;
use super::tree::Branch;
use super::{Relative, RelativeCache};
use crate::formulation::absolute::Absolute;
use crate::formulation::{Evaluated, EvaluationContext, MotionPoint, System, TangentWeights};
use crate::linalg::rotation::{self, Mat3, Vec3};

/// Scratch vectors of the tangent matrix.
#[derive(Debug, Default)]
pub(super) struct RelativeTangentWorkspace {
    /// Inertia forces or applied forces of the bodies.
    pub inertia: Vec<f64>,
    damping: Vec<f64>,
    stiffness: Vec<f64>,
    /// Accelerations and motions of the bodies.
    a: Vec<f64>,
    motions: Vec<BodyMotion>,
    /// Whether each body is in the subtree of the current branch, and the list of those that are.
    in_subtree: Vec<bool>,
    subtree: Vec<usize>,
    /// Nonzero entries of C and K of the bodies: row, column, value.
    entries: [Vec<(u32, u32, f64)>; 2],
    /// Y, V, B, A of up to six coordinates of one joint; zero for bodies outside its subtree.
    variations: [[Vec<f64>; 4]; 6],
    /// First and second bracket of the equation.
    velocity: [Vec<f64>; 6],
    position: Vec<f64>,
    column: Vec<f64>,
}

impl RelativeTangentWorkspace {
    pub fn new<W: JointMap<N>, const N: usize>(
        inner: &Absolute<W, N>,
        moved: usize,
        in_bodies: bool,
    ) -> Self {
        let size = inner.dimensions();
        let wide = || vec![0.0; size.nv];
        if in_bodies {
            return Self {
                inertia: wide(),
                a: wide(),
                position: wide(),
                ..Self::default()
            };
        }
        let entries = inner.sparsity.tangent.len();
        Self {
            inertia: wide(),
            damping: vec![0.0; entries],
            stiffness: vec![0.0; entries],
            a: wide(),
            motions: vec![W::moving(None, None, None); inner.bodies.len()],
            in_subtree: vec![false; inner.bodies.len()],
            subtree: Vec::with_capacity(inner.bodies.len()),
            entries: std::array::from_fn(|_| Vec::with_capacity(entries)),
            variations: std::array::from_fn(|_| std::array::from_fn(|_| wide())),
            velocity: std::array::from_fn(|_| wide()),
            position: wide(),
            column: vec![0.0; moved],
        }
    }
}

impl RelativeTangentWorkspace {
    /// Writes Y, V, B, A of the coordinates of a branch for the bodies of its subtree.
    fn vary_branch<W: JointMap<N>, const N: usize>(&mut self, branch: &Branch<W::Link>, z: &[f64]) {
        let ground = W::moving(None, None, None);
        let parent = branch.parent.map_or(&ground, |p| &self.motions[p]);
        let child = &self.motions[branch.body];
        for i in 0..branch.moved.1 {
            let axis = W::axis(&branch.link, &z[branch.stored.0..], i, parent, child);
            let variation = MotionVariation::new(&axis, &W::pivot(&branch.link), parent, child);
            for &b in &self.subtree {
                let own = N / 2 * b..N / 2 * (b + 1);
                let columns = (self.variations[i].each_mut()).map(|x| &mut x[own.clone()]);
                variation.on::<W, N>(&self.motions[b], columns);
            }
        }
    }

    /// Sets Y, V, B, A of a branch back to zero.
    fn clear_variations(&mut self, count: usize, width: usize) {
        for x in self.variations[..count].iter_mut().flatten() {
            for &b in &self.subtree {
                x[width * b..width * (b + 1)].fill(0.0);
            }
        }
    }
}

/// Loads the motions of the bodies from the cache.
fn load_body_motions<W: JointMap<N>, const N: usize>(cache: &mut RelativeCache) {
    let RelativeCache {
        q,
        v,
        tangent: work,
        ..
    } = cache;
    let (stored, width) = (W::STORED, N / 2);
    for b in 0..work.motions.len() {
        let own = width * b..width * (b + 1);
        work.motions[b] = W::moving(
            Some(&q[stored * b..stored * (b + 1)]),
            Some(&v[own.clone()]),
            Some(&work.a[own]),
        );
    }
}

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    /// Writes the entries of S in joint coordinates, by rows. The cache holds the velocities.
    pub(super) fn joint_tangent(
        &self,
        cx: &EvaluationContext,
        cache: &mut RelativeCache,
        (a, lambda): (&[f64], &[f64]),
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let needs_matrices = weights.damping != 0.0 || weights.stiffness != 0.0;
        if needs_matrices {
            self.load_body_matrices(cx, cache, a, lambda)?;
        } else {
            cache.tangent.a.fill(0.0);
        }
        load_body_motions::<W, N>(cache);
        let RelativeCache {
            q,
            z,
            z_dot,
            geometry,
            tangent: work,
            ..
        } = cache;
        for (k, branch) in self.tree.branches.iter().enumerate() {
            let (first, count) = branch.moved;
            if count == 0 {
                continue;
            }
            self.subtree(k, &mut work.in_subtree, &mut work.subtree);
            work.vary_branch::<W, N>(branch, z);
            let rotation_first = (first + count).saturating_sub(3);
            let rotation = rotation_first..rotation_first + 3;
            if branch.on_group && needs_matrices {
                let rates = of_group(&z_dot[rotation.clone()], &a[rotation.clone()]);
                let columns = &mut work.variations[count - 3..count];
                add_group_terms(columns, &rates, &work.subtree, N / 2);
            }
            let tangent_inverse = branch.on_group.then(|| match weights.theta {
                [] => Mat3::identity(),
                theta => rotation::tangent_inverse(&Vec3::from_column_slice(&theta[rotation])),
            });
            self.velocity_columns((cx, q), count, weights, work);
            for i in 0..count {
                self.position_column((cx, q), i, weights.stiffness, work);
                match &tangent_inverse {
                    Some(t) if i + 3 >= count => {
                        for l in 0..3 {
                            let factor = t[(l, i + 3 - count)];
                            add(factor, &work.velocity[count - 3 + l], &mut work.position);
                        }
                    }
                    _ => add(1.0, &work.velocity[i], &mut work.position),
                }
                (self.tree).collect(geometry, &mut work.position, &mut work.column);
                let n = self.size.nv;
                for row in 0..n {
                    out[row * n + first + i] = work.column[row];
                }
            }
            work.clear_variations(count, N / 2);
        }
        Ok(())
    }

    /// Loads the accelerations of the bodies and the nonzero entries of their C and K.
    fn load_body_matrices(
        &self,
        cx: &EvaluationContext,
        cache: &mut RelativeCache,
        a: &[f64],
        lambda: &[f64],
    ) -> Evaluated {
        self.balance(cx, cache, a, lambda)?;
        let RelativeCache {
            q,
            v,
            y,
            lambda,
            tangent: work,
            ..
        } = cache;
        work.a.copy_from_slice(y);
        let at = MotionPoint {
            q,
            v,
            a: &work.a,
            lambda,
        };
        for (damping, stiffness, values) in [
            (1.0, 0.0, &mut work.damping),
            (0.0, 1.0, &mut work.stiffness),
        ] {
            let weights = TangentWeights {
                mass: 0.0,
                damping,
                stiffness,
                theta: &[],
            };
            self.inner.tangent(cx, &at, &weights, values)?;
        }
        let places = &self.inner.sparsity.tangent;
        let values = [&work.damping, &work.stiffness];
        for (entries, values) in work.entries.iter_mut().zip(values) {
            entries.clear();
            entries.extend(
                (places.iter().zip(values))
                    .filter(|(_, value)| **value != 0.0)
                    .map(|(&(i, j), &value)| (i, j, value)),
            );
        }
        Ok(())
    }

    /// M (m Y + c B) + c C Y of the coordinates of one joint.
    fn velocity_columns(
        &self,
        (cx, q): (&EvaluationContext, &[f64]),
        count: usize,
        weights: &TangentWeights,
        work: &mut RelativeTangentWorkspace,
    ) {
        let (m, c, width) = (weights.mass, weights.damping, N / 2);
        for i in 0..count {
            let ([y, _, b_column, _], out) = (&work.variations[i], &mut work.velocity[i]);
            out.fill(0.0);
            let mut sum = [0.0; N];
            for &b in &work.subtree {
                let own = width * b..width * (b + 1);
                for (x, k) in sum.iter_mut().zip(own.clone()) {
                    *x = m * y[k] + c * b_column[k];
                }
                (self.inner).body_mass_times(b, cx, &sum[..width], &mut out[own]);
            }
            (self.inner).add_armature_times(q, &[(m, y), (c, b_column)], out);
            if c != 0.0 {
                add_times(c, &work.entries[0], y, out);
            }
        }
    }

    /// k (M A + C V + K Y) of coordinate `i` of one joint.
    fn position_column(
        &self,
        (cx, q): (&EvaluationContext, &[f64]),
        i: usize,
        k: f64,
        work: &mut RelativeTangentWorkspace,
    ) {
        let [y, v_column, _, a_column] = &work.variations[i];
        let [damping, stiffness] = &work.entries;
        let out = &mut work.position;
        out.fill(0.0);
        if k == 0.0 {
            return;
        }
        for &b in &work.subtree {
            let own = N / 2 * b..N / 2 * (b + 1);
            (self.inner).body_mass_times(b, cx, &a_column[own.clone()], &mut out[own]);
        }
        (self.inner).add_armature_times(q, &[(1.0, a_column)], out);
        add_times(1.0, damping, v_column, out);
        add_times(1.0, stiffness, y, out);
        for x in out {
            *x *= k;
        }
    }

    /// Writes the entries of S_b in body coordinates, with the multipliers of the tree. The cache holds the velocities.
    pub(super) fn body_tangent(
        &self,
        cx: &EvaluationContext,
        cache: &mut RelativeCache,
        (a, lambda): (&[f64], &[f64]),
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        if weights.stiffness != 0.0 {
            self.balance(cx, cache, a, lambda)?;
        } else {
            // The damping of constraint friction needs the multipliers of the closure constraints.
            for (k, &row) in self.rows.iter().enumerate() {
                cache.lambda[row] = lambda[k];
            }
        }
        let RelativeCache {
            q,
            v,
            y,
            lambda,
            tangent,
            ..
        } = cache;
        let theta = &mut tangent.position;
        theta.fill(0.0);
        if !weights.theta.is_empty() {
            // Only the rotation of a joint to the ground is that of its body.
            for branch in self.tree.branches.iter().filter(|b| b.parent.is_none()) {
                if branch.on_group {
                    let from = branch.moved.0 + branch.moved.1 - 3;
                    let to = (N / 2) * (branch.body + 1) - 3;
                    theta[to..to + 3].copy_from_slice(&weights.theta[from..from + 3]);
                }
            }
        }
        let of_bodies = TangentWeights {
            theta: if weights.theta.is_empty() { &[] } else { theta },
            ..*weights
        };
        self.inner
            .tangent(cx, &MotionPoint { q, v, a: y, lambda }, &of_bodies, out)
    }

    /// Returns which bodies are in the subtree of a branch.
    fn subtree(&self, root: usize, in_subtree: &mut [bool], bodies: &mut Vec<usize>) {
        bodies.clear();
        for (k, branch) in self.tree.branches.iter().enumerate() {
            let inside = k == root || (k > root && branch.parent.is_some_and(|p| in_subtree[p]));
            in_subtree[branch.body] = inside;
            if inside {
                bodies.push(branch.body);
            }
        }
    }
}

/// out += factor (matrix by its entries) x
fn add_times(factor: f64, entries: &[(u32, u32, f64)], x: &[f64], out: &mut [f64]) {
    for &(i, j, value) in entries {
        out[i as usize] += factor * value * x[j as usize];
    }
}

/// out += factor x
fn add(factor: f64, x: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += factor * x;
    }
}

/// V −= Y ω~,  B −= Y ω~,  A −= Y α~ + B ω~ of the three coordinates of a rotation.
fn add_group_terms(
    columns: &mut [[Vec<f64>; 4]],
    (omega, alpha): &(Mat3, Mat3),
    subtree: &[usize],
    width: usize,
) {
    for at in subtree.iter().flat_map(|b| width * b..width * (b + 1)) {
        let old = [0, 1, 2, 3].map(|kind| Vec3::from_fn(|i, _| columns[i][kind][at]));
        let [y, v, rate, a] = old;
        let y_omega = omega.tr_mul(&y);
        let rate = rate - y_omega;
        let a = a - alpha.tr_mul(&y) - omega.tr_mul(&rate);
        let v = v - y_omega;
        for (kind, x) in [(1, v), (2, rate), (3, a)] {
            for i in 0..3 {
                columns[i][kind][at] = x[i];
            }
        }
    }
}
