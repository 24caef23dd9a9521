//! S in joint coordinates, column by column. With Y, V, B, A of a coordinate (`columns`) and C, K of the bodies, K with the
//! multipliers of all rows, those of the tree included: these stand for the change of Jᵀ, since Jᵀ G_treeᵀ = 0 in every position.
//!
//! ```text
//!   S eⱼ = Jᵀ [ M (m Y + c B) + c C Y ] T⁻¹ eⱼ + k Jᵀ [ M A + C V + K Y ]         m, c, k the weights
//! ```

use super::columns::{Moving, Varied, of_group};
use super::link::Links;
use super::{Relative, Work as Whole};
use crate::formulation::absolute::Absolute;
use crate::formulation::{Context, Evaluated, System, Weights};
use crate::linalg::so3::{self, Mat3, Vec3};

/// Scratch.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// M times something, or forces: a tangent vector of bodies.
    pub inertia: Vec<f64>,
    damping: Vec<f64>,
    stiffness: Vec<f64>,
    a: Vec<f64>,
    moving: Vec<Moving>,
    /// Body k hangs on the branch in work.
    hangs: Vec<bool>,
    /// Y, V, B, A of up to six coordinates of one joint.
    four: [[Vec<f64>; 4]; 6],
    /// The two brackets of the equation.
    rate: [Vec<f64>; 6],
    place: Vec<f64>,
    column: Vec<f64>,
}

impl Work {
    pub fn new<W: Links<N>, const N: usize>(
        inner: &Absolute<W, N>,
        moved: usize,
        lifted: bool,
    ) -> Self {
        let size = inner.size();
        let wide = || vec![0.0; size.nv];
        if lifted {
            return Self {
                inertia: wide(),
                a: wide(),
                place: wide(),
                ..Self::default()
            };
        }
        let entries = inner.pattern.tangent.len();
        Self {
            inertia: wide(),
            damping: vec![0.0; entries],
            stiffness: vec![0.0; entries],
            a: wide(),
            moving: vec![W::moving(None, None, None); inner.bodies.len()],
            hangs: vec![false; inner.bodies.len()],
            four: std::array::from_fn(|_| std::array::from_fn(|_| wide())),
            rate: std::array::from_fn(|_| wide()),
            place: wide(),
            column: vec![0.0; moved],
        }
    }
}

impl<W: Links<N>, const N: usize> Relative<W, N> {
    /// Entries of S by rows. Rates are loaded.
    pub(super) fn stiffness(
        &self,
        cx: &Context,
        whole: &mut Whole,
        a: &[f64],
        lambda: &[f64],
        weights: &Weights,
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
                let one = Weights {
                    mass: 0.0,
                    damping,
                    stiffness,
                    theta: &[],
                };
                (self.inner).tangent(cx, q, v, &work.a, lambda, &one, values)?;
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
            self.subtree(at, &mut work.hangs);
            let parent = branch.parent.map_or(&rest, |p| &work.moving[p]);
            let child = &work.moving[branch.body];
            for i in 0..count {
                let own = &z[branch.stored.0..];
                let axis = W::axis(&branch.link, own, i, parent, child);
                let varied = Varied::new(&axis, &W::pivot(&branch.link), parent, child);
                let [y, on_v, on_rate, on_a] = &mut work.four[i];
                for (b, hangs) in work.hangs.iter().enumerate() {
                    let own = width * b..width * (b + 1);
                    let four = [
                        &mut y[own.clone()],
                        &mut on_v[own.clone()],
                        &mut on_rate[own.clone()],
                        &mut on_a[own],
                    ];
                    if *hangs {
                        varied.on::<W, N>(&work.moving[b], four);
                    } else {
                        for x in four {
                            x.fill(0.0);
                        }
                    }
                }
            }
            let group = if branch.on_group {
                let last = first + count - 3;
                if bent {
                    let four = &mut work.four[count - 3..count];
                    let rates = of_group(&z_dot[last..last + 3], &a[last..last + 3]);
                    bend(four, &rates);
                }
                Some(match weights.theta {
                    [] => Mat3::identity(),
                    theta => so3::tangent_inverse(&Vec3::from_column_slice(&theta[last..last + 3])),
                })
            } else {
                None
            };
            for i in 0..count {
                // M (m Y + c B) + c C Y
                let [y, _, on_rate, _] = &work.four[i];
                for (x, (y, b)) in work.place.iter_mut().zip(y.iter().zip(on_rate)) {
                    *x = m * y + c * b;
                }
                (self.inner).mass_times(cx, q, &work.place, &mut work.rate[i]);
                if c != 0.0 {
                    self.add_times(c, &work.damping, y, &mut work.rate[i]);
                }
            }
            for i in 0..count {
                let [y, on_v, _, on_a] = &work.four[i];
                if k != 0.0 {
                    // M A + C V + K Y
                    self.inner.mass_times(cx, q, on_a, &mut work.place);
                    self.add_times(1.0, &work.damping, on_v, &mut work.place);
                    self.add_times(1.0, &work.stiffness, y, &mut work.place);
                    for x in &mut work.place {
                        *x *= k;
                    }
                } else {
                    work.place.fill(0.0);
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
        }
        Ok(())
    }

    /// Entries of S at the level of bodies, with the multipliers of the tree. Rates are loaded.
    pub(super) fn stiffness_of_bodies(
        &self,
        cx: &Context,
        whole: &mut Whole,
        a: &[f64],
        lambda: &[f64],
        weights: &Weights,
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
        let of_bodies = Weights {
            theta: if weights.theta.is_empty() { &[] } else { theta },
            ..*weights
        };
        self.inner.tangent(cx, q, v, y, lambda, &of_bodies, out)
    }

    /// Which bodies hang on a branch.
    fn subtree(&self, at: usize, hangs: &mut [bool]) {
        for (k, branch) in self.tree.branches.iter().enumerate() {
            hangs[branch.body] = k == at || (k > at && branch.parent.is_some_and(|p| hangs[p]));
        }
    }

    /// out += factor (matrix of bodies) x
    fn add_times(&self, factor: f64, values: &[f64], x: &[f64], out: &mut [f64]) {
        for (&(i, j), value) in self.inner.pattern.tangent.iter().zip(values) {
            out[i as usize] += factor * value * x[j as usize];
        }
    }
}

/// out += factor x
fn add(factor: f64, x: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += factor * x;
    }
}

/// V −= Y ω~,  B −= Y ω~,  A −= Y α~ + B ω~ of the three coordinates of a rotation.
fn bend(four: &mut [[Vec<f64>; 4]], (omega, alpha): &(Mat3, Mat3)) {
    for at in 0..four[0][0].len() {
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
