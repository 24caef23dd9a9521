//! Mass for the links between several joints of one body, so that no body without mass comes into the equations.
//!
//! Two bodies joined by a hinge move alike on its axis: mass there may belong to either of them, and the mechanism moves the same
//! (regrouping of inertial parameters). A link between two hinges gets such mass from the body behind it, two points p ± l b on the axis
//! b of the hinge between them, and where that one has none to give from the body before it, on the axis of the hinge there. Where that
//! is the ground, the axis is at rest, and any mass on it changes nothing.
//!
//! ```text
//!   Σ = ∫ (x, 1)(x, 1)ᵀ dm  of the giver,   P = m [(p, 1)(p, 1)ᵀ + l² (b, 0)(b, 0)ᵀ],   Σ − ε P is that of a body for ε λ_max(Σ⁻¹ P) < 1
//! ```

use nalgebra::{Cholesky, Matrix3, Matrix4, SymmetricEigen, Vector3, Vector4};

use super::frame::MassProperties;
use super::tree::{TreeFreedom, TreeJoint, TreeLink, TreeMap};

/// Part of the largest possible mass that is given away: the giver keeps an inertia as well conditioned as half of its own.
const PART: f64 = 0.5;

/// Gives mass to the links between joints; `masses` are those of the bodies of the model. Returns the links that have mass of the ground.
pub fn share(links: &[TreeLink], map: &TreeMap, masses: &mut [MassProperties]) -> Vec<usize> {
    let mut of_ground = vec![];
    let lacks = |k: &usize| links[*k].is_between && links[*k].mass.mass == 0.0;
    for k in (0..links.len()).rev().filter(lacks) {
        let Some(own) = map.links[k].0 else { continue };
        // Links of one body have one frame in the drawn pose, in which joints are given.
        let behind = (links[k + 1].joints.first(), map.links[k + 1].0);
        if let (Some(hinge), Some(giver)) = behind
            && links[k + 1].joints.len() == 1
            && !links[k + 1].is_between
        {
            give(hinge, masses, [giver, own]);
        }
        if masses[own].mass > 0.0 {
            continue;
        }
        let above = links[k].parent.map(|parent| map.links[parent]);
        let (giver, at) = above.unwrap_or_default();
        if let [hinge] = &links[k].joints[..] {
            let Some(giver) = giver else {
                // The axis is at rest. As much as the body behind it has, and as long.
                let body = (k..links.len()).find(|k| !links[*k].is_between);
                let body = body.and_then(|k| map.links[k].0).map(|b| masses[b]);
                if let Some((point, along)) = body.as_ref().and_then(|of| on_axis(hinge, of)) {
                    masses[own] = line(body.map_or(0.0, |of| of.mass), point, along);
                    of_ground.push(k);
                }
                continue;
            };
            let drawn = at.then(&links[k].placement);
            let mut placed = hinge.clone();
            placed.point = drawn.point(hinge.point);
            placed.axis = drawn.rotation * hinge.axis;
            let Some(given) = part_on_axis(&placed, &masses[giver]) else {
                continue;
            };
            masses[giver] = without(&masses[giver], &given);
            masses[own] = given.placed(&drawn.inverse());
        }
    }
    of_ground
}

/// Gives mass on the axis of a hinge from one body to another; both have one frame.
fn give(hinge: &TreeJoint, masses: &mut [MassProperties], [from, to]: [usize; 2]) {
    if let Some(given) = part_on_axis(hinge, &masses[from]) {
        masses[from] = without(&masses[from], &given);
        masses[to] = masses[to].with(&given);
    }
}

/// Two points p ± l b on the axis of a hinge that are as long as a body is, its largest radius of gyration: p and l b.
fn on_axis(hinge: &TreeJoint, of: &MassProperties) -> Option<(Vector3<f64>, Vector3<f64>)> {
    if hinge.freedom != TreeFreedom::Hinge || !(of.mass > 0.0) {
        return None;
    }
    let point = hinge.point + hinge.axis * hinge.axis.dot(&(of.center - hinge.point));
    let length = (second_moments(of).symmetric_eigenvalues().max() / of.mass).max(0.0);
    Some((point, hinge.axis * length.sqrt()))
}

/// Mass in two points p ± l b.
fn line(mass: f64, center: Vector3<f64>, along: Vector3<f64>) -> MassProperties {
    MassProperties {
        mass,
        center,
        inertia: (Matrix3::identity() * along.norm_squared() - along * along.transpose()) * mass,
    }
}

/// The mass on the axis of a hinge that a body can give.
fn part_on_axis(hinge: &TreeJoint, of: &MassProperties) -> Option<MassProperties> {
    let (point, along) = on_axis(hinge, of)?;
    let place = Vector4::new(point.x, point.y, point.z, 1.0);
    let shift = Vector4::new(along.x, along.y, along.z, 0.0);
    let points = (place * place.transpose() + shift * shift.transpose()) * of.mass;
    // Eigenvalues of L⁻¹ P L⁻ᵀ with Σ = L Lᵀ.
    let lower = Cholesky::new(pseudo_inertia(of))?.l();
    let half = lower.solve_lower_triangular(&points)?;
    let whole = lower.solve_lower_triangular(&half.transpose())?;
    let largest = SymmetricEigen::new((whole + whole.transpose()) * 0.5);
    let mass = of.mass * PART / largest.eigenvalues.max();
    // What is left after rounding is no mass to reckon with.
    (mass > 1e-9 * of.mass).then(|| line(mass, point, along))
}

/// A body without a part of it.
fn without(all: &MassProperties, part: &MassProperties) -> MassProperties {
    let mass = all.mass - part.mass;
    let center = (all.center * all.mass - part.center * part.mass) / mass;
    let about = |d: Vector3<f64>| Matrix3::identity() * d.norm_squared() - d * d.transpose();
    MassProperties {
        mass,
        center,
        inertia: all.inertia + about(all.center - center) * all.mass
            - part.inertia
            - about(part.center - center) * part.mass,
    }
}

/// ∫ x xᵀ dm about the centre of mass.
fn second_moments(of: &MassProperties) -> Matrix3<f64> {
    Matrix3::identity() * (0.5 * of.inertia.trace()) - of.inertia
}

/// Σ
fn pseudo_inertia(of: &MassProperties) -> Matrix4<f64> {
    let (first, second) = (of.center * of.mass, second_moments(of));
    let second = second + of.center * of.center.transpose() * of.mass;
    let mut all = Matrix4::zeros();
    all.fixed_view_mut::<3, 3>(0, 0).copy_from(&second);
    all.fixed_view_mut::<3, 1>(0, 3).copy_from(&first);
    all.fixed_view_mut::<1, 3>(3, 0)
        .copy_from(&first.transpose());
    all[(3, 3)] = of.mass;
    all
}
