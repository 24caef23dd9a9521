//! Recursions along the tree: motion of the bodies from that of the joints, generalised forces on the joints from forces on the bodies.
//!
//! ```text
//!   outwards   q_b(z),   v_b = J ż,   a_b = J z̈ + J̇ ż          v_c = X v_p + Σ cᵢ żᵢ
//!   inwards    Jᵀ f                                              τᵢ = cᵢ·f_c,   f_p += Xᵀ f_c
//!   inverse    x_b with Jᵀ x_b = r,   z with J z = y_b           by the duals of the columns
//! ```
//!
//! The cost is linear in the number of bodies. J at a configuration is stored as a list of numbers, its *geometry*, so that a
//! factorisation of an earlier configuration can keep it.

use super::joint_map::{BodyPair, JointMap};
use super::tree::Branch;

/// The branches of a tree with the layout of their coordinates.
#[derive(Clone, Debug)]
pub struct JointTree<W: JointMap<N>, const N: usize> {
    /// Parents first.
    pub branches: Vec<Branch<W::Link>>,
    /// Stored coordinates of the joints, without counted angles.
    pub stored: usize,
    /// Tangent coordinates.
    pub moved: usize,
}

impl<W: JointMap<N>, const N: usize> JointTree<W, N> {
    const WIDTH: usize = N / 2;

    /// Builds the layout from the branches.
    pub fn new(branches: Vec<Branch<W::Link>>) -> Self {
        let (stored, moved) = branches
            .last()
            .map_or((0, 0), |b| (b.stored.0 + b.stored.1, b.moved.0 + b.moved.1));
        Self {
            branches,
            stored,
            moved,
        }
    }

    /// Returns the number of tangent coordinates of all bodies.
    pub fn wide(&self) -> usize {
        Self::WIDTH * self.branches.len()
    }

    /// Returns the length of a geometry.
    pub fn geometry(&self) -> usize {
        W::ARM * self.branches.len() + 2 * Self::WIDTH * self.moved
    }

