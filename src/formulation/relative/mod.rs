//! Relative coordinates: every body by how it hangs on its parent in a tree of joints. The equations are those of absolute
//! coordinates pulled back along the tree, so that every joint, force, event and quantity is written once, at the level of bodies:
//!
//! ```text
//!   q_b = q_b(z),    v_b = J ż,    a_b = J z̈ + J̇ ż
//!   Jᵀ M J z̈ + (G J)ᵀ λ = Jᵀ ( f − M J̇ ż ),      Φ(q_b(z), t) = 0      rows of the joints that are cut, of motions, of contacts
//! ```
//!
//! Rows of the tree joints hold by construction; their multipliers follow from the balance of the bodies (`reaction`).
//! Coordinates are those of the joints in the order of the tree, balls and free bodies on the group; behind them, in space, the
//! counted angles of joints as in absolute coordinates.

pub mod closure;
mod descriptor_form;
pub mod jacobian;
pub mod joint_map;
mod planar;
mod quantity;
pub mod recursion;
mod spatial;
mod tangent;
#[cfg(test)]
pub(crate) mod tests;
pub mod tree;
mod tree_reactions;

use std::sync::Arc;

use super::absolute::constraint::ConstraintPart;
use super::absolute::geometry::RelativeCoordinate as _;
use super::absolute::planar::PlanarGeometry;
use super::absolute::sparsity::gather;
use super::absolute::spatial::SpatialGeometry;
use super::absolute::{Absolute, NamedConstraint};
use super::selection::constraint_handling;
use super::{
    ConfigurationSpace, ConstraintHandling, Crossing, DescriptorForm, Dimensions, Energy,
    Evaluated, EvaluationContext, EventEffect, FullConstraintSet, HybridSystem, MotionPoint, Power,
    Properties, Sparsity, System, TangentWeights, TangentialFriction,
};
use crate::error::Result;
use crate::formulation::cache::{CacheGuard, Cached};
use crate::linalg::rotation::{self, Vec3};
use crate::model::{JointKind, Model};
use joint_map::JointMap;
use recursion::JointTree;
use tree::CutJoints;

/// A mechanism of the plane in relative coordinates.
pub type PlanarRelative = Relative<PlanarGeometry, 6>;
/// A mechanism of space in relative coordinates.
pub type SpatialRelative = Relative<SpatialGeometry, 12>;

/// A mechanism in relative coordinates.
#[derive(Debug)]
pub struct Relative<W: JointMap<N>, const N: usize> {
    inner: Absolute<W, N>,
    constraint_handling: ConstraintHandling,
    size: Dimensions,
    tree: Arc<JointTree<W, N>>,
    /// Matrices are written at the level of bodies.
    raised: Option<Arc<descriptor_form::BodyDescriptorForm<W, N>>>,
    /// The joint rows of each branch, for their multipliers.
    held: Vec<tree_reactions::TreeReactions>,
    /// Parts whose rows the tree does not hold by itself.
    closures: Vec<ClosureConstraint>,
    /// The row in absolute coordinates of each constraint row.
    rows: Vec<usize>,
    pattern: Sparsity,
    names: Vec<String>,
    cut: Vec<String>,
    work: Arc<Cached<RelativeCache>>,
}

/// A part of the rows that close loops.
#[derive(Clone, Debug)]
struct ClosureConstraint {
    /// The part in absolute coordinates, and its first row there.
    part: usize,
    inner: usize,
    /// Its own rows.
    rows: std::ops::Range<usize>,
    /// Its entries in the Jacobian of absolute coordinates.
    slots: std::ops::Range<usize>,
    /// Branches that move it, children before their parents.
    path: Vec<usize>,
}

