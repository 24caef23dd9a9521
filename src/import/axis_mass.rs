//! Mass for links without one between joints, so that no body without mass comes into the equations.
//!
//! Two bodies joined by a hinge move alike on its axis, two that turn about a point alike in that point: mass there may belong to either
//! of them, and the mechanism moves the same (regrouping of inertial parameters). A link without mass gets such mass from a body that has
//! some, at the joint between them: two points p ± l b on the axis b of a hinge, or the point p of a ball, a universal joint or a gimbal.
//! Where that body is the ground, axis and point are at rest, and any mass there changes nothing.
//!
//! ```text
//!   Σ = ∫ (x, 1)(x, 1)ᵀ dm  of the giver,   P = m [(p, 1)(p, 1)ᵀ + l² (b, 0)(b, 0)ᵀ],   Σ − ε P is that of a body for ε λ_max(Σ⁻¹ P) < 1
//! ```

use nalgebra::{Cholesky, Matrix3, Matrix4, SymmetricEigen, Vector3, Vector4};

use super::combined_joint::combined;
use super::draft::Draft;
use super::frame::{FramePlacement, MassProperties};
use super::tree::{TreeFreedom, TreeJoint, TreeLink, TreeMap};
use crate::model::{FormulationName, JointKind};

/// Part of the largest possible mass that is given away: the giver keeps an inertia as well conditioned as half of its own.
const PART: f64 = 0.5;

/// Where mass may belong to either of two bodies: a point, and the direction of an axis.
#[derive(Clone, Copy)]
struct CommonPlace {
    point: Vector3<f64>,
    axis: Option<Vector3<f64>>,
}

impl CommonPlace {
    /// Of the joints of a link, in its frame; none where bodies have no place in common, as at a slide.
    fn of(joints: &[TreeJoint]) -> Option<Self> {
        let (last, point) = (joints.last()?, joints.last()?.point);
        match (joints, combined(joints)?.0) {
            ([TreeJoint { freedom, .. }], JointKind::Revolute)
                if *freedom == TreeFreedom::Hinge =>
            {
                Some(Self {
                    point,
                    axis: Some(last.axis),
                })
            }
            (_, JointKind::Spherical | JointKind::Universal | JointKind::Gimbal) => {
                Some(Self { point, axis: None })
            }
            _ => None,
        }
    }

    fn placed(&self, at: &FramePlacement) -> Self {
        Self {
            point: at.point(self.point),
            axis: self.axis.map(|axis| at.rotation * axis),
        }
    }
}

/// A joint between a body without mass and another: place and other body in the frame of the first; none: the ground.
struct Neighbour {
    place: CommonPlace,
    /// Frame of the other body in that of the first.
    other: FramePlacement,
    body: Option<usize>,
    link: Option<usize>,
}

/// Gives mass to the bodies without one; `masses` are those of the bodies of the model.
pub fn share(
    draft: &mut Draft,
    links: &mut [TreeLink],
    map: &TreeMap,
    masses: &mut [MassProperties],
) {
    let lacks = |k: &usize, masses: &[MassProperties]| {
        let own = map.links[*k].0.filter(|_| !links[*k].joints.is_empty());
        own.is_some_and(|b| masses[b].mass == 0.0)
    };
    let mut waiting: Vec<usize> = (0..links.len())
        .rev()
        .filter(|k| lacks(k, masses))
        .collect();
    let (behind, next_heavy) = (
        links_behind(links, map, masses.len()),
        next_heavy(map, masses),
    );
    // A body that has been given mass on one axis has none to give on another; the bodies behind come first.
    let mut comments = vec![];
    waiting.retain(|k| {
        let own = map.links[*k].0.expect("it is a body");
        let all = neighbours(links, map, &behind, *k);
        let given = all.iter().find_map(|at| {
            let (giver, link) = (at.body?, at.link?);
            let there = at.other.inverse();
            let (mass, [point, along]) = part_at(&at.place.placed(&there), &masses[giver])?;
            masses[giver] = without(&masses[giver], &line(mass, point, along));
            let along = at.other.rotation * along;
            masses[own] = line(mass, at.other.point(point), along);
            Some(format!(
                ", with mass of \"{}\" at the joint between them",
                links[link].name
            ))
        });
        let given = given.or_else(|| {
            let at = all.iter().find(|at| at.body.is_none())?;
            // As much as a body behind it has, and as long.
            let of = next_heavy[*k];
            let (point, along) = on(&at.place, &masses[of?])?;
            masses[own] = line(masses[of?].mass, point, along);
            Some(", mass at rest at its joint".to_owned())
        });
        if let Some(words) = &given {
            comments.push((*k, words.clone()));
        }
        given.is_none()
    });
    for (k, words) in comments {
        links[k].comment += &words;
    }
    if !waiting.is_empty() {
        // Where joint coordinates are the unknowns, bodies without mass add nothing.
        draft.model.solver.formulation = FormulationName::Relative;
    }
    for k in waiting {
        let words = format!(
            "link \"{}\" has no mass, and its neighbours have none at the joints with it: a body without mass stays in the equations, in joint coordinates",
            links[k].name
        );
        draft.note(words, Some(links[k].position));
    }
}

