//! `springdamper`: springs and dampers of joints by a time constant T and a damping ratio ζ, as MuJoCo's compiler makes them from the
//! inertia that the joint feels in the drawn pose while all others are free:
//!
//! ```text
//!   1/I = mean of the diagonal of M⁻¹ over the freedoms of the joint,   stiffness = I/(T ζ)²,   damping = 2 I/T
//!   M_ij = s_iᵀ I_c s_j for a freedom s_i of a link with the inertia I_c of it and all behind it, and s_j there or nearer to the ground
//! ```

use nalgebra::{DMatrix, Matrix3, Matrix6, Vector3, Vector6};

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
    let (freedoms, matrix) = mass_matrix(links);
    let Some(factor) = matrix.cholesky() else {
        return false;
    };
    let inverse = factor.inverse();
    let mean = |link: usize, joint: Option<usize>| {
        let own = |i: &usize| freedoms[*i].link == link && freedoms[*i].joint == joint;
        let own = (0..freedoms.len()).filter(own);
        let all: Vec<f64> = own.map(|i| inverse[(i, i)]).collect();
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

/// The freedoms of a tree, and their mass matrix with armatures in the drawn pose.
fn mass_matrix(links: &[TreeLink]) -> (Vec<Freedom>, DMatrix<f64>) {
    let mut poses: Vec<FramePlacement> = vec![];
    for link in links {
        let above = link.parent.map_or(FramePlacement::default(), |p| poses[p]);
        poses.push(above.then(&link.placement));
    }
    let mut behind: Vec<Matrix6<f64>> = (links.iter().zip(&poses))
        .map(|(link, pose)| about_origin(&link.mass.placed(pose)))
        .collect();
    for k in (0..links.len()).rev() {
        if let Some(parent) = links[k].parent {
            let own = behind[k];
            behind[parent] += own;
        }
    }
    let mut freedoms = vec![];
    for (k, pose) in poses.iter().enumerate() {
        add_freedoms(links, k, pose, &mut freedoms);
    }
    let mut matrix = DMatrix::zeros(freedoms.len(), freedoms.len());
    for (i, own) in freedoms.iter().enumerate() {
        let momentum = behind[own.link] * own.motion;
        let mut above = Some(own.link);
        while let Some(link) = above {
            for (j, other) in freedoms.iter().enumerate().filter(|(_, f)| f.link == link) {
                matrix[(i, j)] = other.motion.dot(&momentum);
                matrix[(j, i)] = matrix[(i, j)];
            }
            above = links[link].parent;
        }
        matrix[(i, i)] += own.armature;
    }
    (freedoms, matrix)
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