/// Everything at the last point that was looked at. One instance owns its system: the lock is never waited for.
#[derive(Debug, Default)]
struct RelativeCache {
    /// The point: stored coordinates (NaN: none yet), and rates.
    z: Vec<f64>,
    z_dot: Vec<f64>,
    /// Poses with counted angles, and what J is made of.
    q: Vec<f64>,
    geometry: Vec<f64>,
    /// Rates of bodies, and b.
    v: Vec<f64>,
    bias: Vec<f64>,
    /// Scratch: poses of another point, tangent vectors of bodies and of joints, rows, entries of G.
    other: Vec<f64>,
    x: Vec<f64>,
    y: Vec<f64>,
    joints: Vec<f64>,
    lambda: Vec<f64>,
    g: Vec<f64>,
    gradient: Vec<f64>,
    active: Vec<bool>,
    tangent: tangent::RelativeTangentWorkspace,
}

/// Joint coordinates and closing rows, in the plane and in space, above which matrices are written at the level of bodies. Full
/// ones are exact, so that steps may be long where a mechanism spins fast; here they cost twice as much or more (docs/performance.md).
const LARGE: [usize; 2] = [24, 48];

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    const WIDTH: usize = N / 2;

    /// The equations of a model of this dimension.
    pub fn new(model: &Model) -> Result<Self> {
        Self::with_cuts(model, &[])
    }

    /// The same with joints, by name, that are to be cut.
    pub fn with_cuts(model: &Model, cuts: CutJoints) -> Result<Self> {
        Self::with(model, cuts, None)
    }

    /// The same, with matrices at the level of bodies (linear cost) or in joint coordinates (exact, small) if it is said.
    pub fn with(model: &Model, cuts: CutJoints, lifted: Option<bool>) -> Result<Self> {
        let inner = Absolute::<W, N>::new(model)?;
        let tree = Arc::new(JointTree::new(tree::grow::<W, N>(
            model,
            &inner.initial.0,
            cuts,
        )?));
        let mut in_tree = vec![false; inner.constraints.len()];
        for joint in tree.branches.iter().filter_map(|b| b.joint) {
            in_tree[inner.joints[joint].constraints.clone()].fill(true);
        }
        let mut branch_of = vec![0; inner.bodies.len()];
        for (k, branch) in tree.branches.iter().enumerate() {
            branch_of[branch.body] = k;
        }
        let held = (tree.branches.iter())
            .map(|branch| tree_reactions::TreeReactions::new(&inner, branch))
            .collect();

        let (mut closures, mut rows, mut pattern) = (Vec::new(), Vec::new(), Sparsity::default());
        let mut slot = 0;
        let mut closing = Vec::new();
        for (k, (owned, in_tree)) in inner.constraints.iter().zip(&in_tree).enumerate() {
            let part = &owned.part;
            let mut bodies: Vec<usize> = Vec::new();
            let from = slot;
            part.sparsity(&mut |_, column| {
                slot += 1;
                if !bodies.contains(&(column / Self::WIDTH)) {
                    bodies.push(column / Self::WIDTH);
                }
            });
            if *in_tree {
                continue;
            }
            closing.push((k, from..slot, bodies));
        }
        let count: usize = (closing
            .iter()
            .map(|(k, ..)| inner.constraints[*k].part.count()))
        .sum();
        let lifted = lifted.unwrap_or(tree.moved + count > LARGE[W::DIMENSION - 2]);
        for (k, slots, bodies) in closing {
            let NamedConstraint { part, first, .. } = &inner.constraints[k];
            // Paths are needed only where G is written in joint coordinates.
            let path = match lifted {
                true => Vec::new(),
                false => path(&tree, &branch_of, &bodies, relative(part)),
            };
            for i in 0..part.count() {
                for &k in &path {
                    let (at, count) = tree.branches[k].moved;
                    let row = (rows.len() + i) as u32;
                    (pattern.jacobian).extend((at..at + count).map(|j| (row, j as u32)));
                }
            }
            closures.push(ClosureConstraint {
                part: k,
                inner: *first,
                rows: rows.len()..rows.len() + part.count(),
                slots,
                path,
            });
            rows.extend(*first..*first + part.count());
        }
        // M couples a joint with all between it and the ground; forces may couple any two.
        let joints = 0..if lifted { 0 } else { tree.moved as u32 };
        pattern.tangent = (joints.clone())
            .flat_map(|i| joints.clone().map(move |j| (i, j)))
            .collect();

        let inner_size = System::dimensions(&inner);
        let size = Dimensions {
            nq: tree.stored + inner.counted_angles.len(),
            nv: tree.moved,
            nc: rows.len(),
            ..inner_size
        };
        let work = RelativeCache {
            z: vec![f64::NAN; size.nq],
            z_dot: vec![f64::NAN; size.nv],
            q: vec![0.0; inner_size.nq],
            geometry: vec![0.0; tree.geometry()],
            v: vec![0.0; inner_size.nv],
            bias: vec![0.0; inner_size.nv],
            other: vec![0.0; inner_size.nq],
            x: vec![0.0; inner_size.nv],
            y: vec![0.0; inner_size.nv],
            joints: vec![0.0; size.nv],
            lambda: vec![0.0; inner_size.nc],
            g: vec![0.0; inner.sparsity.jacobian.len()],
            gradient: vec![0.0; inner_size.nv],
            active: vec![true; inner_size.nc],
            tangent: tangent::RelativeTangentWorkspace::new(&inner, size.nv, lifted),
        };
        let work = Arc::new(Cached::new(work));
        let raised = lifted.then(|| {
            Arc::new(descriptor_form::BodyDescriptorForm {
                tree: tree.clone(),
                work: work.clone(),
                size: inner_size,
                pattern: inner.sparsity.clone(),
                rows: rows.iter().map(|row| *row as u32).collect(),
            })
        });
        Ok(Self {
            constraint_handling: constraint_handling(&model.solver),
            names: names(model, &tree),
            cut: cut(model, &tree),
            inner,
            size,
            tree,
            raised,
            held,
            closures,
            rows,
            pattern,
            work,
        })
    }

    /// Names of the joints that are cut, in the order of the model.
    pub fn cut(&self) -> Vec<String> {
        self.cut.clone()
    }

    /// The work space at z.
    fn at(&self, z: &[f64]) -> CacheGuard<'_, RelativeCache> {
        at(&self.tree, &self.work, z)
    }

    /// The same with rates.
    fn moving(&self, z: &[f64], z_dot: &[f64]) -> CacheGuard<'_, RelativeCache> {
        let mut guard = self.at(z);
        let work = &mut *guard;
        if work.z_dot != z_dot {
            work.z_dot.copy_from_slice(z_dot);
            self.tree.carry(&work.geometry, z_dot, &mut work.v);
            let at = (z, &work.q[..], &work.geometry[..]);
            self.tree.bias(at, z_dot, &work.v, &mut work.bias);
        }
        guard
    }

    /// Calls `on` with every part that closes a loop and the places of its rows and of its entries of G.
    fn each_closure(&self, mut on: impl FnMut(&ConstraintPart<W, N>, &ClosureConstraint)) {
        for closure in &self.closures {
            on(&self.inner.constraints[closure.part].part, closure);
        }
    }

    /// Branches whose last three coordinates are a rotation: first stored and first tangent coordinate of it.
    fn rotations(&self) -> impl Iterator<Item = (usize, usize)> {
        (self.tree.branches.iter())
            .filter(|b| b.on_group)
            .map(|b| (b.stored.0 + b.stored.1 - 4, b.moved.0 + b.moved.1 - 3))
    }

    /// Calls `on` with the ranges of stored and tangent coordinates that simply add.
    fn vectors(&self, mut on: impl FnMut(usize, usize, usize)) {
        for branch in &self.tree.branches {
            let count = branch.moved.1 - if branch.on_group { 3 } else { 0 };
            on(branch.stored.0, branch.moved.0, count);
        }
    }

    /// G of absolute coordinates, the rows of the closures only, into the work space.
    fn load_closures(&self, work: &mut RelativeCache) {
        let poses = &mut W::poses(&work.q);
        let g = &mut work.g;
        self.each_closure(|part, closure| {
            part.jacobian(poses, &mut g[closure.slots.clone()]);
        });
    }

    /// Writes the entries of G J in the order of the pattern. `work` holds G of absolute coordinates.
    fn pull_back(&self, work: &mut RelativeCache, out: &mut [f64]) {
        let mut at = 0;
        for closure in &self.closures {
            for i in 0..closure.rows.len() {
                let row = closure.inner + i;
                for &k in &closure.path {
                    let b = self.tree.branches[k].body;
                    work.x[Self::WIDTH * b..Self::WIDTH * (b + 1)].fill(0.0);
                }
                for slot in closure.slots.clone() {
                    let (r, column) = self.inner.sparsity.jacobian[slot];
                    if r as usize == row {
                        work.x[column as usize] += work.g[slot];
                    }
                }
                for &k in &closure.path {
                    at += self
                        .tree
                        .inwards(k, &work.geometry, &mut work.x, &mut out[at..]);
                }
            }
        }
    }
}

