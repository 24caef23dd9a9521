//! Forces against gravity: `gravcomp` of a body, at its centre of mass, and the armature of a free joint, which has mass and no weight.
//!
//! MuJoCo adds the armature J of a free joint to its six freedoms, the velocity of the frame of the body and its angular velocity: the
//! same is a mass J at the origin of that frame with the inertia J about each axis.

use nalgebra::{Matrix3, Vector3};

use super::body::BodyReader;
use crate::import::draft::Draft;
use crate::import::frame::MassProperties;
use crate::import::tree::TreeMap;
use crate::model::{Force, ForceApplication, ForceKind, LoadDefinition, LoadFrame};

/// Mass whose weight a force carries.
pub struct Weightless {
    link: usize,
    mass: f64,
    /// In the frame of the link.
    point: Vector3<f64>,
}

/// What is without weight; adds the armatures of free joints to the masses.
pub fn weightless(reader: &mut BodyReader) -> Vec<Weightless> {
    let mut all = vec![];
    for (link, part) in &reader.compensated {
        let own = &reader.links[*link].mass;
        all.push(Weightless {
            link: *link,
            mass: part * own.mass,
            point: own.center,
        });
    }
    for (k, link) in reader.links.iter_mut().enumerate() {
        let armature = link.free_armature;
        if armature > 0.0 {
            let point = Vector3::zeros();
            link.mass = link.mass.with(&MassProperties {
                mass: armature,
                center: point,
                inertia: Matrix3::identity() * armature,
            });
            link.comment += &format!(", with an armature of {armature} kg and kg.m2");
            all.push(Weightless {
                link: k,
                mass: armature,
                point,
            });
        }
    }
    all
}

/// Adds the forces.
pub fn add(all: &[Weightless], map: &TreeMap, draft: &mut Draft) {
    let gravity = Vector3::from(draft.model.gravity);
    for part in all {
        let (Some(body), at) = map.links[part.link] else {
            continue;
        };
        let force = gravity * -part.mass;
        if force == Vector3::zeros() {
            continue;
        }
        let name = format!("{}_lift", draft.model.bodies[body].name);
        let name = draft.element_name("force", &name, None);
        (draft.comments).insert(name.clone(), format!("the weight of {:?} kg", part.mass));
        draft.model.forces.push(Force {
            name,
            kind: ForceKind::Load {
                load: LoadDefinition::Force,
                components: force.into(),
                frame: LoadFrame::Ground,
            },
            on: ForceApplication::Point {
                body: Some(body),
                point: at.point(part.point).into(),
            },
            text_position: Default::default(),
        });
    }
}
