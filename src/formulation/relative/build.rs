//! Builds a mechanism in relative coordinates from a model.

use std::ops::Range;
use std::sync::Arc;

use super::descriptor_form::BodyDescriptorForm;
use super::joint_map::JointMap;
use super::recursion::JointTree;
use super::tangent::RelativeTangentWorkspace;
use super::tree::{self, CutJoints};
use super::tree_reactions::TreeReactions;
use super::{ClosureConstraint, Relative, RelativeCache};
use crate::error::Result;
use crate::formulation::absolute::constraint::ConstraintPart;
use crate::formulation::absolute::{Absolute, NamedConstraint};
use crate::formulation::cache::Cached;
use crate::formulation::selection::constraint_handling;
use crate::formulation::{Dimensions, Sparsity, System};
use crate::model::{JointKind, Model};

/// Number of joint coordinates and closure constraints, planar and spatial, above which the matrices are assembled in body coordinates.
/// Matrices in joint coordinates are exact, which allows long steps of a fast spinning mechanism, but above this size they cost twice as
/// much or more (docs/performance.md).
const MAX_DENSE_SIZE: [usize; 2] = [24, 48];

impl<W: JointMap<N>, const N: usize> Relative<W, N> {
    /// Builds the equations of a model of this dimension.
    pub fn new(model: &Model) -> Result<Self> {
        Self::with_cuts(model, &[])
    }

    /// Builds the equations with the named joints cut.
    pub fn with_cuts(model: &Model, cuts: CutJoints) -> Result<Self> {
        Self::with(model, cuts, None)
    }

    /// Builds the equations with the named joints cut, and the matrices in body coordinates (`Some(true)`, linear cost), in joint
    /// coordinates (`Some(false)`, exact) or chosen by size.
    pub fn with(model: &Model, cuts: CutJoints, in_bodies: Option<bool>) -> Result<Self> {
        let inner = Absolute::<W, N>::new(model)?;
        let branches = tree::grow::<W, N>(model, &inner.initial.0, cuts)?;
        let tree = Arc::new(JointTree::new(branches));
        let tree_reactions = (tree.branches.iter())
            .map(|branch| TreeReactions::new(&inner, branch))
            .collect();
        let closing = closing_parts(&inner, &tree);
        let count: usize = (closing.iter())
            .map(|part| inner.constraints[part.part].part.count())
            .sum();
        let in_bodies = in_bodies.unwrap_or(tree.moved + count > MAX_DENSE_SIZE[W::DIMENSION - 2]);
        let closures = closures(&inner, &tree, closing, in_bodies);
        let rows: Vec<usize> = (closures.iter())
            .flat_map(|closure| closure.inner..closure.inner + closure.rows.len())
            .collect();

        let inner_size = System::dimensions(&inner);
        let size = Dimensions {
            nq: tree.stored + inner.counted_angles.len(),
            nv: tree.moved,
            nc: rows.len(),
            ..inner_size
        };
        let work = Arc::new(Cached::new(RelativeCache::new(
            &inner, &tree, &size, in_bodies,
        )));
        let descriptor = in_bodies.then(|| {
            Arc::new(BodyDescriptorForm {
                tree: tree.clone(),
                work: work.clone(),
                size: inner_size,
                sparsity: inner.sparsity.clone(),
                rows: rows.iter().map(|row| *row as u32).collect(),
            })
        });
        Ok(Self {
            constraint_handling: constraint_handling(&model.solver),
            names: names(model, &tree),
            cut_joints: cut_joints(model, &tree),
            sparsity: sparsity(&tree, &closures, in_bodies),
            inner,
            size,
            tree,
            descriptor,
            tree_reactions,
            closures,
            rows,
            work,
        })
    }
}

impl RelativeCache {
    fn new<W: JointMap<N>, const N: usize>(
        inner: &Absolute<W, N>,
        tree: &JointTree<W, N>,
        size: &Dimensions,
        in_bodies: bool,
    ) -> Self {
        let bodies = System::dimensions(inner);
        Self {
            evaluated: false,
            z: vec![f64::NAN; size.nq],
            z_dot: vec![f64::NAN; size.nv],
            q: vec![0.0; bodies.nq],
            geometry: vec![0.0; tree.geometry()],
            v: vec![0.0; bodies.nv],
            bias: vec![0.0; bodies.nv],
            other: vec![0.0; bodies.nq],
            x: vec![0.0; bodies.nv],
            y: vec![0.0; bodies.nv],
            joints: vec![0.0; size.nv],
            lambda: vec![0.0; bodies.nc],
            g: vec![0.0; inner.sparsity.jacobian.len()],
            gradient: vec![0.0; bodies.nv],
            active: vec![true; bodies.nc],
            tangent: RelativeTangentWorkspace::new(inner, size.nv, in_bodies),
        }
    }
}