/// The work space at z.
fn at<'a, W: JointMap<N>, const N: usize>(
    tree: &JointTree<W, N>,
    work: &'a Cached<RelativeCache>,
    z: &[f64],
) -> CacheGuard<'a, RelativeCache> {
    let mut guard = work.lock();
    let work = &mut *guard;
    if work.z != z {
        work.z.copy_from_slice(z);
        tree.place(z, &mut work.q);
        let counted = W::STORED * tree.branches.len();
        work.q[counted..].copy_from_slice(&z[tree.stored..]);
        tree.load(z, &work.q, &mut work.geometry);
        work.z_dot.fill(f64::NAN);
    }
    guard
}

/// Whether rows do not change when both of their bodies move as one.
fn relative<W: JointMap<N>, const N: usize>(part: &ConstraintPart<W, N>) -> bool {
    matches!(
        part,
        ConstraintPart::Coincidence(_) | ConstraintPart::Prescribed(_)
    )
}

/// The branches that move any of these bodies, children first; without those that move all of them where `relative`.
fn path<W: JointMap<N>, const N: usize>(
    tree: &JointTree<W, N>,
    branch_of: &[usize],
    bodies: &[usize],
    relative: bool,
) -> Vec<usize> {
    let mut seen = std::collections::BTreeMap::new();
    for &b in bodies {
        let mut body = Some(b);
        while let Some(b) = body {
            *seen.entry(branch_of[b]).or_insert(0usize) += 1;
            body = tree.branches[branch_of[b]].parent;
        }
    }
    let common = if relative && bodies.len() > 1 {
        bodies.len()
    } else {
        usize::MAX
    };
    (seen.into_iter().rev())
        .filter(|(_, count)| *count < common)
        .map(|(k, _)| k)
        .collect()
}

