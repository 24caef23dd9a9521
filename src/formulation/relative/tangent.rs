//! S in joint coordinates, column by column. With Y, V, B, A of a coordinate (`columns`) and C, K of the bodies, K with the
//! multipliers of all rows, those of the tree included: these stand for the change of Jᵀ, since Jᵀ G_treeᵀ = 0 in every position.
//!
//! ```text
//!   S eⱼ = Jᵀ [ M (m Y + c B) + c C Y ] T⁻¹ eⱼ + k Jᵀ [ M A + C V + K Y ]         m, c, k the weights
//! ```

use super::jacobian::{BodyMotion, MotionVariation, of_group};
use super::joint_map::JointMap;
use super::{Relative, RelativeCache as Whole};
use crate::formulation::absolute::Absolute;
use crate::formulation::{Evaluated, EvaluationContext, MotionPoint, System, TangentWeights};
use crate::linalg::rotation::{self, Mat3, Vec3};

/// Scratch.
#[derive(Debug, Default)]
pub(super) struct RelativeTangentWorkspace {
    /// M times something, or forces: a tangent vector of bodies.
    pub inertia: Vec<f64>,
    damping: Vec<f64>,
    stiffness: Vec<f64>,
    a: Vec<f64>,
    moving: Vec<BodyMotion>,
    /// Body k hangs on the branch in work, and a list of those that do.
    hangs: Vec<bool>,
    below: Vec<usize>,
    /// Entries of C and K that are not zero: row, column, value.
    entries: [Vec<(u32, u32, f64)>; 2],
    /// Y, V, B, A of up to six coordinates of one joint; zero for bodies that do not hang on it.
    four: [[Vec<f64>; 4]; 6],
    /// The two brackets of the equation.
    rate: [Vec<f64>; 6],
    place: Vec<f64>,
    column: Vec<f64>,
}