/// Links with joints behind each body.
fn links_behind(links: &[TreeLink], map: &TreeMap, bodies: usize) -> Vec<Vec<usize>> {
    let mut behind = vec![vec![]; bodies];
    for (c, link) in links.iter().enumerate() {
        let body = link.parent.and_then(|p| map.links[p].0);
        if let Some(body) = body.filter(|_| !link.joints.is_empty()) {
            behind[body].push(c);
        }
    }
    behind
}

/// The next body with mass from each link on.
fn next_heavy(map: &TreeMap, masses: &[MassProperties]) -> Vec<Option<usize>> {
    let mut next = vec![None; map.links.len()];
    for k in (0..next.len()).rev() {
        let own = map.links[k].0.filter(|b| masses[*b].mass > 0.0);
        next[k] = own.or_else(|| *next.get(k + 1)?);
    }
    next
}

/// The joints of a link that have a place in common with its neighbours: those behind it first.
fn neighbours(
    links: &[TreeLink],
    map: &TreeMap,
    behind: &[Vec<usize>],
    k: usize,
) -> Vec<Neighbour> {
    let own = map.links[k].0.map_or(&[][..], |b| &behind[b][..]);
    let behind = own.iter().filter_map(|&c| {
        let (_, at) = map.links[links[c].parent?];
        // The place is given in the drawn pose in the frame of the link behind.
        let drawn = at.then(&links[c].placement);
        Some(Neighbour {
            place: CommonPlace::of(&links[c].joints)?.placed(&drawn),
            other: drawn,
            body: map.links[c].0,
            link: Some(c),
        })
    });
    let mut all: Vec<Neighbour> = behind.collect();
    if let Some(place) = CommonPlace::of(&links[k].joints) {
        let (body, at) = links[k]
            .parent
            .map_or_else(Default::default, |p| map.links[p]);
        let drawn = at.then(&links[k].placement);
        all.push(Neighbour {
            place,
            other: drawn.inverse(),
            body,
            link: links[k].parent,
        });
    }
    all
}

/// Mass on an axis is in two points p ± l b as far as the largest radius of gyration of a body, else in p: p and l b.
fn on(place: &CommonPlace, of: &MassProperties) -> Option<(Vector3<f64>, Vector3<f64>)> {
    if !(of.mass > 0.0) {
        return None;
    }
    let Some(axis) = place.axis else {
        return Some((place.point, Vector3::zeros()));
    };
    let point = place.point + axis * axis.dot(&(of.center - place.point));
    let length = (second_moments(of).symmetric_eigenvalues().max() / of.mass).max(0.0);
    Some((point, axis * length.sqrt()))
}

/// Mass in two points p ± l b.
fn line(mass: f64, center: Vector3<f64>, along: Vector3<f64>) -> MassProperties {
    MassProperties {
        mass,
        center,
        inertia: (Matrix3::identity() * along.norm_squared() - along * along.transpose()) * mass,
    }
}

/// The mass at a place that a body can give: how much, p and l b.
fn part_at(place: &CommonPlace, of: &MassProperties) -> Option<(f64, [Vector3<f64>; 2])> {
    let (point, along) = on(place, of)?;
    let spot = Vector4::new(point.x, point.y, point.z, 1.0);
    let shift = Vector4::new(along.x, along.y, along.z, 0.0);
    let points = (spot * spot.transpose() + shift * shift.transpose()) * of.mass;
    // Eigenvalues of L⁻¹ P L⁻ᵀ with Σ = L Lᵀ.
    let lower = Cholesky::new(pseudo_inertia(of))?.l();
    let half = lower.solve_lower_triangular(&points)?;
    let whole = lower.solve_lower_triangular(&half.transpose())?;
    let largest = SymmetricEigen::new((whole + whole.transpose()) * 0.5);
    let mass = of.mass * PART / largest.eigenvalues.max();
    // What is left after rounding is no mass to reckon with.
    (mass > 1e-9 * of.mass).then_some((mass, [point, along]))
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