/// Names of the joints that are not in the tree.
fn cut<W: JointMap<N>, const N: usize>(model: &Model, tree: &JointTree<W, N>) -> Vec<String> {
    let mut in_tree = vec![false; model.joints.len()];
    for joint in tree.branches.iter().filter_map(|b| b.joint) {
        in_tree[joint] = true;
    }
    (model.joints.iter().zip(in_tree))
        .filter(|(joint, in_tree)| !in_tree && joint.kind != JointKind::Coupling)
        .map(|(joint, _)| joint.name.clone())
        .collect()
}

/// What a user calls the coordinates.
fn names<W: JointMap<N>, const N: usize>(model: &Model, tree: &JointTree<W, N>) -> Vec<String> {
    let mut names = Vec::with_capacity(tree.moved);
    for branch in &tree.branches {
        let count = branch.moved.1;
        match branch.joint {
            Some(k) if count == 1 => names.push(format!("{}.position", model.joints[k].name)),
            Some(k) => {
                let name = &model.joints[k].name;
                names.extend((1..=count).map(|i| format!("{name}.position{i}")));
            }
            None => {
                let fields: &[&str] = match W::DIMENSION {
                    2 => &["x", "y", "angle"],
                    _ => &["x", "y", "z", "wx", "wy", "wz"],
                };
                let name = &model.bodies[branch.body].name;
                names.extend(fields.iter().map(|field| format!("{name}.{field}")));
            }
        }
    }
    names
}