    /// Returns X, columns and duals of branch k in a geometry.
    fn parts<'a>(&self, k: usize, geometry: &'a [f64]) -> (&'a [f64], &'a [f64], &'a [f64]) {
        let (arms, rest) = geometry.split_at(W::ARM * self.branches.len());
        let (columns, duals) = rest.split_at(Self::WIDTH * self.moved);
        let (first, count) = self.branches[k].moved;
        let own = Self::WIDTH * first..Self::WIDTH * (first + count);
        (
            &arms[W::ARM * k..W::ARM * (k + 1)],
            &columns[own.clone()],
            &duals[own],
        )
    }

    /// Writes the poses of all bodies.
    pub fn place(&self, z: &[f64], q: &mut [f64]) {
        let mut own = [0.0; N];
        for branch in &self.branches {
            let z = &z[branch.stored.0..branch.stored.0 + branch.stored.1];
            let parent = branch.parent.map(|p| of_body::<W, N>(q, p));
            W::hang(&branch.link, z, parent, &mut own[..W::STORED]);
            let b = branch.body;
            q[W::STORED * b..W::STORED * (b + 1)].copy_from_slice(&own[..W::STORED]);
        }
    }

    /// Writes the joint coordinates of poses.
    pub fn read(&self, q: &[f64], z: &mut [f64]) {
        for branch in &self.branches {
            let at = self.pair(branch, q);
            let own = branch.stored.0..branch.stored.0 + branch.stored.1;
            W::read(&branch.link, at, &mut z[own]);
        }
    }

    /// Writes the geometry at z with the poses q.
    pub fn load(&self, z: &[f64], q: &[f64], geometry: &mut [f64]) {
        let (arms, rest) = geometry.split_at_mut(W::ARM * self.branches.len());
        let (columns, duals) = rest.split_at_mut(Self::WIDTH * self.moved);
        for (k, branch) in self.branches.iter().enumerate() {
            let (first, count) = branch.moved;
            let own = Self::WIDTH * first..Self::WIDTH * (first + count);
            W::arm(
                &branch.link,
                &z[branch.stored.0..],
                self.pair(branch, q),
                &mut arms[W::ARM * k..W::ARM * (k + 1)],
                &mut columns[own.clone()],
                &mut duals[own],
            );
        }
    }

    /// y = J z
    pub fn carry(&self, geometry: &[f64], z: &[f64], y: &mut [f64]) {
        self.outwards(geometry, z, None, y);
    }

    /// y = J z + accumulated biases: accelerations for z = z̈, and J̇ ż for z = 0.
    pub fn accelerate(&self, geometry: &[f64], z: &[f64], bias: &[f64], y: &mut [f64]) {
        self.outwards(geometry, z, Some(bias), y);
    }

    fn outwards(&self, geometry: &[f64], z: &[f64], bias: Option<&[f64]>, y: &mut [f64]) {
        let width = Self::WIDTH;
        let mut own = [0.0; N];
        for (k, branch) in self.branches.iter().enumerate() {
            let (arm, columns, _) = self.parts(k, geometry);
            let own = &mut own[..width];
            match branch.parent {
                Some(p) => W::carry(arm, &y[width * p..width * (p + 1)], own),
                None => own.fill(0.0),
            }
            for (z, column) in z[branch.moved.0..].iter().zip(columns.chunks_exact(width)) {
                for i in 0..width {
                    own[i] += z * column[i];
                }
            }
            let range = width * branch.body..width * (branch.body + 1);
            if let Some(bias) = bias {
                for (own, b) in own.iter_mut().zip(&bias[range.clone()]) {
                    *own += b;
                }
            }
            y[range].copy_from_slice(own);
        }
    }

    /// Writes the biases b of all bodies for the velocities v of bodies and ż of joints.
    pub fn bias(
        &self,
        (z, q, geometry): (&[f64], &[f64], &[f64]),
        z_dot: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) {
        let width = Self::WIDTH;
        for (k, branch) in self.branches.iter().enumerate() {
            let own = width * branch.body..width * (branch.body + 1);
            let (arm, columns, _) = self.parts(k, geometry);
            W::bias(
                &branch.link,
                &z[branch.stored.0..],
                &z_dot[branch.moved.0..],
                (self.pair(branch, q), arm, columns),
                branch.parent.map(|p| &v[width * p..width * (p + 1)]),
                &v[own.clone()],
                &mut out[own],
            );
        }
    }

    /// z = Jᵀ f. Leaves in `f` the sum over the subtree of each body.
    pub fn collect(&self, geometry: &[f64], f: &mut [f64], z: &mut [f64]) {
        for (k, branch) in self.branches.iter().enumerate().rev() {
            self.inwards(k, geometry, f, &mut z[branch.moved.0..]);
        }
    }

    /// One branch of z = Jᵀ f: writes the forces on its coordinates and adds Xᵀ f to the parent. Returns the number of coordinates.
    #[inline]
    pub fn inwards(&self, k: usize, geometry: &[f64], f: &mut [f64], z: &mut [f64]) -> usize {
        let width = Self::WIDTH;
        let branch = &self.branches[k];
        let (arm, columns, _) = self.parts(k, geometry);
        let mut own = [0.0; N];
        own[..width].copy_from_slice(&f[width * branch.body..width * (branch.body + 1)]);
        for (z, column) in z.iter_mut().zip(columns.chunks_exact(width)) {
            let mut sum = 0.0;
            for i in 0..width {
                sum += column[i] * own[i];
            }
            *z = sum;
        }
        if let Some(p) = branch.parent {
            W::carry_back(arm, &own[..width], &mut f[width * p..width * (p + 1)]);
        }
        branch.moved.1
    }

    /// As [`JointTree::inwards`], but returns Σ (z_i / c_i)² with c_i the displacement of the body by coordinate i, relative to
    /// `length`.
    pub fn scaled_force(&self, k: usize, geometry: &[f64], f: &mut [f64], length: f64) -> f64 {
        let mut z = [0.0; N];
        let count = self.inwards(k, geometry, f, &mut z);
        let (_, columns, _) = self.parts(k, geometry);
        (z[..count].iter())
            .zip(columns.chunks_exact(Self::WIDTH))
            .map(|(z, column)| {
                let (far, turned) = column.split_at(W::DIMENSION);
                let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
                z * z / (square(far) / (length * length) + square(turned))
            })
            .sum()
    }

    /// Adds the force on a body to its parent.
    pub fn hand_on(&self, k: usize, geometry: &[f64], f: &mut [f64]) {
        self.inwards(k, geometry, f, &mut []);
    }

    /// x with Jᵀ x = z: the force of each joint acts on its two bodies only.
    pub fn raise(&self, geometry: &[f64], z: &[f64], x: &mut [f64]) {
        let width = Self::WIDTH;
        x.fill(0.0);
        for (k, branch) in self.branches.iter().enumerate() {
            let (arm, _, duals) = self.parts(k, geometry);
            let mut own = [0.0; N];
            for (z, dual) in z[branch.moved.0..].iter().zip(duals.chunks_exact(width)) {
                for i in 0..width {
                    own[i] += z * dual[i];
                }
            }
            for i in 0..width {
                x[width * branch.body + i] += own[i];
                own[i] = -own[i];
            }
            if let Some(p) = branch.parent {
                W::carry_back(arm, &own[..width], &mut x[width * p..width * (p + 1)]);
            }
        }
    }

    /// z with J z = y.
    pub fn lower(&self, geometry: &[f64], y: &[f64], z: &mut [f64]) {
        let width = Self::WIDTH;
        let mut carried = [0.0; N];
        for (k, branch) in self.branches.iter().enumerate() {
            let (arm, _, duals) = self.parts(k, geometry);
            let carried = &mut carried[..width];
            match branch.parent {
                Some(p) => W::carry(arm, &y[width * p..width * (p + 1)], carried),
                None => carried.fill(0.0),
            }
            let own = &y[width * branch.body..width * (branch.body + 1)];
            for (z, dual) in z[branch.moved.0..]
                .iter_mut()
                .zip(duals.chunks_exact(width))
            {
                let mut sum = 0.0;
                for i in 0..width {
                    sum += dual[i] * (own[i] - carried[i]);
                }
                *z = sum;
            }
        }
    }

    fn pair<'a>(&self, branch: &Branch<W::Link>, q: &'a [f64]) -> BodyPair<'a> {
        BodyPair {
            parent: branch.parent.map(|p| of_body::<W, N>(q, p)),
            child: of_body::<W, N>(q, branch.body),
        }
    }
}

/// Returns the stored coordinates of a body.
fn of_body<W: JointMap<N>, const N: usize>(q: &[f64], b: usize) -> &[f64] {
    &q[W::STORED * b..W::STORED * (b + 1)]
}