impl RelativeTangentWorkspace {
    pub fn new<W: JointMap<N>, const N: usize>(
        inner: &Absolute<W, N>,
        moved: usize,
        lifted: bool,
    ) -> Self {
        let size = inner.dimensions();
        let wide = || vec![0.0; size.nv];
        if lifted {
            return Self {
                inertia: wide(),
                a: wide(),
                place: wide(),
                ..Self::default()
            };
        }
        let entries = inner.sparsity.tangent.len();
        Self {
            inertia: wide(),
            damping: vec![0.0; entries],
            stiffness: vec![0.0; entries],
            a: wide(),
            moving: vec![W::moving(None, None, None); inner.bodies.len()],
            hangs: vec![false; inner.bodies.len()],
            below: Vec::with_capacity(inner.bodies.len()),
            entries: std::array::from_fn(|_| Vec::with_capacity(entries)),
            four: std::array::from_fn(|_| std::array::from_fn(|_| wide())),
            rate: std::array::from_fn(|_| wide()),
            place: wide(),
            column: vec![0.0; moved],
        }
    }
}

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    /// Entries of S by rows. Rates are loaded.
    pub(super) fn stiffness(
        &self,
        cx: &EvaluationContext,
        whole: &mut Whole,
        a: &[f64],
        lambda: &[f64],
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let (m, c, k) = (weights.mass, weights.damping, weights.stiffness);
        let bent = c != 0.0 || k != 0.0;
        if bent {
            self.balance(cx, whole, a, lambda)?;
            let Whole {
                q,
                v,
                y,
                lambda,
                tangent: work,
                ..
            } = &mut *whole;
            work.a.copy_from_slice(y);
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
                (self.inner).tangent(
                    cx,
                    &MotionPoint {
                        q,
                        v,
                        a: &work.a,
                        lambda,
                    },
                    &one,
                    values,
                )?;
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
        } else {
            whole.tangent.a.fill(0.0);
        }
        let Whole {
            z,
            z_dot,
            q,
            v,
            geometry,
            tangent: work,
            ..
        } = whole;
        let (stored, width) = (W::STORED, N / 2);
        for b in 0..work.moving.len() {
            let own = width * b..width * (b + 1);
            work.moving[b] = W::moving(
                Some(&q[stored * b..stored * (b + 1)]),
                Some(&v[own.clone()]),
                Some(&work.a[own]),
            );
        }
        let rest = W::moving(None, None, None);
        let n = self.size.nv;
        for (at, branch) in self.tree.branches.iter().enumerate() {
            let (first, count) = branch.moved;
            if count == 0 {
                continue;
            }
            self.subtree(at, &mut work.hangs, &mut work.below);
            let parent = branch.parent.map_or(&rest, |p| &work.moving[p]);
            let child = &work.moving[branch.body];
            for i in 0..count {
                let own = &z[branch.stored.0..];
                let axis = W::axis(&branch.link, own, i, parent, child);
                let varied = MotionVariation::new(&axis, &W::pivot(&branch.link), parent, child);
                for &b in &work.below {
                    let own = width * b..width * (b + 1);
                    let four = (work.four[i].each_mut()).map(|x| &mut x[own.clone()]);
                    varied.on::<W, N>(&work.moving[b], four);
                }
            }
            let group = if branch.on_group {
                let last = first + count - 3;
                if bent {
                    let four = &mut work.four[count - 3..count];
                    let rates = of_group(&z_dot[last..last + 3], &a[last..last + 3]);
                    bend(four, &rates, &work.below, width);
                }
                Some(match weights.theta {
                    [] => Mat3::identity(),
                    theta => {
                        rotation::tangent_inverse(&Vec3::from_column_slice(&theta[last..last + 3]))
                    }
                })
            } else {
                None
            };
            let [damping, stiffness] = &work.entries;
            for i in 0..count {
                // M (m Y + c B) + c C Y
                let ([y, _, on_rate, _], rate) = (&work.four[i], &mut work.rate[i]);
                rate.fill(0.0);
                let mut moved = [0.0; N];
                for &b in &work.below {
                    let own = width * b..width * (b + 1);
                    for (x, k) in moved.iter_mut().zip(own.clone()) {
                        *x = m * y[k] + c * on_rate[k];
                    }
                    (self.inner).body_mass_times(b, cx, &moved[..width], &mut rate[own]);
                }
                if c != 0.0 {
                    add_times(c, damping, y, rate);
                }
            }
            for i in 0..count {
                let [y, on_v, _, on_a] = &work.four[i];
                work.place.fill(0.0);
                if k != 0.0 {
                    // M A + C V + K Y
                    for &b in &work.below {
                        let own = width * b..width * (b + 1);
                        (self.inner).body_mass_times(
                            b,
                            cx,
                            &on_a[own.clone()],
                            &mut work.place[own],
                        );
                    }
                    add_times(1.0, damping, on_v, &mut work.place);
                    add_times(1.0, stiffness, y, &mut work.place);
                    for x in &mut work.place {
                        *x *= k;
                    }
                }
                let turned = i + 3 - count.min(i + 3);
                match &group {
                    Some(t) if i + 3 >= count => {
                        for l in 0..3 {
                            add(t[(l, turned)], &work.rate[count - 3 + l], &mut work.place);
                        }
                    }
                    _ => add(1.0, &work.rate[i], &mut work.place),
                }
                (self.tree).collect(geometry, &mut work.place, &mut work.column);
                for row in 0..n {
                    out[row * n + first + i] = work.column[row];
                }
            }
            for x in work.four[..count].iter_mut().flatten() {
                for &b in &work.below {
                    x[width * b..width * (b + 1)].fill(0.0);
                }
            }
        }
        Ok(())
    }

    /// Entries of S at the level of bodies, with the multipliers of the tree. Rates are loaded.
    pub(super) fn stiffness_of_bodies(
        &self,
        cx: &EvaluationContext,
        whole: &mut Whole,
        a: &[f64],
        lambda: &[f64],
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        if weights.stiffness != 0.0 {
            self.balance(cx, whole, a, lambda)?;
        } else {
            // Rows that rub damp by their own multipliers.
            for (k, &row) in self.rows.iter().enumerate() {
                whole.lambda[row] = lambda[k];
            }
        }
        let Whole {
            q,
            v,
            y,
            lambda,
            tangent,
            ..
        } = whole;
        let theta = &mut tangent.place;
        theta.fill(0.0);
        if !weights.theta.is_empty() {
            // Only a rotation against the ground is that of its body.
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

    /// Which bodies hang on a branch.
    fn subtree(&self, at: usize, hangs: &mut [bool], below: &mut Vec<usize>) {
        below.clear();
        for (k, branch) in self.tree.branches.iter().enumerate() {
            let hanging = k == at || (k > at && branch.parent.is_some_and(|p| hangs[p]));
            hangs[branch.body] = hanging;
            if hanging {
                below.push(branch.body);
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
fn bend(four: &mut [[Vec<f64>; 4]], (omega, alpha): &(Mat3, Mat3), below: &[usize], width: usize) {
    for at in below.iter().flat_map(|b| width * b..width * (b + 1)) {
        let old = [0, 1, 2, 3].map(|kind| Vec3::from_fn(|i, _| four[i][kind][at]));
        let [y, v, rate, a] = old;
        let turned = omega.tr_mul(&y);
        let rate = rate - turned;
        let a = a - alpha.tr_mul(&y) - omega.tr_mul(&rate);
        let v = v - turned;
        for (kind, x) in [(1, v), (2, rate), (3, a)] {
            for i in 0..3 {
                four[i][kind][at] = x[i];
            }
        }
    }
}