impl<W: JointMap<N>, const N: usize> System for Relative<W, N> {
    fn dimensions(&self) -> Dimensions {
        self.size
    }

    fn properties(&self) -> Properties {
        Properties {
            rotations: self.tree.branches.iter().any(|b| b.on_group),
            // J̇ ż
            velocity_forces: true,
            constraint_handling: self.constraint_handling,
            ..self.inner.properties()
        }
    }

    fn sparsity(&self) -> Sparsity {
        match &self.raised {
            None => self.pattern.clone(),
            Some(raised) => raised.pattern.clone(),
        }
    }

    fn descriptor_form(&self) -> Option<Arc<dyn DescriptorForm>> {
        let raised = self.raised.clone()?;
        Some(raised)
    }

    fn characteristic_length(&self, i: usize) -> f64 {
        match self.raised {
            Some(_) => self.inner.characteristic_length(i),
            None => 1.0,
        }
    }

    fn full_constraints(&self) -> Option<&dyn FullConstraintSet> {
        Some(self)
    }

    fn mass_times(&self, cx: &EvaluationContext, q: &[f64], a: &[f64], out: &mut [f64]) {
        let work = &mut *self.at(q);
        self.tree.carry(&work.geometry, a, &mut work.y);
        self.inner.mass_times(cx, &work.q, &work.y, &mut work.x);
        self.tree.collect(&work.geometry, &mut work.x, out);
    }

