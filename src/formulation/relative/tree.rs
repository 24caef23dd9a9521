//! The spanning tree: which joints have coordinates and which are cut.
//!
//! Breadth-first search from the ground gives shallow trees and loops with sides of equal length. Of the joints that lead to a body at the
//! same depth, the one with the fewest coordinates is in the tree. The others close loops and keep their constraints. A body without a
//! connection to the ground is free, with all of its coordinates.
//!
//! No cut is singular where the mechanism is not: rotations of spherical joints and free bodies are on the group, so that the columns of
//! the tree are independent in every configuration, J spans the null space of the constraints of the tree joints, and
//!
//! ```text
//!   rank(G_closure J) = rank([G_tree; G_closure]) − rank(G_tree)
//! ```
//!
//! does not depend on the cut.

use std::collections::VecDeque;

use super::joint_map::JointMap;
use crate::error::Result;
use crate::linalg::sorting::sort_by_key;
use crate::model::{JointKind, Model};

/// A body with the joint to its parent.
#[derive(Clone, Debug)]
pub struct Branch<L> {
    /// The body.
    pub body: usize,
    /// Its parent; none is the ground.
    pub parent: Option<usize>,
    /// The joint in the model; none for a free body.
    pub joint: Option<usize>,
    /// Kinematics of the joint.
    pub link: L,
    /// First stored coordinate and the number of them.
    pub stored: (usize, usize),
    /// First tangent coordinate and the number of them.
    pub moved: (usize, usize),
    /// Whether the last three of them are a rotation.
    pub on_group: bool,
}

/// Names of joints to be cut if possible.
pub type CutJoints<'a> = &'a [&'a str];

/// Returns the number of coordinates of a joint. Joints with few coordinates are preferred in the tree.
fn freedom(kind: JointKind) -> usize {
    match kind {
        JointKind::Fixed => 0,
        JointKind::Revolute | JointKind::Prismatic | JointKind::Screw => 1,
        JointKind::Cylindrical | JointKind::Universal | JointKind::PointOnLine => 2,
        _ => 3,
    }
}

/// Returns the branches of all bodies, parents before their children.
pub fn grow<W: JointMap<N>, const N: usize>(
    model: &Model,
    start: &[f64],
    cuts: CutJoints,
) -> Result<Vec<Branch<W::Link>>> {
    let count = model.bodies.len();
    // Joints of each body, the ground last.
    let index = |body: Option<usize>| body.unwrap_or(count);
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
    for (k, joint) in model.joints.iter().enumerate() {
        if joint.kind != JointKind::Coupling && joint.bodies[0] != joint.bodies[1] {
            for body in joint.bodies {
                at[index(body)].push(k);
            }
        }
    }
    for joints in &mut at {
        sort_by_key(joints, |&k| (freedom(model.joints[k].kind), k));
    }
    let is_cut = |k: usize| cuts.contains(&model.joints[k].name.as_str());

    let mut grown = TreeBuilder {
        branches: Vec::with_capacity(count),
        reached: vec![false; count],
        stored: 0,
        moved: 0,
    };
    let mut queue = VecDeque::from([None]);
    // First without the joints to be cut; then with them, for bodies that have no other connection.
    for without_cuts in [true, false] {
        loop {
            while let Some(parent) = queue.pop_front() {
                for &k in &at[index(parent)] {
                    let joint = &model.joints[k];
                    let child = usize::from(joint.bodies[0] == parent);
                    let Some(body) = joint.bodies[child] else {
                        continue;
                    };
                    if grown.reached[body]
                        || model.bodies[body].prescribed
                        || (without_cuts && is_cut(k))
                    {
                        continue;
                    }
                    if let Some(link) = W::link(model, joint, start, child)? {
                        grown.push::<W, N>(body, parent, Some(k), link);
                        queue.push_back(Some(body));
                    }
                }
            }
            // Further roots: prescribed bodies, then bodies without a connection to the ground, the heaviest first.
            let next = (0..count)
                .filter(|&b| !grown.reached[b])
                .filter(|&b| !without_cuts || model.bodies[b].prescribed)
                .max_by(|&a, &b| {
                    let rank = |i: usize| (model.bodies[i].prescribed, model.bodies[i].mass);
                    let ((pa, ma), (pb, mb)) = (rank(a), rank(b));
                    pa.cmp(&pb).then(ma.total_cmp(&mb)).then(b.cmp(&a))
                });
            let Some(root) = next else { break };
            grown.push::<W, N>(root, None, None, W::free());
            queue.push_back(Some(root));
        }
        // All bodies found so far may lead to others by joints to be cut.
        queue.push_back(None);
        queue.extend(grown.branches.iter().map(|b| Some(b.body)));
    }
    Ok(grown.branches)
}

struct TreeBuilder<L> {
    branches: Vec<Branch<L>>,
    reached: Vec<bool>,
    stored: usize,
    moved: usize,
}

impl<L> TreeBuilder<L> {
    fn push<W: JointMap<N, Link = L>, const N: usize>(
        &mut self,
        body: usize,
        parent: Option<usize>,
        joint: Option<usize>,
        link: L,
    ) {
        let (stored, moved) = (W::stored(&link), W::freedom(&link));
        self.reached[body] = true;
        self.branches.push(Branch {
            body,
            parent,
            joint,
            on_group: W::on_group(&link),
            link,
            stored: (self.stored, stored),
            moved: (self.moved, moved),
        });
        self.stored += stored;
        self.moved += moved;
    }
}
