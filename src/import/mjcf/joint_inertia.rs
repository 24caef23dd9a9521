//! `springdamper`: springs and dampers of joints by a time constant T and a damping ratio ζ, as MuJoCo's compiler makes them from the
//! inertia that the joint feels in the drawn pose while all others are free:
//!
//! ```text
//!   1/I = mean of the diagonal of M⁻¹ over the freedoms of the joint,   stiffness = I/(T ζ)²,   damping = 2 I/T
//!   M_ij = s_iᵀ I_c s_j for a freedom s_i of a link with the inertia I_c of it and all behind it, and s_j there or nearer to the ground
//! ```

use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};

use crate::import::frame::{FramePlacement, MassProperties};
use crate::import::tree::{TreeFreedom, TreeLink};

/// A freedom of a link: its joint (none: free in space), its motion about the origin of the ground (ω, v).
struct Freedom {
    link: usize,
    joint: Option<usize>,
    motion: Vector6<f64>,
    armature: f64,
}

/// Sets the springs and dampers of all joints that are given by a time constant. Returns false if there is no inertia to take.
pub fn set_springs(links: &mut [TreeLink]) -> bool {
    let free = links.iter().filter_map(|link| link.free_spring_damper);
    let joints = links.iter().flat_map(|link| &link.joints);
    if free.count() + joints.filter(|j| j.spring_damper.is_some()).count() == 0 {
        return true;
    }
    let Some(inverse) = inverse_diagonal(links) else {
        return false;
    };
    let mean = |link: usize, joint: Option<usize>| {
        let own = inverse[link].iter().filter(|(of, _)| *of == joint);
        let all: Vec<f64> = own.map(|(_, x)| *x).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    let spring = |[time, ratio]: [f64; 2], mean: f64| {
        [1.0 / (mean * (time * ratio).powi(2)), 2.0 / (mean * time)]
    };
    for k in 0..links.len() {
        if let Some(given) = links[k].free_spring_damper {
            links[k].free_spring = spring(given, mean(k, None));
        }
        for j in 0..links[k].joints.len() {
            if let Some(given) = links[k].joints[j].spring_damper {
                let [stiffness, damping] = spring(given, mean(k, Some(j)));
                let joint = &mut links[k].joints[j];
                (joint.stiffness, joint.damping) = (stiffness, damping);
            }
        }
    }
    true
}

/// Numbers in the rows of the mass matrix at most.
const MOST_ENTRIES: usize = 4_000_000;

/// Of each link the joints of its freedoms and their entries of the diagonal of M⁻¹.
type InverseDiagonal = Vec<Vec<(Option<usize>, f64)>>;

/// The diagonal of M⁻¹ in the drawn pose. None if M is singular or too large.
///
/// M has entries only between a freedom and those nearer to the ground. So has L of M = Lᵀ D L, and with y = L⁻ᵀ e_i the diagonal is
/// Σ y_j²/D_j over the freedoms from i to the ground.
fn inverse_diagonal(links: &[TreeLink]) -> Option<InverseDiagonal> {
    let (freedoms, up) = (freedoms(links), nearer(links));
    let path = |i: usize| std::iter::successors(Some(i), |k| up[*k]);
    let mut depth: Vec<usize> = vec![];
    for above in &up {
        depth.push(1 + above.map_or(0, |k| depth[k]));
    }
    if depth.iter().sum::<usize>() > MOST_ENTRIES {
        return None;
    }
    let behind = inertias_behind(links);
    // Row i: M_ii, then the entries with the freedoms on the way to the ground.
    let row = |(i, own): (usize, &Freedom)| -> Vec<f64> {
        let momentum = behind[own.link] * own.motion;
        let entry = |j: usize| freedoms[j].motion.dot(&momentum);
        let armature = |j: usize| if j == i { own.armature } else { 0.0 };
        path(i).map(|j| entry(j) + armature(j)).collect()
    };
    let mut rows: Vec<Vec<f64>> = freedoms.iter().enumerate().map(row).collect();
    for k in (0..rows.len()).rev() {
        let mut row = std::mem::take(&mut rows[k]);
        if !(row[0] > 0.0) {
            return None;
        }
        for (p, i) in path(k).enumerate().skip(1) {
            let factor = row[p] / row[0];
            for q in 0..row.len() - p {
                rows[i][q] -= factor * row[p + q];
            }
            row[p] = factor;
        }
        rows[k] = row;
    }
    let mut found = vec![vec![]; links.len()];
    for (i, own) in freedoms.iter().enumerate() {
        let (mut y, mut sum) = (vec![0.0; rows[i].len()], 0.0);
        y[0] = 1.0;
        for (p, node) in path(i).enumerate() {
            let (value, row) = (y[p], &rows[node]);
            sum += value * value / row[0];
            for q in 1..row.len() {
                y[p + q] -= row[q] * value;
            }
        }
        found[own.link].push((own.joint, sum));
    }
    Some(found)
}

/// Inertia of each link with all behind it about the origin of the ground, in the drawn pose.
fn inertias_behind(links: &[TreeLink]) -> Vec<Matrix6<f64>> {
    let mut behind: Vec<Matrix6<f64>> = (links.iter().zip(&poses(links)))
        .map(|(link, pose)| about_origin(&link.mass.placed(pose)))
        .collect();
    for k in (0..links.len()).rev() {
        if let Some(parent) = links[k].parent {
            let own = behind[k];
            behind[parent] += own;
        }
    }
    behind
}

fn poses(links: &[TreeLink]) -> Vec<FramePlacement> {
    let mut poses: Vec<FramePlacement> = vec![];
    for link in links {
        let above = link.parent.map_or(FramePlacement::default(), |p| poses[p]);
        poses.push(above.then(&link.placement));
    }
    poses
}

fn freedoms(links: &[TreeLink]) -> Vec<Freedom> {
    let mut all = vec![];
    for (k, pose) in poses(links).iter().enumerate() {
        add_freedoms(links, k, pose, &mut all);
    }
    all
}

/// The next freedom on the way to the ground of each.
fn nearer(links: &[TreeLink]) -> Vec<Option<usize>> {
    let mut up = vec![];
    // The last freedom of each link or of those above it.
    let mut last: Vec<Option<usize>> = vec![];
    for link in links {
        let mut above = link.parent.and_then(|p| last[p]);
        let joints = link.joints.iter().map(|joint| match joint.freedom {
            TreeFreedom::Hinge | TreeFreedom::Slide => 1,
            TreeFreedom::Ball => 3,
            TreeFreedom::Plane => 0,
        });
        for _ in 0..joints.sum::<usize>() + if link.is_free { 6 } else { 0 } {
            up.push(above);
            above = Some(up.len() - 1);
        }
        last.push(above);
    }
    up
}

fn add_freedoms(links: &[TreeLink], k: usize, pose: &FramePlacement, all: &mut Vec<Freedom>) {
    let turn = |axis: Vector3<f64>, point: Vector3<f64>| stacked(axis, point.cross(&axis));
    let shift = |axis: Vector3<f64>| stacked(Vector3::zeros(), axis);
    let mut add = |joint: Option<usize>, motion, armature| {
        all.push(Freedom {
            link: k,
            joint,
            motion,
            armature,
        });
    };
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    if links[k].is_free {
        for e in axes {
            add(None, shift(e), 0.0);
            add(None, turn(pose.rotation * e, pose.position), 0.0);
        }
    }
    for (j, joint) in links[k].joints.iter().enumerate() {
        let (axis, point) = (pose.rotation * joint.axis, pose.point(joint.point));
        match joint.freedom {
            TreeFreedom::Hinge => add(Some(j), turn(axis, point), joint.armature),
            TreeFreedom::Slide => add(Some(j), shift(axis), joint.armature),
            TreeFreedom::Ball => {
                for e in axes {
                    add(Some(j), turn(pose.rotation * e, point), joint.armature);
                }
            }
            // None in MJCF.
            TreeFreedom::Plane => {}
        }
    }
}

fn stacked(a: Vector3<f64>, b: Vector3<f64>) -> Vector6<f64> {
    Vector6::new(a.x, a.y, a.z, b.x, b.y, b.z)
}

/// The inertia of a body about the origin, for motions (ω, v) of the point there.
fn about_origin(of: &MassProperties) -> Matrix6<f64> {
    let c = of.center.cross_matrix();
    let mut all = Matrix6::zeros();
    all.fixed_view_mut::<3, 3>(0, 0)
        .copy_from(&(of.inertia - c * c * of.mass));
    all.fixed_view_mut::<3, 3>(0, 3).copy_from(&(c * of.mass));
    all.fixed_view_mut::<3, 3>(3, 0).copy_from(&(-c * of.mass));
    all.fixed_view_mut::<3, 3>(3, 3)
        .copy_from(&(Matrix3::identity() * of.mass));
    all
}