    /// Jᵀ (f − M J̇ ż)
    fn force(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], out: &mut [f64]) -> Evaluated {
        let work = &mut *self.moving(q, v);
        work.joints.fill(0.0);
        (self.tree).accelerate(&work.geometry, &work.joints, &work.bias, &mut work.y);
        let inertia = &mut work.tangent.inertia;
        self.inner.mass_times(cx, &work.q, &work.y, inertia);
        self.inner.force(cx, &work.q, &work.v, &mut work.x)?;
        for (x, inertia) in work.x.iter_mut().zip(inertia) {
            *x -= *inertia;
        }
        self.tree.collect(&work.geometry, &mut work.x, out);
        Ok(())
    }

    /// Jᵀ of what rubs at the bodies.
    fn constraint_friction(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        lambda: &[f64],
        out: &mut [f64],
    ) {
        let work = &mut *self.moving(q, v);
        for (k, &row) in self.rows.iter().enumerate() {
            work.lambda[row] = lambda[k];
        }
        work.x.fill(0.0);
        (self.inner).constraint_friction(cx, &work.q, &work.v, &work.lambda, &mut work.x);
        (self.tree).collect(&work.geometry, &mut work.x, &mut work.joints);
        for (out, own) in out.iter_mut().zip(&work.joints) {
            *out += own;
        }
    }

    fn tangent(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        weights: &TangentWeights,
        out: &mut [f64],
    ) -> Evaluated {
        let MotionPoint { q, v, a, lambda } = *at;
        let work = &mut *self.moving(q, v);
        match self.raised {
            None => self.stiffness(cx, work, a, lambda, weights, out),
            Some(_) => self.stiffness_of_bodies(cx, work, a, lambda, weights, out),
        }
    }

    fn constraint(&self, cx: &EvaluationContext, q: &[f64], phi: &mut [f64]) {
        let work = &mut *self.at(q);
        let poses = &mut W::poses(&work.q);
        self.each_closure(|part, closure| {
            part.constraint(cx, poses, &mut phi[closure.rows.clone()]);
        });
    }

    fn jacobian(&self, cx: &EvaluationContext, q: &[f64], out: &mut [f64]) {
        let work = &mut *self.at(q);
        if self.raised.is_some() {
            return self.inner.jacobian(cx, &work.q, out);
        }
        self.load_closures(work);
        self.pull_back(work, out);
    }

    fn constraint_rate(&self, cx: &EvaluationContext, _q: &[f64], phi_t: &mut [f64]) {
        self.each_closure(|part, closure| {
            part.constraint_rate(cx, &mut phi_t[closure.rows.clone()])
        });
    }

    /// γ of the bodies + G J̇ ż
    fn constraint_acceleration_bias(
        &self,
        cx: &EvaluationContext,
        q: &[f64],
        v: &[f64],
        gamma: &mut [f64],
    ) {
        let work = &mut *self.moving(q, v);
        self.load_closures(work);
        let poses = &mut W::poses(&work.q);
        self.each_closure(|part, closure| {
            part.acceleration_bias(cx, poses, &work.v, &mut gamma[closure.rows.clone()]);
        });
        work.joints.fill(0.0);
        (self.tree).accelerate(&work.geometry, &work.joints, &work.bias, &mut work.y);
        for closure in &self.closures {
            for slot in closure.slots.clone() {
                let (row, column) = self.inner.sparsity.jacobian[slot];
                let own = closure.rows.start + row as usize - closure.inner;
                gamma[own] += work.g[slot] * work.y[column as usize];
            }
        }
    }

    fn constraint_scale(&self, row: usize) -> f64 {
        self.inner.constraint_scale(self.rows[row])
    }

    /// The norm of what the error moves the bodies by.
    fn norm(&self, cx: &EvaluationContext, q: &[f64], scale: &[f64], e: &[f64]) -> f64 {
        let work = &mut *self.at(q);
        self.tree.carry(&work.geometry, e, &mut work.y);
        self.inner.norm(cx, &work.q, scale, &work.y)
    }

    fn coordinate_magnitude(&self, q: &[f64]) -> f64 {
        let work = self.at(q);
        self.inner.coordinate_magnitude(&work.q)
    }

    fn energy(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Energy {
        let work = self.moving(q, v);
        self.inner.energy(cx, &work.q, &work.v)
    }

    fn power(&self, cx: &EvaluationContext, q: &[f64], v: &[f64]) -> Power {
        let work = self.moving(q, v);
        self.inner.power(cx, &work.q, &work.v)
    }

    fn coordinate_name(&self, i: usize) -> String {
        self.names[i].clone()
    }

    fn constraint_name(&self, i: usize) -> String {
        self.inner.constraint_name(self.rows[i])
    }
}

impl<W: JointMap<N>, const N: usize> ConfigurationSpace for Relative<W, N> {
    fn retract(&self, q: &[f64], w: &[f64], out: &mut [f64]) {
        self.vectors(|stored, moved, count| {
            for k in 0..count {
                out[stored + k] = q[stored + k] + w[moved + k];
            }
        });
        for (stored, moved) in self.rotations() {
            let step = rotation::exp(&Vec3::new(w[moved], w[moved + 1], w[moved + 2]));
            let turned = rotation::product(&quaternion(q, stored), &step);
            out[stored..stored + 4].copy_from_slice(&rotation::normalized(&turned));
        }
        if self.inner.counted_angles.is_empty() {
            return;
        }
        // Counted angles: near the old value plus what the gradient foresees.
        let mut guard = self.at(q);
        let work = &mut *guard;
        self.tree.carry(&work.geometry, w, &mut work.y);
        self.tree.place(out, &mut work.other);
        let first = W::STORED * self.tree.branches.len();
        for (k, measure) in self.inner.counted_angles.iter().enumerate() {
            let (_, g) = measure.value(&mut W::poses(&work.q));
            let near = q[self.tree.stored + k] + gather(measure.bodies(), &g, &work.y);
            work.other[first + k] = near;
        }
        for (k, measure) in self.inner.counted_angles.iter().enumerate() {
            out[self.tree.stored + k] = measure.value(&mut W::poses(&work.other)).0;
        }
    }