/// A part of the constraints that the tree does not satisfy by itself: its entries in the Jacobian of absolute coordinates and its bodies.
struct ClosingPart {
    part: usize,
    slots: Range<usize>,
    bodies: Vec<usize>,
}

/// Returns the parts of the constraints that are not of tree joints.
fn closing_parts<W: JointMap<N>, const N: usize>(
    inner: &Absolute<W, N>,
    tree: &JointTree<W, N>,
) -> Vec<ClosingPart> {
    let mut in_tree = vec![false; inner.constraints.len()];
    for joint in tree.branches.iter().filter_map(|b| b.joint) {
        in_tree[inner.joints[joint].constraints.clone()].fill(true);
    }
    let (mut closing, mut slot) = (Vec::new(), 0);
    for (k, constraint) in inner.constraints.iter().enumerate() {
        let (from, mut bodies) = (slot, Vec::new());
        constraint.part.sparsity(&mut |_, column| {
            slot += 1;
            let body = column / (N / 2);
            if !bodies.contains(&body) {
                bodies.push(body);
            }
        });
        if !in_tree[k] {
            closing.push(ClosingPart {
                part: k,
                slots: from..slot,
                bodies,
            });
        }
    }
    closing
}

/// Numbers the rows of the closing parts. Paths are needed only for G in joint coordinates.
fn closures<W: JointMap<N>, const N: usize>(
    inner: &Absolute<W, N>,
    tree: &JointTree<W, N>,
    closing: Vec<ClosingPart>,
    in_bodies: bool,
) -> Vec<ClosureConstraint> {
    let mut branch_of = vec![0; inner.bodies.len()];
    for (k, branch) in tree.branches.iter().enumerate() {
        branch_of[branch.body] = k;
    }
    let mut next = 0;
    (closing.into_iter())
        .map(|closing| {
            let NamedConstraint { part, first, .. } = &inner.constraints[closing.part];
            let rows = next..next + part.count();
            next = rows.end;
            ClosureConstraint {
                part: closing.part,
                inner: *first,
                rows,
                slots: closing.slots,
                path: match in_bodies {
                    true => Vec::new(),
                    false => path(tree, &branch_of, &closing.bodies, is_relative(part)),
                },
            }
        })
        .collect()
}

/// Returns the sparsity in joint coordinates; empty if the matrices are assembled in body coordinates. M couples a joint with all joints
/// between it and the ground; forces may couple any two.
fn sparsity<W: JointMap<N>, const N: usize>(
    tree: &JointTree<W, N>,
    closures: &[ClosureConstraint],
    in_bodies: bool,
) -> Sparsity {
    let mut jacobian = Vec::new();
    for closure in closures {
        for row in closure.rows.clone() {
            for &k in &closure.path {
                let (first, count) = tree.branches[k].moved;
                jacobian.extend((first..first + count).map(|j| (row as u32, j as u32)));
            }
        }
    }
    let joints = 0..if in_bodies { 0 } else { tree.moved as u32 };
    let tangent = (joints.clone())
        .flat_map(|i| joints.clone().map(move |j| (i, j)))
        .collect();
    Sparsity { tangent, jacobian }
}

/// Whether a constraint does not change under a common rigid motion of its bodies.
fn is_relative<W: JointMap<N>, const N: usize>(part: &ConstraintPart<W, N>) -> bool {
    matches!(
        part,
        ConstraintPart::Coincidence(_) | ConstraintPart::Prescribed(_)
    )
}

/// Returns the branches between these bodies and the ground, children first. For a `relative` constraint without those common to all
/// bodies: they do not change it.
fn path<W: JointMap<N>, const N: usize>(
    tree: &JointTree<W, N>,
    branch_of: &[usize],
    bodies: &[usize],
    relative: bool,
) -> Vec<usize> {
    let mut bodies_moved = std::collections::BTreeMap::new();
    for &b in bodies {
        let mut body = Some(b);
        while let Some(b) = body {
            *bodies_moved.entry(branch_of[b]).or_insert(0usize) += 1;
            body = tree.branches[branch_of[b]].parent;
        }
    }
    let common = if relative && bodies.len() > 1 {
        bodies.len()
    } else {
        usize::MAX
    };
    (bodies_moved.into_iter().rev())
        .filter(|(_, count)| *count < common)
        .map(|(k, _)| k)
        .collect()
}

/// Returns the names of the joints that are not in the tree.
fn cut_joints<W: JointMap<N>, const N: usize>(
    model: &Model,
    tree: &JointTree<W, N>,
) -> Vec<String> {
    let mut in_tree = vec![false; model.joints.len()];
    for joint in tree.branches.iter().filter_map(|b| b.joint) {
        in_tree[joint] = true;
    }
    (model.joints.iter().zip(in_tree))
        .filter(|(joint, in_tree)| !in_tree && joint.kind != JointKind::Coupling)
        .map(|(joint, _)| joint.name.clone())
        .collect()
}

/// Returns the names of the coordinates.
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