    fn difference(&self, q0: &[f64], q1: &[f64], w: &mut [f64]) {
        self.vectors(|stored, moved, count| {
            for k in 0..count {
                w[moved + k] = q1[stored + k] - q0[stored + k];
            }
        });
        for (stored, moved) in self.rotations() {
            let back = rotation::conjugate(&quaternion(q0, stored));
            let turned = rotation::product(&back, &quaternion(q1, stored));
            w[moved..moved + 3].copy_from_slice(rotation::log(&turned).as_slice());
        }
    }

    fn bracket(&self, x: &[f64], y: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (_, moved) in self.rotations() {
            let [x, y] = [x, y].map(|x| Vec3::from_column_slice(&x[moved..moved + 3]));
            out[moved..moved + 3].copy_from_slice(x.cross(&y).as_slice());
        }
    }

    fn tangent_inverse(&self, theta: &[f64], y: &mut [f64]) {
        for (_, moved) in self.rotations() {
            let [theta, own] = [theta, &*y].map(|x| Vec3::from_column_slice(&x[moved..moved + 3]));
            let turned = rotation::tangent_inverse(&theta) * own;
            y[moved..moved + 3].copy_from_slice(turned.as_slice());
        }
    }
}

impl<W: JointMap<N>, const N: usize> HybridSystem for Relative<W, N> {
    fn active_constraints(&self, modes: &[i32], rows: &mut [bool]) {
        let mut work = self.work.lock();
        self.inner.active_constraints(modes, &mut work.active);
        for (out, &row) in rows.iter_mut().zip(&self.rows) {
            *out = work.active[row];
        }
    }

    fn initial_modes(&self, cx: &EvaluationContext, q: &[f64], v: &[f64], modes: &mut [i32]) {
        let work = self.moving(q, v);
        self.inner.initial_modes(cx, &work.q, &work.v, modes);
    }

    fn event_functions(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        phi: &mut [f64],
        rate: &mut [f64],
    ) {
        if self.size.ne > 0 {
            let work = &mut *self.moving(at.q, at.v);
            self.inner
                .event_functions(cx, &self.lifted(cx, work, at), phi, rate);
        }
    }

    fn crossing(&self, modes: &[i32], i: usize) -> Crossing {
        self.inner.crossing(modes, i)
    }

    fn handle_event(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        modes: &mut [i32],
        n: &mut [f64],
    ) -> EventEffect {
        let work = &mut *self.moving(at.q, at.v);
        let mut gradient = std::mem::take(&mut work.gradient);
        let motion = self.lifted(cx, work, at);
        let reaction = self
            .inner
            .handle_event(cx, &motion, i, modes, &mut gradient);
        self.tree.collect(&work.geometry, &mut gradient, n);
        work.gradient = gradient;
        reaction
    }

    fn tangential_direction(
        &self,
        cx: &EvaluationContext,
        at: &MotionPoint,
        i: usize,
        direction: usize,
        t: &mut [f64],
    ) -> Option<TangentialFriction> {
        let work = &mut *self.moving(at.q, at.v);
        let mut gradient = std::mem::take(&mut work.gradient);
        let motion = self.lifted(cx, work, at);
        let slip = self
            .inner
            .tangential_direction(cx, &motion, i, direction, &mut gradient);
        if slip.is_some() {
            self.tree.collect(&work.geometry, &mut gradient, t);
        }
        work.gradient = gradient;
        slip
    }

    fn event_name(&self, i: usize) -> String {
        self.inner.event_name(i)
    }

    fn deactivate_unilateral(&self, modes: &mut [i32], gaps: &mut [bool]) {
        self.inner.deactivate_unilateral(modes, gaps);
    }

    fn activate_unilateral(&self, i: usize, modes: &mut [i32]) {
        self.inner.activate_unilateral(i, modes);
    }
}

fn quaternion(q: &[f64], at: usize) -> rotation::Quaternion {
    [q[at], q[at + 1], q[at + 2], q[at + 3]]
}
